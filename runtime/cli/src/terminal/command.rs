//! The terminal debugger's commands: their words, abbreviations and arguments.
//!
//! The words are gdb's, and so are the short forms. One table gives the help text too.

use debug::{BreakpointOptions, DataAccess, DispatchMoment, HitCondition, Level};
use vmfb::BytecodeOffset;

/// A command, read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    Run,
    Start,
    Continue,
    Step {
        times: u32,
    },
    Next {
        times: u32,
    },
    StepInstruction {
        times: u32,
    },
    NextInstruction {
        times: u32,
    },
    StepStatement {
        times: u32,
    },
    NextStatement {
        times: u32,
    },
    Finish,
    Level(Option<Level>),
    Break(Place, BreakpointOptions),
    Condition(u32, Option<String>),
    Watch(DataAccess, String),
    /// What, and whether each time rather than once an operation.
    Catch(Option<Trap>, bool),
    Until(Place),
    Jump(Place),
    Into(Option<String>),
    Calls,
    RestartFrame,
    Arguments,
    Display(Option<String>),
    Undisplay(Option<usize>),
    Set(String, String),
    Examine(String, usize),
    Delete(Option<u32>),
    Breakpoints,
    Backtrace,
    Frame(Option<usize>),
    Up,
    Down,
    Registers,
    Locals,
    Globals,
    Dispatch,
    Allocations,
    Print(String),
    Disassemble(Option<String>),
    List(Option<ListTarget>),
    Help,
    Quit,
}

/// Where a breakpoint is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A line of the current file, and a column if that is said.
    Line(u32, Option<u32>),
    /// A line of a file, and a column if that is said.
    FileLine(String, u32, Option<u32>),
    /// Functions or imports by their names.
    Function(String),
    /// An instruction by its address.
    Address(String),
    /// An instruction by its offset in a function.
    Offset(String, BytecodeOffset),
    /// Dispatches by name.
    Dispatch(String, DispatchMoment),
}

/// Which numbers stop the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trap {
    Nan,
    Infinity,
    DispatchNan,
    DispatchInfinity,
    Overflow,
    Uninitialised,
    /// None any more.
    Off,
}

/// What to list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ListTarget {
    /// Around a line of the current file.
    Line(u32),
    /// Around the start of a function.
    Function(String),
}

/// A row of the command table.
struct Row {
    names: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    read: fn(&str) -> Result<Command, String>,
}

