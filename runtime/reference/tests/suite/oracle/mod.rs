//! What IREE's compiled code computes, on both back ends, lies within the bounds.
//!
//! - `tools`: compiling and running with IREE's tools
//! - `programs`: the functions in `tests/programs`, in their own text and as dispatches
//! - `generated`: random functions
//! - `sweeps`: functions of `math` over their whole range, in each float type

mod generated;
mod programs;
mod sweeps;
mod tools;
