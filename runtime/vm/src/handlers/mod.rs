//! What instructions do. [`table`] has a row for each; the rows are made of the families here.
//! Uses `machine` and what is before it; nothing above but the code that it chooses handlers for.
//!
//! | file | holds |
//! | --- | --- |
//! | `operation` | what a handler is made of |
//! | `family` | macros: instructions that differ in type and function only |
//! | `accesses` | macros: loads and stores of buffers, globals, lists |
//! | `control` | jumps, calls, returns |
//! | `slow` | what takes longer than deciding how to do it: safe code, out of line |
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
