//! A module's model as JSON, with keys that stay: for scripts.
//!
//! Everything is serialised from borrowed data into the writer, piece by piece. Rodata is given by place, size and hash;
//! its bytes are in the file.

use std::io::Write;

use serde::ser::{SerializeSeq, Serializer};
use serde_json::{Value, json};

use crate::debug_database::{DebugDatabase, Location};
use crate::decode::instructions;
use crate::module::{Attribute, Features, FunctionSignature, Module};
use crate::ordinals::{FunctionOrdinal, RodataOrdinal};

use super::instruction::InstructionPrinter;
use super::names::Names;

/// Writes the model as one JSON object and a newline.
///
/// # Errors
/// The writer's.
pub fn model(module: &Module, mut out: impl Write) -> std::io::Result<()> {
    let document = Model {
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
        debug_database: module.debug_database().map(database),
    };
    serde_json::to_writer(&mut out, &document)?;
    out.write_all(b"\n")
}

#[derive(serde::Serialize)]
struct Model<'m> {
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
    debug_database: Option<Value>,
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
        let names = Names::new(self.0);
        let mut sequence = serializer.serialize_seq(Some(self.0.functions().len()))?;
        for index in 0..self.0.functions().len() {
            let ordinal = FunctionOrdinal::from_index(index);
            sequence.serialize_element(&function(self.0, &names, ordinal))?;
        }
        sequence.end()
    }
}

fn function(module: &Module, names: &Names<'_>, ordinal: FunctionOrdinal) -> Value {
    let Some(function) = module.function(ordinal) else { return Value::Null };
    let printer = InstructionPrinter::new(module, names, ordinal);
    let mut error = None;
    let mut decoded = Vec::new();
    for instruction in instructions(module.function_bytecode(ordinal)) {
        match instruction {
            Ok(instruction) => decoded.push(json!({
                "offset": instruction.offset.0,
                "op": format!("vm.{}", instruction.op.mnemonic()),
                "text": printer.print(&instruction),
            })),
            Err(reason) => error = Some(reason.to_string()),
        }
    }
    json!({
        "ordinal": ordinal.0,
        "name": names.definition(ordinal),
        "signature": signature(&function.signature),
        "requirements": features(function.requirements),
        "block_count": function.block_count,
        "i32_register_count": function.i32_register_count,
        "ref_register_count": function.ref_register_count,
        "bytecode_offset": function.bytecode.start,
        "bytecode_length": function.bytecode.len(),
        "instructions": decoded,
        "decode_error": error,
    })
}

/// Rodata segments, one at a time.
struct Segments<'m>(&'m Module);

impl serde::Serialize for Segments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.0.rodata().len()))?;
        for (index, segment) in self.0.rodata().iter().enumerate() {
            let bytes = self.0.rodata_bytes(RodataOrdinal::from_index(index)).unwrap_or_default();
            sequence.serialize_element(&json!({
                "ordinal": index,
                "external": segment.is_external,
                "file_offset": segment.range.start,
                "length": segment.range.len(),
                "xxh3": format!("{:016x}", twox_hash::XxHash3_64::oneshot(bytes)),
            }))?;
        }
        sequence.end()
    }
}

fn database(database: &DebugDatabase) -> Value {
    let locations = database.locations.iter().map(|location| match location {
        Location::Unknown => json!({"kind": "unknown"}),
        Location::CallSite { callee, caller } => {
            json!({"kind": "call_site", "callee": callee.0, "caller": caller.0})
        }
        Location::FileLineCol { file, line, column } => {
            json!({"kind": "file", "file": file, "line": line, "column": column})
        }
        Location::Fused { metadata, locations } => json!({
            "kind": "fused",
            "metadata": metadata,
            "locations": locations.iter().map(|index| index.0).collect::<Vec<_>>(),
        }),
        Location::Name { name, child } => json!({"kind": "name", "name": name, "child": child.0}),
    });
    let functions = database.functions.iter().map(|map| {
        json!({
            "local_name": map.local_name,
            "locations": map.locations.iter().map(|(offset, index)| {
                json!({"offset": offset.0, "location": index.0})
            }).collect::<Vec<_>>(),
        })
    });
    json!({
        "locations": locations.collect::<Vec<_>>(),
        "functions": functions.collect::<Vec<_>>(),
    })
}
