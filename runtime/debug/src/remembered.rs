//! What is asked about the same instructions again and again: by a log message at every visit, by
//! an editor that asks for scopes, then for variables, then for watches, and by whoever steps
//! through a loop.
//!
//! All of it follows from the module and its debug information alone, which do not change.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use debuginfo::{FileId, LocalValue, RegisterSlot, ScopedValue};
use vm::Position;
use vmfb::{BytecodeOffset, FunctionOrdinal};

use crate::program::LoadedModule;

/// The most instructions that something is remembered of. A function may have thousands of values
/// at each.
const MOST: usize = 256;

/// An instruction of a module.
type Instruction = (FunctionOrdinal, BytecodeOffset);

/// The names of a source that are in scope, where it tells.
type Scope = Option<Arc<[ScopedValue]>>;

/// Answers that were given.
#[derive(Default)]
pub(crate) struct Remembered {
    locals: Answers<Instruction, Arc<[LocalValue]>>,
    scopes: Answers<(Instruction, usize, bool), Scope>,
    registers: Answers<Instruction, Arc<[RegisterSlot]>>,
    paths: Answers<FileId, Option<PathBuf>>,
    /// Where the blocks of a function begin: asked for each place of each line that a breakpoint is
    /// on.
    pub(crate) block_starts: Answers<FunctionOrdinal, Arc<[BytecodeOffset]>>,
}

/// Answers by their questions, as far as there are not too many.
pub(crate) struct Answers<Q, A>(Mutex<HashMap<Q, A>>);

impl<Q, A> Default for Answers<Q, A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Q: Eq + Hash, A: Clone> Answers<Q, A> {
    pub(crate) fn get(&self, question: Q, answer: impl FnOnce() -> A) -> A {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&question) {
            known.clear();
        }
        known.entry(question).or_insert_with(answer).clone()
    }
}

impl LoadedModule {
    /// The named values that can be read before an instruction.
    pub(crate) fn locals(&self, position: Position) -> Arc<[LocalValue]> {
        let (function, offset) = (position.function.function, position.offset);
        let answer = || self.info.live_values(function, offset).into();
        self.remembered.locals.get((function, offset), answer)
    }

    /// The names of the source that are in scope before an instruction, in the frame that so many
    /// inlined calls lead to. None where the source does not tell.
    pub(crate) fn scope(&self, position: Position, calls: usize, knows_arguments: bool) -> Scope {
        let (function, offset) = (position.function.function, position.offset);
        let answer = || {
            let scope = self.info.scope_at(&self.module, function, offset, calls, knows_arguments);
            scope.map(Arc::from)
        };
        self.remembered.scopes.get(((function, offset), calls, knows_arguments), answer)
    }

    /// The typed registers that hold something before an instruction.
    pub(crate) fn registers(&self, position: Position) -> Arc<[RegisterSlot]> {
        let (function, offset) = (position.function.function, position.offset);
        let answer = || self.register_types(function).before(&self.module, function, offset).into();
        self.remembered.registers.get((function, offset), answer)
    }

    /// Where a source file is on this machine, by its whole path.
    pub(crate) fn source_path(&self, file: FileId) -> Option<PathBuf> {
        let answer = || {
            let path = self.info.source_path(file)?;
            Some(std::path::absolute(&path).unwrap_or(path))
        };
        self.remembered.paths.get(file, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_given_once_and_not_too_many_are_kept() {
        let answers = Answers::default();
        for question in 0..3 * MOST {
            assert_eq!(answers.get(question, || 2 * question), 2 * question);
            assert_eq!(answers.get(question, || panic!("asked twice")), 2 * question);
            assert!(answers.0.lock().unwrap().len() <= MOST);
        }
    }
}
