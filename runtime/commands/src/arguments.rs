//! Parsing the arguments of commands. The errors are for the user.

use debug::{
    BreakpointOptions, BreakpointSpec, DispatchMoment, HitCondition, StoryQuestion, Wanted,
};
use vmfb::BytecodeOffset;

use crate::command::{
    BreakRequest, Command, Diff, How, Inputs, Layout, ListTarget, Place, SaveRequest, Trap,
};
use crate::mistake::Mistake;
use crate::words;

/// How often to repeat a step.
pub(crate) fn read_times(text: &str) -> Result<u32, Mistake> {
    Ok(read_number(text)?.unwrap_or(1))
}

/// A number, if there is one.
pub(crate) fn read_number<T: std::str::FromStr>(text: &str) -> Result<Option<T>, Mistake> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| Mistake::NotANumber(text.to_owned()))
}

/// Numbers, with ranges: `1 3-5`.
pub(crate) fn read_numbers(text: &str) -> Result<Vec<u32>, Mistake> {
    const MOST: u32 = 100_000;
    let mut numbers = Vec::new();
    for word in text.split([' ', ',', '\t']).filter(|word| !word.is_empty()) {
        let wrong = || Mistake::NotANumber(word.to_owned());
        match word.split_once('-') {
            None => numbers.push(word.parse().map_err(|_| wrong())?),
            Some((first, last)) => {
                let first: u32 = first.parse().map_err(|_| wrong())?;
                let last: u32 = last.parse().map_err(|_| wrong())?;
                if last.saturating_sub(first) > MOST {
                    return Err(Mistake::TooMany(word.to_owned()));
                }
                numbers.extend(first..=last);
            }
        }
    }
    Ok(numbers)
}

/// A text that must not be empty. The question says what is missing: `watch what?`
pub(crate) fn required(text: &str, question: &'static str) -> Result<String, Mistake> {
    if text.is_empty() { Err(Mistake::Missing(question)) } else { Ok(text.to_owned()) }
}

/// A text, unless it is empty.
pub(crate) fn non_empty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Nothing.
pub(crate) fn nothing(text: &str, command: Command) -> Result<Command, Mistake> {
    match text {
        "" => Ok(command),
        more => Err(Mistake::TooMuch(more.to_owned())),
    }
}

/// A name, unless there is none.
pub(crate) fn read_name(text: &str) -> Result<Option<String>, Mistake> {
    if text.is_empty() { Ok(None) } else { words::name(text).map(Some) }
}

/// A place with a condition and a hit condition: `improve if %x > 2 if count >= 3`.
pub(crate) fn read_break(text: &str, is_temporary: bool) -> Result<Command, Mistake> {
    let name = match dispatch_pattern(text) {
        Some(pattern) => words::quoted_name(pattern.trim_start())?,
        None => words::quoted_name(text)?,
    };
    // A quoted name may contain the word `if`.
    let start = name.map_or(0, |(_, rest)| text.len() - rest.len());
    let is_here = start == 0 && (text.is_empty() || text.starts_with("if "));
    let (place, refined) = match text[start..].find(" if ") {
        _ if is_here => ("", text),
        Some(at) => (&text[..start + at], &text[start + at + 1..]),
        None => (text, ""),
    };
    let counted = refined.rsplit_once("if count").filter(|(_, count)| {
        !count.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '['))
    });
    let (condition, hit_condition) = match counted {
        Some((condition, count)) => {
            (condition.trim(), count.parse::<HitCondition>().map_err(Mistake::Count)?)
        }
        None => (refined, HitCondition::Always),
    };
    let condition = condition.strip_prefix("if ").and_then(non_empty);
    let options = BreakpointOptions { condition, hit_condition, log: None };
    let place = if is_here { None } else { Some(read_place(place.trim())?) };
    Ok(Command::Break(BreakRequest { place, options, is_temporary, ignored: 0 }))
}

/// A place and a message: `improve, guess is {%guess}`.
pub(crate) fn read_log(text: &str) -> Result<Command, Mistake> {
    let quoted = match dispatch_pattern(text) {
        Some(pattern) => words::quoted_name(pattern.trim_start())?,
        None => words::quoted_name(text)?,
    };
    let start = quoted.map_or(0, |(_, rest)| text.len() - rest.len());
    let at = text[start..].find(',').ok_or("log what? log PLACE, TEXT with {EXPR}")?;
    let (place, log) = (&text[..start + at], &text[start + at + 1..]);
    let log = log.trim().trim_matches('"');
    let options = BreakpointOptions { log: non_empty(log), ..BreakpointOptions::default() };
    let place = Some(read_place(place.trim())?);
    Ok(Command::Break(BreakRequest { place, options, ..BreakRequest::default() }))
}

