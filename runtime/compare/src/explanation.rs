//! Why results are not as expected, in a paragraph: what each comparison has found, and what that
//! says about where the fault is. It says no more than the comparisons show: the text of a dispatch
//! is the judge of what it leaves; two back ends that differ accuse neither, and two that agree
//! acquit neither the source nor the compiler's front end, which both share.

use serde_json::{Value, json};

use crate::columns::allowed;
use crate::errors::CompareError;
use crate::finding::{TensorFinding, Verdict};
use crate::judged::Opinion;
use crate::report::place;
use crate::report::{DispatchFinding, Report};

/// What was compared, and what was found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The back end that the program is compiled for.
    pub back_end: String,
    /// Its results, and tensors that it computes, against files of expected values.
    pub expected: Report,
    /// What its dispatches leave against their text in float64, or else against their bytecode; or
    /// why that was not compared. This and what follows is there only if something is not as
    /// expected.
    pub text: Option<Result<Report, CompareError>>,
    /// The same source compiled for another back end; or why it was not.
    pub other: Option<Result<OtherBackEnd, CompareError>>,
}

/// The same source, compiled for another back end.
#[derive(Clone, Debug)]
pub struct OtherBackEnd {
    /// That back end.
    pub name: String,
    /// Its results against the files of expected values; or why it does not run.
    pub expected: Result<Report, CompareError>,
    /// The program against it, in lock step; or why they were not compared.
    pub against: Result<Report, CompareError>,
    /// What its dispatches leave against their text, if the two differ.
    pub text: Option<Result<Report, CompareError>>,
}

/// Where the fault is, as far as comparisons show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// There is none: all is as expected.
    None,
    /// A dispatch of machine code leaves something else than its text means; or, where that is not
    /// evaluated, than its bytecode.
    MachineCode,
    /// What a back end makes of a dispatch is not what its text means, or else not what the other
    /// back end makes of it.
    BackEnds,
    /// Each dispatch leaves what its text means, or both back ends agree; and that is not what is
    /// expected.
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

    /// Whether nothing that was compared differs from the program.
    fn agrees(&self) -> bool {
        self.against.as_ref().is_ok_and(|report| {
            matches!(report.verdict(), Verdict::Equal | Verdict::Within)
                && report.failures.is_empty()
        })
    }

    /// The first of its dispatches that leaves something else than its text means.
    fn wrong_by_text(&self) -> Option<&DispatchFinding> {
        self.text.as_ref()?.as_ref().ok()?.first_bad()
    }

    /// What its text says of the first dispatch with a name.
    fn opinion_of(&self, export: &str) -> Opinion {
        let report = self.text.as_ref().and_then(|it| it.as_ref().ok());
        let found = report.and_then(|it| it.dispatches.iter().find(|it| it.names.0 == export));
        found.map_or(Opinion::Unknown, |it| Opinion::of_findings(&it.tensors))
    }
}

impl Findings {
    fn text_report(&self) -> Option<&Report> {
        self.text.as_ref()?.as_ref().ok()
    }

    /// The first dispatch that leaves something else than its text means.
    fn wrong_by_text(&self) -> Option<&DispatchFinding> {
        let mut dispatches = self.text_report()?.dispatches.iter();
        dispatches.find(|it| it.verdict() == Verdict::Differs && it.compared_with.is_none())
    }

    /// The first dispatch whose text is not evaluated, and whose bytecode leaves something else.
    fn wrong_by_bytecode(&self) -> Option<&DispatchFinding> {
        let mut dispatches = self.text_report()?.dispatches.iter();
        dispatches.find(|it| it.verdict() == Verdict::Differs && it.compared_with.is_some())
    }

    /// Whether a dispatch of the program leaves what its text means.
    fn is_acquitted(&self, dispatch: &DispatchFinding) -> bool {
        let mut all = self.text_report().into_iter().flat_map(|it| &it.dispatches);
        all.any(|it| {
            (it.number, &it.names.0) == (dispatch.number, &dispatch.names.0)
                && it.compared_with.is_none()
                && it.reason.is_none()
                && Opinion::of_findings(&it.tensors) == Opinion::Right
        })
    }

    /// Whether all dispatches leave what their text means.
    fn are_all_right(&self) -> bool {
        self.text_report().is_some_and(|report| {
            report.failures.is_empty()
                && !report.dispatches.is_empty()
                && report.dispatches.iter().all(|it| self.is_acquitted(it))
        })
    }

