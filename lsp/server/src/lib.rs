//! The language server over LSP: `iree-dbg lsp`.
//!
//! tower-lsp runs handlers concurrently, so handlers that applied edits would answer from the wrong
//! text. Here one place keeps the order: every message passes `transport::Ordered` before
//! tower-lsp. Edits are applied there as they arrive, and each request receives the snapshot of
//! that moment. Handlers see nothing but their snapshot.
//!
//! ```text
//! stdin ─► Frames ─► Ordered ─► tower-lsp ─► handler ─► worker thread (ide) ─► stdout
//!            │          └ applies edits, takes snapshots
//!            └ takes long texts out of messages
//! ```
//!
//! Rules that hold everywhere:
//! - a handler never computes: it gives the work to a thread, where a panic becomes an error
//!   answer;
//! - a handler never waits for the client;
//! - an unknown request gets an error; no message except `exit` ends the session.
//!
//! Lowest first; a module uses only modules above it in this table. The features themselves are in
//! [`ide`].
//!
//! | module | what lives there |
//! | --- | --- |
//! | `memory` | memory that is free, given back |
//! | `positions` | lines and columns in UTF-8, 16 and 32 |
//! | `settings` | `initializationOptions`, configuration, trust |
//! | `made_uris` | `iree-vmfb:`, `iree-text:` and `iree-ir:` URIs |
//! | `documents` | open texts as ropes |
//! | `test_results` | what the last run of a test printed and found |
//! | `last_run` | the values of the last run of an open text |
//! | `transport` | messages before tower-lsp: framing, order, snapshots |
//! | `stages` | what becomes of a source: compilations, and the cache of their texts |
//! | `session` | what client and server agreed on, and what lives as long as the session |
//! | `to_proto` | [`ide`]'s types to LSP's |
//! | `requests` | what is answered, a file per group |
//! | `capabilities` | what the server says it can do |
//! | `asking` | what the server asks its client, and the answers |
//! | `progress` | progress of long work, long answers in parts |
//! | `publish` | diagnostics and refreshes sent without being asked for, documents to show |
//! | `programs` | programs of the user's compiler, and their end |
//! | `checks` | what these do for each document, and what they found |
//! | `check_on_save` | the compiler's diagnostics after a save |
//! | `run_commands` | the commands of `RUN:` lines, started without a shell |
//! | `test_runner` | runs the `RUN:` lines of a document |
//! | `test_lens` | the lens that runs a test, and runs it again after a save |
//! | `check_while_typing` | iree-opt's diagnostics of what was edited, once the text rests |
//! | `tried_fixes` | quick fixes that iree-opt has accepted |
//! | `exports_as_compiled` | what iree-compile makes of a document's exports |
//! | `compiler_operations` | the operations of the user's compiler, read when a session begins |
//! | `backend` | the `LanguageServer` trait: one method per LSP request |
//! | `serve` | one client, from its first message to `exit` |

mod asking;
mod backend;
mod capabilities;
mod check_on_save;
mod check_while_typing;
mod checks;
mod compiler_operations;
mod documents;
mod exports_as_compiled;
mod last_run;
mod made_uris;
mod memory;
mod positions;
mod programs;
mod progress;
mod publish;
mod requests;
mod run_commands;
mod serve;
mod session;
mod settings;
mod stages;
mod test_lens;
mod test_results;
mod test_runner;
mod to_proto;
mod transport;
mod tried_fixes;

pub use serve::{run_stdio, serve};
