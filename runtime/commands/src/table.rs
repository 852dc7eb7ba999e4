//! The table of commands: their names, abbreviations, arguments, help and an example.
//!
//! The names are gdb's, and so are the short forms; `lldb` translates those of lldb.

use debug::{Back, DataAccess, Granularity, ScopeKind, StepKind};

use crate::arguments::{
    non_empty, nothing, read_break, read_diff, read_examine, read_how, read_inputs,
    read_list_target, read_log, read_name, read_number, read_numbers, read_place, read_print,
    read_save, read_set, read_times, read_trap, read_visits, read_why, required,
};
use crate::command::{Command, Info, Record, Time};
use crate::mistake::Mistake;
use crate::row_filter::{read_row_filter, read_row_question};
use crate::words;

/// A row of the command table.
pub(crate) struct Row {
    pub(crate) names: &'static [&'static str],
    pub(crate) arguments: &'static str,
    pub(crate) help: &'static str,
    pub(crate) example: &'static str,
    /// What its arguments may be, for completion.
    pub(crate) completes: Completes,
    /// Reads the arguments.
    pub(crate) read: fn(&str) -> Result<Command, Mistake>,
}

/// What the arguments of a command may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Completes {
    Nothing,
    Values,
    Places,
    Functions,
    Files,
    Breakpoints,
    Commands,
    Levels,
    Traps,
}

fn read_back(kind: StepKind, granularity: Granularity, text: &str) -> Result<Command, Mistake> {
    Ok(Command::Back(Back::Step(kind, granularity), read_times(text)?))
}

/// Rows of the table, under a heading of `help`.
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) rows: &'static [Row],
}

