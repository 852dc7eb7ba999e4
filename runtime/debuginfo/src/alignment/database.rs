//! Imports the locations of a module's debug database into the common table, and finds the function
//! of each of its maps. A map fits a function if all its offsets are offsets of instructions.

use std::collections::HashMap;

use vmfb::debug_database::{FunctionSourceMap, Location as Stored, LocationIndex};
use vmfb::{DebugDatabase, Module};

use crate::bytecode::Code;
use crate::locations::{Location, LocationBuilder, LocationId, SourcePosition, python};

/// The entries of the stored table, by their identifiers in the common one.
pub(crate) struct Imported {
    ids: HashMap<LocationIndex, LocationId>,
}

impl Imported {
    /// Copies the whole table. Entries may refer to later ones, and in cycles, so all are reserved
    /// first and filled then.
    pub(crate) fn import(database: &DebugDatabase, builder: &mut LocationBuilder) -> Self {
        let indices = (0..).map(LocationIndex).take(database.locations.len());
        let ids: HashMap<_, _> = indices.map(|index| (index, builder.reserve())).collect();
        let unknown = builder.unknown();
        let imported = Self { ids };
        let place = |index: &LocationIndex| imported.get(*index).unwrap_or(unknown);
        for (stored, index) in database.locations.iter().zip(0..) {
            let location = match stored {
                Stored::Unknown => Location::Unknown,
                Stored::FileLineCol { file, line, column } => Location::Position(SourcePosition {
                    file: builder.file(file),
                    line: *line,
                    column: python::column(file, *column),
                }),
                Stored::CallSite { callee, caller } => {
                    Location::CallSite { callee: place(callee), caller: place(caller) }
                }
                Stored::Fused { locations, .. } => {
                    Location::Fused(locations.iter().map(place).collect())
                }
                Stored::Name { name, child } => {
                    Location::Name { name: builder.name(name), child: place(child) }
                }
            };
            if let Some(id) = imported.get(LocationIndex(index)) {
                builder.fill(id, location);
            }
        }
        imported
    }

    pub(crate) fn get(&self, index: LocationIndex) -> Option<LocationId> {
        self.ids.get(&index).copied()
    }
}

/// Finds the map of each function. Since compiler 3.11 the only map is at index 0, whatever its
/// function, so indices count only if there is a map for each function.
pub(crate) fn database_maps<'d>(
    module: &Module,
    database: &'d DebugDatabase,
    codes: &[Code],
    names: &[Option<String>],
) -> Vec<Option<&'d FunctionSourceMap>> {
    let mut found = vec![None; codes.len()];
    let is_whole = database.functions.len() == codes.len();
    for (index, map) in database.functions.iter().enumerate().take(codes.len()) {
        if map.locations.is_empty() {
            continue;
        }
        let by_index = is_whole.then_some(index);
        let by_name = || names.iter().position(|name| name.as_deref() == Some(&map.local_name));
        let by_export =
            || module.export_named(&map.local_name).map(|(_, export)| export.function.index());
        let fits = |ordinal: &usize| codes.get(*ordinal).is_some_and(|code| fits(map, code));
        let ordinal = by_index
            .filter(fits)
            .or_else(|| by_name().filter(fits))
            .or_else(|| by_export().filter(fits))
            .or_else(|| only(codes.iter().enumerate().filter(|(_, code)| is_exact(map, code))));
        if let Some(ordinal) = ordinal {
            found[ordinal] = Some(map);
        }
    }
    found
}

/// Whether all offsets of a map are offsets of instructions.
fn fits(map: &FunctionSourceMap, code: &Code) -> bool {
    map.locations.iter().all(|(offset, _)| code.index_of(*offset).is_some())
}

/// Whether a map has every instruction.
fn is_exact(map: &FunctionSourceMap, code: &Code) -> bool {
    map.locations.len() == code.instructions.len() && fits(map, code)
}

fn only<T>(mut candidates: impl Iterator<Item = (usize, T)>) -> Option<usize> {
    let (first, _) = candidates.next()?;
    candidates.next().is_none().then_some(first)
}
