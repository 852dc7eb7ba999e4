//! The run as a table: a row for each command of a recorded run, with what it has left.
//!
//! A row is made when its command has run, from memory as it is then, and what runs again has its
//! row already. So rows are of the run, not of where the program stands in it: they stay where it
//! goes back, and for a file. What memory a dispatch has written, its text says. Of one without a
//! text there is only a digest of what has changed in its bindings.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abi::tensor::TensorType;
use debuginfo::DispatchInterfaces;
use hal::{CommandListener, CommandRecord, Noted, PastDispatch, Work};
use vm::Position;

use super::dispatch_memory::{DispatchMemory, is_written};
use crate::tensor::{Extent, TensorView, hash_and_extent};

/// The most rows that are in memory: the last ones.
const MOST: usize = 1 << 18;

/// What a command does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandKind {
    /// It fills memory with a pattern.
    Fill,
    /// It copies memory.
    Copy,
    /// It writes bytes of the program.
    Update,
    /// It runs a function of an executable.
    Dispatch,
}

impl CommandKind {
    /// As the debugger names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Copy => "copy",
            Self::Update => "update",
            Self::Dispatch => "dispatch",
        }
    }
}

/// A command that has run, and what it has left.
#[derive(Clone, PartialEq, Debug)]
pub struct CommandRow {
    /// Its number among all commands of the run, from 1, as `goto` takes it.
    pub number: u64,
    /// What it does.
    pub kind: CommandKind,
    /// The export that a dispatch has run; empty for others.
    pub name: Arc<str>,
    /// The instruction that recorded it.
    pub recorded_at: Position,
    /// The tensors or the memory that it writes.
    pub written: Vec<WrittenTensor>,
    /// A digest of what has changed in the bindings of a dispatch that may have written more than
    /// that: its text says not all of it.
    pub changed: Option<u64>,
}

/// How what two commands have left differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RowDifference {
    /// They are not the same command.
    OtherCommand,
    /// The tensors of these places differ. None: what they write is not known, and what has changed
    /// in their memory differs.
    Left(Vec<usize>),
}

/// A tensor that a command has written, as it has left it.
#[derive(Clone, PartialEq, Debug)]
pub struct WrittenTensor {
    /// Which operand of the dispatch it is; `None` of other commands.
    pub operand: Option<usize>,
    /// Its shape and element type; `None`: it is known as bytes only.
    pub tensor_type: Option<Arc<str>>,
    /// Its length in bytes.
    pub length: u64,
    /// Its hash, as `hash(x)` has it.
    pub hash: u64,
    /// Its least and its greatest element, if it has such.
    pub extent: Option<Extent>,
}

/// The rows of a run.
#[derive(Debug, Default)]
pub struct RunTable {
    rows: VecDeque<Arc<CommandRow>>,
    size: usize,
    /// The number of a command whose row was forgotten, for lack of room.
    forgotten: Option<u64>,
}

impl RunTable {
    /// A table of these rows, by their numbers.
    #[must_use]
    pub fn of(rows: &[Arc<CommandRow>]) -> Self {
        let mut table = Self::default();
        rows.iter().for_each(|row| table.push(Arc::clone(row)));
        table
    }

    /// The rows, by their numbers.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &Arc<CommandRow>> {
        self.rows.iter()
    }

    /// The last command whose row was forgotten for lack of room.
    #[must_use]
    pub fn forgotten(&self) -> Option<u64> {
        self.forgotten
    }

    /// About how much memory it takes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The rows of later commands than this one.
    pub(crate) fn rows_after(&self, number: u64) -> Vec<Arc<CommandRow>> {
        let from = self.rows.partition_point(|row| row.number <= number);
        self.rows.range(from..).cloned().collect()
    }

    /// Sets aside the rows of later commands: what is to come is another line.
    pub(crate) fn take_after(&mut self, number: u64) -> Vec<Arc<CommandRow>> {
        let later = self.rows_after(number);
        self.forget_after(number);
        later
    }

    /// What is to come has these rows.
    pub(crate) fn put(&mut self, later: Vec<Arc<CommandRow>>) {
        later.into_iter().for_each(|row| self.push(row));
    }

    /// Forgets the rows of later commands: what is to come is another run.
    pub(crate) fn forget_after(&mut self, number: u64) {
        while self.rows.back().is_some_and(|row| row.number > number) {
            self.size -= self.rows.pop_back().map_or(0, |row| row.size());
        }
    }

    /// Whether a command that has run needs a row, given what is known of its earlier runs.
    fn wants(&mut self, number: u64, noted: Noted) -> bool {
        match noted {
            Noted::Trial => return false,
            Noted::Otherwise => self.forget_after(number.saturating_sub(1)),
            Noted::First | Noted::Again => {}
        }
        self.rows.back().is_none_or(|last| last.number < number)
            && self.forgotten.is_none_or(|last| last < number)
    }

    fn push(&mut self, row: Arc<CommandRow>) {
        if self.rows.back().is_some_and(|last| last.number >= row.number) {
            return;
        }
        self.size += row.size();
        self.rows.push_back(row);
        if self.rows.len() > MOST
            && let Some(first) = self.rows.pop_front()
        {
            self.size -= first.size();
            self.forgotten = Some(first.number);
        }
    }
}

