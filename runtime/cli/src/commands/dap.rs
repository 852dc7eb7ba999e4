//! `iree-dbg dap`: serves editors over the Debug Adapter Protocol.

use std::path::PathBuf;

use dap_adapter::{Options, serve_stdio};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::listening::AccessArguments;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Serve clients on this TCP address of this machine, one after the other, instead of one on
    /// standard input and output; port 0 takes any free port
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,

    #[command(flatten)]
    access: AccessArguments,

    /// Append every message of both directions to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let mut options = Options { log: arguments.log.clone(), ..Options::default() };
    match &arguments.listen {
        None => serve_stdio(&options)?,
        Some(address) => {
            let server = arguments.access.bind(address)?;
            options.token = arguments.access.token()?;
            let address = server.local_addr()?;
            errln!("listening on {address}");
            arguments.access.explain(address, options.token.as_ref());
            server.serve(&options)?;
        }
    }
    Ok(ExitStatus::Success)
}
