//! Reads a function: its signature, its blocks, and the names that connect them.
//!
//! The text may use a name before the line that defines it, as blocks need not be in dominance
//! order, so names are collected first and resolved to values at the function's end.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::liveness::LiveTracker;
use super::model::{Block, CompanionFunction, Definition, Operation, Value, ValueId};
use super::operation_reader::{Names, OperationText};
use crate::mlir_text::{Cursor, Locations, Result};

/// Reads one function.
pub(super) struct FunctionReader<'t, 'l> {
    locations: &'l mut Locations<'t>,
    names: &'l mut Names,
    function: CompanionFunction,
    /// The values that a printed name (without `%`) stands for.
    printed: HashMap<&'t [u8], Range<u32>>,
    /// The names in `live` lists, each with the operations that list it.
    live: HashMap<&'t [u8], LiveTracker>,
    /// The operands: a name, and the index among its results.
    uses: Vec<(&'t [u8], u32)>,
}

impl<'t, 'l> FunctionReader<'t, 'l> {
    pub(super) fn new(locations: &'l mut Locations<'t>, names: &'l mut Names) -> Self {
        Self {
            locations,
            names,
            function: CompanionFunction::default(),
            printed: HashMap::new(),
            live: HashMap::new(),
            uses: Vec::new(),
        }
    }

    /// Reads from after `vm.func` to the line that closes the function. A declaration gives `None`.
    pub(super) fn parse(mut self, cursor: &mut Cursor<'t>) -> Result<Option<CompanionFunction>> {
        cursor.skip_spaces();
        while cursor.peek() != Some(b'@') {
            if cursor.word().is_empty() {
                return Err(cursor.error("expected the function's name".to_owned()));
            }
            cursor.skip_spaces();
        }
        self.function.name = cursor.symbol()?.into_owned();
        cursor.expect("(")?;
        let arguments = self.arguments(cursor, |index| Definition::Argument { index })?;
        self.function.blocks.push(Block { first_operation: 0, arguments });
        if !signature_end(cursor)? {
            return Ok(None);
        }
        loop {
            cursor.skip_blank();
            match cursor.peek() {
                None => {
                    return Err(
                        cursor.error(format!("the text ends inside @{}", self.function.name))
                    );
                }
                Some(b'}') => break,
                Some(b'^') => self.block(cursor)?,
                Some(_) => self.operation(cursor)?,
            }
        }
        cursor.bump();
        self.function.location = Some(self.locations.trailing(cursor)?);
        Ok(Some(self.finish()))
    }

    /// Reads `%arg0: i32 loc(…), …)`, from after the opening parenthesis.
    fn arguments(
        &mut self,
        cursor: &mut Cursor<'t>,
        definition: impl Fn(u32) -> Definition,
    ) -> Result<Range<u32>> {
        let start = self.next_value();
        let mut index = 0;
        loop {
            cursor.skip_spaces();
            if cursor.eat(b")") {
                return Ok(start..self.next_value());
            }
            if index > 0 {
                cursor.expect(",")?;
                cursor.skip_spaces();
            }
            cursor.expect("%")?;
            let printed = cursor.value_name();
            cursor.skip_spaces();
            cursor.expect(":")?;
            cursor.skip_spaces();
            let mlir_type = self.names.share(cursor.type_text()?);
            cursor.skip_spaces();
            if cursor.peek() == Some(b'{') {
                cursor.skip_group()?;
            }
            self.locations.optional(cursor)?;
            let id = self.next_value();
            self.printed.insert(printed, id..id + 1);
            let definition = definition(index);
            let printed = format!("%{}", String::from_utf8_lossy(printed));
            match definition {
                Definition::BlockArgument { block, index } => {
                    let name = format!("%bb{block}_arg{index}");
                    self.push_value(name, definition, mlir_type);
                    if let Some(value) = self.function.values.last_mut() {
                        value.printed_name = Some(printed);
                    }
                }
                _ => self.push_value(printed, definition, mlir_type),
            }
            index += 1;
        }
    }

    /// `^bb1(%1: i64 loc(…)):  // 2 preds: …`.
    fn block(&mut self, cursor: &mut Cursor<'t>) -> Result<()> {
        cursor.bump();
        cursor.value_name();
        let is_entry = self.function.operations.is_empty() && self.function.blocks.len() == 1;
        let block = self.function.blocks.len() as u32;
        let start = self.next_value();
        let arguments = if cursor.eat(b"(") {
            self.arguments(cursor, |index| Definition::BlockArgument { block, index })?
        } else {
            start..start
        };
        cursor.expect(":")?;
        if !is_entry || !arguments.is_empty() {
            self.function.blocks.push(Block { first_operation: self.next_operation(), arguments });
        }
        cursor.skip_line();
        Ok(())
    }

    fn operation(&mut self, cursor: &mut Cursor<'t>) -> Result<()> {
        let index = self.next_operation();
        let start = cursor.at();
        let text = OperationText::parse(cursor, self.locations, &mut self.uses)?;
        for name in &text.live {
            self.live.entry(name).or_default().seen(index);
        }
        self.function.is_annotated |= text.is_annotated;
        self.block_registers(index, &text);
        let results = self.results(index, &text);
        let operands = self.function.operands.len() as u32..self.uses.len() as u32;
        self.function.operands.resize(self.uses.len(), ValueId(u32::MAX));
        if let Some(global) = &text.global {
            self.function.globals.push((index, self.names.share(global.as_bytes())));
        }
        let mnemonic = self.names.share(text.mnemonic);
        self.function.operations.push(Operation {
            mnemonic,
            results,
            operands,
            location: text.location,
            start,
        });
        Ok(())
    }

