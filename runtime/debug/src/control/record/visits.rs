//! All visits of a place since the recording began, each with the values of some expressions there.
//! The program runs again for it, and then stands where it stood.

use std::collections::VecDeque;

use vm::Moment;

use super::seek::Lost;
use crate::control::breakpoints::spec::BreakpointSpec;
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::{Resume, StopReason};
use crate::target::resolve::Resolution;

/// The most visits that are kept, the last ones.
const MOST: usize = 1000;

/// A visit of a place.
#[derive(Clone, Debug)]
pub struct Visit {
    /// When it was.
    pub moment: Moment,
    /// The values of the expressions, or why one has none.
    pub values: Vec<Result<String, String>>,
}

/// The visits of a place, up to where the program stands.
#[derive(Clone, Debug, Default)]
pub struct Visits {
    /// The last ones, oldest first.
    pub visits: Vec<Visit>,
    /// How many there were in all.
    pub total: u64,
}

impl Visits {
    /// Later ones.
    fn add(&mut self, later: Self) {
        self.total += later.total;
        self.visits.extend(later.visits);
        self.visits.drain(..self.visits.len().saturating_sub(MOST));
    }
}

impl Runner {
    /// The visits of a place since the recording began.
    ///
    /// # Errors
    /// The place is nowhere, nothing is recorded, or the user has asked for a pause.
    pub(crate) fn visits(
        &mut self,
        spec: &BreakpointSpec,
        columns: &[String],
    ) -> Result<Visits, Refused> {
        let found = spec.resolve(&self.machine.program);
        if !found.is_anywhere() && !matches!(spec, BreakpointSpec::Dispatch { .. }) {
            let why = found.message.unwrap_or_else(|| "there is no such place".to_owned());
            return Err(Refused::Nowhere { why });
        }
        self.look_back(|runner, recording| {
            let present = runner.moment().ok_or_else(|| Lost::because("the program is over"))?;
            runner.rewind(recording, 0)?;
            let mut visits = Visits::default();
            runner.by_lines(recording, Some(&present), |runner, end, is_last| {
                let end = end.unwrap_or(&present);
                let more = runner.unarmed(|runner| {
                    runner.breakpoints.table.add(spec.clone(), found.clone());
                    runner.arm_breakpoints();
                    runner.visits_up_to(end, is_last, &found, columns)
                })?;
                visits.add(more);
                Ok(None::<()>)
            })?;
            Ok(visits)
        })
    }

    fn visits_up_to(
        &mut self,
        present: &Moment,
        is_included: bool,
        place: &Resolution,
        columns: &[String],
    ) -> Result<Visits, Lost> {
        let mut last: VecDeque<Visit> = VecDeque::new();
        let mut total = 0;
        let mut is_there = self.machine.position().is_some_and(|at| place.locations.contains(&at));
        loop {
            let is_met = |here: &Moment| here < present || is_included && here == present;
            let here = self.moment().filter(is_met);
            let Some(moment) = here else { break };
            if std::mem::take(&mut is_there) {
                total += 1;
                let values = columns.iter().map(|it| self.value_here(it)).collect();
                last.push_back(Visit { moment, values });
                if last.len() > MOST {
                    last.pop_front();
                }
            }
            // The present may be within its turn.
            self.set_goal(Some(present.turns().saturating_add(1)));
            let reason = self.after(|runner| runner.go_on(Resume::Continue, 0, None));
            let at_goal = std::mem::take(&mut self.at_goal);
            self.set_goal(None);
            match reason {
                StopReason::Breakpoint(_) => is_there = true,
                StopReason::Pause if !at_goal => return Err(Lost::Paused),
                // The program breaks by itself.
                StopReason::BreakInstruction => {}
                _ => break,
            }
        }
        Ok(Visits { visits: last.into(), total })
    }

    fn value_here(&self, text: &str) -> Result<String, String> {
        let frame = self.machine.innermost_frame();
        let value = self.machine.evaluate(frame, text);
        value.map(|it| it.value).map_err(|error| error.reason.to_string())
    }
}
