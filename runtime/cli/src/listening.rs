//! `run --listen`: the program runs under the debugger, and editors attach to it over TCP.

use dap_adapter::{Beginning, Options, TcpServer};
use debug::{Debugger, LaunchOptions, StopReason};
use vm::Value;

/// Runs a program to its end. The results are those of a run without a debugger.
pub(crate) fn run(
    options: LaunchOptions,
    address: &str,
    waits_for_debugger: bool,
) -> Result<Vec<Value>, String> {
    let debugger = Debugger::load(options).map_err(|error| error.to_string())?;
    let name = debugger.program().entry_name().to_owned();
    let cannot_listen = |error| format!("cannot listen on {address}: {error}");
    let server = TcpServer::bind(address).map_err(cannot_listen)?;
    let address = server.local_addr().map_err(cannot_listen)?;
    let beginning = if waits_for_debugger {
        eprintln!("waiting for a debugger on {address}");
        Beginning::WithFirstClient
    } else {
        eprintln!("debuggers can attach on {address}");
        Beginning::AtOnce
    };
    println!("EXEC @{name}");
    let outcome = server.run_program(debugger, beginning, &Options::default());
    match outcome.map_err(|error| error.to_string())? {
        Some(StopReason::Completed(results)) => Ok(results),
        Some(StopReason::Failed(failure)) => {
            Err(format!("{}; invoking function '{name}'", failure.status))
        }
        _ => Err("the program was ended by its debugger".to_owned()),
    }
}
