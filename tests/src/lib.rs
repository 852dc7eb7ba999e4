//! What tests that cross crates share.
//!
//! | file | holds |
//! | --- | --- |
//! | `tools` | where IREE's tools and our binary are, and how to run them |
//! | `corpus` | the files in `corpus/`, what their comments ask for, and their compiled modules |
//! | `runner` | a test harness for cases that are data |

pub mod corpus;
pub mod runner;
pub mod tools;
