//! Two runs in lock step: which dispatch differs, by how much, and why that is too much.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `errors` | what keeps programs, dispatches and tensors from being compared |
//! | `work` | which parts of its results a dispatch stores |
//! | `tolerance` | what is allowed where no bound says so |
//! | `bounds` | what the dispatches of a side should have left, evaluated when it is asked for |
//! | `allowed` | how far elements of both sides may be apart |
//! | `pattern` | where the elements lie that differ, in a sentence |
//! | `kept` | both sides of what is not equal, to be looked at |
//! | `settings` | what a comparison is told, and what it tells |
//! | `finding` | two tensors compared: figures, the worst element, a verdict |
//! | `judged` | which side is wrong where both differ, by the text of the dispatch |
//! | `report` | what a comparison has found, as data |
//! | `side` | a program that runs from dispatch to dispatch |
//! | `dispatch_key` | what a dispatch is, as a text without names of its module |
//! | `alignment` | which tensors of two programs are the same |
//! | `own` | weights and constants of two programs, compared |
//! | `results` | the results of a function, compared |
//! | `columns` | the table of a report: its columns, for terminals and pages |
//! | `text` | a report for a terminal |
//! | `json` | a report for programs |
//! | `html` | a report as a page |
//! | `evaluated` | a module against the text of its dispatches, in float64 |
//! | `lockstep` | two programs in lock step |
//! | `twins` | a module against the bytecode of its dispatches |
//! | `witness` | a module against the text of its dispatches, else against their bytecode |
//! | `golden` | a run against files of expected values |
//! | `explanation` | why results are not as expected, in a paragraph |
//! | `why` | the comparisons that show it |
//! | `bisect` | the fewest dispatches that make the final output wrong |
//! | `recorded` | two recorded runs by the hashes in their files |
//!
//! A module uses only modules that stand above it in this table. Start at [`against_text`] and
//! [`against_other`].

mod alignment;
mod allowed;
mod bisect;
mod bounds;
mod columns;
mod dispatch_key;
mod errors;
mod evaluated;
mod explanation;
mod finding;
mod golden;
mod html;
mod json;
mod judged;
mod kept;
mod lockstep;
mod own;
mod pattern;
mod recorded;
mod report;
mod results;
mod settings;
mod side;
mod text;
mod tolerance;
mod twins;
mod why;
mod witness;
mod work;

pub use bisect::{bisect_bytecode, bisect_other};
pub use errors::{CompareError, ToleranceError};
pub use evaluated::against_reference;
pub use explanation::{Cause, Findings, OtherBackEnd};
pub use finding::{ErrorMap, Far, Figures, Largest, TensorFinding, Verdict, Worst};
pub use golden::{against_expected, against_files, against_framework};
pub use judged::{Judged, Opinion};
pub use kept::{Keep, Kept, KeptPair};
pub use lockstep::against_other;
pub use recorded::{Parting, RecordedComparison, recorded_runs};
pub use report::{Culprits, DispatchFinding, KeptIn, MOSTLY, Mode, Outcome, OwnTensor, Report};
pub use settings::{Progress, Settings};
pub use tolerance::{Overrides, Tolerance};
pub use twins::against_bytecode;
pub use why::{Compiled, Expected, explain};
pub use witness::against_text;
