//! Shared code of the tests that cross crates.
//!
//! | file | holds |
//! | --- | --- |
//! | `tools` | IREE's tools, our binary, and how to run them |
//! | `corpus` | the files in `corpus/`, the requests in their comments, and their compiled modules |
//! | `dap_client` | a small client for `iree-dbg dap` |
//! | `runner` | a test harness whose cases are data |

pub mod corpus;
pub mod dap_client;
pub mod runner;
pub mod tools;
