//! Reading what iree-compile prints of dispatches: operations line by line, their results, names
//! and locations. What is no such text is passed over.

use std::collections::HashMap;

use crate::companion::cursor::Cursor;
use crate::companion::location::Locations;
use crate::frames;
use crate::location::{LocationTable, SourcePosition};

/// A place in the user's source.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct WrittenAt {
    /// The file, as the compiler knew it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// Where an operation was written: its own place, then the calls that were inlined around it.
pub type WrittenPath = Vec<WrittenAt>;

/// An operation as it is printed.
pub(crate) struct Statement<'t> {
    /// The text, without locations.
    pub(crate) text: String,
    /// The location behind it, as text.
    location: &'t str,
}

/// The operations of a text, one a line whatever the compiler broke.
pub(crate) fn statements(text: &str) -> impl Iterator<Item = Statement<'_>> {
    let mut lines = text.lines().map(str::trim).peekable();
    std::iter::from_fn(move || {
        let (mut text, mut location) = split_location(lines.next()?);
        // Only definitions are broken, after their operation or between its operands.
        while definition(&text).is_some()
            && let Some(more) = lines.next_if(|line| {
                definition(line).is_none() && (line.starts_with('%') || line.starts_with(": "))
            })
        {
            let (rest, behind) = split_location(more);
            text.push(' ');
            text.push_str(&rest);
            location = behind;
        }
        Some(Statement { text, location })
    })
}

/// A line without its locations, and the one that ends it.
fn split_location(line: &str) -> (String, &str) {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    let mut last = "";
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), b" loc(") {
        text.push_str(&rest[..at]);
        let location = &rest[at + 1..];
        let mut cursor = Cursor::new(&location.as_bytes()["loc".len()..]);
        let length = match cursor.skip_group() {
            Ok(()) => "loc".len() + cursor.at(),
            Err(_) => location.len(),
        };
        last = &location[..length];
        rest = &location[length..];
    }
    text.push_str(rest);
    // What comes behind a location was about an argument of a block.
    let last = if rest.trim().is_empty() { last } else { "" };
    (text, last)
}

/// The locations of a text.
pub(crate) struct Places<'t> {
    aliases: HashMap<&'t str, &'t str>,
    known: HashMap<&'t str, Vec<WrittenPath>>,
}

impl<'t> Places<'t> {
    /// Reads the aliases of a text (`#loc7 = loc(…)`), which may come behind their use.
    pub(crate) fn of(text: &'t str) -> Self {
        let aliases = text.lines().filter_map(|line| {
            let (name, location) = line.trim().strip_prefix('#')?.split_once(" = ")?;
            location.starts_with("loc(").then_some((name, location))
        });
        Self { aliases: aliases.collect(), known: HashMap::new() }
    }

    /// Where a statement was written; several where operations were fused.
    pub(crate) fn paths(&mut self, statement: &Statement<'t>) -> Vec<WrittenPath> {
        if statement.location.is_empty() {
            return Vec::new();
        }
        if let Some(known) = self.known.get(statement.location) {
            return known.clone();
        }
        let paths = self.read(statement.location);
        self.known.insert(statement.location, paths.clone());
        paths
    }

    fn read(&self, location: &str) -> Vec<WrittenPath> {
        let text = self.without_aliases(location, 0);
        let mut locations = Locations::default();
        let Ok(id) = locations.optional(&mut Cursor::new(text.as_bytes())) else {
            return Vec::new();
        };
        let table = locations.builder.finish();
        let paths = frames::alternative_chains(&table, id).into_iter();
        paths.map(|chain| written(&table, &chain)).filter(|path| !path.is_empty()).collect()
    }

    /// Puts in what aliases stand for.
    fn without_aliases(&self, location: &str, depth: usize) -> String {
        const DEEPEST: usize = 64;
        const LONGEST: usize = 1 << 20;
        let mut text = String::new();
        let mut rest = location;
        while let Some(at) = rest.find('#').filter(|_| depth < DEEPEST && text.len() < LONGEST) {
            // A file may have the sign in its name.
            let is_quoted = rest[..at].matches('"').count() % 2 == 1;
            let name_end = rest[at + 1..]
                .find(|it: char| !it.is_ascii_alphanumeric())
                .map_or(rest.len(), |length| at + 1 + length);
            text.push_str(&rest[..at]);
            match self.aliases.get(&rest[at + 1..name_end]).filter(|_| !is_quoted) {
                Some(meant) => {
                    let meant = meant.strip_prefix("loc(").and_then(|it| it.strip_suffix(')'));
                    text += &self.without_aliases(meant.unwrap_or("unknown"), depth + 1);
                }
                None => text.push_str(&rest[at..name_end]),
            }
            rest = &rest[name_end..];
        }
        text + rest
    }
}

/// Positions by the names of their files; none where nobody wrote what they are of.
fn written(table: &LocationTable, chain: &[SourcePosition]) -> WrittenPath {
    if !chain.first().is_some_and(SourcePosition::is_written) {
        return Vec::new();
    }
    let path = chain.iter().map(|at| WrittenAt {
        file: table.file(at.file).to_owned(),
        line: at.line,
        column: at.column,
    });
    path.collect()
}

