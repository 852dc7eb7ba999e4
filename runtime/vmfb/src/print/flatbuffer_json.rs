//! The module's FlatBuffer as JSON: with the keys of IREE's schema and without defaults, like
//! `iree-dump-module --output=flatbuffer-json`. The two are equal as JSON values.
//!
//! It is written from the model, so parts that the model does not keep are missing: a table or
//! vector that is present but empty looks absent.

use std::io::Write;

use serde::Serialize;
use serde::ser::Serializer;

use super::pretty;
use crate::debug_database::{DebugDatabase, Location};
use crate::module::{self, Features, FunctionSignature, Module};
use crate::ordinals::RodataOrdinal;

/// Writes the FlatBuffer as one JSON object, without a newline.
///
/// # Errors
/// The writer's.
pub fn flatbuffer(module: &Module, out: impl Write) -> std::io::Result<()> {
    serde_json::to_writer(out, &definition(module))?;
    Ok(())
}

/// The same, indented as `iree-dump-module --pretty` does, with a newline at its end.
///
/// # Errors
/// The writer's.
pub fn pretty_flatbuffer(module: &Module, mut out: impl Write) -> std::io::Result<()> {
    let value = serde_json::to_value(definition(module))?;
    pretty::write(&value, &mut out)
}

fn definition(module: &Module) -> BytecodeModuleDef<'_> {
    let state = module.state();
    BytecodeModuleDef {
        name: module.name(),
        version: module.version(),
        requirements: FeatureBits(module.requirements()),
        attrs: attrs(&module.attributes),
        types: module.types().iter().map(|def| TypeDef { full_name: &def.full_name }).collect(),
        dependencies: module.dependencies().iter().map(dependency).collect(),
        imported_functions: module.imports().iter().map(import).collect(),
        exported_functions: module.exports().iter().map(export).collect(),
        function_signatures: module.functions().iter().map(|f| signature(&f.signature)).collect(),
        rodata_segments: segments(module),
        rwdata_segments: module
            .rwdata()
            .iter()
            .map(|&byte_size| RwdataSegmentDef { byte_size })
            .collect(),
        module_state: (state != module::ModuleState::default()).then_some(ModuleStateDef {
            global_bytes_capacity: state.global_bytes,
            global_ref_count: state.global_refs,
        }),
        function_descriptors: module.functions().iter().map(descriptor).collect(),
        bytecode_version: module.bytecode_version().to_bits(),
        bytecode_data: module.bytecode_data(),
        debug_database: module.debug_database().map(database),
    }
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_zero_i32(value: &i32) -> bool {
    *value == 0
}

fn is_zero_u64(value: &u64) -> bool {
    *value == 0
}

#[derive(Serialize)]
struct BytecodeModuleDef<'m> {
    name: &'m str,
    #[serde(skip_serializing_if = "is_zero")]
    version: u32,
    #[serde(skip_serializing_if = "FeatureBits::is_empty")]
    requirements: FeatureBits,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attrs: Vec<AttrDef<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    types: Vec<TypeDef<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependencies: Vec<ModuleDependencyDef<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    imported_functions: Vec<ImportFunctionDef<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exported_functions: Vec<ExportFunctionDef<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    function_signatures: Vec<FunctionSignatureDef<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rodata_segments: Vec<RodataSegmentDef<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rwdata_segments: Vec<RwdataSegmentDef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    module_state: Option<ModuleStateDef>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    function_descriptors: Vec<FunctionDescriptor>,
    #[serde(skip_serializing_if = "is_zero")]
    bytecode_version: u32,
    #[serde(skip_serializing_if = "<[u8]>::is_empty")]
    bytecode_data: &'m [u8],
    #[serde(skip_serializing_if = "Option::is_none")]
    debug_database: Option<DebugDatabaseDef<'m>>,
}

/// Bit flags: names with spaces between, or the number if a bit has no name or none is set.
struct FeatureBits(Features);

impl FeatureBits {
    fn is_empty(&self) -> bool {
        self.0 == Features::default()
    }
}

impl Serialize for FeatureBits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_empty() || self.0.unknown() != 0 {
            return serializer.serialize_u32(self.0.0);
        }
        serializer.serialize_str(&self.0.names().collect::<Vec<_>>().join(" "))
    }
}

#[derive(Serialize)]
struct AttrDef<'m> {
    key: &'m str,
    value: &'m str,
}

fn attrs(attributes: &[module::Attribute]) -> Vec<AttrDef<'_>> {
    attributes.iter().map(|def| AttrDef { key: &def.key, value: &def.value }).collect()
}

#[derive(Serialize)]
struct TypeDef<'m> {
    full_name: &'m str,
}

#[derive(Serialize)]
struct ModuleDependencyDef<'m> {
    name: &'m str,
    #[serde(skip_serializing_if = "is_zero")]
    minimum_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<&'static str>,
}

fn dependency(dependency: &module::Dependency) -> ModuleDependencyDef<'_> {
    ModuleDependencyDef {
        name: &dependency.name,
        minimum_version: dependency.minimum_version,
        flags: dependency.is_optional.then_some("OPTIONAL"),
    }
}

#[derive(Serialize)]
struct FunctionSignatureDef<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    calling_convention: Option<&'m str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attrs: Vec<AttrDef<'m>>,
}

fn signature(signature: &FunctionSignature) -> FunctionSignatureDef<'_> {
    FunctionSignatureDef {
        calling_convention: signature.calling_convention.as_deref(),
        attrs: attrs(&signature.attributes),
    }
}

#[derive(Serialize)]
struct ImportFunctionDef<'m> {
    full_name: &'m str,
    signature: FunctionSignatureDef<'m>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<&'static str>,
}

