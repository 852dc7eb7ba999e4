//! The `iree-dbg` binary.
fn main() {}
