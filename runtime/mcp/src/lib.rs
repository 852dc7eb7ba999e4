//! The debugger served to agents over the Model Context Protocol: a dozen tools at the level of
//! questions. No debugger logic lives here: a tool makes lines of the command language
//! ([`commands::Driver`]), or a command line of `iree-dbg`, and shortens the answer.
//!
//! ```text
//! client ──JSON-RPC──> server ──job──> worker: one thread with the program ──> tools ──> Driver
//!                        │  └── cancellation, budgets ──> Stopper                 └──> iree-dbg …
//!                        └── resources: sources, reports
//! ```
//!
//! Each module uses only modules above it in this table.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `bounds` | how long an answer may be, and what is said of the rest |
//! | `access` | which files may be read, what else is allowed |
//! | `problem` | why a tool has no answer |
//! | `stopper` | ending what runs, from another thread |
//! | `library` | what clients read as resources: sources and reports |
//! | `program` | the loaded program: lines performed, answers collected |
//! | `stand` | where the program stands, in short |
//! | `children` | questions that `iree-dbg` answers in a process of its own |
//! | `tools` | the table of tools, one file for each |
//! | `worker` | the thread that the program lives on |
//! | `guide` | how to use it, for an AGENTS.md |
//! | `server` | the protocol |
//!
//! Start at [`serve_stdio`].

mod access;
mod bounds;
mod children;
mod guide;
mod library;
mod problem;
mod program;
mod server;
mod stand;
mod stopper;
mod tools;
mod worker;

pub use access::{Access, Allowed};
pub use guide::GUIDE;
pub use server::{Options, serve_stdio};
