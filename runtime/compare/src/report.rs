//! What a comparison has found: plain data, for the text, JSON and HTML of it.

use std::path::PathBuf;

use debug::SourceLine;

use crate::finding::{TensorFinding, Verdict};
use crate::judged::Judged;

/// Unless the user says otherwise, this share of the dispatches has to be compared: a report of a
/// program that was mostly not compared says nothing of the program.
pub const MOSTLY: f64 = 0.5;

/// How the sides run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Each dispatch has the same inputs on both sides.
    Isolated,
    /// Each side goes on with its own results.
    Accumulated,
    /// Dispatches are taken from one side or the other, until the fewest are found that make the
    /// final output wrong.
    Bisect,
}

impl Mode {
    /// Its name on the command line.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Isolated => "isolated",
            Self::Accumulated => "accumulated",
            Self::Bisect => "bisect",
        }
    }
}

/// What was compared, and what was found.
#[derive(Clone, Debug)]
pub struct Report {
    /// What each side is, in a sentence.
    pub sides: [String; 2],
    /// The function that was called.
    pub function: String,
    /// How the sides ran.
    pub mode: Mode,
    /// The dispatches in the order in which side A ran them.
    pub dispatches: Vec<DispatchFinding>,
    /// The results of the function; empty where they are those of one side.
    pub results: Vec<TensorFinding>,
    /// What could not be compared, and where the sides went apart.
    pub notes: Vec<String>,
    /// The sides that have failed, and how.
    pub failures: Vec<(&'static str, String)>,
    /// What bisection has found.
    pub culprits: Option<Culprits>,
    /// The programs' own tensors that differ, as weights and constants: each once.
    pub own: Vec<OwnTensor>,
    /// Whether both sides are programs that run.
    pub is_of_two: bool,
    /// The share of the dispatches that has to be compared, from 0 to 1.
    pub required: f64,
    /// Where both sides of what is not equal are kept.
    pub kept_in: Option<KeptIn>,
}

/// Where tensors are kept.
#[derive(Clone, Debug)]
pub struct KeptIn {
    /// The folder.
    pub directory: PathBuf,
    /// The most bytes that were to be kept.
    pub most: usize,
}

/// A tensor that is each program's own, and differs.
#[derive(Clone, Debug)]
pub struct OwnTensor {
    /// The number of the first dispatch that reads it.
    pub reader: u64,
    /// How both differ.
    pub tensor: TensorFinding,
}

/// What came of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing differs by more than is allowed, and enough was compared.
    Alike,
    /// Something differs by more than is allowed.
    Differs,
    /// A side did not run to its end.
    NotRun,
    /// Nothing that was compared differs, and too little was compared.
    TooLittle,
}

/// How a dispatch of both sides compares.
#[derive(Clone, Debug)]
pub struct DispatchFinding {
    /// The number of the command on side A, as the debugger and `goto` have it.
    pub number: u64,
    /// The export on each side; the second is none if it is the same.
    pub names: (String, Option<String>),
    /// Its box in the graph of side A's dispatches, if it is known which one that is.
    pub node: Option<String>,
    /// The operation of the source that it was made from.
    pub source: Option<SourceLine>,
    /// That line.
    pub source_text: Option<String>,
    /// What it leaves.
    pub tensors: Vec<TensorFinding>,
    /// Tensors that it reads and that were the program's own on both sides, and differ.
    pub inputs: Vec<TensorFinding>,
    /// Why it was not compared.
    pub reason: Option<String>,
    /// What it was compared with, where that is not the report's side B.
    pub compared_with: Option<String>,
    /// Which side is wrong, if that was asked.
    pub judged: Option<Judged>,
}

/// The fewest dispatches that make the final output wrong.
#[derive(Clone, Debug, Default)]
pub struct Culprits {
    /// The numbers of their commands; empty if the final output is right.
    pub dispatches: Vec<u64>,
    /// How often the program ran to find them.
    pub runs: usize,
    /// What was found, in a sentence.
    pub sentence: String,
}

