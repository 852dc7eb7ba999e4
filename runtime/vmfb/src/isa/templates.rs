//! The syntax of instructions that do not print by rule: templates that the printer fills in and
//! the assembler reads, so that the two cannot drift apart.
//!
//! In a template, `{N}` is field N in encoding order; other braces stand for themselves. Results
//! are not in templates; they come first (`%i0 = `). An instruction without a template lists its
//! operands in encoding order, separated by commas.

use super::table::Op;

/// A part of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece<'t> {
    /// Literal text.
    Literal(&'t str),
    /// The field with this index.
    Field(usize),
}

/// The text after the mnemonic, for instructions that do not print by rule.
pub(crate) fn template(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::GlobalLoadI32 | Op::GlobalLoadI64 | Op::GlobalLoadF32 | Op::GlobalLoadF64 => {
            " .rwdata[{0}]"
        }
        Op::GlobalStoreI32 | Op::GlobalStoreI64 | Op::GlobalStoreF32 | Op::GlobalStoreF64 => {
            " {1}, .rwdata[{0}]"
        }
        Op::GlobalLoadIndirectI32
        | Op::GlobalLoadIndirectI64
        | Op::GlobalLoadIndirectF32
        | Op::GlobalLoadIndirectF64 => " .rwdata[{0}]",
        Op::GlobalStoreIndirectI32
        | Op::GlobalStoreIndirectI64
        | Op::GlobalStoreIndirectF32
        | Op::GlobalStoreIndirectF64 => " {1}, .rwdata[{0}]",
        Op::GlobalLoadRef | Op::GlobalLoadIndirectRef => " .refs[{0}] : {1}",
        Op::GlobalStoreRef | Op::GlobalStoreIndirectRef => " {2}, .refs[{0}] : {1}",
        Op::ListAlloc => " {1} : !vm.list<{0}>",
        Op::ListGetRef => " {0}, {1} : {2}",
        Op::SelectI32 | Op::SelectI64 | Op::SelectF32 | Op::SelectF64 => " {0} ? {1} : {2}",
        Op::SelectRef => " {0} ? {2} : {3} -> {1}",
        Op::SwitchI32 | Op::SwitchI64 | Op::SwitchF32 | Op::SwitchF64 => " {0}[{2}] else {1}",
        Op::SwitchRef => " {0}[{3}] else {2}",
        Op::CastAnyRef => " {0} : !vm.ref<?> -> {1}",
        Op::BufferStoreI8
        | Op::BufferStoreI16
        | Op::BufferStoreI32
        | Op::BufferStoreI64
        | Op::BufferStoreF32
        | Op::BufferStoreF64 => " {2}, {0}, {1}",
        Op::Branch | Op::Yield | Op::Break => " {0}({1})",
        Op::CondBranch => " {0}, {1}({2}), {3}({4})",
        Op::CondBreak => " {0}, {1}({2})",
        Op::BranchTable => " {0} { default: {1}({2}){3} }",
        Op::Call => " @{0}({1})",
        Op::CallVariadic => " @{0} segments[{1}]({2})",
        Op::CallYieldable => " @{0}({1}) -> {2}({3})",
        Op::CallVariadicYieldable => " @{0} segments[{1}]({2}) -> {3}({4})",
        Op::ImportResolved => " @{0}",
        Op::Trace | Op::Print => " {0}({1})",
        Op::DiscardRefs => " {0}",
        _ => return None,
    })
}

/// Whether the results follow the block that the instruction continues in, instead of preceding
/// `=`.
pub(crate) fn results_come_last(op: Op) -> bool {
    matches!(op, Op::CallYieldable | Op::CallVariadicYieldable)
}

/// The parts of a template, in order.
pub(crate) fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(field) = placeholder(rest) {
            rest = &rest["{0}".len()..];
            return Some(Piece::Field(field));
        }
        let end = (1..rest.len()).find(|at| placeholder(&rest[*at..]).is_some());
        let (literal, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(Piece::Literal(literal))
    })
}

/// The field that a text beginning with `{N}` names.
fn placeholder(text: &str) -> Option<usize> {
    match text.as_bytes() {
        [b'{', digit, b'}', ..] if digit.is_ascii_digit() => Some(usize::from(digit - b'0')),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::FieldKind;

    #[test]
    fn braces_without_a_number_are_text() {
        let parts: Vec<_> = pieces(" {0} { default: {1}({2}){3} }").collect();
        assert_eq!(
            parts,
            [
                Piece::Literal(" "),
                Piece::Field(0),
                Piece::Literal(" { default: "),
                Piece::Field(1),
                Piece::Literal("("),
                Piece::Field(2),
                Piece::Literal(")"),
                Piece::Field(3),
                Piece::Literal(" }"),
            ]
        );
    }

    #[test]
    fn templates_name_each_operand_once() {
        for op in Op::all() {
            let Some(template) = template(op) else { continue };
            let mut named: Vec<usize> = pieces(template)
                .filter_map(|piece| match piece {
                    Piece::Field(index) => Some(index),
                    Piece::Literal(_) => None,
                })
                .collect();
            named.sort_unstable();
            let fields = op.info().fields.iter().enumerate();
            let operands: Vec<usize> = fields
                .filter(|(_, field)| {
                    let is_result =
                        matches!(field.kind, FieldKind::Write(_) | FieldKind::Writes(_));
                    // The reference prints no type for this one.
                    let is_silent = op == Op::SwitchRef && field.kind == FieldKind::Type;
                    !is_silent && (!is_result || results_come_last(op))
                })
                .map(|(index, _)| index)
                .collect();
            assert_eq!(named, operands, "{}", op.mnemonic());
        }
    }
}