fn import(import: &module::Import) -> ImportFunctionDef<'_> {
    ImportFunctionDef {
        full_name: &import.full_name,
        signature: signature(&import.signature),
        flags: import.is_optional.then_some("OPTIONAL"),
    }
}

#[derive(Serialize)]
struct ExportFunctionDef<'m> {
    local_name: &'m str,
    #[serde(skip_serializing_if = "is_zero")]
    internal_ordinal: u32,
}

fn export(export: &module::Export) -> ExportFunctionDef<'_> {
    ExportFunctionDef { local_name: &export.name, internal_ordinal: export.function.0 }
}

#[derive(Serialize)]
struct RodataSegmentDef<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    compression_type_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compression_type: Option<UncompressedDataDef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedded_data: Option<&'m [u8]>,
    #[serde(skip_serializing_if = "is_zero_u64")]
    external_data_offset: u64,
    #[serde(skip_serializing_if = "is_zero_u64")]
    external_data_length: u64,
}

/// A table without fields.
#[derive(Serialize)]
struct UncompressedDataDef {}

#[derive(Serialize)]
struct RwdataSegmentDef {
    #[serde(skip_serializing_if = "is_zero_i32")]
    byte_size: i32,
}

fn segments(module: &Module) -> Vec<RodataSegmentDef<'_>> {
    let base = module.external_rodata_base();
    let segments = module.rodata().iter().enumerate().map(|(index, segment)| {
        let says = segment.says_uncompressed;
        let compression_type_type = says.then_some("UncompressedDataDef");
        let compression_type = says.then_some(UncompressedDataDef {});
        if !segment.is_external {
            let embedded_data = module.embedded_rodata(RodataOrdinal::from_index(index));
            return RodataSegmentDef {
                compression_type_type,
                compression_type,
                embedded_data,
                external_data_offset: 0,
                external_data_length: 0,
            };
        }
        RodataSegmentDef {
            compression_type_type,
            compression_type,
            embedded_data: None,
            external_data_offset: segment.range.start.saturating_sub(base) as u64,
            external_data_length: segment.range.len() as u64,
        }
    });
    segments.collect()
}

#[derive(Serialize)]
struct ModuleStateDef {
    #[serde(skip_serializing_if = "is_zero")]
    global_bytes_capacity: u32,
    #[serde(skip_serializing_if = "is_zero")]
    global_ref_count: u32,
}

#[derive(Serialize)]
struct FunctionDescriptor {
    bytecode_offset: usize,
    bytecode_length: usize,
    requirements: FeatureBits,
    reserved: u32,
    block_count: u16,
    i32_register_count: u16,
    ref_register_count: u16,
}

fn descriptor(function: &module::Function) -> FunctionDescriptor {
    FunctionDescriptor {
        bytecode_offset: function.bytecode.start,
        bytecode_length: function.bytecode.len(),
        requirements: FeatureBits(function.requirements),
        reserved: 0,
        block_count: function.block_count,
        i32_register_count: function.i32_register_count,
        ref_register_count: function.ref_register_count,
    }
}

#[derive(Serialize)]
struct DebugDatabaseDef<'m> {
    location_table_type: Vec<&'static str>,
    location_table: Vec<Option<LocationDef<'m>>>,
    functions: Vec<FunctionSourceMapDef<'m>>,
}

/// One of the location tables; the fields of all of them, none of which share a name.
#[derive(Serialize, Default)]
struct LocationDef<'m> {
    #[serde(skip_serializing_if = "is_zero")]
    callee: u32,
    #[serde(skip_serializing_if = "is_zero")]
    caller: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'m str>,
    #[serde(skip_serializing_if = "is_zero")]
    line: u32,
    #[serde(skip_serializing_if = "is_zero")]
    column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locations: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'m str>,
    #[serde(skip_serializing_if = "is_zero")]
    child_location: u32,
}

#[derive(Serialize)]
struct FunctionSourceMapDef<'m> {
    local_name: &'m str,
    locations: Vec<BytecodeLocationDef>,
}

#[derive(Serialize)]
struct BytecodeLocationDef {
    bytecode_offset: u32,
    location: u32,
}

fn database(database: &DebugDatabase) -> DebugDatabaseDef<'_> {
    let (location_table_type, location_table) = database.locations.iter().map(location).unzip();
    let functions = database.functions.iter().map(|map| FunctionSourceMapDef {
        local_name: &map.local_name,
        locations: map
            .locations
            .iter()
            .map(|(offset, index)| BytecodeLocationDef {
                bytecode_offset: offset.0,
                location: index.0,
            })
            .collect(),
    });
    DebugDatabaseDef { location_table_type, location_table, functions: functions.collect() }
}

fn location(location: &Location) -> (&'static str, Option<LocationDef<'_>>) {
    let default = LocationDef::default();
    match location {
        Location::Unknown => ("NONE", None),
        Location::CallSite { callee, caller } => {
            ("CallSiteLocDef", Some(LocationDef { callee: callee.0, caller: caller.0, ..default }))
        }
        Location::FileLineCol { file, line, column } => (
            "FileLineColLocDef",
            Some(LocationDef { filename: Some(file), line: *line, column: *column, ..default }),
        ),
        Location::Fused { metadata, locations } => (
            "FusedLocDef",
            Some(LocationDef {
                metadata: metadata.as_deref(),
                locations: Some(locations.iter().map(|index| index.0).collect()),
                ..default
            }),
        ),
        Location::Name { name, child } => (
            "NameLocDef",
            Some(LocationDef { name: Some(name), child_location: child.0, ..default }),
        ),
    }
}
