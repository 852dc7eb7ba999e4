//! [`SourceText`]: the user's `.mlir`, with names that the compiler dropped.
//!
//! Bytecode and companion name a value as the printer numbered it; the user knows it by the name on
//! the left of the operation. A location has the line and column of the operation's name (or, for
//! an argument, of its SSA name), so the text around it gives the user's name back. This is pattern
//! matching, not parsing: where the text looks different, there is no name.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::debug_file::DebugFile;

use super::constants::{self, NamedConstant, Resources, WrittenTensor};
use super::elided::Elided;
use super::folding;
use super::functions::{FunctionIndex, LineColumn, SourceFunction};
use super::lines::Lines;
use super::operation_extent::operation_extent;
use super::python::{Becomes, PythonText};
use super::structure::{LinePlace, Structure};

/// The most bytes of a line that are looked at.
const LONGEST_LINE: usize = 1 << 16;

/// How many functions are kept that were read: as many as a stack of frames usually has.
const MOST_READ: usize = 4;

/// The text of one source file, with its lines. It may be large: a model with its weights.
#[derive(Debug)]
pub struct SourceText {
    text: Arc<String>,
    lines: Lines,
    structure: OnceLock<Structure>,
    functions: OnceLock<Vec<(u32, String)>>,
    last_lines: OnceLock<Vec<u32>>,
    written: OnceLock<FunctionIndex>,
    resources: OnceLock<Resources>,
    elided: OnceLock<Elided>,
    constants: OnceLock<HashMap<String, Option<NamedConstant>>>,
    /// The file that it is kept in, without its long constants.
    kept_in: Option<DebugFile>,
    /// If it is Python: then there are no operations in it.
    python: Option<PythonText>,
    /// The functions that were read last, the latest first.
    last_read: Mutex<Vec<(usize, Arc<SourceFunction>)>>,
}

impl SourceText {
    /// Takes a file's text.
    #[must_use]
    pub fn new(text: String) -> Self {
        let lines = Lines::of(&text);
        let (structure, functions, last_lines, written) = Default::default();
        let (text, resources, last_read) = (Arc::new(text), OnceLock::new(), Mutex::default());
        Self {
            text,
            lines,
            structure,
            functions,
            last_lines,
            written,
            resources,
            elided: OnceLock::new(),
            constants: OnceLock::new(),
            kept_in: None,
            python: None,
            last_read,
        }
    }

    /// The same text, which a debug file keeps: that has the constants which are left out of it.
    #[must_use]
    pub fn kept_in(self, file: DebugFile) -> Self {
        Self { kept_in: Some(file), ..self }
    }

    /// Takes the text of a file of Python, which a framework wrote the program's lines of.
    #[must_use]
    pub fn python(text: String) -> Self {
        let nothing = Structure::with_lines("", Lines::of(""));
        Self {
            python: Some(PythonText::read(&text)),
            structure: OnceLock::from(nothing),
            functions: OnceLock::from(Vec::new()),
            resources: OnceLock::from(Resources::default()),
            ..Self::new(text)
        }
    }

    /// Whether it is a file of Python.
    #[must_use]
    pub fn is_python(&self) -> bool {
        self.python.is_some()
    }

    fn structure(&self) -> &Structure {
        self.structure.get_or_init(|| Structure::with_lines(&self.text, self.lines.clone()))
    }

    /// The functions of the text, to be read one by one.
    pub(crate) fn written(&self) -> &FunctionIndex {
        let table = || &self.structure().chunks;
        self.written.get_or_init(|| FunctionIndex::of(&self.text, table(), &self.lines))
    }

    /// Reads one of the functions.
    pub(crate) fn read_function(&self, function: usize) -> Option<SourceFunction> {
        self.written().read_shared(&self.text, function)
    }

    /// The function around a line. The last ones are kept: names are asked for one by one, in each
    /// frame of a stack.
    pub(crate) fn function_read(&self, line: u32) -> Option<Arc<SourceFunction>> {
        let index = self.written().around(line)?;
        let mut last = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.iter().position(|(read, _)| *read == index);
        let newest = match known {
            Some(place) => last.remove(place),
            None => (index, Arc::new(self.read_function(index)?)),
        };
        last.truncate(MOST_READ - 1);
        last.insert(0, newest);
        Some(Arc::clone(&last[0].1))
    }

