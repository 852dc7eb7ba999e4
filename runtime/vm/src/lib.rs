//! The IREE VM: values, frames, the interpreter, contexts.
