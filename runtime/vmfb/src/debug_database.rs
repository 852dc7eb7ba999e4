//! The debug database: the source location of each instruction of a function.
//!
//! It is read as it is stored. Users must know two facts: compilers since 3.11 store the map of one
//! function only, at index 0 whatever its ordinal; and locations may nest without bound in a
//! damaged file, so code that walks them needs a limit. Crate `debuginfo` handles both.

use std::collections::HashMap;
use std::sync::Arc;

use flatbuffers::{Verifiable, Verifier, VerifierOptions};

use crate::ordinals::BytecodeOffset;
use crate::schema::{
    CallSiteLocDef, DebugDatabaseDef, FileLineColLocDef, FunctionSourceMapDef, FusedLocDef,
    LocationTag, NameLocDef,
};
use crate::table_budget::Budget;

/// Index into a database's location table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LocationIndex(pub u32);

/// An MLIR location. Children are indices into the same table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    /// Nothing is known.
    Unknown,
    /// `callee` was inlined at `caller`.
    CallSite {
        /// Where the operation was written.
        callee: LocationIndex,
        /// The call site that it was inlined at.
        caller: LocationIndex,
    },
    /// A place in a file; lines and columns count from 1, line 0 stands for no line.
    FileLineCol {
        /// As given on the compiler's command line; `-` for standard input.
        file: Arc<str>,
        /// From 1.
        line: u32,
        /// From 1.
        column: u32,
    },
    /// Several places became one operation.
    Fused {
        /// A note of the pass that fused them.
        metadata: Option<Arc<str>>,
        /// The places.
        locations: Vec<LocationIndex>,
    },
    /// A name for a place, such as `vm` for a line of a VM listing.
    Name {
        /// The name.
        name: Arc<str>,
        /// The place.
        child: LocationIndex,
    },
}

/// The map of one function.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct FunctionSourceMap {
    /// The function's name in the compiler, which may differ from its exported name.
    pub local_name: String,
    /// For each operation, by ascending offset, its location. Block markers have no entry.
    pub locations: Vec<(BytecodeOffset, LocationIndex)>,
}

/// All locations of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DebugDatabase {
    /// The location table.
    pub locations: Vec<Location>,
    /// Source maps, by function ordinal where the database is whole.
    pub functions: Vec<FunctionSourceMap>,
}

impl DebugDatabase {
    /// A location; `Unknown` for an index outside the table.
    #[must_use]
    pub fn location(&self, index: LocationIndex) -> &Location {
        self.locations.get(index.0 as usize).unwrap_or(&Location::Unknown)
    }

    /// Copies the database out of a FlatBuffer; `None` if it would take too much memory. `buffer`
    /// is the whole verified buffer.
    pub(crate) fn read(
        buffer: &[u8],
        options: &VerifierOptions,
        def: DebugDatabaseDef<'_>,
    ) -> Option<Self> {
        let mut reader = DatabaseReader {
            buffer,
            options,
            budget: Budget::of(buffer.len()),
            mentions: Budget::of(buffer.len().saturating_mul(MENTIONS)),
            texts: HashMap::new(),
        };
        let mut locations = Vec::new();
        if let (Some(tags), Some(tables)) = (def.location_table_type(), def.location_table()) {
            let count = tags.len().min(tables.len());
            for index in 0..count {
                locations.push(reader.location(tags.get(index), tables.get(index)._tab.loc())?);
            }
        }
        let functions = def.functions().into_iter().flatten().map(|map| reader.function(map));
        Some(DebugDatabase { functions: functions.collect::<Option<_>>()?, locations })
    }
}

/// How often, on average, the bytes of a FlatBuffer may be mentioned as the text of a location: one
/// name of a file is in all locations of that file.
const MENTIONS: usize = 16;

struct DatabaseReader<'b> {
    buffer: &'b [u8],
    options: &'b VerifierOptions,
    /// What is copied.
    budget: Budget,
    /// What is copied and shared, each time.
    mentions: Budget,
    /// Texts by their position, as locations share them.
    texts: HashMap<usize, Arc<str>>,
}

