//! The commands of tests: run the `RUN:` lines, show what they printed.

use std::sync::PoisonError;

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{self as lsp, Url};

use super::Backend;
use crate::requests::describe::{RUN_TEST, SHOW_OUTPUT};
use crate::requests::edit::refused;
use crate::test_lens;

impl Backend {
    /// `iree-dbg.runTest` and `iree-dbg.showTestOutput` with a document.
    pub(super) async fn test_command(&self, params: &lsp::ExecuteCommandParams) -> Result<Value> {
        let uri = params.arguments.first().and_then(Value::as_str);
        let uri = uri.and_then(|uri| Url::parse(uri).ok());
        let uri = uri.ok_or_else(|| Error::invalid_params("expected a document's URI"))?;
        let session = self.session();
        if params.command == SHOW_OUTPUT {
            return test_lens::show_output(&self.client, &session, &uri).map_err(refused);
        }
        session.tested.lock().unwrap_or_else(PoisonError::into_inner).insert(uri.clone());
        let answer = self.checks.run_test(&self.client, &self.state, &session, &uri).await;
        let answer = answer.map_err(refused)?;
        // A client without a command of this name would drop the answer.
        if !session.runs(RUN_TEST) {
            let message = answer["message"].as_str().unwrap_or_default().to_owned();
            let kind = match answer["passed"].as_bool() {
                Some(true) => lsp::MessageType::INFO,
                _ => lsp::MessageType::WARNING,
            };
            let client = self.client.clone();
            tokio::spawn(async move { client.show_message(kind, message).await });
        }
        Ok(answer)
    }
}
