//! Serving one client, from its first message to `exit`.

use tokio::io::{AsyncRead, AsyncWrite};

use crate::backend::Backend;
use crate::capabilities;
use crate::transport::{Frames, Ordered, State, UntilExit};

/// The most concurrent requests. tower-lsp stops reading at this number, so it is far more than any
/// client sends.
const CONCURRENCY: usize = 1024;

/// How long running requests may take after `exit`.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

/// Serves one client until `exit` or the end of its input. Returns the exit code of the process: 0
/// after a `shutdown`, else 1.
pub async fn serve<I, O>(input: I, output: O) -> u8
where
    I: AsyncRead + Unpin,
    O: AsyncWrite,
{
    let state = State::new();
    let (service, socket) =
        tower_lsp::LspService::build(|client| Backend::new(client, state.clone()))
            .custom_method("workspace/textDocumentContent", Backend::text_document_content)
            .custom_method("iree-dbg/textDocumentContent", Backend::text_document_content)
            .custom_method("iree-dbg/exports", Backend::exports)
            .custom_method("iree-dbg/compiler", Backend::compiler)
            .custom_method("iree-dbg/module", Backend::module)
            .custom_method("iree-dbg/dispatchGraph", Backend::dispatch_graph)
            .custom_method("iree-dbg/profile", Backend::profile)
            .custom_method("iree-dbg/moduleLines", Backend::module_lines)
            .custom_method("iree-dbg/stages", Backend::stages)
            .custom_method("iree-dbg/passes", Backend::passes)
            .custom_method("iree-dbg/becomes", Backend::becomes)
            .finish();
    let service = Ordered::new(service, state.clone(), capabilities::amend);
    let input = Frames::new(input, state.clone());
    // The input ends after `exit`, so running requests are answered and written before `serve`
    // returns.
    let input = UntilExit::new(input, state.clone());
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

/// Serves the client on standard input and output; see [`serve`]. A thread may still be reading
/// input afterwards, so end the process without waiting for it, as [`run_stdio`] does.
pub(crate) async fn serve_stdio() -> u8 {
    serve(tokio::io::stdin(), tokio::io::stdout()).await
}

/// The whole of `iree-dbg lsp`: serves standard input and output and returns the exit code.
///
/// # Errors
/// The system provides no threads.
pub fn run_stdio() -> std::io::Result<u8> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let code = runtime.block_on(serve_stdio());
    runtime.shutdown_background();
    Ok(code)
}
