//! Why results are not as expected, in a paragraph: what each comparison has found, and what that
//! says about where the fault is. It says no more than the comparisons show: two back ends that
//! agree acquit neither the source nor the compiler's front end, which both share.

use serde_json::{Value, json};

use crate::finding::{TensorFinding, Verdict};
use crate::report::{DispatchFinding, Report};
use crate::text::{allowed, place};

/// What was compared, and what was found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The back end that the program is compiled for.
    pub back_end: String,
    /// Its results, and tensors that it computes, against files of expected values.
    pub expected: Report,
    /// Its machine code against bytecode of the same dispatches; or why they were not compared.
    /// This and what follows is there only if something is not as expected.
    pub bytecode: Option<Result<Report, String>>,
    /// The same source compiled for another back end; or why it was not.
    pub other: Option<Result<OtherBackEnd, String>>,
}

/// The same source, compiled for another back end.
#[derive(Clone, Debug)]
pub struct OtherBackEnd {
    /// That back end.
    pub name: String,
    /// Its results against the files of expected values; or why it does not run.
    pub expected: Result<Report, String>,
    /// The program against it, in lock step; or why they were not compared.
    pub against: Result<Report, String>,
}

/// Where the fault is, as far as comparisons show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// There is none: all is as expected.
    None,
    /// A dispatch of machine code leaves other values than its bytecode.
    MachineCode,
    /// A dispatch leaves other values than what the other back end makes of the same source.
    BackEnds,
    /// Both back ends agree, and not with the expectation.
    SourceOrExpectation,
    /// The comparisons do not show it.
    NotFound,
}

impl Cause {
    /// Its name in JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::MachineCode => "machine_code",
            Self::BackEnds => "back_ends",
            Self::SourceOrExpectation => "source_or_expectation",
            Self::NotFound => "not_found",
        }
    }
}

impl OtherBackEnd {
    fn is_as_expected(&self) -> Option<bool> {
        match self.expected.as_ref().ok()?.verdict() {
            Verdict::Equal | Verdict::Within => Some(true),
            Verdict::Differs => Some(false),
            Verdict::NotCompared => None,
        }
    }

    /// Whether its results are those of the program.
    fn agrees(&self) -> bool {
        let is_same = |it: &TensorFinding| matches!(it.verdict, Verdict::Equal | Verdict::Within);
        self.against.as_ref().is_ok_and(|report| {
            report.failures.is_empty()
                && !report.results.is_empty()
                && report.results.iter().all(is_same)
        })
    }
}

impl Findings {
    fn bytecode_report(&self) -> Option<&Report> {
        self.bytecode.as_ref()?.as_ref().ok()
    }

    fn other_back_end(&self) -> Option<&OtherBackEnd> {
        self.other.as_ref()?.as_ref().ok()
    }

    /// Where the fault is.
    #[must_use]
    pub fn cause(&self) -> Cause {
        if self.expected.verdict() != Verdict::Differs {
            return Cause::None;
        }
        if self.bytecode_report().and_then(Report::first_bad).is_some() {
            return Cause::MachineCode;
        }
        let Some(other) = self.other_back_end() else { return Cause::NotFound };
        let differs = other.against.as_ref().ok().and_then(Report::first_bad).is_some();
        match (differs, other.is_as_expected()) {
            (true, _) => Cause::BackEnds,
            (false, Some(false)) if other.agrees() => Cause::SourceOrExpectation,
            _ => Cause::NotFound,
        }
    }

    /// The first dispatch that is wrong, by its number among those that the program runs; where no
    /// comparison of back ends shows one, the first that leaves an unexpected tensor.
    #[must_use]
    pub fn first_bad(&self) -> Option<&DispatchFinding> {
        match self.cause() {
            Cause::None => None,
            Cause::MachineCode => self.bytecode_report()?.first_bad(),
            Cause::BackEnds => self.other_back_end()?.against.as_ref().ok()?.first_bad(),
            Cause::SourceOrExpectation | Cause::NotFound => self.expected.first_bad(),
        }
    }

    /// What was found, in a paragraph. `repro` says where the folder of the dispatch is.
    #[must_use]
    pub fn paragraph(&self, repro: Option<&str>) -> String {
        let mut said = vec![self.outcome()];
        let cause = self.cause();
        if cause != Cause::None {
            said.extend(self.unexpected_tensor());
            said.extend(self.machine_code());
            said.push(self.back_ends());
            said.push(self.conclusion(cause));
        }
        said.extend(repro.map(str::to_owned));
        said.retain(|sentence| !sentence.is_empty());
        said.join(" ")
    }

