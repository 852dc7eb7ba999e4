//! Two recorded runs by what their files say of each command: the first one that has left something
//! else. Nothing runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use debug::{CommandRow, RowDifference};

/// Where two runs part.
#[derive(Clone, PartialEq, Debug)]
pub enum Parting {
    /// A command has left other bytes in these of its tensors. None: what it writes is not known,
    /// and what has changed in its memory differs.
    Left {
        /// Its rows on side A and side B.
        rows: [Arc<CommandRow>; 2],
        /// The places of these tensors in both.
        tensors: Vec<usize>,
    },
    /// The commands themselves are others.
    Commands {
        /// The first rows that are of different ones.
        rows: [Arc<CommandRow>; 2],
    },
    /// Side A, or side B, has no more commands, and the other one has this.
    Ends {
        /// 0 for side A, 1 for side B.
        side: usize,
        /// The next command of the other one.
        next: Arc<CommandRow>,
    },
}

/// What the rows of two runs show.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordedComparison {
    /// How many commands have left the same before the runs part.
    pub same: u64,
    /// Of how many before that one side has no row.
    pub unknown: u64,
    /// Where they part.
    pub parting: Option<Parting>,
    /// How many commands after that have left something else, and how many the same.
    pub later: (u64, u64),
}

/// Compares two runs by their rows, given how many commands each has run.
#[must_use]
pub fn recorded_runs(rows: [&[Arc<CommandRow>]; 2], commands: [u64; 2]) -> RecordedComparison {
    let by_number = |rows: &[Arc<CommandRow>]| -> BTreeMap<u64, Arc<CommandRow>> {
        rows.iter().map(|row| (row.number, Arc::clone(row))).collect()
    };
    let sides = rows.map(by_number);
    let both = commands[0].min(commands[1]);
    let mut found = RecordedComparison::default();
    for number in 1..=both {
        let [a, b] = [0, 1].map(|side| sides[side].get(&number));
        let (Some(a), Some(b)) = (a, b) else {
            found.unknown += u64::from(found.parting.is_none());
            continue;
        };
        match (parting(a, b), &found.parting) {
            (None, None) => found.same += 1,
            (None, Some(_)) => found.later.1 += 1,
            (Some(parting), None) => found.parting = Some(parting),
            // What follows other commands is not the same run.
            (Some(_), Some(Parting::Commands { .. })) => {}
            (Some(_), Some(_)) => found.later.0 += 1,
        }
    }
    if found.parting.is_none() {
        let longer = usize::from(commands[1] > commands[0]);
        let next = sides[longer].range(both + 1..).next();
        found.parting =
            next.map(|(_, next)| Parting::Ends { side: 1 - longer, next: next.clone() });
    }
    found
}

/// How two commands of the same number differ.
fn parting(a: &Arc<CommandRow>, b: &Arc<CommandRow>) -> Option<Parting> {
    let rows = [Arc::clone(a), Arc::clone(b)];
    Some(match a.difference(b)? {
        RowDifference::OtherCommand => Parting::Commands { rows },
        RowDifference::Left(tensors) => Parting::Left { rows, tensors },
    })
}

#[cfg(test)]
mod tests {
    use debug::{CommandKind, ModuleIndex, Position, WrittenTensor};
    use vm::FunctionId;
    use vmfb::{BytecodeOffset, FunctionOrdinal};

    use super::*;

    fn row(number: u64, name: &str, hash: u64, changed: Option<u64>) -> Arc<CommandRow> {
        let function = FunctionId { module: ModuleIndex(0), function: FunctionOrdinal(0) };
        let recorded_at = Position { function, offset: BytecodeOffset(0) };
        let tensor_type = Some("2xf32".into());
        let tensor = WrittenTensor { operand: Some(0), tensor_type, length: 8, hash, extent: None };
        let (kind, name, written) = (CommandKind::Dispatch, name.into(), vec![tensor]);
        Arc::new(CommandRow { number, kind, name, recorded_at, written, changed })
    }

    fn compared(a: &[Arc<CommandRow>], b: &[Arc<CommandRow>]) -> RecordedComparison {
        recorded_runs([a, b], [a, b].map(|it| it.last().map_or(0, |row| row.number)))
    }

    #[test]
    fn the_first_command_with_another_result_is_found() {
        let run = |hashes: &[u64]| -> Vec<Arc<CommandRow>> {
            (1..).zip(hashes).map(|(number, hash)| row(number, "d", *hash, None)).collect()
        };
        let a = run(&[1, 2, 3, 4, 5]);
        assert_eq!(compared(&a, &a), RecordedComparison { same: 5, ..Default::default() });
        let b = run(&[1, 2, 9, 4, 8]);
        let found = compared(&a, &b);
        let parting = Parting::Left { rows: [a[2].clone(), b[2].clone()], tensors: vec![0] };
        assert_eq!((found.same, found.later, found.parting), (2, (1, 1), Some(parting)));
        let ends = Parting::Ends { side: 1, next: a[3].clone() };
        assert_eq!(compared(&a, &a[..3]).parting, Some(ends));
        assert_eq!(compared(&[], &[]), RecordedComparison::default());
    }

    #[test]
    fn other_commands_and_unknown_results_are_told_apart() {
        let (a, b) = ([row(1, "d", 1, None)], [row(1, "e", 1, None)]);
        let parting = Parting::Commands { rows: [a[0].clone(), b[0].clone()] };
        assert_eq!(compared(&a, &b).parting, Some(parting));
        let (a, b) = ([row(1, "d", 1, Some(4))], [row(1, "d", 1, Some(5))]);
        let parting = Parting::Left { rows: [a[0].clone(), b[0].clone()], tensors: vec![] };
        assert_eq!(compared(&a, &b).parting, Some(parting));
        // A row that is not there is no difference, and no match either.
        let (a, b) = ([row(2, "d", 1, None)], [row(1, "d", 1, None), row(2, "d", 1, None)]);
        let found = compared(&a, &b);
        assert_eq!((found.same, found.unknown, found.parting), (1, 1, None));
    }
}
