//! The machine: a program with the context that it runs in, and how far it has come.
//!
//! `inspect` looks at a stopped machine; `control` runs it.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use debuginfo::SourcePosition;
use vm::{Context, FrameFunction, FrameIndex, Invocation, Position};

use crate::expression::PrintHistory;
use crate::target::launch::{LaunchError, LaunchOptions};
use crate::target::level::Level;
use crate::target::lines::Lines;
use crate::target::listing::DisassembledInstruction;
use crate::target::program::Program;
use crate::view::address::LinearAddress;
use crate::view::frame::SourceLine;
use crate::view::run_map::Numbers;
use crate::view::tensor_memory::TensorMemory;

/// How far the program has come.
#[derive(Debug)]
pub(crate) enum Phase {
    /// In the modules' initialisers.
    Initializing(Invocation),
    /// In the function under the debugger.
    Running(Invocation),
    /// Failed; the frames stay for inspection.
    Failed(Invocation),
    /// Over.
    Completed,
}

/// Why the program is not shown as the VM program's text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoListing {
    /// No module was compiled with it.
    #[error(
        "no module has its VM program as text; compile it with `iree-dbg compile`, or with \
         --iree-vm-bytecode-source-listing=FILE"
    )]
    NotCompiled,
    /// It is not known how Python made any module.
    #[error(
        "no module here says how Python made it; iree_dbg.jax.compile and iree_dbg.torch.compile \
         write that"
    )]
    NoPython,
    /// The files that modules name are not there.
    #[error("the listing of the VM program cannot be read: {}", .0.join(", "))]
    Unreadable(Vec<String>),
}

/// What the user has changed on the way to the present.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByHand {
    /// How many commands had run when values were last changed.
    changed_at: Option<u64>,
    /// The memory that was written, by addresses, and how many commands had run then.
    written: Vec<(Range<usize>, u64)>,
    /// Whether the program stands where a launch with the same inputs does not lead: the user has
    /// made a change, or its host has called it again.
    pub(crate) has_left_its_run: bool,
    /// Whether a register was set: what was computed from it since does not follow from what
    /// functions were called with.
    pub(crate) has_set_registers: bool,
}

/// A program with the context that it runs in. It is stopped whenever this can be reached.
pub struct Machine {
    pub(crate) program: Program,
    pub(crate) context: Context,
    pub(crate) phase: Phase,
    /// The text that is shown and stepped.
    pub(crate) level: Level,
    /// Whether expressions may read this process's memory by address.
    pub(crate) reads_foreign_memory: bool,
    /// Inlined calls that the program stands before, although their code runs next.
    pub(crate) hidden_calls: usize,
    /// Calls of Python that the program stands before, although their operations run next, and
    /// when it does: [`Machine::show_python_calls`].
    pub(crate) hidden_python: Option<(vm::Moment, usize)>,
    /// The instruction that has just run, if its line is shown rather than the next one's because
    /// it caused the stop.
    pub(crate) stands_after: Option<Position>,
    /// Where the tensors of the model are, as of the last command that was looked at.
    pub(crate) memory: Mutex<Arc<TensorMemory>>,
    /// What was found in the tensors that commands have left, by their numbers.
    pub(crate) numbers: Mutex<HashMap<u64, Numbers>>,
    pub(crate) by_hand: ByHand,
    /// What was printed.
    pub(crate) printed: PrintHistory,
}

impl Machine {
    /// Whether bytecode writes the memory of devices directly.
    pub(crate) fn shares_storage(&self) -> bool {
        self.context.modules().any(|(_, name, _)| name == "hal_inline")
    }

    /// Loads modules and links them. The program stands before its initialisers.
    ///
    /// # Errors
    /// A module cannot be loaded, verified or linked, or the function and its inputs do not fit.
    pub(crate) fn load(options: LaunchOptions) -> Result<Self, LaunchError> {
        let reads_foreign_memory = options.foreign_memory;
        let (program, context) = Program::load(options)?;
        let phase = Phase::Initializing(Invocation::initialize(&context));
        let level = program.own_level();
        Ok(Self {
            program,
            context,
            phase,
            level,
            reads_foreign_memory,
            hidden_calls: 0,
            hidden_python: None,
            stands_after: None,
            memory: Mutex::default(),
            numbers: Mutex::default(),
            by_hand: ByHand::default(),
            printed: PrintHistory::default(),
        })
    }

    /// The user has changed values, perhaps in the middle of a command, which may have used others
    /// before.
    pub(crate) fn values_changed(&mut self, is_in_command: bool) {
        let total = self.program.host().device().history().total();
        self.by_hand.changed_at = Some(total + u64::from(is_in_command));
    }

    /// What the user has changed, was changed before what runs next: the program has gone back to
    /// run it again, on these values.
    pub(crate) fn changes_are_before(&mut self) {
        self.by_hand.changed_at = self.changed_at();
        let total = self.program.host().device().history().total();
        self.by_hand.written.iter_mut().for_each(|(_, at)| *at = total.min(*at));
    }

    /// The user has written memory.
    pub(crate) fn wrote_by_hand(&mut self, addresses: Range<usize>) {
        let total = self.program.host().device().history().total();
        self.by_hand.written.retain(|(known, _)| *known != addresses);
        self.by_hand.written.push((addresses, total));
    }

