//! Reads one operation: its name, operands, results, live values and location.
//!
//! The operations of the VM dialect print their operands in many ways, so the scan does not know
//! their grammar. It reads the text once and picks out the parts that look the same everywhere:
//! uses (`%x#1`), the attribute dictionary, the types after `:` and `->`, the location at the end.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bytecode::RegisterSlot;
use crate::locations::LocationId;
use crate::mlir_text::{Cursor, Locations, Result};

/// Mnemonics and types, each stored once for the whole text.
#[derive(Default)]
pub(super) struct Names {
    known: HashMap<Arc<str>, ()>,
}

impl Names {
    pub(super) fn share(&mut self, text: &[u8]) -> Arc<str> {
        let text = String::from_utf8_lossy(text);
        if let Some((shared, ())) = self.known.get_key_value(&*text) {
            return shared.clone();
        }
        let shared: Arc<str> = text.into();
        self.known.insert(shared.clone(), ());
        shared
    }
}

/// The parts of an operation's text.
pub(super) struct OperationText<'t> {
    pub(super) mnemonic: &'t [u8],
    /// The names of results, each with the number of results that it stands for.
    pub(super) results: Vec<(&'t [u8], u32)>,
    pub(super) result_registers: Vec<RegisterSlot>,
    /// The registers of the block's arguments, on the first operation of a block.
    pub(super) block_registers: Vec<RegisterSlot>,
    /// The names, without `%`, of the live values.
    pub(super) live: Vec<&'t [u8]>,
    pub(super) is_annotated: bool,
    /// The global that it uses.
    pub(super) global: Option<String>,
    pub(super) location: LocationId,
    types: &'t [u8],
}

impl<'t> OperationText<'t> {
    /// Reads an operation to the end of its last line. Uses are appended to `uses`.
    pub(super) fn parse(
        cursor: &mut Cursor<'t>,
        locations: &mut Locations<'t>,
        uses: &mut Vec<(&'t [u8], u32)>,
    ) -> Result<Self> {
        let results = results(cursor)?;
        let mnemonic = mnemonic(cursor)?;
        let location = locations.builder.unknown();
        let mut operation = Self {
            mnemonic,
            results,
            result_registers: Vec::new(),
            block_registers: Vec::new(),
            live: Vec::new(),
            is_annotated: false,
            global: None,
            location,
            types: &[],
        };
        operation.body(cursor, locations, uses)?;
        Ok(operation)
    }

    fn body(
        &mut self,
        cursor: &mut Cursor<'t>,
        locations: &mut Locations<'t>,
        uses: &mut Vec<(&'t [u8], u32)>,
    ) -> Result<()> {
        let mut depth = 0_usize;
        let mut cases = self.mnemonic == b"vm.br_table";
        let mut in_cases = false;
        let mut types: Option<usize> = None;
        loop {
            let at = cursor.at();
            match cursor.peek() {
                None => break,
                Some(b'\n') if !in_cases => break,
                Some(b'%') => {
                    cursor.bump();
                    let name = cursor.value_name();
                    let result = if cursor.eat(b"#") { cursor.number()? } else { 0 };
                    uses.push((name, result));
                }
                Some(b'^') => {
                    cursor.bump();
                    cursor.value_name();
                }
                Some(b'"') => cursor.skip_string()?,
                Some(b'@') => {
                    let symbol = cursor.symbol()?;
                    if self.mnemonic.starts_with(b"vm.global.") {
                        self.global = Some(symbol.into_owned());
                    }
                }
                Some(b'{') if cases => {
                    cases = false;
                    in_cases = true;
                    cursor.bump();
                }
                Some(b'}') if in_cases => {
                    in_cases = false;
                    cursor.bump();
                }
                Some(b'{') => {
                    self.end_types(cursor, &mut types, at);
                    self.attributes(cursor)?;
                }
                Some(b'<') => cursor.skip_group()?,
                Some(b'(' | b'[') => {
                    depth += 1;
                    cursor.bump();
                }
                Some(b')' | b']') => {
                    depth = depth.saturating_sub(1);
                    cursor.bump();
                }
                Some(b'-') if cursor.starts_with(b"->") => {
                    cursor.jump(at + 2);
                    types = Some(at + 2).filter(|_| depth == 0 && !in_cases);
                }
                Some(b':') => {
                    cursor.bump();
                    if depth == 0 && !in_cases {
                        types = Some(at + 1);
                    }
                }
                Some(b'l')
                    if depth == 0
                        && cursor.starts_with(b"loc(")
                        && cursor.previous() == Some(b' ') =>
                {
                    self.end_types(cursor, &mut types, at);
                    self.location = locations.trailing(cursor)?;
                }
                Some(_) => {
                    if cursor.word().is_empty() {
                        cursor.bump();
                    }
                }
            }
        }
        let end = cursor.at();
        self.end_types(cursor, &mut types, end);
        Ok(())
    }

    fn end_types(&mut self, cursor: &Cursor<'t>, types: &mut Option<usize>, end: usize) {
        if let Some(start) = types.take() {
            self.types = cursor.slice(start, end).trim_ascii();
        }
    }

    fn attributes(&mut self, cursor: &mut Cursor<'t>) -> Result<()> {
        cursor.expect("{")?;
        loop {
            cursor.skip_blank();
            if cursor.eat(b"}") {
                return Ok(());
            }
            let key = attribute_key(cursor)?;
            cursor.skip_spaces();
            if cursor.eat(b"=") {
                cursor.skip_spaces();
                self.attribute(&key, cursor)?;
            }
            cursor.skip_spaces();
            if !cursor.eat(b",") && cursor.peek() != Some(b'}') {
                return Err(cursor.error("expected `,` or `}` after an attribute".to_owned()));
            }
        }
    }

    fn attribute(&mut self, key: &str, cursor: &mut Cursor<'t>) -> Result<()> {
        match key {
            "live" => {
                self.is_annotated = true;
                string_array(cursor, |name| {
                    self.live.push(name.strip_prefix(b"%").unwrap_or(name));
                    true
                })
            }
            "result_registers" => registers(cursor, &mut self.result_registers),
            "block_registers" => registers(cursor, &mut self.block_registers),
            _ => cursor.skip_attribute(),
        }
    }

    /// The number of results: of their registers, or, without annotations, of their types.
    pub(super) fn result_count(&self) -> u32 {
        let count =
            if self.is_annotated { self.result_registers.len() } else { self.type_list().count() };
        count as u32
    }

    /// The type of a result.
    ///
    /// The types of references and of call results are printed. For other results the register
    /// gives the width, and the mnemonic says whether it is a float: comparisons of floats give
    /// integers, and all other mnemonics end in their result type.
    pub(super) fn result_type(&self, index: usize) -> &'t str {
        let printed = self.type_list().nth(index);
        let Some(register) = self.result_registers.get(index) else {
            return printed.unwrap_or("?");
        };
        let is_call = self.mnemonic.starts_with(b"vm.call");
        if register.is_ref() || is_call {
            return printed.unwrap_or_else(|| register.type_name());
        }
        if self.mnemonic.starts_with(b"vm.cmp.") {
            return register.type_name();
        }
        let float = if register.is_pair() { "f64" } else { "f32" };
        let last =
            self.mnemonic.split(|byte| *byte == b'.').rev().find(|part| is_number_type(part));
        if last == Some(float.as_bytes()) { float } else { register.type_name() }
    }

    /// The types after the last `:` or `->`.
    fn type_list(&self) -> impl Iterator<Item = &'t str> {
        let mut list = self.types;
        if list.first() == Some(&b'(') && list.last() == Some(&b')') {
            list = &list[1..list.len() - 1];
        }
        let mut cursor = Cursor::new(list);
        std::iter::from_fn(move || {
            cursor.skip_spaces();
            cursor.eat(b",");
            cursor.skip_spaces();
            std::str::from_utf8(cursor.type_text().ok()?).ok()
        })
    }
}

