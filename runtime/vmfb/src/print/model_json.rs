//! A module's model as JSON with stable keys, for scripts.
//!
//! Everything is serialised piece by piece from borrowed data. Rodata is given by place, size and
//! hash, without its bytes.

use std::cell::Cell;
use std::io::Write;

use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value, json};

use crate::debug_database::{DebugDatabase, Location};
use crate::decode::instructions;
use crate::module::{Attribute, Features, FunctionSignature, Module};
use crate::ordinals::{FunctionOrdinal, RodataOrdinal};

use super::display_names::DisplayNames;
use super::instruction::InstructionPrinter;

/// Writes the model as one JSON object and a newline.
///
/// # Errors
/// The writer's.
pub fn model(module: &Module, mut out: impl Write) -> std::io::Result<()> {
    let document = Model {
        schema_version: 1,
        name: module.name(),
        version: module.version(),
        bytecode_version: module.bytecode_version().to_string(),
        requirements: features(module.requirements()),
        attributes: attributes(module.attributes()),
        types: module.types().iter().map(|def| def.full_name.as_str()).collect(),
        dependencies: dependencies(module),
        imports: imports(module),
        exports: exports(module),
        functions: Functions(module),
        rodata: Segments(module),
        state: json!({
            "global_bytes": module.state().global_bytes,
            "global_refs": module.state().global_refs,
        }),
        debug_database: module.debug_database().map(Database),
    };
    serde_json::to_writer(&mut out, &document)?;
    out.write_all(b"\n")
}

#[derive(serde::Serialize)]
struct Model<'m> {
    schema_version: u32,
    name: &'m str,
    version: u32,
    bytecode_version: String,
    requirements: Value,
    attributes: Value,
    types: Vec<&'m str>,
    dependencies: Value,
    imports: Value,
    exports: Value,
    functions: Functions<'m>,
    rodata: Segments<'m>,
    state: Value,
    debug_database: Option<Database<'m>>,
}

fn features(features: Features) -> Value {
    let mut names: Vec<String> = features.names().map(str::to_owned).collect();
    if features.unknown() != 0 {
        names.push(format!("0x{:08X}", features.unknown()));
    }
    json!(names)
}

fn attributes(attributes: &[Attribute]) -> Value {
    attributes
        .iter()
        .map(|attribute| json!({"key": attribute.key, "value": attribute.value}))
        .collect()
}

fn dependencies(module: &Module) -> Value {
    let dependencies = module.dependencies().iter().map(|dependency| {
        json!({
            "name": dependency.name,
            "minimum_version": dependency.minimum_version,
            "optional": dependency.is_optional,
        })
    });
    dependencies.collect()
}

fn imports(module: &Module) -> Value {
    let imports = module.imports().iter().enumerate().map(|(ordinal, import)| {
        json!({
            "ordinal": ordinal,
            "name": import.full_name,
            "optional": import.is_optional,
            "signature": signature(&import.signature),
        })
    });
    imports.collect()
}

fn exports(module: &Module) -> Value {
    let exports = module.exports().iter().enumerate().map(|(ordinal, export)| {
        json!({"ordinal": ordinal, "name": export.name, "function": export.function.0})
    });
    exports.collect()
}

fn signature(signature: &FunctionSignature) -> Value {
    json!({
        "calling_convention": signature.calling_convention,
        "attributes": attributes(&signature.attributes),
    })
}

/// Functions with their instructions, one at a time.
struct Functions<'m>(&'m Module);

impl serde::Serialize for Functions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = DisplayNames::new(self.0);
        let mut sequence = serializer.serialize_seq(Some(self.0.functions().len()))?;
        for index in 0..self.0.functions().len() {
            let ordinal = FunctionOrdinal::from_index(index);
            sequence.serialize_element(&FunctionDef { module: self.0, names: &names, ordinal })?;
        }
        sequence.end()
    }
}

/// A function with its instructions.
struct FunctionDef<'m> {
    module: &'m Module,
    names: &'m DisplayNames<'m>,
    ordinal: FunctionOrdinal,
}

impl serde::Serialize for FunctionDef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { module, names, ordinal } = self;
        let Some(function) = module.function(*ordinal) else { return serializer.serialize_unit() };
        let code = module.function_bytecode(*ordinal);
        let error = instructions(code).find_map(Result::err).map(|reason| reason.to_string());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ordinal", &ordinal.0)?;
        map.serialize_entry("name", &names.definition(*ordinal))?;
        map.serialize_entry("signature", &signature(&function.signature))?;
        map.serialize_entry("requirements", &features(function.requirements))?;
        map.serialize_entry("block_count", &function.block_count)?;
        map.serialize_entry("i32_register_count", &function.i32_register_count)?;
        map.serialize_entry("ref_register_count", &function.ref_register_count)?;
        map.serialize_entry("bytecode_offset", &function.bytecode.start)?;
        map.serialize_entry("bytecode_length", &function.bytecode.len())?;
        let printer = InstructionPrinter::new(module, names, *ordinal);
        let decoded = instructions(code).map_while(Result::ok).map(|instruction| {
            json!({
                "offset": instruction.offset.0,
                "op": format!("vm.{}", instruction.op.mnemonic()),
                "text": printer.print(&instruction),
            })
        });
        map.serialize_entry("instructions", &Sequence::of(decoded))?;
        map.serialize_entry("decode_error", &error)?;
        map.end()
    }
}

/// Values that are made one at a time.
struct Sequence<I>(Cell<Option<I>>);

impl<I: Iterator> Sequence<I> {
    fn of(iterator: I) -> Self {
        Self(Cell::new(Some(iterator)))
    }
}

impl<I: Iterator<Item: serde::Serialize>> serde::Serialize for Sequence<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().flatten())
    }
}

/// Rodata segments, one at a time.
struct Segments<'m>(&'m Module);

impl serde::Serialize for Segments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.0.rodata().len()))?;
        for (index, segment) in self.0.rodata().iter().enumerate() {
            let digest = self.0.rodata_digest(RodataOrdinal::from_index(index));
            sequence.serialize_element(&json!({
                "ordinal": index,
                "external": segment.is_external,
                "file_offset": segment.range.start,
                "length": segment.range.len(),
                "xxh3": digest.map(|digest| format!("{digest:016x}")),
            }))?;
        }
        sequence.end()
    }
}

/// The debug database, one entry at a time.
struct Database<'m>(&'m DebugDatabase);

impl serde::Serialize for Database<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let locations = self.0.locations.iter().map(location);
        let functions = self.0.functions.iter().map(|map| {
            json!({
                "local_name": map.local_name,
                "locations": map.locations.iter().map(|(offset, index)| {
                    json!({"offset": offset.0, "location": index.0})
                }).collect::<Vec<_>>(),
            })
        });
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("locations", &Sequence::of(locations))?;
        map.serialize_entry("functions", &Sequence::of(functions))?;
        map.end()
    }
}

fn location(location: &Location) -> Value {
    match location {
        Location::Unknown => json!({"kind": "unknown"}),
        Location::CallSite { callee, caller } => {
            json!({"kind": "call_site", "callee": callee.0, "caller": caller.0})
        }
        Location::FileLineCol { file, line, column } => {
            json!({"kind": "file", "file": &**file, "line": line, "column": column})
        }
        Location::Fused { metadata, locations } => json!({
            "kind": "fused",
            "metadata": metadata.as_deref(),
            "locations": locations.iter().map(|index| index.0).collect::<Vec<_>>(),
        }),
        Location::Name { name, child } => {
            json!({"kind": "name", "name": &**name, "child": child.0})
        }
    }
}
