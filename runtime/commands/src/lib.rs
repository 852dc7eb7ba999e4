//! The command language of the debugger: parsing, help, and each command done by a
//! `debug::Debugger`. The terminal and the consoles of editors are thin fronts of it.
//!
//! A line becomes an [`Answer`]: text, the same as data, and perhaps an [`Action`] that only the
//! front can do, such as running the program. To add a command: a variant in `command`, a row in
//! `table`, an arm in `execute`.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `mistake` | what is wrong with a line |
//! | `words` | quoted names, words in quotes, similar words |
//! | `row_filter` | which rows of a run are meant, as data and as text |
//! | `command` | the commands as data |
//! | `arguments` | parsing their arguments |
//! | `table` | their words, help and examples |
//! | `lldb` | the words of lldb |
//! | `parse` | a line to its command, or to an error that helps |
//! | `help` | the text of `help` |
//! | `queue` | lines that wait, lines that are being collected |
//! | `output` | an answer in the making |
//! | `show` | what the debugger prints |
//! | `session` | what commands remember, and what they ask of a front |
//! | `performance` | running the program as a command says, also in several parts |
//! | `model` | commands about dispatches, and the tensors that they leave |
//! | `inspection` | commands that look at a stopped program, or change a value in it |
//! | `evidence` | `info name`: why a name has its value |
//! | `story` | `why nan`: where a NaN or an infinity began |
//! | `information` | `info`: lines, sources, frames, functions |
//! | `memory` | `x`, and `save` |
//! | `reproduction` | `repro`: a dispatch as a folder for IREE's tools |
//! | `rerun` | `rerun`: a dispatch runs again in place, compared with before |
//! | `picture` | `show`: tensors as pictures |
//! | `breakpoints` | commands about breakpoints, watchpoints and traps |
//! | `running` | commands that run the program, and stops |
//! | `past` | commands that go back |
//! | `visits` | `history at`: all visits of a place |
//! | `lines` | `lines`, `line` and `diff`: lines of time |
//! | `run_table` | `table`: a row for each command of a run |
//! | `scripts` | lines from files, definitions, and what breakpoints perform |
//! | `execute` | a line to its command, a command to its method |
//! | `console` | which lines of an editor's console are commands |
//! | `complete` | completion of lines |
//! | `driver` | a session whose front waits while the program runs |
//!
//! A module uses only modules that stand above it in this table. Start at [`Session`].

mod arguments;
mod breakpoints;
mod command;
mod complete;
mod console;
mod driver;
mod evidence;
mod execute;
mod help;
mod information;
mod inspection;
mod lines;
mod lldb;
mod memory;
mod mistake;
mod model;
mod output;
mod parse;
mod past;
mod performance;
mod picture;
mod queue;
mod reproduction;
mod rerun;
mod row_filter;
mod run_table;
mod running;
mod scripts;
mod session;
mod show;
mod story;
mod table;
mod visits;
mod words;

pub use arguments::function_breakpoint;
pub use command::Inputs;
pub use complete::Completion;
pub use console::{ConsoleLine, assignment};
pub use driver::{Driver, Front, Next, Said, Shown};
pub use evidence::{evidence_data, evidence_in_short};
pub use model::{TensorColumns, TensorRow, dispatch_data};
pub use output::DEFAULT_WIDTH;
pub use parse::is_interrupt;
pub use performance::Performance;
pub use picture::{NotDrawn, tensor_picture};
pub use row_filter::RowFilter;
pub use run_table::ShownTable;
pub use session::{Action, Answer, Progress, Run, Session};
pub use story::{NoWhy, why_data};
