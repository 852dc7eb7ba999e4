//! The library that the Python package `iree_dbg` loads: programs whose functions Python calls,
//! each under the debugger that all fronts share.
//!
//! ```text
//! Python thread ── call ──> runs the program by itself: the debugger has the engine as its caller
//!      │  ^                         │ what takes longer: the engine's thread goes on
//!      │  └─ wait: a message ───────┤  the results; a function of Python's to call; a stop
//!      └──── answer ───────────────>┘
//! ```
//!
//! | module | what lives there |
//! | --- | --- |
//! | `error` | what goes wrong |
//! | `tensors` | tensors that Python and a program hand to each other |
//! | `messages` | what the engine and Python's threads tell each other |
//! | `launch` | what Python opens a program with, as the debugger takes it |
//! | `describe` | modules and signatures as JSON |
//! | `convert` | arguments and results: JSON, with tensors beside it |
//! | `imports` | functions of Python that programs call |
//! | `stops` | a stopped program as JSON: frames, values, tensors |
//! | `seat` | where a program waits for the next thread that runs it |
//! | `engine` | what runs a program, one call after the other |
//! | `questions` | what Python asks about a program, or changes in it |
//! | `program` | a program, as Python opens, calls and closes it |
//! | `walk` | a call that Python walks through, forward and back |
//! | `boundary` | the C functions, and all unsafe code |
//!
//! A room uses only rooms above it in this table. Nothing here calls Python: a thread of Python's
//! runs a call or waits for messages, some milliseconds at a time. So signals are heard, and
//! exceptions of Python's functions never pass through this library.

pub mod boundary;
mod convert;
mod describe;
mod engine;
mod error;
mod imports;
mod launch;
mod messages;
mod program;
mod questions;
mod seat;
mod stops;
mod tensors;
mod walk;
