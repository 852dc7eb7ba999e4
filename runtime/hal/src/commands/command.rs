//! Commands as data, and the finished list of commands that a queue walks.

use std::borrow::Cow;
use std::sync::Arc;

use vm::{Position, Status};

use super::requirements::{Requirements, annotate};
use crate::executables::{Executable, Export, NoStandIn};
use crate::memory::{Buffer, WHOLE_BUFFER};

/// How a command refers to its memory.
#[derive(Clone, Debug)]
pub(crate) enum BufferReference {
    /// A buffer, named when the command was recorded.
    Direct(Buffer),
    /// A slot of the binding table that a submission provides.
    Slot(u32),
}

/// A range of memory of a command. With a slot, the range is within what the table binds there.
#[derive(Clone, Debug)]
pub struct BufferRange {
    /// The memory.
    pub(crate) buffer: BufferReference,
    /// The offset in bytes.
    pub(crate) offset: u64,
    /// The length in bytes; [`WHOLE_BUFFER`] for everything from `offset`.
    pub(crate) length: u64,
}

/// The number of workgroups of a dispatch.
#[derive(Clone, Debug)]
pub(crate) enum WorkgroupCount {
    /// x, y and z.
    Static([u32; 3]),
    /// Three 32-bit numbers in memory, read when the command runs.
    Indirect(BufferRange),
}

/// A recorded dispatch.
#[derive(Clone, Debug)]
pub struct DispatchCommand {
    /// The executable.
    pub(crate) executable: Arc<dyn Executable>,
    /// Index into the exports of the executable.
    pub(crate) export: usize,
    /// The number of workgroups.
    pub(crate) workgroups: WorkgroupCount,
    /// The push constants.
    pub(crate) constants: Arc<[u32]>,
    /// The memory that it works on.
    pub(crate) bindings: Vec<BufferRange>,
}

impl DispatchCommand {
    /// The name of the export, or its number if the names were stripped.
    #[must_use]
    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.executable.name_of(self.export)
    }

    /// Puts bytecode in the place of an executable for a device that is not here; or the reason
    /// why there is none, which is the error when the dispatch runs.
    pub(super) fn substitute(&mut self, stand_in: StandInCommand) {
        let name = self.name().into_owned();
        let stand_in = stand_in.and_then(|(executable, workgroup_count)| {
            let exports = executable.exports();
            let export = exports.iter().position(|it| it.name == name);
            let export = export.ok_or(NoStandIn::NoDispatch { name })?;
            let Export { constant_count, binding_count, .. } = &exports[export];
            let fits = |wanted: &Option<usize>, has: usize| wanted.is_none_or(|it| it == has);
            if !fits(constant_count, self.constants.len())
                || !fits(binding_count, self.bindings.len())
            {
                return Err(NoStandIn::OtherInterface);
            }
            Ok((executable, export, workgroup_count))
        });
        match (stand_in, self.executable.foreign()) {
            (Ok((executable, export, workgroup_count)), _) => {
                (self.executable, self.export) = (executable, export);
                self.workgroups = WorkgroupCount::Static(workgroup_count);
            }
            (Err(why_not), Some(foreign)) => {
                let without = foreign.without_bytecode(self.export, why_not);
                (self.executable, self.export) = (Arc::new(without), 0);
            }
            (Err(_), None) => {}
        }
    }
}

/// What stands for a dispatch of a device that is not here: bytecode with its count of workgroups,
/// or the reason why there is none.
pub(crate) type StandInCommand = Result<(Arc<dyn Executable>, [u32; 3]), NoStandIn>;

/// A recorded command.
#[derive(Clone, Debug)]
pub enum Command {
    /// Names the commands up to the matching [`Command::EndGroup`].
    BeginGroup(String),
    /// Ends a named group.
    EndGroup,
    /// Later commands see what earlier ones have written. Always true here, as commands run in
    /// order.
    Barrier,
    /// Fills a range with repetitions of a pattern of 1, 2, 4 or 8 bytes.
    Fill {
        /// The range that is written.
        target: BufferRange,
        /// The pattern.
        pattern: Vec<u8>,
    },
    /// Writes bytes that were captured when the command was recorded.
    Update {
        /// The range that is written.
        target: BufferRange,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Copies bytes; the ranges have the same length.
    Copy {
        /// The range that is read.
        source: BufferRange,
        /// The range that is written.
        target: BufferRange,
    },
    /// Runs a function of an executable over a grid of workgroups.
    Dispatch(DispatchCommand),
    /// Runs another command buffer's commands, with a binding table of its own.
    Execute {
        /// The other commands.
        commands: Arc<Commands>,
        /// The contents of its slots.
        bindings: Vec<BufferRange>,
    },
}

/// The commands of a finished command buffer.
#[derive(Debug, Default)]
pub struct Commands {
    /// The commands, in order.
    pub commands: Vec<Command>,
    /// The instruction that recorded each command, if the program is inspected.
    pub(crate) recorded_at: Vec<Option<Position>>,
    /// The requirements for each slot of a binding table, which needs at least as many slots.
    pub(crate) slots: Vec<Requirements>,
    /// Whether a table is checked against the requirements.
    pub(crate) is_validated: bool,
}

impl Commands {
    /// A single command that names no slots and is not validated.
    #[must_use]
    pub(crate) fn single(command: Command, recorded_at: Option<Position>) -> Arc<Self> {
        let (commands, recorded_at) = (vec![command], vec![recorded_at]);
        Arc::new(Self { commands, recorded_at, ..Self::default() })
    }

    /// Checks that a binding table meets the requirements of the commands.
    ///
    /// # Errors
    /// It is too short, or a buffer in it does not meet the requirements.
    pub(crate) fn check_table(&self, table: &[TableEntry]) -> Result<(), Status> {
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

/// A slot of a submitted binding table.
#[derive(Clone, Debug)]
pub(crate) struct TableEntry {
    /// The buffer, if there is one.
    pub(crate) buffer: Option<Buffer>,
    /// The offset of the slot in the buffer, in bytes.
    pub(crate) offset: u64,
    /// The length in bytes.
    pub(crate) length: u64,
}

impl TableEntry {
    /// An entry. The length [`WHOLE_BUFFER`] becomes the number of bytes from `offset`.
    #[must_use]
    pub(crate) fn new(buffer: Option<Buffer>, offset: u64, length: u64) -> Self {
        let available =
            buffer.as_ref().map_or(0, |buffer| (buffer.len() as u64).saturating_sub(offset));
        Self { buffer, offset, length: if length == WHOLE_BUFFER { available } else { length } }
    }
}

impl Command {
    /// All memory that the command names.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = &BufferRange> {
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
