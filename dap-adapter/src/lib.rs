//! The debugger served over the Debug Adapter Protocol.
