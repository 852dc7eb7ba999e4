//! The languages of LLVM's tests: `RUN:` lines of lit, and the directives of FileCheck.
//!
//! A test is a text whose comments say how it is run and what the output must contain. This crate
//! reads both and compares an output with the directives, as LLVM's FileCheck does; it starts no
//! program. What it does not know (see [`CheckError`]) it refuses: a test that it calls right or
//! wrong is so for FileCheck too. `tests/oracle.rs` checks that against the real FileCheck.
//!
//! Known are `CHECK`, `-NEXT`, `-SAME`, `-NOT`, `-DAG`, `-LABEL`, `-EMPTY`, `-COUNT-N` under any
//! prefix, each also with `{LITERAL}`; `{{regex}}`, `[[VAR]]`, `[[VAR:regex]]`, `[[#VAR:]]`,
//! `[[#%x,VAR+1]]`, `[[@LINE+1]]`.
//!
//! Lowest first; a module uses only modules above it in this table.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `faults` | what can be wrong with a text of directives |
//! | `regex` | POSIX regular expressions, as FileCheck understands them |
//! | `options` | FileCheck's options |
//! | `pattern` | the text of a directive: literals, expressions, variables |
//! | `search` | where a pattern matches first |
//! | `directives` | the directives of a text |
//! | `variables` | the definitions and uses of variables |
//! | `outcome` | what a comparison found |
//! | `matching` | comparing an output with directives |
//! | `run_lines` | the commands of `RUN:` lines |
//! | `writing` | directives that an output fulfils |

mod directives;
mod faults;
mod matching;
mod options;
mod outcome;
mod pattern;
mod regex;
mod run_lines;
mod search;
mod variables;
mod writing;

pub use directives::{CheckError, CheckFile, Directive, DirectiveKind};
pub use faults::{DirectiveError, PatternError, RegexError};
pub use matching::compare;
pub use options::{Options, OptionsError};
pub use outcome::{Failure, Outcome};
pub use run_lines::{Command, RunLine, RunLineError, run_lines};
pub use variables::{Mention, VariableUse, mentions};
pub use writing::{Written, write_checks};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