    /// How the results compare with the expectation.
    fn outcome(&self) -> String {
        let Self { back_end, expected, .. } = self;
        let program = format!("of @{}, compiled for {back_end},", expected.function);
        let what = if expected.results.is_empty() { "tensors" } else { "results" };
        let of = |verdict: Verdict| expected.results.iter().filter(move |it| it.verdict == verdict);
        if expected.verdict() != Verdict::Differs {
            let within: Vec<String> =
                of(Verdict::Within).map(|it| difference(it, ["computed", "expected"])).collect();
            let how = match within.is_empty() {
                true => "bit for bit".to_owned(),
                false => format!("within what is allowed: {}", within.join("; ")),
            };
            return format!("The {what} {program} are as expected, {how}.");
        }
        let bad: Vec<String> =
            of(Verdict::Differs).map(|it| difference(it, ["computed", "expected"])).collect();
        match bad.is_empty() {
            true if expected.results.is_empty() => {
                format!("The tensors {program} are not as expected.")
            }
            true => format!("The results {program} are as expected, but not all tensors are."),
            false => format!("The results {program} are not as expected: {}.", bad.join("; ")),
        }
    }

    /// The first intermediate tensor that is not as expected.
    fn unexpected_tensor(&self) -> Option<String> {
        let compared = self.expected.dispatches.len();
        if compared == 0 {
            return None;
        }
        let Some(bad) = self.expected.first_bad() else {
            let s = if compared == 1 { "" } else { "es" };
            return Some(format!(
                "Of {compared} dispatch{s} with expected tensors, none leaves other ones."
            ));
        };
        Some(format!(
            "The first dispatch that leaves an unexpected tensor is {}.",
            dispatch(bad, ["computed", "expected"])
        ))
    }

    /// What running dispatches as bytecode shows.
    fn machine_code(&self) -> Option<String> {
        let report = match self.bytecode.as_ref()? {
            Ok(report) => report,
            Err(reason) => {
                return Some(format!("Machine code was not compared with bytecode: {reason}."));
            }
        };
        let left = left_out(report);
        let Some(bad) = report.first_bad() else {
            return Some(match compared(report) {
                0 => format!("No dispatch could be compared with its bytecode{left}."),
                count => format!(
                    "As machine code and as bytecode, on the same inputs, {} what is \
                     allowed{left}.",
                    agreeing(count)
                ),
            });
        };
        let more = match report.count(Verdict::Differs) - 1 {
            0 => String::new(),
            1 => "; 1 more differs".to_owned(),
            more => format!("; {more} more differ"),
        };
        Some(format!(
            "Each dispatch was run as machine code and as bytecode, on the same inputs; the first \
             that differs is {}{more}{left}.",
            dispatch(bad, ["as machine code", "as bytecode"])
        ))
    }

    /// What compiling for another back end shows.
    fn back_ends(&self) -> String {
        let other = match &self.other {
            None => return String::new(),
            Some(Err(reason)) => return format!("No other back end was tried: {reason}."),
            Some(Ok(other)) => other,
        };
        let name = &other.name;
        let values = match (&other.expected, other.is_as_expected()) {
            (Err(reason), _) => {
                return format!("Compiled for {name}, the program does not run: {reason}.");
            }
            (_, Some(true)) => "are as expected",
            (_, Some(false)) => "are not as expected either",
            (_, None) => "could not be compared with the expectation",
        };
        let said = format!("Compiled for {name}, its values {values}");
        let report = match &other.against {
            Err(reason) => {
                return format!("{said}; the two were not compared in lock step: {reason}.");
            }
            Ok(report) => report,
        };
        let left = left_out(report);
        let known = self.bytecode_report().and_then(Report::first_bad);
        let found = match report.first_bad() {
            Some(bad) if known.is_some_and(|known| known.number == bad.number) => {
                "that dispatch is the first that differs, too".to_owned()
            }
            Some(bad) => {
                let sides = [&self.back_end, name].map(|it| format!("for {it}"));
                let bad = dispatch(bad, [&sides[0], &sides[1]]);
                format!("the first dispatch that differs is {bad}")
            }
            None => match compared(report) {
                0 => "no dispatch could be compared".to_owned(),
                count => format!("{} what is allowed", agreeing(count)),
            },
        };
        format!("{said}; in lock step with that, on the same inputs, {found}{left}.")
    }

