//! Steps against a model. A program made by iree-compile is first run by instruction, which shows
//! what runs and in which frame. From that follows where steps of every kind and size must stop, at
//! each level.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::path::{Path, PathBuf};

use compile::{Cancellation, CompileRequest, compile};
use vm::Position;

use crate::target::lines::LineKey;
use crate::{
    Debugger, Frame, Granularity, LaunchOptions, Level, ModuleSource, Node, Resume, ScopeKind,
    StepKind, StopReason,
};

/// An instruction that runs, or a place in native code.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    depth: usize,
    position: Option<Position>,
    key: Option<LineKey>,
    /// Whether the function has any line.
    has_lines: bool,
    /// Whether the user has not seen the function begin yet.
    is_ahead: bool,
    /// Whether inlined calls lead to it.
    is_inlined: bool,
    /// The frames that the user sees: names, lines and columns.
    shown: Vec<(String, Option<(u32, u32)>)>,
}

/// A program with its inputs.
pub(crate) struct Case {
    pub(crate) source: PathBuf,
    pub(crate) function: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) flags: Vec<String>,
}

impl Seen {
    fn is_command(&self) -> bool {
        self.shown.first().is_some_and(|(name, _)| name.contains("command "))
    }

    fn is_dispatch(&self) -> bool {
        self.shown
            .first()
            .is_some_and(|(name, _)| name.contains(": dispatch @") && !name.contains(", done"))
    }
}

fn seen(debugger: &Debugger, granularity: Granularity) -> Seen {
    let lines = debugger.machine().lines();
    let position = debugger.machine().position();
    let key = position.and_then(|at| match granularity {
        Granularity::Statement => lines.statement_of(at),
        Granularity::Line | Granularity::Instruction => lines.line_of(at),
    });
    let place = |frame: Frame| (frame.name, frame.source.map(|at| (at.line, at.column)));
    Seen {
        depth: debugger.machine().depth(),
        position,
        key,
        has_lines: position.is_none_or(|at| lines.has_lines(at.function)),
        is_ahead: position.is_some_and(|at| lines.is_ahead_of_entry(at)),
        is_inlined: position.is_some_and(|at| lines.path_of(at).len() > 1),
        shown: debugger.machine().frames().into_iter().map(place).collect(),
    }
}

/// The levels of programs that no Python has made.
pub(crate) const OF_MLIR: &[Level] = &[Level::Model, Level::Source, Level::Vm, Level::Disassembly];

pub(crate) fn loaded(module: &Path, case: &Case, level: Level) -> Debugger {
    let mut debugger = Debugger::load(LaunchOptions {
        modules: vec![ModuleSource::Path(module.to_owned())],
        function: Some(case.function.clone()),
        inputs: case.inputs.clone(),
        ..LaunchOptions::default()
    })
    .unwrap_or_else(|error| panic!("{}: {error}", case.function));
    debugger.set_level(level).expect("a companion has the VM program");
    debugger
}

/// The stops of a program that is stepped in one way from its entry to its end.
fn stops(
    module: &Path,
    case: &Case,
    level: Level,
    kind: StepKind,
    by: Granularity,
    keys: Granularity,
) -> Vec<Seen> {
    let mut debugger = loaded(module, case, level);
    let mut found = Vec::new();
    let mut reason = debugger.resume(Resume::ToEntry);
    while !reason.is_final() {
        assert!(matches!(reason, StopReason::Entry | StopReason::Step), "{reason:?}");
        found.push(seen(&debugger, keys));
        assert!(found.len() < 200_000, "{} does not end", case.function);
        reason = debugger.resume(Resume::Step(kind, by));
    }
    found
}

/// Where a step that began at an index of the model ends, by the model; none at the program's end.
fn next_stop(ran: &[Seen], from: usize, kind: StepKind, level: Level) -> Option<usize> {
    let start = &ran[from];
    let by_dispatch = kind == StepKind::Over && level != Level::Vm && level != Level::Disassembly;
    (from + 1..ran.len()).find(|index| {
        let here = &ran[*index];
        let is_line = here.key.is_some();
        // The lines of tensors are where dispatches run.
        if by_dispatch && here.is_command() {
            let is_own = start.position.is_none() || here.depth == start.depth + 2;
            return here.is_dispatch() && is_own;
        }
        if here.depth > start.depth {
            let is_place = here.position.is_none();
            return kind == StepKind::Into
                && (is_place
                    || start.key.is_none()
                    || (here.has_lines && is_line && !here.is_ahead));
        }
        let is_again = here.depth == start.depth && here.position == start.position;
        // A copy of a line that no inlined call tells apart is that line.
        let is_same_line = match (&here.key, &start.key) {
            (Some(here_line), Some(line)) if !here.is_inlined && !start.is_inlined => {
                here_line.is_same_place(line)
            }
            (here_line, line) => here_line == line,
        };
        let is_same = here.depth == start.depth && is_same_line;
        let is_beyond = here.depth < start.depth && !here.has_lines;
        let is_place = here.position.is_none();
        // After native code comes the next line.
        let has_no_line = start.key.is_none() && start.position.is_some();
        has_no_line || (is_line && (is_again || !is_same)) || is_place || is_beyond
    })
}

