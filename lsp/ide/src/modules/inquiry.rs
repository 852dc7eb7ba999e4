//! Asking iree-compile what it makes of the exports of a file: which runs it takes, and what each
//! says. The runs themselves are the server's.
//!
//! Functions are asked about together, since a run takes a third of a second however few there are.
//! Where the compiler refuses some, the others are asked about again; where it does not say which,
//! halves of them are.

use super::compiled::Modules;
use crate::Document;
use crate::calling::AbiQuestion;
use crate::resolve::symbol_at;

/// A run of iree-compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbiRun {
    /// The text is a program. What the phase `abi` makes of it is wanted, as text.
    ToAbi,
    /// The text is what a phase `abi` made. A module is wanted, compiled from the phase `hal` on.
    FromHal,
}

impl AbiRun {
    /// The flags of this run, beside those of the user.
    pub fn flags(self) -> [&'static str; 1] {
        match self {
            Self::ToAbi => ["--compile-to=abi"],
            Self::FromHal => ["--compile-from=hal"],
        }
    }
}

/// An inquiry about the exports around one place of a document.
#[derive(Debug)]
pub struct AbiInquiry {
    offset: usize,
    limit: usize,
    runs_left: usize,
    asked: Option<(AbiRun, AbiQuestion)>,
}

/// How many functions are asked about at first, and later on: who looks at a function first should
/// not wait for all.
const FIRST: usize = 16;
const LATER: usize = 200;
/// The most runs of one inquiry.
const RUNS: usize = 60;

impl AbiInquiry {
    /// An inquiry about the exports of the file around `offset`, beginning with the one there.
    pub fn new(offset: usize) -> Self {
        Self { offset, limit: FIRST, runs_left: RUNS, asked: None }
    }

    /// Whether the function whose name or operation is at `offset` could be asked about and was
    /// not.
    pub fn is_wanted(document: &Document, modules: &Modules, offset: usize) -> bool {
        symbol_at(document, offset).is_some_and(|found| modules.is_unknown(document, &found.symbol))
    }

    /// The next run, and its text. `None` if all is known that can be.
    pub fn next_run(&mut self, document: &Document, modules: &Modules) -> Option<(AbiRun, String)> {
        self.runs_left = self.runs_left.checked_sub(1)?;
        if self.asked.is_none() {
            let question = modules.abi_question(document, self.offset, self.limit)?;
            self.asked = Some((AbiRun::ToAbi, question));
        }
        self.asked.as_ref().map(|(run, question)| (*run, question.text().to_owned()))
    }

    /// What the last run printed on standard output, or, if it failed, on standard error.
    pub fn answer(&mut self, modules: &Modules, answer: Result<Vec<u8>, Vec<u8>>) {
        let Some((run, question)) = self.asked.take() else { return };
        let said = match (run, answer) {
            (AbiRun::ToAbi, Ok(printed)) => {
                let printed = String::from_utf8_lossy(&printed).into_owned();
                let second = question.of_exports_made(printed);
                self.asked = Some((AbiRun::FromHal, second));
                return;
            }
            (AbiRun::FromHal, Ok(module)) => match modules.learn(&question, module) {
                Ok(()) => {
                    self.limit = LATER;
                    return;
                }
                Err(error) => error.to_string(),
            },
            (_, Err(said)) => String::from_utf8_lossy(&said).into_owned(),
        };
        if modules.learn_faults(&question, &said) == 0 {
            self.limit = question.count() / 2;
        }
        if self.limit == 0 {
            self.runs_left = 0;
        }
    }
}