const TABLE: &[Row] = &[
    Row {
        names: &["run", "r"],
        arguments: "",
        help: "run from the start",
        read: |_| Ok(Command::Run),
    },
    Row {
        names: &["start"],
        arguments: "",
        help: "run to the function's first instruction",
        read: |_| Ok(Command::Start),
    },
    Row {
        names: &["continue", "c"],
        arguments: "",
        help: "go on until something stops the program",
        read: |_| Ok(Command::Continue),
    },
    Row {
        names: &["step", "s"],
        arguments: "[N]",
        help: "to the next source line, into calls",
        read: |a| Ok(Command::Step { times: times(a)? }),
    },
    Row {
        names: &["next", "n"],
        arguments: "[N]",
        help: "to the next source line, over calls",
        read: |a| Ok(Command::Next { times: times(a)? }),
    },
    Row {
        names: &["stepi", "si"],
        arguments: "[N]",
        help: "one instruction, into calls",
        read: |a| Ok(Command::StepInstruction { times: times(a)? }),
    },
    Row {
        names: &["nexti", "ni"],
        arguments: "[N]",
        help: "one instruction, over calls",
        read: |a| Ok(Command::NextInstruction { times: times(a)? }),
    },
    Row {
        names: &["step-statement", "ss"],
        arguments: "[N]",
        help: "to the next operation, of which a line may have several, into calls",
        read: |a| Ok(Command::StepStatement { times: times(a)? }),
    },
    Row {
        names: &["next-statement", "ns"],
        arguments: "[N]",
        help: "to the next operation, over calls",
        read: |a| Ok(Command::NextStatement { times: times(a)? }),
    },
    Row {
        names: &["finish", "fin"],
        arguments: "",
        help: "until the current function has returned",
        read: |_| Ok(Command::Finish),
    },
    Row {
        names: &["level"],
        arguments: "[source|vm|disassembly]",
        help: "show and step what was written, the VM program made of it, or instructions",
        read: |a| some(a).map(|level| level.parse()).transpose().map(Command::Level),
    },
    Row {
        names: &["until", "advance"],
        arguments: "PLACE",
        help: "go on to a place, as `break` takes it",
        read: |a| place(a).map(Command::Until),
    },
    Row {
        names: &["into"],
        arguments: "[FUNCTION]",
        help: "step into the call of the line that `info calls` names",
        read: |a| Ok(Command::Into(some(a))),
    },
    Row {
        names: &["jump"],
        arguments: "PLACE",
        help: "make the innermost frame go on elsewhere in its function",
        read: |a| place(a).map(Command::Jump),
    },
    Row {
        names: &["again"],
        arguments: "",
        help: "begin the selected frame anew, with the same arguments",
        read: |_| Ok(Command::RestartFrame),
    },
    Row {
        names: &["break", "b", "br"],
        arguments: "PLACE [if EXPR] [if count COND]",
        help: "stop at [FILE:]LINE[:COLUMN], FUNCTION, *FUNCTION+OFFSET, *ADDRESS or dispatch 'GLOB' [after]",
        read: read_break,
    },
    Row {
        names: &["log"],
        arguments: "PLACE, TEXT",
        help: "write TEXT there, with values for {EXPR}, and go on",
        read: read_log,
    },
    Row {
        names: &["condition"],
        arguments: "N [EXPR]",
        help: "stop at breakpoint N only where EXPR holds; without one, always",
        read: |a| {
            let (number, text) = a.split_once(char::is_whitespace).unwrap_or((a, ""));
            let number = optional(number)?.ok_or("a condition of which breakpoint?")?;
            Ok(Command::Condition(number, some(text)))
        },
    },
    Row {
        names: &["watch"],
        arguments: "EXPR",
        help: "stop where a register, global, element or memory gets another value",
        read: |a| Ok(Command::Watch(DataAccess::Change, named(a)?)),
    },
    Row {
        names: &["rwatch"],
        arguments: "EXPR",
        help: "stop where it is read",
        read: |a| Ok(Command::Watch(DataAccess::Read, named(a)?)),
    },
    Row {
        names: &["awatch"],
        arguments: "EXPR",
        help: "stop where it is read or written",
        read: |a| Ok(Command::Watch(DataAccess::ReadWrite, named(a)?)),
    },
    Row {
        names: &["catch"],
        arguments: "[[dispatch] nan|inf|overflow|uninitialised [every]|off]",
        help: "stop where a float goes bad or an integer overflows, once an operation, or each time; `dispatch`: in what dispatches leave",
        read: |a| {
            let every = a.strip_suffix("every");
            let what = trap(every.unwrap_or(a).trim())?;
            Ok(Command::Catch(what, every.is_some()))
        },
    },
    Row {
        names: &["delete", "d"],
        arguments: "[N]",
        help: "remove breakpoint N, or all",
        read: |a| Ok(Command::Delete(optional(a)?)),
    },
    Row {
        names: &["breakpoints", "info breakpoints", "info break", "info b", "i b"],
        arguments: "",
        help: "list the breakpoints",
        read: |_| Ok(Command::Breakpoints),
    },
    Row {
        names: &["bt", "backtrace", "where"],
        arguments: "",
        help: "the call stack",
        read: |_| Ok(Command::Backtrace),
    },
    Row {
        names: &["frame", "f"],
        arguments: "[N]",
        help: "look at frame N of the stack",
        read: |a| Ok(Command::Frame(optional(a)?)),
    },
    Row { names: &["up"], arguments: "", help: "look at the caller", read: |_| Ok(Command::Up) },
    Row {
        names: &["down"],
        arguments: "",
        help: "look at the callee",
        read: |_| Ok(Command::Down),
    },
    Row {
        names: &["regs", "info registers", "info r", "i r"],
        arguments: "",
        help: "the frame's registers",
        read: |_| Ok(Command::Registers),
    },
    Row {
        names: &["locals", "info locals", "i lo"],
        arguments: "",
        help: "the frame's named values",
        read: |_| Ok(Command::Locals),
    },
    Row {
        names: &["globals", "info globals"],
        arguments: "",
        help: "the module's globals",
        read: |_| Ok(Command::Globals),
    },
    Row {
        names: &["dispatch", "info dispatch"],
        arguments: "",
        help: "what the frame's dispatch works on: workgroups, operands, bindings, constants",
        read: |_| Ok(Command::Dispatch),
    },
    Row {
        names: &["allocations", "info allocations"],
        arguments: "",
        help: "the memory that is alive on the device",
        read: |_| Ok(Command::Allocations),
    },
    Row {
        names: &["args", "info args"],
        arguments: "",
        help: "what the frame's function was called with",
        read: |_| Ok(Command::Arguments),
    },
    Row {
        names: &["calls", "info calls"],
        arguments: "",
        help: "the calls of the current line",
        read: |_| Ok(Command::Calls),
    },
    Row {
        names: &["print", "p"],
        arguments: "EXPR[,x]",
        help: "a value: %x, i0, r0[1], binding[0] as 4x8xf32, r0 as memref<?xf32>, max(abs(t[0])), @f(1); ,x in hexadecimal",
        read: |a| named(a).map(Command::Print),
    },
    Row {
        names: &["display"],
        arguments: "[EXPR]",
        help: "print a value at every stop",
        read: |a| Ok(Command::Display(some(a))),
    },
    Row {
        names: &["undisplay"],
        arguments: "[N]",
        help: "do not print value N any more, or any",
        read: |a| Ok(Command::Undisplay(optional(a)?)),
    },
    Row {
        names: &["set var", "set"],
        arguments: "TARGET = EXPR",
        help: "change a register, global or element",
        read: read_set,
    },
    Row {
        names: &["x"],
        arguments: "/COUNT EXPR",
        help: "the bytes behind a value",
        read: read_examine,
    },
    Row {
        names: &["disas", "disassemble"],
        arguments: "[FUNCTION]",
        help: "the instructions around here, or of a function",
        read: |a| Ok(Command::Disassemble((!a.is_empty()).then(|| a.to_owned()))),
    },
    Row {
        names: &["list", "l"],
        arguments: "[LINE|FUNCTION]",
        help: "source text; again: further down",
        read: |a| Ok(Command::List(list_target(a))),
    },
    Row { names: &["help", "h"], arguments: "", help: "this text", read: |_| Ok(Command::Help) },
    Row {
        names: &["quit", "q", "exit"],
        arguments: "",
        help: "leave",
        read: |_| Ok(Command::Quit),
    },
];

