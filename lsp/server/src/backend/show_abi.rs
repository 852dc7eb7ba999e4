//! The command `iree-dbg.showAbi`: all that a function's hover says of its ABI.

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{self as lsp, Url};

use super::Backend;
use crate::requests::describe;

impl Backend {
    /// The hover of a function, of a document and its name.
    pub(super) async fn show_abi(&self, arguments: &[Value]) -> Result<Option<Value>> {
        let wrong = || Error::invalid_params("expected a document's URI and a function's name");
        let [uri, name] = arguments else { return Err(wrong()) };
        let uri = uri.as_str().and_then(|uri| Url::parse(uri).ok());
        let (Some(uri), Some(name)) = (uri, name.as_str().map(str::to_owned)) else {
            return Err(wrong());
        };
        let answer = self.with_document(&uri, move |view| {
            let shown = describe::show_abi(view, &name)?;
            let line = describe::abi_line(shown["markdown"].as_str().unwrap_or_default(), &name);
            Some((shown, line))
        });
        let Some((shown, line)) = answer.await?.flatten() else { return Ok(None) };
        // A client without a command of this name would drop the answer.
        if !self.session().runs("iree-dbg.showAbi") {
            let client = self.client.clone();
            tokio::spawn(async move { client.show_message(lsp::MessageType::INFO, line).await });
        }
        Ok(Some(shown))
    }
}