    fn conclusion(&self, cause: Cause) -> String {
        let other = self.other_back_end();
        let is_other_right = other.and_then(OtherBackEnd::is_as_expected);
        let name = self.first_bad().map(|bad| format!("@{}", bad.names.0)).unwrap_or_default();
        let text = match (cause, is_other_right) {
            (Cause::None, _) => "",
            (Cause::MachineCode, Some(false)) => {
                return format!(
                    "So the machine code or the bytecode of {name} is wrong, but that is not all: \
                     what does not depend on the back end differs from the expectation, too."
                );
            }
            (Cause::MachineCode, Some(true)) => {
                return format!("So the machine code of {name} is wrong.");
            }
            (Cause::MachineCode, None) => {
                return format!("So the machine code or the bytecode of {name} is wrong.");
            }
            (Cause::BackEnds, Some(true)) => {
                return format!("So what {} makes of {name} is wrong.", self.back_end);
            }
            (Cause::BackEnds, _) => {
                "So the back ends do not agree, and the other one does not give what is expected \
                 either."
            }
            (Cause::SourceOrExpectation, _) => {
                return format!(
                    "Both back ends agree with each other, and not with the expectation: the \
                     source, what made it (an importer), the part of the compiler that both share, \
                     or the expectation is at fault.{}",
                    match self.expected.dispatches.is_empty() {
                        true =>
                            " Files of expected intermediate tensors (--golden=DIRECTORY) would \
                             show where the values part.",
                        false => "",
                    }
                );
            }
            (Cause::NotFound, Some(true)) => {
                "No dispatch that was compared alone explains that: look at those that could not \
                 be compared, at errors that add up, and at the host's code."
            }
            (Cause::NotFound, _) => "Which dispatch is wrong was not found.",
        };
        text.to_owned()
    }

    /// The findings as JSON. Programs read it: add keys, never change one.
    #[must_use]
    pub fn to_json(&self, repro: Option<&str>) -> Value {
        let report = |it: &Result<Report, String>| match it {
            Ok(report) => report.to_json(),
            Err(reason) => json!({"reason": reason}),
        };
        json!({
            "schema_version": 1,
            "as_expected": self.cause() == Cause::None,
            "cause": self.cause().key(),
            "explanation": self.paragraph(None),
            "dispatch": self.first_bad().map(crate::json::dispatch),
            "repro": repro,
            "back_end": self.back_end,
            "expected": self.expected.to_json(),
            "bytecode": self.bytecode.as_ref().map(report),
            "other": self.other.as_ref().map(|other| match other {
                Ok(other) => json!({
                    "back_end": other.name,
                    "expected": report(&other.expected),
                    "lockstep": report(&other.against),
                }),
                Err(reason) => json!({"reason": reason}),
            }),
        })
    }
}

/// How many dispatches were compared.
fn compared(report: &Report) -> usize {
    report.dispatches.len() - report.count(Verdict::NotCompared)
}

/// `none of 3 dispatches differs by more than`.
fn agreeing(count: usize) -> String {
    match count {
        1 => "the one dispatch does not differ by more than".to_owned(),
        count => format!("none of {count} dispatches differs by more than"),
    }
}

/// ` (2 could not be compared: why)`.
fn left_out(report: &Report) -> String {
    let mut left = report.dispatches.iter().filter(|it| it.verdict() == Verdict::NotCompared);
    let count = report.count(Verdict::NotCompared);
    match left.next() {
        None => String::new(),
        Some(first) => {
            let why = first.why_not().unwrap_or("no tensor that it leaves is known");
            format!(" ({count} could not be compared; the first because {why})")
        }
    }
}

/// A dispatch in a part of a sentence, with the first of its tensors that differs.
fn dispatch(bad: &DispatchFinding, sides: [&str; 2]) -> String {
    let mut text = format!("#{} @{}", bad.number, bad.names.0);
    if let Some(source) = &bad.source {
        text.push_str(&format!(", made from {}", place(source)));
    }
    if let Some(line) = &bad.source_text {
        text.push_str(&format!(" (`{line}`)"));
    }
    let mut differ = bad.tensors.iter().filter(|it| it.verdict == Verdict::Differs);
    if let Some(tensor) = differ.next() {
        text.push_str(&format!(": {}", difference(tensor, sides)));
    }
    match differ.count() {
        0 => {}
        1 => text.push_str("; another tensor of it differs too"),
        more => text.push_str(&format!("; {more} other tensors of it differ too")),
    }
    text
}

/// How a tensor differs, in a part of a sentence.
fn difference(tensor: &TensorFinding, sides: [&str; 2]) -> String {
    let mut text = format!("{} : {}", tensor.name(), tensor.tensor_type);
    let Some(figures) = &tensor.figures else {
        let reason = tensor.reason.as_deref().unwrap_or("it differs");
        return format!("{text}, {reason}");
    };
    let worst = &figures.worst;
    let [a, b] = &worst.texts;
    text.push_str(&format!(
        ", {}, the worst at {:?}: {a} {}, {b} {}",
        figures.sentence(),
        worst.index,
        sides[0],
        sides[1]
    ));
    if !worst.difference.is_nan() {
        text.push_str(&format!(", apart by {:.3e}", worst.difference));
    }
    if tensor.tolerance.is_some() {
        text.push_str(&format!(" (allowed: {})", allowed(tensor)));
    }
    text
}

#[cfg(test)]
mod tests;
