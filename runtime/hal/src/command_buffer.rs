//! `!hal.command_buffer`: commands recorded as data.
//!
//! Recording resolves nothing: a command names buffers directly or by a slot of the binding table
//! that a submission brings along. So a command buffer can be recorded once and executed many times,
//! and the [`crate::queue`] (and a debugger above it) walks the commands one at a time.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use vm::{Object, Status};

use crate::buffer::Buffer;
use crate::executable::Executable;

/// What a command names as its memory.
#[derive(Clone, Debug)]
pub enum BufferReference {
    /// A buffer, when it was recorded.
    Direct(Buffer),
    /// A slot of the binding table.
    Slot(u32),
}

/// A range of memory of a command. With a slot, the range is within what the table binds there.
#[derive(Clone, Debug)]
pub struct BufferRange {
    /// The memory.
    pub buffer: BufferReference,
    /// Where in it.
    pub offset: u64,
    /// How many bytes; [`crate::buffer::WHOLE_BUFFER`] for all behind `offset`.
    pub length: u64,
}

/// How many workgroups a dispatch has.
#[derive(Clone, Debug)]
pub enum WorkgroupCount {
    /// x, y and z.
    Static([u32; 3]),
    /// Three 32-bit numbers in memory, read when the command runs.
    Indirect(BufferRange),
}

/// A recorded dispatch.
#[derive(Clone, Debug)]
pub struct DispatchCommand {
    /// The executable.
    pub executable: Arc<dyn Executable>,
    /// Index into its exports.
    pub export: usize,
    /// How many workgroups.
    pub workgroups: WorkgroupCount,
    /// Push constants.
    pub constants: Vec<u32>,
    /// The memory it works on.
    pub bindings: Vec<BufferRange>,
}

/// A recorded command.
#[derive(Clone, Debug)]
pub enum Command {
    /// Names the commands up to the matching [`Command::EndGroup`].
    BeginGroup(String),
    /// Ends a named group.
    EndGroup,
    /// Commands behind see what those before have written. Always so here.
    Barrier,
    /// Writes a pattern of 1, 2, 4 or 8 bytes over and over.
    Fill {
        /// Where.
        target: BufferRange,
        /// What.
        pattern: Vec<u8>,
    },
    /// Writes bytes that were captured when it was recorded.
    Update {
        /// Where.
        target: BufferRange,
        /// What.
        bytes: Vec<u8>,
    },
    /// Copies bytes; the ranges have the same length.
    Copy {
        /// From where.
        source: BufferRange,
        /// To where.
        target: BufferRange,
    },
    /// Runs a function of an executable over a grid of workgroups.
    Dispatch(DispatchCommand),
    /// Runs another command buffer's commands, with a binding table of its own.
    Execute {
        /// The other.
        commands: Arc<Commands>,
        /// What its slots are.
        bindings: Vec<BufferRange>,
    },
}

/// The commands of a command buffer that is finished.
#[derive(Debug, Default)]
pub struct Commands {
    /// In order.
    pub commands: Vec<Command>,
    /// How many slots a binding table for them has.
    pub slot_count: usize,
}

/// A command buffer: a recording that becomes [`Commands`] when it is finished.
#[derive(Debug)]
pub struct CommandBuffer {
    slot_count: usize,
    recording: std::sync::Mutex<Vec<Command>>,
    finished: OnceLock<Arc<Commands>>,
}

impl CommandBuffer {
    /// Starts a recording whose commands may name slots below `slot_count`.
    #[must_use]
    pub fn new(slot_count: usize) -> Self {
        Self { slot_count, recording: Default::default(), finished: OnceLock::new() }
    }

    /// Appends a command.
    ///
    /// # Errors
    /// The recording is finished, or the command names a slot that there is not.
    pub fn record(&self, command: Command) -> Result<(), Status> {
        if self.finished.get().is_some() {
            return Err(Status::failed_precondition(
                "the command buffer is finalized; commands cannot be recorded any more",
            ));
        }
        command.check_slots(self.slot_count)?;
        self.recording.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(command);
        Ok(())
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// It was finished before.
    pub fn finish(&self) -> Result<(), Status> {
        let mut recording =
            self.recording.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let commands = std::mem::take(&mut *recording);
        self.finished
            .set(Arc::new(Commands { commands, slot_count: self.slot_count }))
            .map_err(|_| Status::failed_precondition("the command buffer was finalized before"))
    }

    /// The commands, once the recording is finished.
    ///
    /// # Errors
    /// It is not.
    pub fn commands(&self) -> Result<&Arc<Commands>, Status> {
        self.finished.get().ok_or_else(|| {
            Status::failed_precondition(
                "the command buffer is not finalized; it cannot be executed",
            )
        })
    }
}

impl Object for CommandBuffer {
    fn type_name(&self) -> &str {
        "hal.command_buffer"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Command {
    fn check_slots(&self, slot_count: usize) -> Result<(), Status> {
        self.ranges().try_for_each(|range| match range.buffer {
            BufferReference::Slot(slot) if slot as usize >= slot_count => {
                Err(Status::out_of_range(format!(
                    "indirect buffer reference slot {slot} is out of range of the declared binding \
                     capacity of the command buffer {slot_count}"
                )))
            }
            _ => Ok(()),
        })
    }

    /// All memory that the command names.
    pub fn ranges(&self) -> impl Iterator<Item = &BufferRange> {
        let (fixed, many): ([Option<&BufferRange>; 2], &[BufferRange]) = match self {
            Self::BeginGroup(_) | Self::EndGroup | Self::Barrier => ([None, None], &[]),
            Self::Fill { target, .. } | Self::Update { target, .. } => ([Some(target), None], &[]),
            Self::Copy { source, target } => ([Some(source), Some(target)], &[]),
            Self::Dispatch(dispatch) => {
                let count = match &dispatch.workgroups {
                    WorkgroupCount::Indirect(range) => Some(range),
                    WorkgroupCount::Static(_) => None,
                };
                ([count, None], &dispatch.bindings)
            }
            Self::Execute { bindings, .. } => ([None, None], bindings),
        };
        fixed.into_iter().flatten().chain(many)
    }
}
