//! The server as a client sees it: bytes in, bytes out, over in-memory streams.

mod client;
mod documents;
mod lifecycle;
mod order;
