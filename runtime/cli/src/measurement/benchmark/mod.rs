//! Benchmarks as iree-benchmark-module makes them: it uses Google Benchmark, whose flags, rows and
//! formats these are.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `flags` | `--benchmark_*` |
//! | `row` | a benchmark, a row of a report, and the rows that sum up repetitions |
//! | `runner` | how often a call is repeated, and what one takes |
//! | `context` | the machine that a report is from |
//! | `number` | numbers as C++ prints them |
//! | `console` | the report for people |
//! | `json` | the reports for programs: JSON and CSV |
//! | `report` | where reports go |
//!
//! Each module uses only modules above it in this table.

mod console;
mod context;
mod flags;
mod json;
mod number;
mod report;
mod row;
mod runner;

pub(crate) use flags::BenchmarkFlags;
pub(crate) use report::Report;
pub(crate) use row::{Benchmark, Counter, Row, TimeUnit};
pub(crate) use runner::run;
