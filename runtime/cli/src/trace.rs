//! `--trace_execution`: prints every instruction before it runs, with the values that it reads.
//!
//! ```text
//! [module.main+00000016]    %i2 = vm.add.i32 %i0(5), %i1(7)
//! ```

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use vm::{Context, FrameIndex, FunctionId, Invocation, ModuleKind, Observer, Position, Reaction};
use vmfb::isa::Bank;
use vmfb::print::{DisplayNames, InstructionPrinter, RegisterValues};
use vmfb::{Module, Register};

/// The bytecode modules of a context, kept during a trace.
pub(crate) struct TracedModules(Vec<Option<Arc<Module>>>);

impl TracedModules {
    pub(crate) fn new(context: &Context) -> Self {
        let modules = context.modules().map(|(_, _, kind)| match kind {
            ModuleKind::Bytecode(module) => Some(Arc::clone(module)),
            ModuleKind::Native(_) => None,
        });
        Self(modules.collect())
    }

    pub(crate) fn names(&self) -> Vec<Option<DisplayNames<'_>>> {
        self.0.iter().map(|module| module.as_deref().map(DisplayNames::trusted)).collect()
    }
}

/// Prints each instruction that is about to run.
pub(crate) struct Tracer<'m, W> {
    modules: &'m TracedModules,
    names: &'m [Option<DisplayNames<'m>>],
    printers: HashMap<FunctionId, InstructionPrinter<'m>>,
    out: W,
}

impl<'m, W: Write> Tracer<'m, W> {
    pub(crate) fn new(
        modules: &'m TracedModules,
        names: &'m [Option<DisplayNames<'m>>],
        out: W,
    ) -> Self {
        Self { modules, names, printers: HashMap::new(), out }
    }

    fn line(&mut self, context: &Context, invocation: &Invocation, position: Position) -> String {
        let Position { function, offset } = position;
        let index = function.module.0 as usize;
        let name = context.function_name(function);
        let place = match context.modules().nth(index) {
            Some((_, module, _)) => format!("[{module}.{name}+{offset}]    "),
            None => format!("[{name}+{offset}]    "),
        };
        let (Some(Some(module)), Some(Some(names))) =
            (self.modules.0.get(index), self.names.get(index))
        else {
            return place;
        };
        let printer = self
            .printers
            .entry(function)
            .or_insert_with(|| InstructionPrinter::new(module, names, function.function));
        let code = module.function_bytecode(function.function);
        let mut line = place;
        match vmfb::decode(code, offset) {
            Ok(instruction) => {
                printer.write_with(&mut line, &instruction, &InnermostFrame(invocation));
            }
            Err(error) => line.push_str(&error.to_string()),
        }
        line
    }
}

impl<W: Write> Observer for Tracer<'_, W> {
    fn before_instruction(
        &mut self,
        context: &Context,
        invocation: &Invocation,
        position: Position,
    ) -> Reaction {
        let line = self.line(context, invocation, position);
        // The program runs on even if the trace cannot be written.
        let _ = writeln!(self.out, "{line}");
        Reaction::Continue
    }
}

struct InnermostFrame<'i>(&'i Invocation);

impl RegisterValues for InnermostFrame<'_> {
    fn value(&self, bank: Bank, register: Register) -> Option<String> {
        let frame = FrameIndex(0);
        let ordinal = register.ordinal();
        let bits32 = || self.0.register_i32(frame, ordinal);
        let bits64 = || self.0.register_i64(frame, ordinal);
        let reference = || Some(format!("{:?}", self.0.register_ref(frame, ordinal)?));
        match bank {
            Bank::I32 => bits32().map(|value| value.to_string()),
            Bank::I64 => bits64().map(|value| value.to_string()),
            Bank::F32 => bits32().map(|bits| f32::from_bits(bits.cast_unsigned()).to_string()),
            Bank::F64 => bits64().map(|bits| f64::from_bits(bits.cast_unsigned()).to_string()),
            Bank::Ref | Bank::RefMove => reference(),
            Bank::Any if register.is_ref() => reference(),
            Bank::Any => bits32().map(|value| value.to_string()),
        }
    }
}
