//! `iree-dbg.rewriteForm`: rewrites a function in the generic form or in that of its dialects, by
//! iree-opt. The client applies the edit.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{DocumentChanges, OneOf, TextEdit, Url, WorkspaceEdit};
use tower_lsp::lsp_types::{OptionalVersionedTextDocumentIdentifier, Position, TextDocumentEdit};

use super::Backend;
use crate::programs;
use crate::requests::edit::refused;
use crate::settings::Settings;

/// How long iree-opt may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the command is given.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    uri: Url,
    /// Where the function's head is.
    position: Position,
    function: String,
    to_generic: bool,
}

impl Backend {
    pub(super) async fn rewrite_form(&self, arguments: &[Value]) -> Result<()> {
        let wanted = arguments.first().cloned().unwrap_or_default();
        let wanted: Wanted = serde_json::from_value(wanted)
            .map_err(|error| Error::invalid_params(error.to_string()))?;
        let settings = self.session().settings();
        settings.may_run("iree-opt").map_err(refused)?;
        let Wanted { uri, position, function, to_generic } = wanted;
        let taken = self.with_document(&uri, move |view| {
            let extract = ide::extract(view.document(), view.offset(position));
            (extract.map(|it| it.text), view.open.version)
        });
        let Some((Some(text), version)) = taken.await? else {
            return Err(refused("the function is too long to be rewritten"));
        };
        let file = uri.to_file_path().ok();
        let folder = file.as_deref().and_then(Path::parent);
        let printed = printed(&settings, folder, &text, to_generic).await?;
        let edit = self.with_document(&uri, move |view| {
            if view.open.version != version {
                return Err(refused("the text was edited while iree-opt ran"));
            }
            let (document, offset) = (view.document(), view.offset(position));
            let made = ide::rewritten(document, offset, &function, &printed).map_err(refused)?;
            Ok(TextEdit::new(view.range(&made.range), made.text))
        });
        let closed = || refused("the document was closed");
        let edit = edit.await?.ok_or_else(closed)??;
        let document = OptionalVersionedTextDocumentIdentifier { uri, version: Some(version) };
        let edits = vec![OneOf::Left(edit)];
        let changes =
            DocumentChanges::Edits(vec![TextDocumentEdit { text_document: document, edits }]);
        let edit = WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() };
        let client = self.client.clone();
        // The client answers after it has read the answer to the command.
        tokio::spawn(async move {
            let _ = client.apply_edit(edit).await;
        });
        Ok(())
    }
}

/// A text as iree-opt prints it.
async fn printed(
    settings: &Settings,
    folder: Option<&Path>,
    text: &str,
    to_generic: bool,
) -> Result<String> {
    let program = programs::configured(&settings.check_command, "opt");
    let program = program.map_or("iree-opt", |(program, _)| program);
    let path = programs::resolved(settings, program, folder);
    let mut arguments = vec!["--mlir-print-local-scope", "--allow-unregistered-dialect", "-"];
    if to_generic {
        arguments.insert(0, "--mlir-print-op-generic");
    }
    let ran = programs::run(&path, &arguments, text, true, PATIENCE).await;
    let output = ran.map_err(|error| refused(format!("{program} cannot be run: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find(|line| line.contains("error: ")).unwrap_or("it failed");
    Err(refused(format!("iree-opt does not print the text: {first}")))
}
