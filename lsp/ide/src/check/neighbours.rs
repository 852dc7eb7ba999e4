//! Tokens that no assembly form has side by side, such as two values without a comma.
//!
//! MLIR lets each dialect choose its forms, yet all forms are made of the same parts: operands,
//! types, attributes and keywords. No form of a listed dialect has two operands in a row, or a type
//! right after an operand. The table below holds for every operation in the tests of IREE.

use syntax::{Leaf, NodeKind, TokenKind};

use super::diagnostic::Diagnostic;
use super::reading::Reading;
use crate::operations::is_type;

/// What a token is to its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Value,
    Type,
    Number,
    String,
    Symbol,
    Block,
    Attribute,
    Word,
    Arrow,
    Sign(u8),
}

/// The faults that pairs of neighbours show.
pub(super) fn faults(reading: &Reading, found: &mut Vec<Diagnostic>) {
    let leaves = reading.tree.tokens();
    for &(token, node) in &reading.tokens {
        // Types and attributes are all that `>` closes, and nothing is compared with it.
        if leaves[token].is(b'>')
            && !matches!(reading.tree.node(node).kind, NodeKind::Angle | NodeKind::Label)
            && reading.operation_of(node) != 0
            && !reading.is_opaque(node)
        {
            let message = "this `>` closes nothing: remove it, or add the `<` that it belongs to";
            let range = reading.range(&leaves[token]);
            let fault = Diagnostic::error(range.clone(), "stray-bracket", message);
            found.push(fault.mended(range, ""));
        }
    }
    for pair in reading.tokens.windows(2) {
        let [(first, first_node), (second, second_node)] = [pair[0], pair[1]];
        let (before, here) = (&leaves[first], &leaves[second]);
        let outside = !is_bracket(reading.tree.node(second_node).kind);
        if here.line_start && outside
            || reading.operation_of(first_node) != reading.operation_of(second_node)
            || reading.is_opaque(first_node)
            || reading.is_opaque(second_node)
        {
            continue;
        }
        let next = leaves.get(second + 1);
        let (left, right) = (part(reading, before), part(reading, here));
        let is_key = next.is_some_and(|next| next.is(b'='));
        // A bracket stands in what is around it.
        let node = reading.tree.node(second_node);
        let opens = node.first as usize == second && is_bracket(node.kind);
        let around = if opens { reading.tree.node(node.parent).kind } else { node.kind };
        let never = never(left, right, next) || never_in(around, left, right);
        // `%a#1` is one operand, and `4x!type` one type.
        let touches = before.end == here.start;
        let is_one =
            touches && matches!((left, right), (_, Part::Value) | (Part::Number, Part::Type));
        if is_key && right == Part::Type || is_one || !never {
            continue;
        }
        let op = reading.op(reading.operation_of(second_node));
        if is_exception(op, left, right) {
            continue;
        }
        let mut fault = Diagnostic::error(
            reading.range(here),
            "neighbours",
            message(left, right, reading.text(before), reading.text(here)),
        );
        let after = reading.range(before).end;
        for separator in missing(left, right) {
            let spaced = if *separator == "," { ",".to_owned() } else { format!(" {separator}") };
            let space = if touches { " " } else { "" };
            fault = fault.mended(after..after, spaced + space);
        }
        found.push(fault);
    }
}

fn is_bracket(kind: NodeKind) -> bool {
    kind.is_group() || kind == NodeKind::Label
}

fn part(reading: &Reading, token: &Leaf) -> Part {
    match token.kind {
        TokenKind::Value => Part::Value,
        TokenKind::Type => Part::Type,
        TokenKind::Word if is_type(reading.text(token)) => Part::Type,
        TokenKind::Number => Part::Number,
        TokenKind::String => Part::String,
        TokenKind::Symbol => Part::Symbol,
        TokenKind::Block => Part::Block,
        TokenKind::Attribute if is_pack(reading.text(token)) => Part::Value,
        TokenKind::Attribute => Part::Attribute,
        TokenKind::Arrow => Part::Arrow,
        TokenKind::Punct(byte) => Part::Sign(byte),
        TokenKind::Word
        | TokenKind::Comment
        | TokenKind::UnterminatedString
        | TokenKind::Unknown => Part::Word,
    }
}

/// Whether this is the `#1` of `%a#1`.
fn is_pack(text: &str) -> bool {
    text.len() > 1 && text.bytes().skip(1).all(|byte| byte.is_ascii_digit())
}

