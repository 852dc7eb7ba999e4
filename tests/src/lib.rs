//! Shared code of the tests that cross crates.
//!
//! | file | holds |
//! | --- | --- |
//! | `tools` | IREE's tools, our binary, and how to run them |
//! | `corpus` | the files in `corpus/`, the requests in their comments, and their compiled modules |
//! | `runner` | a test harness whose cases are data |

pub mod corpus;
pub mod runner;
pub mod tools;
