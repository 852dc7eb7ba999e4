//! One instruction, read by the template that the printer writes it with.
//!
//! Names and strings are free text, so only later text may show where one ends. Each place where
//! the template can continue is tried, from left to right. If none reaches the end of the line, the
//! attempt that gets furthest tells what is wrong.

use std::collections::HashMap;
use std::sync::LazyLock;

use smallvec::{SmallVec, smallvec};
use strsim::levenshtein;

use crate::encode::Value;
use crate::isa::templates::{self, Piece};
use crate::isa::{Field, FieldKind, Op};
use crate::ordinals::RodataOrdinal;

use super::cursor::{Cursor, Mismatch, Parsed, is_symbol_byte, name};
use super::listing::{Global, InstructionLine, OperandText};
use super::operand::{self, WrittenRegister};

type Pieces = SmallVec<[Piece<'static>; 12]>;

static OPS: LazyLock<HashMap<&'static str, Op>> =
    LazyLock::new(|| Op::all().map(|op| (op.mnemonic(), op)).collect());

/// Reads `%i0 = vm.add.i32 %i1, %i2`.
pub(super) fn instruction<'s>(mut cursor: Cursor<'s>) -> Parsed<InstructionLine<'s>> {
    let results = results(&mut cursor)?;
    let op = mnemonic(&mut cursor)?;
    let mut reader = AssemblyReader { op, operands: smallvec![None; op.info().fields.len()] };
    reader.results(&results, &cursor)?;
    reader.operands(cursor)?;
    let span = cursor.line().span();
    let operands = reader.operands.into_iter().map(|it| it.unwrap_or(OperandText::OmittedType));
    Ok(InstructionLine { op, operands: operands.collect(), span, with_comment: None })
}

/// `%i0, %r1 =`, maybe nothing.
fn results(cursor: &mut Cursor<'_>) -> Parsed<Vec<WrittenRegister>> {
    let mut results = Vec::new();
    if cursor.peek() != Some(b'%') {
        return Ok(results);
    }
    loop {
        results.push(operand::written_register(cursor)?);
        if !cursor.eat(",") {
            cursor.expect("=")?;
            return Ok(results);
        }
    }
}

fn mnemonic(cursor: &mut Cursor<'_>) -> Parsed<Op> {
    let mut ahead = *cursor;
    let word = ahead.symbol("an instruction like vm.add.i32")?;
    let mnemonic = word.text.strip_prefix("vm.").unwrap_or(word.text);
    match OPS.get(mnemonic) {
        Some(Op::Block) => {
            let message = "a block begins with a label like ^bb1:".to_owned();
            Err(Mismatch { span: word.span, message })
        }
        Some(op) => {
            *cursor = ahead;
            Ok(*op)
        }
        None => {
            let hint = nearest(mnemonic).map(|op| format!("; did you mean vm.{}?", op.mnemonic()));
            let hint = hint.unwrap_or_default();
            let message = format!("expected an instruction; there is no vm.{mnemonic}{hint}");
            Err(Mismatch { span: word.span, message })
        }
    }
}

/// The instruction with the most similar mnemonic, at most two edits away.
fn nearest(mnemonic: &str) -> Option<Op> {
    let distances = Op::all().map(|op| (levenshtein(mnemonic, op.mnemonic()), op));
    distances
        .filter(|(distance, _)| *distance <= 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|it| it.1)
}

struct AssemblyReader<'s> {
    op: Op,
    operands: SmallVec<[Option<OperandText<'s>>; 6]>,
}

