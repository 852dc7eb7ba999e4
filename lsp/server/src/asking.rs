//! What the server asks its client.
//!
//! The answer comes whenever the client gives it, perhaps after the handler that has asked was
//! cancelled or has lost patience. tower-lsp panics at an answer that nothing waits for, so a task
//! of its own waits for each.

use std::time::Duration;

use tower_lsp::Client;
use tower_lsp::lsp_types::request::Request;

/// The client's answer, if it gives one in this time and does not refuse.
pub(crate) async fn answer<R>(
    client: &Client,
    params: R::Params,
    patience: Duration,
) -> Option<R::Result>
where
    R: Request + 'static,
    R::Params: Send + Sync + 'static,
    R::Result: Send + Sync + 'static,
{
    let client = client.clone();
    // The task goes on when this is dropped.
    let asked = tokio::spawn(async move { client.send_request::<R>(params).await });
    tokio::time::timeout(patience, asked).await.ok()?.ok()?.ok()
}