    /// Whether two lines are in one function.
    pub(crate) fn are_of_one_function(&self, line: u32, other: u32) -> bool {
        let written = self.written();
        written.around(line).is_some_and(|it| written.around(other) == Some(it))
    }

    /// Of Python, what becomes of the value of the expression that begins at a position, and ends
    /// at another if that is known: see [`PythonText::becomes`].
    pub(crate) fn becomes(
        &self,
        (line, column): (u32, u32),
        end: Option<(u32, u32)>,
        is_call: bool,
    ) -> Option<Becomes> {
        let offset =
            |line, column: u32| Some(self.lines.start(line)? + (column as usize).checked_sub(1)?);
        let end = match end {
            Some((line, column)) => Some(offset(line, column)?),
            None => None,
        };
        self.python.as_ref()?.becomes(&self.text, (offset(line, column)?, end), is_call)
    }

    /// Of Python, whether the function around a line has a name.
    #[must_use]
    pub fn binds(&self, line: u32, name: &str) -> bool {
        self.python.as_ref().is_some_and(|it| it.binds(line, name))
    }

    /// Of Python, the variables that have one value where control comes to a line.
    pub(crate) fn variables(&self, line: u32) -> Vec<&str> {
        self.python.as_ref().map_or_else(Vec::new, |it| it.variables(line))
    }

    /// The tensor that a name stands for at an operation, as the source writes it.
    pub(crate) fn written_tensor(&self, place: LineColumn, name: &str) -> Option<WrittenTensor> {
        let function = self.function_read(place.0)?;
        let resources =
            self.resources.get_or_init(|| Resources::of(&self.text, self.kept_in.clone()));
        folding::written(&self.text, resources, &function, place, name)
    }

    /// The names in the function around a line of what follows from its constants, each with its
    /// place and its type.
    pub(crate) fn folded_constants(&self, line: u32) -> Vec<(String, LineColumn, String)> {
        let Some(function) = self.function_read(line) else { return Vec::new() };
        let resources =
            self.resources.get_or_init(|| Resources::of(&self.text, self.kept_in.clone()));
        folding::folded_constants(&self.text, resources, &function)
    }

    /// The bytes of a constant that is left out of other texts, by its name there.
    #[must_use]
    pub fn elided(&self, name: &str) -> Option<Vec<u8>> {
        let elided = self.elided.get_or_init(|| Elided::of(&self.text));
        constants::bytes_of_digits(elided.get(&self.text, name)?)
    }

    /// The constant that has a name in texts which leave it out, if there is one such.
    pub(crate) fn constant_named(&self, elided: &str) -> Option<&NamedConstant> {
        let read = || {
            let resources =
                self.resources.get_or_init(|| Resources::of(&self.text, self.kept_in.clone()));
            let functions = (0..self.written().len()).filter_map(|it| self.read_function(it));
            constants::named(&self.text, resources, functions)
        };
        self.constants.get_or_init(read).get(elided)?.as_ref()
    }

    /// The parameter that a global is: what the compiler calls it, if it calls no other so.
    pub(crate) fn parameter(&self, symbol: &str) -> Option<String> {
        let named = |symbol: &str| constants::parameter(self.global(symbol)?);
        let name = named(symbol)?;
        let mut others = self.written().globals().filter(|it| *it != symbol);
        let is_only = others.all(|it| named(it).as_ref() != Some(&name));
        is_only.then_some(name)
    }

    /// The text of a global's definition.
    pub(crate) fn global(&self, name: &str) -> Option<&str> {
        self.written().global(&self.text, name)
    }

    /// The role of a line; `None` outside of functions.
    pub(crate) fn place(&self, line: u32) -> Option<LinePlace> {
        match &self.python {
            Some(python) => python.place(line),
            None => self.structure().place(&self.text, line),
        }
    }

    /// If a line continues an operation: the line on which that operation begins.
    pub(crate) fn continues(&self, line: u32) -> Option<u32> {
        match &self.python {
            Some(python) => python.place(line)?.continues,
            None => self.structure().continues(&self.text, line),
        }
    }