impl<'s> AssemblyReader<'s> {
    fn fields(&self) -> &'static [Field] {
        self.op.info().fields
    }

    /// Gives the registers before `=` to the fields that are results.
    fn results(&mut self, written: &[WrittenRegister], after: &Cursor<'s>) -> Parsed<()> {
        let mut rest = written;
        if !templates::results_come_last(self.op) {
            for (index, field) in self.fields().iter().enumerate() {
                let value = match field.kind {
                    FieldKind::Write(bank) => {
                        let Some((first, others)) = rest.split_first() else {
                            let mnemonic = self.op.mnemonic();
                            let what = format!("a result, like `%i0 = vm.{mnemonic} …`, before");
                            return Err(Mismatch {
                                span: after.line().span(),
                                message: format!("expected {what} this instruction"),
                            });
                        };
                        rest = others;
                        Value::Register(first.encode(bank)?)
                    }
                    FieldKind::Writes(bank) => {
                        let list = std::mem::take(&mut rest).iter();
                        Value::Registers(
                            list.map(|it| it.encode_in_list(bank)).collect::<Parsed<_>>()?,
                        )
                    }
                    _ => continue,
                };
                self.operands[index] = Some(OperandText::Value(value));
            }
        }
        let Some(extra) = rest.first() else { return Ok(()) };
        let mnemonic = self.op.mnemonic();
        let message = if templates::results_come_last(self.op) {
            format!("vm.{mnemonic} names its results after the block, like -> ^bb1(%i0)")
        } else if written.len() == rest.len() {
            format!("vm.{mnemonic} has no result")
        } else {
            format!("vm.{mnemonic} has one result")
        };
        Err(Mismatch { span: extra.span(), message })
    }

    fn operands(&mut self, cursor: Cursor<'s>) -> Parsed<()> {
        let Some(template) = templates::template(self.op) else {
            return self.read(cursor, &self.by_rule());
        };
        let pieces: Pieces = templates::pieces(template).collect();
        let Err(mismatch) = self.read(cursor, &pieces) else { return Ok(()) };
        if self.op == Op::SwitchRef {
            return self.read(cursor, &self.with_type(pieces)).map_err(|_| mismatch);
        }
        if self.has_plain_form() {
            let plain = self.by_rule();
            return self.read(cursor, &plain).map_err(|_| mismatch);
        }
        Err(mismatch)
    }

    /// A template with the type that the reference's disassembler leaves out, after a colon.
    fn with_type(&self, mut pieces: Pieces) -> Pieces {
        if let Some(index) = self.fields().iter().position(|field| field.kind == FieldKind::Type) {
            pieces.push(Piece::Literal(" : "));
            pieces.push(Piece::Field(index));
        }
        pieces
    }

    /// Whether the reference's assembler reads the instruction by the general rule, though its
    /// disassembler prints another form.
    /// disassembler prints it in a form of its own.
    fn has_plain_form(&self) -> bool {
        matches!(
            self.op,
            Op::Trace
                | Op::Print
                | Op::GlobalLoadIndirectI32
                | Op::GlobalLoadIndirectI64
                | Op::GlobalLoadIndirectF32
                | Op::GlobalLoadIndirectF64
                | Op::GlobalLoadIndirectRef
                | Op::GlobalStoreIndirectI32
                | Op::GlobalStoreIndirectI64
                | Op::GlobalStoreIndirectF32
                | Op::GlobalStoreIndirectF64
                | Op::GlobalStoreIndirectRef
        )
    }

    /// The general rule as a template: operands in encoding order, separated by commas, with types
    /// after colons.
    fn by_rule(&self) -> Pieces {
        let mut pieces = Pieces::new();
        for (index, field) in self.fields().iter().enumerate() {
            match field.kind {
                FieldKind::Write(_) | FieldKind::Writes(_) => continue,
                FieldKind::Type => pieces.push(Piece::Literal(":")),
                _ if !pieces.is_empty() => pieces.push(Piece::Literal(",")),
                _ => {}
            }
            pieces.push(Piece::Field(index));
        }
        pieces
    }

    /// Reads the rest of the line by the rest of a template.
    fn read(&mut self, mut cursor: Cursor<'s>, pieces: &[Piece<'static>]) -> Parsed<()> {
        let Some((piece, rest)) = pieces.split_first() else { return cursor.expect_end() };
        match piece {
            Piece::Literal(text) => self.literal(cursor, text, rest),
            Piece::Field(index) => {
                let index = *index;
                let field = &self.fields()[index];
                if matches!(field.kind, FieldKind::Type | FieldKind::Function | FieldKind::String) {
                    return self.free_text(cursor, index, rest);
                }
                let value = self.deterministic(&mut cursor, field)?;
                self.operands[index] = Some(value);
                self.read(cursor, rest)
            }
        }
    }

    fn literal(
        &mut self,
        mut cursor: Cursor<'s>,
        text: &'static str,
        rest: &[Piece<'static>],
    ) -> Parsed<()> {
        for word in words(text) {
            let next = rest.first().map(|piece| self.kind_of(piece));
            match (word, next) {
                // A list that is empty leaves no trace in the general form.
                (",", Some(Some(FieldKind::Reads(_)))) if cursor.at_end() => {
                    return self.read(cursor, rest);
                }
                // A block without register copies may omit the parentheses.
                ("(", Some(Some(FieldKind::Remap))) if cursor.peek() != Some(b'(') => {
                    return self.without_parentheses(cursor, rest);
                }
                (".rwdata[" | ".refs[", Some(Some(FieldKind::Global)))
                    if cursor.peek() == Some(b'@') =>
                {
                    return self.global_by_name(cursor, rest);
                }
                // The source type of a cast is not encoded.
                ("!vm.ref<?>", _) if cursor.peek() == Some(b'!') => {
                    cursor.take_while(|byte| !byte.is_ascii_whitespace());
                }
                _ => cursor.expect(word)?,
            }
        }
        self.read(cursor, rest)
    }

    fn kind_of(&self, piece: &Piece<'_>) -> Option<FieldKind> {
        match piece {
            Piece::Field(index) => Some(self.fields()[*index].kind),
            Piece::Literal(_) => None,
        }
    }

    fn without_parentheses(&mut self, cursor: Cursor<'s>, rest: &[Piece<'static>]) -> Parsed<()> {
        let mut rest: Pieces = rest.iter().copied().collect();
        if let [Piece::Field(remap), Piece::Literal(close), ..] = &mut rest[..] {
            self.operands[*remap] = Some(OperandText::Value(Value::Remap(Vec::new())));
            *close = close.strip_prefix(')').unwrap_or(close);
        }
        self.read(cursor, rest.get(1..).unwrap_or(&[]))
    }

    fn global_by_name(&mut self, mut cursor: Cursor<'s>, rest: &[Piece<'static>]) -> Parsed<()> {
        cursor.expect("@")?;
        let global = cursor.symbol("a global's name")?;
        let mut rest: Pieces = rest.iter().copied().collect();
        if let [Piece::Field(index), Piece::Literal(close), ..] = &mut rest[..] {
            self.operands[*index] = Some(OperandText::Global(Global::Named(global)));
            *close = close.strip_prefix(']').unwrap_or(close);
        }
        self.read(cursor, rest.get(1..).unwrap_or(&[]))
    }

    /// A field whose own text shows where it ends.
    fn deterministic(&self, cursor: &mut Cursor<'s>, field: &Field) -> Parsed<OperandText<'s>> {
        Ok(OperandText::Value(match field.kind {
            FieldKind::Reads(_) if field.name == "segment_sizes" => {
                Value::Registers(operand::sizes(cursor)?)
            }
            FieldKind::Read(bank) | FieldKind::Write(bank) => {
                Value::Register(operand::written_register(cursor)?.encode(bank)?)
            }
            FieldKind::Reads(bank) | FieldKind::Writes(bank) => {
                Value::Registers(operand::registers(cursor, bank)?)
            }
            FieldKind::Immediate(bank) => Value::Immediate(operand::immediate(cursor, bank)?),
            FieldKind::Rodata => {
                let ordinal = operand::unsigned(cursor, "the number of a rodata segment")?;
                Value::Rodata(RodataOrdinal(ordinal))
            }
            FieldKind::Remap => Value::Remap(operand::remap(cursor)?),
            FieldKind::Global => {
                let at = operand::unsigned(cursor, "the place of a global")?;
                return Ok(OperandText::Global(Global::At(at)));
            }
            FieldKind::Target => return Ok(OperandText::Target(operand::label(cursor)?)),
            FieldKind::Cases => return cases(cursor),
            FieldKind::Type | FieldKind::Function | FieldKind::String => {
                return Err(cursor.expected("an operand"));
            }
        }))
    }

    /// A field of free text: ends wherever the rest of the line then fits the rest of the template.
    fn free_text(
        &mut self,
        mut cursor: Cursor<'s>,
        index: usize,
        rest: &[Piece<'static>],
    ) -> Parsed<()> {
        let kind = self.fields()[index].kind;
        if kind == FieldKind::String {
            cursor.expect("\"").map_err(|_| cursor.expected("a string in double quotes"))?;
        } else {
            cursor.skip_space();
        }
        let stop = match rest.first() {
            _ if kind == FieldKind::String => Some("\""),
            Some(Piece::Literal(text)) => words(text).next(),
            _ => None,
        };
        let Some(stop) = stop else {
            let mut end = cursor;
            let text = end.take_rest();
            return self.ends_here(cursor, end, text, index, rest);
        };
        let mut furthest: Option<Mismatch> = None;
        for length in cursor.occurrences(stop) {
            let mut end = cursor;
            let text = end.take(length);
            if kind == FieldKind::String {
                end.take(stop.len());
            }
            match self.ends_here(cursor, end, text, index, rest) {
                Ok(()) => return Ok(()),
                Err(mismatch) => {
                    let is_further =
                        furthest.as_ref().is_none_or(|it| mismatch.span.start > it.span.start);
                    furthest = if is_further { Some(mismatch) } else { furthest };
                }
            }
        }
        Err(furthest.unwrap_or_else(|| missing(cursor, kind, stop)))
    }

    fn ends_here(
        &mut self,
        start: Cursor<'s>,
        end: Cursor<'s>,
        text: super::lines::Text<'s>,
        index: usize,
        rest: &[Piece<'static>],
    ) -> Parsed<()> {
        let kind = self.fields()[index].kind;
        let trimmed = text.trim();
        let operand = match kind {
            FieldKind::String => OperandText::Value(Value::String(text.text.to_vec())),
            FieldKind::Type if trimmed.is_empty() => {
                return Err(start.expected("a type like !vm.buffer"));
            }
            FieldKind::Type => OperandText::Type(name(trimmed)?),
            _ if trimmed.is_empty() => return Err(start.expected("a function's name")),
            _ => OperandText::Function(name(trimmed)?),
        };
        self.operands[index] = Some(operand);
        self.read(end, rest)
    }
}

/// The parts of a template's literal between which space may be.
fn words(literal: &str) -> impl Iterator<Item = &str> {
    literal.split_inclusive([')', ']', ',']).flat_map(str::split_whitespace)
}

/// That the text which ends a free one is missing.
fn missing(mut cursor: Cursor<'_>, kind: FieldKind, stop: &str) -> Mismatch {
    if kind == FieldKind::String {
        let text = cursor.take_rest();
        let end = text.span().end;
        return Mismatch {
            span: end..end,
            message: "expected `\"` at the end of the string".to_owned(),
        };
    }
    cursor.take_while(|byte| is_symbol_byte(byte) || b":!<>?".contains(&byte));
    cursor.expected(&format!("`{stop}`"))
}

/// `, 0: ^bb1(), 1: ^bb2(%i0->%i1)`, maybe nothing.
fn cases<'s>(cursor: &mut Cursor<'s>) -> Parsed<OperandText<'s>> {
    let mut cases = Vec::new();
    while cursor.eat(",") {
        let what = format!("case {}: cases are numbered from 0 without gaps", cases.len());
        let mut ahead = *cursor;
        let ordinal: u32 = operand::unsigned(&mut ahead, &what)?;
        if ordinal as usize != cases.len() {
            return Err(cursor.expected(&what));
        }
        *cursor = ahead;
        cursor.expect(":")?;
        let target = operand::label(cursor)?;
        let mut remap = Vec::new();
        if cursor.eat("(") {
            remap = operand::remap(cursor)?;
            cursor.expect(")")?;
        }
        cases.push((target, remap));
    }
    Ok(OperandText::Cases(cases))
}
