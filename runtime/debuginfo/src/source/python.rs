//! The statements and functions of a Python file, from its lines: frameworks write a model's
//! locations as lines of the Python that made it.
//!
//! Only the layout is read: which lines are one statement (brackets, strings, backslashes), which
//! block it is in (indentation), and where functions begin. That is what Python's tokenizer knows,
//! and it is all that breakpoints and frames need. What expressions mean is not read. A parser
//! would be a C library, or forty crates.

use std::ops::{Range, RangeInclusive};

use super::structure::LinePlace;

/// The most statements after a line that are considered.
const MOST: usize = 4096;
/// Columns to which a tab leads, as Python has it.
const TAB: usize = 8;

/// A file of Python.
#[derive(Debug, Default)]
pub(crate) struct PythonText {
    statements: Vec<Statement>,
    /// By their first lines.
    functions: Vec<Function>,
}

/// What becomes of the value of an expression that is all of a statement's right side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Becomes {
    /// A variable has it: `h = x @ w`.
    Variable(String),
    /// The function returns it: `return x @ w`.
    Result,
}

#[derive(Debug)]
struct Statement {
    first: u32,
    last: u32,
    /// Where it is in the text, from the beginning of its first line.
    bytes: Range<usize>,
    indentation: usize,
    /// By index; `None` for the module's own.
    function: Option<usize>,
    names: Names,
}

#[derive(Debug)]
struct Function {
    /// With its class, without a function around it: `Attention.__call__`, `dist`.
    name: String,
    first: u32,
    last: u32,
}

/// What a statement does to names. More names count as bound than are: what may be bound elsewhere
/// is not known.
#[derive(Debug, Default)]
struct Names {
    bound: Vec<String>,
    /// The one name that it gives a value, if that is all it does.
    assigned: Option<String>,
    /// Whether it says that names are those of a function around.
    are_shared: bool,
    is_loop: bool,
}

/// A function or class that is open where a line stands.
struct Scope {
    indentation: usize,
    name: String,
    /// Its index, if it is a function.
    function: Option<usize>,
}

/// What is open at the end of a line.
#[derive(Default)]
struct Open {
    brackets: usize,
    /// The quotes that end the string.
    string: Option<&'static str>,
    is_continued: bool,
}

impl PythonText {
    pub(crate) fn read(text: &str) -> Self {
        let mut read = Self::default();
        let (mut open, mut scopes) = (Open::default(), Vec::<Scope>::new());
        let mut at = 0;
        for (number, whole) in (1..).zip(text.split_inclusive('\n')) {
            let line = whole.trim_end_matches(['\n', '\r']);
            let bytes = at..at + line.len();
            at += whole.len();
            let begins = open.brackets == 0 && open.string.is_none() && !open.is_continued;
            let code = line.trim_start();
            if begins && !code.is_empty() && !code.starts_with('#') {
                let indentation = indentation(line);
                while scopes.last().is_some_and(|scope| scope.indentation >= indentation) {
                    scopes.pop();
                }
                if let Some((name, is_function)) = definition(code) {
                    let name = qualified(&scopes, name);
                    let function = is_function.then_some(read.functions.len());
                    if is_function {
                        let function = Function { name: name.clone(), first: number, last: number };
                        read.functions.push(function);
                    }
                    scopes.push(Scope { indentation, name, function });
                }
                let function = scopes.iter().rev().find_map(|scope| scope.function);
                let (first, last, names) = (number, number, Names::default());
                let bytes = bytes.clone();
                let statement = Statement { first, last, bytes, indentation, function, names };
                read.statements.push(statement);
            }
            open.scan(line);
            if let Some(statement) = read.statements.last_mut().filter(|_| !begins) {
                statement.last = number;
                statement.bytes.end = bytes.end;
            }
            let last = read.statements.last().map_or(0, |it| it.last);
            for scope in &scopes {
                if let Some(function) = scope.function {
                    read.functions[function].last = last;
                }
            }
        }
        for statement in &mut read.statements {
            statement.names = Names::of(text.get(statement.bytes.clone()).unwrap_or_default());
        }
        read
    }

    /// The statement of a line, or else the next one, by its index.
    fn index_at(&self, line: u32) -> usize {
        self.statements.partition_point(|it| it.last < line)
    }

