//! `!hal.command_buffer`: commands recorded as data.
//!
//! Recording resolves nothing: a command names buffers directly or by a slot of the binding table
//! that a submission brings along. So a command buffer can be recorded once and executed many
//! times, and the [`crate::queue`] (and a debugger above it) walks the commands one at a time.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use vm::{Object, Position, Status};

use crate::buffer::{Buffer, WHOLE_BUFFER};
use crate::descriptor_sets::Pushed;
use crate::executable::Executable;
use crate::flags::{CommandBufferMode, CommandCategories};
use crate::validation::{self, Requirements, annotate};

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
    pub constants: Arc<[u32]>,
    /// The memory it works on.
    pub bindings: Vec<BufferRange>,
}

impl DispatchCommand {
    /// The name of what is dispatched, or its number if the names were stripped.
    #[must_use]
    pub fn name(&self) -> Cow<'_, str> {
        self.executable.name_of(self.export)
    }
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
    /// The instruction that recorded each of them, where somebody looks at the program.
    pub recorded_at: Vec<Option<Position>>,
    /// What they require of each slot of a binding table; as many as a table has at least.
    pub slots: Vec<Requirements>,
    /// Whether a table is checked against the requirements.
    pub is_validated: bool,
}

impl Commands {
    /// A single command that names no slots, not validated.
    #[must_use]
    pub fn single(command: Command, recorded_at: Option<Position>) -> Arc<Self> {
        let (commands, recorded_at) = (vec![command], vec![recorded_at]);
        Arc::new(Self { commands, recorded_at, ..Self::default() })
    }

    /// That a binding table has what the commands require.
    ///
    /// # Errors
    /// It is too short, or a buffer in it does not meet the requirements.
    pub fn check_table(&self, table: &[TableEntry]) -> Result<(), Status> {
        let required = self.slots.len();
        if required == 0 {
            return Ok(());
        }
        if table.is_empty() {
            return Err(Status::invalid_argument(format!(
                "indirect command buffer requires at least {required} bindings but no binding \
                 table was provided"
            )));
        }
        if table.len() < required {
            return Err(Status::out_of_range(format!(
                "indirect command buffer requires at least {required} bindings but only {} were \
                 provided ",
                table.len()
            )));
        }
        if !self.is_validated {
            return Ok(());
        }
        for (slot, (requirements, entry)) in self.slots.iter().zip(table).enumerate() {
            requirements
                .check(entry.buffer.as_ref(), entry.offset, entry.length)
                .map_err(|status| annotate(&status, &format!("binding table slot {slot}")))?;
        }
        Ok(())
    }
}

/// A slot of a binding table as it is submitted.
#[derive(Clone, Debug)]
pub struct TableEntry {
    /// The buffer, if there is one.
    pub buffer: Option<Buffer>,
    /// Where the slot starts in it.
    pub offset: u64,
    /// How many bytes it has; [`WHOLE_BUFFER`] for all behind `offset`.
    pub length: u64,
}

impl TableEntry {
    /// An entry with the length as a number of bytes.
    #[must_use]
    pub fn new(buffer: Option<Buffer>, offset: u64, length: u64) -> Self {
        let behind =
            buffer.as_ref().map_or(0, |buffer| (buffer.len() as u64).saturating_sub(offset));
        Self { buffer, offset, length: if length == WHOLE_BUFFER { behind } else { length } }
    }
}

/// A command buffer: a recording that becomes [`Commands`] when it is finished.
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
    /// The mode contradicts itself.
    pub fn new(
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

    /// How it is meant to be used.
    #[must_use]
    pub fn mode(&self) -> CommandBufferMode {
        self.mode
    }

    /// What dispatches are given that do not say it themselves.
    #[must_use]
    pub fn pushed(&self) -> &Mutex<Pushed> {
        &self.pushed
    }

    fn is_validated(&self) -> bool {
        !self.mode.contains(CommandBufferMode::UNVALIDATED)
    }

    /// Appends a command, with the instruction that records it as far as that is known.
    ///
    /// # Errors
    /// The recording is finished, or the command could not run.
    pub fn record(&self, command: Command, recorded_at: Option<Position>) -> Result<(), Status> {
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
        // The workgroup count is no binding, so bindings are counted from behind it.
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

    /// Ends the recording.
    ///
    /// # Errors
    /// It was finished before, or groups are open.
    pub fn finish(&self) -> Result<(), Status> {
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
    /// It is not.
    pub fn commands(&self) -> Result<&Arc<Commands>, Status> {
        self.finished.get().ok_or_else(|| {
            Status::failed_precondition(
                "command buffer recording has not been ended and it is still in a recording state",
            )
        })
    }

    fn recording(&self) -> MutexGuard<'_, Recording> {
        // Commands are pushed whole, so another thread's panic does not spoil the list.
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    /// Checks a buffer that is named directly; notes what is required of a slot.
    fn require(
        &mut self,
        command_buffer: &CommandBuffer,
        range: &BufferRange,
        requirements: &Requirements,
    ) -> Result<(), Status> {
        match &range.buffer {
            BufferReference::Direct(buffer) if command_buffer.is_validated() => {
                // Whether the buffer has the range is found out when it is resolved; IREE too takes
                // the end of the range for the end of the buffer here.
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
}

impl Command {
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