/// A place, and expressions to be looked at there.
pub(crate) fn read_visits(text: &str) -> Result<Command, Mistake> {
    let mut parts = words::outer_parts(text, ',').into_iter();
    let place = parts.next().unwrap_or_default();
    let columns = parts.filter_map(non_empty).collect();
    Ok(Command::Visits(read_place(place.trim())?, columns))
}

/// How to catch, which is said last; and the text before that.
pub(crate) fn read_how(text: &str) -> (&str, How) {
    let (mut rest, mut how) = (text.trim(), How::default());
    loop {
        if let Some(before) = rest.strip_suffix("every") {
            (rest, how.every) = (before.trim_end(), true);
        } else if let Some(before) = rest.strip_suffix("operations") {
            (rest, how.operations) = (before.trim_end(), true);
        } else {
            return (rest, how);
        }
    }
}

/// What to catch; None for an empty text.
pub(crate) fn read_trap(text: &str) -> Result<Option<Trap>, Mistake> {
    Ok(Some(match text {
        "" => return Ok(None),
        "nan" => Trap::Nan,
        "inf" => Trap::Infinity,
        "dispatch nan" => Trap::DispatchNan,
        "dispatch inf" => Trap::DispatchInfinity,
        "overflow" => Trap::Overflow,
        "difference" => Trap::Difference,
        "uninitialised" | "uninitialized" => Trap::Uninitialised,
        "off" => Trap::Off,
        other => {
            return Err(Mistake::NotATrap(other.to_owned()));
        }
    }))
}

/// `nan`, `inf`, `nan %x`, `nan %x[3, 5]`, `%x`
pub(crate) fn read_why(text: &str) -> Result<StoryQuestion, Mistake> {
    const QUESTION: &str = "why what? `why nan`, `why inf`, `why %x`, `why nan %x[3, 5]`";
    let (wanted, rest) = match words::first(text) {
        ("nan" | "NaN", rest) => (Wanted::Nan, rest),
        ("inf", rest) => (Wanted::Infinity, rest),
        _ => (Wanted::Any, text),
    };
    let rest = match non_empty(rest) {
        Some(rest) => rest,
        None if wanted == Wanted::Any => return Err(QUESTION.into()),
        None => return Ok(StoryQuestion { wanted, ..StoryQuestion::default() }),
    };
    let (name, element) = match rest.strip_suffix(']').and_then(|it| it.rsplit_once('[')) {
        Some((name, numbers)) => {
            let numbers = numbers.split(',').filter(|it| !it.trim().is_empty());
            let numbers = numbers.map(|it| it.trim().parse().map_err(|_| QUESTION));
            (name.trim().to_owned(), Some(numbers.collect::<Result<_, _>>()?))
        }
        None => (rest, None),
    };
    Ok(StoryQuestion { tensor: Some(name), element, wanted })
}

/// A target and a value, separated by the first `=`.
pub(crate) fn read_set(text: &str) -> Result<Command, Mistake> {
    let text = text.strip_prefix("var ").unwrap_or(text);
    let text = text.strip_prefix("variable ").unwrap_or(text);
    const USAGE: Mistake = Mistake::Missing("set what? set var TARGET = EXPR");
    let (target, value) = text.split_once('=').ok_or(USAGE)?;
    match (target.trim(), value.trim()) {
        ("", _) | (_, "") => Err(USAGE),
        (target, value) => Ok(Command::Set(target.to_owned(), value.to_owned())),
    }
}

/// The format letter of `p/x` and an expression.
pub(crate) fn read_print(text: &str) -> Result<Command, Mistake> {
    const LETTERS: &str = "x d u o t c f";
    let Some(rest) = text.strip_prefix('/') else {
        return required(text, "print what?").map(|text| Command::Print(text, None));
    };
    let (letters, expression) = words::first(rest);
    let mut given = letters.chars();
    match (given.next(), given.next()) {
        (Some(letter), None) if LETTERS.contains(letter) => {
            required(expression, "print what?").map(|text| Command::Print(text, Some(letter)))
        }
        _ => Err(Mistake::NotAFormat { letters: letters.to_owned(), known: LETTERS }),
    }
}

