//! Measuring a program for `bench`.

mod idle_breakpoints;
mod timing;

pub(crate) use idle_breakpoints::{IdleBreakpoints, set_idle_breakpoints};
pub(crate) use timing::{Measurement, measure};
