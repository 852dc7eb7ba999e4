//! Cached answers about instructions. A log message asks the same at every visit, an editor asks
//! for scopes, then for variables, then for watches, and stepping through a loop asks about the
//! same instructions again and again.
//!
//! All answers depend only on the module and its debug information, which do not change.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use debuginfo::{FileId, Given, LocalValue, RegisterSlot, ScopedValue, SourcePosition};
use vmfb::{BytecodeOffset, FunctionOrdinal};

/// Most answers per cache, unless it says otherwise. A function may have thousands of values at
/// each instruction.
const MOST: usize = 256;

/// An instruction of a module.
type Instruction = (FunctionOrdinal, BytecodeOffset);

/// An instruction, a path through inlined calls, how many of these, and whether arguments are
/// known.
type Along = (Instruction, Box<[SourcePosition]>, usize, Given);

/// The names of the source that are in scope, if the source is known.
pub(crate) type Scope = Option<Arc<[ScopedValue]>>;

/// The caches of a module.
#[derive(Default)]
pub(crate) struct Cache {
    pub(super) locals: Answers<Instruction, Arc<[LocalValue]>>,
    pub(super) scopes: Answers<(Instruction, usize, Given), Scope>,
    /// At the end of other paths than the instruction's own.
    pub(super) scopes_along: Answers<Along, Scope>,
    pub(super) registers: Answers<Instruction, Arc<[RegisterSlot]>>,
    pub(super) paths: Answers<FileId, Option<PathBuf>>,
    /// The block starts of a function; resolving a line asks for them at each of its places.
    pub(crate) block_starts: Answers<FunctionOrdinal, Arc<[BytecodeOffset]>>,
    /// Where the operations of a function are entered; each line of a stack asks for them.
    pub(crate) entries: Answers<FunctionOrdinal, Arc<[(SourcePosition, BytecodeOffset)]>>,
}

/// Answers by question. The cache is emptied when it is full.
pub(crate) struct Answers<Q, A, const MOST_KEPT: usize = MOST>(Mutex<HashMap<Q, A>>);

impl<Q, A, const MOST_KEPT: usize> Default for Answers<Q, A, MOST_KEPT> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Q: Eq + Hash, A: Clone, const MOST_KEPT: usize> Answers<Q, A, MOST_KEPT> {
    pub(crate) fn get(&self, question: Q, answer: impl FnOnce() -> A) -> A {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KEPT && !known.contains_key(&question) {
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
        let answers: Answers<usize, usize> = Answers::default();
        for question in 0..3 * MOST {
            assert_eq!(answers.get(question, || 2 * question), 2 * question);
            assert_eq!(answers.get(question, || panic!("asked twice")), 2 * question);
            assert!(answers.0.lock().unwrap().len() <= MOST);
        }
    }
}
