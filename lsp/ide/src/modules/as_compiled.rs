//! What iree-compile makes of exports, as it answered questions about them
//! ([`AbiQuestion`]).
//!
//! An answer is kept under the hash of what it depends on in the text, for one compiler with its
//! flags. So an edit of a body asks for nothing, and an edit of a head for one function.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use vmfb::LoadError;

use super::compiled::{CompiledFunction, facts};
use crate::calling::AbiQuestion;

/// What the compiler makes of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The functions that it exports: the one asked about, and perhaps its twin.
    Exports(Vec<CompiledFunction>),
    /// It compiles no such function: its first complaint.
    Fault(String),
}

/// The answers of one compiler.
#[derive(Debug, Default)]
struct Answers {
    /// Which compiler it is, for the reader.
    compiler: Arc<str>,
    /// Which compiler it is, with its flags and the age of its file.
    identity: String,
    by_key: HashMap<u64, Arc<Answer>>,
}

/// The most answers that are kept.
const CAPACITY: usize = 8192;

/// The answers of the compiler that is asked.
#[derive(Debug, Default)]
pub(crate) struct AsCompiled(Mutex<Answers>);

impl AsCompiled {
    fn lock(&self) -> std::sync::MutexGuard<'_, Answers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The compiler that is asked from now on. Answers of another one are forgotten.
    pub(crate) fn ask(&self, compiler: &str, identity: &str) {
        let mut answers = self.lock();
        if answers.identity != identity {
            let by_key = HashMap::new();
            *answers = Answers { compiler: compiler.into(), identity: identity.into(), by_key };
        }
    }

    /// An answer, and the compiler that gave it.
    pub(crate) fn get(&self, key: u64) -> Option<(Arc<str>, Arc<Answer>)> {
        let answers = self.lock();
        Some((answers.compiler.clone(), answers.by_key.get(&key)?.clone()))
    }

    /// Keeps what a module says of the functions of a question that it was compiled from.
    pub(crate) fn learn(&self, question: &AbiQuestion, module: Vec<u8>) -> Result<(), LoadError> {
        let module = vmfb::Module::from_bytes(module)?;
        let exports = facts(&module).exports;
        for asked in question.exports() {
            let twin = format!("{}$async", asked.name);
            let is_it =
                |export: &&CompiledFunction| export.name == asked.name || export.name == twin;
            let found: Vec<_> = exports.iter().filter(is_it).cloned().collect();
            if found.is_empty() {
                self.keep(asked.key, Answer::Fault("it exports nothing of this name".into()));
            } else {
                self.keep(asked.key, Answer::Exports(found));
            }
        }
        Ok(())
    }

    /// Keeps what the compiler said of functions that it did not compile, and how many they were.
    pub(crate) fn learn_faults(&self, question: &AbiQuestion, said: &str) -> usize {
        let faults = question.faults(said);
        let count = faults.len();
        faults.into_iter().for_each(|(key, fault)| self.keep(key, Answer::Fault(fault)));
        count
    }

    fn keep(&self, key: u64, answer: Answer) {
        let mut answers = self.lock();
        if answers.by_key.len() >= CAPACITY {
            answers.by_key.clear();
        }
        answers.by_key.insert(key, Arc::new(answer));
    }
}
