//! TVM FFI.
