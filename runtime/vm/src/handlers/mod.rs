//! What instructions do. [`table`] has a row for each; the rows are made of the families here. Uses
//! `machine` and the rooms before it; the code that runs asks for handlers through
//! [`crate::code::Handle`].
//!
//! | file | holds |
//! | --- | --- |
//! | `operation` | what a handler is made of |
//! | `family` | macros: instructions that differ in type and function only |
//! | `accesses` | macros: loads and stores of buffers, globals and lists |
//! | `control` | jumps, calls, returns |
//! | `slow` | work that outweighs the dispatch: safe code, out of line |
//! | `allocation` | making buffers and lists |
//! | `table` | every instruction, in one of the families |
//! | `handle` | the handlers, as code asks for them |

#[macro_use]
mod family;
#[macro_use]
mod accesses;
mod allocation;
mod control;
mod handle;
mod operation;
mod slow;
mod table;
#[cfg(test)]
mod tests;
