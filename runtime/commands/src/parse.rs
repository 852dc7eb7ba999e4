//! A line to its command: names, their beginnings, lldb's spellings, and what a mistake may have
//! meant.

use crate::command::Command;
use crate::lldb;
use crate::mistake::Mistake;
use crate::table::{Row, rows};
use crate::words;

/// Reads a line. Names of commands may be abbreviated if that is unambiguous, as in gdb. A name
/// that is merely similar is an error that says so.
pub(crate) fn parse(line: &str, defined: &[&str]) -> Result<Command, Mistake> {
    let line = line.trim();
    let (word, rest) = words::first(line);
    if defined.contains(&word) {
        return Ok(Command::User(word.to_owned(), rest.to_owned()));
    }
    if let Some(command) = line.strip_prefix('!') {
        return Ok(Command::Shell(command.trim().to_owned()));
    }
    if let Some(translated) = lldb::translated(line)? {
        return match translated {
            lldb::Translated::Command(command) => Ok(command),
            lldb::Translated::Line(line) => with_row(&line).and_then(|(row, rest)| read(row, rest)),
        };
    }
    with_row(line).and_then(|(row, rest)| read(row, rest))
}

fn read(row: &Row, rest: &str) -> Result<Command, Mistake> {
    (row.read)(rest.trim())
}

/// Whether a line asks to stop a program that runs, as a console understands it.
#[must_use]
pub fn is_interrupt(line: &str) -> bool {
    let line = line.trim();
    matches!(parse(line.strip_prefix('`').unwrap_or(line), &[]), Ok(Command::Interrupt))
}

/// Whether a line begins with the whole name of a command, or with one of its short forms.
pub(crate) fn is_command(line: &str) -> bool {
    let line = line.trim();
    exact(line).is_some() || matches!(lldb::translated(line), Ok(Some(_)))
}

/// The row of a line, and its arguments.
pub(crate) fn with_row(line: &str) -> Result<(&'static Row, &str), Mistake> {
    if let Some(found) = exact(line) {
        return Ok(found);
    }
    let found = abbreviated(line);
    match &found[..] {
        [(row, rest)] => Ok((row, rest)),
        [] => Err(unknown(line)),
        several => {
            let names = several.iter().map(|(row, _)| row.names[0]).collect();
            Err(Mistake::Ambiguous { line: line.to_owned(), names })
        }
    }
}

/// The row of which a line begins with a whole name, the longest one.
fn exact(line: &str) -> Option<(&'static Row, &str)> {
    let all = rows().flat_map(|row| row.names.iter().map(move |name| (row, *name)));
    let fitting = all.filter_map(|(row, name)| Some((name.len(), row, after_words(line, name)?)));
    fitting.max_by_key(|(length, ..)| *length).map(|(_, row, rest)| (row, rest))
}

/// The rows of which a line begins with the beginnings of a name's words: those with most words,
/// and of these, those with most whole words, so that `i r` is `info r` and not `info record`.
fn abbreviated(line: &str) -> Vec<(&'static Row, &str)> {
    let mut found: Vec<((usize, usize), &Row, &str)> = Vec::new();
    for row in rows() {
        let fitting = row.names.iter().filter_map(|name| {
            let mut rest = line;
            let mut count = (0, 0);
            for part in name.split(' ') {
                let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                if word.is_empty() || !part.starts_with(word) {
                    return None;
                }
                count = (count.0 + 1, count.1 + usize::from(part == word));
                rest = after.trim_start();
            }
            Some((count, row, rest))
        });
        found.extend(fitting.max_by_key(|(count, ..)| *count));
    }
    let most = found.iter().map(|(count, ..)| *count).max().unwrap_or_default();
    let best = found.into_iter().filter(|(count, ..)| *count == most);
    best.map(|(_, row, rest)| (row, rest)).collect()
}

/// The rest of a line after a name of one or more words, if it begins with that name. What `/` and
/// letters add to a name belongs to its arguments: `x/4xw`.
fn after_words<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(name)?;
    let takes_format = matches!(name, "x" | "p" | "print" | "call");
    let is_format = takes_format && rest.starts_with('/');
    (rest.is_empty() || rest.starts_with(char::is_whitespace) || is_format).then_some(rest)
}

/// That nothing is called so, and what may have been meant.
fn unknown(line: &str) -> Mistake {
    let (word, rest) = words::first(line);
    let help = "`help` lists them";
    let help = if let Some(family) = ["info", "set", "show"].into_iter().find(|it| *it == word) {
        let known = rows()
            .flat_map(|row| row.names)
            .filter_map(|name| name.strip_prefix(family).and_then(|it| it.strip_prefix(' ')));
        let known: Vec<&str> = known.collect();
        let (part, _) = words::first(rest);
        let meant = words::closest(part, known.iter().copied());
        let meant = meant.map(|meant| format!("did you mean `{family} {meant}`? "));
        format!("{}there are {family} {}", meant.unwrap_or_default(), known.join(", "))
    } else if word.starts_with(['%', '@']) {
        format!("`p {line}` shows a value; {help}")
    } else {
        let names = rows().flat_map(|row| row.names).filter(|name| !name.contains(' ')).copied();
        match words::closest(word, names) {
            Some(meant) => format!("did you mean `{meant}`? {help}"),
            None => help.to_owned(),
        }
    };
    Mistake::UnknownCommand { line: line.to_owned(), help }
}

