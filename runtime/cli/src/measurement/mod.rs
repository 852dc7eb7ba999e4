//! Measuring a program for `bench`.

mod benchmark;
mod idle_breakpoints;
mod timing;

pub(crate) use benchmark::{
    Benchmark, BenchmarkFlags, Counter, Report, Row, TimeUnit, run as run_benchmark,
};
pub(crate) use idle_breakpoints::{IdleBreakpoints, set_idle_breakpoints};
pub(crate) use timing::{Measurement, measure};
