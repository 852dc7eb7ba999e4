//! The source positions of operations in the compiler's texts, with the names of files.

use std::collections::HashMap;

use super::{Cursor, Locations};
use crate::locations::{LocationId, LocationTable, SourcePosition, walk};

/// A position in the user's source.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NamedPosition {
    /// The file, as the compiler named it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// An operation's position, then the calls that were inlined around it, innermost first.
pub type CallChain = Vec<NamedPosition>;

/// The names in the location of an operation.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct LocationNames {
    /// The operation's own: `loc("layer1/add")`, alone or around its position.
    pub operation: Option<String>,
    /// What the functions are called that its positions are in.
    pub functions: Vec<(NamedPosition, String)>,
}

/// The line and the column, from 1, after the last character of a range, if that is known.
pub(crate) type RangeEnd = Option<(u32, u32)>;

/// Reads the locations of a text.
pub(crate) struct LocationReader<'t> {
    aliases: HashMap<&'t str, &'t str>,
    known: HashMap<String, Vec<CallChain>>,
    names: HashMap<String, LocationNames>,
}

impl<'t> LocationReader<'t> {
    /// Reads the aliases of a text (`#loc7 = loc(…)`), which may come after their use.
    pub(crate) fn of(text: &'t str) -> Self {
        let aliases = text.lines().filter_map(|line| {
            let (name, location) = line.trim().strip_prefix('#')?.split_once(" = ")?;
            location.starts_with("loc(").then_some((name, location))
        });
        Self { aliases: aliases.collect(), known: HashMap::new(), names: HashMap::new() }
    }

    /// The call chain of a location, `loc(…)`; several if operations were fused.
    pub(crate) fn paths_of(&mut self, location: &str) -> Vec<CallChain> {
        if let Some(known) = self.known.get(location) {
            return known.clone();
        }
        let paths = self.read(location);
        self.known.insert(location.to_owned(), paths.clone());
        paths
    }

    /// Where the ranges of a location end that begin at the positions of a call chain of it.
    /// `loc("model.py":14:8 to :39)`
    pub(crate) fn ends_of(&self, location: &str, chain: &CallChain) -> Vec<RangeEnd> {
        let text = self.without_aliases(location, 0);
        let mut ranges: HashMap<(&str, u32, u32), RangeEnd> = HashMap::new();
        // After a string, a position has a colon, and a name does not.
        for (at, _) in text.match_indices("\":") {
            let file = text[..at].rsplit('"').next().unwrap_or_default();
            let Some(((line, column), end)) = range(&text[at + 2..]) else { continue };
            let known = ranges.entry((file, line, column)).or_insert(end);
            // Two that begin at one place are not told apart.
            *known = known.filter(|_| *known == end);
        }
        let end_of = |at: &NamedPosition| *ranges.get(&(&*at.file, at.line, at.column))?;
        chain.iter().map(end_of).collect()
    }

    /// The name in a location, `loc("layer1/add")`, and whether it has a position, too.
    pub(crate) fn label(&self, location: &str) -> Option<(String, bool)> {
        let (table, id) = self.table(location)?;
        let label = walk::label(&table, id)?;
        Some((label.to_string(), !walk::call_chain(&table, id).is_empty()))
    }

    /// All names in a location.
    pub(crate) fn names_of(&mut self, location: &str) -> LocationNames {
        if let Some(known) = self.names.get(location) {
            return known.clone();
        }
        let names = self.read_names(location).unwrap_or_default();
        self.names.insert(location.to_owned(), names.clone());
        names
    }

    fn read_names(&self, location: &str) -> Option<LocationNames> {
        let (table, id) = self.table(location)?;
        let operation = walk::label(&table, id).map(str::to_owned);
        let functions = walk::names_of_positions(&table, id).into_iter();
        // Around the only position, a name is the operation's own.
        let functions = functions.filter(|(_, name)| operation.as_deref() != Some(name));
        let functions = functions.map(|(at, name)| (named(&table, at), name.to_owned()));
        Some(LocationNames { functions: functions.collect(), operation })
    }

    fn table(&self, location: &str) -> Option<(LocationTable, LocationId)> {
        let text = self.without_aliases(location, 0);
        let mut locations = Locations::default();
        let id = locations.optional(&mut Cursor::new(text.as_bytes())).ok()?;
        Some((locations.builder.finish(), id))
    }

    fn read(&self, location: &str) -> Vec<CallChain> {
        let Some((table, id)) = self.table(location) else { return Vec::new() };
        let paths = walk::alternative_chains(&table, id).into_iter();
        paths.map(|chain| written(&table, &chain)).filter(|path| !path.is_empty()).collect()
    }

    /// Replaces aliases by the locations that they stand for.
    fn without_aliases(&self, location: &str, depth: usize) -> String {
        const DEEPEST: usize = 64;
        const LONGEST: usize = 1 << 20;
        let mut text = String::new();
        let mut rest = location;
        while let Some(at) = rest.find('#').filter(|_| depth < DEEPEST && text.len() < LONGEST) {
            // The name of a file may contain `#`.
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

/// The beginning of a range after the name of its file, and its end if that is written:
/// `14:8 to :39`, `14:8 to 15:3`, `14:8`.
fn range(text: &str) -> Option<((u32, u32), RangeEnd)> {
    let end = text.find(|it: char| !it.is_ascii_digit() && !": to".contains(it));
    let text = &text[..end.unwrap_or(text.len())];
    let (start, end) = text.split_once(" to ").map_or((text, None), |(it, end)| (it, Some(end)));
    let position = |text: &str, same_line: u32| {
        let (line, column) = text.trim().split_once(':')?;
        let line = if line.is_empty() { same_line } else { line.parse().ok()? };
        Some((line, column.parse::<u32>().ok()?.checked_add(1)?))
    };
    let start = position(start, 0)?;
    Some((start, end.and_then(|it| position(it, start.0))))
}

/// A chain with the names of files; empty for generated code.
fn written(table: &LocationTable, chain: &[SourcePosition]) -> CallChain {
    if !chain.first().is_some_and(SourcePosition::is_written) {
        return Vec::new();
    }
    chain.iter().map(|at| named(table, *at)).collect()
}

fn named(table: &LocationTable, at: SourcePosition) -> NamedPosition {
    NamedPosition { file: table.file(at.file).to_owned(), line: at.line, column: at.column }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_belong_to_the_positions_that_are_left_of_a_chain() {
        let text = "\
#tanh = loc(\"layers.py\":11:11 to :18)
#call = loc(\"layers.py\":16:12 to 17:3)
#library = loc(\"/lib/site-packages/framework/nn.py\":7:4 to :9)
";
        let location = "loc(callsite(#library at callsite(#tanh at #call)))";
        let mut reader = LocationReader::of(text);
        let chain = reader.paths_of(location).remove(0);
        let starts: Vec<_> = chain.iter().map(|at| (at.line, at.column)).collect();
        assert_eq!(starts, [(11, 12), (16, 13)], "a library's frames are left out");
        assert_eq!(reader.ends_of(location, &chain), [Some((11, 19)), Some((17, 4))]);
        let two = "loc(fused[\"a.py\":3:4 to :9, \"a.py\":3:4 to :12])";
        let chain = reader.paths_of(two).remove(0);
        assert_eq!(reader.ends_of(two, &chain), [None], "which of the two is not known");
    }
}
