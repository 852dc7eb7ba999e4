//! The command language of the debugger: parsing, help, and each command done by a
//! `debug::Debugger`. The terminal and the consoles of editors are thin fronts of it.
//!
//! A line becomes an [`Answer`]: text, the same as data, and perhaps an [`Action`] that only the
//! front can do, such as running the program. To add a command: a variant in `command`, a row in
//! `table`, an arm in `execute`.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `command` | the commands as data |
//! | `arguments` | parsing their arguments |
//! | `table` | their words, their help, and parsing a line |
//! | `output` | an answer in the making |
//! | `show` | what the debugger prints |
//! | `session` | what commands remember, and what they ask of a front |
//! | `model` | commands about dispatches, and the tensors that they leave |
//! | `inspection` | commands that look at a stopped program, or change a value in it |
//! | `breakpoints` | commands about breakpoints, watchpoints and traps |
//! | `running` | commands that run the program, and stops |
//! | `execute` | a line to its command, a command to its method |
//! | `console` | which lines of an editor's console are commands |
//!
//! A module uses only modules that stand above it in this table. Start at [`Session`].

mod arguments;
mod breakpoints;
mod command;
mod console;
mod execute;
mod inspection;
mod model;
mod output;
mod running;
mod session;
mod show;
mod table;

pub use console::{ConsoleLine, assignment};
pub use model::{TensorRow, dispatch_data};
pub use output::DEFAULT_WIDTH;
pub use session::{Action, Answer, Progress, Run, Session};
