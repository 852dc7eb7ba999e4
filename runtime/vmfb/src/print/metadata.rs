//! The metadata report: what a module offers and needs and how large its parts are, in the words of
//! `iree-dump-module`.

use std::fmt::Write;

use abi::cconv::Signature;

use crate::module::{Attribute, Features, FunctionSignature, Module, RodataSegment};
use crate::ordinals::{FunctionOrdinal, RodataOrdinal};

use super::directives::type_name;

const RULE: &str = "//===--------------------------------------------------------------------------------------------------------------===//\n";
const FUNCTION_TABLE_HEAD: &str = concat!(
    "  # | Offset   |   Length | Blocks | i32 # | ref # | Requirements | Aliases\n",
    "----+----------+----------+--------+-------+-------+--------------+-",
    "----------------------------------------------------\n"
);
/// The bytes of a ref global in the reference's module state.
const REF_BYTES: u64 = 16;
/// How much of a string is shown.
const STRING_SHOWN: usize = 32;

/// The metadata report of a module.
#[must_use]
pub fn metadata(module: &Module) -> String {
    let mut report = Report(String::new());
    report.heading(&format!("@{} : version {}", module.name(), module.version()));
    report.needs(module);
    report.functions(module);
    report.heading("Sections");
    report.sections(module);
    report.heading(&format!("Bytecode : version {}", module.version()));
    report.function_table(module);
    report.debug_information(module);
    report.0
}

struct Report(String);

impl Report {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn heading(&mut self, title: &str) {
        self.0.push_str(RULE);
        self.line(&format!("// {title}"));
        self.0.push_str(RULE);
        self.line("");
    }

    fn attributes(&mut self, attributes: &[Attribute], indent: usize) {
        for attribute in attributes {
            self.line(&format!("{:indent$}{}: {}", "", attribute.key, attribute.value));
        }
    }

    fn needs(&mut self, module: &Module) {
        if module.requirements() != Features::default() {
            self.line(&format!("Requirements: {}\n", features(module.requirements()).0));
        }
        if !module.attributes().is_empty() {
            self.line("Attributes:");
            self.attributes(module.attributes(), 2);
            self.line("");
        }
        if !module.types().is_empty() {
            self.line("Required Types:");
            for (index, def) in module.types().iter().enumerate() {
                self.line(&format!("  [{index:3}] {}", def.full_name));
            }
            self.line("");
        }
        if !module.dependencies().is_empty() {
            self.line("Module Dependencies:");
            for dependency in module.dependencies() {
                let need = if dependency.is_optional { "optional" } else { "required" };
                let minimum = dependency.minimum_version.cast_signed();
                self.line(&format!("  {}, version >= {minimum}, {need}", dependency.name));
            }
            self.line("");
        }
    }

    fn functions(&mut self, module: &Module) {
        if !module.imports().is_empty() {
            self.line("Imported Functions:");
            for (index, import) in module.imports().iter().enumerate() {
                let mark = if import.is_optional { "?" } else { "" };
                self.signature_line(
                    &format!("  [{index:3}] {mark}{}", import.full_name),
                    &import.signature,
                );
            }
            self.line("");
        }
        if !module.exports().is_empty() {
            self.line("Exported Functions:");
            for (index, export) in module.exports().iter().enumerate() {
                let signature =
                    module.function(export.function).map(|function| &function.signature);
                let name = format!("  [{index:3}] {}", export.name);
                match signature {
                    Some(signature) => self.signature_line(&name, signature),
                    None => self.line(&name),
                }
            }
            self.line("");
        }
    }

    /// A name with its signature, and its attributes in the lines below.
    fn signature_line(&mut self, name: &str, signature: &FunctionSignature) {
        let mut line = name.to_owned();
        if let Some(text) = &signature.calling_convention {
            match Signature::parse(text) {
                Ok(signature) => {
                    write_types(&mut line, "(", &signature.arguments);
                    write_types(&mut line, ") -> (", &signature.results);
                    line.push(')');
                }
                Err(error) => line.push_str(&format!(" \"{text}\" ({error})")),
            }
        }
        self.line(&line);
        self.attributes(&signature.attributes, 8);
    }

