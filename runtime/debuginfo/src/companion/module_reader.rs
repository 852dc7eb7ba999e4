//! Reads the outermost level of the text: the module and the lines in it.
//!
//! Outside functions every operation takes exactly one line, so irrelevant lines are skipped
//! without being scanned. That makes constants of any size cheap.

use vmfb::RodataOrdinal;

use super::function_reader::FunctionReader;
use super::model::{Companion, CompanionExport, CompanionGlobal, NestedText};
use super::operation_reader::Names;
use crate::locations::LocationId;
use crate::mlir_text::{Cursor, Locations, Result};

/// The most bytes of a constant's line before its digits begin.
const CONSTANT_HEAD: usize = 4096;

/// `vm.module` in hexadecimal, with which the text of a nested VM module begins.
const NESTED_PREFIX: &[u8] = b"766D2E6D6F64756C65";

pub(super) fn parse(text: &[u8]) -> Result<Companion> {
    let mut cursor = Cursor::new(text);
    let mut locations = Locations::default();
    let mut names = Names::default();
    let mut rodata = RodataOrdinal(0);
    let mut declarations = Vec::new();
    let mut companion = Companion {
        module_name: module_header(&mut cursor, &mut locations)?,
        ..Companion::default()
    };
    loop {
        cursor.skip_blank();
        if cursor.is_at_end() {
            return Err(cursor.error(
                "the text ends before the module's closing brace: it was cut short".to_owned(),
            ));
        }
        match cursor.peek() {
            Some(b'}') => break,
            Some(b'#') => locations.alias_definition(&mut cursor)?,
            Some(_) => match cursor.word() {
                b"vm.func" => companion
                    .functions
                    .extend(FunctionReader::new(&mut locations, &mut names).parse(&mut cursor)?),
                word if word.starts_with(b"vm.global.") => {
                    let kind = String::from_utf8_lossy(&word[b"vm.global.".len()..]).into_owned();
                    companion.globals.push(global(&mut cursor, &kind)?);
                }
                b"vm.import" => declarations.push(declaration(&mut cursor, &mut locations)?),
                b"vm.export" => companion.exports.push(export(&mut cursor)?),
                b"vm.rodata" => {
                    companion.nested.extend(nested_text(&mut cursor, rodata)?);
                    rodata.0 = rodata.0.saturating_add(1);
                }
                _ => {}
            },
            None => {}
        }
        cursor.skip_line();
    }
    cursor.skip_line();
    aliases_after(&mut cursor, &mut locations)?;
    companion.locations = locations.builder.finish().without_declarations(&declarations);
    Ok(companion)
}

/// Finds `vm.module public @name … {`, reading the aliases before it.
fn module_header<'t>(cursor: &mut Cursor<'t>, locations: &mut Locations<'t>) -> Result<String> {
    loop {
        cursor.skip_blank();
        if cursor.is_at_end() {
            cursor.jump(0);
            return Err(cursor.error(
                "this is not the VM text of a module: make it with iree-compile \
                 --iree-vm-bytecode-module-output-format=annotated-mlir-text --mlir-print-debuginfo"
                    .to_owned(),
            ));
        }
        if cursor.peek() == Some(b'#') {
            locations.alias_definition(cursor)?;
        } else if cursor.word() == b"vm.module" {
            let name = symbol_of_line(cursor)?;
            cursor.skip_line();
            return Ok(name);
        }
        cursor.skip_line();
    }
}

fn aliases_after<'t>(cursor: &mut Cursor<'t>, locations: &mut Locations<'t>) -> Result<()> {
    while !cursor.is_at_end() {
        cursor.skip_blank();
        if cursor.peek() == Some(b'#') {
            locations.alias_definition(cursor)?;
        }
        cursor.skip_line();
    }
    Ok(())
}

/// The symbol that a line defines, after its visibility: ` private @name`.
fn symbol_of_line(cursor: &mut Cursor<'_>) -> Result<String> {
    loop {
        cursor.skip_spaces();
        if cursor.peek() == Some(b'@') {
            return Ok(cursor.symbol()?.into_owned());
        }
        if cursor.word().is_empty() {
            return Err(cursor.error("expected a symbol".to_owned()));
        }
    }
}

/// The location of an imported function's declaration.
fn declaration<'t>(cursor: &mut Cursor<'t>, locations: &mut Locations<'t>) -> Result<LocationId> {
    let line = cursor.slice(cursor.at(), cursor.line_end());
    if let Some(at) = memchr::memmem::rfind(line, b" loc(") {
        cursor.jump(cursor.at() + at);
    }
    locations.trailing(cursor)
}

/// `vm.global.ref private mutable @name : !vm.ref<!hal.buffer>`.
fn global(cursor: &mut Cursor<'_>, kind: &str) -> Result<CompanionGlobal> {
    let name = symbol_of_line(cursor)?;
    let mut mlir_type = kind.to_owned();
    if kind == "ref" {
        let line =
            String::from_utf8_lossy(cursor.slice(cursor.at(), cursor.line_end())).into_owned();
        let line = line.split(" loc(").next().unwrap_or_default();
        let printed = line.rsplit_once(" : ").map_or("", |(_, printed)| printed);
        let inner = printed.trim().strip_prefix("!vm.ref<").and_then(|it| it.strip_suffix('>'));
        mlir_type = inner.unwrap_or(printed).to_owned();
    }
    Ok(CompanionGlobal { name, mlir_type })
}

/// `vm.export @function [as("name")]`.
fn export(cursor: &mut Cursor<'_>) -> Result<CompanionExport> {
    let function = symbol_of_line(cursor)?;
    cursor.skip_spaces();
    let name = if cursor.eat(b"as(") { cursor.string()?.into_owned() } else { function.clone() };
    Ok(CompanionExport { name, function })
}

/// The nested text of a constant, if it holds VM text.
fn nested_text(cursor: &mut Cursor<'_>, rodata: RodataOrdinal) -> Result<Option<NestedText>> {
    let name = symbol_of_line(cursor)?;
    let rest = cursor.rest();
    let head = &rest[..rest.len().min(CONSTANT_HEAD)];
    let line = &head[..memchr::memchr(b'\n', head).unwrap_or(head.len())];
    let Some(quote) = memchr::memmem::find(line, b"\"0x") else { return Ok(None) };
    let digits = quote + 3;
    if !rest[digits..].starts_with(NESTED_PREFIX) {
        return Ok(None);
    }
    let Some(length) = memchr::memchr(b'"', &rest[digits..]) else {
        return Err(cursor.error("the digits of this constant have no closing quote".to_owned()));
    };
    let start = cursor.at() + digits;
    Ok(Some(NestedText { name, rodata, digits: start..start + length }))
}