    /// Sets the registers of a block's arguments, which the block's first operation lists.
    fn block_registers(&mut self, index: u32, text: &OperationText<'t>) {
        let Some(block) =
            self.function.blocks.last().filter(|block| block.first_operation == index)
        else {
            return;
        };
        let arguments = block.arguments.start as usize..block.arguments.end as usize;
        for (value, register) in
            self.function.values[arguments].iter_mut().zip(&text.block_registers)
        {
            value.register = Some(register.with_type(&value.mlir_type));
        }
    }

    /// Makes a value for each result. A malformed name may claim any number of results; only as
    /// many are made as the operation has.
    fn results(&mut self, operation: u32, text: &OperationText<'t>) -> Range<u32> {
        let start = self.next_value();
        let mut index = 0;
        for &(printed, count) in &text.results {
            let first = self.next_value();
            let available = text.result_count().saturating_sub(index);
            let plain = String::from_utf8_lossy(printed).into_owned();
            for position in 0..count.min(available) {
                let name =
                    if count > 1 { format!("%{plain}#{position}") } else { format!("%{plain}") };
                let register = text.result_registers.get(index as usize).copied();
                let mlir_type = self.names.share(text.result_type(index as usize).as_bytes());
                self.push_value(name, Definition::Result { operation, index }, mlir_type);
                if let Some(value) = self.function.values.last_mut() {
                    value.register = register.map(|register| register.with_type(&value.mlir_type));
                }
                index += 1;
            }
            self.printed.insert(printed, first..self.next_value());
        }
        start..self.next_value()
    }

    fn push_value(&mut self, name: String, definition: Definition, mlir_type: Arc<str>) {
        let value = Value {
            name,
            printed_name: None,
            definition,
            mlir_type,
            register: None,
            live: Arc::default(),
            last_use: None,
        };
        self.function.values.push(value);
    }

    /// Binds names to values.
    fn finish(mut self) -> CompanionFunction {
        self.bind_operands();
        let trackers = std::mem::take(&mut self.live);
        for (name, tracker) in trackers {
            let range = self.listed_value(name);
            let stretches: Arc<[_]> = tracker.finish(range.end - range.start).into();
            for value in &mut self.function.values[range.start as usize..range.end as usize] {
                value.live = stretches.clone();
            }
        }
        self.function
    }

    fn bind_operands(&mut self) {
        for (operation, index) in self.function.operations.iter().zip(0..) {
            for slot in operation.operands.start as usize..operation.operands.end as usize {
                let (name, result) = self.uses[slot];
                let Some(range) = self.printed.get(name) else { continue };
                let id = range.start.saturating_add(result);
                if range.contains(&id) {
                    self.function.operands[slot] = ValueId(id);
                    self.function.values[id as usize].last_use = Some(index);
                }
            }
        }
    }

    /// The values that a name in a `live` list stands for: `7:2`, `sum`, or `bb1_arg0` for a
    /// block's argument.
    fn listed_value(&self, name: &[u8]) -> Range<u32> {
        let name = name.split(|byte| *byte == b':').next().unwrap_or(name);
        self.block_argument(name).or_else(|| self.printed.get(name).cloned()).unwrap_or(0..0)
    }

    fn block_argument(&self, name: &[u8]) -> Option<Range<u32>> {
        let name = std::str::from_utf8(name).ok()?;
        let (block, index) = name.strip_prefix("bb")?.split_once("_arg")?;
        let block = self.function.blocks.get(block.parse::<usize>().ok()?)?;
        let id = block.arguments.start.checked_add(index.parse().ok()?)?;
        block.arguments.contains(&id).then_some(id..id + 1)
    }

    fn next_value(&self) -> u32 {
        self.function.values.len() as u32
    }

    fn next_operation(&self) -> u32 {
        self.function.operations.len() as u32
    }
}

/// Skips the rest of a signature (`-> (i32, i64) attributes {…} {`); whether a body follows.
fn signature_end(cursor: &mut Cursor<'_>) -> Result<bool> {
    let mut has_attributes = false;
    loop {
        cursor.skip_spaces();
        match cursor.peek() {
            None | Some(b'\n') => return Ok(false),
            Some(b'{') if has_attributes => {
                cursor.skip_group()?;
                has_attributes = false;
            }
            Some(b'{') => {
                cursor.bump();
                return Ok(true);
            }
            Some(b'(' | b'<') => cursor.skip_group()?,
            Some(b'-') if cursor.starts_with(b"->") => cursor.jump(cursor.at() + 2),
            Some(b'l') if cursor.starts_with(b"loc(") => return Ok(false),
            Some(_) => {
                let word = cursor.word();
                if word.is_empty() {
                    cursor.bump();
                }
                has_attributes |= word == b"attributes";
            }
        }
    }
}
