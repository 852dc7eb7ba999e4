//! Parsing the arguments of the terminal debugger's commands. The errors are for the user.

use debug::{BreakpointOptions, DispatchMoment, HitCondition};
use vmfb::BytecodeOffset;

use crate::command::{Command, ListTarget, Place, Trap};

/// How often to repeat a step.
pub(crate) fn read_times(text: &str) -> Result<u32, String> {
    Ok(read_number(text)?.unwrap_or(1))
}

/// A number, if there is one.
pub(crate) fn read_number<T: std::str::FromStr>(text: &str) -> Result<Option<T>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| format!("{text:?} is not a number"))
}

/// A text that must not be empty.
pub(crate) fn required(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("print what?".to_owned()) } else { Ok(text.to_owned()) }
}

/// A text, unless it is empty.
pub(crate) fn non_empty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A place with a condition and a hit condition: `improve if %x > 2 if count >= 3`.
pub(crate) fn read_break(text: &str) -> Result<Command, String> {
    let (text, hit_condition) = match text.rsplit_once(" if count") {
        Some((text, condition)) => (text, condition.parse::<HitCondition>()?),
        None => (text, HitCondition::Always),
    };
    let (text, condition) = match text.split_once(" if ") {
        Some((text, condition)) => (text, non_empty(condition)),
        None => (text, None),
    };
    let options = BreakpointOptions { condition, hit_condition, log: None };
    Ok(Command::Break(read_place(text.trim())?, options))
}

/// A place and a message: `improve, guess is {%guess}`.
pub(crate) fn read_log(text: &str) -> Result<Command, String> {
    let (text, log) = text.split_once(',').ok_or("log what? log PLACE, TEXT with {EXPR}")?;
    let log = log.trim().trim_matches('"');
    let options = BreakpointOptions { log: non_empty(log), ..BreakpointOptions::default() };
    Ok(Command::Break(read_place(text.trim())?, options))
}

/// What to catch; None for an empty text.
pub(crate) fn read_trap(text: &str) -> Result<Option<Trap>, String> {
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
                "cannot catch {other:?}; nan, inf, dispatch nan, dispatch inf, overflow, \
                 uninitialised, off"
            ));
        }
    }))
}

/// A target and a value, separated by the first `=`.
pub(crate) fn read_set(text: &str) -> Result<Command, String> {
    let text = text.strip_prefix("var ").unwrap_or(text);
    let (target, value) = text.split_once('=').ok_or("set what? set var TARGET = EXPR")?;
    match (target.trim(), value.trim()) {
        ("", _) | (_, "") => Err("set what? set var TARGET = EXPR".to_owned()),
        (target, value) => Ok(Command::Set(target.to_owned(), value.to_owned())),
    }
}

/// A number of bytes and an expression: `/32 r0`.
pub(crate) fn read_examine(text: &str) -> Result<Command, String> {
    let (count, text) = match text.strip_prefix('/') {
        Some(rest) => {
            let (count, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            (read_number(count)?.unwrap_or(16), text.trim())
        }
        None => (16, text),
    };
    if text.is_empty() {
        return Err("the bytes of what? x/COUNT EXPR".to_owned());
    }
    Ok(Command::Examine(text.to_owned(), count))
}

/// Dispatches by a pattern, with or without quotes: `'mlp_*' after`.
fn read_dispatches(text: &str) -> Result<Place, String> {
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

/// A place, as `break` takes it.
pub(crate) fn read_place(text: &str) -> Result<Place, String> {
    if text.is_empty() {
        return Err(
            "break where? [FILE:]LINE[:COLUMN], FUNCTION, *FUNCTION+OFFSET or *ADDRESS".to_owned()
        );
    }
    if let Some(pattern) = text.strip_prefix("dispatch ") {
        return read_dispatches(pattern.trim());
    }
    // The notation of editors.
    if let Some(pattern) = text.strip_prefix("dispatch:") {
        return read_dispatches(pattern.trim());
    }
    if let Some(pattern) = text.strip_prefix("dispatch-after:") {
        return read_dispatches(&format!("{} after", pattern.trim()));
    }
    if let Some(address) = text.strip_prefix('*') {
        return match address.rsplit_once('+') {
            Some((function, offset)) => {
                Ok(Place::Offset(function.to_owned(), read_offset(offset)?))
            }
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
    Ok(read_line(text).unwrap_or_else(|| Place::Function(text.to_owned())))
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
fn read_offset(text: &str) -> Result<BytecodeOffset, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u32::from_str_radix(digits, 16)
        .map(BytecodeOffset)
        .map_err(|_| format!("{text:?} is not a hexadecimal offset"))
}

/// A line or a function; None for an empty text.
pub(crate) fn read_list_target(text: &str) -> Option<ListTarget> {
    match text.parse() {
        Ok(line) => Some(ListTarget::Line(line)),
        Err(_) if text.is_empty() => None,
        Err(_) => Some(ListTarget::Function(text.to_owned())),
    }
}
