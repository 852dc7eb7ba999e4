//! The lines of a disassembly that are not instructions: the module, its types, imports and rodata,
//! and the headers of functions.

use std::fmt::Write;

use abi::cconv::{Signature, ValueType};

use crate::module::{Function, Module};
use crate::ordinals::RodataOrdinal;

use super::options::Rodata;

/// Segments up to this size are always printed in full.
const ELIDE_OVER: usize = 64;
/// Printed for rodata that can no longer be read.
const GONE: &str = "// gone: the file has changed";

/// `vm.module`, `vm.type`, `vm.import` and `vm.rodata` lines, and the blank line after them.
pub(super) fn module(out: &mut String, module: &Module, rodata: Rodata) {
    out.push_str(&format!("vm.module @{} version {}\n", module.name(), module.version()));
    for def in module.types() {
        out.push_str(&format!("vm.type {}\n", def.full_name));
    }
    for import in module.imports() {
        out.push_str(&format!(
            "vm.import {}@{} cconv \"{}\"\n",
            if import.is_optional { "optional " } else { "" },
            import.full_name,
            import.signature.calling_convention.as_deref().unwrap_or_default()
        ));
    }
    for index in 0..module.rodata().len() {
        out.push_str(&format!("vm.rodata[{index}] = "));
        let ordinal = RodataOrdinal::from_index(index);
        match (rodata, module.rodata_length(ordinal).unwrap_or_default()) {
            (Rodata::Elide, length) if length > ELIDE_OVER => match module.rodata_digest(ordinal) {
                Some(digest) => {
                    out.push_str(&format!("// {length} bytes elided, xxh3 {digest:016x}"));
                }
                None => out.push_str(GONE),
            },
            _ => match module.rodata_bytes(ordinal) {
                Some(bytes) => hex(out, &bytes),
                None => out.push_str(GONE),
            },
        }
        out.push('\n');
    }
    if !(module.types().is_empty() && module.imports().is_empty() && module.rodata().is_empty()) {
        out.push('\n');
    }
}

fn hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// `(%i0: i32, %i1:2: i64) -> (f32)`. Registers are counted without alignment, as
/// `iree-dump-module` does, so a pair may show one register below its true place. A malformed
/// calling convention prints like a missing one.
pub(super) fn signature(out: &mut String, function: &Function) {
    let text = function.signature.calling_convention.as_deref().unwrap_or_default();
    let signature = Signature::parse(text).unwrap_or_default();
    out.push('(');
    let (mut i32_ordinal, mut ref_ordinal) = (0_u32, 0_u32);
    for (index, argument) in signature.arguments.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        let written = match argument {
            ValueType::I64 | ValueType::F64 => {
                i32_ordinal += 2;
                write!(out, "%i{}:{}: ", i32_ordinal - 2, i32_ordinal - 1)
            }
            ValueType::Ref => {
                ref_ordinal += 1;
                write!(out, "%r{}: ", ref_ordinal - 1)
            }
            _ => {
                i32_ordinal += 1;
                write!(out, "%i{}: ", i32_ordinal - 1)
            }
        };
        debug_assert!(written.is_ok(), "writing to a String does not fail");
        type_name(out, argument);
    }
    out.push_str(") -> (");
    for (index, result) in signature.results.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        type_name(out, result);
    }
    out.push(')');
}

/// A type as IREE's tools spell it.
pub(super) fn type_name(out: &mut String, value_type: &ValueType) {
    match value_type {
        ValueType::I32 => out.push_str("i32"),
        ValueType::I64 => out.push_str("i64"),
        ValueType::F32 => out.push_str("f32"),
        ValueType::F64 => out.push_str("f64"),
        ValueType::Ref => out.push_str("!vm.ref<?>"),
        ValueType::Span(tuple) => {
            out.push_str("tuple<");
            for (index, item) in tuple.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                type_name(out, item);
            }
            out.push_str(">...");
        }
    }
}
