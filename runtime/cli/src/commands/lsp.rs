//! `iree-dbg lsp`: the language server on standard input and output.

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Accepted because many editors pass it; standard input and output are used in any case
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(_: &Arguments) -> Result<ExitStatus, Failure> {
    // The protocol's exit codes are 0, and 1 for a client that left without `shutdown`.
    Ok(match server::run_stdio()? {
        0 => ExitStatus::Success,
        _ => ExitStatus::Failure,
    })
}