/// Whether no form has these parts side by side.
fn never(left: Part, right: Part, next: Option<&Leaf>) -> bool {
    use Part::{Arrow, Attribute, Block, Number, Sign, String, Symbol, Type, Value};
    match (left, right) {
        (Value, Value | Type | Number | Sign(b'?' | b'+' | b'|')) => true,
        (Number, Value | Number | Attribute | Symbol | String | Block | Sign(b'(')) => true,
        (Type, Value | Type | Number | String | Symbol | Block | Sign(b'[' | b'?')) => true,
        (Sign(b'>'), Value | Type | Number | Symbol | Block | Sign(b'?')) => true,
        (Sign(b')'), Number | Attribute | Block | Value | Type | Sign(b'?')) => true,
        // `"op"(%a) ({ … })` is the only list after a list.
        (Sign(b')'), Sign(b'(')) => !next.is_some_and(|next| next.is(b'{')),
        (Sign(b']'), Value | Type | Number | String | Symbol | Block | Sign(b'?')) => true,
        (Sign(b'}'), Value | Type | Symbol | Block | Sign(b'?')) => true,
        (Symbol, Value | Type | Number | Block | Sign(b'?')) => true,
        (String, Type | Number | String | Attribute | Block | Sign(b'?')) => true,
        (Attribute, Type | Number | String | Symbol | Block | Sign(b'?')) => true,
        (Block, Value | Type | Number | String | Symbol | Attribute) => true,
        (Arrow, Number | String | Sign(b',' | b':' | b'=' | b')' | b']' | b'}')) => true,
        (Sign(b','), Sign(b',' | b':' | b'=')) => true,
        (Sign(b':'), Arrow | Sign(b',' | b'=' | b')' | b'}')) => true,
        (Sign(b'='), Arrow | Sign(b',' | b':' | b')' | b']')) => true,
        (Sign(b'(' | b'['), Sign(b',' | b':' | b'=')) => true,
        _ => false,
    }
}

/// Whether no form has these parts side by side in a node of this kind.
fn never_in(kind: NodeKind, left: Part, right: Part) -> bool {
    match (left, right) {
        // `<4x!type>` is one type.
        (Part::Number, Part::Type) => kind != NodeKind::Angle,
        (Part::Attribute, Part::Attribute) => kind == NodeKind::Bracket,
        (Part::Value, Part::Block) => kind == NodeKind::Operation,
        // `!llvm.func<i32 (f32)>`
        (Part::Type, Part::Sign(b'(')) => kind != NodeKind::Angle,
        _ => false,
    }
}

/// Forms of single operations that have such a pair.
fn is_exception(op: &str, left: Part, right: Part) -> bool {
    use Part::{Attribute, Sign, String, Type, Value};
    match (left, right) {
        // `on(#device) %source`, `scf.condition(%c) %a`, `sizes(%a)(%b)`.
        (Sign(b')'), Value | Sign(b'(')) => !has_plain_lists(op),
        (Sign(b')'), Type) => op.starts_with("stream."),
        (Sign(b'}'), Value) => !op.starts_with("arith.") && !op.starts_with("func."),
        // `amdgpu.mfma 4x4x1 %in * %in + %out`: its forms change from release to release.
        _ if op.starts_with("amdgpu.") => true,
        // `spirv.CL.printf %format %a, %b`.
        (Value, Value) => op == "spirv.CL.printf",
        (Value, Part::Block) => op.starts_with("pcf."),
        (Attribute | String, Value) => true,
        // An alias's value ends where the next alias begins.
        (_, Type) if op.is_empty() => true,
        _ => false,
    }
}

/// Whether a list in parentheses ends the operands of this operation.
fn has_plain_lists(op: &str) -> bool {
    let dialect = crate::operations::dialect_of(op);
    let plain = ["", "affine", "arith", "cf", "complex", "func", "linalg", "math", "memref"];
    plain.contains(&dialect)
        || matches!(op, "util.call" | "vm.call")
        || ["scf.", "tensor.", "vector."].iter().any(|plain| op.starts_with(plain))
            && !matches!(op, "scf.condition" | "tensor.concat")
}

fn message(left: Part, right: Part, before: &str, here: &str) -> String {
    let short = |text: &str| -> String {
        match text.char_indices().nth(40) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text.to_owned(),
        }
    };
    let (before, here) = (short(before), short(here));
    let missing: Vec<String> =
        missing(left, right).iter().map(|separator| format!("`{separator}`")).collect();
    if missing.is_empty() {
        return format!("something is missing between `{before}` and `{here}`");
    }
    format!("expected {} between `{before}` and `{here}`", missing.join(" or "))
}

/// What may be missing between two parts.
fn missing(left: Part, right: Part) -> &'static [&'static str] {
    match (left, right) {
        (Part::Sign(b',' | b':' | b'=' | b'(' | b'['), _) | (Part::Arrow, _) => &[],
        (Part::Type | Part::Sign(b'>'), Part::Type) => &[",", "->"],
        (_, Part::Type) | (Part::Sign(b')'), Part::Sign(b'(')) => &[":"],
        (_, Part::Sign(_)) => &[",", ":"],
        _ => &[","],
    }
}
