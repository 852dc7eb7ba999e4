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
use vmfb::{BytecodeOffset, FunctionOrdinal};

/// The most instructions that something is remembered of. A function may have thousands of values
/// at each.
const MOST: usize = 256;

/// An instruction of a module.
type Instruction = (FunctionOrdinal, BytecodeOffset);

/// The names of a source that are in scope, where it tells.
pub(super) type Scope = Option<Arc<[ScopedValue]>>;

/// Answers that were given.
#[derive(Default)]
pub(crate) struct Cache {
    pub(super) locals: Answers<Instruction, Arc<[LocalValue]>>,
    pub(super) scopes: Answers<(Instruction, usize, bool), Scope>,
    pub(super) registers: Answers<Instruction, Arc<[RegisterSlot]>>,
    pub(super) paths: Answers<FileId, Option<PathBuf>>,
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