#[cfg(test)]
mod tests {
    use debug::{
        BreakpointOptions, DataAccess, DispatchMoment, Granularity, HitCondition, Level, ScopeKind,
        StepKind,
    };
    use vmfb::BytecodeOffset;

    use super::*;
    use crate::command::{BreakRequest, How, Info, Inputs, Layout, ListTarget, Place, Trap};

    fn breaks(place: Place) -> Command {
        Command::Break(BreakRequest { place: Some(place), ..BreakRequest::default() })
    }

    fn breaks_if(place: Place, condition: Option<&str>, hit_condition: HitCondition) -> Command {
        let condition = condition.map(str::to_owned);
        let options = BreakpointOptions { condition, hit_condition, log: None };
        Command::Break(BreakRequest { place: Some(place), options, ..BreakRequest::default() })
    }

    fn dispatch(pattern: &str, when: DispatchMoment) -> Place {
        Place::Dispatch(pattern.to_owned(), when)
    }

    #[test]
    fn places_of_breakpoints() {
        let (before, after) = (DispatchMoment::Before, DispatchMoment::After);
        let at = |offset| Place::Offset("improve".into(), BytecodeOffset(offset));
        let cases = [
            ("b 32", breaks(Place::Line(32, None))),
            ("break 32:4", breaks(Place::Line(32, Some(4)))),
            ("break a.mlir:7:9", breaks(Place::FileLine("a.mlir".into(), 7, Some(9)))),
            ("break a.mlir:7", breaks(Place::FileLine("a.mlir".into(), 7, None))),
            ("break \"a b.mlir\":7", breaks(Place::FileLine("a b.mlir".into(), 7, None))),
            ("b *improve+0000001B", breaks(at(0x1B))),
            ("b *'improve'+1b", breaks(at(0x1B))),
            ("b *.execute", breaks(Place::Function("*.execute".into()))),
            ("b *0x10000001b", breaks(Place::Address("0x10000001b".into()))),
            (
                "b Model from PaddlePaddle.$async",
                breaks(Place::Function("Model from PaddlePaddle.$async".into())),
            ),
            (
                "b @\"a if \\\"b\\\"\" if %x == 1",
                breaks_if(
                    Place::Function("a if \"b\"".into()),
                    Some("%x == 1"),
                    HitCondition::Always,
                ),
            ),
            (
                "b dispatch 'mlp_*' after if count >= 3",
                breaks_if(dispatch("mlp_*", after), None, HitCondition::AtLeast(3)),
            ),
            ("b dispatch *", breaks(dispatch("*", before))),
            ("b dispatch \"a-b c\" after", breaks(dispatch("a-b c", after))),
            ("b dispatch:a*", breaks(dispatch("a*", before))),
            ("b dispatch-after:a", breaks(dispatch("a", after))),
            ("b 7 if count == 2", breaks_if(Place::Line(7, None), None, HitCondition::Exactly(2))),
            (
                "b improve if %guess == 2 if count % 2",
                breaks_if(
                    Place::Function("improve".into()),
                    Some("%guess == 2"),
                    HitCondition::Every(2),
                ),
            ),
            (
                "b 7 if counter > 2",
                breaks_if(Place::Line(7, None), Some("counter > 2"), HitCondition::Always),
            ),
            ("b", Command::Break(BreakRequest::default())),
        ];
        for (line, expected) in cases {
            assert_eq!(parse(line, &[]), Ok(expected), "{line}");
        }
    }

