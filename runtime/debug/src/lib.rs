//! The debugger: breakpoints, stepping, inspection; no protocol.