    /// The first dispatch in which the back ends differ, and which nothing acquits.
    fn wrong_by_back_ends(&self) -> Option<&DispatchFinding> {
        let other = self.other_back_end()?;
        let mut dispatches = other.against.as_ref().ok()?.dispatches.iter();
        dispatches.find(|it| {
            let name = it.names.1.as_ref().unwrap_or(&it.names.0);
            it.verdict() == Verdict::Differs
                && !self.is_acquitted(it)
                && other.opinion_of(name) != Opinion::Wrong
        })
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
        let is_machine_code = self.back_end != "vmvx";
        if self.wrong_by_text().is_some() {
            return if is_machine_code { Cause::MachineCode } else { Cause::BackEnds };
        }
        if self.wrong_by_bytecode().is_some() {
            return Cause::MachineCode;
        }
        if self.are_all_right() {
            return Cause::SourceOrExpectation;
        }
        if self.wrong_by_back_ends().is_some() {
            return Cause::BackEnds;
        }
        match self.other_back_end() {
            Some(other) if other.is_as_expected() == Some(false) && other.agrees() => {
                Cause::SourceOrExpectation
            }
            _ => Cause::NotFound,
        }
    }

    /// The first dispatch that is wrong, by its number among those that the program runs; where no
    /// comparison of back ends shows one, the first that leaves an unexpected tensor.
    #[must_use]
    pub fn first_bad(&self) -> Option<&DispatchFinding> {
        match self.cause() {
            Cause::None => None,
            Cause::MachineCode => self.wrong_by_text().or_else(|| self.wrong_by_bytecode()),
            Cause::BackEnds => self.wrong_by_text().or_else(|| self.wrong_by_back_ends()),
            Cause::SourceOrExpectation | Cause::NotFound => self.expected.first_bad(),
        }
    }

    /// The first bad dispatch, unless it leaves what its text means.
    #[must_use]
    pub fn suspect(&self) -> Option<&DispatchFinding> {
        self.first_bad().filter(|it| !self.is_acquitted(it))
    }