pub(crate) const TABLE: &[Group] = &[
    Group {
        title: "Running",
        rows: &[
            Row {
                names: &["run", "r"],
                arguments: "[INPUTS]",
                help: "run from the start; with INPUTS, on these from now on",
                example: "run 3 4xf32=1,2,3,4",
                completes: Completes::Files,
                read: |a| read_inputs(a).map(Command::Run),
            },
            Row {
                names: &["start"],
                arguments: "[INPUTS]",
                help: "run to the function's first instruction",
                example: "start --input=@x.npy",
                completes: Completes::Files,
                read: |a| read_inputs(a).map(Command::Start),
            },
            Row {
                names: &["kill", "k"],
                arguments: "",
                help: "end the program; `run` starts it again",
                example: "kill",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Kill),
            },
            Row {
                names: &["interrupt"],
                arguments: "",
                help: "stop the program while it runs: in the console of an editor; in the \
                       terminal, press Ctrl-C",
                example: "interrupt",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Interrupt),
            },
            Row {
                names: &["continue", "c", "fg"],
                arguments: "[N]",
                help: "continue until something stops the program; pass this breakpoint N \
                       - 1 times",
                example: "continue 3",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Continue(read_number(a)?.unwrap_or(1))),
            },
            Row {
                names: &["step", "s"],
                arguments: "[N]",
                help: "to the next source line, into calls",
                example: "step 3",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Step(StepKind::Into, Granularity::Line, read_times(a)?)),
            },
            Row {
                names: &["next", "n"],
                arguments: "[N]",
                help: "to the next source line, over calls",
                example: "next 3",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Step(StepKind::Over, Granularity::Line, read_times(a)?)),
            },
            Row {
                names: &["stepi", "si"],
                arguments: "[N]",
                help: "one instruction, into calls",
                example: "stepi 3",
                completes: Completes::Nothing,
                read: |a| {
                    Ok(Command::Step(StepKind::Into, Granularity::Instruction, read_times(a)?))
                },
            },
            Row {
                names: &["nexti", "ni"],
                arguments: "[N]",
                help: "one instruction, over calls",
                example: "nexti 3",
                completes: Completes::Nothing,
                read: |a| {
                    Ok(Command::Step(StepKind::Over, Granularity::Instruction, read_times(a)?))
                },
            },
            Row {
                names: &["step-statement", "ss"],
                arguments: "[N]",
                help: "to the next operation (a line may have several), into calls",
                example: "step-statement 3",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Step(StepKind::Into, Granularity::Statement, read_times(a)?)),
            },
            Row {
                names: &["next-statement", "ns"],
                arguments: "[N]",
                help: "to the next operation, over calls",
                example: "next-statement 3",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Step(StepKind::Over, Granularity::Statement, read_times(a)?)),
            },
            Row {
                names: &["finish", "fin"],
                arguments: "",
                help: "until the current function has returned",
                example: "finish",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Step(StepKind::Out, Granularity::Line, 1)),
            },
            Row {
                names: &["until", "u", "advance"],
                arguments: "[PLACE]",
                help: "continue to a place, as `break` takes it; without one, to a later \
                       line, past loops",
                example: "until dispatch '*softmax*'",
                completes: Completes::Places,
                read: |a| non_empty(a).map(|a| read_place(&a)).transpose().map(Command::Until),
            },
            Row {
                names: &["into"],
                arguments: "[FUNCTION]",
                help: "step into a call of the line; `info calls` lists them",
                example: "into improve",
                completes: Completes::Functions,
                read: |a| read_name(a).map(Command::Into),
            },
            Row {
                names: &["jump", "j"],
                arguments: "PLACE",
                help: "continue elsewhere in the innermost frame's function",
                example: "jump 12",
                completes: Completes::Places,
                read: |a| read_place(a).map(Command::Jump),
            },
            Row {
                names: &["again"],
                arguments: "",
                help: "restart the selected frame with the same arguments; at a dispatch, or in \
                       one, stand before the dispatch again, with memory as it was",
                example: "again",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::RestartFrame),
            },
            Row {
                names: &["rerun"],
                arguments: "",
                help: "run the dispatch again that has just run, on its inputs as they were, but \
                       for what was set since, and compare what it leaves with before",
                example: "rerun",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Rerun),
            },
            Row {
                names: &["level"],
                arguments: "[python|model|source|vm|disassembly]",
                help: "show and step the model, the source, the VM program or the \
                       instructions",
                example: "level vm",
                completes: Completes::Levels,
                read: |a| {
                    non_empty(a)
                        .map(|level| level.parse().map_err(Mistake::Level))
                        .transpose()
                        .map(Command::Level)
                },
            },
            Row {
                names: &["set compare"],
                arguments: "on|off",
                help: "say how bytecode and machine code of a dispatch that was stepped into \
                       compare",
                example: "set compare off",
                completes: Completes::Nothing,
                read: |a| match a.trim() {
                    "on" => Ok(Command::Compare(true)),
                    "off" => Ok(Command::Compare(false)),
                    _ => Err(Mistake::Missing("`set compare on` or `set compare off`")),
                },
            },
            Row {
                names: &["set args"],
                arguments: "INPUTS",
                help: "what `run` and `start` call the function with",
                example: "set args 3 --function=main",
                completes: Completes::Files,
                read: |a| {
                    let inputs =
                        read_inputs(a)?.ok_or("which inputs? `set args --no-inputs` sets none")?;
                    Ok(Command::SetArguments(inputs))
                },
            },
            Row {
                names: &["show args"],
                arguments: "",
                help: "what `run` calls the function with",
                example: "show args",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Info(Info::Arguments)),
            },
        ],
    },
    Group {
        title: "Going back",
        rows: &[
            Row {
                names: &["record"],
                arguments: "[stop]",
                help: "from now on, the program can go back; `debug --record` begins with that",
                example: "record",
                completes: Completes::Nothing,
                read: |a| match a {
                    "" => Ok(Command::Record(Record::Begin)),
                    "stop" | "off" => Ok(Command::Record(Record::End)),
                    _ => Err(Mistake::Missing("`record` or `record stop`")),
                },
            },
            Row {
                names: &["info record"],
                arguments: "",
                help: "how much is recorded",
                example: "info record",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::InfoRecord),
            },
            Row {
                names: &["reverse-step", "rs"],
                arguments: "[N]",
                help: "back to the last source line, into calls",
                example: "reverse-step 3",
                completes: Completes::Nothing,
                read: |a| read_back(StepKind::Into, Granularity::Line, a),
            },
            Row {
                names: &["reverse-next", "rn"],
                arguments: "[N]",
                help: "back to the last source line, over calls",
                example: "reverse-next",
                completes: Completes::Nothing,
                read: |a| read_back(StepKind::Over, Granularity::Line, a),
            },
            Row {
                names: &["reverse-stepi", "rsi"],
                arguments: "[N]",
                help: "one instruction back, into calls",
                example: "reverse-stepi",
                completes: Completes::Nothing,
                read: |a| read_back(StepKind::Into, Granularity::Instruction, a),
            },
            Row {
                names: &["reverse-nexti", "rni"],
                arguments: "[N]",
                help: "one instruction back, over calls",
                example: "reverse-nexti",
                completes: Completes::Nothing,
                read: |a| read_back(StepKind::Over, Granularity::Instruction, a),
            },
            Row {
                names: &["reverse-step-statement", "rss"],
                arguments: "[N]",
                help: "back to the last operation, into calls",
                example: "reverse-step-statement",
                completes: Completes::Nothing,
                read: |a| read_back(StepKind::Into, Granularity::Statement, a),
            },
            Row {
                names: &["reverse-next-statement", "rns"],
                arguments: "[N]",
                help: "back to the last operation, over calls",
                example: "reverse-next-statement",
                completes: Completes::Nothing,
                read: |a| read_back(StepKind::Over, Granularity::Statement, a),
            },
            Row {
                names: &["reverse-finish", "rf"],
                arguments: "",
                help: "back to the call of the current function",
                example: "reverse-finish",
                completes: Completes::Nothing,
                read: |a| {
                    let how = Back::Step(StepKind::Out, Granularity::Line);
                    nothing(a, Command::Back(how, 1))
                },
            },
            Row {
                names: &["reverse-continue", "rc"],
                arguments: "",
                help: "back to the last stop: a breakpoint, a watchpoint, a catch",
                example: "reverse-continue",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Back(Back::Continue, 1)),
            },
            Row {
                names: &["reverse-until", "ru"],
                arguments: "PLACE",
                help: "back to the last visit of a place, as `break` takes it",
                example: "reverse-until newton.mlir:14",
                completes: Completes::Places,
                read: |a| {
                    let place = non_empty(a).ok_or("back to which place? `reverse-until PLACE`")?;
                    read_place(&place).map(Command::BackUntil)
                },
            },
            Row {
                names: &["last"],
                arguments: "CONDITION",
                help: "back to the last stop of `step` at which it was true",
                example: "last %guess > 1.5",
                completes: Completes::Values,
                read: |a| {
                    let text = non_empty(a).ok_or("the last time of what? `last CONDITION`")?;
                    Ok(Command::Last(text))
                },
            },
            Row {
                names: &["who-wrote", "ww"],
                arguments: "EXPR",
                help: "back to before the last write of a register, a global, or an element of a \
                       list or tensor",
                example: "who-wrote %p[3, 5]",
                completes: Completes::Values,
                read: |a| {
                    let text = non_empty(a).ok_or("whose last write? `who-wrote EXPR`")?;
                    Ok(Command::WhoWrote(text))
                },
            },
            Row {
                names: &["why"],
                arguments: "[nan|inf] [NAME[INDEX, …]]",
                help: "where a NaN or an infinity of a tensor began: back over the operations of \
                       the source, with the elements that are enough for it; of an ordinary \
                       number, the elements and terms that it is made of",
                example: "why nan %p[3, 5]",
                completes: Completes::Values,
                read: |a| read_why(a).map(Command::Why),
            },
            Row {
                names: &["history"],
                arguments: "EXPR|at PLACE[, EXPR…]",
                help: "all values that it had since the recording began, of a register in this \
                       call, with `goto` for each; or all visits of a place, with the values of \
                       expressions there. The program stays where it is",
                example: "history %p[3, 5]",
                completes: Completes::Values,
                read: |a| {
                    let text = non_empty(a).ok_or("whose values? `history EXPR`")?;
                    match text.strip_prefix("at ") {
                        Some(place) => read_visits(place),
                        None => Ok(Command::History(text)),
                    }
                },
            },
            Row {
                names: &["first"],
                arguments: "CONDITION|nan|inf|overflow|difference|nan(*)",
                help: "to the first stop of `step` since the recording began at which it is true; \
                       to where `catch nan` would first have stopped; `nan(*)`, `inf(*)`, \
                       `max(*) > X`, `min(*) < X` and `hash(*) == H` go by the rows of `table`, to \
                       before the first command that leaves such a tensor",
                example: "first nan(%p) > 0",
                completes: Completes::Values,
                read: |a| {
                    let text = non_empty(a).ok_or("the first time of what? `first CONDITION`")?;
                    if let Some(question) = read_row_question(&text) {
                        return Ok(Command::FirstRow(question?));
                    }
                    let (what, how) = read_how(&text);
                    match read_trap(what).ok().flatten().and_then(|trap| trap.alone(how)) {
                        Some(traps) => Ok(Command::FirstTrap(traps)),
                        None => Ok(Command::First(text)),
                    }
                },
            },
            Row {
                names: &["table"],
                arguments: "[N|N-M|@DISPATCH|%NAME|FILE:LINE|nan(*)]",
                help: "a row for each command of the recorded run: the tensors that it has left, \
                       with their least and greatest element, NaN, infinities and hash; those of \
                       some commands, of a dispatch, a tensor or a line, or with NaN",
                example: "table nan(*)",
                completes: Completes::Values,
                read: |a| Ok(Command::Table(read_row_filter(a)?)),
            },
            Row {
                names: &["lines"],
                arguments: "",
                help: "the lines of time: the first, and those that began with a value that was \
                       set in the past",
                example: "lines",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Lines),
            },
            Row {
                names: &["line"],
                arguments: "N",
                help: "to another line of time, where it was left",
                example: "line 1",
                completes: Completes::Nothing,
                read: |a| match a.parse() {
                    Ok(number) => Ok(Command::Line(number)),
                    Err(_) => Err(Mistake::Missing("to which line of time? `line N`; `lines`")),
                },
            },
            Row {
                names: &["diff"],
                arguments: "N M [COMMANDS]",
                help: "which commands of two lines of time have left something else, and by how \
                       much; of the first that do, or of some, as `20-30`",
                example: "diff 1 2",
                completes: Completes::Nothing,
                read: |a| read_diff(a).map(Command::Diff),
            },
            Row {
                names: &["bookmark"],
                arguments: "[NAME]",
                help: "give the present moment a name; without one, list them",
                example: "bookmark before",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Bookmark(non_empty(a))),
            },
            Row {
                names: &["when"],
                arguments: "",
                help: "the present moment as text, which `goto` takes, in any run that is the same",
                example: "when",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::When),
            },
            Row {
                names: &["goto"],
                arguments: "begin|NAME|N|[LINE]@MOMENT",
                help: "to the beginning of the recording, a bookmark, before command N of those \
                       that ran, or a moment as `when` writes it",
                example: "goto before",
                completes: Completes::Nothing,
                read: |a| match (a, a.parse()) {
                    ("", _) => Err(Mistake::Missing(
                        "go to which moment? `goto begin`, `goto NAME`, `goto N`, `goto @MOMENT`",
                    )),
                    ("begin" | "start", _) => Ok(Command::GoTo(Time::Begin)),
                    (_, Ok(number)) => Ok(Command::GoTo(Time::Command(number))),
                    (text, _) if text.contains('@') => {
                        Ok(Command::GoTo(Time::Moment(text.parse()?)))
                    }
                    (name, _) => Ok(Command::GoTo(Time::Bookmark(name.to_owned()))),
                },
            },
        ],
    },
    Group {
        title: "Stopping",
        rows: &[
            Row {
                names: &["break", "b", "br"],
                arguments: "[PLACE] [if EXPR] [if count COND]",
                help: "stop at [FILE:]LINE[:COLUMN], FUNCTION, *FUNCTION+OFFSET, *ADDRESS \
                       or dispatch 'GLOB' [after]",
                example: "break improve if %x > 2",
                completes: Completes::Places,
                read: |a| read_break(a, false),
            },
            Row {
                names: &["tbreak", "tb"],
                arguments: "[PLACE] [if EXPR]",
                help: "stop there once",
                example: "tbreak newton.mlir:18",
                completes: Completes::Places,
                read: |a| read_break(a, true),
            },
            Row {
                names: &["log", "dprintf"],
                arguments: "PLACE, TEXT",
                help: "print TEXT there, with values for {EXPR}, and continue",
                example: "log improve, line {line}: {%guess}",
                completes: Completes::Places,
                read: read_log,
            },
            Row {
                names: &["condition"],
                arguments: "N [EXPR]",
                help: "stop at breakpoint N only if EXPR holds; without EXPR, always",
                example: "condition 1 %x > 2",
                completes: Completes::Breakpoints,
                read: |a| {
                    let (number, text) = words::first(a);
                    let number = read_number(number)?.ok_or("a condition of which breakpoint?")?;
                    Ok(Command::Condition(number, non_empty(text)))
                },
            },
            Row {
                names: &["ignore"],
                arguments: "N COUNT",
                help: "let breakpoint N pass COUNT times",
                example: "ignore 1 10",
                completes: Completes::Breakpoints,
                read: |a| {
                    let (number, count) = words::first(a);
                    let number =
                        read_number(number)?.ok_or("ignore which breakpoint? ignore N COUNT")?;
                    let count =
                        read_number(count)?.ok_or("ignore how many hits? ignore N COUNT")?;
                    Ok(Command::Ignore(number, count))
                },
            },
            Row {
                names: &["commands"],
                arguments: "[N]",
                help: "the lines up to `end` are performed when breakpoint N stops; \
                       `silent` first shows no stop",
                example: "commands 1",
                completes: Completes::Breakpoints,
                read: |a| Ok(Command::Commands(read_number(a)?)),
            },
            Row {
                names: &["enable"],
                arguments: "[N …]",
                help: "make breakpoints work again, all without numbers",
                example: "enable 1-3",
                completes: Completes::Breakpoints,
                read: |a| Ok(Command::Enable(read_numbers(bare(a))?, true)),
            },
            Row {
                names: &["disable"],
                arguments: "[N …]",
                help: "keep breakpoints from stopping",
                example: "disable 2",
                completes: Completes::Breakpoints,
                read: |a| Ok(Command::Enable(read_numbers(bare(a))?, false)),
            },
            Row {
                names: &["delete", "d"],
                arguments: "[N …]",
                help: "remove breakpoints, all without numbers",
                example: "delete 1 3",
                completes: Completes::Breakpoints,
                read: |a| Ok(Command::Delete(read_numbers(bare(a))?)),
            },
            Row {
                names: &["clear"],
                arguments: "PLACE",
                help: "remove the breakpoints at a place",
                example: "clear newton.mlir:18",
                completes: Completes::Places,
                read: |a| read_place(a).map(Command::Clear),
            },
            Row {
                names: &["watch"],
                arguments: "EXPR",
                help: "stop when a register, global, element or memory changes",
                example: "watch operand[1]",
                completes: Completes::Values,
                read: |a| Ok(Command::Watch(DataAccess::Change, required(a, "watch what?")?)),
            },
            Row {
                names: &["rwatch"],
                arguments: "EXPR",
                help: "stop when it is read",
                example: "rwatch i0",
                completes: Completes::Values,
                read: |a| Ok(Command::Watch(DataAccess::Read, required(a, "watch what?")?)),
            },
            Row {
                names: &["awatch"],
                arguments: "EXPR",
                help: "stop when it is read or written",
                example: "awatch @counter",
                completes: Completes::Values,
                read: |a| Ok(Command::Watch(DataAccess::ReadWrite, required(a, "watch what?")?)),
            },
            Row {
                names: &["catch"],
                arguments: "[[dispatch] nan|inf|overflow|difference|uninitialised \
                            [every] [operations]|off]",
                help: "stop at the operation that makes NaN, infinity or an overflow, once per \
                       operation or every time; `operations`: also what no dispatch leaves; \
                       `dispatch`: after dispatches that leave more of it; `difference`: at \
                       results of dispatches that their text does not mean",
                example: "catch nan",
                completes: Completes::Traps,
                read: |a| {
                    let (what, how) = read_how(a);
                    Ok(Command::Catch(read_trap(what)?, how))
                },
            },
            Row {
                names: &["breakpoints", "info breakpoints", "info b", "info watchpoints"],
                arguments: "",
                help: "all breakpoints, watchpoints and catches",
                example: "info b",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Breakpoints),
            },
        ],
    },
    Group {
        title: "Looking",
        rows: &[
            Row {
                names: &["backtrace", "bt", "where", "info stack"],
                arguments: "[N]",
                help: "the call stack; its N innermost frames, or -N outermost",
                example: "bt 5",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Backtrace(read_number(a)?)),
            },
            Row {
                names: &["frame", "f"],
                arguments: "[N]",
                help: "select a frame",
                example: "frame 2",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Frame(read_number(a)?)),
            },
            Row {
                names: &["up"],
                arguments: "[N]",
                help: "select the caller",
                example: "up",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Up(read_number(a)?.unwrap_or(1))),
            },
            Row {
                names: &["down"],
                arguments: "[N]",
                help: "select the callee",
                example: "down",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Down(read_number(a)?.unwrap_or(1))),
            },
            Row {
                names: &["locals", "info locals"],
                arguments: "",
                help: "the frame's named values, without constants that are tensors",
                example: "locals",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Scope(ScopeKind::Locals)),
            },
            Row {
                names: &["args", "info args"],
                arguments: "",
                help: "the arguments of the frame's function",
                example: "args",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Scope(ScopeKind::Arguments)),
            },
            Row {
                names: &["constants", "info constants"],
                arguments: "",
                help: "the tensors that the source writes: weights, tables",
                example: "constants",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Scope(ScopeKind::Constants)),
            },
            Row {
                names: &["regs", "info registers", "info r"],
                arguments: "",
                help: "the frame's registers",
                example: "regs",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Scope(ScopeKind::Registers)),
            },
            Row {
                names: &["globals", "info globals"],
                arguments: "",
                help: "the module's globals",
                example: "globals",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Scope(ScopeKind::Globals)),
            },
            Row {
                names: &["info dispatches"],
                arguments: "",
                help: "the program's dispatches: number of the last run, line, name, tensors",
                example: "info dispatches",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::DispatchList),
            },
            Row {
                names: &["tensors", "info tensors"],
                arguments: "",
                help: "the tensors that the dispatches of the frame's function leave, with \
                       statistics",
                example: "tensors",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::TensorList),
            },
            Row {
                names: &["dispatch", "info dispatch"],
                arguments: "[N]",
                help: "the frame's dispatch: its workgroups, operands, bindings and \
                       constants; or what command N of those that ran has read and left",
                example: "dispatch",
                completes: Completes::Nothing,
                read: |a| {
                    let frames = Command::Scope(ScopeKind::Dispatch);
                    Ok(read_number(a)?.map_or(frames, Command::DispatchOf))
                },
            },
            Row {
                names: &["allocations", "info allocations"],
                arguments: "",
                help: "the memory that is allocated on the device",
                example: "allocations",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Allocations),
            },
            Row {
                names: &["calls", "info calls"],
                arguments: "",
                help: "the calls of the current line",
                example: "calls",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Calls),
            },
            Row {
                names: &["print", "p", "call"],
                arguments: "[/FORMAT] EXPR",
                help: "a value: %x, i0, r0[1], binding[0] as 4x8xf32, r0 as \
                       memref<?xf32>, max(abs(t[0])), @f(1); formats x d u o t c f",
                example: "p/x %count",
                completes: Completes::Values,
                read: read_print,
            },
            Row {
                names: &["whatis", "ptype"],
                arguments: "EXPR",
                help: "the type of a value",
                example: "whatis operand[0]",
                completes: Completes::Values,
                read: |a| required(a, "the type of what?").map(Command::Type),
            },
            Row {
                names: &["expected"],
                arguments: "EXPR|N",
                help: "what a tensor should be: the text of the dispatch that has left it, \
                       evaluated in float64, rounded to its type; or each tensor that command N \
                       has left",
                example: "expected operand[2]",
                completes: Completes::Values,
                read: |a| match a.parse() {
                    Ok(number) => Ok(Command::ExpectedOf(number)),
                    Err(_) => required(a, "expected what?").map(Command::Expected),
                },
            },
            Row {
                names: &["display"],
                arguments: "[EXPR]",
                help: "print a value at every stop",
                example: "display %guess",
                completes: Completes::Values,
                read: |a| Ok(Command::Display(non_empty(a))),
            },
            Row {
                names: &["undisplay"],
                arguments: "[N]",
                help: "stop printing value N, or all",
                example: "undisplay 1",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Undisplay(read_number(a)?)),
            },
            Row {
                names: &["set var", "set"],
                arguments: "TARGET = EXPR",
                help: "change a register, global or element",
                example: "set var %x = 3",
                completes: Completes::Values,
                read: read_set,
            },
            Row {
                names: &["show"],
                arguments: "EXPR",
                help: "a tensor as a picture: a heat map, or a plot of one axis, with its figures",
                example: "show %x[0]",
                completes: Completes::Values,
                read: |a| Ok(Command::Show(non_empty(a).ok_or("show which tensor? show %x")?)),
            },
            Row {
                names: &["save"],
                arguments: "[-f] EXPR FILE",
                help: "write a tensor to FILE.npy, FILE.bin (its bytes) or FILE.txt; -f \
                       overwrites",
                example: "save operand[1] out.npy",
                completes: Completes::Files,
                read: read_save,
            },
            Row {
                names: &["repro"],
                arguments: "DIRECTORY",
                help: "write the dispatch here as a folder that IREE's own tools run again, and \
                       run it; before a dispatch, it is run first",
                example: "repro bad-softmax",
                completes: Completes::Files,
                read: |a| {
                    let path = non_empty(a.trim_matches(['"', '\'']));
                    Ok(Command::Reproduce(path.ok_or("repro in which folder? repro DIRECTORY")?))
                },
            },
            Row {
                names: &["x"],
                arguments: "/NFU EXPR",
                help: "N numbers of memory in format F (x d u o t c f s) and unit U (b h \
                       w g), N bytes without them, or N instructions (i)",
                example: "x/4xw %t",
                completes: Completes::Values,
                read: read_examine,
            },
            Row {
                names: &["disas", "disassemble"],
                arguments: "[FUNCTION]",
                help: "the instructions around here, or of a function",
                example: "disas improve",
                completes: Completes::Functions,
                read: |a| read_name(a.strip_prefix("-n ").unwrap_or(a)).map(Command::Disassemble),
            },
            Row {
                names: &["list", "l"],
                arguments: "[LINE|FIRST,LAST|FUNCTION|-]",
                help: "source text; an empty line shows more",
                example: "list 40,50",
                completes: Completes::Functions,
                read: |a| read_list_target(a).map(Command::List),
            },
            Row {
                names: &["info line"],
                arguments: "[PLACE]",
                help: "the instructions of a line",
                example: "info line 18",
                completes: Completes::Places,
                read: |a| {
                    non_empty(a)
                        .map(|a| read_place(&a))
                        .transpose()
                        .map(|it| Command::Info(Info::Line(it)))
                },
            },
            Row {
                names: &["info name"],
                arguments: "NAME",
                help: "why a name has its value: where it is, how that is known, and what \
                       was matched or refuted",
                example: "info name %x",
                completes: Completes::Values,
                read: |a| {
                    let name = non_empty(a).ok_or("the evidence of which name? `info name %x`")?;
                    Ok(Command::Info(Info::Name(name)))
                },
            },
            Row {
                names: &["info source"],
                arguments: "",
                help: "the frame's source file",
                example: "info source",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Info(Info::Source)),
            },
            Row {
                names: &["info frame", "info f"],
                arguments: "",
                help: "the selected frame",
                example: "info frame",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Info(Info::Frame)),
            },
            Row {
                names: &["info functions"],
                arguments: "[GLOB]",
                help: "the functions of the program",
                example: "info functions *async*",
                completes: Completes::Nothing,
                read: |a| read_name(a).map(|it| Command::Info(Info::Functions(it))),
            },
            Row {
                names: &["info modules", "info sharedlibrary"],
                arguments: "",
                help: "the modules of the program",
                example: "info modules",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Info(Info::Modules)),
            },
            Row {
                names: &["info threads"],
                arguments: "",
                help: "the threads of the program",
                example: "info threads",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Info(Info::Threads)),
            },
            Row {
                names: &["info program"],
                arguments: "",
                help: "how far the program has come",
                example: "info program",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Info(Info::Program)),
            },
            Row {
                names: &["info display"],
                arguments: "",
                help: "what is printed at every stop",
                example: "info display",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Info(Info::Display)),
            },
        ],
    },
    Group {
        title: "The session",
        rows: &[
            Row {
                names: &["source"],
                arguments: "FILE",
                help: "perform the commands in a file",
                example: "source setup.iree-dbg",
                completes: Completes::Files,
                read: |a| path(a, "perform the commands of which file?").map(Command::Source),
            },
            Row {
                names: &["define"],
                arguments: "NAME",
                help: "the lines up to `end` become a command; $arg0 … $arg9 and $argc \
                       are its arguments",
                example: "define pn",
                completes: Completes::Nothing,
                read: |a| path(a, "define which word?").map(Command::Define),
            },
            Row {
                names: &["echo"],
                arguments: "TEXT",
                help: "print a text",
                example: "echo here\\n",
                completes: Completes::Nothing,
                read: |a| Ok(Command::Echo(a.to_owned())),
            },
            Row {
                names: &["shell", "!"],
                arguments: "COMMAND",
                help: "run a command of the system",
                example: "shell ls",
                completes: Completes::Files,
                read: |a| required(a, "which command?").map(Command::Shell),
            },
            Row {
                names: &["help", "h"],
                arguments: "[COMMAND]",
                help: "this text, or more about a command",
                example: "help break",
                completes: Completes::Commands,
                read: |a| Ok(Command::Help(non_empty(a))),
            },
            Row {
                names: &["quit", "q", "exit"],
                arguments: "",
                help: "leave",
                example: "quit",
                completes: Completes::Nothing,
                read: |a| nothing(a, Command::Quit),
            },
        ],
    },
];

/// The numbers of breakpoints, with or without gdb's word for them.
fn bare(text: &str) -> &str {
    text.strip_prefix("breakpoints").unwrap_or(text).trim()
}

/// A word or a path, with or without quotes.
fn path(text: &str, question: &'static str) -> Result<String, Mistake> {
    match words::quoted_name(text)? {
        Some((name, "")) if !name.is_empty() => Ok(name),
        None if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(Mistake::Missing(question)),
    }
}

/// All rows.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().flat_map(|group| group.rows)
}
