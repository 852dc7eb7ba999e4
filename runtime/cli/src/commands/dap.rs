//! `iree-dbg dap`: serves editors over the Debug Adapter Protocol.

use std::path::PathBuf;
use std::process::ExitCode;

use dap_adapter::{Options, TcpServer, serve_stdio};

use super::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Serve clients on this TCP address, one after the other, instead of one on standard input and
    /// output; port 0 takes any that is free
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,

    /// Append every message of both directions to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let options = Options { log: arguments.log.clone() };
    match &arguments.listen {
        None => serve_stdio(&options)?,
        Some(address) => {
            let server = TcpServer::bind(address)
                .map_err(|error| format!("cannot listen on {address}: {error}"))?;
            eprintln!("listening on {}", server.local_addr()?);
            server.serve(&options)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
