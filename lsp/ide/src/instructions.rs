//! What the table of the VM's instructions says about one, for hovers and completion.

use std::fmt::Write;

use vmfb::Op;
use vmfb::isa::{Bank, FieldKind, OpcodeSet};

/// An instruction described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// One line: `i32 result = vm.add.i32 i32 left, i32 right`.
    pub syntax: String,
    /// The same to be filled in.
    pub snippet: String,
    /// Meaning, operands, encoding.
    pub markdown: String,
}

/// Describes an instruction.
pub fn describe(op: Op) -> Described {
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
    if let Some(meaning) = meaning(info.mnemonic) {
        let _ = writeln!(markdown, "{meaning}\n");
    }
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

/// What instructions do, by their mnemonic's words; families share a sentence.
fn meaning(mnemonic: &str) -> Option<String> {
    let parts: Vec<&str> = mnemonic.split('.').collect();
    let unsigned = if parts.contains(&"u") { ", both read as unsigned" } else { "" };
    let signed = if parts.contains(&"s") { ", both read as signed" } else { unsigned };
    let text = match parts[0] {
        "add" => "The sum; integers wrap around.".into(),
        "sub" => "The difference; integers wrap around.".into(),
        "mul" => "The product; integers wrap around.".into(),
        "div" => format!("The quotient{signed}; an integer division by zero fails."),
        "rem" => format!("The remainder{signed}; an integer division by zero fails."),
        "fma" => "`a * b + c`; of floats rounded once.".into(),
        "abs" => "The absolute value.".into(),
        "neg" => "The negative.".into(),
        "min" => format!("The smaller of two{signed}."),
        "max" => format!("The larger of two{signed}."),
        "not" => "All bits flipped.".into(),
        "and" | "or" | "xor" => format!("Bitwise {}.", parts[0]),
        "ctlz" => "The count of zero bits before the highest one bit.".into(),
        "shl" => "The bits moved up; the amount is a 32-bit register.".into(),
        "shr" => format!(
            "The bits moved down{}.",
            if parts.contains(&"s") { ", the sign copied in" } else { ", zeros moved in" }
        ),
        "ceil" => "Rounded towards positive infinity.".into(),
        "floor" => "Rounded towards negative infinity.".into(),
        "round" if parts.contains(&"even") => {
            "Rounded to the nearest integer, halves to even.".into()
        }
        "round" => "Rounded to the nearest integer, halves away from zero.".into(),
        "cmp" => format!(
            "1 where the comparison holds, else 0: {}{signed}.",
            match parts.get(1) {
                Some(&"eq") => "equal",
                Some(&"ne") => "not equal",
                Some(&"lt") => "less",
                Some(&"lte") => "less or equal",
                Some(&"gt") => "greater",
                Some(&"gte") => "greater or equal",
                Some(&"nz") => "not zero, or not null",
                Some(&"nan") => "not a number",
                _ => "as its name says",
            }
        ),
        "select" => "The first value where the condition is not 0, else the second.".into(),
        "switch" => "The value whose place is the index; the default where there is none.".into(),
        "const" if parts.contains(&"zero") => "Zero, or null.".into(),
        "const" if parts.contains(&"rodata") => {
            "A reference to constant bytes of the module.".into()
        }
        "const" => "A constant.".into(),
        "trunc" => "The low bits.".into(),
        "ext" => format!(
            "Widened{}.",
            if parts.contains(&"s") { "; the sign is copied" } else { "; with zeros" }
        ),
        "cast" | "bitcast" => "Converted to the other type; `bitcast` keeps the bits.".into(),
        "br" => "Goes to the block, after copying registers to where it expects them.".into(),
        "cond_br" => {
            "Goes to the first block where the condition is not 0, else to the second.".into()
        }
        "br_table" => {
            "Goes to the block whose number is the index; to the default where there is none."
                .into()
        }
        "call" if parts.contains(&"variadic") => {
            "Calls a function with lists of operands whose lengths the call gives.".into()
        }
        "call" => "Calls a function of the module or an import.".into(),
        "return" => "Ends the function with these results.".into(),
        "fail" => {
            "Ends the invocation with a status code and a message; code 0 does nothing.".into()
        }
        "yield" => "Gives control back to the host, which resumes at the block.".into(),
        "import" => "1 where an optional import was found when the module was linked.".into(),
        "global" if parts.contains(&"load") => "Reads a global.".into(),
        "global" => "Writes a global.".into(),
        "list" => format!("List: {}. An index beyond the end fails.", parts[1..].join(" ")),
        "buffer" => format!(
            "Buffer: {}. A range beyond the end fails. Offsets of loads and stores count elements.",
            parts[1..].join(" ")
        ),
        "trace" | "print" | "break" | "cond_break" => {
            "For debugging; does not change values.".into()
        }
        "block" => "Marks the start of a block.".into(),
        "discard" => "Releases references before their registers are written again.".into(),
        "assign" => "Copies a reference to another register.".into(),
        "exp" | "exp2" | "expm1" | "log" | "log10" | "log1p" | "log2" | "pow" | "rsqrt"
        | "sqrt" | "tanh" | "erf" | "sin" | "cos" | "atan" | "atan2" => {
            format!("The mathematical function {}.", parts[0])
        }
        _ => return None,
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{describe, meaning};

    #[test]
    fn every_instruction_has_a_description() {
        let without: Vec<_> = vmfb::Op::all()
            .map(vmfb::Op::mnemonic)
            .filter(|mnemonic| meaning(mnemonic).is_none())
            .collect();
        assert!(without.is_empty(), "{without:?}");
        let add = vmfb::Op::from_mnemonic("add.i32").expect("an addition");
        let described = describe(add);
        assert_eq!(described.syntax, "i32 result = vm.add.i32 i32 left, i32 right");
        assert!(described.markdown.contains("Opcode `0x"), "{}", described.markdown);
    }
}
