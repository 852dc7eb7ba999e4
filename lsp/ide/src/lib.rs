//! Language features for MLIR, .vmasm and .vmfb; no protocol.
