//! `--listen`: who may connect, and `run --listen`, which runs a program under the debugger so that
//! editors can attach to it over TCP.

use std::net::SocketAddr;

use dap_adapter::{Beginning, Options, Reach, TcpServer, Token};
use debug::{Debugger, LaunchOptions, StopReason};
use vm::Value;

use crate::failure::Failure;

/// The environment variable with the token, if no flag gives it.
const VARIABLE: &str = "IREE_DBG_TOKEN";

/// The flags for who may connect.
#[derive(clap::Args)]
pub(crate) struct AccessArguments {
    /// The text that clients give as `token` when they launch or attach; by default a random one,
    /// which is printed. The environment variable IREE_DBG_TOKEN sets it too, and other users do
    /// not see that
    #[arg(long, value_name = "TEXT", requires = "listen", conflicts_with = "no_token")]
    token: Option<String>,

    /// Ask clients for no token: anyone who can connect can run programs as you
    #[arg(long = "no-token", requires = "listen")]
    no_token: bool,

    /// Let `--listen` take an address that other machines reach. The connection is not encrypted
    #[arg(long = "allow-remote", requires = "listen", conflicts_with = "no_token")]
    allow_remote: bool,
}

impl AccessArguments {
    /// Listens on an address.
    ///
    /// # Errors
    /// The address cannot be listened on, or other machines would reach it without --allow-remote.
    pub(crate) fn bind(&self, address: &str) -> Result<TcpServer, Failure> {
        let reach = if self.allow_remote { Reach::Network } else { Reach::Loopback };
        TcpServer::bind(address, reach).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::PermissionDenied if !self.allow_remote => {
                    "; listen on 127.0.0.1 and forward the port (`ssh -L`), or add --allow-remote"
                }
                _ => "",
            };
            format!("cannot listen on {address}: {error}{hint}").into()
        })
    }

    /// The token that clients have to give, if there is one.
    ///
    /// # Errors
    /// The token is empty, or the system has no random numbers.
    pub(crate) fn token(&self) -> Result<Option<Token>, Failure> {
        if self.no_token {
            return Ok(None);
        }
        if let Some(given) = self.given() {
            return match Token::new(&given) {
                Some(token) => Ok(Some(token)),
                None => Err("the token is empty; --no-token asks for none".into()),
            };
        }
        let token = Token::random();
        Ok(Some(token.map_err(|error| format!("cannot make a token: {error}; give --token="))?))
    }

    fn given(&self) -> Option<String> {
        self.token.clone().or_else(|| std::env::var(VARIABLE).ok())
    }

    /// Tells the user on standard error which token clients have to give, and who can connect.
    pub(crate) fn explain(&self, address: SocketAddr, token: Option<&Token>) {
        match token {
            Some(_) if self.given().is_some() => {}
            Some(token) => errln!("token: {token}"),
            None => errln!(
                "warning: clients need no token, so anyone who can connect can run programs as you"
            ),
        }
        if !address.ip().is_loopback() {
            errln!(
                "warning: other machines can connect to {address}, and the connection is not \
                 encrypted"
            );
        }
    }
}

/// Runs a program to its end. The results are the same as without a debugger.
///
/// # Errors
/// The program fails or cannot be loaded, a client ends it, or the address cannot be listened on.
pub(crate) fn run(
    options: LaunchOptions,
    address: &str,
    access: &AccessArguments,
    waits_for_debugger: bool,
) -> Result<Vec<Value>, Failure> {
    let debugger = Debugger::load(options)?;
    let name = debugger.program().entry_name().to_owned();
    let server = access.bind(address)?;
    let bound = server.local_addr();
    let address = bound.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let options = Options { token: access.token()?, ..Options::default() };
    let beginning = if waits_for_debugger {
        errln!("waiting for a debugger on {address}");
        Beginning::WithFirstClient
    } else {
        errln!("debuggers can attach on {address}");
        Beginning::AtOnce
    };
    access.explain(address, options.token.as_ref());
    outln!("EXEC @{name}");
    let outcome = server.run_program(debugger, beginning, &options);
    match outcome.map_err(|error| error.to_string())? {
        Some(StopReason::Completed(results)) => Ok(results),
        Some(StopReason::Failed(failure)) => {
            Err(format!("{}; invoking function '{name}'", failure.status).into())
        }
        _ => Err("a debugger ended the program".into()),
    }
}
