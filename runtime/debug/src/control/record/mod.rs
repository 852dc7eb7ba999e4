//! Recording a program, and going back in it.
//!
//! | file | holds |
//! | --- | --- |
//! | `marks` | the marks of an earlier run, which this one should meet |
//! | `checkpoints` | the checkpoints that there are, and which of them go |
//! | `lines` | lines of time: where they begin, and what is set aside of the others |
//! | `tape` | what is kept while the program runs: checkpoints, and marks in the device's journal |
//! | `seek` | putting the program back to a checkpoint, and running it to a moment |
//! | `fork` | beginning a line, making its change again, and going from line to line |
//! | `line_diff` | which commands of two lines have left something else, and by how much |
//! | `line_moment` | moments of lines, as text |
//! | `limit` | the present, and where the walks begin that do not reach it |
//! | `walk` | walks to the present, by the steps of a user |
//! | `commands` | ways back by the checkpoints before commands |
//! | `back` | steps and runs backwards |
//! | `from_end` | steps back into a dispatch, which begin at its end |
//! | `counts` | how often breakpoints were hit up to a moment |
//! | `suspects` | which commands may have written something |
//! | `trial_marks` | marks that show whether a dispatch writes an element |
//! | `writer` | who has written a value last |
//! | `check` | whether what is made again is what it was; races |
//! | `past_values` | all values that something had |
//! | `visits` | all visits of a place, with values there |
//! | `executions` | what a tensor was each time that its dispatch has run |
//! | `first` | the first moment at which a condition is true, and the last one |
//! | `until` | back to a place |
//! | `table` | the rows of the run, and going to the first command whose row is so |
//! | `change` | changes by hand: which begin a line, and which end the past |
//!
//! The machine is deterministic, so nothing is recorded of a run but where it can begin again. To
//! go back is to restore a checkpoint and to run forward from there, by the same steps that a user
//! could make, up to the last stop before the present moment. A program that goes back forgets what
//! was to come; going forward makes it again, the same to the last bit.

mod back;
mod change;
mod check;
mod checkpoints;
mod commands;
mod counts;
pub(crate) mod executions;
mod first;
pub(crate) mod fork;
mod from_end;
mod limit;
pub(crate) mod line_diff;
pub(crate) mod line_moment;
pub(crate) mod lines;
mod marks;
pub(crate) mod past_values;
mod seek;
mod suspects;
pub(crate) mod table;
pub(crate) mod tape;
mod trial_marks;
mod until;
pub(crate) mod visits;
mod walk;
mod writer;