fn check_against_model(
    ran: &[Seen],
    stopped: &[Seen],
    kind: StepKind,
    level: Level,
    context: &str,
) {
    let mut at = 0;
    for (number, stop) in stopped.iter().enumerate() {
        assert_eq!(stop, &ran[at], "{context}: stop {number}");
        match next_stop(ran, at, kind, level) {
            Some(next) => at = next,
            None => assert_eq!(number + 1, stopped.len(), "{context}: it continues after the end"),
        }
    }
    assert_eq!(next_stop(ran, at, kind, level), None, "{context}: it ends before the end");
}

/// Steps stop before inlined calls as well as inside them, so there may be several stops at one
/// instruction. Each shows something else than the one before, except in a new turn of a loop, and
/// they are in the order of the model.
fn check_with_inlined_calls(ran: &[Seen], stopped: &[Seen], by: Granularity, context: &str) {
    let mut rest = ran.iter().peekable();
    let mut before: Option<&Seen> = None;
    for (number, stop) in stopped.iter().enumerate() {
        let is_here = |it: &&Seen| (it.depth, it.position) == (stop.depth, stop.position);
        let stays = before.is_some_and(|before| is_here(&before) && before.shown != stop.shown);
        let is_met = stays || rest.any(|it| is_here(&it));
        assert!(is_met, "{context}: stop {number} is not where the program comes to: {stop:?}");
        if let Some(before) = before.filter(|before| before.position != stop.position) {
            let seen = |seen: &Seen| -> Vec<(String, Option<(u32, u32)>)> {
                let column = |column| if by == Granularity::Statement { column } else { 0 };
                let place = |(line, at): (u32, u32)| (line, column(at));
                seen.shown.iter().map(|(name, at)| (name.clone(), at.map(place))).collect()
            };
            assert_ne!(seen(before), seen(stop), "{context}: stop {number} shows nothing new");
        }
        before = Some(stop);
    }
}

fn check(module: &Path, case: &Case, level: Level, kind: StepKind, by: Granularity, ran: &[Seen]) {
    let stopped = stops(module, case, level, kind, by, by);
    let context =
        format!("{} of {}, {level}, {kind:?}, {by:?}", case.function, case.source.display());
    if ran.iter().any(|it| it.is_inlined) {
        check_with_inlined_calls(ran, &stopped, by, &context);
    } else {
        check_against_model(ran, &stopped, kind, level, &context);
    }
    // A step over passes calls, inlined or not.
    let is_looked_at =
        |it: &&Seen| kind == StepKind::Into || (it.depth == ran[0].depth && !it.is_inlined);
    for passed in ran.iter().filter(is_looked_at).filter(|it| it.key.is_some() && !it.is_ahead) {
        let is_met = stopped.iter().any(|it| it.key == passed.key && it.depth == passed.depth);
        assert!(is_met, "{context}: no step stops at {passed:?}");
    }
}

/// Steps out, from some places of the model: each leads to what runs next in the outer frames.
fn check_out(module: &Path, case: &Case, level: Level) {
    const SOME: usize = 15;
    let by = Granularity::Instruction;
    let ran = stops(module, case, level, StepKind::Into, by, by);
    for from in (0..ran.len()).step_by(1 + ran.len() / SOME) {
        let mut debugger = loaded(module, case, level);
        debugger.resume(Resume::ToEntry);
        for _ in 0..from {
            debugger.resume(Resume::Step(StepKind::Into, by));
        }
        assert_eq!(seen(&debugger, by), ran[from]);
        let context = || format!("{} of {}, {level}, {from}", case.function, case.source.display());
        let reason = debugger.resume(Resume::Step(StepKind::Out, Granularity::Line));
        match ran[from..].iter().find(|it| it.depth < ran[from].depth) {
            Some(expected) => assert_eq!(&seen(&debugger, by), expected, "{}", context()),
            None => assert!(reason.is_final(), "{}: {reason:?}", context()),
        }
    }
}