    /// The variables of the function around a line that have their only value where control comes
    /// to that line: what they are was assigned before it, once, and not in a loop.
    pub(crate) fn variables(&self, line: u32) -> Vec<&str> {
        let at = self.index_at(line);
        let Some(here) = self.statements.get(at) else { return Vec::new() };
        let own = || self.statements.iter().filter(|it| it.function == here.function);
        let is_shared = |name: &str| {
            let mut others = self.statements.iter().filter(|it| it.names.are_shared);
            others.any(|it| it.names.bound.iter().any(|it| it == name))
        };
        let assigned = (0..at).filter(|index| self.statements[*index].function == here.function);
        let assigned = assigned.filter_map(|index| {
            let name = self.statements[index].names.assigned.as_deref()?;
            let mut all = own().flat_map(|it| &it.names.bound).filter(|it| *it == name);
            let is_only = all.next().is_some() && all.next().is_none();
            (is_only && !is_shared(name) && !self.is_repeated(index)).then_some(name)
        });
        assigned.collect()
    }

    /// Whether the function around a line has a name, whatever it is there.
    pub(crate) fn binds(&self, line: u32, name: &str) -> bool {
        let at = self.index_at(line);
        let Some(here) = self.statements.get(at) else { return false };
        let mut own = self.statements.iter().filter(|it| it.function == here.function);
        own.any(|it| it.names.bound.iter().any(|it| it == name))
    }

    /// Whether a statement is in a loop of its function.
    fn is_repeated(&self, index: usize) -> bool {
        let Some(statement) = self.statements.get(index) else { return true };
        let mut indentation = statement.indentation;
        for around in self.statements[..index].iter().rev() {
            if around.function != statement.function {
                // A function inside this one; or what is before it.
                if around.indentation < indentation {
                    return false;
                }
            } else if around.indentation < indentation {
                indentation = around.indentation;
                if around.names.is_loop {
                    return true;
                }
            }
        }
        false
    }

    /// What becomes of the value of the expression that begins at an offset in the text. Where it
    /// ends tells it from a part of it, as `f(x)` of `f(x).T`. Where that is not known, `is_call`
    /// says that it is a call: then it is no part of a larger one, such as `f(x) + 1`. A tuple is
    /// none of its parts. Nor is anything known of `x.sum(keepdims=True)`: the compiler drops the
    /// operation that puts the dimension of one element back, so what it has at that place is of
    /// another shape.
    pub(crate) fn becomes(
        &self,
        text: &str,
        (at, end): (usize, Option<usize>),
        is_call: bool,
    ) -> Option<Becomes> {
        let index = self.statements.partition_point(|it| it.bytes.end <= at);
        let statement = self.statements.get(index).filter(|it| it.bytes.start <= at)?;
        let written = text.get(statement.bytes.clone())?;
        let begins = at - statement.bytes.start;
        let mut before = written.get(..begins)?.trim_end();
        let value = Value::read(written.get(begins..)?);
        for _ in 0..value.closed {
            before = before.strip_suffix('(')?.trim_end();
        }
        let is_whole = match end {
            Some(end) => begins + value.length == end.checked_sub(statement.bytes.start)?,
            None => !is_call || value.is_call,
        };
        if value.is_tuple || value.is_part || !is_whole {
            return None;
        }
        if written.contains("keepdims") {
            return None;
        }
        let before = before.trim_start();
        if before == "return" {
            return Some(Becomes::Result);
        }
        let name = target(before.strip_suffix('=')?)?;
        Some(Becomes::Variable(name.to_owned()))
    }

    /// The innermost function around a line.
    fn innermost(&self, line: u32) -> Option<&Function> {
        let after = self.functions.partition_point(|it| it.first <= line);
        self.functions[..after].iter().rev().find(|it| line <= it.last)
    }

    /// The name of the function around a line, as Python says it; that of a file's own code is
    /// `<module>`.
    pub(crate) fn function_around(&self, line: u32) -> &str {
        self.innermost(line).map_or("<module>", |it| &it.name)
    }

    /// The lines of the function around a line; of a file's own code, all of them.
    pub(crate) fn function_extent(&self, line: u32) -> RangeInclusive<u32> {
        let all = 1..=self.statements.last().map_or(1, |it| it.last);
        self.innermost(line).map_or(all, |it| it.first..=it.last)
    }

