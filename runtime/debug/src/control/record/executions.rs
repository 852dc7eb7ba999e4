//! What a tensor was each time that its dispatch has run. What memory and its journal still have
//! costs nothing; for the rest the recorded program runs again, command by command, and then stands
//! where it stood.

use std::time::{Duration, Instant};

use vm::{Invocation, Watch};

use super::seek::Lost;
use super::tape::Recording;
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::expression::{Cancel, Limits};
use crate::inspect::executions::{LeftTensor, NoExecutions};
use crate::tensor::Figures;
use crate::view::executions::{Execution, Executions};
use crate::view::frame::FrameId;

/// How much is looked at before there is an answer; who asks goes on from there.
#[derive(Clone, Debug)]
pub struct Look {
    /// The first execution, counted from 0 among those that are remembered.
    pub from: usize,
    /// The most executions.
    pub most: usize,
    /// The most elements, beyond those of the first execution.
    pub elements: usize,
    /// The longest time, beyond that of the first execution.
    pub time: Duration,
    /// Ends it early.
    pub cancel: Cancel,
}

/// Figures, or why there are none.
type Found = Result<Figures, String>;

impl Runner {
    /// What the tensor that an expression means in a frame was each time that its dispatch has run,
    /// up to where the program stands. It stands there afterwards.
    ///
    /// # Errors
    /// It means no tensor that a dispatch leaves.
    pub(crate) fn executions(
        &mut self,
        frame: FrameId,
        text: &str,
        look: &Look,
    ) -> Result<Executions, Refused> {
        let limits = Limits { cancel: look.cancel.clone(), ..Limits::default() };
        let tensor = self.machine.left_tensor(frame, text, limits)?;
        let begun = Instant::now();
        let memory = self.machine.tensor_memory();
        let uses = tensor.uses(&memory);
        let first = uses.first();
        let first = first.ok_or_else(|| NoExecutions::NotYet(text.trim().to_owned()))?;
        let mut answer = Executions {
            dispatch: first.dispatch(),
            is_left: first.is_left(),
            total: uses.len(),
            forgotten: self.machine.forgotten_runs(&uses),
            ran: memory.total,
            from: look.from.min(uses.len()),
            executions: Vec::new(),
        };
        // `None` is to be made again.
        let mut found: Vec<(u64, Option<Found>)> = Vec::new();
        let mut elements = 0;
        for it in uses.iter().skip(answer.from).take(look.most) {
            if !found.is_empty() && (elements >= look.elements || is_over(look, begun)) {
                break;
            }
            let number = it.command.record.number;
            let figures = match self.machine.figures_then(&tensor, it, &memory) {
                Ok(figures) => Some(figures),
                Err(_) if self.can_make_again(number) => None,
                Err(why) => Some(Err(self.with_remedy(&why.to_string()))),
            };
            elements += figures.iter().flatten().map(|it| it.count).sum::<usize>();
            found.push((number, figures));
        }
        if found.iter().any(|(_, figures)| figures.is_none()) {
            self.make_again(&tensor, &mut found, elements, look)?;
        }
        let known = found
            .into_iter()
            .map_while(|(command, figures)| Some(Execution { command, figures: figures? }));
        answer.executions = known.collect();
        Ok(answer)
    }

    /// Whether the recording has what led to a command.
    fn can_make_again(&self, number: u64) -> bool {
        let Some(recording) = &self.recording else { return false };
        let tape = recording.tape();
        tape.kept().first().is_some_and(|first| number > first.commands())
    }

    /// What could be done about what is gone.
    fn with_remedy(&self, why: &str) -> String {
        match &self.recording {
            Some(_) => format!("{why}; the recording begins after it"),
            None => format!("{why}; the program is not recorded"),
        }
    }

    /// Runs the program again for what is not known.
    fn make_again(
        &mut self,
        tensor: &LeftTensor,
        found: &mut [(u64, Option<Found>)],
        mut elements: usize,
        look: &Look,
    ) -> Result<(), Refused> {
        let begun = Instant::now();
        self.look_back(|runner, recording| {
            let missing = found.iter_mut().filter(|(_, figures)| figures.is_none());
            for (count, (number, figures)) in missing.enumerate() {
                if count > 0 && (elements >= look.elements || is_over(look, begun)) {
                    break;
                }
                let made = runner.made_again(recording, tensor, *number)?;
                elements += made.as_ref().map_or(0, |it| it.count);
                *figures = Some(made);
            }
            Ok(())
        })
    }

    /// The figures of what a command leaves, or reads, which runs again for it.
    fn made_again(
        &mut self,
        recording: &Recording,
        tensor: &LeftTensor,
        number: u64,
    ) -> Result<Found, Lost> {
        self.run_to_command(recording, number)?;
        self.unarmed(|runner| {
            while runner.commands_run() < number {
                if runner.machine.running().is_none() {
                    return Err(Lost::because("the program does not come there again"));
                }
                runner.hop(Watch::Steps, Invocation::run)?;
            }
            Ok(())
        })?;
        let memory = self.machine.tensor_memory();
        let uses = tensor.uses(&memory);
        let made = uses.iter().rev().find(|it| it.command.record.number == number);
        Ok(match made {
            Some(it) => self.machine.figures_now(tensor, it),
            None => Err("the dispatch has not run so again".to_owned()),
        })
    }
}

/// Whether there is no time left.
fn is_over(look: &Look, begun: Instant) -> bool {
    look.cancel.is_cancelled() || begun.elapsed() > look.time
}
