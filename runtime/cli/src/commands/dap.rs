//! `iree-dbg dap`: serves editors over the Debug Adapter Protocol.

use std::path::PathBuf;
use std::process::ExitCode;

use dap_adapter::{Options, serve_stdio};

use super::Failure;
use crate::listening::DoorArguments;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Serve clients on this TCP address of this machine, one after the other, instead of one on
    /// standard input and output; port 0 takes any that is free
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,

    #[command(flatten)]
    door: DoorArguments,

    /// Append every message of both directions to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut options = Options { log: arguments.log.clone(), ..Options::default() };
    match &arguments.listen {
        None => serve_stdio(&options)?,
        Some(address) => {
            let server = arguments.door.bind(address)?;
            options.token = arguments.door.token()?;
            let address = server.local_addr()?;
            eprintln!("listening on {address}");
            arguments.door.explain(address, options.token.as_ref());
            server.serve(&options)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
