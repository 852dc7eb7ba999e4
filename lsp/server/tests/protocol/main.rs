//! The server as a client sees it: bytes in, bytes out, over in-memory streams.

mod client;
mod documents;
mod features;
mod lifecycle;
mod modules;
mod order;
mod traps;