impl Command {
    /// Reads a line. Words may be cut short where that leaves no doubt, as in gdb.
    pub(crate) fn parse(line: &str) -> Result<Command, String> {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("x/") {
            return read_examine(&format!("/{rest}"));
        }
        let mut exact = None;
        let mut by_prefix: Vec<(&Row, &str)> = Vec::new();
        for row in TABLE {
            for name in row.names {
                if let Some(rest) = after_words(line, name) {
                    exact = Some((row, rest));
                }
            }
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            if row.names.iter().any(|name| name.starts_with(word)) {
                by_prefix.push((row, rest));
            }
        }
        match (exact, &by_prefix[..]) {
            (Some((row, rest)), _) => (row.read)(rest.trim()),
            (None, [(row, rest)]) => (row.read)(rest.trim()),
            (None, []) => Err(format!("no command {line:?}; `help` lists them")),
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|(row, _)| row.names[0]).collect();
                Err(format!("{line:?} could be {}", names.join(", ")))
            }
        }
    }

    /// Whether it may load the program anew.
    pub(crate) fn restarts(&self) -> bool {
        matches!(self, Self::Run | Self::Start)
    }

    /// Whether an empty line repeats it.
    pub(crate) fn repeats(&self) -> bool {
        matches!(
            self,
            Self::Step { .. }
                | Self::Next { .. }
                | Self::StepInstruction { .. }
                | Self::NextInstruction { .. }
                | Self::StepStatement { .. }
                | Self::NextStatement { .. }
                | Self::Continue
                | Self::Up
                | Self::Down
                | Self::List(_)
        )
    }
}

/// The text of `help`.
pub(crate) fn help() -> String {
    let mut text = String::new();
    for row in TABLE {
        let left = format!("{} {}", row.names[0], row.arguments);
        let short = row.names.get(1).filter(|name| !name.contains(' ')).copied().unwrap_or("");
        text.push_str(&format!("  {left:<22} {short:<12} {}\n", row.help));
    }
    text
}

/// What is left of `line` after the words of `name`, if it begins with them.
fn after_words<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(name)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
}

fn times(text: &str) -> Result<u32, String> {
    Ok(optional(text)?.unwrap_or(1))
}

fn optional<T: std::str::FromStr>(text: &str) -> Result<Option<T>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| format!("{text:?} is not a number"))
}

fn named(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("print what?".to_owned()) } else { Ok(text.to_owned()) }
}

fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A place, and which visits count: `improve if %x > 2 if count >= 3`.
fn read_break(text: &str) -> Result<Command, String> {
    let (text, hit_condition) = match text.rsplit_once(" if count") {
        Some((text, condition)) => (text, condition.parse::<HitCondition>()?),
        None => (text, HitCondition::Always),
    };
    let (text, condition) = match text.split_once(" if ") {
        Some((text, condition)) => (text, some(condition)),
        None => (text, None),
    };
    let options = BreakpointOptions { condition, hit_condition, log: None };
    Ok(Command::Break(place(text.trim())?, options))
}