/// Count, format and unit, and an expression: `/32 r0`, `/4xw %t`, `/8i`.
pub(crate) fn read_examine(text: &str) -> Result<Command, Mistake> {
    let (letters, text) = match text.strip_prefix('/') {
        Some(rest) => words::first(rest),
        None => ("", text),
    };
    let end = letters.find(|c: char| !c.is_ascii_digit()).unwrap_or(letters.len());
    let count = read_number(&letters[..end])?;
    let (mut format, mut unit) = (None, None);
    for letter in letters[end..].chars() {
        match letter {
            'x' | 'd' | 'u' | 'o' | 't' | 'c' | 'f' | 'i' | 's' => format = Some(letter),
            'b' => unit = Some(1),
            'h' => unit = Some(2),
            'w' => unit = Some(4),
            'g' => unit = Some(8),
            other => {
                return Err(Mistake::NotALayout(other));
            }
        }
    }
    let is_code = format == Some('i');
    if text.is_empty() && !is_code {
        return Err(Mistake::Missing("the bytes of what? x/COUNT EXPR"));
    }
    if unit.is_some() && format.is_none() {
        format = Some('x');
    }
    let default = match format {
        None => 16,
        Some('i') => 8,
        Some(_) => 1,
    };
    let layout = Layout { count: count.unwrap_or(default), format, unit };
    Ok(Command::Examine(non_empty(text), layout))
}

/// A value and a file: `operand[1] x.npy`, `-f %t "my file.bin"`.
pub(crate) fn read_save(text: &str) -> Result<Command, Mistake> {
    const USAGE: Mistake = Mistake::Missing("save what, and where? save [-f] EXPR FILE.npy");
    let (overwrites, text) = match text.strip_prefix("-f ") {
        Some(rest) => (true, rest.trim()),
        None => (false, text),
    };
    let (expression, path) = match text.strip_suffix(['"', '\'']) {
        Some(body) => {
            let quote = if text.ends_with('"') { '"' } else { '\'' };
            body.rsplit_once(quote).ok_or(USAGE)?
        }
        None => text.rsplit_once(char::is_whitespace).ok_or(USAGE)?,
    };
    let (expression, path) = (expression.trim().to_owned(), path.to_owned());
    if expression.is_empty() || path.is_empty() {
        return Err(USAGE);
    }
    Ok(Command::Save(SaveRequest { expression, path, overwrites }))
}

/// The inputs of the program: `3 4`, `--input=@x.npy --function=f`. None: none are said.
pub(crate) fn read_inputs(text: &str) -> Result<Option<Inputs>, Mistake> {
    let mut given = words::split(text)?.into_iter();
    let mut read = Inputs::default();
    let mut any = false;
    while let Some(word) = given.next() {
        any = true;
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let mut value = || {
            value
                .clone()
                .or_else(|| given.next())
                .ok_or_else(|| Mistake::NeedsValue(flag.to_owned()))
        };
        match flag {
            "--input" => read.inputs.get_or_insert_default().push(value()?),
            "--function" => read.function = Some(value()?),
            "--no-inputs" => read.inputs = Some(Vec::new()),
            flag if flag.starts_with("--") => {
                return Err(Mistake::FixedFlag(flag.to_owned()));
            }
            _ => read.inputs.get_or_insert_default().push(word),
        }
    }
    Ok(any.then_some(read))
}

/// The pattern of `dispatch PATTERN`, in any of its spellings.
fn dispatch_pattern(text: &str) -> Option<&str> {
    ["dispatch ", "dispatch:", "dispatch-after:"].iter().find_map(|it| text.strip_prefix(it))
}

/// Dispatches by a pattern, with or without quotes: `'mlp_*' after`.
fn read_dispatches(text: &str) -> Result<Place, Mistake> {
    let text = text.trim();
    let (pattern, moment) = match words::quoted_name(text)? {
        Some((pattern, rest)) => (pattern, rest.trim()),
        None => match text.rsplit_once(char::is_whitespace) {
            Some((pattern, moment @ ("after" | "before"))) => (words::name(pattern)?, moment),
            _ => (words::name(text)?, ""),
        },
    };
    let when = match moment {
        "" | "before" => DispatchMoment::Before,
        "after" => DispatchMoment::After,
        other => return Err(Mistake::NotAMoment(other.to_owned())),
    };
    if pattern.is_empty() {
        return Err(Mistake::Missing("break at which dispatches? dispatch '*' means all"));
    }
    Ok(Place::Dispatch(pattern, when))
}

