//! Two lines of time, compared: which commands have left something else, by the hashes of their
//! rows, and how far the tensors are apart. For that both lines are gone through again, to those
//! commands only; the program then stands where it stood.

use std::ops::Range;
use std::sync::Arc;

use vm::{Invocation, Watch};

use super::seek::Lost;
use super::tape::Recording;
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::StopReason;
use crate::machine::Phase;
use crate::target::run_table::{CommandRow, RowDifference};
use crate::tensor::{Comparison, Differences, TensorView};

/// Tensors of more bytes together are not compared element by element, nor are those after them.
const MOST_BYTES: u64 = 256 << 20;

/// What two lines of time have left.
#[derive(Clone, Debug)]
pub struct LineComparison {
    /// How many commands each has run, as far as it was gone through.
    pub commands: [u64; 2],
    /// How many of these both have in common, as they ran before the lines part,
    pub common: u64,
    /// how many after that have left the same,
    pub same: u64,
    /// and of how many one line has no row.
    pub unknown: u64,
    /// Those that have left something else, by their numbers.
    pub differing: Vec<DifferingCommand>,
    /// The rows of the first command that is another one, if there is one: nothing is compared from
    /// there on.
    pub other: Option<[Arc<CommandRow>; 2]>,
}

/// A command that has left something else in another line.
#[derive(Clone, Debug)]
pub struct DifferingCommand {
    /// Its rows in both lines.
    pub rows: [Arc<CommandRow>; 2],
    /// The places of the tensors that differ. None: what it writes is not known, and what has
    /// changed in its memory differs.
    pub tensors: Vec<usize>,
    /// By how much each does; `None`: that was not asked for, or its elements have no values.
    pub differences: Vec<Option<TensorDifference>>,
}

/// How a tensor differs in two lines.
#[derive(Clone, Debug)]
pub struct TensorDifference {
    /// By how much.
    pub differences: Differences,
    /// The indices of the largest difference, if there is one.
    pub worst_at: Option<Vec<usize>>,
}

/// What commands have left, in the order in which they are asked for.
type Left = Vec<Vec<Option<TensorView>>>;

impl Runner {
    /// Compares two lines of the recorded run; by how much tensors differ, for some of the commands
    /// that do, counted from 0.
    ///
    /// # Errors
    /// Nothing is recorded, there is no such line, or the recording does not lead there any more.
    pub(crate) fn compare_lines(
        &mut self,
        lines: [usize; 2],
        looked_at: Range<usize>,
    ) -> Result<LineComparison, Refused> {
        let recording = self.recording.clone().ok_or(Refused::NotRecorded)?;
        let mut found = self.compared_by_rows(&recording, lines)?;
        let end = looked_at.end.min(found.differing.len());
        let mut asked = found.differing.get(looked_at.start.min(end)..end).unwrap_or_default();
        let mut bytes = 0;
        let mut is_small = |it: &DifferingCommand| {
            let length = |index: &usize| it.rows[0].written.get(*index).map_or(0, |it| it.length);
            bytes += it.tensors.iter().map(length).sum::<u64>();
            bytes <= MOST_BYTES
        };
        asked = &asked[..asked.iter().take_while(|it| is_small(it)).count()];
        if asked.is_empty() {
            return Ok(found);
        }
        let numbers: Vec<u64> = asked.iter().map(|it| it.rows[0].number).collect();
        let [a, b] = self.left_in_lines(&recording, lines, &numbers)?;
        for (index, number) in numbers.iter().enumerate() {
            let is_it = |it: &&mut DifferingCommand| it.rows[0].number == *number;
            if let Some(command) = found.differing.iter_mut().find(is_it)
                && let (Some(a), Some(b)) = (a.get(index), b.get(index))
            {
                let tensors = command.tensors.iter();
                command.differences =
                    tensors.map(|at| difference(a.get(*at), b.get(*at))).collect();
            }
        }
        Ok(found)
    }