    #[test]
    fn words_abbreviations_and_arguments() {
        let layout = |count, format, unit| Layout { count, format, unit };
        let step = |kind, granularity, times| Command::Step(kind, granularity, times);
        let inputs = |words: &[&str]| Inputs {
            inputs: Some(words.iter().map(|word| (*word).to_owned()).collect()),
            function: None,
        };
        let once = How::default();
        let every = How { every: true, ..once };
        let all = How { operations: true, ..every };
        let cases = [
            ("set var i0 = i1 == 2", Command::Set("i0".into(), "i1 == 2".into())),
            ("x/8 r0", Command::Examine(Some("r0".into()), layout(8, None, None))),
            ("x r0", Command::Examine(Some("r0".into()), layout(16, None, None))),
            ("x/4xw %t", Command::Examine(Some("%t".into()), layout(4, Some('x'), Some(4)))),
            ("x/8i", Command::Examine(None, layout(8, Some('i'), None))),
            ("p/x %a", Command::Print("%a".into(), Some('x'))),
            ("call @f(3)", Command::Print("@f(3)".into(), None)),
            ("catch dispatch nan", Command::Catch(Some(Trap::DispatchNan), once)),
            ("catch overflow", Command::Catch(Some(Trap::Overflow), once)),
            ("catch nan every", Command::Catch(Some(Trap::Nan), every)),
            ("catch inf operations every", Command::Catch(Some(Trap::Infinity), all)),
            ("s", step(StepKind::Into, Granularity::Line, 1)),
            ("n 3", step(StepKind::Over, Granularity::Line, 3)),
            ("si", step(StepKind::Into, Granularity::Instruction, 1)),
            ("ns 2", step(StepKind::Over, Granularity::Statement, 2)),
            ("fin", step(StepKind::Out, Granularity::Line, 1)),
            ("level vm", Command::Level(Some(Level::Vm))),
            ("level", Command::Level(None)),
            ("set compare off", Command::Compare(false)),
            ("cont", Command::Continue(1)),
            ("info registers", Command::Scope(ScopeKind::Registers)),
            ("i r", Command::Scope(ScopeKind::Registers)),
            ("i lo", Command::Scope(ScopeKind::Locals)),
            ("i b", Command::Breakpoints),
            ("info dispatch", Command::Scope(ScopeKind::Dispatch)),
            ("info fu a*", Command::Info(Info::Functions(Some("a*".into())))),
            ("disas improve", Command::Disassemble(Some("improve".into()))),
            ("l", Command::List(None)),
            ("l 40,50", Command::List(Some(ListTarget::Range(None, 40, 50)))),
            ("l a.mlir:4", Command::List(Some(ListTarget::Line(Some("a.mlir".into()), 4)))),
            ("l 'a b'", Command::List(Some(ListTarget::Function("a b".into())))),
            ("where", Command::Backtrace(None)),
            ("u", Command::Until(None)),
            ("run", Command::Run(None)),
            ("run 3 --input='2xf32=1 2'", Command::Run(Some(inputs(&["3", "2xf32=1 2"])))),
            ("enable 1-3", Command::Enable(vec![1, 2, 3], true)),
            ("d", Command::Delete(Vec::new())),
        ];
        for (line, expected) in cases {
            assert_eq!(parse(line, &[]), Ok(expected), "{line}");
        }
    }

    #[test]
    fn the_words_of_lldb() {
        let options = || BreakRequest { is_temporary: true, ..BreakRequest::default() };
        let named = Some(Place::Function("my model".into()));
        let cases = [
            ("breakpoint set -n nested", breaks(Place::Function("nested".into()))),
            ("br s -f a.mlir -l 3", breaks(Place::FileLine("a.mlir".into(), 3, None))),
            (
                "breakpoint set --one-shot true --name 'my model'",
                Command::Break(BreakRequest { place: named, ..options() }),
            ),
            (
                "br set -l 7 -c '%x > 2'",
                breaks_if(Place::Line(7, None), Some("%x > 2"), HitCondition::Always),
            ),
            ("breakpoint list", Command::Breakpoints),
            ("breakpoint delete 2", Command::Delete(vec![2])),
            ("thread backtrace", Command::Backtrace(None)),
            ("thread step-over", Command::Step(StepKind::Over, Granularity::Line, 1)),
            ("frame variable", Command::Scope(ScopeKind::Locals)),
            ("frame variable %x", Command::Print("%x".into(), None)),
            ("fr s 2", Command::Frame(Some(2))),
            ("process launch", Command::Run(None)),
            ("watchpoint set variable %x", Command::Watch(DataAccess::Change, "%x".into())),
            ("expression -- %x + 1", Command::Print("%x + 1".into(), None)),
            ("b list", breaks(Place::Function("list".into()))),
        ];
        for (line, expected) in cases {
            assert_eq!(parse(line, &[]), Ok(expected), "{line}");
        }
        assert!(parse("breakpoint set -r 'a.*'", &[]).unwrap_err().to_string().contains("glob"));
        assert!(parse("breakpoint set", &[]).is_err());
    }

    #[test]
    fn mistakes_are_explained() {
        let error = |line| parse(line, &[]).unwrap_err().to_string();
        assert_eq!(error("skip 3"), "no command \"skip 3\"; `help` lists them");
        assert!(error("braek 3").contains("did you mean `break`?"));
        assert!(error("info loacls").contains("did you mean `info locals`?"));
        assert!(error("%x").contains("`p %x` shows a value"));
        assert!(error("level asm").contains("source, vm and disassembly"));
        assert_eq!(error("next x"), "\"x\" is not a number");
        assert_eq!(error("st"), "\"st\" could be start, step, stepi, step-statement");
        assert!(error("bt full").contains("not a number"));
        assert!(error("locals all").contains("no arguments"));
        assert!(error("run --device=x").contains("cannot change"));
    }

    #[test]
    fn examples_are_commands() {
        for row in rows() {
            let (found, _) = with_row(row.example).expect(row.example);
            assert_eq!(found.names, row.names, "{}", row.example);
            assert!(parse(row.example, &[]).is_ok(), "{}", row.example);
        }
    }
}