    /// What was found, in a paragraph. `repro` says where the folder of the dispatch is.
    #[must_use]
    pub fn paragraph(&self, repro: Option<&str>) -> String {
        let mut said = vec![self.outcome()];
        let cause = self.cause();
        if cause != Cause::None {
            said.extend(self.unexpected_tensor());
            said.extend(self.by_text());
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

    /// What the text of the dispatches shows.
    fn by_text(&self) -> Option<String> {
        let report = match self.text.as_ref()? {
            Ok(report) => report,
            Err(reason) => {
                return Some(format!("Dispatches were not compared with their text: {reason}."));
            }
        };
        let left = left_out(report);
        let judged =
            "Each dispatch was compared with its text, evaluated in float64 on what it reads";
        let Some(bad) = self.wrong_by_text().or_else(|| self.wrong_by_bytecode()) else {
            return Some(match compared(report) {
                0 => format!("No dispatch could be compared with its text{left}."),
                count => format!("{judged}: {} what is allowed{left}.", agreeing(count)),
            });
        };
        let is_first = report.dispatches.iter().take_while(|it| it.number < bad.number);
        let is_first = is_first.filter(|it| it.verdict() == Verdict::NotCompared).count() == 0;
        let first = if is_first { "the first" } else { "the first of those that were compared" };
        let is_machine_code = self.back_end != "vmvx";
        let own = if is_machine_code { "as machine code" } else { "as bytecode" };
        let other = if bad.compared_with.is_some() { "as bytecode" } else { "by its text" };
        let more = match report.count(Verdict::Differs) - 1 {
            0 => String::new(),
            1 => "; 1 more differs".to_owned(),
            more => format!("; {more} more differ"),
        };
        let with = bad.compared_with.as_ref();
        let with = with.map(|it| format!(" (compared with {it})")).unwrap_or_default();
        let who = bad.judged.as_ref().filter(|it| it.opinions != [Opinion::Unknown; 2]);
        let who =
            who.map(|it| format!(" Of that dispatch, {}.", it.sentence())).unwrap_or_default();
        Some(format!(
            "{judged}; {first} that leaves something else is {}{with}{more}{left}.{who}",
            dispatch(bad, [own, other])
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
        let known = self.wrong_by_text().or_else(|| self.wrong_by_bytecode());
        let found = match report.first_bad() {
            Some(bad) if known.is_some_and(|known| known.number == bad.number) => {
                "that dispatch is the first that differs, too".to_owned()
            }
            Some(bad) => {
                let sides = [&self.back_end, name].map(|it| format!("for {it}"));
                let who = self.who_is_wrong(bad, other);
                let bad = dispatch(bad, [&sides[0], &sides[1]]);
                format!("the first dispatch that differs is {bad}{who}")
            }
            None => match compared(report) {
                0 => "no dispatch could be compared".to_owned(),
                count => format!("{} what is allowed", agreeing(count)),
            },
        };
        format!("{said}; in lock step with that, on the same inputs, {found}{left}.")
    }

    /// Which back end is wrong in a dispatch in which they differ, by its text.
    fn who_is_wrong(&self, bad: &DispatchFinding, other: &OtherBackEnd) -> String {
        let name = bad.names.1.as_ref().unwrap_or(&bad.names.0);
        let (own, theirs) = (&self.back_end, &other.name);
        match (self.is_acquitted(bad), other.opinion_of(name)) {
            (true, Opinion::Wrong) => format!(
                "; by its text in float64, what {own} makes of it is right, and what {theirs} \
                 makes of it is wrong"
            ),
            (true, _) => format!("; by its text in float64, what {own} makes of it is right"),
            (false, Opinion::Wrong) => {
                format!("; by its text in float64, what {theirs} makes of it is wrong")
            }
            (false, _) => String::new(),
        }
    }

    fn conclusion(&self, cause: Cause) -> String {
        let other = self.other_back_end();
        let is_other_right = other.and_then(OtherBackEnd::is_as_expected);
        let name = self.first_bad().map(|bad| format!("@{}", bad.names.0)).unwrap_or_default();
        match cause {
            Cause::None => String::new(),
            Cause::MachineCode | Cause::BackEnds if self.wrong_by_text().is_some() => {
                let what = match cause {
                    Cause::MachineCode => format!("the machine code of {name}"),
                    _ => format!("what {} makes of {name}", self.back_end),
                };
                match other.filter(|_| is_other_right == Some(false)) {
                    None => format!("So {what} is wrong."),
                    Some(other) => format!(
                        "So {what} is wrong, but that may not be all: compiled for {}, the values \
                         are not as expected either.",
                        other.name
                    ),
                }
            }
            Cause::MachineCode => format!(
                "So the machine code or the bytecode of {name} is wrong; which of both is not \
                 known, as its text is not evaluated."
            ),
            Cause::BackEnds if is_other_right == Some(true) => format!(
                "So what {} makes of {name} is probably wrong, as far as the other back end can \
                 tell: its text was not evaluated, or not wholly.",
                self.back_end
            ),
            Cause::BackEnds => "So the back ends do not agree, and the other one does not give \
                                what is expected either."
                .to_owned(),
            Cause::SourceOrExpectation => self.source_or_expectation(is_other_right),
            Cause::NotFound if is_other_right == Some(true) => {
                "No dispatch that was compared alone explains that: look at those that could not \
                 be compared, at errors that add up, and at the host's code."
                    .to_owned()
            }
            Cause::NotFound => "Which dispatch is wrong was not found.".to_owned(),
        }
    }

    /// What is at fault where no dispatch is.
    fn source_or_expectation(&self, is_other_right: Option<bool>) -> String {
        let wrong = self.other_back_end().and_then(OtherBackEnd::wrong_by_text);
        if self.are_all_right()
            && is_other_right == Some(true)
            && let (Some(wrong), Some(other)) = (wrong, self.other_back_end())
        {
            return format!(
                "So each dispatch leaves what its text means, and is right. The expectation has \
                 what {} gives, which is wrong in @{} by its text: look at what made the \
                 expectation, and then at the source.",
                other.name, wrong.names.0
            );
        }
        let is_compared = self.other_back_end().is_some_and(OtherBackEnd::agrees);
        let found = match (self.are_all_right(), is_other_right) {
            (true, Some(true)) => {
                "So each dispatch leaves what its text means, and is right; the expectation is \
                 what the other back end gives"
            }
            (true, _) if is_compared => {
                "So each dispatch leaves what its text means, and both back ends agree with each \
                 other, and not with the expectation"
            }
            (true, _) => "So each dispatch leaves what its text means, and is right",
            (false, _) => "Both back ends agree with each other, and not with the expectation",
        };
        let golden = match self.expected.dispatches.is_empty() {
            true => {
                " Files of expected intermediate tensors (--golden=DIRECTORY) would show where \
                 the values part."
            }
            false => "",
        };
        format!(
            "{found}: the source, what made it (an importer), the part of the compiler that all \
             back ends share, or the expectation is at fault.{golden}"
        )
    }

    /// The findings as JSON. Programs read it: add keys, never change one.
    #[must_use]
    pub fn to_json(&self, repro: Option<&str>) -> Value {
        let report = |it: &Result<Report, CompareError>| match it {
            Ok(report) => report.to_json(),
            Err(reason) => json!({"reason": reason.to_string()}),
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
            // What machine code was once compared with; it is in `text` now.
            "bytecode": Value::Null,
            "text": self.text.as_ref().map(report),
            "other": self.other.as_ref().map(|other| match other {
                Ok(other) => json!({
                    "back_end": other.name,
                    "expected": report(&other.expected),
                    "lockstep": report(&other.against),
                    "text": other.text.as_ref().map(report),
                }),
                Err(reason) => json!({"reason": reason.to_string()}),
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
