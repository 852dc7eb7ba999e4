//! A library in the place of the drivers of CUDA (`libcuda.so`) and HIP (`libamdhip64.so`), so that
//! tests need no device: IREE's tools and ours open it alike, by its name.
//!
//! Everything runs when it is asked for, on the calling thread. Kernels of CUDA are PTX, which is
//! interpreted: it is the compiler's own code that runs. Kernels of HIP are machine code for other
//! processors: the few that tests use are written again in `known`.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `memory` | what has been allocated; accesses elsewhere are faults |
//! | `ptx` | PTX as data |
//! | `thread` | one thread of a kernel |
//! | `launch` | all threads of a launch |
//! | `known` | kernels that are known by their names |
//! | `state` | what the driver is asked to remember |
//! | `calls` | what both interfaces do in the same way |
//! | `cuda` | the functions of `cuda.h` |
//! | `hip` | those of `hip_runtime_api.h` |
//!
//! The environment makes it a bad driver: with `FAKE_GPU_HANGS`, no kernel ever ends; with
//! `FAKE_GPU_CRASHES`, launching one ends the process; with `FAKE_GPU_DEVICES=0` there is no
//! device; with `FAKE_GPU_LOG=FILE` each launch is written there.

mod calls;
mod cuda;
mod hip;
mod known;
mod launch;
mod memory;
mod ptx;
mod state;
mod thread;
