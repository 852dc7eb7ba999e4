//! Walking recorded commands, one at a time.
//!
//! An [`Execution`] is plain data: the next command, and the contents of its binding table. Nested
//! command buffers are on a stack, without recursion. [`Execution::run_next`] is the fast way to
//! continue. A debugger looks at [`Execution::next`], resolves a dispatch itself with
//! [`Execution::resolve_dispatch`], runs its workgroups as it likes, and then calls
//! [`Execution::advance`].

use std::sync::Arc;

use vm::{Position, Status};

use super::command::{
    BufferRange, BufferReference, Command, Commands, DispatchCommand, TableEntry, WorkgroupCount,
};
use crate::executables::{Dispatch, Executable, WorkerPool};
use crate::memory::{Binding, Buffer, WHOLE_BUFFER};
use crate::results::Recorded;

/// Commands in execution.
#[derive(Clone, Debug)]
pub(crate) struct Execution {
    /// The command buffer with the next command; `None` at the end.
    level: Option<Level>,
    /// The command buffers that it is nested in, outermost first.
    outer: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Level {
    commands: Arc<Commands>,
    /// The slots of the binding table, each buffer narrowed to its slot.
    bindings: Arc<[TableEntry]>,
    next: usize,
}

impl Level {
    fn is_finished(&self) -> bool {
        self.next >= self.commands.commands.len()
    }
}

/// A dispatch with its memory resolved.
#[derive(Clone, Debug)]
pub struct ResolvedDispatch {
    /// The executable.
    pub executable: Arc<dyn Executable>,
    /// The dispatch of one of its exports.
    pub dispatch: Dispatch,
    /// The device buffer of each binding.
    pub buffers: Vec<Buffer>,
}

impl Execution {
    /// Starts commands with a binding table.
    ///
    /// # Errors
    /// The table does not meet the requirements of the commands.
    pub(crate) fn new(commands: Arc<Commands>, mut table: Vec<TableEntry>) -> Result<Self, Status> {
        commands.check_table(&table)?;
        table.truncate(commands.slots.len());
        for entry in &mut table {
            if let Some(buffer) = &mut entry.buffer {
                // A slot may claim more than the buffer has, if no command uses the excess.
                let available = (buffer.len() as u64).saturating_sub(entry.offset);
                buffer.narrow(entry.offset, entry.length.min(available))?;
            }
        }
        let level = Some(Level { commands, bindings: table.into(), next: 0 });
        let mut execution = Self { level, outer: Vec::new() };
        execution.leave_finished();
        Ok(execution)
    }

    /// The buffers of its binding tables.
    pub(crate) fn bound_buffers(&self) -> impl Iterator<Item = &Buffer> {
        let levels = self.level.iter().chain(&self.outer);
        levels.flat_map(|level| level.bindings.iter()).filter_map(|entry| entry.buffer.as_ref())
    }

    /// The command that runs next, with its index in its command buffer; `None` at the end.
    #[must_use]
    pub(crate) fn next(&self) -> Option<(usize, &Command)> {
        let level = self.level.as_ref()?;
        Some((level.next, level.commands.commands.get(level.next)?))
    }

    /// The instruction that recorded the next command, if the program is inspected.
    #[must_use]
    pub(crate) fn recorded_at(&self) -> Option<Position> {
        let level = self.level.as_ref()?;
        *level.commands.recorded_at.get(level.next)?
    }

    /// Runs all commands to the end. Dispatches that can run together do.
    ///
    /// # Errors
    /// As [`Self::run_next`].
    pub(crate) fn run_rest(&mut self, pool: &WorkerPool) -> Result<(), Status> {
        let mut together = Vec::new();
        while let Some((_, command)) = self.next() {
            match command {
                Command::Dispatch(dispatch)
                    if matches!(dispatch.workgroups, WorkgroupCount::Static(_))
                        && pool.runs_together(&dispatch.executable) =>
                {
                    match self.bound(dispatch) {
                        Ok(bound) => together.push((dispatch.executable.clone(), bound)),
                        Err(status) => {
                            pool.run_together(&together)?;
                            return Err(status);
                        }
                    }
                    self.advance();
                    continue;
                }
                Command::BeginGroup(_) | Command::EndGroup | Command::Barrier => {}
                _ => {
                    pool.run_together(&together)?;
                    together.clear();
                }
            }
            self.run_next(pool)?;
        }
        pool.run_together(&together)
    }

    /// Puts into memory what the next command, a dispatch, has left in a recorded run. Returns
    /// whether that is known; then the command is done.
    ///
    /// # Errors
    /// It has failed there, or names memory that does not exist.
    pub(crate) fn put_next(&mut self, recorded: &Recorded) -> Result<bool, Status> {
        let Some((_, Command::Dispatch(dispatch))) = self.next() else { return Ok(false) };
        let is_known = recorded.put(&*dispatch.executable, &self.bound(dispatch)?)?;
        if is_known {
            self.advance();
        }
        Ok(is_known)
    }

