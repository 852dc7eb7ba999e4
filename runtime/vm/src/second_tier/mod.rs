//! The second tier: hot functions as machine code, made by Cranelift.
//!
//! The interpreter stays the authority. Compiled code runs what it knows to succeed and hands over
//! at any instruction: at one that fails, calls, returns, stops or yields, and when the budget of
//! turns is used up. So errors, breakpoints, watches, pauses, recordings and meters are the
//! interpreter's, whether a function is compiled or not; `emit` says how. Code with breakpoints in
//! it and code that is observed is never entered.
//!
//! | file | holds |
//! | --- | --- |
//! | `rows` | what each instruction becomes |
//! | `flow` | blocks, and which registers live |
//! | `held` | which registers compiled code holds in values of its own |
//! | `emit` | a function in Cranelift's terms |
//! | `helpers` | functions that compiled code calls |
//! | `calls` | calls from compiled code to compiled code |
//! | `unit` | machine code, and how it is entered |
//! | `compile` | from a function to its machine code |
//!
//! Cranelift's generator is used without `cranelift-jit`: functions here call nothing by name, so
//! a function is one run of bytes in pages of its own, which are freed with their context.

mod calls;
mod compile;
mod emit;
mod flow;
mod held;
mod helpers;
mod rows;
#[cfg(test)]
mod tests;
mod unit;

pub(crate) use compile::compile_slot;
pub(crate) use unit::enter_compiled;
