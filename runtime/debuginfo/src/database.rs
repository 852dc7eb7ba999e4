//! The debug database of a module, brought into the common location table.

use std::collections::HashMap;

use vmfb::DebugDatabase;
use vmfb::debug_database::{Location as Stored, LocationIndex};

use crate::location::{Location, LocationBuilder, LocationId, SourcePosition};

/// Where each entry of the stored table is in the common one.
pub(crate) struct Imported {
    ids: HashMap<LocationIndex, LocationId>,
}

impl Imported {
    /// Copies the whole table. Entries may refer to any others, forwards and in circles, so each
    /// has its place first and is filled then.
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
                    column: *column,
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