/// A name that is shown in a frame means the same value in an expression, there and at that level.
fn check_names(module: &Path, case: &Case, level: Level) {
    const SOME: usize = 60;
    let mut debugger = loaded(module, case, level);
    let mut reason = debugger.resume(Resume::ToEntry);
    for _ in 0..SOME {
        if reason.is_final() {
            break;
        }
        for frame in debugger.machine().frames() {
            let shown =
                debugger.machine().children(&Node::Scope(frame.id(), ScopeKind::Locals), None);
            for shown in shown {
                let name = shown.evaluate_name.expect("a value has a name");
                let found = debugger.machine().evaluate(frame.id(), &name).map(|found| found.value);
                assert_eq!(
                    found.map_err(|error| error.to_string()),
                    Ok(shown.value),
                    "{} by {name} in {} of {} at {:?}, {level}",
                    shown.name,
                    frame.name,
                    case.source.display(),
                    frame.source,
                );
            }
        }
        reason = debugger.resume(Resume::Step(StepKind::Into, Granularity::Instruction));
    }
}

/// The cases of a source, from its comments.
pub(crate) fn cases_of(source: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(source).expect("the source is readable");
    let comments = |word: &str| -> Vec<Vec<String>> {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix("// "));
        let found = lines.filter_map(|line| line.strip_prefix(word));
        found.map(|rest| rest.split_whitespace().map(str::to_owned).collect()).collect()
    };
    let flags: Vec<String> = comments("COMPILE-WITH: ").concat();
    let value = |word: &String, flag: &str| word.strip_prefix(flag).map(str::to_owned);
    let runs = comments("RUN-WITH: ").into_iter().map(|words| Case {
        source: source.to_owned(),
        function: words.iter().find_map(|it| value(it, "--function=")).unwrap_or_default(),
        inputs: words.iter().filter_map(|it| value(it, "--input=")).collect(),
        flags: flags.clone(),
    });
    runs.collect()
}

pub(crate) fn compiled(source: &Path, flags: &[String], folder: &Path) -> PathBuf {
    let output = folder.join(source.file_name().unwrap_or_default()).with_extension("vmfb");
    let request = CompileRequest {
        input: source.to_owned(),
        output,
        flags: flags.to_vec(),
        ..CompileRequest::default()
    };
    let mut said = String::new();
    let made = compile(&request, &Cancellation::default(), &mut |line| said += line);
    made.unwrap_or_else(|error| panic!("{}: {error}\n{said}", source.display())).module
}

fn check_all(source: &str, levels: &[Level]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = root.join(source).canonicalize().expect("the source is there");
    let cases = cases_of(&source);
    assert!(!cases.is_empty(), "{} says nothing of what to run", source.display());
    let folder = tempfile::tempdir().expect("a scratch folder");
    let module = compiled(&source, &cases[0].flags, folder.path());
    for case in &cases {
        for level in levels {
            check_names(&module, case, *level);
            // At the level of the source, inlined calls are stepped out of, too.
            if *level == Level::Vm {
                check_out(&module, case, *level);
            }
            for by in [Granularity::Line, Granularity::Statement] {
                let ran =
                    stops(&module, case, *level, StepKind::Into, Granularity::Instruction, by);
                for kind in [StepKind::Over, StepKind::Into] {
                    check(&module, case, *level, kind, by, &ran);
                }
            }
        }
    }
}

#[test]
fn recursion() {
    check_all("runtime/cli/tests/levels/recursion.mlir", OF_MLIR);
}

#[test]
fn loops_and_branches() {
    check_all("tests/corpus/control_flow.mlir", OF_MLIR);
}

#[test]
fn inlined_calls() {
    check_all("runtime/cli/tests/inlined/inlined.mlir", OF_MLIR);
    check_all("runtime/cli/tests/columns/columns.mlir", OF_MLIR);
    for source in ["several", "nested", "numbered"] {
        check_all(&format!("runtime/cli/tests/levels/{source}.mlir"), OF_MLIR);
    }
    check_all("tests/corpus/calls_inlined_and_not.mlir", OF_MLIR);
}

#[test]
fn dispatches() {
    check_all("runtime/cli/tests/levels/device.mlir", OF_MLIR);
}

#[test]
fn other() {
    for source in
        ["scalars", "doubles", "lists_and_buffers", "globals_and_initializers", "vm_dialect"]
    {
        check_all(&format!("tests/corpus/{source}.mlir"), OF_MLIR);
    }
}
