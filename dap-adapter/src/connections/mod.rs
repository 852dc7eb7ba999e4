//! Where clients come from. The top of the crate: a connection starts a session and waits for its
//! end.

mod attach;
mod handshake;
mod serve;
mod tcp;

pub use attach::Beginning;
pub use serve::{Options, serve, serve_stdio};
pub use tcp::TcpServer;
