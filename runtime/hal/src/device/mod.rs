//! The CPU as a device. It owns a queue, a worker pool and an allocator, and answers a program's
//! questions; it knows no native module.

mod apart;
mod cpu;
mod gpus;
mod nested_modules;
mod refusals;

pub use apart::Unfinished;
pub use cpu::{Device, DeviceKind, DeviceRef, UnknownDevice};
pub use gpus::{Gpus, ListedGpu, list_gpus};
