//! A description of a VM instruction, from its table, for hovers and completion.

use std::fmt::Write;

use vmfb::Op;
use vmfb::isa::{Bank, FieldKind, OpcodeSet};

/// The description of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Described {
    /// One line: `i32 result = vm.add.i32 i32 left, i32 right`.
    pub syntax: String,
    /// The same, with places to fill in.
    pub snippet: String,
    /// Its meaning, operands and encoding.
    pub markdown: String,
}

/// Describes an instruction.
pub(crate) fn describe(op: Op) -> Described {
    let info = op.info();
    let mut results = Vec::new();
    let mut operands = Vec::new();
    for field in info.fields {
        match field.kind {
            FieldKind::Write(bank) => results.push((field.name, register(bank))),
            FieldKind::Writes(_) => results.push((field.name, "%…")),
            kind => operands.push((field.name, operand(kind))),
        }
    }
    let join = |list: &[(&str, &str)]| {
        list.iter().map(|(name, what)| format!("{what} {name}")).collect::<Vec<_>>().join(", ")
    };
    let equals = if results.is_empty() { "" } else { " = " };
    let syntax = format!("{}{equals}vm.{} {}", join(&results), info.mnemonic, join(&operands));
    let mut snippet = format!("vm.{}", info.mnemonic);
    for (index, (name, _)) in operands.iter().enumerate() {
        let _ = write!(snippet, "{}${{{}:{name}}}", if index == 0 { " " } else { ", " }, index + 1);
    }
    let mut markdown = format!("```vmasm\n{}\n```\n\n", syntax.trim_end());
    let _ = writeln!(markdown, "{}\n", op.meaning());
    let _ = writeln!(markdown, "| field | encoding |\n| --- | --- |");
    for field in info.fields {
        let _ = writeln!(markdown, "| `{}` | {} |", field.name, encoding(field.kind));
    }
    let set = match info.set {
        OpcodeSet::Core => String::new(),
        _ => format!(", prefix `0x{:02X}`", info.set.prefix().unwrap_or_default()),
    };
    let _ = writeln!(
        markdown,
        "\nOpcode `0x{:02X}`{set}; since bytecode version {}.",
        info.opcode, info.since
    );
    Described { syntax: syntax.trim_end().to_owned(), snippet, markdown }
}

fn register(bank: Bank) -> &'static str {
    match bank {
        Bank::I32 => "i32",
        Bank::I64 => "i64",
        Bank::F32 => "f32",
        Bank::F64 => "f64",
        Bank::Ref | Bank::RefMove => "ref",
        Bank::Any => "any",
    }
}

fn operand(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Read(bank) | FieldKind::Write(bank) => register(bank),
        FieldKind::Reads(_) | FieldKind::Writes(_) => "registers",
        FieldKind::Immediate(_) => "constant",
        FieldKind::Global => "global",
        FieldKind::Type => "type",
        FieldKind::Rodata => "rodata",
        FieldKind::Function => "function",
        FieldKind::String => "string",
        FieldKind::Target => "block",
        FieldKind::Remap => "copies",
        FieldKind::Cases => "cases",
    }
}

fn encoding(kind: FieldKind) -> String {
    match kind {
        FieldKind::Read(bank) => {
            format!("16-bit number of the {} register that is read", register(bank))
        }
        FieldKind::Write(bank) => {
            format!("16-bit number of the {} register that is written", register(bank))
        }
        FieldKind::Reads(_) => "16-bit count, then the registers that are read".into(),
        FieldKind::Writes(_) => "16-bit count, then the registers that are written".into(),
        FieldKind::Immediate(bank) => format!("{} constant, little-endian", register(bank)),
        FieldKind::Global => "32-bit: byte offset of the global, or ordinal of a ref global".into(),
        FieldKind::Type => "32-bit ordinal in the module's type table".into(),
        FieldKind::Rodata => "32-bit ordinal of the rodata segment".into(),
        FieldKind::Function => "32-bit ordinal; the top bit marks an import".into(),
        FieldKind::String => "16-bit length, then the bytes".into(),
        FieldKind::Target => "32-bit offset of the block".into(),
        FieldKind::Remap => "16-bit count, then pairs of registers: from, to".into(),
        FieldKind::Cases => "16-bit count, then a block and its copies for each".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn a_description_has_syntax_meaning_and_encoding() {
        let add = vmfb::Op::from_mnemonic("add.i32").expect("an addition");
        let described = describe(add);
        assert_eq!(described.syntax, "i32 result = vm.add.i32 i32 left, i32 right");
        assert!(described.markdown.contains("The sum; integers wrap around."));
        assert!(described.markdown.contains("Opcode `0x"), "{}", described.markdown);
    }
}
