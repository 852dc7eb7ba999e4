//! One line by its kind: a directive, a function's header or end, a label, an instruction.

use abi::cconv::{Signature, ValueType};

use crate::isa::{Bank, Op};
use crate::ordinals::Register;

use super::cursor::{Cursor, Mismatch, Parsed, is_symbol_byte, name};
use super::instruction::instruction;
use super::lines::Text;
use super::listing::{FunctionLines, GlobalLine, ImportLine, InstructionLine, Label, Name, Span};
use super::operand::{unsigned, written_register};

/// A line that was read.
pub(super) enum Line<'s> {
    Module(Name<'s>, u32),
    Type(Name<'s>),
    Import(ImportLine<'s>),
    Rodata {
        ordinal: u32,
        bytes: Vec<u8>,
        span: Span,
    },
    /// `vm.rodata[0] = // 5000 bytes elided`: a segment whose bytes the printer left out.
    OmittedRodata {
        ordinal: u32,
        span: Span,
    },
    Global(GlobalLine<'s>),
    Export {
        text: Name<'s>,
        with_comment: Option<Name<'s>>,
    },
    Function(Box<FunctionLines<'s>>),
    End(Span),
    Label(Label<'s>),
    Instruction(InstructionLine<'s>),
}

impl<'s> Line<'s> {
    /// Whether the line has a name of free text, to which a comment after it may belong.
    pub(super) fn has_free_name(&self) -> bool {
        match self {
            Self::Export { .. } => true,
            Self::Instruction(line) => line.callee().is_some(),
            _ => false,
        }
    }

    /// Remembers what the line says if its comment is none.
    pub(super) fn note_comment(&mut self, whole: Option<Line<'s>>) {
        match (self, whole) {
            (Self::Export { with_comment, .. }, Some(Self::Export { text, .. })) => {
                *with_comment = Some(text);
            }
            (Self::Instruction(line), Some(Self::Instruction(whole))) => {
                line.with_comment = Some(Box::new(whole));
            }
            _ => {}
        }
    }

    /// Whether the line belongs between the braces of a function.
    pub(super) fn is_in_function(&self) -> bool {
        matches!(self, Self::End(_) | Self::Label(_) | Self::Instruction(_))
    }

    /// A place on the line to point at.
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Module(name, _)
            | Self::Type(name)
            | Self::Export { text: name, .. }
            | Self::Label(name)
            | Self::Import(ImportLine { name, .. })
            | Self::Global(GlobalLine { name, .. }) => name.span.clone(),
            Self::Function(function) => function.name.span.clone(),
            Self::Rodata { span, .. } | Self::OmittedRodata { span, .. } | Self::End(span) => {
                span.clone()
            }
            Self::Instruction(instruction) => instruction.span.clone(),
        }
    }
}

/// Reads a line that is not empty.
pub(super) fn line(mut cursor: Cursor<'_>, in_function: bool) -> Parsed<Line<'_>> {
    let text = cursor.rest();
    let word = text.text.split(|byte| !is_symbol_byte(*byte)).next().unwrap_or_default();
    let mut rest = cursor;
    rest.take_while(is_symbol_byte);
    match word {
        b"vm.module" => module(rest),
        b"vm.type" => type_line(rest),
        b"vm.import" => import(rest),
        b"vm.rodata" => rodata(rest, text.span()),
        b"vm.export" => export(rest),
        b"vm.func" => function(rest).map(|it| Line::Function(Box::new(it))),
        b"vm.global.i32" | b"vm.global.f32" => global(rest, 4),
        b"vm.global.i64" | b"vm.global.f64" => global(rest, 8),
        b"vm.global.ref" => global(rest, 0),
        _ if !in_function => Err(outside(cursor)),
        _ if cursor.eat("}") => {
            cursor.expect_end()?;
            Ok(Line::End(text.span()))
        }
        _ if cursor.peek() == Some(b'^') => label(cursor),
        _ => instruction(cursor).map(Line::Instruction),
    }
}

fn outside(mut cursor: Cursor<'_>) -> Mismatch {
    let mut mismatch = cursor
        .expected("vm.module, vm.type, vm.import, vm.rodata, vm.global, vm.export or vm.func");
    let mnemonic = cursor.symbol("").ok().and_then(|word| word.text.strip_prefix("vm."));
    let is_of_a_function = cursor.peek().is_some_and(|byte| b"^%}".contains(&byte))
        || mnemonic.and_then(Op::from_mnemonic).is_some();
    if is_of_a_function {
        mismatch.message += "; labels and instructions stand between the braces of a function";
    }
    mismatch
}

fn label(mut cursor: Cursor<'_>) -> Parsed<Line<'_>> {
    let label = super::operand::label(&mut cursor)?;
    cursor.expect(":")?;
    cursor.expect_end()?;
    Ok(Line::Label(label))
}

/// `@name version 0`; the version may be left out.
fn module(mut cursor: Cursor<'_>) -> Parsed<Line<'_>> {
    cursor.expect("@")?;
    let (symbol, version) = match simple_module(cursor) {
        Ok(read) => read,
        Err(mismatch) => free_module(cursor).ok_or(mismatch)?,
    };
    Ok(Line::Module(symbol, version))
}

fn simple_module(mut cursor: Cursor<'_>) -> Parsed<(Name<'_>, u32)> {
    let symbol = cursor.symbol("the module's name")?;
    let mut version = 0;
    if cursor.eat_keyword("version") {
        version = unsigned(&mut cursor, "a version number")?;
    }
    cursor.expect_end()?;
    Ok((symbol, version))
}

/// A module line: the name is free text, the version the last word.
fn free_module(cursor: Cursor<'_>) -> Option<(Name<'_>, u32)> {
    let separator = cursor.occurrences(" version ").last()?;
    let mut rest = cursor;
    let text = rest.take(separator).trim();
    rest.eat("version");
    let version = unsigned(&mut rest, "a version number").ok()?;
    let symbol = name(text).ok().filter(|name| !name.text.is_empty())?;
    rest.at_end().then_some((symbol, version))
}

fn type_line(mut cursor: Cursor<'_>) -> Parsed<Line<'_>> {
    if cursor.at_end() {
        return Err(cursor.expected("a type like i32 or !vm.buffer"));
    }
    name(cursor.take_rest()).map(Line::Type)
}

/// `optional @name cconv "0v_v"`; the name is free text.
fn import(mut cursor: Cursor<'_>) -> Parsed<Line<'_>> {
    let is_optional = cursor.eat_keyword("optional");
    cursor.expect("@")?;
    let mut first = None;
    for length in cursor.occurrences("cconv") {
        let mut end = cursor;
        let text = end.take(length).trim();
        match calling_convention(end) {
            Ok(_) if text.is_empty() => break,
            Ok(calling_convention) => {
                let name = name(text)?;
                return Ok(Line::Import(ImportLine { name, calling_convention, is_optional }));
            }
            Err(mismatch) => first = first.or(Some(mismatch)),
        }
    }
    if let Some(mismatch) = first {
        return Err(mismatch);
    }
    cursor.symbol("the import's name, like module.function")?;
    Err(cursor.expected("`cconv \"…\"`"))
}

fn calling_convention(mut cursor: Cursor<'_>) -> Parsed<Name<'_>> {
    cursor.expect("cconv")?;
    cursor.expect("\"")?;
    let text = cursor.take_while(|byte| byte != b'"');
    cursor.expect("\"")?;
    cursor.expect_end()?;
    let text = name(text)?;
    match Signature::parse(text.text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let message = format!("expected a calling convention like 0ii_i: {error}");
            Err(Mismatch { span: text.span, message })
        }
    }
}

/// `[0] = 68616C`
fn rodata(mut cursor: Cursor<'_>, span: Span) -> Parsed<Line<'_>> {
    cursor.expect("[")?;
    let ordinal = unsigned(&mut cursor, "the number of a rodata segment")?;
    cursor.expect("]")?;
    cursor.expect("=")?;
    let bytes = hex(cursor.take_rest())?;
    Ok(Line::Rodata { ordinal, bytes, span })
}

fn hex(text: Text<'_>) -> Parsed<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = Vec::with_capacity(text.text.len() / 2);
    for (index, pair) in text.text.chunks(2).enumerate() {
        let &[high, low] = pair else {
            let end = text.span().end;
            let message = "expected an even number of hexadecimal digits".to_owned();
            return Err(Mismatch { span: end - 1..end, message });
        };
        let (Some(high), Some(low)) = (digit(high), digit(low)) else {
            let at = text.start + index * 2;
            let message = "expected two hexadecimal digits per byte".to_owned();
            return Err(Mismatch { span: at..at + 2, message });
        };
        bytes.push((high << 4 | low) as u8);
    }
    Ok(bytes)
}

/// `private mutable @name = 0 : i32`, all but the name may be left out; for refs `@name : !type`.
fn global(mut cursor: Cursor<'_>, size: u32) -> Parsed<Line<'_>> {
    cursor.eat_keyword("private");
    cursor.eat_keyword("mutable");
    cursor.expect("@")?;
    let symbol = cursor.symbol("the global's name")?;
    if size != 0 && cursor.eat("=") {
        let what = "0: other values are set by instructions of __init";
        let mut ahead = cursor;
        if unsigned::<u32>(&mut ahead, what)? != 0 {
            return Err(cursor.expected(what));
        }
        cursor = ahead;
    }
    if cursor.eat(":") {
        if cursor.at_end() {
            return Err(cursor.expected("a type"));
        }
        cursor.take_rest();
    }
    cursor.expect_end()?;
    Ok(Line::Global(GlobalLine { name: symbol, size }))
}

fn export(mut cursor: Cursor<'_>) -> Parsed<Line<'_>> {
    cursor.expect("@")?;
    if cursor.at_end() {
        return Err(cursor.expected("the export's name"));
    }
    let text = name(cursor.take_rest())?;
    Ok(Line::Export { text, with_comment: None })
}

/// `@name(%i0: i32) -> (i32) {`; the name is free text, and ends where a signature follows.
fn function(mut cursor: Cursor<'_>) -> Parsed<FunctionLines<'_>> {
    cursor.expect("@")?;
    let mut first = None;
    for length in cursor.occurrences("(") {
        let mut end = cursor;
        let text = end.take(length).trim();
        if text.is_empty() {
            break;
        }
        match signature(end) {
            Ok(signature) => {
                return Ok(FunctionLines::new(name(text)?, signature));
            }
            Err(mismatch) => first = first.or(Some(mismatch)),
        }
    }
    if let Some(mismatch) = first {
        return Err(mismatch);
    }
    cursor.symbol("the function's name")?;
    Err(cursor.expected("`(`"))
}

/// Stands in for a header that cannot be read, so that the body is still read.
pub(super) fn damaged_header(header: Text<'_>) -> FunctionLines<'_> {
    let mut cursor = Cursor::new(header);
    cursor.eat("vm.func");
    cursor.eat("@");
    let start = cursor.offset();
    let name = cursor.symbol("").unwrap_or(Name { text: "", span: start..start });
    FunctionLines { is_damaged: true, ..FunctionLines::new(name, Signature::default()) }
}

fn signature(mut cursor: Cursor<'_>) -> Parsed<Signature> {
    let mut signature = Signature::default();
    cursor.expect("(")?;
    let mut numbering = Numbering::default();
    while !cursor.eat(")") {
        if !signature.arguments.is_empty() {
            cursor.expect(",")?;
        }
        signature.arguments.push(argument(&mut cursor, &mut numbering)?);
    }
    cursor.expect("->")?;
    cursor.expect("(")?;
    while !cursor.eat(")") {
        if !signature.results.is_empty() {
            cursor.expect(",")?;
        }
        signature.results.push(result(&mut cursor)?);
    }
    cursor.expect("{")?;
    cursor.expect_end()?;
    Ok(signature)
}

/// The register that the next argument is in. Pairs are aligned; the reference's tools count
/// without alignment in headers, so both ways are right.
#[derive(Default)]
struct Numbering {
    unaligned: u16,
    aligned: u16,
    refs: u16,
}

fn argument(cursor: &mut Cursor<'_>, numbering: &mut Numbering) -> Parsed<ValueType> {
    let before = *cursor;
    let register = written_register(cursor)?;
    cursor.expect(":")?;
    let value_type = value_type(cursor)?;
    let (bank, size) = match value_type {
        ValueType::Ref => (Bank::Ref, 0),
        ValueType::I64 => (Bank::I64, 2),
        ValueType::F64 => (Bank::F64, 2),
        _ => (Bank::I32, 1),
    };
    let encoded = register.encode(bank)?;
    if size == 0 {
        let expected = numbering.refs;
        numbering.refs += 1;
        if encoded != Register(expected | Register::REF_BIT) {
            return Err(before.expected(&format!("%r{expected}: arguments are numbered in order")));
        }
        return Ok(value_type);
    }
    let aligned = numbering.aligned.next_multiple_of(size);
    let unaligned = numbering.unaligned;
    (numbering.aligned, numbering.unaligned) = (aligned + size, unaligned + size);
    if encoded.0 != aligned && encoded.0 != unaligned {
        let high = if size == 2 { format!(":{}", aligned + 1) } else { String::new() };
        let what = format!("%i{aligned}{high}: arguments are numbered in order");
        return Err(before.expected(&what));
    }
    Ok(value_type)
}

/// A type, possibly with a register before it.
fn result(cursor: &mut Cursor<'_>) -> Parsed<ValueType> {
    if cursor.peek() == Some(b'%') {
        written_register(cursor)?;
        cursor.expect(":")?;
    }
    value_type(cursor)
}

fn value_type(cursor: &mut Cursor<'_>) -> Parsed<ValueType> {
    let mut ahead = *cursor;
    let text = ahead.take_while(|byte| !b",)".contains(&byte)).trim();
    let value_type = match text.text {
        b"i32" => ValueType::I32,
        b"i64" => ValueType::I64,
        b"f32" => ValueType::F32,
        b"f64" => ValueType::F64,
        [b'!', ..] => ValueType::Ref,
        _ => return Err(cursor.expected("i32, i64, f32, f64 or a ref type like !vm.ref<?>")),
    };
    *cursor = ahead;
    Ok(value_type)
}