    /// The role of a line; `None` after the last statement of its function.
    pub(crate) fn place(&self, line: u32) -> Option<LinePlace> {
        let at = self.index_at(line);
        let statement = self.statements.get(at)?;
        let is_in = statement.first <= line;
        let continues = Some(statement.first).filter(|first| is_in && *first != line);
        let rest = &self.statements[at + 1..];
        let is_own = |it: &&Statement| it.function == statement.function;
        // The body of a compound statement comes first.
        let deeper = rest.first().filter(|it| it.indentation > statement.indentation);
        let body = deeper.into_iter().flat_map(|first| {
            let inside = rest.iter().take_while(|it| it.indentation >= first.indentation);
            inside.filter(|it| it.indentation == first.indentation)
        });
        let block = rest.iter().take_while(|it| it.indentation >= statement.indentation);
        let block = block.filter(|it| it.indentation == statement.indentation);
        let own = (!is_in).then_some(statement);
        let following = own.into_iter().chain(body).chain(block).filter(is_own);
        let following = following.take(MOST).map(|it| it.first).collect();
        Some(LinePlace { continues, following })
    }
}

impl Names {
    fn of(statement: &str) -> Self {
        let words: Vec<&str> = words(statement).collect();
        let keyword = words.iter().find(|it| **it != "async").copied().unwrap_or_default();
        let of = |text: &str| self::words(text).map(str::to_owned).collect::<Vec<_>>();
        let are_shared = matches!(keyword, "global" | "nonlocal");
        let binds_all = matches!(
            keyword,
            "for" | "with" | "import" | "from" | "def" | "del" | "except" | "case" | "match"
        );
        let is_loop = matches!(keyword, "for" | "while");
        let equals = assignments(statement);
        let mut bound = match equals.last() {
            _ if binds_all || are_shared => of(statement),
            Some(last) => of(&statement[..*last]),
            None => Vec::new(),
        };
        // `name := value` inside of an expression.
        for (at, _) in statement.match_indices(":=") {
            bound.extend(self::words(&statement[..at]).last().map(str::to_owned));
        }
        let assigned = match (equals.as_slice(), binds_all) {
            ([only], false) => target(&statement[..*only]).map(str::to_owned),
            _ => None,
        };
        // An annotation binds nothing.
        if let (Some(name), false) = (&assigned, statement.contains(":=")) {
            bound = vec![name.clone()];
        }
        Self { bound, assigned, are_shared, is_loop }
    }
}

/// The name that an assignment gives a value, from what stands before its `=`; none if it gives it
/// to more, or follows a block's head on its line.
fn target(before: &str) -> Option<&str> {
    let before = before.trim();
    let name = before.split_once(':').map_or(before, |(name, _)| name.trim_end());
    let is_head = matches!(name, "else" | "try" | "finally");
    Some(name).filter(|name| is_name(name) && !is_head)
}

/// The words of a text that may be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !(it.is_alphanumeric() || it == '_')).filter(|it| is_name(it))
}

/// Where a statement has `=`, or an operator with it, outside of brackets and strings.
fn assignments(statement: &str) -> Vec<usize> {
    let (mut open, mut found) = (Open::default(), Vec::new());
    let mut rest = statement;
    while let Some(next) = rest.chars().next() {
        let at = statement.len() - rest.len();
        let is_code = open.string.is_none() && open.brackets == 0;
        let before = statement[..at].chars().next_back();
        let is_compared = after(rest, 1).starts_with('=') || matches!(before, Some('=' | '!'));
        let is_order = matches!(before, Some('<' | '>'))
            && !statement[..at].ends_with("<<")
            && !statement[..at].ends_with(">>");
        if next == '=' && is_code && !is_compared && !is_order && before != Some(':') {
            found.push(at);
        }
        rest = open.step(rest);
    }
    found
}

/// The right side of a statement, as far as its form tells.
struct Value {
    /// Its bytes.
    length: usize,
    /// Whether a comma outside of brackets makes a tuple of it.
    is_tuple: bool,
    /// Whether it is a call of what a name stands for, and nothing else: `self.attention(q, k)`.
    is_call: bool,
    /// How many brackets around it are closed after it.
    closed: usize,
    /// Whether more than a comment follows those.
    is_part: bool,
}

impl Value {
    fn read(text: &str) -> Self {
        let mut open = Open::default();
        let (mut is_tuple, mut closed) = (false, None);
        let mut called = None;
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let is_code = open.string.is_none();
            let was_inside = open.brackets > 0;
            let before = &text[..text.len() - rest.len()];
            match next {
                // A comment, or another statement.
                '#' | ';' | ')' if is_code && !was_inside => break,
                ',' if is_code && !was_inside => is_tuple = true,
                '(' if is_code && !was_inside && called.is_none() => {
                    called = Some(before.split('.').all(|part| is_name(part.trim())));
                }
                _ => {}
            }
            rest = open.step(rest);
            if was_inside && open.brackets == 0 && closed.is_none() {
                closed = Some(text.len() - rest.len());
            }
        }
        let whole = text[..text.len() - rest.len()].trim_end();
        let is_call = called == Some(true) && closed == Some(whole.len());
        let mut closed = 0;
        while let Some(outside) = rest.trim_start().strip_prefix(')') {
            (closed, rest) = (closed + 1, outside);
        }
        let is_part = !matches!(rest.trim_start().chars().next(), None | Some('#' | ';'));
        Self { length: whole.len(), is_tuple, is_call, closed, is_part }
    }
}