    fn sections(&mut self, module: &Module) {
        let state = module.state();
        if state.global_bytes != 0 || state.global_refs != 0 {
            let total = u64::from(state.global_bytes) + REF_BYTES * u64::from(state.global_refs);
            self.line("Module State:");
            self.line(&format!(
                "  {} bytes, {} refs, ~{total} bytes total\n",
                state.global_bytes, state.global_refs
            ));
        }
        let without_prefix = module.flatbuffer_bytes().len().saturating_sub(4);
        self.line(&format!("FlatBuffer: {without_prefix} bytes"));
        self.line(&format!("  Bytecode: {} bytes", module.bytecode_data().len()));
        for (index, segment) in module.rodata().iter().enumerate() {
            let embedded = module.embedded_rodata(RodataOrdinal::from_index(index));
            let marked = if segment.says_uncompressed { "uncompressed " } else { "" };
            let text = rodata(module, segment, embedded);
            self.line(&format!("  .rodata[{index:3}] {marked}{text}"));
        }
        for (index, size) in module.rwdata().iter().enumerate() {
            self.line(&format!("  .rwdata[{index:3}] {size} bytes"));
        }
        self.line("");
        let external = module.rodata().iter().filter(|segment| segment.is_external);
        let external: usize = external.map(|segment| segment.range.len()).sum();
        if external > 0 {
            self.line(&format!("External .rodata: ~{external} bytes\n"));
        }
    }

    fn function_table(&mut self, module: &Module) {
        if !module.functions().is_empty() {
            self.0.push_str(FUNCTION_TABLE_HEAD);
        }
        let mut aliases = vec![Vec::new(); module.functions().len()];
        for export in module.exports() {
            aliases[export.function.index()].push(export.name.as_str());
        }
        for (index, function) in module.functions().iter().enumerate() {
            let (features, width) = features(function.requirements);
            self.line(&format!(
                "{index:3} | {:08X} | {:8} | {:6} | {:5} | {:5} | {features}{:padding$} | {}",
                function.bytecode.start,
                function.bytecode.len(),
                function.block_count,
                function.i32_register_count,
                function.ref_register_count,
                "",
                aliases[FunctionOrdinal::from_index(index).index()].join(", "),
                padding = 12_usize.saturating_sub(width),
            ));
        }
        self.line("");
    }

    fn debug_information(&mut self, module: &Module) {
        let Some(database) = module.debug_database() else { return };
        self.0.push_str(RULE);
        self.line("// Debug Information");
        self.0.push_str(RULE);
        self.line(
            "// NOTE: debug databases are large and should be stripped in deployed artifacts.\n",
        );
        self.line(&format!("Locations: {}\n", database.locations.len()));
    }
}

/// The f32 and f64 bits by name, all others as one number, and the width that the report counts,
/// without separators.
fn features(features: Features) -> (String, usize) {
    let named = [(Features::EXT_F32, "EXT_F32"), (Features::EXT_F64, "EXT_F64")];
    let mut parts: Vec<String> = Vec::new();
    let mut rest = features.0;
    for (feature, name) in named {
        if features.contains(feature) {
            parts.push(name.to_owned());
            rest &= !feature.0;
        }
    }
    if rest != 0 {
        parts.push(format!("{rest:08X}"));
    }
    let width = parts.iter().map(String::len).sum();
    (parts.join(" | "), width)
}

fn write_types(out: &mut String, before: &str, types: &[abi::cconv::ValueType]) {
    out.push_str(before);
    for (index, value_type) in types.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        type_name(out, value_type);
    }
}

fn rodata(module: &Module, segment: &RodataSegment, embedded: Option<&[u8]>) -> String {
    let length = segment.range.len();
    let Some(bytes) = embedded else {
        let offset = segment.range.start.saturating_sub(module.external_rodata_base());
        return format!(
            "external {length:8} bytes (offset {offset} / {offset:X}h to {:X}h)",
            offset + length
        );
    };
    let mut text = format!("embedded {length:8} bytes");
    let string = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    if string.iter().all(|byte| (0x20..0x7F).contains(byte)) {
        let shown = &string[..string.len().min(STRING_SHOWN)];
        let written = write!(text, " `{}`", String::from_utf8_lossy(shown));
        debug_assert!(written.is_ok(), "writing to a String does not fail");
        if string.len() >= STRING_SHOWN {
            text.push_str("...");
        }
    }
    text
}
