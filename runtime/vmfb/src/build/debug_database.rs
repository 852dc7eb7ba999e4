//! Writing the debug database. Its location table is a vector of unions, stored as two vectors,
//! tags and offsets (see `schema/module.fbs`); an unknown location is tag `NONE` and offset 0.

use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, WIPOffset};

use crate::debug_database::{DebugDatabase, FunctionSourceMap, Location, LocationIndex};
use crate::schema::{
    AnyLocation, BytecodeLocationDef, CallSiteLocDef, CallSiteLocDefArgs, DebugDatabaseDef,
    DebugDatabaseDefArgs, FileLineColLocDef, FileLineColLocDefArgs, FunctionSourceMapDef,
    FunctionSourceMapDefArgs, FusedLocDef, FusedLocDefArgs, LocationTag, NameLocDef,
    NameLocDefArgs,
};

use super::build_error::{BuildError, signed};

type Builder<'f> = FlatBufferBuilder<'f>;

/// Writes a database.
pub(super) fn write<'f>(
    builder: &mut Builder<'f>,
    database: &DebugDatabase,
) -> Result<WIPOffset<DebugDatabaseDef<'f>>, BuildError> {
    let maps: Vec<_> =
        database.functions.iter().map(|map| function(builder, map)).collect::<Result<_, _>>()?;
    let functions = Some(builder.create_vector(&maps));
    let mut tags = Vec::with_capacity(database.locations.len());
    let mut tables = Vec::with_capacity(database.locations.len());
    for entry in &database.locations {
        let (tag, table) = location(builder, entry)?;
        tags.push(tag);
        tables.push(table);
    }
    type Offset<'f> = ForwardsUOffset<AnyLocation<'f>>;
    builder.start_vector::<Offset<'f>>(tables.len());
    for table in tables.iter().rev() {
        match table {
            Some(table) => builder.push(*table),
            None => WIPOffset::new(builder.push(0_u32).value()),
        };
    }
    let location_table = Some(builder.end_vector::<Offset<'f>>(tables.len()));
    let location_table_type = Some(builder.create_vector(&tags));
    let args = DebugDatabaseDefArgs { location_table_type, location_table, functions };
    Ok(DebugDatabaseDef::create(builder, &args))
}

fn function<'f>(
    builder: &mut Builder<'f>,
    map: &FunctionSourceMap,
) -> Result<WIPOffset<FunctionSourceMapDef<'f>>, BuildError> {
    let entries: Vec<BytecodeLocationDef> = map
        .locations
        .iter()
        .map(|(offset, location)| {
            Ok(BytecodeLocationDef::new(
                signed("bytecode offset", offset.index())?,
                index(*location)?,
            ))
        })
        .collect::<Result<_, BuildError>>()?;
    let locations = Some(builder.create_vector(&entries));
    let local_name = Some(builder.create_string(&map.local_name));
    let args = FunctionSourceMapDefArgs { local_name, locations };
    Ok(FunctionSourceMapDef::create(builder, &args))
}

/// A location's tag and table. File names and the names of locations repeat, and are stored once.
fn location<'f>(
    builder: &mut Builder<'f>,
    location: &Location,
) -> Result<(LocationTag, Option<WIPOffset<AnyLocation<'f>>>), BuildError> {
    let (tag, table) = match location {
        Location::Unknown => return Ok((LocationTag::NONE, None)),
        Location::CallSite { callee, caller } => {
            let args = CallSiteLocDefArgs { callee: index(*callee)?, caller: index(*caller)? };
            (LocationTag::CallSiteLocDef, CallSiteLocDef::create(builder, &args).value())
        }
        Location::FileLineCol { file, line, column } => {
            let filename = Some(builder.create_shared_string(file));
            let args = FileLineColLocDefArgs {
                filename,
                line: line.cast_signed(),
                column: column.cast_signed(),
            };
            (LocationTag::FileLineColLocDef, FileLineColLocDef::create(builder, &args).value())
        }
        Location::Fused { metadata, locations } => {
            let indices: Vec<i32> =
                locations.iter().map(|child| index(*child)).collect::<Result<_, _>>()?;
            let locations = Some(builder.create_vector(&indices));
            let metadata = metadata.as_deref().map(|text| builder.create_shared_string(text));
            let args = FusedLocDefArgs { metadata, locations };
            (LocationTag::FusedLocDef, FusedLocDef::create(builder, &args).value())
        }
        Location::Name { name, child } => {
            let name = Some(builder.create_shared_string(name));
            let args = NameLocDefArgs { name, child_location: index(*child)? };
            (LocationTag::NameLocDef, NameLocDef::create(builder, &args).value())
        }
    };
    Ok((tag, Some(WIPOffset::new(table))))
}

fn index(location: LocationIndex) -> Result<i32, BuildError> {
    signed("location", location.0 as usize)
}