/// A place and a message: `improve, guess is {%guess}`.
fn read_log(text: &str) -> Result<Command, String> {
    let (text, log) = text.split_once(',').ok_or("log what? log PLACE, TEXT with {EXPR}")?;
    let log = log.trim().trim_matches('"');
    let options = BreakpointOptions { log: some(log), ..BreakpointOptions::default() };
    Ok(Command::Break(place(text.trim())?, options))
}

fn trap(text: &str) -> Result<Option<Trap>, String> {
    Ok(Some(match text {
        "" => return Ok(None),
        "nan" => Trap::Nan,
        "inf" => Trap::Infinity,
        "dispatch nan" => Trap::DispatchNan,
        "dispatch inf" => Trap::DispatchInfinity,
        "overflow" => Trap::Overflow,
        "uninitialised" | "uninitialized" => Trap::Uninitialised,
        "off" => Trap::Off,
        other => {
            return Err(format!(
                "cannot catch {other:?}; nan, inf, dispatch nan, dispatch inf, overflow, uninitialised, off"
            ));
        }
    }))
}

/// A target and a value around the `=` that is no comparison.
fn read_set(text: &str) -> Result<Command, String> {
    let text = text.strip_prefix("var ").unwrap_or(text);
    let (target, value) = text.split_once('=').ok_or("set what? set var TARGET = EXPR")?;
    match (target.trim(), value.trim()) {
        ("", _) | (_, "") => Err("set what? set var TARGET = EXPR".to_owned()),
        (target, value) => Ok(Command::Set(target.to_owned(), value.to_owned())),
    }
}

/// How many bytes of what: `/32 r0`.
fn read_examine(text: &str) -> Result<Command, String> {
    let (count, text) = match text.strip_prefix('/') {
        Some(rest) => {
            let (count, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            (optional(count)?.unwrap_or(16), text.trim())
        }
        None => (16, text),
    };
    if text.is_empty() {
        return Err("the bytes of what? x/COUNT EXPR".to_owned());
    }
    Ok(Command::Examine(text.to_owned(), count))
}

/// Dispatches by a pattern, in quotes or not: `'mlp_*' after`.
fn dispatches(text: &str) -> Result<Place, String> {
    let (pattern, when) = match text.strip_suffix(" after") {
        Some(pattern) => (pattern, DispatchMoment::After),
        None => (text.strip_suffix(" before").unwrap_or(text), DispatchMoment::Before),
    };
    let pattern = debug::bare_symbol(pattern.trim().trim_matches('\''));
    if pattern.is_empty() {
        return Err("break at which dispatches? dispatch '*' means all".to_owned());
    }
    Ok(Place::Dispatch(pattern, when))
}

fn place(text: &str) -> Result<Place, String> {
    if text.is_empty() {
        return Err(
            "break where? [FILE:]LINE[:COLUMN], FUNCTION, *FUNCTION+OFFSET or *ADDRESS".to_owned()
        );
    }
    if let Some(pattern) = text.strip_prefix("dispatch ") {
        return dispatches(pattern.trim());
    }
    // As editors write it.
    if let Some(pattern) = text.strip_prefix("dispatch:") {
        return dispatches(pattern.trim());
    }
    if let Some(pattern) = text.strip_prefix("dispatch-after:") {
        return dispatches(&format!("{} after", pattern.trim()));
    }
    if let Some(address) = text.strip_prefix('*') {
        return match address.rsplit_once('+') {
            Some((function, offset)) => Ok(Place::Offset(function.to_owned(), hex(offset)?)),
            None if address.starts_with(|first: char| first.is_ascii_digit()) => {
                Ok(Place::Address(address.to_owned()))
            }
            // A pattern that begins with a star.
            None => Ok(Place::Function(text.to_owned())),
        };
    }
    if text.strip_prefix('-').is_some_and(|rest| rest.parse::<u32>().is_ok()) {
        return Err("lines are counted from 1".to_owned());
    }
    if text.starts_with(['@', '"']) {
        return Ok(Place::Function(debug::bare_symbol(text)));
    }
    Ok(in_source(text).unwrap_or_else(|| Place::Function(text.to_owned())))
}

/// `LINE`, `LINE:COLUMN`, `FILE:LINE` or `FILE:LINE:COLUMN`.
fn in_source(text: &str) -> Option<Place> {
    let number = |text: &str| text.parse::<u32>().ok();
    if let Some(line) = number(text) {
        return Some(Place::Line(line, None));
    }
    let (rest, last) = text.rsplit_once(':')?;
    let last = number(last)?;
    if let Some(line) = number(rest) {
        return Some(Place::Line(line, Some(last)));
    }
    match rest.rsplit_once(':').map(|(file, line)| (file, number(line))) {
        Some((file, Some(line))) => Some(Place::FileLine(file.to_owned(), line, Some(last))),
        _ => Some(Place::FileLine(rest.to_owned(), last, None)),
    }
}

/// An offset as the disassembly prints it: hexadecimal, with or without `0x`.
fn hex(text: &str) -> Result<BytecodeOffset, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u32::from_str_radix(digits, 16)
        .map(BytecodeOffset)
        .map_err(|_| format!("{text:?} is not a hexadecimal offset"))
}

