//! Back to a place.

use super::limit::Limit;
use super::seek::Lost;
use crate::control::breakpoints::spec::BreakpointSpec;
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::{Back, StopReason};

impl Runner {
    /// Goes back to the last visit of a place, whatever else has stopped the program since.
    ///
    /// # Errors
    /// The place is nowhere, nothing is recorded, or the program was not there before; it stands
    /// where it stood.
    pub(crate) fn go_back_until(&mut self, spec: &BreakpointSpec) -> Result<StopReason, Refused> {
        let place = spec.resolve(&self.machine.program);
        if !place.is_anywhere() && !matches!(spec, BreakpointSpec::Dispatch { .. }) {
            let why = place.message.unwrap_or_else(|| "there is no such place".to_owned());
            return Err(Refused::Nowhere { why });
        }
        let how = Back::Continue;
        let mut limit = self.limit_of(how)?;
        self.travel(|runner, recording| {
            let reason = runner.unarmed(|runner| {
                runner.breakpoints.table.add(spec.clone(), place);
                runner.arm_breakpoints();
                loop {
                    let reason = runner.go_back_to(recording, how, &limit)?;
                    if !matches!(reason, StopReason::Found(_)) {
                        return Ok(reason);
                    }
                    // A line begins there; what is before it is of the one that it leaves.
                    limit = Limit::at(runner.moment(), runner.machine.depth());
                }
            })?;
            match reason {
                StopReason::Begin => Err(Lost::because(
                    "the program has not been there since the recording began, up to here",
                )),
                StopReason::Breakpoint(_) => Ok(StopReason::Step),
                reason => Ok(reason),
            }
        })
    }
}
