//! Progress of long work, and long answers in parts. Both are `$/progress` notifications, and the
//! server never waits for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tower_lsp::Client;
use tower_lsp::lsp_types::notification::Notification;
use tower_lsp::lsp_types::request::WorkDoneProgressCreate;
use tower_lsp::lsp_types::{ProgressToken, WorkDoneProgressCreateParams, WorkDoneProgressParams};

use crate::asking;

/// How long the client may take to begin to show progress; work waits for that.
const PATIENCE: Duration = Duration::from_secs(5);

/// `$/progress` with any value. The types of LSP 3.17 only know work-done progress.
enum AnyProgress {}

impl Notification for AnyProgress {
    type Params = Value;
    const METHOD: &'static str = "$/progress";
}

fn send(client: &Client, token: &ProgressToken, value: &Value) {
    let (client, params) = (client.clone(), json!({"token": token, "value": value}));
    // Not awaited: a client that never reads must not block a handler.
    tokio::spawn(async move { client.send_notification::<AnyProgress>(params).await });
}

/// Progress under a token of the client. It ends when this is dropped, which a cancelled request
/// does too.
pub(crate) struct Progress {
    client: Client,
    token: Option<ProgressToken>,
}

impl Progress {
    pub(crate) fn begin(client: &Client, params: WorkDoneProgressParams, title: &str) -> Self {
        Self::under(client, params.work_done_token, title)
    }

    pub(crate) fn under(client: &Client, token: Option<ProgressToken>, title: &str) -> Self {
        if let Some(token) = &token {
            send(client, token, &json!({"kind": "begin", "title": title, "cancellable": true}));
        }
        Self { client: client.clone(), token }
    }

    /// Progress under a token of the server's own, if the client shows such.
    pub(crate) async fn of_server(client: &Client, shows: bool, title: &str) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let mut token = None;
        if shows {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let wanted = ProgressToken::String(format!("iree-dbg/{number}"));
            let params = WorkDoneProgressCreateParams { token: wanted.clone() };
            let asked = asking::answer::<WorkDoneProgressCreate>(client, params, PATIENCE).await;
            token = asked.map(|()| wanted);
        }
        Self::under(client, token, title)
    }

    /// Says how far the work is.
    pub(crate) fn report(&self, percentage: u32, message: &str) {
        if let Some(token) = &self.token {
            let value = json!({"kind": "report", "percentage": percentage, "message": message});
            send(&self.client, token, &value);
        }
    }

    pub(crate) fn end(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(token) = self.token.take() {
            send(&self.client, &token, &json!({"kind": "end"}));
        }
    }
}

/// The number of items in a part.
const PART: usize = 500;

/// The list to answer with. For a client that wants parts, sends the list in parts and returns an
/// empty one.
pub(crate) fn in_parts<T: Serialize>(
    client: &Client,
    token: Option<ProgressToken>,
    list: Vec<T>,
) -> Vec<T> {
    let Some(token) = token else { return list };
    let parts: Vec<Value> = list.chunks(PART).map(|part| json!(part)).collect();
    let client = client.clone();
    // One task sends all parts, so they keep their order.
    tokio::spawn(async move {
        for part in parts {
            let params = json!({"token": token, "value": part});
            client.send_notification::<AnyProgress>(params).await;
        }
    });
    Vec::new()
}