fn list_target(text: &str) -> Option<ListTarget> {
    match text.parse() {
        Ok(line) => Some(ListTarget::Line(line)),
        Err(_) if text.is_empty() => None,
        Err(_) => Some(ListTarget::Function(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaks(place: Place) -> Command {
        Command::Break(place, BreakpointOptions::default())
    }

    fn breaks_if(place: Place, hit_condition: HitCondition) -> Command {
        Command::Break(place, BreakpointOptions { hit_condition, ..BreakpointOptions::default() })
    }

    #[test]
    fn words_abbreviations_and_arguments() {
        let cases = [
            ("b 32", breaks(Place::Line(32, None))),
            ("break 32:4", breaks(Place::Line(32, Some(4)))),
            ("break a.mlir:7:9", breaks(Place::FileLine("a.mlir".into(), 7, Some(9)))),
            ("break a.mlir:7", breaks(Place::FileLine("a.mlir".into(), 7, None))),
            ("b *improve+0000001B", breaks(Place::Offset("improve".into(), BytecodeOffset(0x1B)))),
            ("b *.execute", breaks(Place::Function("*.execute".into()))),
            ("b *0x10000001b", breaks(Place::Address("0x10000001b".into()))),
            (
                "b Model from PaddlePaddle.$async",
                breaks(Place::Function("Model from PaddlePaddle.$async".into())),
            ),
            (
                "b dispatch 'mlp_*' after if count >= 3",
                breaks_if(
                    Place::Dispatch("mlp_*".into(), DispatchMoment::After),
                    HitCondition::AtLeast(3),
                ),
            ),
            ("b dispatch *", breaks(Place::Dispatch("*".into(), DispatchMoment::Before))),
            ("b dispatch:a*", breaks(Place::Dispatch("a*".into(), DispatchMoment::Before))),
            ("b dispatch-after:a", breaks(Place::Dispatch("a".into(), DispatchMoment::After))),
            ("b 7 if count == 2", breaks_if(Place::Line(7, None), HitCondition::Exactly(2))),
            (
                "b improve if %guess == 2 if count % 2",
                Command::Break(
                    Place::Function("improve".into()),
                    BreakpointOptions {
                        condition: Some("%guess == 2".into()),
                        hit_condition: HitCondition::Every(2),
                        log: None,
                    },
                ),
            ),
            ("set var i0 = i1 == 2", Command::Set("i0".into(), "i1 == 2".into())),
            ("x/8 r0", Command::Examine("r0".into(), 8)),
            ("x r0", Command::Examine("r0".into(), 16)),
            ("catch dispatch nan", Command::Catch(Some(Trap::DispatchNan), false)),
            ("catch overflow", Command::Catch(Some(Trap::Overflow), false)),
            ("catch nan every", Command::Catch(Some(Trap::Nan), true)),
            ("s", Command::Step { times: 1 }),
            ("n 3", Command::Next { times: 3 }),
            ("si", Command::StepInstruction { times: 1 }),
            ("level vm", Command::Level(Some(Level::Vm))),
            ("level", Command::Level(None)),
            ("ns 2", Command::NextStatement { times: 2 }),
            ("fin", Command::Finish),
            ("cont", Command::Continue),
            ("info registers", Command::Registers),
            ("i r", Command::Registers),
            ("disas improve", Command::Disassemble(Some("improve".into()))),
            ("l", Command::List(None)),
            ("where", Command::Backtrace),
        ];
        for (line, expected) in cases {
            assert_eq!(Command::parse(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        assert_eq!(
            Command::parse("skip 3").unwrap_err(),
            "no command \"skip 3\"; `help` lists them"
        );
        assert!(Command::parse("level asm").unwrap_err().contains("source, vm and disassembly"));
        assert_eq!(Command::parse("next x").unwrap_err(), "\"x\" is not a number");
        assert_eq!(
            Command::parse("st").unwrap_err(),
            "\"st\" could be start, step, stepi, step-statement"
        );
    }
}
