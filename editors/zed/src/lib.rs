//! Tells Zed how to start the language server for MLIR and VM assembly: the `iree-dbg` on the PATH,
//! with the settings under `lsp.iree-dbg` in Zed's own.

use zed_extension_api as zed;
use zed_extension_api::serde_json::{Value, json};
use zed_extension_api::settings::LspSettings;

struct IreeDbg;

impl zed::Extension for IreeDbg {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        _: &zed::LanguageServerId,
        worktree: &zed::Worktree,
    ) -> zed::Result<zed::Command> {
        let command = worktree
            .which("iree-dbg")
            .ok_or("iree-dbg is not on the PATH: build it with `cargo build --release` and put it there")?;
        Ok(zed::Command { command, args: vec!["lsp".into()], env: worktree.shell_env() })
    }

    /// `lsp.iree-dbg.initialization_options`, or `settings` in their place.
    fn language_server_initialization_options(
        &mut self,
        server: &zed::LanguageServerId,
        worktree: &zed::Worktree,
    ) -> zed::Result<Option<Value>> {
        let found = LspSettings::for_worktree(server.as_ref(), worktree)?;
        Ok(found.initialization_options.or(found.settings))
    }

    /// `lsp.iree-dbg.settings`, when they change.
    fn language_server_workspace_configuration(
        &mut self,
        server: &zed::LanguageServerId,
        worktree: &zed::Worktree,
    ) -> zed::Result<Option<Value>> {
        let found = LspSettings::for_worktree(server.as_ref(), worktree)?;
        Ok(found.settings.map(|settings| json!({ "iree-dbg": settings })))
    }
}

zed::register_extension!(IreeDbg);
