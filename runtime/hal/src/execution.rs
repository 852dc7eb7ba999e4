//! Walking recorded commands, one at a time.
//!
//! An [`Execution`] is plain data: which command is next, and what the slots of its binding table
//! are. Nested command buffers are a stack here, not recursion. [`Execution::run_next`] is the fast
//! way to go on; a debugger looks at [`Execution::next`], resolves a dispatch itself with
//! [`Execution::resolve_dispatch`], runs its workgroups as it likes, and then calls
//! [`Execution::advance`].

use std::sync::Arc;

use vm::Status;

use crate::buffer::{Buffer, WHOLE_BUFFER};
use crate::command_buffer::{
    BufferRange, BufferReference, Command, Commands, DispatchCommand, TableEntry, WorkgroupCount,
};
use crate::executable::pool::WorkerPool;
use crate::executable::{Dispatch, Executable};

/// What a slot of a binding table is: a range of a buffer, or nothing.
pub type Binding = Option<Buffer>;

/// Commands on their way.
#[derive(Debug)]
pub struct Execution {
    /// The command buffer that was submitted, then those nested in it.
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    commands: Arc<Commands>,
    bindings: Vec<Binding>,
    next: usize,
}

/// A dispatch with its memory resolved.
#[derive(Clone, Debug)]
pub struct ResolvedDispatch {
    /// What to run.
    pub executable: Arc<dyn Executable>,
    /// On what.
    pub dispatch: Dispatch,
    /// The device buffers behind its bindings.
    pub buffers: Vec<Buffer>,
}

impl Execution {
    /// Starts commands with a binding table.
    ///
    /// # Errors
    /// The table does not have what the commands require.
    pub fn new(commands: Arc<Commands>, table: &[TableEntry]) -> Result<Self, Status> {
        commands.check_table(table)?;
        let used = commands.slots.len().min(table.len());
        let bindings = table[..used].iter().map(bind).collect::<Result<_, _>>()?;
        let mut execution = Self { levels: vec![Level { commands, bindings, next: 0 }] };
        execution.leave_finished();
        Ok(execution)
    }

    /// The command that runs next, with its index in its command buffer; `None` at the end.
    #[must_use]
    pub fn next(&self) -> Option<(usize, &Command)> {
        let level = self.levels.last()?;
        Some((level.next, level.commands.commands.get(level.next)?))
    }

    /// How deep the next command is nested: 1 in the command buffer that was submitted.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Runs the next command to its end.
    ///
    /// # Errors
    /// It failed, or it names memory that is not there.
    pub fn run_next(&mut self, pool: &WorkerPool) -> Result<(), Status> {
        let Some(level) = self.levels.last() else { return Ok(()) };
        let commands = level.commands.clone();
        let Some(command) = commands.commands.get(level.next) else { return Ok(()) };
        match command {
            Command::BeginGroup(_) | Command::EndGroup | Command::Barrier => {}
            Command::Fill { target, pattern } => {
                let target = self.resolve(target)?;
                target.fill(0, target.len() as u64, pattern)?;
            }
            Command::Update { target, bytes } => self.resolve(target)?.write(0, bytes)?,
            Command::Copy { source, target } => {
                let (source, target) = (self.resolve(source)?, self.resolve(target)?);
                target.copy_from(0, &source, 0, source.len() as u64)?;
            }
            Command::Dispatch(dispatch) => {
                let resolved = self.resolve_dispatch(dispatch)?;
                pool.run(&resolved.executable, &resolved.dispatch)?;
            }
            Command::Execute { commands, bindings } => {
                let table = bindings
                    .iter()
                    .map(|range| Ok(TableEntry::new(Some(self.resolve(range)?), 0, WHOLE_BUFFER)))
                    .collect::<Result<Vec<_>, Status>>()?;
                return self.enter(commands.clone(), &table);
            }
        }
        self.advance();
        Ok(())
    }

    /// Goes on behind the next command, which has run.
    pub fn advance(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.next += 1;
        }
        self.leave_finished();
    }

    fn enter(&mut self, commands: Arc<Commands>, table: &[TableEntry]) -> Result<(), Status> {
        if let Some(level) = self.levels.last_mut() {
            level.next += 1;
        }
        let mut nested = Self::new(commands, table)?;
        self.levels.append(&mut nested.levels);
        self.leave_finished();
        Ok(())
    }

    fn leave_finished(&mut self) {
        while self.levels.last().is_some_and(|level| level.next >= level.commands.commands.len()) {
            self.levels.pop();
        }
    }

    /// The memory that the next command names.
    ///
    /// # Errors
    /// The slot is empty, or its buffer does not have the range.
    pub fn resolve(&self, range: &BufferRange) -> Result<Buffer, Status> {
        let buffer = match &range.buffer {
            BufferReference::Direct(buffer) => buffer,
            BufferReference::Slot(slot) => {
                let bindings = self.levels.last().map_or(&[][..], |level| &level.bindings);
                match bindings.get(*slot as usize) {
                    Some(Some(buffer)) => buffer,
                    _ => {
                        return Err(Status::invalid_argument(format!(
                            "binding table slot {slot} requires a buffer but none was provided"
                        )));
                    }
                }
            }
        };
        buffer.subspan(range.offset, range.length)
    }

    /// A dispatch with the memory that its bindings name.
    ///
    /// # Errors
    /// A binding cannot be resolved, or their number is not what the export takes.
    pub fn resolve_dispatch(&self, command: &DispatchCommand) -> Result<ResolvedDispatch, Status> {
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
        let buffers: Vec<Buffer> =
            command.bindings.iter().map(|range| self.resolve(range)).collect::<Result<_, _>>()?;
        let dispatch = Dispatch {
            export: command.export,
            workgroup_count,
            workgroup_size: export.workgroup_size.unwrap_or([1; 3]),
            constants: command.constants.clone(),
            bindings: buffers.iter().map(Buffer::storage).collect(),
            local_memory_bytes: 0,
        };
        Ok(ResolvedDispatch { executable: command.executable.clone(), dispatch, buffers })
    }
}

fn bind(entry: &TableEntry) -> Result<Binding, Status> {
    let span = |buffer: &Buffer| buffer.subspan(entry.offset, entry.length);
    entry.buffer.as_ref().map(span).transpose()
}

fn check_count(what: &str, expected: Option<usize>, found: usize) -> Result<(), Status> {
    match expected {
        Some(expected) if expected != found => Err(Status::invalid_argument(format!(
            "{what} count mismatch, expected {expected} but was provided {found}"
        ))),
        _ => Ok(()),
    }
}