impl DispatchFinding {
    /// How both compare.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let worst = self.tensors.iter().map(|tensor| tensor.verdict).max();
        match worst {
            Some(Verdict::Differs) => Verdict::Differs,
            _ if self.reason.is_some() => Verdict::NotCompared,
            Some(verdict) => verdict,
            None => Verdict::NotCompared,
        }
    }

    /// Why it, or a part of it, was not compared.
    #[must_use]
    pub fn why_not(&self) -> Option<&str> {
        let of_tensors = || self.tensors.iter().find_map(|tensor| tensor.reason.as_deref());
        self.reason.as_deref().or_else(of_tensors)
    }
}

impl Report {
    /// Nothing is compared yet.
    pub(crate) fn begun(
        sides: [String; 2],
        function: String,
        mode: Mode,
        notes: Vec<String>,
    ) -> Self {
        Self {
            sides,
            function,
            mode,
            dispatches: Vec::new(),
            results: Vec::new(),
            notes,
            failures: Vec::new(),
            culprits: None,
            own: Vec::new(),
            is_of_two: false,
            required: MOSTLY,
            kept_in: None,
        }
    }

    /// A side has failed; the first line says how.
    pub(crate) fn failed(&mut self, side: &'static str, failure: &str) {
        let failure = failure.lines().next().unwrap_or_default().to_owned();
        self.failures.push((side, failure));
    }

    /// The first dispatch that differs.
    #[must_use]
    pub fn first_bad(&self) -> Option<&DispatchFinding> {
        self.dispatches.iter().find(|it| it.verdict() == Verdict::Differs)
    }

    /// How many dispatches that were not compared stand before the first that differs.
    #[must_use]
    pub fn uncompared_before_first_bad(&self) -> usize {
        let before = self.dispatches.iter().take_while(|it| it.verdict() != Verdict::Differs);
        match self.first_bad() {
            Some(_) => before.filter(|it| it.verdict() == Verdict::NotCompared).count(),
            None => 0,
        }
    }

    /// How many dispatches were compared, and of how many; where there is none, results.
    #[must_use]
    pub fn coverage(&self) -> (usize, usize) {
        let is_compared = |it: &&TensorFinding| it.verdict != Verdict::NotCompared;
        match self.dispatches.len() {
            0 => (self.results.iter().filter(is_compared).count(), self.results.len()),
            all => (all - self.count(Verdict::NotCompared), all),
        }
    }

    /// Whether enough was compared.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        let (compared, all) = self.coverage();
        compared > 0 && compared as f64 >= self.required * all as f64
    }

    /// What came of it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self.verdict() {
            Verdict::Differs => Outcome::Differs,
            _ if !self.failures.is_empty() => Outcome::NotRun,
            _ if self.is_enough() => Outcome::Alike,
            _ => Outcome::TooLittle,
        }
    }

    /// How many dispatches have a verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.dispatches.iter().filter(|it| it.verdict() == verdict).count()
    }

    /// Whether no dispatch was compared.
    pub(crate) fn is_uncompared(&self) -> bool {
        self.dispatches.iter().all(|it| it.verdict() == Verdict::NotCompared)
    }

    /// How both sides compare as a whole: not compared, if nothing was.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if let Some(culprits) = &self.culprits {
            return match culprits.dispatches.is_empty() {
                true if self.is_uncompared() => Verdict::NotCompared,
                true => Verdict::Within,
                false => Verdict::Differs,
            };
        }
        let dispatches = self.dispatches.iter().map(DispatchFinding::verdict);
        let results = self.results.iter().map(|result| result.verdict);
        let all: Vec<Verdict> = dispatches.chain(results).collect();
        // A side that fails where the other one does not differs.
        let has_one_failed = self.is_of_two && self.failures.len() == 1;
        if all.contains(&Verdict::Differs) || has_one_failed {
            return Verdict::Differs;
        }
        let compared = all.into_iter().filter(|verdict| *verdict != Verdict::NotCompared);
        compared.max().unwrap_or(Verdict::NotCompared)
    }
}

/// `layers.mlir:7`.
pub(crate) fn place(source: &SourceLine) -> String {
    let file = source.file.rsplit('/').next().unwrap_or(&source.file);
    format!("{file}:{}", source.line)
}