    /// After how many commands the user last wrote to some memory, if that was done.
    pub(crate) fn written_by_hand(&self, addresses: &Range<usize>) -> Option<u64> {
        let shares = |it: &Range<usize>| it.start < addresses.end && addresses.start < it.end;
        self.by_hand.written.iter().filter(|(it, _)| shares(it)).map(|(_, at)| *at).max()
    }

    /// How many commands had run when the user last changed values, if that was done. The program
    /// may have gone back since.
    pub(crate) fn changed_at(&self) -> Option<u64> {
        let total = self.program.host().device().history().total();
        self.by_hand.changed_at.map(|it| it.min(total))
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The invocation to look at, if there is one.
    pub(crate) fn invocation(&self) -> Option<&Invocation> {
        match &self.phase {
            Phase::Initializing(invocation)
            | Phase::Running(invocation)
            | Phase::Failed(invocation) => Some(invocation),
            Phase::Completed => None,
        }
    }

    /// The invocation to run or change, if one can still run.
    pub(crate) fn running(&mut self) -> Option<&mut Invocation> {
        match &mut self.phase {
            Phase::Initializing(invocation) | Phase::Running(invocation) => Some(invocation),
            Phase::Failed(_) | Phase::Completed => None,
        }
    }

    pub(crate) fn is_initializing(&self) -> bool {
        matches!(self.phase, Phase::Initializing(_))
    }

    /// Forgets what was found out of commands that have not run, as the program went back.
    pub(crate) fn forget_commands_after(&mut self, total: u64) {
        *self.memory.get_mut().unwrap_or_else(PoisonError::into_inner) = Arc::default();
        let numbers = self.numbers.get_mut().unwrap_or_else(PoisonError::into_inner);
        numbers.retain(|number, _| *number <= total);
    }

    /// How many frames the machine has.
    pub(crate) fn depth(&self) -> usize {
        self.invocation().map_or(0, Invocation::depth)
    }

    /// The instruction that runs next; none where the innermost frame is native.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.position_in(FrameIndex(0))
    }

    /// The instruction that a frame stands at; none in native code.
    #[must_use]
    pub fn position_in(&self, frame: FrameIndex) -> Option<Position> {
        match self.invocation()?.frame(&self.context, frame)?.function {
            FrameFunction::Bytecode(position) => Some(position),
            FrameFunction::Native(_) | FrameFunction::Part { .. } => None,
        }
    }

    /// How many frames there are up to that of the command in which the program is, and with it.
    pub(crate) fn command_depth(&self) -> Option<usize> {
        let invocation = self.invocation()?;
        let is_command = |index: &usize| {
            let frame = invocation.frame(&self.context, FrameIndex(*index));
            matches!(frame.map(|it| it.function), Some(FrameFunction::Part { level: 0, .. }))
        };
        let index = (0..invocation.depth()).find(is_command)?;
        Some(invocation.depth() - index)
    }

    /// The text that is shown and stepped.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Shows and steps the program in another text, from where it stands.
    ///
    /// # Errors
    /// No module has that text, or Python; the message says how to get it.
    pub(crate) fn set_level(&mut self, level: Level) -> Result<(), NoListing> {
        let has_listing = || self.program.modules.iter().any(|module| module.info.has_listing());
        let has_python = || self.program.modules.iter().any(|module| module.info.has_python());
        if level == Level::Python && !has_python() {
            return Err(NoListing::NoPython);
        }
        if level == Level::Vm && !has_listing() {
            return Err(self.no_listing());
        }
        self.level = level;
        Ok(())
    }

    fn no_listing(&self) -> NoListing {
        let modules = self.program.modules.iter();
        // Modules inside others name the same listing.
        let missing: BTreeSet<&str> = modules.flat_map(|it| it.info.missing_listings()).collect();
        match missing.is_empty() {
            true => NoListing::NotCompiled,
            false => NoListing::Unreadable(missing.into_iter().map(str::to_owned).collect()),
        }
    }

    /// The program as the text that is shown.
    pub(crate) fn lines(&self) -> Lines<'_> {
        self.program.lines(self.level)
    }

    /// Where an instruction is in the text that is shown, from its function inwards through the
    /// calls that were inlined.
    pub(crate) fn path_of(&self, position: Position) -> Vec<SourcePosition> {
        self.program.path_at(self.level, position)
    }

    /// Where an instruction came from, in the text that is shown.
    #[must_use]
    pub fn source_line(&self, position: Position) -> Option<SourceLine> {
        self.program.source_line_at(self.level, position)
    }

    /// `count` instructions, beginning `offset` instructions after `address` (before it, if
    /// negative), with the lines of the text that is shown.
    #[must_use]
    pub fn disassemble(
        &self,
        address: LinearAddress,
        offset: i64,
        count: usize,
    ) -> Vec<DisassembledInstruction> {
        self.program.disassemble(self.level, address, offset, count)
    }

    /// Where the entry function was written, in the text that is shown.
    #[must_use]
    pub fn main_source(&self) -> Option<SourceLine> {
        self.lines().source_of(self.program.entry())
    }

    /// Where a function was written, by its name, in the text that is shown.
    #[must_use]
    pub fn function_source(&self, name: &str) -> Option<SourceLine> {
        self.lines().source_of(self.program.function_named(name)?.function)
    }
}