impl CommandRow {
    /// How this command and one of the same number in another run differ, if they do.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<RowDifference> {
        let pairs = || self.written.iter().zip(&other.written);
        let is_same_command = self.kind == other.kind
            && self.name == other.name
            && self.written.len() == other.written.len()
            && self.changed.is_some() == other.changed.is_some()
            && pairs().all(|(a, b)| a.tensor_type == b.tensor_type && a.length == b.length);
        if !is_same_command {
            return Some(RowDifference::OtherCommand);
        }
        let differing = pairs().enumerate().filter(|(_, (a, b))| a.hash != b.hash);
        let tensors: Vec<usize> = differing.map(|(index, _)| index).collect();
        let is_same = tensors.is_empty() && self.changed == other.changed;
        (!is_same).then_some(RowDifference::Left(tensors))
    }

    /// About how much memory it takes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>() + self.written.len() * size_of::<WrittenTensor>()
    }
}

/// Adds a row for each command of a recorded program. What shares it sees the same table.
#[derive(Clone)]
pub(crate) struct TableKeeper {
    interfaces: Arc<[Arc<DispatchInterfaces>]>,
    table: Arc<Mutex<RunTable>>,
}

impl TableKeeper {
    /// One for a program whose dispatches have these texts.
    pub(crate) fn new(interfaces: impl Iterator<Item = Arc<DispatchInterfaces>>) -> Self {
        Self { interfaces: interfaces.collect(), table: Arc::default() }
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, RunTable> {
        // Rows are added whole, so a panic in another thread does not spoil the table.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn row(&self, command: &CommandRecord, changed: Option<u64>) -> CommandRow {
        let (places, is_all) = self.written_by(command);
        let written = places.iter().map(WrittenPlace::look).collect();
        let kind = match &command.work {
            Work::Fill(_) => CommandKind::Fill,
            Work::Update(_) => CommandKind::Update,
            Work::Copy(..) => CommandKind::Copy,
            Work::Dispatch(_) => CommandKind::Dispatch,
        };
        let name: Arc<str> = match &command.work {
            Work::Dispatch(dispatch) => name_of(dispatch).into(),
            _ => "".into(),
        };
        let changed = changed.filter(|_| kind == CommandKind::Dispatch && !is_all);
        let CommandRecord { number, recorded_at, .. } = *command;
        CommandRow { number, kind, name, recorded_at, written, changed }
    }

    /// Where a command has written, a dispatch by its text, and whether that is all of it.
    fn written_by(&self, command: &CommandRecord) -> (Vec<WrittenPlace>, bool) {
        let dispatch = match &command.work {
            Work::Fill(span) | Work::Update(span) | Work::Copy(_, span) => {
                let memory = span.bytes();
                let place =
                    memory.map(|memory| WrittenPlace { operand: None, tensor: None, memory });
                return (place.into_iter().collect(), true);
            }
            Work::Dispatch(dispatch) => dispatch,
        };
        let interface = self.interfaces.iter().find_map(|module| module.of(name_of(dispatch)));
        let memory = DispatchMemory::of(interface, dispatch);
        if !memory.is_whole {
            return (Vec::new(), false);
        }
        let operands = memory.operands.iter().zip(&memory.spans).enumerate();
        let places: Vec<WrittenPlace> = operands
            .filter(|(_, (operand, _))| is_written(operand.access))
            .filter_map(|(index, (operand, span))| {
                let (operand, tensor) = (Some(index), Some(Arc::from(&*operand.tensor_type)));
                Some(WrittenPlace { operand, tensor, memory: span.as_ref()?.bytes()? })
            })
            .collect();
        // The others are encoded: how long they are, no one says.
        let is_all = places.len() == memory.written.len();
        (places, is_all)
    }

    /// Copies of the tensors that a command has just left, in the order of its row; `None`: one has
    /// no elements that are known.
    pub(crate) fn left_by(&self, command: &CommandRecord) -> Vec<Option<TensorView>> {
        self.written_by(command).0.iter().map(WrittenPlace::copy).collect()
    }
}

fn name_of(dispatch: &PastDispatch) -> &str {
    dispatch.export().map(|export| export.name.as_str()).unwrap_or_default()
}

/// Where a command has written a tensor.
struct WrittenPlace {
    operand: Option<usize>,
    /// The type, where it is known.
    tensor: Option<Arc<str>>,
    memory: Arc<vm::Buffer>,
}

impl WrittenPlace {
    fn tensor_type(&self) -> Option<TensorType> {
        self.tensor.as_ref().and_then(|text| TensorType::parse(text).ok())
    }

