//! The debug database: which location each instruction of a function came from.
//!
//! It is read as it is stored. Two facts its users must know: compilers since 3.11 store the map
//! of one function only, at index 0 whatever its ordinal; and locations may nest without bound in a
//! damaged file, so walk them with a limit. Crate `debuginfo` does both.

use flatbuffers::{Verifiable, Verifier, VerifierOptions};

use crate::ordinals::BytecodeOffset;
use crate::schema::{
    CallSiteLocDef, DebugDatabaseDef, FileLineColLocDef, FusedLocDef, LocationTag, NameLocDef,
};

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
        /// Where it was inlined.
        caller: LocationIndex,
    },
    /// A place in a file; lines and columns count from 1, line 0 stands for no line.
    FileLineCol {
        /// As given on the compiler's command line; `-` for standard input.
        file: String,
        /// From 1.
        line: u32,
        /// From 1.
        column: u32,
    },
    /// Several places became one operation.
    Fused {
        /// What the pass that fused them noted.
        metadata: Option<String>,
        /// The places.
        locations: Vec<LocationIndex>,
    },
    /// A name for a place, such as `vm` for a line of a VM listing.
    Name {
        /// The name.
        name: String,
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

    /// Copies the database out of a FlatBuffer. `buffer` is the whole verified buffer.
    pub(crate) fn read(
        buffer: &[u8],
        options: &VerifierOptions,
        def: DebugDatabaseDef<'_>,
    ) -> Self {
        let mut locations = Vec::new();
        if let (Some(tags), Some(tables)) = (def.location_table_type(), def.location_table()) {
            let count = tags.len().min(tables.len());
            for index in 0..count {
                let tag = tags.get(index);
                locations.push(if tag == LocationTag::NONE {
                    Location::Unknown
                } else {
                    read_location(buffer, options, tag, tables.get(index)._tab.loc())
                });
            }
        }
        let functions = def
            .functions()
            .into_iter()
            .flatten()
            .map(|map| FunctionSourceMap {
                local_name: map.local_name().unwrap_or_default().to_owned(),
                locations: map
                    .locations()
                    .into_iter()
                    .flatten()
                    .map(|entry| {
                        (
                            BytecodeOffset(entry.bytecode_offset().cast_unsigned()),
                            LocationIndex(entry.location().cast_unsigned()),
                        )
                    })
                    .collect(),
            })
            .collect();
        DebugDatabase { locations, functions }
    }
}

/// Reads one element of the location table. The verifier that flatc generates does not see these
/// tables (see `schema/module.fbs`), so each is verified here before it is looked at.
fn read_location(
    buffer: &[u8],
    options: &VerifierOptions,
    tag: LocationTag,
    position: usize,
) -> Location {
    let index = |value: i32| LocationIndex(value.cast_unsigned());
    match tag {
        LocationTag::CallSiteLocDef => {
            verified::<CallSiteLocDef>(buffer, options, position).map(|def| Location::CallSite {
                callee: index(def.callee()),
                caller: index(def.caller()),
            })
        }
        LocationTag::FileLineColLocDef => verified::<FileLineColLocDef>(buffer, options, position)
            .map(|def| Location::FileLineCol {
                file: def.filename().unwrap_or_default().to_owned(),
                line: def.line().cast_unsigned(),
                column: def.column().cast_unsigned(),
            }),
        LocationTag::FusedLocDef => {
            verified::<FusedLocDef>(buffer, options, position).map(|def| Location::Fused {
                metadata: def.metadata().map(str::to_owned),
                locations: def.locations().into_iter().flatten().map(index).collect(),
            })
        }
        LocationTag::NameLocDef => {
            verified::<NameLocDef>(buffer, options, position).map(|def| Location::Name {
                name: def.name().unwrap_or_default().to_owned(),
                child: index(def.child_location()),
            })
        }
        _ => None,
    }
    .unwrap_or(Location::Unknown)
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
