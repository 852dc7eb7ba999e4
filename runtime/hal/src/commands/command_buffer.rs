//! `!hal.command_buffer`: the recording of commands.
//!
//! Recording resolves nothing: a command names buffers directly, or by a slot of the binding table
//! that a submission provides. So a command buffer can be recorded once and executed many times,
//! and a queue (or a debugger) walks the commands one at a time.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use vm::{Kept, Object, Position, Status};

use super::command::{
    BufferRange, BufferReference, Command, Commands, DispatchCommand, StandInCommand,
};
use super::descriptor_sets::Pushed;
use super::requirements::{Requirements, annotate};
use super::validation;
use crate::executables::ForeignCall;
use crate::flags::{CommandBufferMode, CommandCategories};
use crate::memory::Buffer;

/// A command buffer: a recording that becomes a list of commands when it is finished.
#[derive(Debug)]
pub struct CommandBuffer {
    mode: CommandBufferMode,
    categories: CommandCategories,
    slot_capacity: usize,
    recording: Mutex<Recording>,
    pushed: Mutex<Pushed>,
    finished: OnceLock<Arc<Commands>>,
}

#[derive(Debug, Default)]
struct Recording {
    commands: Vec<Command>,
    recorded_at: Vec<Option<Position>>,
    slots: Vec<Requirements>,
    open_groups: usize,
}

impl CommandBuffer {
    /// Starts a recording whose commands may name slots below `slot_capacity`.
    ///
    /// # Errors
    /// The mode is contradictory.
    pub(crate) fn new(
        mode: CommandBufferMode,
        categories: CommandCategories,
        slot_capacity: usize,
    ) -> Result<Self, Status> {
        if mode.contains(CommandBufferMode::ALLOW_INLINE_EXECUTION) {
            if !mode.contains(CommandBufferMode::ONE_SHOT) {
                return Err(Status::invalid_argument("inline command buffers must be one-shot"));
            }
            if slot_capacity > 0 {
                return Err(Status::invalid_argument(
                    "inline command buffers cannot have indirect bindings",
                ));
            }
        }
        Ok(Self {
            mode,
            categories,
            slot_capacity,
            recording: Mutex::default(),
            pushed: Mutex::default(),
            finished: OnceLock::new(),
        })
    }

    /// The intended use of the command buffer.
    #[must_use]
    pub(crate) fn mode(&self) -> CommandBufferMode {
        self.mode
    }

    /// The pushed constants and bindings, for dispatches that do not name their own.
    #[must_use]
    pub(crate) fn pushed(&self) -> &Mutex<Pushed> {
        &self.pushed
    }

    fn is_validated(&self) -> bool {
        !self.mode.contains(CommandBufferMode::UNVALIDATED)
    }

    /// Appends a command, with the instruction that records it if that is known.
    ///
    /// # Errors
    /// The recording is finished, or the command could not run.
    pub(crate) fn record(
        &self,
        command: Command,
        recorded_at: Option<Position>,
    ) -> Result<(), Status> {
        if self.finished.get().is_some() {
            return Err(Status::failed_precondition(
                "command buffer is not in a recording state; all recording must happen between a \
                 begin/end pair",
            ));
        }
        if self.is_validated()
            && let Some(category) = validation::category(&command)
        {
            validation::check_category(category, self.categories)?;
        }
        let requirements = validation::requirements(&command)?;
        let mut recording = self.recording();
        // Bindings are numbered after the range of the workgroup count, which is not a binding.
        let first_binding = match &command {
            Command::Dispatch(dispatch) => requirements.len() - dispatch.bindings.len(),
            _ => usize::MAX,
        };
        for (index, (range, requirements)) in command.ranges().zip(&requirements).enumerate() {
            recording.require(self, range, requirements).map_err(|status| {
                match index.checked_sub(first_binding) {
                    Some(binding) => annotate(&status, &format!("binding[{binding}]")),
                    None => status,
                }
            })?;
        }
        match &command {
            Command::BeginGroup(_) => recording.open_groups += 1,
            Command::EndGroup => recording.open_groups = recording.open_groups.saturating_sub(1),
            _ => {}
        }
        recording.commands.push(command);
        recording.recorded_at.push(recorded_at);
        Ok(())
    }

