//! Locations: trees that say where an instruction comes from.
//!
//! Both sources of debug information, the debug database and the debug companion, use MLIR's
//! locations: a position in a file, an inlined call, several locations fused into one, a location
//! with a name. Each module has one table of them; a [`LocationId`] is an index into it, and equal
//! locations share an entry. A table read from a file may hold cycles, so nothing here recurses:
//! every walk is in [`super::walk`] and has a budget.

use std::collections::HashMap;
use std::sync::Arc;

/// Index of a file name in a [`LocationTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// Index of a location in a [`LocationTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(pub u32);

/// A line and column of a file, both counted from one; zero means unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourcePosition {
    /// The file, see [`LocationTable::file`].
    pub file: FileId,
    /// The line, from one.
    pub line: u32,
    /// The column, from one, in bytes of UTF-8, as MLIR counts them.
    pub column: u32,
}

impl SourcePosition {
    /// Whether this is a position in a source. Generated code has line zero.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.line != 0
    }
}

/// One node of a location tree.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Location {
    /// Unknown to the compiler.
    Unknown,
    /// A position in a file.
    Position(SourcePosition),
    /// Code of `callee` that was inlined into the code at `caller`.
    CallSite {
        /// Where the code was written.
        callee: LocationId,
        /// Where it was called from.
        caller: LocationId,
    },
    /// Code that comes from several locations.
    Fused(Box<[LocationId]>),
    /// A location with a label, such as `vm` for one in the listing of the VM program.
    Name {
        /// The label.
        name: Arc<str>,
        /// The location.
        child: LocationId,
    },
    /// Another entry of the table, for aliases that are declared after their use.
    Same(LocationId),
}

/// The locations and file names of one module.
#[derive(Clone, Debug, Default)]
pub struct LocationTable {
    files: Vec<Arc<str>>,
    locations: Vec<Location>,
}

impl LocationTable {
    /// The name of a file, as the compiler was given it.
    #[must_use]
    pub fn file(&self, file: FileId) -> &str {
        self.files.get(file.0 as usize).map_or("", |name| name)
    }

    /// All file names, each once, in the order of their first mention.
    #[must_use]
    pub fn files(&self) -> &[Arc<str>] {
        &self.files
    }

    /// Adds a file that no location refers to yet.
    pub(crate) fn add_file(&mut self, name: &str) -> FileId {
        let file = FileId(next_index(self.files.len()));
        self.files.push(name.into());
        file
    }

    /// A node; [`Location::Unknown`] for an identifier of another table.
    #[must_use]
    pub fn get(&self, location: LocationId) -> &Location {
        self.locations.get(location.0 as usize).unwrap_or(&Location::Unknown)
    }

    /// The same table without the locations of declarations in calls. The compiler wraps each
    /// function that is only declared and inlines the wrapper; the wrapper's code belongs to the
    /// call.
    pub(crate) fn without_declarations(mut self, declarations: &[LocationId]) -> Self {
        let is_written = |id: &LocationId| match self.get(*id) {
            Location::Position(position) => position.is_written(),
            _ => false,
        };
        let declared: Vec<LocationId> = declarations.iter().copied().filter(is_written).collect();
        for location in &mut self.locations {
            if let Location::CallSite { callee, caller } = location
                && declared.contains(callee)
            {
                *location = Location::Same(*caller);
            }
        }
        self
    }

    /// How many nodes the table holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.locations.len()
    }

    /// Whether the table holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.locations.is_empty()
    }
}

/// Builds a [`LocationTable`] in which equal locations and equal file names are stored once.
#[derive(Debug, Default)]
pub(crate) struct LocationBuilder {
    table: LocationTable,
    files: HashMap<Arc<str>, FileId>,
    locations: HashMap<Location, LocationId>,
    names: HashMap<Arc<str>, ()>,
}

impl LocationBuilder {
    /// Continues a table that was built before: its identifiers stay valid.
    #[must_use]
    pub(crate) fn from_table(table: LocationTable) -> Self {
        let files = table
            .files
            .iter()
            .zip(0..)
            .map(|(name, index)| (name.clone(), FileId(index)))
            .collect();
        let locations = table
            .locations
            .iter()
            .zip(0..)
            .map(|(location, index)| (location.clone(), LocationId(index)))
            .collect();
        Self { table, files, locations, names: HashMap::new() }
    }

    /// The finished table.
    #[must_use]
    pub(crate) fn finish(self) -> LocationTable {
        self.table
    }

    /// The identifier of a file name.
    pub(crate) fn file(&mut self, name: &str) -> FileId {
        if let Some(file) = self.files.get(name) {
            return *file;
        }
        let file = FileId(next_index(self.table.files.len()));
        let name: Arc<str> = name.into();
        self.table.files.push(name.clone());
        self.files.insert(name, file);
        file
    }

    /// A label, stored once for all equal labels.
    pub(crate) fn name(&mut self, name: &str) -> Arc<str> {
        if let Some((shared, ())) = self.names.get_key_value(name) {
            return shared.clone();
        }
        let shared: Arc<str> = name.into();
        self.names.insert(shared.clone(), ());
        shared
    }

    /// The identifier of a location.
    pub(crate) fn add(&mut self, location: Location) -> LocationId {
        if let Some(id) = self.locations.get(&location) {
            return *id;
        }
        let id = self.reserve();
        self.locations.insert(location.clone(), id);
        self.table.locations[id.0 as usize] = location;
        id
    }

    /// The unknown location.
    pub(crate) fn unknown(&mut self) -> LocationId {
        self.add(Location::Unknown)
    }

    /// An entry that is filled later with [`LocationBuilder::fill`] and unknown until then.
    pub(crate) fn reserve(&mut self) -> LocationId {
        let id = LocationId(next_index(self.table.locations.len()));
        self.table.locations.push(Location::Unknown);
        id
    }

    /// Fills a reserved entry.
    pub(crate) fn fill(&mut self, id: LocationId, location: Location) {
        if let Some(slot) = self.table.locations.get_mut(id.0 as usize) {
            *slot = location;
        }
    }
}

/// Tables are smaller than the files they were read from, so this does not saturate in practice; an
/// index past 2^32 would refer to nothing.
fn next_index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locations::walk;

    #[test]
    fn calls_of_what_is_declared_only_are_where_they_are_written() {
        let mut builder = LocationBuilder::default();
        let file = builder.file("a.mlir");
        let mut at =
            |line| builder.add(Location::Position(SourcePosition { file, line, column: 1 }));
        let [declaration, inner, call, function] = [2, 3, 5, 9].map(&mut at);
        let call = builder.add(Location::CallSite { callee: call, caller: function });
        let of_import = builder.add(Location::CallSite { callee: declaration, caller: call });
        let of_other = builder.add(Location::CallSite { callee: inner, caller: call });
        let table = builder.finish().without_declarations(&[declaration]);
        let lines = |id| -> Vec<u32> {
            walk::call_chain(&table, id).iter().map(|position| position.line).collect()
        };
        assert_eq!(lines(of_import), [5, 9]);
        assert_eq!(lines(of_other), [3, 5, 9]);
    }
}
