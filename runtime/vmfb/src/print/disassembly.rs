//! The disassembly of a module, and which instruction each of its lines shows.

use super::directives;
use super::display_names::DisplayNames;
use super::instruction::InstructionPrinter;
use super::options::DisassemblyOptions;
use crate::decode::instructions;
use crate::isa::Op;
use crate::module::Module;
use crate::ordinals::{BytecodeOffset, FunctionOrdinal};

/// Which instruction a line shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineOrigin {
    /// Counted from 0.
    pub line: u32,
    /// The function that the instruction is in.
    pub function: FunctionOrdinal,
    /// The instruction in that function.
    pub offset: BytecodeOffset,
}

/// The text of a module, and the instruction that each line shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Disassembly {
    /// The `.vmasm` text.
    pub text: String,
    /// The lines that show instructions (including block markers), from first to last. Functions
    /// are printed by ascending ordinal, so the lines are also ordered by function and offset.
    pub lines: Vec<LineOrigin>,
}

impl Disassembly {
    /// The instruction on a line, counted from 0.
    #[must_use]
    pub fn at_line(&self, line: u32) -> Option<LineOrigin> {
        let index = self.lines.binary_search_by_key(&line, |origin| origin.line).ok()?;
        Some(self.lines[index])
    }

    /// The first instruction on a line or below it.
    #[must_use]
    pub fn at_or_after_line(&self, line: u32) -> Option<LineOrigin> {
        let index = self.lines.partition_point(|origin| origin.line < line);
        self.lines.get(index).copied()
    }

    /// The line of an instruction, counted from 0.
    #[must_use]
    pub fn line_of(&self, function: FunctionOrdinal, offset: BytecodeOffset) -> Option<u32> {
        let key = |origin: &LineOrigin| (origin.function, origin.offset);
        let index = self.lines.binary_search_by_key(&(function, offset), key).ok()?;
        Some(self.lines[index].line)
    }
}

/// How much text a disassembly may have for each byte of its module, beside [`LEAST_TEXT`].
/// Compilers' modules have less than 10.
const TEXT_FACTOR: usize = 32;

/// How much text the disassembly of any module may have.
const LEAST_TEXT: usize = 4 << 20;

/// Disassembles a module. A hostile module whose text would be very long, as each of its
/// instructions mentions a long name, is printed in part.
#[must_use]
pub fn disassemble(module: &Module, options: &DisassemblyOptions) -> Disassembly {
    let names = DisplayNames::new(module);
    let mut builder = Builder::new();
    builder.limit = LEAST_TEXT + module.file_bytes().len().saturating_mul(TEXT_FACTOR);
    directives::module(&mut builder.text, module, options.rodata);
    for (ordinal, function) in module.functions_with_ordinals() {
        let name = names.definition(ordinal);
        if options.function.as_deref().is_some_and(|filter| !selects(filter, ordinal, &name)) {
            continue;
        }
        if builder.is_full() {
            builder.text.push_str("// the rest is left out: the text is too long for its module\n");
            break;
        }
        builder.blank_line();
        for export in module.exports().iter().filter(|export| export.function == ordinal) {
            if export.name == name {
                builder.text.push_str(&format!("vm.export @{name}\n"));
            } else {
                builder.text.push_str(&format!("vm.export @{} = @{name}\n", export.name));
            }
        }
        builder.text.push_str(&format!("vm.func @{name}"));
        directives::signature(&mut builder.text, function);
        builder.text.push_str(" {\n");
        builder.body(module, &names, ordinal, options.bytecode_offsets);
        builder.text.push_str("}\n");
    }
    builder.finish()
}

/// Whether `--function=` selects this function: by ordinal if it is a number, otherwise by name.
fn selects(filter: &str, ordinal: FunctionOrdinal, name: &str) -> bool {
    if filter.is_empty() {
        return true;
    }
    match filter.parse::<u32>() {
        Ok(number) => number == ordinal.0,
        Err(_) => filter == name,
    }
}

struct Builder {
    text: String,
    lines: Vec<LineOrigin>,
    /// Newlines in `text` before `counted_to`.
    newlines: u32,
    counted_to: usize,
    /// The length at which the text ends after the current part.
    limit: usize,
}

impl Builder {
    fn new() -> Self {
        Self {
            text: String::new(),
            lines: Vec::new(),
            newlines: 0,
            counted_to: 0,
            limit: usize::MAX,
        }
    }

    fn is_full(&self) -> bool {
        self.text.len() > self.limit
    }

    /// Ends the part before with exactly one blank line.
    fn blank_line(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn body(
        &mut self,
        module: &Module,
        names: &DisplayNames<'_>,
        ordinal: FunctionOrdinal,
        bytecode_offsets: bool,
    ) {
        let printer = InstructionPrinter::new(module, names, ordinal);
        for instruction in instructions(module.function_bytecode(ordinal)) {
            let instruction = match instruction {
                Ok(instruction) => instruction,
                Err(error) => {
                    self.text.push_str(&format!("  // the bytecode ends here: {error}\n"));
                    return;
                }
            };
            if self.is_full() {
                return;
            }
            self.origin(ordinal, instruction.offset);
            if bytecode_offsets {
                self.text.push_str(&format!("[{}]", instruction.offset));
            }
            if instruction.op != Op::Block {
                self.text.push_str("  ");
            }
            printer.write(&mut self.text, &instruction);
            self.text.push('\n');
        }
    }

    /// Notes that the line which begins now shows this instruction. Newlines are counted in the
    /// text itself: strings and names of a module may hold some.
    fn origin(&mut self, function: FunctionOrdinal, offset: BytecodeOffset) {
        let added = self.text.as_bytes()[self.counted_to..].iter().filter(|byte| **byte == b'\n');
        self.newlines += u32::try_from(added.count()).unwrap_or(u32::MAX);
        self.counted_to = self.text.len();
        self.lines.push(LineOrigin { line: self.newlines, function, offset });
    }

    fn finish(self) -> Disassembly {
        Disassembly { text: self.text, lines: self.lines }
    }
}
