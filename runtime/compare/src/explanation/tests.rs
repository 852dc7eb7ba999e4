//! Paragraphs of findings that are made up.

use debug::SourceLine;

use super::*;
use crate::finding::{ErrorMap, Far, Figures, Largest, Worst};
use crate::kept::Kept;
use crate::report::Mode;
use crate::tolerance::Tolerance;

fn figures(beyond: usize, texts: [&str; 2]) -> Figures {
    Figures {
        count: 8,
        different: beyond,
        beyond,
        nans: 0,
        infinities: 0,
        largest: Largest {
            absolute: Far { index: vec![1, 2], value: 0.5 },
            relative: Far { index: vec![1, 2], value: 0.25 },
            ulps: None,
        },
        worst: Worst {
            index: vec![1, 2],
            texts: texts.map(str::to_owned),
            values: [f64::NAN; 2],
            difference: 0.5,
            ulps: None,
        },
        decades: Vec::new(),
        pattern: None,
        map: ErrorMap { cells: (1, 1), plane: (1, 1), values: vec![0.0] },
    }
}

fn tensor(name: &str, verdict: Verdict) -> TensorFinding {
    let is_different = matches!(verdict, Verdict::Differs | Verdict::Within);
    let tolerance = Tolerance { absolute: 1e-6, relative: 0.0, reason: "4 terms".to_owned() };
    TensorFinding {
        names: vec![name.to_owned()],
        tensor_type: "2x4xf32".to_owned(),
        verdict,
        reason: (verdict == Verdict::NotCompared).then(|| "it is large".to_owned()),
        tolerance: is_different.then_some(tolerance),
        figures: is_different
            .then(|| figures(usize::from(verdict == Verdict::Differs), ["1.5", "2"])),
        kept: Kept::No,
    }
}

fn dispatches(verdicts: &[Verdict]) -> Vec<DispatchFinding> {
    let one = |(number, verdict): (u64, &Verdict)| DispatchFinding {
        number,
        names: (format!("f_dispatch_{number}"), None),
        node: None,
        source: Some(SourceLine {
            file: "model.mlir".to_owned(),
            path: None,
            line: 7 + number as u32,
            column: 3,
        }),
        source_text: None,
        tensors: vec![tensor(&format!("%t{number}"), *verdict)],
        inputs: Vec::new(),
        reason: None,
        compared_with: None,
        judged: None,
    };
    (0..).zip(verdicts).map(one).collect()
}

fn report(verdicts: &[Verdict], result: Verdict) -> Report {
    Report {
        sides: ["a".to_owned(), "b".to_owned()],
        function: "f".to_owned(),
        mode: Mode::Isolated,
        dispatches: dispatches(verdicts),
        results: vec![tensor("result 0", result)],
        notes: Vec::new(),
        failures: Vec::new(),
        culprits: None,
        own: Vec::new(),
        is_of_two: false,
        kept_in: None,
        required: crate::report::MOSTLY,
    }
}

use Verdict::{Differs, Equal, NotCompared, Within};

/// The program against the text of its dispatches, its results on the other back end, and both back
/// ends in lock step.
fn findings(text: &[Verdict], other: Verdict, lockstep: &[Verdict]) -> Findings {
    Findings {
        back_end: "llvm-cpu".to_owned(),
        expected: report(&[], Differs),
        text: Some(Ok(Report { results: Vec::new(), ..report(text, Equal) })),
        other: Some(Ok(OtherBackEnd {
            name: "vmvx".to_owned(),
            expected: Ok(report(&[], other)),
            against: Ok(report(lockstep, Equal)),
            text: None,
        })),
    }
}

#[track_caller]
fn says(findings: &Findings, cause: Cause, parts: &[&str]) {
    let text = findings.paragraph(None);
    assert_eq!(findings.cause(), cause, "{text}");
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("  ") && !text.contains(".."), "{text}");
}

#[test]
fn what_is_as_expected_needs_no_more() {
    let mut all = findings(&[], Equal, &[]);
    all.expected = report(&[], Equal);
    says(&all, Cause::None, &["The results of @f, compiled for llvm-cpu, are as expected, bit"]);
    assert!(all.first_bad().is_none());
    all.expected = report(&[], Within);
    says(&all, Cause::None, &["as expected, within what is allowed: result 0 : 2x4xf32, "]);
}

#[test]
fn machine_code_is_named_with_its_line_and_its_worst_element() {
    let all = findings(&[Equal, Differs, Differs, NotCompared], Equal, &[Equal, Differs]);
    says(
        &all,
        Cause::MachineCode,
        &[
            "not as expected: result 0 : 2x4xf32, 1 of 8 elements differs, the worst at [1, 2]: \
             1.5 computed, 2 expected, apart by 5.000e-1 (allowed: 1.0e-6: 4 terms).",
            "the first that leaves something else is #1 @f_dispatch_1, made from model.mlir:8: %t1 : ",
            "1.5 as machine code, 2 by its text",
            "; 1 more differs (1 could not be compared; the first because it is large).",
            "its values are as expected; in lock step with that, on the same inputs, that dispatch \
             is the first that differs, too.",
            "So the machine code of @f_dispatch_1 is wrong.",
        ],
    );
    assert_eq!(all.first_bad().map(|it| it.number), Some(1));
    // What the other back end shows may be that this is not all.
    let all = findings(&[Differs], Differs, &[Equal]);
    says(&all, Cause::MachineCode, &["are not as expected either", "but that may not be all"]);
}

