//! Which commands may have written some bytes of a device's memory, and which certainly have.
//!
//! Nothing runs for it. The journal knows which bytes were other ones after a command, and the
//! text of a dispatch which tensors it writes. What is left are dispatches that may have written
//! what was there already.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use hal::{CommandRecord, Journal, LiveAllocation, Span, Work};
use vm::Moment;

use super::lines::Fork;
use crate::machine::Machine;
use crate::view::tensor_memory::CommandUses;

/// A part of a binding: its index, and the bytes of it.
pub(super) type Part = (usize, Range<usize>);

/// Who may have written some bytes.
#[derive(Clone)]
pub(super) enum Suspect {
    Command(SuspectCommand),
    /// The user, where a line of time begins.
    ByHand(Arc<Fork>),
    /// The program itself, by a call that is no command.
    Program,
}

/// A command that had a part in some bytes.
#[derive(Clone)]
pub(super) struct SuspectCommand {
    pub(super) number: u64,
    /// The bytes as parts of the bindings of a dispatch; none for other commands.
    pub(super) parts: Vec<Part>,
    /// Whether it has written them, as is known without running it.
    pub(super) is_certain: bool,
    /// The present moment, if the command is not done.
    pub(super) until: Option<Moment>,
}

/// A write that the journal knows.
pub(super) struct Change {
    pub(super) entry: u64,
    /// The addresses of the bytes, and what they were before and after.
    pub(super) addresses: Range<usize>,
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
}

impl Change {
    /// Whether it has left other bytes.
    pub(super) fn is_other(&self) -> bool {
        self.before != self.after
    }
}

/// The writes to some bytes that the journal knows, the last one first. `now` reads an address.
pub(super) fn changes(
    journal: &Journal,
    ranges: &[Range<usize>],
    now: impl Fn(&Range<usize>) -> Vec<u8>,
) -> Vec<Change> {
    let mut found = Vec::new();
    for range in ranges {
        let mut after = now(range);
        for written in journal.overwritten(range) {
            let from = written.address - range.start;
            let place = from..from + written.before.len();
            let Some(bytes) = after.get_mut(place) else { continue };
            let addresses = written.address..written.address + written.before.len();
            let (entry, before) = (written.entry, written.before);
            let change = Change { entry, addresses, after: bytes.to_vec(), before };
            bytes.copy_from_slice(&change.before);
            found.push(change);
        }
    }
    found.sort_by_key(|change| std::cmp::Reverse(change.entry));
    found
}

impl Machine {
    /// The allocation of a device that has the first of some bytes.
    pub(super) fn owner(&self, ranges: &[Range<usize>]) -> Option<LiveAllocation> {
        let first = ranges.first()?;
        let live = self.program.host().device().allocator().live();
        live.into_iter().find(|it| {
            let storage = it.allocation.storage();
            let start = storage.address() as usize;
            (start..start + storage.len()).contains(&first.start)
        })
    }

    /// Who may have written some bytes, the last one first.
    pub(super) fn suspects(
        &self,
        ranges: &[Range<usize>],
        changes: &[Change],
        here: Option<&Moment>,
        forks: &[(Range<u64>, Arc<Fork>)],
    ) -> Vec<Suspect> {
        let mut suspects = Vec::new();
        let end = self.program.host().device().allocator().journal().mark();
        if let Some(running) = self.running_uses() {
            let parts = parts(&running.record, ranges);
            let is_suspect = !parts.is_empty() && may_write(&running, ranges);
            let is_certain = changes.iter().any(|it| it.entry == end && it.is_other());
            if is_suspect || is_certain {
                let (number, until) = (running.record.number, here.cloned());
                let command = SuspectCommand { number, parts, is_certain, until };
                suspects.push(Suspect::Command(command));
            }
        }
        let memory = self.tensor_memory();
        let mut next = end;
        // By the program or by hand, the last one first.
        let stored = |entries: Range<u64>| {
            let mut found = Vec::new();
            for change in changes.iter().filter(|it| entries.contains(&it.entry)) {
                let fork = forks.iter().find(|(hand, _)| hand.contains(&change.entry));
                found.push(match fork {
                    Some((_, fork)) => Suspect::ByHand(Arc::clone(fork)),
                    None => Suspect::Program,
                });
            }
            found
        };
        for command in memory.commands.iter().rev() {
            let CommandRecord { number, work, journal, .. } = &*command.record;
            suspects.extend(stored(journal.end..next));
            next = journal.start;
            let (parts, is_certain) = match work {
                Work::Fill(span) | Work::Update(span) | Work::Copy(_, span) => {
                    (Vec::new(), has(span, ranges))
                }
                Work::Dispatch(_) => {
                    let has_changed = |it: &Change| journal.contains(&it.entry) && it.is_other();
                    (parts(&command.record, ranges), changes.iter().any(has_changed))
                }
            };
            if is_certain || !parts.is_empty() && may_write(command, ranges) {
                let command = SuspectCommand { number: *number, parts, is_certain, until: None };
                suspects.push(Suspect::Command(command));
            }
        }
        suspects.extend(stored(0..next));
        suspects
    }
}

/// Whether a command may write some bytes, by its text.
fn may_write(command: &CommandUses, ranges: &[Range<usize>]) -> bool {
    command.written.iter().any(|span| has(span, ranges))
}

fn has(span: &Span, ranges: &[Range<usize>]) -> bool {
    !parts_of(span, ranges).is_empty()
}

/// The bytes as parts of a dispatch's bindings.
fn parts(record: &CommandRecord, ranges: &[Range<usize>]) -> Vec<Part> {
    let Work::Dispatch(dispatch) = &record.work else { return Vec::new() };
    // Bindings often share memory.
    let mut seen = HashSet::new();
    let all = dispatch.bindings.iter().enumerate().flat_map(|(index, span)| {
        parts_of(span, ranges).into_iter().map(move |part| (index, part))
    });
    let start = |index: usize| {
        let bytes = dispatch.bindings.get(index).and_then(Span::bytes);
        bytes.map_or(0, |bytes| bytes.address() as usize)
    };
    all.filter(|(index, part)| {
        let start = start(*index);
        seen.insert((start + part.start, start + part.end))
    })
    .collect()
}

/// The bytes of a span that are among some addresses, counted from its begin.
fn parts_of(span: &Span, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let Some(bytes) = span.bytes() else { return Vec::new() };
    let start = bytes.address() as usize;
    let end = start + bytes.len();
    let parts = ranges.iter().map(|range| range.start.max(start)..range.end.min(end));
    parts.filter(|part| part.start < part.end).map(|it| it.start - start..it.end - start).collect()
}
