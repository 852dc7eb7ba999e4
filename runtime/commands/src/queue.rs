//! Lines that wait to be performed, and lines that are being collected for later.

use std::collections::{BTreeMap, VecDeque};

use debug::BreakpointId;

use crate::words;

/// The most lines that one typed line may lead to: definitions may use each other for ever.
const MOST_LINES: usize = 10_000;

/// Lines to perform, and those that are being collected.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    queue: VecDeque<String>,
    /// How many lines were taken from the queue since the last typed line.
    performed: usize,
    block: Option<Block>,
    pub(crate) defined: BTreeMap<String, Vec<String>>,
    pub(crate) on_stop: BTreeMap<BreakpointId, Vec<String>>,
}

/// Lines up to `end`.
#[derive(Debug)]
struct Block {
    purpose: Purpose,
    lines: Vec<String>,
    /// Blocks within it that are open.
    depth: usize,
}

/// What collected lines are for.
#[derive(Debug)]
pub(crate) enum Purpose {
    Define(String),
    OnStop(BreakpointId),
}

impl Scripts {
    /// The next line that is to be performed without being typed.
    pub(crate) fn next(&mut self) -> Option<String> {
        let line = self.queue.pop_front()?;
        self.performed += 1;
        if self.performed > MOST_LINES {
            self.queue.clear();
            return None;
        }
        Some(line)
    }

    pub(crate) fn drop_lines(&mut self) {
        self.queue.clear();
    }

    /// A line was typed.
    pub(crate) fn begin(&mut self) {
        self.performed = 0;
    }

    pub(crate) fn collects(&self) -> bool {
        self.block.is_some()
    }

    /// Puts lines before those that wait.
    pub(crate) fn put(&mut self, lines: Vec<String>) {
        for line in lines.into_iter().rev() {
            self.queue.push_front(line);
        }
    }

    /// Lines up to `end` are collected from now on.
    pub(crate) fn collect_for(&mut self, purpose: Purpose) {
        self.block = Some(Block { purpose, lines: Vec::new(), depth: 0 });
    }

    /// Collects a line, if lines are collected. Returns whether they are.
    pub(crate) fn collect(&mut self, line: &str) -> bool {
        let Some(block) = &mut self.block else { return false };
        let (word, _) = words::first(line);
        match word {
            "end" if block.depth == 0 => {
                if let Some(Block { purpose, lines, .. }) = self.block.take() {
                    match purpose {
                        Purpose::Define(name) => self.defined.insert(name, lines),
                        Purpose::OnStop(id) => self.on_stop.insert(id, lines),
                    };
                }
                return true;
            }
            "end" => block.depth -= 1,
            "define" | "commands" => block.depth += 1,
            _ => {}
        }
        block.lines.push(line.to_owned());
        true
    }
}
