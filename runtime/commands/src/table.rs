//! The table of the terminal debugger's commands: their names, abbreviations, arguments and help.
//!
//! The names are gdb's, and so are the short forms.

use debug::DataAccess;

use crate::arguments::{
    non_empty, read_break, read_examine, read_list_target, read_log, read_number, read_place,
    read_set, read_times, read_trap, required,
};
use crate::command::Command;

/// A row of the command table.
struct Row {
    names: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    /// Reads the arguments.
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
        help: "continue until something stops the program",
        read: |_| Ok(Command::Continue),
    },
    Row {
        names: &["step", "s"],
        arguments: "[N]",
        help: "to the next source line, into calls",
        read: |a| Ok(Command::Step { times: read_times(a)? }),
    },
    Row {
        names: &["next", "n"],
        arguments: "[N]",
        help: "to the next source line, over calls",
        read: |a| Ok(Command::Next { times: read_times(a)? }),
    },
    Row {
        names: &["stepi", "si"],
        arguments: "[N]",
        help: "one instruction, into calls",
        read: |a| Ok(Command::StepInstruction { times: read_times(a)? }),
    },
    Row {
        names: &["nexti", "ni"],
        arguments: "[N]",
        help: "one instruction, over calls",
        read: |a| Ok(Command::NextInstruction { times: read_times(a)? }),
    },
    Row {
        names: &["step-statement", "ss"],
        arguments: "[N]",
        help: "to the next operation (a line may have several), into calls",
        read: |a| Ok(Command::StepStatement { times: read_times(a)? }),
    },
    Row {
        names: &["next-statement", "ns"],
        arguments: "[N]",
        help: "to the next operation, over calls",
        read: |a| Ok(Command::NextStatement { times: read_times(a)? }),
    },
    Row {
        names: &["finish", "fin"],
        arguments: "",
        help: "until the current function has returned",
        read: |_| Ok(Command::Finish),
    },
    Row {
        names: &["level"],
        arguments: "[model|source|vm|disassembly]",
        help: "show and step the model, the source, the VM program or the instructions",
        read: |a| non_empty(a).map(|level| level.parse()).transpose().map(Command::Level),
    },
    Row {
        names: &["until", "advance"],
        arguments: "PLACE",
        help: "continue to a place, as `break` takes it",
        read: |a| read_place(a).map(Command::Until),
    },
    Row {
        names: &["into"],
        arguments: "[FUNCTION]",
        help: "step into a call of the line; `info calls` lists them",
        read: |a| Ok(Command::Into(non_empty(a))),
    },
    Row {
        names: &["jump"],
        arguments: "PLACE",
        help: "continue elsewhere in the innermost frame's function",
        read: |a| read_place(a).map(Command::Jump),
    },
    Row {
        names: &["again"],
        arguments: "",
        help: "restart the selected frame with the same arguments",
        read: |_| Ok(Command::RestartFrame),
    },
    Row {
        names: &["break", "b", "br"],
        arguments: "PLACE [if EXPR] [if count COND]",
        help: "stop at [FILE:]LINE[:COLUMN], FUNCTION, *FUNCTION+OFFSET, *ADDRESS or dispatch \
               'GLOB' [after]",
        read: read_break,
    },
    Row {
        names: &["log"],
        arguments: "PLACE, TEXT",
        help: "print TEXT there, with values for {EXPR}, and continue",
        read: read_log,
    },
    Row {
        names: &["condition"],
        arguments: "N [EXPR]",
        help: "stop at breakpoint N only if EXPR holds; without EXPR, always",
        read: |a| {
            let (number, text) = a.split_once(char::is_whitespace).unwrap_or((a, ""));
            let number = read_number(number)?.ok_or("a condition of which breakpoint?")?;
            Ok(Command::Condition(number, non_empty(text)))
        },
    },
    Row {
        names: &["watch"],
        arguments: "EXPR",
        help: "stop when a register, global, element or memory changes",
        read: |a| Ok(Command::Watch(DataAccess::Change, required(a)?)),
    },
    Row {
        names: &["rwatch"],
        arguments: "EXPR",
        help: "stop when it is read",
        read: |a| Ok(Command::Watch(DataAccess::Read, required(a)?)),
    },
    Row {
        names: &["awatch"],
        arguments: "EXPR",
        help: "stop when it is read or written",
        read: |a| Ok(Command::Watch(DataAccess::ReadWrite, required(a)?)),
    },
    Row {
        names: &["catch"],
        arguments: "[[dispatch] nan|inf|overflow|uninitialised [every]|off]",
        help: "stop at NaN, infinity or overflow, once per operation or every time; `dispatch`: \
               in results of dispatches",
        read: |a| {
            let every = a.strip_suffix("every");
            let what = read_trap(every.unwrap_or(a).trim())?;
            Ok(Command::Catch(what, every.is_some()))
        },
    },
    Row {
        names: &["delete", "d"],
        arguments: "[N]",
        help: "remove breakpoint N, or all",
        read: |a| Ok(Command::Delete(read_number(a)?)),
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
        help: "select frame N of the stack",
        read: |a| Ok(Command::Frame(read_number(a)?)),
    },
    Row { names: &["up"], arguments: "", help: "select the caller", read: |_| Ok(Command::Up) },
    Row { names: &["down"], arguments: "", help: "select the callee", read: |_| Ok(Command::Down) },
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
        names: &["info dispatches"],
        arguments: "",
        help: "the program's dispatches: line, name, tensors, how often each has run",
        read: |_| Ok(Command::DispatchList),
    },
    Row {
        names: &["tensors", "info tensors"],
        arguments: "",
        help: "the tensors that the dispatches of the frame's function leave, with statistics",
        read: |_| Ok(Command::TensorList),
    },
    Row {
        names: &["dispatch", "info dispatch"],
        arguments: "",
        help: "the frame's dispatch: its workgroups, operands, bindings and constants",
        read: |_| Ok(Command::Dispatch),
    },
    Row {
        names: &["allocations", "info allocations"],
        arguments: "",
        help: "the memory that is allocated on the device",
        read: |_| Ok(Command::Allocations),
    },
    Row {
        names: &["args", "info args"],
        arguments: "",
        help: "the arguments of the frame's function",
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
        help: "a value: %x, i0, r0[1], binding[0] as 4x8xf32, r0 as memref<?xf32>, \
               max(abs(t[0])), @f(1); ,x in hexadecimal",
        read: |a| required(a).map(Command::Print),
    },
    Row {
        names: &["display"],
        arguments: "[EXPR]",
        help: "print a value at every stop",
        read: |a| Ok(Command::Display(non_empty(a))),
    },
    Row {
        names: &["undisplay"],
        arguments: "[N]",
        help: "stop printing value N, or all",
        read: |a| Ok(Command::Undisplay(read_number(a)?)),
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
        help: "the bytes of a value",
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
        help: "source text; an empty line shows more",
        read: |a| Ok(Command::List(read_list_target(a))),
    },
    Row { names: &["help", "h"], arguments: "", help: "this text", read: |_| Ok(Command::Help) },
    Row {
        names: &["quit", "q", "exit"],
        arguments: "",
        help: "leave",
        read: |_| Ok(Command::Quit),
    },
];

/// Reads a line. Names of commands may be abbreviated if that is unambiguous, as in gdb.
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

/// Whether a line begins with the whole name of a command, or with one of its short forms.
pub(crate) fn is_command(line: &str) -> bool {
    let mut names = TABLE.iter().flat_map(|row| row.names);
    line.starts_with("x/") || names.any(|name| after_words(line, name).is_some())
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

/// The rest of a line after a name of one or more words, if it begins with that name.
fn after_words<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(name)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use debug::{BreakpointOptions, DispatchMoment, HitCondition, Level};
    use vmfb::BytecodeOffset;

    use super::*;
    use crate::command::{Place, Trap};

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
            assert_eq!(parse(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        assert_eq!(parse("skip 3").unwrap_err(), "no command \"skip 3\"; `help` lists them");
        assert!(parse("level asm").unwrap_err().contains("source, vm and disassembly"));
        assert_eq!(parse("next x").unwrap_err(), "\"x\" is not a number");
        assert_eq!(parse("st").unwrap_err(), "\"st\" could be start, step, stepi, step-statement");
    }
}