    /// What is there now.
    fn look(&self) -> WrittenTensor {
        let Self { operand, tensor, memory } = self;
        let element_type = self.tensor_type().map(|it| it.element_type);
        let (hash, extent) = hash_and_extent(memory, element_type);
        let (tensor_type, length) = (tensor.clone(), memory.len() as u64);
        WrittenTensor { operand: *operand, tensor_type, length, hash, extent }
    }

    fn copy(&self) -> Option<TensorView> {
        let bytes = self.memory.read(0, self.memory.len());
        let copy = vm::Buffer::from_bytes(&bytes).ok()?;
        TensorView::new(Arc::new(copy), self.tensor_type()?).ok()
    }
}

impl CommandListener for TableKeeper {
    fn ran(&self, command: &CommandRecord, noted: Noted, changed: Option<u64>) {
        if self.table().wants(command.number, noted) {
            let row = self.row(command, changed);
            self.table().push(Arc::new(row));
        }
    }
}

#[cfg(test)]
mod tests {
    use vm::{FunctionId, ModuleIndex};
    use vmfb::{BytecodeOffset, FunctionOrdinal};

    use super::*;

    fn row(number: u64) -> Arc<CommandRow> {
        let function =
            FunctionId { module: ModuleIndex(0), function: FunctionOrdinal::from_index(0) };
        let recorded_at = Position { function, offset: BytecodeOffset(8) };
        let (kind, name) = (CommandKind::Fill, Arc::from(""));
        Arc::new(CommandRow { number, kind, name, recorded_at, written: vec![], changed: None })
    }

    fn numbers(table: &RunTable) -> Vec<u64> {
        table.rows().map(|row| row.number).collect()
    }

    #[test]
    fn what_runs_again_has_its_row_and_what_runs_otherwise_gets_another() {
        let mut table = RunTable::of(&[row(5), row(6), row(7)]);
        assert!(!table.wants(6, Noted::Again));
        assert!(!table.wants(8, Noted::Trial));
        assert!(table.wants(8, Noted::First));
        // A row that a trial has kept from being made.
        assert!(table.wants(8, Noted::Again));
        assert!(table.wants(6, Noted::Otherwise));
        assert_eq!(numbers(&table), [5]);
        table.push(row(6));
        table.push(row(9));
        assert_eq!(table.rows_after(5).len(), 2);
        table.forget_after(6);
        assert_eq!(numbers(&table), [5, 6]);
        assert_eq!(table.size(), 2 * row(1).size());
    }

    #[test]
    fn the_first_rows_give_way() {
        let mut table = RunTable::default();
        (1..=MOST as u64 + 2).for_each(|number| table.push(row(number)));
        assert_eq!((table.rows().count(), table.forgotten()), (MOST, Some(2)));
        // What is made again of it has no place.
        assert!(!table.wants(2, Noted::Again));
    }
}