fn is_number_type(part: &[u8]) -> bool {
    let digits = part.trim_ascii_start();
    let prefix = digits.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    matches!(&digits[..prefix], b"i" | b"f" | b"si" | b"ui") && prefix < digits.len()
}

/// `%a, %b:2 = `, or nothing.
fn results<'t>(cursor: &mut Cursor<'t>) -> Result<Vec<(&'t [u8], u32)>> {
    let mut results = Vec::new();
    while cursor.eat(b"%") {
        let name = cursor.value_name();
        let count = if cursor.eat(b":") { cursor.number()? } else { 1 };
        results.push((name, count));
        cursor.eat(b",");
        cursor.skip_spaces();
    }
    if !results.is_empty() {
        cursor.expect("=")?;
        cursor.skip_spaces();
    }
    Ok(results)
}

/// `vm.add.i32`, or quoted in the generic form.
fn mnemonic<'t>(cursor: &mut Cursor<'t>) -> Result<&'t [u8]> {
    let start = cursor.at();
    if cursor.peek() == Some(b'"') {
        cursor.skip_string()?;
        return Ok(cursor.slice(start + 1, cursor.at() - 1));
    }
    let word = cursor.word();
    if word.is_empty() { Err(cursor.error("expected an operation".to_owned())) } else { Ok(word) }
}

fn attribute_key(cursor: &mut Cursor<'_>) -> Result<String> {
    if cursor.peek() == Some(b'"') {
        return Ok(cursor.string()?.into_owned());
    }
    let key = cursor.word();
    if key.is_empty() {
        return Err(cursor.error("expected the name of an attribute".to_owned()));
    }
    Ok(String::from_utf8_lossy(key).into_owned())
}

fn registers(cursor: &mut Cursor<'_>, registers: &mut Vec<RegisterSlot>) -> Result<()> {
    string_array(cursor, |text| {
        let register = std::str::from_utf8(text).ok().and_then(RegisterSlot::parse);
        registers.extend(register);
        register.is_some()
    })
}

/// `["a", "b"]` of plain strings; `accept` says whether it understands one.
fn string_array<'t>(
    cursor: &mut Cursor<'t>,
    mut accept: impl FnMut(&'t [u8]) -> bool,
) -> Result<()> {
    cursor.expect("[")?;
    loop {
        cursor.skip_spaces();
        if cursor.eat(b"]") {
            return Ok(());
        }
        let start = cursor.at();
        cursor.skip_string()?;
        if !accept(cursor.slice(start + 1, cursor.at() - 1)) {
            cursor.jump(start);
            return Err(cursor.error("this is not the name of a register".to_owned()));
        }
        cursor.skip_spaces();
        cursor.eat(b",");
    }
}