impl DatabaseReader<'_> {
    fn text(&mut self, text: Option<&str>) -> Option<Arc<str>> {
        let text = text.unwrap_or_default();
        if !self.mentions.spend(text.len()) {
            return None;
        }
        let shared = self.texts.entry(text.as_ptr() as usize).or_insert_with(|| Arc::from(text));
        Some(Arc::clone(shared))
    }

    fn list<T, U>(
        &mut self,
        list: Option<impl ExactSizeIterator<Item = T>>,
        read: impl Fn(T) -> U,
    ) -> Option<Vec<U>> {
        let Some(list) = list else { return Some(Vec::new()) };
        let is_small = self.budget.spend(list.len().saturating_mul(size_of::<U>()));
        is_small.then(|| list.map(read).collect())
    }

    fn function(&mut self, map: FunctionSourceMapDef<'_>) -> Option<FunctionSourceMap> {
        let local_name = map.local_name().unwrap_or_default();
        if !self.budget.spend(size_of::<FunctionSourceMap>() + local_name.len()) {
            return None;
        }
        let locations = self.list(map.locations().map(|entries| entries.iter()), |entry| {
            let offset = BytecodeOffset(entry.bytecode_offset().cast_unsigned());
            (offset, LocationIndex(entry.location().cast_unsigned()))
        })?;
        Some(FunctionSourceMap { local_name: local_name.to_owned(), locations })
    }

    /// Reads one element of the location table. The verifier that flatc generates does not see
    /// these tables (see `schema/module.fbs`), so each is verified here before it is read. A
    /// damaged one becomes [`Location::Unknown`].
    fn location(&mut self, tag: LocationTag, position: usize) -> Option<Location> {
        if !self.budget.spend(size_of::<Location>()) {
            return None;
        }
        let (buffer, options) = (self.buffer, self.options);
        let index = |value: i32| LocationIndex(value.cast_unsigned());
        Some(match tag {
            LocationTag::CallSiteLocDef => {
                let Some(def) = verified::<CallSiteLocDef>(buffer, options, position) else {
                    return Some(Location::Unknown);
                };
                Location::CallSite { callee: index(def.callee()), caller: index(def.caller()) }
            }
            LocationTag::FileLineColLocDef => {
                let Some(def) = verified::<FileLineColLocDef>(buffer, options, position) else {
                    return Some(Location::Unknown);
                };
                Location::FileLineCol {
                    file: self.text(def.filename())?,
                    line: def.line().cast_unsigned(),
                    column: def.column().cast_unsigned(),
                }
            }
            LocationTag::FusedLocDef => {
                let Some(def) = verified::<FusedLocDef>(buffer, options, position) else {
                    return Some(Location::Unknown);
                };
                let metadata = def.metadata().map(|text| self.text(Some(text)));
                Location::Fused {
                    metadata: metadata.map_or(Some(None), |text| text.map(Some))?,
                    locations: self.list(def.locations().map(|list| list.iter()), index)?,
                }
            }
            LocationTag::NameLocDef => {
                let Some(def) = verified::<NameLocDef>(buffer, options, position) else {
                    return Some(Location::Unknown);
                };
                Location::Name { name: self.text(def.name())?, child: index(def.child_location()) }
            }
            _ => Location::Unknown,
        })
    }
}

/// The table at `position` as a `T`, if its bytes verify as one.
fn verified<'a, T>(buffer: &'a [u8], options: &VerifierOptions, position: usize) -> Option<T>
where
    T: flatbuffers::Follow<'a, Inner = T> + Verifiable + 'a,
{
    let mut verifier = Verifier::new(options, buffer);
    T::run_verifier(&mut verifier, position).ok()?;
    // SAFETY: the generated verifier of `T` has just accepted the table at `position` in this
    // same buffer, which is what `Follow::follow` of a generated table asks for.
    Some(unsafe { T::follow(buffer, position) })
}