    fn compared_by_rows(
        &self,
        recording: &Recording,
        lines: [usize; 2],
    ) -> Result<LineComparison, Refused> {
        let tape = recording.tape();
        let count = tape.lines().len();
        let mut rows = Vec::new();
        for number in lines {
            rows.push(tape.rows_of(number).ok_or(Refused::NoLine { number, count })?);
        }
        let commands = lines.map(|number| tape.commands_in(number));
        let common = tape.commands_in_common(lines);
        drop(tape);
        let mut found = LineComparison {
            commands,
            common,
            same: 0,
            unknown: 0,
            differing: Vec::new(),
            other: None,
        };
        let of = |side: usize, number: u64| -> Option<&Arc<CommandRow>> {
            let rows = rows.get(side)?;
            let index = rows.binary_search_by_key(&number, |row| row.number).ok()?;
            rows.get(index)
        };
        for number in common + 1..=commands[0].min(commands[1]) {
            let (Some(a), Some(b)) = (of(0, number), of(1, number)) else {
                found.unknown += 1;
                continue;
            };
            let rows = [Arc::clone(a), Arc::clone(b)];
            match a.difference(b) {
                None => found.same += 1,
                Some(RowDifference::OtherCommand) => {
                    found.other = Some(rows);
                    break;
                }
                Some(RowDifference::Left(tensors)) => {
                    let differences = vec![None; tensors.len()];
                    found.differing.push(DifferingCommand { rows, tensors, differences });
                }
            }
        }
        Ok(found)
    }

    /// What commands have left in two lines. The program stands where it stood.
    fn left_in_lines(
        &mut self,
        recording: &Recording,
        lines: [usize; 2],
        numbers: &[u64],
    ) -> Result<[Left; 2], Refused> {
        for number in lines {
            if !recording.tape().is_reachable(number) {
                return Err(Refused::NotReached { why: given_up(number) });
            }
        }
        let stand = self.stand();
        let has_failed = matches!(self.machine.phase, Phase::Failed(_));
        let mut left = [Left::new(), Left::new()];
        self.travel(|runner, recording| {
            for (number, left) in lines.into_iter().zip(&mut left) {
                if runner.line_of_time() != number {
                    runner.enter_line(recording, number)?;
                }
                *left = runner.left_by_commands(recording, numbers)?;
            }
            let end = runner.stand_again(recording, &stand)?;
            if has_failed {
                runner.unarmed(|runner| runner.hop(Watch::Nothing, Invocation::run))?;
            }
            Ok(end.unwrap_or(StopReason::Step))
        })?;
        Ok(left)
    }

    fn left_by_commands(&mut self, recording: &Recording, numbers: &[u64]) -> Result<Left, Lost> {
        let mut left = Left::new();
        for number in numbers {
            self.run_to_command(recording, *number)?;
            self.unarmed(|runner| runner.run_over(*number))?;
            let memory = self.machine.tensor_memory();
            let is_it = |record: &hal::CommandRecord| record.number == *number;
            let command = memory.commands.iter().rev().find(|it| is_it(&it.record));
            let tape = recording.tape();
            left.push(command.map_or_else(Vec::new, |it| tape.rows.left_by(&it.record)));
        }
        Ok(left)
    }
}

/// How a tensor differs, if its elements have values.
fn difference(
    a: Option<&Option<TensorView>>,
    b: Option<&Option<TensorView>>,
) -> Option<TensorDifference> {
    let (a, b) = (a?.as_ref()?, b?.as_ref()?);
    let differences = Comparison::of(a.clone(), b).ok()?.differences().ok()?;
    let worst_at = differences.worst.as_ref().map(|worst| a.indices_of(worst.index));
    Some(TensorDifference { differences, worst_at })
}

/// Why the program does not come to a line.
pub(super) fn given_up(number: usize) -> String {
    format!("what leads to line {number} was given up for lack of memory")
}
