//! The structures that IREE's compiled dispatches are called with, and the call.
//!
//! Layouts are those of IREE's `executable_library.h`, versions 0.3, 0.5 and 0.6, which are the same here;
//! what differs between them is only read (`library`). They are asserted below, field by field.
//!
//! # Soundness
//!
//! Machine code can do anything: calling it is trusting it, and that is the caller's promise (see
//! [`call`]). What this file adds is that the code finds what it was compiled for: the C calling
//! convention, structures of the right layout that live as long as the call, and denormals flushed to
//! zero as IREE's synchronous device has it. The floating-point mode is changed, used and restored
//! within one block of assembly, so no Rust code ever runs in it.

use std::ffi::c_void;
use std::mem::offset_of;

/// What all dispatches of an executable have in common (`iree_hal_executable_environment_v0_t`).
#[repr(C)]
pub(super) struct Environment {
    pub(super) constants: *const u32,
    /// Calls imports; there are none.
    pub(super) import_thunk: *const c_void,
    pub(super) import_functions: *const *const c_void,
    pub(super) import_contexts: *const *const c_void,
    pub(super) processor: [u64; 8],
}

/// What all workgroups of a dispatch have in common (`iree_hal_executable_dispatch_state_v0_t`).
#[repr(C)]
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

/// What a workgroup has to itself (`iree_hal_executable_workgroup_state_v0_t`).
#[repr(C)]
pub(super) struct WorkgroupState {
    pub(super) workgroup_id_x: u32,
    pub(super) workgroup_id_y: u32,
    pub(super) workgroup_id_z: u16,
    pub(super) reserved: u16,
    pub(super) processor_id: u32,
    pub(super) local_memory: *mut c_void,
    pub(super) local_memory_size: u32,
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

/// Asks an executable for its description of a version; 0 if it does not have it.
///
/// # Safety
/// `query` is the address of an `iree_hal_executable_library_query` in code that is mapped and
/// trusted.
pub(super) unsafe fn query(query: usize, version: u32, environment: &Environment) -> usize {
    type Query = unsafe extern "C" fn(u32, *const Environment) -> *const c_void;
    // SAFETY: the caller says what is at the address.
    let query: Query = unsafe { std::mem::transmute::<usize, Query>(query) };
    // SAFETY: as above; the environment lives as long as the call.
    unsafe { query(version, environment) }.addr()
}

/// Runs an initialiser of an executable.
///
/// # Safety
/// `initializer` is the address of a function without arguments in code that is mapped and trusted.
pub(super) unsafe fn initialize(initializer: usize) {
    type Initializer = unsafe extern "C" fn();
    // SAFETY: the caller says what is at the address.
    unsafe { std::mem::transmute::<usize, Initializer>(initializer)() };
}

/// Runs one workgroup; what it returns, 0 if all is well.
///
/// # Safety
/// `entry` is the address of a dispatch function in code that is mapped and trusted, and the states
/// describe as many constants and bindings as it uses.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn call(
    entry: usize,
    environment: &Environment,
    dispatch: &DispatchState,
    workgroup: &WorkgroupState,
) -> i32 {
    /// Flush-to-zero and denormals-are-zero.
    const FLUSH: u32 = 1 << 15 | 1 << 6;
    let mut modes = [0_u32; 2];
    let mut result: i32;
    // SAFETY: the caller says what is at the address. The registers are those of the System V
    // convention, everything that a function may change is declared as changed, and the
    // floating-point mode at the end is that of the beginning.
    unsafe {
        std::arch::asm!(
            "stmxcsr [r12]",
            "mov eax, [r12]",
            "or eax, {flush}",
            "mov [r12 + 4], eax",
            "ldmxcsr [r12 + 4]",
            "call r13",
            "ldmxcsr [r12]",
            flush = const FLUSH,
            in("r12") modes.as_mut_ptr(),
            in("r13") entry,
            in("rdi") std::ptr::from_ref(environment),
            in("rsi") std::ptr::from_ref(dispatch),
            in("rdx") std::ptr::from_ref(workgroup),
            lateout("eax") result,
            clobber_abi("sysv64"),
        );
    }
    result
}

/// Runs one workgroup; what it returns, 0 if all is well.
///
/// # Safety
/// `entry` is the address of a dispatch function in code that is mapped and trusted, and the states
/// describe as many constants and bindings as it uses.
#[cfg(target_arch = "aarch64")]
pub(super) unsafe fn call(
    entry: usize,
    environment: &Environment,
    dispatch: &DispatchState,
    workgroup: &WorkgroupState,
) -> i32 {
    /// Flush-to-zero, of all floats and of those of 16 bits.
    const FLUSH: u64 = 1 << 24 | 1 << 19;
    let mut result = std::ptr::from_ref(environment).expose_provenance();
    // SAFETY: the caller says what is at the address. The registers are those of the procedure call
    // standard, which keeps x20 to x22 over a call; everything that a function may change is declared as
    // changed, and the floating-point mode at the end is that of the beginning.
    unsafe {
        std::arch::asm!(
            "mrs x20, fpcr",
            "orr x21, x20, x21",
            "msr fpcr, x21",
            "blr x22",
            "msr fpcr, x20",
            out("x20") _,
            inout("x21") FLUSH => _,
            in("x22") entry,
            inlateout("x0") result,
            in("x1") std::ptr::from_ref(dispatch),
            in("x2") std::ptr::from_ref(workgroup),
            clobber_abi("C"),
        );
    }
    result as i32
}

/// Runs one workgroup; what it returns, 0 if all is well.
///
/// # Safety
/// `entry` is the address of a dispatch function in code that is mapped and trusted, and the states
/// describe as many constants and bindings as it uses.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) unsafe fn call(
    entry: usize,
    environment: &Environment,
    dispatch: &DispatchState,
    workgroup: &WorkgroupState,
) -> i32 {
    type Entry = unsafe extern "C" fn(
        *const Environment,
        *const DispatchState,
        *const WorkgroupState,
    ) -> i32;
    // SAFETY: the caller says what is at the address.
    let entry: Entry = unsafe { std::mem::transmute::<usize, Entry>(entry) };
    // SAFETY: as above; what the pointers are to lives as long as the call.
    unsafe { entry(environment, dispatch, workgroup) }
}