#[test]
fn back_ends_that_agree_acquit_nobody_else() {
    let mut all = findings(&[Equal, Within], Differs, &[Equal, Equal]);
    says(
        &all,
        Cause::SourceOrExpectation,
        &[
            "none of 2 dispatches differs",
            "not as expected either",
            "each dispatch leaves what its text means, and both back ends agree",
            "an importer",
            "--golden=",
        ],
    );
    assert!(all.first_bad().is_none());
    // Expected tensors say where the values part.
    all.expected.dispatches = dispatches(&[Equal, Differs]);
    let first = "The first dispatch that leaves an unexpected tensor is #1 @f_dispatch_1, made";
    says(&all, Cause::SourceOrExpectation, &[first]);
    assert!(!all.paragraph(None).contains("--golden="));
    assert_eq!(all.first_bad().map(|it| it.number), Some(1));
    // What it leaves of what it reads is right: no folder is written for it.
    assert!(all.suspect().is_none());
    // Without the text, back ends that agree are all that is known.
    all.text = Some(Err(CompareError::NothingCompared("it is stripped".to_owned())));
    says(&all, Cause::SourceOrExpectation, &["it is stripped", "Both back ends agree"]);
    assert_eq!(all.suspect().map(|it| it.number), Some(1));
}

#[test]
fn what_the_text_calls_right_is_not_accused() {
    // The other back end is wrong, and the expectation was made with it.
    let mut all = findings(&[Within, Equal], Equal, &[Differs, Equal]);
    if let Some(Ok(other)) = &mut all.other {
        other.text = Some(Ok(report(&[Differs, Equal], Equal)));
    }
    says(
        &all,
        Cause::SourceOrExpectation,
        &[
            "what llvm-cpu makes of it is right, and what vmvx makes of it is wrong",
            "The expectation has what vmvx gives, which is wrong in @f_dispatch_0 by its text",
        ],
    );
    assert!(all.suspect().is_none());
    // A dispatch that is not evaluated may be wrong, but not where the other one is known to be.
    let mut all = findings(&[NotCompared, Equal], Equal, &[Differs, Equal]);
    says(&all, Cause::BackEnds, &["its text was not evaluated, or not wholly"]);
    if let Some(Ok(other)) = &mut all.other {
        other.text = Some(Ok(report(&[Differs, Equal], Equal)));
    }
    says(&all, Cause::NotFound, &["what vmvx makes of it is wrong"]);
}

#[test]
fn bytecode_accuses_only_where_there_is_no_text() {
    let mut all = findings(&[Equal, Differs], Differs, &[Equal, Differs]);
    if let Some(Ok(report)) = &mut all.text {
        report.dispatches[1].compared_with = Some("its bytecode, as X is not evaluated".to_owned());
    }
    says(
        &all,
        Cause::MachineCode,
        &[
            "1.5 as machine code, 2 as bytecode",
            "(compared with its bytecode, as X is not evaluated)",
            "So the machine code or the bytecode of @f_dispatch_1 is wrong; which of both is not",
        ],
    );
}

#[test]
fn a_fault_that_is_not_found_is_not_guessed() {
    let all = findings(&[NotCompared], Equal, &[Equal]);
    says(
        &all,
        Cause::NotFound,
        &["No dispatch could be compared with its text (1 could", "look at those"],
    );
    let mut all = findings(&[NotCompared], Equal, &[]);
    all.other = Some(Err(CompareError::NotCompiled("there is no other one here".to_owned())));
    says(&all, Cause::NotFound, &["no other one here", "Which dispatch is wrong was not found"]);
    // Results that differ between the back ends are no agreement.
    let mut all = findings(&[NotCompared], Differs, &[Equal]);
    if let Some(Ok(other)) = &mut all.other {
        other.against = Ok(report(&[Equal], Differs));
    }
    says(&all, Cause::NotFound, &["was not found"]);
}

#[test]
fn the_other_back_end_shows_what_bytecode_cannot() {
    let all = findings(&[NotCompared], Equal, &[Equal, Differs]);
    says(
        &all,
        Cause::BackEnds,
        &[
            "the first dispatch that differs is #1",
            "1.5 for llvm-cpu, 2 for vmvx",
            "So what llvm-cpu makes",
        ],
    );
    let json = all.to_json(Some("out/repro"));
    assert_eq!((&json["cause"], &json["dispatch"]["number"]), (&"back_ends".into(), &1.into()));
    assert_eq!(json["other"]["lockstep"]["verdict"], "differs");
}
