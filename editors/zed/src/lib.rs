//! Tells Zed how to start the language server for MLIR and VM assembly: the `iree-dbg` on the PATH.

use zed_extension_api as zed;

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
}

zed::register_extension!(IreeDbg);
