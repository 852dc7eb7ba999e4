//! Disassembly: rows around an address, for views that scroll through code, and listings of
//! modules.
//!
//! Such a view asks for a number of instructions before or after an address, and needs exactly that
//! many rows. Instructions are counted across the functions of a module in layout order, without
//! block markers; rows without an instruction fill up the view beyond the ends of the code.

use std::ops::RangeInclusive;

use vm::{FunctionId, ModuleIndex, Position};
use vmfb::print::{DisplayNames, InstructionPrinter};
use vmfb::{BytecodeOffset, FunctionOrdinal, Op};

use super::level::Level;
use super::module::LoadedModule;
use super::program::Program;
use crate::view::address::LinearAddress;
use crate::view::frame::SourceLine;

/// A row of a disassembly view.
#[derive(Clone, Debug)]
pub struct DisassembledInstruction {
    /// Its address.
    pub address: LinearAddress,
    /// Its bytes in hexadecimal; empty if there is no instruction.
    pub bytes: String,
    /// Its text.
    pub text: String,
    /// The function's name, on the function's first instruction.
    pub symbol: Option<String>,
    /// Its source.
    pub source: Option<SourceLine>,
    /// Whether the row has an instruction; views ask beyond the ends of the code.
    pub is_valid: bool,
}

/// Most lines of a disassembly that one query examines. Views ask for a few.
const MAX_LISTING_LINES: u32 = 10_000;

/// An instruction's place in its module.
#[derive(Clone, Copy)]
struct Place {
    byte: usize,
    function: FunctionOrdinal,
    offset: BytecodeOffset,
}

impl Program {
    /// The address of an instruction as a single number.
    #[must_use]
    pub fn linear(&self, position: Position) -> Option<LinearAddress> {
        let module = self.module(position.function.module)?;
        Some(LinearAddress::of(position, &module.module))
    }

    /// The disassembly of a module, as printed by
    /// `iree-dbg dump --output=disassembly --bytecode_offsets`.
    #[must_use]
    pub fn listing(&self, module: ModuleIndex) -> Option<&str> {
        self.module(module).map(|module| module.listing().text.as_str())
    }

    /// The line of an instruction in its module's disassembly, counted from 1.
    #[must_use]
    pub fn listing_line(&self, position: Position) -> Option<u32> {
        let module = self.module(position.function.module)?;
        let line = module.listing().line_of(position.function.function, position.offset)?;
        Some(line + 1)
    }

    /// The `count` instructions that begin `offset` instructions after `address` (before it, if
    /// negative).
    #[must_use]
    pub(crate) fn disassemble(
        &self,
        level: Level,
        address: LinearAddress,
        offset: i64,
        count: usize,
    ) -> Vec<DisassembledInstruction> {
        // Views show a text between the instructions: that of the level, or the source if the level
        // is the disassembly itself.
        let level = if level == Level::Vm { Level::Vm } else { Level::Source };
        let place = address.split();
        let found = place.and_then(|(index, byte)| Some((index, byte, self.module(index)?)));
        let Some((index, byte, module)) = found else {
            return (0..count)
                .map(|row| no_instruction(address.0.saturating_add(row as u64)))
                .collect();
        };
        let places = places(module);
        let origin = places.partition_point(|place| place.byte < byte);
        let first = i64::try_from(origin).unwrap_or(i64::MAX).saturating_add(offset);
        let names = names(module);
        (0..i64::try_from(count).unwrap_or(0))
            .map(|row| {
                let at = first.saturating_add(row);
                match usize::try_from(at).ok().and_then(|at| places.get(at)) {
                    Some(place) => self.row(level, module, &names, *place),
                    None => beyond_the_code(index, &places, at),
                }
            })
            .collect()
    }

    /// The instructions of a function, without block markers.
    #[must_use]
    pub fn function_instructions(&self, function: FunctionId) -> Vec<(Position, String)> {
        let Some(module) = self.module(function.module) else { return Vec::new() };
        let names = names(module);
        let printer = InstructionPrinter::new(&module.module, &names, function.function);
        vmfb::instructions(module.module.function_bytecode(function.function))
            .map_while(Result::ok)
            .filter(|instruction| instruction.op != Op::Block)
            .map(|it| (Position { function, offset: it.offset }, printer.print(&it)))
            .collect()
    }

    /// The row of an instruction, with the line that is shown beside it.
    fn row(
        &self,
        level: Level,
        module: &LoadedModule,
        names: &DisplayNames<'_>,
        place: Place,
    ) -> DisassembledInstruction {
        let code = module.module.function_bytecode(place.function);
        let function = FunctionId { module: module.index, function: place.function };
        let position = Position { function, offset: place.offset };
        let (text, bytes) = match vmfb::decode(code, place.offset) {
            Ok(instruction) => {
                let printer = InstructionPrinter::new(&module.module, names, place.function);
                let bytes = &code[instruction.offset.index()..instruction.end.index()];
                let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                (printer.print(&instruction), bytes.join(" "))
            }
            Err(error) => (error.to_string(), String::new()),
        };
        // The first instruction follows the marker of the entry block, which takes one byte.
        let symbol = (place.offset.0 <= 1).then(|| self.function_name(function)).flatten();
        DisassembledInstruction {
            address: LinearAddress::at(module.index, place.byte),
            bytes,
            text,
            symbol,
            source: self.source_line_at(level, position),
            is_valid: true,
        }
    }

    /// The lines of a module's disassembly, in a range, where a breakpoint can be set.
    #[must_use]
    pub fn listing_sites(&self, module: ModuleIndex, lines: &RangeInclusive<u32>) -> Vec<u32> {
        let last = lines.start().saturating_add(MAX_LISTING_LINES);
        let lines = *lines.start()..=last.min(*lines.end());
        let is_code = |line: &u32| self.resolve_listing_line(module, *line).line == Some(*line);
        lines.filter(is_code).collect()
    }
}

/// The names of a module's functions, as stacks show them.
fn names(module: &LoadedModule) -> DisplayNames<'_> {
    DisplayNames::known(&module.module, |ordinal| module.info.function_name(ordinal))
}

fn places(module: &LoadedModule) -> Vec<Place> {
    let mut places = Vec::new();
    for (ordinal, function) in module.module.functions_with_ordinals() {
        let code = vmfb::instructions(module.module.function_bytecode(ordinal));
        for instruction in code.map_while(Result::ok).filter(|it| it.op != Op::Block) {
            places.push(Place {
                byte: function.bytecode.start + instruction.offset.index(),
                function: ordinal,
                offset: instruction.offset,
            });
        }
    }
    places.sort_by_key(|place| place.byte);
    places.dedup_by_key(|place| place.byte);
    places
}

/// A row before the first or after the last instruction. Addresses stay distinct and ascending.
fn beyond_the_code(module: ModuleIndex, places: &[Place], at: i64) -> DisassembledInstruction {
    let start = LinearAddress::at(module, 0).0;
    let address = if at < 0 {
        start.saturating_sub(at.unsigned_abs())
    } else {
        let end = places.last().map_or(0, |place| place.byte as u64 + 1);
        start + end + (at.unsigned_abs() - places.len() as u64)
    };
    no_instruction(address)
}

fn no_instruction(address: u64) -> DisassembledInstruction {
    DisassembledInstruction {
        address: LinearAddress(address),
        bytes: String::new(),
        text: "(no instruction)".to_owned(),
        symbol: None,
        source: None,
        is_valid: false,
    }
}
