//! The language server over LSP: `iree-dbg lsp`.
//!
//! tower-lsp runs all handlers at once, so a server that applies edits in handlers answers from the
//! wrong text. Here order is made in one place. Every message passes [`ordered`]'s service before
//! tower-lsp: edits are applied there, as they arrive, and a request is given the snapshot of that
//! moment to keep. Handlers only ever see their snapshot.
//!
//! ```text
//! stdin ─► Frames (takes long texts out of messages) ─► Ordered (applies edits, takes snapshots) ─► tower-lsp ─► handler
//!       ─► worker thread (ide) ─► stdout
//! ```
//!
//! Rules that hold everywhere:
//! - a handler never computes (it gives work to a thread, where a panic becomes an error answer);
//! - a handler never waits for the client;
//! - a request that nobody knows gets an error; nothing that a client sends ends the session but
//!   `exit`.
//!
//! Where to look: [`documents`] open texts as ropes · [`positions`] lines and columns in UTF-8, 16
//! and 32 · `frames`, `opening`, `input` what comes in, before tower-lsp reads it · [`ordered`] the
//! service around tower-lsp · `backend` its methods · `capabilities` what it says it can do ·
//! `session` what was agreed on · `requests` what is answered · `publish`, `progress`, `check` what
//! is sent without being asked · [`to_proto`] and [`from_proto`] between [`ide`]'s types and LSP's.
//! Features themselves live in [`ide`].

mod backend;
mod capabilities;
mod check;
pub mod documents;
mod frames;
pub mod from_proto;
mod input;
mod opening;
pub mod ordered;
pub mod positions;
mod progress;
mod publish;
mod requests;
mod session;
pub mod to_proto;

use tokio::io::{AsyncRead, AsyncWrite};

pub use from_proto::Settings;

/// How many requests may be open at once. tower-lsp stops reading when this many wait, so it is far
/// more than any client sends.
const CONCURRENCY: usize = 1024;

/// How long open requests may still take after `exit`.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

/// Serves one client until `exit` or the end of its input. Gives the process's exit code: 0 after a
/// `shutdown`, else 1.
pub async fn serve<I, O>(input: I, output: O) -> u8
where
    I: AsyncRead + Unpin,
    O: AsyncWrite,
{
    let state = ordered::State::new();
    let (service, socket) =
        tower_lsp::LspService::build(|client| backend::Backend::new(client, state.clone()))
            .custom_method("workspace/textDocumentContent", backend::Backend::text_document_content)
            .custom_method("iree-dbg/textDocumentContent", backend::Backend::text_document_content)
            .custom_method("iree-dbg/moduleLines", backend::Backend::module_lines)
            .finish();
    let service = ordered::Ordered::new(service, state.clone());
    let input = frames::Frames::new(input, state.clone());
    // After `exit` the input ends, so everything that is under way is answered and written before
    // `serve` returns.
    let input = input::UntilExit::new(input, state.clone());
    let served =
        tower_lsp::Server::new(input, output, socket).concurrency_level(CONCURRENCY).serve(service);
    let expired = async {
        state.exited().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = served => {}
        () = expired => {}
    }
    u8::from(!state.is_shut_down())
}

/// Serves the client on standard input and output; see [`serve`]. A thread may still wait for input
/// afterwards: end the process without waiting for it, as [`run_stdio`] does.
pub async fn serve_stdio() -> u8 {
    serve(tokio::io::stdin(), tokio::io::stdout()).await
}

/// The whole of `iree-dbg lsp`: serves standard input and output and gives the exit code.
///
/// # Errors
/// Where the system gives no threads.
pub fn run_stdio() -> std::io::Result<u8> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let code = runtime.block_on(serve_stdio());
    runtime.shutdown_background();
    Ok(code)
}
