//! `iree-dbg lsp`: the language server on standard input and output.

use std::process::ExitCode;

use super::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Accepted because many editors pass it; standard input and output are used in any case
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(_: &Arguments) -> Result<ExitCode, Failure> {
    Ok(ExitCode::from(server::run_stdio()?))
}