    /// Runs the next command to its end.
    ///
    /// # Errors
    /// It failed, or it names memory that does not exist.
    pub(crate) fn run_next(&mut self, pool: &WorkerPool) -> Result<(), Status> {
        let Some((_, command)) = self.next() else { return Ok(()) };
        match command {
            Command::BeginGroup(_) | Command::EndGroup | Command::Barrier => {}
            Command::Fill { target, pattern } => {
                // `fill` checks the alignment of the offset in the buffer that the command names,
                // so the range is not resolved first.
                self.buffer(&target.buffer)?.fill(target.offset, target.length, pattern)?;
            }
            Command::Update { target, bytes } => self.resolve(target)?.write(0, bytes)?,
            Command::Copy { source, target } => {
                let (source, target) = (self.resolve(source)?, self.resolve(target)?);
                target.copy_from(0, &source, 0, source.len() as u64)?;
            }
            Command::Dispatch(dispatch) => {
                pool.run(&dispatch.executable, &self.bound(dispatch)?)?;
            }
            Command::Execute { commands, bindings } => {
                let table = bindings
                    .iter()
                    .map(|range| Ok(TableEntry::new(Some(self.resolve(range)?), 0, WHOLE_BUFFER)))
                    .collect::<Result<Vec<_>, Status>>()?;
                let commands = commands.clone();
                return self.enter(commands, table);
            }
        }
        self.advance();
        Ok(())
    }

    /// Advances past the next command, which has run.
    pub(crate) fn advance(&mut self) {
        if let Some(level) = &mut self.level {
            level.next += 1;
        }
        self.leave_finished();
    }

    fn enter(&mut self, commands: Arc<Commands>, table: Vec<TableEntry>) -> Result<(), Status> {
        if let Some(level) = &mut self.level {
            level.next += 1;
        }
        let nested = Self::new(commands, table)?;
        if nested.level.is_some() {
            self.outer.extend(std::mem::replace(&mut self.level, nested.level));
        }
        self.leave_finished();
        Ok(())
    }

    fn leave_finished(&mut self) {
        while self.level.as_ref().is_some_and(Level::is_finished) {
            self.level = self.outer.pop();
        }
    }

    /// A range of memory that the next command names.
    ///
    /// # Errors
    /// The slot is empty, or its buffer does not have the range.
    pub(crate) fn resolve(&self, range: &BufferRange) -> Result<Buffer, Status> {
        self.buffer(&range.buffer)?.subspan(range.offset, range.length)
    }

    fn buffer<'a>(&'a self, reference: &'a BufferReference) -> Result<&'a Buffer, Status> {
        let slot = match reference {
            BufferReference::Direct(buffer) => return Ok(buffer),
            BufferReference::Slot(slot) => *slot,
        };
        let entry = self.level.as_ref().and_then(|level| level.bindings.get(slot as usize));
        entry.and_then(|entry| entry.buffer.as_ref()).ok_or_else(|| {
            Status::invalid_argument(format!(
                "binding table slot {slot} requires a buffer but none was provided"
            ))
        })
    }

    fn binding(&self, range: &BufferRange) -> Result<Binding, Status> {
        self.buffer(&range.buffer)?.binding(range.offset, range.length)
    }

    /// A dispatch with the memory that its bindings name.
    ///
    /// # Errors
    /// A binding cannot be resolved, or the export takes another number of them.
    pub(crate) fn resolve_dispatch(
        &self,
        command: &DispatchCommand,
    ) -> Result<ResolvedDispatch, Status> {
        let buffers: Vec<Buffer> =
            command.bindings.iter().map(|range| self.resolve(range)).collect::<Result<_, _>>()?;
        let dispatch = self.bound(command)?;
        Ok(ResolvedDispatch { executable: command.executable.clone(), dispatch, buffers })
    }

    /// A dispatch with its memory.
    fn bound(&self, command: &DispatchCommand) -> Result<Dispatch, Status> {
        let ranges = command.bindings.iter();
        let bindings = ranges.map(|range| self.binding(range)).collect::<Result<_, _>>()?;
        let workgroup_count = match &command.workgroups {
            WorkgroupCount::Static(count) => *count,
            WorkgroupCount::Indirect(range) => {
                let bytes = self.resolve(range)?.storage();
                [bytes.load(0)?, bytes.load(1)?, bytes.load(2)?].map(u32::from_le_bytes)
            }
        };
        let exports = command.executable.exports();
        let Some(export) = exports.get(command.export) else {
            return Err(Status::out_of_range(format!(
                "function id {} out of range (count: {})",
                command.export,
                exports.len()
            )));
        };
        check_count("constant", export.constant_count, command.constants.len())?;
        check_count("binding", export.binding_count, command.bindings.len())?;
        Ok(Dispatch {
            export: command.export,
            workgroup_count,
            workgroup_size: export.workgroup_size.unwrap_or([1; 3]),
            constants: command.constants.clone(),
            bindings,
            local_memory_bytes: 0,
        })
    }
}

fn check_count(what: &str, expected: Option<usize>, found: usize) -> Result<(), Status> {
    match expected {
        Some(expected) if expected != found => Err(Status::invalid_argument(format!(
            "{what} count mismatch, expected {expected} but was provided {found}"
        ))),
        _ => Ok(()),
    }
}