fn is_name(text: &str) -> bool {
    let is_first = |it: char| it.is_alphabetic() || it == '_';
    text.starts_with(is_first) && text.chars().all(|it| it.is_alphanumeric() || it == '_')
}

fn indentation(line: &str) -> usize {
    let blank = line.chars().take_while(|it| it.is_whitespace());
    blank.fold(0, |column, it| if it == '\t' { (column / TAB + 1) * TAB } else { column + 1 })
}

/// The name that a line defines, and whether it is that of a function.
fn definition(code: &str) -> Option<(&str, bool)> {
    let of_function =
        || code.strip_prefix("async ").unwrap_or(code).trim_start().strip_prefix("def ");
    let (rest, is_function) = match of_function() {
        Some(rest) => (rest, true),
        None => (code.strip_prefix("class ")?, false),
    };
    let name = rest.trim_start();
    let end = name.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(name.len());
    Some((&name[..end], is_function)).filter(|(name, _)| !name.is_empty())
}

fn qualified(scopes: &[Scope], name: &str) -> String {
    match scopes.last() {
        Some(Scope { name: outer, function: None, .. }) => format!("{outer}.{name}"),
        _ => name.to_owned(),
    }
}

impl Open {
    /// Reads a line.
    fn scan(&mut self, line: &str) {
        self.is_continued = false;
        let mut rest = line;
        while !rest.is_empty() {
            rest = self.step(rest);
        }
        // A string of one line that is not closed goes on only after a backslash.
        if self.string.is_some_and(|quotes| quotes.len() == 1) {
            self.is_continued = line.ends_with('\\');
            self.string = self.string.filter(|_| self.is_continued);
        }
    }

    /// Reads a character, a pair of quotes or a comment; returns the text after it.
    fn step<'t>(&mut self, rest: &'t str) -> &'t str {
        let Some(next) = rest.chars().next() else { return rest };
        if let Some(quotes) = self.string {
            if let Some(outside) = rest.strip_prefix(quotes) {
                self.string = None;
                return outside;
            }
            return after(rest, if next == '\\' { 2 } else { 1 });
        }
        match next {
            '#' => return rest.find('\n').map_or("", |end| &rest[end..]),
            '(' | '[' | '{' => self.brackets += 1,
            ')' | ']' | '}' => self.brackets = self.brackets.saturating_sub(1),
            '\\' if rest.len() == 1 => self.is_continued = true,
            _ => {}
        }
        let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|it| rest.starts_with(it));
        self.string = quotes;
        after(rest, quotes.map_or(1, str::len))
    }
}