    /// The line and column of the only return of the function whose operation is on a line; `None`
    /// if it has several.
    pub(crate) fn only_return(&self, line: u32) -> Option<(u32, u32)> {
        self.structure().only_return(&self.text, line)
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A line, from one, without its end; only the beginning of a very long one.
    #[must_use]
    pub fn line(&self, line: u32) -> Option<&str> {
        let start = self.lines.start(line)?;
        let end = self.lines.start(line.checked_add(1)?).unwrap_or(self.text.len());
        let shown = self.text.floor_char_boundary(end.min(start.saturating_add(LONGEST_LINE)));
        self.text.get(start..shown).map(|line| line.trim_end_matches(['\n', '\r']))
    }

    /// The part of the line before a position, and the whole text from it on. Of an operation that
    /// says that it is at its bracket, as `stablehlo.reduce(…)` does, it is the position of the
    /// name.
    fn split(&self, line: u32, column: u32) -> Option<(&str, &str)> {
        let start = self.lines.start(line)?;
        let mut at = start.checked_add((column as usize).checked_sub(1)?)?;
        let within_line = at - start <= self.line(line)?.len();
        within_line.then_some(())?;
        if self.text.get(at..)?.starts_with('(') {
            let before = self.text.get(start..at)?;
            let is_of_name = |it: char| it.is_ascii_alphanumeric() || "._$".contains(it);
            let name = before.len() - before.trim_end_matches(is_of_name).len();
            at -= name;
        }
        Some((self.text.get(start..at)?, self.text.get(at..)?))
    }

    /// The SSA name that is written at a position, with its `%`.
    #[must_use]
    pub fn name_at(&self, line: u32, column: u32) -> Option<&str> {
        let (_, rest) = self.split(line, column)?;
        let length = 1 + name_length(rest.strip_prefix('%')?);
        (length > 1).then(|| &rest[..length])
    }

    /// The name of the operation that is written at a position: `arith.addi`.
    #[must_use]
    pub fn operation_at(&self, line: u32, column: u32) -> Option<&str> {
        if self.is_python() {
            return None;
        }
        let (_, rest) = self.split(line, column)?;
        let rest = rest.strip_prefix('"').unwrap_or(rest);
        let length = rest.find(|character: char| {
            !(character.is_ascii_alphanumeric() || "._$".contains(character))
        });
        Some(&rest[..length.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
    }

    /// The columns of the operation whose name is at a position: from its results to the end of it,
    /// or of the line.
    #[must_use]
    pub fn operation_extent(&self, line: u32, column: u32) -> Option<Range<u32>> {
        if self.is_python() {
            return None;
        }
        operation_extent(self.line(line)?, column)
    }

    /// The names of the results of the operation at a position, from the left of it: `%a`, or
    /// `%r#0` and `%r#1` for `%r:2`.
    #[must_use]
    pub fn result_names(&self, line: u32, column: u32) -> Vec<String> {
        self.split(line, column).and_then(|(before, _)| names_before(before)).unwrap_or_default()
    }

    /// The names of the arguments of the function whose operation is written at a position.
    #[must_use]
    pub fn argument_names(&self, line: u32, column: u32) -> Vec<String> {
        let Some((_, rest)) = self.split(line, column) else { return Vec::new() };
        if !self.operation_at(line, column).is_some_and(is_function_operation) {
            return Vec::new();
        }
        argument_list(rest).map(names_in).unwrap_or_default()
    }

    /// The names of the arguments of the only function with a name.
    #[must_use]
    pub fn arguments_of(&self, function: &str) -> Option<Vec<String>> {
        let functions = self.functions.get_or_init(|| self.find_functions());
        let mut named = functions.iter().filter(|(_, name)| name == function);
        let (line, _) = named.next()?;
        let start = self.lines.start(*line)?;
        if named.next().is_some() {
            return None;
        }
        argument_list(self.text.get(start..)?).map(names_in)
    }

    /// The function around a line: the last function operation at or before it; of Python, its
    /// qualified name.
    #[must_use]
    pub fn function_around(&self, line: u32) -> Option<&str> {
        if let Some(python) = &self.python {
            return Some(python.function_around(line));
        }
        let functions = self.functions.get_or_init(|| self.find_functions());
        let after = functions.partition_point(|(start, _)| *start <= line);
        functions.get(after.checked_sub(1)?).map(|(_, name)| name.as_str())
    }

    /// The lines of the function around a line, from its operation to its closing brace, which is
    /// found by its indentation.
    #[must_use]
    pub fn function_extent(&self, line: u32) -> Option<RangeInclusive<u32>> {
        if let Some(python) = &self.python {
            return Some(python.function_extent(line));
        }
        let functions = self.functions.get_or_init(|| self.find_functions());
        let after = functions.partition_point(|(start, _)| *start <= line);
        let (start, _) = functions.get(after.checked_sub(1)?)?;
        let last = *self.last_lines.get_or_init(|| self.find_last_lines()).get(after - 1)?;
        (line <= last).then_some(*start..=last)
    }

    /// The last line of each function.
    fn find_last_lines(&self) -> Vec<u32> {
        let functions = self.functions.get_or_init(|| self.find_functions());
        let end = self.lines.count().saturating_add(1);
        let ends = functions.iter().skip(1).map(|(next, _)| *next).chain([end]);
        let indentation = |line: &str| line.len() - line.trim_start().len();
        let last = |((start, _), end): (&(u32, String), u32)| {
            let own = indentation(self.line(*start).unwrap_or_default());
            let closes = |line: &u32| {
                let text = self.line(*line).unwrap_or_default();
                text.trim_start().starts_with('}') && indentation(text) <= own
            };
            (start + 1..end).find(closes).unwrap_or(end - 1)
        };
        functions.iter().zip(ends).map(last).collect()
    }

    /// Whether an operation that defines or declares a function is written at a position.
    #[must_use]
    pub fn is_function(&self, line: u32, column: u32) -> bool {
        self.operation_at(line, column).is_some_and(is_function_operation)
    }

    fn find_functions(&self) -> Vec<(u32, String)> {
        let mut functions = Vec::new();
        for at in memchr::memmem::find_iter(self.text.as_bytes(), b"func") {
            let line = self.lines.line(at);
            // `func.func` is one function.
            if functions.last().is_some_and(|(last, _)| *last == line) {
                continue;
            }
            let start = self.lines.start(line).unwrap_or(at);
            let is_first_on_line = self.text[start..at]
                .trim_start()
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "._$".contains(character));
            if is_first_on_line && let Some(name) = function_name(&self.text[at..]) {
                functions.push((line, name));
            }
        }
        functions
    }
}

fn is_function_operation(name: &str) -> bool {
    name == "func" || name.ends_with(".func") || name.ends_with(".initializer")
}

fn name_length(text: &str) -> usize {
    text.find(|character: char| !(character.is_ascii_alphanumeric() || "_.$-".contains(character)))
        .unwrap_or(text.len())
}

/// `func[.func] [public|private] @name` from `func` on.
fn function_name(text: &str) -> Option<String> {
    let line = text.lines().next()?;
    let (head, symbol) = line.split_once('@')?;
    let is_head = head.split_whitespace().all(|word| {
        word.chars().all(|character| character.is_ascii_alphanumeric() || "._$".contains(character))
    });
    if !is_head || !head.ends_with(' ') {
        return None;
    }
    let name = match symbol.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => &symbol[..name_length(symbol)],
    };
    (!name.is_empty()).then(|| name.to_owned())
}

/// The names in `    %a, %b:2 = `.
fn names_before(before: &str) -> Option<Vec<String>> {
    let list = before.trim_end().strip_suffix('=')?.trim_end();
    let mut names = Vec::new();
    for part in list.split(',') {
        // Text before the first name is the end of another operation on the same line.
        let part = part.trim();
        let name = &part[part.rfind('%')?..];
        match name.split_once(':') {
            None => names.push(name.to_owned()),
            Some((name, count)) => {
                let count: u32 = count.trim().parse().ok().filter(|count| *count <= 1024)?;
                names.extend((0..count).map(|index| format!("{name}#{index}")));
            }
        }
    }
    names
        .iter()
        .all(|name| name.len() > 1 && name_length(&name[1..].replace('#', "_")) == name.len() - 1)
        .then_some(names)
}

/// The text between the parentheses of a function's signature.
fn argument_list(text: &str) -> Option<&str> {
    const LONGEST: usize = 1 << 16;
    let symbol = text.find('@')?;
    let after_symbol = &text[symbol + 1..];
    let open = match after_symbol.strip_prefix('"') {
        Some(quoted) => symbol + 2 + quoted.find('"')? + 1,
        None => symbol + 1 + name_length(after_symbol),
    };
    let list = text.get(open..)?.strip_prefix('(')?;
    let mut depth = 0_usize;
    for (at, byte) in list.bytes().enumerate().take(LONGEST) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => return list.get(..at),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The SSA names in an argument list: those followed by a colon.
fn names_in(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = list;
    while let Some(at) = rest.find('%') {
        rest = &rest[at..];
        let length = 1 + name_length(&rest[1..]);
        if length > 1 && rest[length..].trim_start().starts_with(':') {
            names.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> SourceText {
        SourceText::new(
            "module {\n  func.func private @helper(%x: i32) -> i32 {\n    %two = arith.constant 2 : i32\n    return %two : i32\n  }\n\
             \n  util.func public @\"a b\"(%n: tensor<4x?xf32> {iree.abi.output = 0 : index},\n      %m: i64) -> i32 {\n    \
             %r:2, %s = test.op(%n) : i32 loc(\"x\")\n"
                .to_owned(),
        )
    }

    #[test]
    fn lines_without_their_ends() {
        let long = format!("a\r\n{}\u{e9}\n\nc", "x".repeat(LONGEST_LINE - 1));
        let text = SourceText::new(long);
        let lines: Vec<_> = (0..6).map(|line| text.line(line).map(str::len)).collect();
        assert_eq!(lines, [None, Some(1), Some(LONGEST_LINE - 1), Some(0), Some(1), None]);
    }

    #[test]
    fn names_on_the_left() {
        let source = source();
        assert_eq!(source.result_names(3, 12), ["%two"]);
        assert_eq!(source.operation_at(3, 12), Some("arith.constant"));
        assert_eq!(source.result_names(9, 16), ["%r#0", "%r#1", "%s"]);
        assert_eq!(source.result_names(4, 5), [""; 0]);
        assert_eq!(source.name_at(2, 29), Some("%x"));
        for (line, column) in [(0, 0), (3, 0), (3, 4000), (4000, 1)] {
            assert_eq!(source.result_names(line, column), [""; 0]);
            assert_eq!(source.name_at(line, column), None);
        }
    }

    #[test]
    fn functions_and_their_arguments() {
        let source = source();
        assert_eq!(source.argument_names(2, 3), ["%x"]);
        assert_eq!(source.argument_names(7, 3), ["%n", "%m"]);
        assert_eq!(source.argument_names(3, 12), [""; 0]);
        let of = |name: &str| source.arguments_of(name).map(|names| names.join(" "));
        assert_eq!(of("a b").as_deref(), Some("%n %m"));
        assert_eq!(of("helper").as_deref(), Some("%x"));
        assert_eq!(of("b"), None);
        let around: Vec<_> =
            [1, 2, 5, 7, 9].into_iter().map(|line| source.function_around(line)).collect();
        assert_eq!(around, [None, Some("helper"), Some("helper"), Some("a b"), Some("a b")]);
        let extents = [1, 2, 4, 5, 6, 7, 9].map(|line| source.function_extent(line));
        let [helper, rest] = [Some(2..=5), Some(7..=10)];
        let expected = [&None, &helper, &helper, &helper, &None, &rest, &rest];
        assert_eq!(extents.each_ref(), expected);
        let defines = |(line, column)| source.is_function(line, column);
        let places = [(2, 3), (7, 3), (2, 1), (3, 12), (9, 16), (0, 0), (40, 1)];
        assert_eq!(places.map(defines), [true, true, false, false, false, false, false]);
    }
}
