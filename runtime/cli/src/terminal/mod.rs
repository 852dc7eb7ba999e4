//! The debugger in a terminal: one command per line, with gdb's words.
//!
//! Input comes from a prompt, a pipe or a script. Output goes to any writer, so that a test can
//! compare it. To add a command: a variant in `command`, a row in `table`, an arm in `execute`.
//!
//! The files, lowest first; a method calls only methods of its own file and of those above:
//!
//! | file | what lives there |
//! | --- | --- |
//! | `command` | the commands as data |
//! | `arguments` | parsing their arguments |
//! | `table` | their words, their help, and parsing a line |
//! | `show` | what the debugger prints |
//! | `state` | the debugging session, and what all commands need of it |
//! | `inspection` | commands that look at a stopped program, or change a value in it |
//! | `breakpoints` | commands about breakpoints, watchpoints and traps |
//! | `running` | commands that run the program |
//! | `execute` | a line to its command, a command to its method |

mod arguments;
mod breakpoints;
mod command;
mod execute;
mod inspection;
mod running;
mod show;
mod state;
mod table;

pub(crate) use state::{Next, Terminal};