    /// The calls of dispatches for a device that is not here, in their order.
    pub(crate) fn foreign_calls(&self) -> Vec<ForeignCall> {
        let recording = self.recording();
        let dispatches = recording.commands.iter().filter_map(foreign);
        let call = |dispatch: &DispatchCommand| ForeignCall {
            name: dispatch.name().into_owned(),
            constants: dispatch.constants.clone(),
        };
        dispatches.map(call).collect()
    }

    /// Ends the recording, with bytecode in the place of dispatches for a device that is not here:
    /// one for each of [`Self::foreign_calls`].
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub(crate) fn finish_with(&self, stand_ins: Vec<StandInCommand>) -> Result<(), Status> {
        let mut recording = self.recording();
        let foreign = recording.commands.iter_mut().filter(|command| foreign(command).is_some());
        for (command, stand_in) in foreign.zip(stand_ins) {
            if let Command::Dispatch(dispatch) = command {
                dispatch.substitute(stand_in);
            }
        }
        drop(recording);
        self.finish()
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// It was finished before, or groups are open.
    pub(crate) fn finish(&self) -> Result<(), Status> {
        let mut recording = self.recording();
        if recording.open_groups != 0 {
            return Err(Status::failed_precondition(format!(
                "unbalanced debug group depth (expected 0, is {})",
                recording.open_groups
            )));
        }
        let Recording { commands, recorded_at, slots, .. } = std::mem::take(&mut *recording);
        let is_validated = self.is_validated();
        self.finished
            .set(Arc::new(Commands { commands, recorded_at, slots, is_validated }))
            .map_err(|_| Status::failed_precondition("command buffer is not in a recording state"))
    }

    /// The commands, once the recording is finished.
    ///
    /// # Errors
    /// It is not finished.
    pub fn commands(&self) -> Result<&Arc<Commands>, Status> {
        self.finished.get().ok_or_else(|| {
            Status::failed_precondition(
                "command buffer recording has not been ended and it is still in a recording state",
            )
        })
    }

    /// The memory that its commands name.
    #[must_use]
    pub fn buffers(&self) -> Vec<Buffer> {
        let mut found = Vec::new();
        match self.finished.get() {
            Some(finished) => add_buffers(&finished.commands, &mut found),
            None => add_buffers(&self.recording().commands, &mut found),
        }
        found
    }

    fn recording(&self) -> MutexGuard<'_, Recording> {
        // Commands are pushed whole, so a panic in another thread does not spoil the list.
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add_buffers(commands: &[Command], found: &mut Vec<Buffer>) {
    for command in commands {
        found.extend(command.ranges().filter_map(|range| match &range.buffer {
            BufferReference::Direct(buffer) => Some(buffer.clone()),
            BufferReference::Slot(_) => None,
        }));
        if let Command::Execute { commands, .. } = command {
            add_buffers(&commands.commands, found);
        }
    }
}

/// A dispatch for a device that is not here.
fn foreign(command: &Command) -> Option<&DispatchCommand> {
    match command {
        Command::Dispatch(dispatch) => {
            let foreign = dispatch.executable.foreign();
            foreign.is_some_and(|it| it.stand_ins().is_some()).then_some(dispatch)
        }
        _ => None,
    }
}

impl Recording {
    /// Checks a buffer that is named directly; adds the requirements for a slot to the recorded
    /// ones.
    fn require(
        &mut self,
        command_buffer: &CommandBuffer,
        range: &BufferRange,
        requirements: &Requirements,
    ) -> Result<(), Status> {
        match &range.buffer {
            BufferReference::Direct(buffer) if command_buffer.is_validated() => {
                // Resolving checks that the buffer has the range. As in IREE, this check does not.
                requirements.check(Some(buffer), 0, u64::MAX)
            }
            BufferReference::Direct(_) => Ok(()),
            BufferReference::Slot(slot) => {
                validation::check_slot(*slot, command_buffer.slot_capacity)?;
                let slot = *slot as usize;
                if self.slots.len() <= slot {
                    self.slots.resize(slot + 1, Requirements::default());
                }
                self.slots[slot].extend(requirements);
                Ok(())
            }
        }
    }
}

impl Object for CommandBuffer {
    fn type_name(&self) -> &str {
        "hal.command_buffer"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// A finished recording never changes.
    fn keep(&self) -> Kept {
        if self.finished.get().is_some() { Kept::Constant } else { Kept::Busy }
    }
}