/// A place, as `break` takes it.
pub(crate) fn read_place(text: &str) -> Result<Place, Mistake> {
    if text.is_empty() {
        return Err(Mistake::Missing(
            "break where? [FILE:]LINE[:COLUMN], FUNCTION, *FUNCTION+OFFSET or *ADDRESS",
        ));
    }
    // The second and third are what editors once wrote.
    if let Some(pattern) = text.strip_prefix("dispatch ") {
        return read_dispatches(pattern);
    }
    if let Some(pattern) = text.strip_prefix("dispatch:") {
        return read_dispatches(pattern);
    }
    if let Some(pattern) = text.strip_prefix("dispatch-after:") {
        return match read_dispatches(pattern)? {
            Place::Dispatch(pattern, _) => Ok(Place::Dispatch(pattern, DispatchMoment::After)),
            other => Ok(other),
        };
    }
    if let Some(address) = text.strip_prefix('*') {
        return match address.rsplit_once('+') {
            Some((function, offset)) => {
                Ok(Place::Offset(words::name(function)?, read_offset(offset)?))
            }
            None if address.starts_with(|first: char| first.is_ascii_digit()) => {
                Ok(Place::Address(address.to_owned()))
            }
            // A pattern that begins with a star.
            None => Ok(Place::Function(text.to_owned())),
        };
    }
    if text.strip_prefix('-').is_some_and(|rest| rest.parse::<u32>().is_ok()) {
        return Err(Mistake::NegativeLine);
    }
    if let Some((name, rest)) = words::quoted_name(text)? {
        return match (rest, read_line(&format!("_{rest}"))) {
            ("", _) => Ok(Place::Function(name)),
            (_, Some(Place::FileLine(_, line, column))) => Ok(Place::FileLine(name, line, column)),
            _ => Err(Mistake::NotALine { name, rest: rest.to_owned() }),
        };
    }
    if let Some(name) = text.strip_prefix('@') {
        return Ok(Place::Function(name.to_owned()));
    }
    Ok(read_line(text).unwrap_or_else(|| Place::Function(text.to_owned())))
}

/// A function breakpoint of an editor: the name of a function, or `dispatch 'GLOB' [after]`.
#[must_use]
pub fn function_breakpoint(name: &str) -> BreakpointSpec {
    match dispatch_pattern(name).map(|_| read_place(name)) {
        Some(Ok(Place::Dispatch(pattern, when))) => BreakpointSpec::Dispatch { pattern, when },
        _ => BreakpointSpec::Function { name: name.to_owned() },
    }
}

/// `LINE`, `LINE:COLUMN`, `FILE:LINE` or `FILE:LINE:COLUMN`.
fn read_line(text: &str) -> Option<Place> {
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
fn read_offset(text: &str) -> Result<BytecodeOffset, Mistake> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u32::from_str_radix(digits, 16)
        .map(BytecodeOffset)
        .map_err(|_| Mistake::NotAnOffset(text.to_owned()))
}

/// Lines or a function: `40`, `40,50`, `a.mlir:40`, `improve`, `-`. None for an empty text.
pub(crate) fn read_list_target(text: &str) -> Result<Option<ListTarget>, Mistake> {
    const LINES: u32 = 10;
    if text.is_empty() {
        return Ok(None);
    }
    if text == "-" {
        return Ok(Some(ListTarget::Before));
    }
    let line = |text: &str| match read_line(text) {
        Some(Place::Line(line, None)) => Some((None, line)),
        Some(Place::FileLine(file, line, None)) => Some((Some(file), line)),
        _ => None,
    };
    if let Some((first, last)) = text.split_once(',')
        && let Some((file, first)) = line(first.trim())
    {
        let last = read_number(last.trim())?.unwrap_or(first.saturating_add(LINES - 1));
        return Ok(Some(ListTarget::Range(file, first, last)));
    }
    if let Some((file, line)) = line(text) {
        return Ok(Some(ListTarget::Line(file, line)));
    }
    match read_place(text)? {
        Place::FileLine(file, line, _) => Ok(Some(ListTarget::Line(Some(file), line))),
        Place::Function(name) => Ok(Some(ListTarget::Function(name))),
        _ => Err(Mistake::NotAPlace(text.to_owned())),
    }
}

/// `1 2`, `1 2 20-30`.
pub(crate) fn read_diff(text: &str) -> Result<Diff, Mistake> {
    let missing = || Mistake::Missing("which lines of time? `diff 1 2`; `lines` lists them");
    let mut words = text.split_whitespace();
    let mut line = || words.next().and_then(|it| it.parse().ok()).ok_or_else(missing);
    let lines = [line()?, line()?];
    let range = match words.next() {
        None => None,
        Some(text) => {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let number =
                |text: &str| text.parse().map_err(|_| Mistake::NotANumber(text.to_owned()));
            Some((number(first)?, number(last)?))
        }
    };
    match words.next() {
        Some(more) => Err(Mistake::TooMuch(more.to_owned())),
        None => Ok((lines, range)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_and_some_commands_are_read() {
        assert_eq!(read_diff("1 2"), Ok(([1, 2], None)));
        assert_eq!(read_diff(" 2  1  7 "), Ok(([2, 1], Some((7, 7)))));
        assert_eq!(read_diff("3 1 20-30"), Ok(([3, 1], Some((20, 30)))));
        assert!(matches!(read_diff("1"), Err(Mistake::Missing(_))));
        assert!(matches!(read_diff("1 x"), Err(Mistake::Missing(_))));
        assert!(matches!(read_diff("1 2 a-b"), Err(Mistake::NotANumber(_))));
        assert!(matches!(read_diff("1 2 3 4"), Err(Mistake::TooMuch(_))));
    }
}
