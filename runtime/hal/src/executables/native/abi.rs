//! The structures that IREE's compiled dispatches are called with, and calls of other functions in
//! executables.
//!
//! The layouts are those of IREE's `executable_library.h`, and the same in versions 0.3, 0.5 and
//! 0.6. They are asserted below, field by field. (`library` reads the structures that differ.)
//! Dispatches are called in `call`.

use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::{null, null_mut};

use trap::{Cause, Entry, Outcome, Ready, Stack};
use vm::Status;

/// Data that all dispatches of an executable share (`iree_hal_executable_environment_v0_t`).
#[repr(C)]
#[derive(Debug)]
pub(super) struct Environment {
    pub(super) constants: *const u32,
    /// The function that calls imports.
    pub(super) import_thunk: *const c_void,
    pub(super) import_functions: *const *const c_void,
    pub(super) import_contexts: *const *const c_void,
    pub(super) processor: [u64; 8],
}

/// Data that all workgroups of a dispatch share (`iree_hal_executable_dispatch_state_v0_t`).
#[repr(C)]
#[derive(Debug)]
pub(super) struct DispatchState {
    pub(super) workgroup_size_x: u32,
    pub(super) workgroup_size_y: u32,
    pub(super) workgroup_size_z: u16,
    pub(super) constant_count: u16,
    pub(super) workgroup_count_x: u32,
    pub(super) workgroup_count_y: u32,
    pub(super) workgroup_count_z: u16,
    pub(super) max_concurrency: u8,
    pub(super) binding_count: u8,
    pub(super) constants: *const u32,
    pub(super) binding_pointers: *const *mut u8,
    pub(super) binding_lengths: *const usize,
}

/// Data of a single workgroup (`iree_hal_executable_workgroup_state_v0_t`).
#[repr(C)]
#[derive(Debug)]
pub(super) struct WorkgroupState {
    pub(super) workgroup_id_x: u32,
    pub(super) workgroup_id_y: u32,
    pub(super) workgroup_id_z: u16,
    pub(super) reserved: u16,
    pub(super) processor_id: u32,
    pub(super) local_memory: *mut c_void,
    pub(super) local_memory_size: u32,
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            constants: null(),
            import_thunk: null(),
            import_functions: null(),
            import_contexts: null(),
            processor: [0; 8],
        }
    }
}

impl Default for DispatchState {
    fn default() -> Self {
        Self {
            workgroup_size_x: 1,
            workgroup_size_y: 1,
            workgroup_size_z: 1,
            constant_count: 0,
            workgroup_count_x: 0,
            workgroup_count_y: 0,
            workgroup_count_z: 0,
            max_concurrency: 1,
            binding_count: 0,
            constants: null(),
            binding_pointers: null(),
            binding_lengths: null(),
        }
    }
}

impl Default for WorkgroupState {
    fn default() -> Self {
        Self {
            workgroup_id_x: 0,
            workgroup_id_y: 0,
            workgroup_id_z: 0,
            reserved: 0,
            processor_id: 0,
            local_memory: null_mut(),
            local_memory_size: 0,
        }
    }
}

const _: () = {
    assert!(size_of::<usize>() == 8);

    assert!(size_of::<Environment>() == 96);
    assert!(offset_of!(Environment, constants) == 0);
    assert!(offset_of!(Environment, import_thunk) == 8);
    assert!(offset_of!(Environment, import_functions) == 16);
    assert!(offset_of!(Environment, import_contexts) == 24);
    assert!(offset_of!(Environment, processor) == 32);

    assert!(size_of::<DispatchState>() == 48);
    assert!(offset_of!(DispatchState, workgroup_size_x) == 0);
    assert!(offset_of!(DispatchState, workgroup_size_y) == 4);
    assert!(offset_of!(DispatchState, workgroup_size_z) == 8);
    assert!(offset_of!(DispatchState, constant_count) == 10);
    assert!(offset_of!(DispatchState, workgroup_count_x) == 12);
    assert!(offset_of!(DispatchState, workgroup_count_y) == 16);
    assert!(offset_of!(DispatchState, workgroup_count_z) == 20);
    assert!(offset_of!(DispatchState, max_concurrency) == 22);
    assert!(offset_of!(DispatchState, binding_count) == 23);
    assert!(offset_of!(DispatchState, constants) == 24);
    assert!(offset_of!(DispatchState, binding_pointers) == 32);
    assert!(offset_of!(DispatchState, binding_lengths) == 40);

    assert!(size_of::<WorkgroupState>() == 32);
    assert!(offset_of!(WorkgroupState, workgroup_id_x) == 0);
    assert!(offset_of!(WorkgroupState, workgroup_id_y) == 4);
    assert!(offset_of!(WorkgroupState, workgroup_id_z) == 8);
    assert!(offset_of!(WorkgroupState, reserved) == 10);
    assert!(offset_of!(WorkgroupState, processor_id) == 12);
    assert!(offset_of!(WorkgroupState, local_memory) == 16);
    assert!(offset_of!(WorkgroupState, local_memory_size) == 24);
};

/// The address of an executable's description of a version; 0 if it has none.
///
/// # Errors
/// It faulted.
///
/// # Safety
/// `query` is the address of an `iree_hal_executable_library_query` in code that is mapped and
/// trusted.
pub(super) unsafe fn query(
    query: usize,
    version: u32,
    environment: &Environment,
) -> Result<usize, Status> {
    let environment = std::ptr::from_ref(environment).expose_provenance();
    // SAFETY: the caller vouches for the function; the environment outlives the call.
    unsafe { call(query, [version as usize, environment, 0]) }
}

/// Runs an initialiser of an executable.
///
/// # Errors
/// It faulted.
///
/// # Safety
/// `initializer` is the address of a function without arguments in code that is mapped and trusted.
pub(super) unsafe fn initialize(initializer: usize) -> Result<(), Status> {
    // SAFETY: the caller vouches for the function, which ignores the registers of the arguments.
    unsafe { call(initializer, [0; 3]) }.map(drop)
}

/// Calls a function of an executable that is not a dispatch.
unsafe fn call(address: usize, arguments: [usize; 3]) -> Result<usize, Status> {
    let no_stack = |error| Status::internal(format!("no stack for machine code: {error}"));
    let ready = Ready::this_thread().map_err(no_stack)?;
    let mut stack = Stack::new(false).map_err(no_stack)?;
    // SAFETY: the caller vouches for the function and its arguments.
    let mut outcome = unsafe { stack.call(ready, Entry { address, arguments }) };
    loop {
        match (outcome, stack.into_stopped()) {
            (Outcome::Returned(result), _) => return Ok(result as usize),
            // A late signal, meant for earlier code on this thread.
            (Outcome::Stopped(Cause::Pause), Some(stopped)) => {
                // SAFETY: as above, on the same thread.
                (stack, outcome) = unsafe { stopped.resume(ready) };
            }
            (Outcome::Stopped(cause), _) => {
                let what = match cause {
                    Cause::Fault(fault) => fault.to_string(),
                    Cause::Pause => "it was paused".to_owned(),
                };
                let text = format!("the executable cannot be loaded: its code faults: {what}");
                return Err(Status::invalid_argument(text));
            }
        }
    }
}