/// Splits `%4:2 = operation rest` into the names of its results, the operation and the rest.
pub(crate) fn definition(statement: &str) -> Option<(Vec<String>, &str, &str)> {
    let (result, rest) = statement.strip_prefix('%')?.split_once(" = ")?;
    let (name, count) = match result.split_once(':') {
        Some((name, count)) => (name, Some(count.parse::<usize>().ok()?)),
        None => (result, None),
    };
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let names = match count {
        // As many as somebody writes; what is read next says how many there are.
        Some(count) => (0..count.min(rest.len())).map(|index| format!("{name}#{index}")).collect(),
        None => vec![name.to_owned()],
    };
    let end = rest.find([' ', '[', '(']).unwrap_or(rest.len());
    let (operation, rest) = rest.split_at(end);
    let rest = rest.strip_prefix([' ', '[']).unwrap_or(rest);
    Some((names, operation, rest))
}

pub(crate) fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '.' | '-')
}

/// The first symbol of a text, quoted or not, without its sigil, and what comes behind it.
pub(crate) fn symbol(text: &str) -> Option<(String, &str)> {
    let mut cursor = Cursor::new(text.as_bytes());
    cursor.jump(text.find('@')?);
    let name = cursor.symbol().ok()?.into_owned();
    Some((name, text.get(cursor.at()..)?))
}

/// The values that a text names: `4#1` for `%4#1`.
pub(crate) fn operands(text: &str) -> impl Iterator<Item = String> {
    text.split('%').skip(1).map(|rest| {
        let end = rest.find(|character| !is_name(character) && character != '#');
        rest[..end.unwrap_or(rest.len())].to_owned()
    })
}

/// The operations of one dispatch.
#[derive(Clone, Debug, Default)]
pub(crate) struct DispatchBody {
    operations: Vec<BodyOperation>,
    /// The results of operations that wait for their closing brace.
    open: Vec<Vec<String>>,
    /// The values that the dispatch leaves.
    stored: Vec<String>,
}

/// An operation of a dispatch.
#[derive(Clone, Debug)]
pub(crate) struct BodyOperation {
    results: Vec<String>,
    /// Where it was written.
    pub(crate) paths: Vec<WrittenPath>,
    /// Whether any dispatch may have it for itself, as a tensor of zeros.
    is_cheap: bool,
}

impl DispatchBody {
    /// Takes the next statement of the dispatch.
    pub(crate) fn add<'t>(&mut self, statement: &Statement<'t>, places: &mut Places<'t>) {
        let text = statement.text.trim_end();
        let defined = definition(text);
        let operation = match &defined {
            Some((_, operation, _)) => operation,
            None => text.split([' ', '(', '[']).next().unwrap_or(text),
        };
        if operation.ends_with("dispatch.tensor.store") {
            self.stored.extend(operands(text).next());
        }
        let is_closing = text.starts_with('}');
        let mut results = defined.as_ref().map(|(names, ..)| names.clone()).unwrap_or_default();
        if is_closing {
            results = self.open.pop().unwrap_or_default();
        }
        if text.ends_with('{') {
            // Its location is behind the brace that closes it; `} else {` goes on.
            self.open.push(results);
            return;
        }
        // Arguments of blocks have locations of their own, in brackets.
        if text.starts_with('^') || (!is_closing && is_plumbing(operation)) {
            return;
        }
        let paths = places.paths(statement);
        if !paths.is_empty() {
            let is_cheap = !is_closing && is_cheap(operation);
            self.operations.push(BodyOperation { results, paths, is_cheap });
        }
    }

    /// All operations that were written somewhere, in the order of the text.
    pub(crate) fn operations(&self) -> &[BodyOperation] {
        &self.operations
    }

    /// Whether an operation is the dispatch's own work, and not something that it has for itself
    /// because that is cheaper than to get it from elsewhere.
    pub(crate) fn is_work(&self, operation: &BodyOperation) -> bool {
        !operation.is_cheap || self.is_stored(operation)
    }

    /// The operation whose result the dispatch leaves; the last one, if that is not known.
    pub(crate) fn result(&self) -> Option<&BodyOperation> {
        let stored = self.operations.iter().rev().find(|it| self.is_stored(it));
        stored.or_else(|| self.operations.iter().rev().find(|it| self.is_work(it)))
    }

    fn is_stored(&self, operation: &BodyOperation) -> bool {
        operation.results.iter().any(|result| {
            let is_it = |stored: &String| {
                stored == result || stored.split_once('#').is_some_and(|(name, _)| name == result)
            };
            self.stored.iter().any(is_it)
        })
    }
}

/// Whether an operation connects what a dispatch computes with what it was given.
fn is_plumbing(operation: &str) -> bool {
    const PREFIXES: [&str; 9] = [
        "hal.",
        "util.",
        "flow.",
        "iree_tensor_ext.",
        "arith.index_cast",
        "arith.constant",
        "arith.extui",
        "return",
        "func.",
    ];
    PREFIXES.iter().any(|prefix| operation.starts_with(prefix))
}

/// Whether dispatches make something anew that others use, too: nothing that anybody would call
/// work.
fn is_cheap(operation: &str) -> bool {
    const CHEAP: [&str; 4] =
        ["linalg.fill", "tensor.empty", "tensor.splat", "bufferization.alloc_tensor"];
    CHEAP.contains(&operation)
}