/// A text without its first characters.
fn after(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or("", |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
import jax

class Block:
    def __call__(self, x):
        # a comment
        h = (x @ self.w +
             self.b)

        text = '''
def no(): pass
'''
        return h

def model(x):
    def dist(a, b):
        return a - b
    for w in x:
        y = dist(w, \\
                 x)
        z = \"(\"
    return y
last = 1
";

    #[test]
    fn functions_have_the_names_of_their_classes() {
        let python = PythonText::read(TEXT);
        let names = |line| python.function_around(line);
        assert_eq!([names(1), names(3), names(22)], ["<module>"; 3]);
        assert_eq!([names(4), names(7), names(10), names(12)], ["Block.__call__"; 4]);
        assert_eq!([names(14), names(17), names(21)], ["model"; 3]);
        assert_eq!(names(16), "dist");
        assert_eq!(python.function_extent(18), 14..=21);
    }

    #[test]
    fn a_value_becomes_a_variable_or_a_result() {
        let becomes = |text: &str, at: &str, is_call| {
            let at = text.find(at).expect("it is written");
            PythonText::read(text).becomes(text, (at, None), is_call)
        };
        let variable = |name: &str| Some(Becomes::Variable(name.to_owned()));
        assert_eq!(becomes("h = x @ w + b", "x @", false), variable("h"));
        assert_eq!(becomes("h: Array = x @ w", "x @", false), variable("h"));
        assert_eq!(becomes("t = x.sum(axis=1, keepdims=True)", "x.", true), None);
        assert_eq!(becomes("    return x @ w  # it, and b", "x @", false), Some(Becomes::Result));
        assert_eq!(becomes("y = self.block(x, '#)')  # y", "self", true), variable("y"));
        assert_eq!(becomes("y = f(x,\n      w)", "f(", true), variable("y"));
        let text = "h = (  # it\n  f(x)\n)";
        assert_eq!(becomes(text, "f(", true), None, "a comment in between is not read");
        let text = "h = (\n  f(x)\n)  # it";
        assert_eq!(becomes(text, "f(", true), variable("h"));
        let text = "g = x\r\nh = (\r\n  f(x)\r\n)\r\n";
        assert_eq!(becomes(text, "f(", true), variable("h"));
        assert_eq!(becomes("h = (x @ w)", "x @", false), variable("h"));
        // What is only a part of the right side, or of the left.
        assert_eq!(becomes("h = (x @ w).T", "x @", false), None);
        assert_eq!(becomes("h = g(x @ w)", "x @", false), None);
        assert_eq!(becomes("h = (x @ w, b)", "x @", false), None);
        assert_eq!(becomes("h = x @ w, b", "x @", false), None);
        assert_eq!(becomes("h = x @ w + b", "w +", false), None);
        for part in ["y = f(x) + 1", "y = f(x)[0]", "y = f(x)(w)", "y = f(x).T", "y = (f(x)).T"] {
            assert_eq!(becomes(part, "f(", true), None, "{part}");
        }
        for other in ["y += x @ w", "y == x @ w", "y[0] = x @ w", "y, z = x @ w", "a = y = x @ w"] {
            assert_eq!(becomes(other, "x @", false), None, "{other}");
        }
    }

    #[test]
    fn a_part_of_an_expression_is_not_the_variable() {
        let becomes = |text: &str, part: &str| {
            let at = text.find(part).expect("it is written");
            PythonText::read(text).becomes(text, (at, Some(at + part.len())), false)
        };
        let variable = |name: &str| Some(Becomes::Variable(name.to_owned()));
        let text = "q = self.q(x).view(shape).transpose(1, 2)  # heads first";
        assert_eq!(becomes(text, "self.q(x)"), None);
        assert_eq!(becomes(text, "self.q(x).view(shape)"), None);
        assert_eq!(becomes(text, "self.q(x).view(shape).transpose(1, 2)"), variable("q"));
        assert_eq!(becomes("h = (x @ w\n     + b)", "x @ w\n     + b"), variable("h"));
        assert_eq!(becomes("return f(x) + 1", "f(x)"), None);
        assert_eq!(becomes("return f(x) + 1", "f(x) + 1"), Some(Becomes::Result));
    }

    #[test]
    fn variables_have_one_value() {
        let text = "\
def model(x, params, scale=1):
    a = x + 1
    b: int = x[a == 1]
    b += 1
    for w in params:
        c = a @ w
        t = 1
    d = [e @ w for e in a]
    if (f := a) is None: pass
    g = f
    scale = 2
    def inner():
        nonlocal h
        i = 1
    h = a
    k, m = a
    n = o = a
    p = a
";
        let python = PythonText::read(text);
        assert_eq!(python.variables(18), ["a", "d", "g"]);
        assert_eq!(python.variables(9), ["a", "d"]);
        assert_eq!(python.variables(2), Vec::<&str>::new());
        // On the line of a block's head, too, it is assigned.
        let text = "\
a = x @ w
b = x
if c: b = y
else: b = z
d = x
try: d = y
finally: a = y
e = x
";
        assert_eq!(PythonText::read(text).variables(8), Vec::<&str>::new());
        let after_else = text.find("b = z").expect("it is written") + 4;
        assert_eq!(PythonText::read(text).becomes(text, (after_else, None), false), None);
    }

    #[test]
    fn statements_are_lines_that_belong_together() {
        let python = PythonText::read(TEXT);
        let place = |line| python.place(line).unwrap_or_default();
        assert_eq!(place(7), LinePlace { continues: Some(6), following: vec![9, 12] });
        assert_eq!(place(10).continues, Some(9));
        // An empty line stands for the next statement, a loop for its body.
        assert_eq!(place(8).following, [9, 12]);
        assert_eq!(place(17).following, [18, 20, 21]);
        assert_eq!(place(19), LinePlace { continues: Some(18), following: vec![20] });
        assert_eq!(python.place(23), None);
    }
}
