//! Tests with small programs in machine code: each has one fault, or none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use memmap2::{Mmap, MmapMut};

use super::*;
use crate::fault::{Access, Cause, Fault, FaultKind};
use crate::pause::{Pausable, Wish};

/// Machine code in memory.
fn code(bytes: &[u8]) -> Mmap {
    let mut memory = MmapMut::map_anon(4096).unwrap();
    memory[..bytes.len()].copy_from_slice(bytes);
    memory.make_exec().unwrap()
}

fn ready() -> Ready {
    Ready::this_thread().unwrap()
}

fn entry(memory: &Mmap, arguments: [usize; 3]) -> Entry {
    Entry { address: memory.as_ptr().expose_provenance(), arguments }
}

fn call(memory: &Mmap, arguments: [usize; 3]) -> (Stack, Outcome) {
    let mut stack = Stack::new(true).unwrap();
    // SAFETY: the bytes are those of a C function, written below.
    let outcome = unsafe { stack.call(ready(), entry(memory, arguments)) };
    (stack, outcome)
}

fn fault(bytes: &[u8], arguments: [usize; 3]) -> Fault {
    let memory = code(bytes);
    let (stack, outcome) = call(&memory, arguments);
    let Outcome::Stopped(Cause::Fault(fault)) = outcome else { panic!("{outcome:?}") };
    let program_counter = stack.into_stopped().unwrap().registers().program_counter;
    let start = memory.as_ptr().addr();
    assert!(program_counter == 0x99 || (start..=start + bytes.len()).contains(&program_counter));
    fault
}

/// `mov rax, rdi; add rax, rsi; ret`
const ADD: &[u8] = &[0x48, 0x89, 0xF8, 0x48, 0x01, 0xF0, 0xC3];
/// `mov rax, [rdi]; ret`
const READ: &[u8] = &[0x48, 0x8B, 0x07, 0xC3];
/// `mov [rdi], rax; ret`
const WRITE: &[u8] = &[0x48, 0x89, 0x07, 0xC3];
/// `jmp rdi`
const JUMP: &[u8] = &[0xFF, 0xE7];
/// `xor edx, edx; mov eax, 5; xor ecx, ecx; div ecx; ret`
const DIVIDE: &[u8] = &[0x31, 0xD2, 0xB8, 5, 0, 0, 0, 0x31, 0xC9, 0xF7, 0xF1, 0xC3];
/// `ud2`
const ILLEGAL: &[u8] = &[0x0F, 0x0B];
/// `int3`
const TRAP: &[u8] = &[0xCC];
/// `push rax; jmp` back to it
const RECURSE: &[u8] = &[0x50, 0xEB, 0xFD];
/// Increments `[rdi]` until `[rsi]` is not 0, and returns `rdx`, which `xmm15` keeps meanwhile.
const COUNT: &[u8] = &[
    0x66, 0x4C, 0x0F, 0x6E, 0xFA, // movq xmm15, rdx
    0x48, 0xFF, 0x07, // inc qword ptr [rdi]
    0x48, 0x83, 0x3E, 0x00, // cmp qword ptr [rsi], 0
    0x74, 0xF7, // je inc
    0x66, 0x4C, 0x0F, 0x7E, 0xF8, // movq rax, xmm15
    0xC3,
];

/// What sets a flag: `pushfq; or dword ptr [rsp], FLAG; popfq`.
fn flag(flag: u32) -> Vec<u8> {
    [&[0x9C, 0x81, 0x0C, 0x24][..], &flag.to_le_bytes(), &[0x9D]].concat()
}

/// `nop; ret`
const NOTHING: &[u8] = &[0x90, 0xC3];
/// `xor eax, eax; mov fs, eax`
const NO_THREAD: &[u8] = &[0x31, 0xC0, 0x8E, 0xE0];
/// `mov eax, [rsp + 1]; ret`
const UNALIGNED: &[u8] = &[0x8B, 0x44, 0x24, 0x01, 0xC3];
/// `fninit; push 0; fldcw [rsp]; fld1; fld1; pop rax; ret`: other rounding, exceptions, and a stack
/// that is not empty.
const X87: &[u8] = &[0xDB, 0xE3, 0x6A, 0x00, 0xD9, 0x2C, 0x24, 0xD9, 0xE8, 0xD9, 0xE8, 0x58, 0xC3];

/// Whether Rust computes and aligns as before, and knows its thread.
#[track_caller]
fn all_is_well() {
    let memory = code(ADD);
    assert_eq!(call(&memory, [40, 2, 0]).1, Outcome::Returned(42));
    let x87: u16;
    let flags: u64;
    // SAFETY: reads the control word and the flags.
    unsafe {
        let mut word = 0_u16;
        std::arch::asm!("fnstcw [{}]", in(reg) &raw mut word);
        x87 = word;
        std::arch::asm!("pushfq", "pop {}", out(reg) flags);
    }
    assert_eq!((x87, flags & !0x8D5), (0x37F, 0x202));
    assert!(thread::current().name().is_some());
}

/// Flags that make other instructions fault, the register of the thread, and x87 are as before,
/// whether the machine code returns or faults.
#[test]
fn what_it_leaves_in_the_processor_is_put_back() {
    const SINGLE_STEP: u32 = 0x100;
    const BACKWARD: u32 = 0x400;
    const NESTED: u32 = 0x4000;
    const ALIGNED: u32 = 0x40000;
    for bits in [SINGLE_STEP, BACKWARD, NESTED, ALIGNED, BACKWARD | NESTED | ALIGNED] {
        for end in [NOTHING, ILLEGAL, UNALIGNED, READ] {
            let memory = code(&[&flag(bits), end].concat());
            let outcome = call(&memory, [8, 0, 0]).1;
            let is_fault = matches!(outcome, Outcome::Stopped(Cause::Fault(_)));
            let faults = end == ILLEGAL
                || end == READ
                || bits & SINGLE_STEP != 0
                || bits & ALIGNED != 0 && end == UNALIGNED;
            assert_eq!(is_fault, faults, "{bits:#x} {end:x?}: {outcome:?}");
            all_is_well();
        }
    }
    for end in [NOTHING, ILLEGAL, READ, TRAP] {
        let memory = code(&[NO_THREAD, end].concat());
        let outcome = call(&memory, [8, 0, 0]).1;
        assert!(matches!(outcome, Outcome::Stopped(Cause::Fault(_))), "{end:x?}: {outcome:?}");
        all_is_well();
    }
    let _ = call(&code(X87), [0; 3]);
    all_is_well();
    let fault = [&X87[..X87.len() - 1], ILLEGAL].concat();
    let _ = call(&code(&fault), [0; 3]);
    all_is_well();
}

/// Registers that Rust has in use are not handed to the machine code: each is 0.
#[test]
fn it_gets_no_register_of_ours() {
    // `mov rax, REGISTER; ret`
    let moves: [(&str, [u8; 3]); 10] = [
        ("rbx", [0x48, 0x89, 0xD8]),
        ("rbp", [0x48, 0x89, 0xE8]),
        ("rcx", [0x48, 0x89, 0xC8]),
        ("r8", [0x4C, 0x89, 0xC0]),
        ("r9", [0x4C, 0x89, 0xC8]),
        ("r10", [0x4C, 0x89, 0xD0]),
        ("r12", [0x4C, 0x89, 0xE0]),
        ("r13", [0x4C, 0x89, 0xE8]),
        ("r14", [0x4C, 0x89, 0xF0]),
        ("r15", [0x4C, 0x89, 0xF8]),
    ];
    for (name, bytes) in moves {
        let memory = code(&[&bytes[..], &[0xC3]].concat());
        assert_eq!(call(&memory, [1, 2, 3]).1, Outcome::Returned(0), "{name}");
    }
    // `mov [rbx], rdi`, as a damaged prologue has it, is a fault that is caught.
    let memory = code(&[0x48, 0x89, 0x3B, 0xC3]);
    assert!(matches!(call(&memory, [1, 2, 3]).1, Outcome::Stopped(Cause::Fault(_))));
    // Registers that a function has to keep and does not: `mov ebx, 1`, and so on.
    let spoilt = [
        &[0xBB, 1, 0, 0, 0][..],
        &[0x41, 0xBC, 1, 0, 0, 0, 0x41, 0xBD, 1, 0, 0, 0],
        &[0x41, 0xBE, 1, 0, 0, 0, 0x41, 0xBF, 1, 0, 0, 0, 0xBD, 1, 0, 0, 0, 0xC3],
    ];
    let memory = code(&spoilt.concat());
    assert!(matches!(call(&memory, [0; 3]).1, Outcome::Returned(_)));
    all_is_well();
}

#[test]
fn what_returns_returns() {
    let memory = code(ADD);
    let (stack, outcome) = call(&memory, [40, 2, 0]);
    assert_eq!(outcome, Outcome::Returned(42));
    assert!(stack.into_stopped().is_none());
}

#[test]
fn faults_are_values() {
    let memory = |address, access| Fault {
        kind: FaultKind::Memory,
        address: Some(address),
        access: Some(access),
    };
    assert_eq!(fault(READ, [8, 0, 0]), memory(8, Access::Read));
    assert_eq!(fault(WRITE, [16, 0, 0]), memory(16, Access::Write));
    assert_eq!(fault(JUMP, [0x99, 0, 0]), memory(0x99, Access::Execute));
    let impossible = fault(READ, [1 << 63, 0, 0]);
    assert_eq!((impossible.kind, impossible.address), (FaultKind::Memory, None));
    assert_eq!(fault(DIVIDE, [0; 3]).kind, FaultKind::Arithmetic);
    assert_eq!(fault(ILLEGAL, [0; 3]).kind, FaultKind::IllegalInstruction);
    assert_eq!(fault(TRAP, [0; 3]).kind, FaultKind::Trap);
    assert_eq!(fault(RECURSE, [0; 3]).kind, FaultKind::StackOverflow);
}

/// A thousand faults in each of four threads do not disturb later calls.
#[test]
fn faults_do_not_disturb_later_calls() {
    let threads = (0..4).map(|_| {
        thread::spawn(|| {
            let bad = code(READ);
            let good = code(ADD);
            let mut stack = Stack::new(true).unwrap();
            for round in 0..1000 {
                // SAFETY: C functions, as above.
                let outcome = unsafe { stack.call(ready(), entry(&bad, [8, round, 0])) };
                assert!(matches!(outcome, Outcome::Stopped(Cause::Fault(_))));
                // SAFETY: as above.
                let outcome = unsafe { stack.call(ready(), entry(&good, [1, round, 0])) };
                assert_eq!(outcome, Outcome::Returned(round as u64 + 1));
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
}

struct Flag(Arc<AtomicBool>);

impl Wish for Flag {
    fn is_wanted(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A loop that is paused and resumed many times, on this thread and on others, keeps its place and
/// its registers, vector registers included.
#[test]
fn pauses_can_be_resumed() {
    let memory = code(COUNT);
    let counter = AtomicU64::new(0);
    let should_end = AtomicU64::new(0);
    let is_wanted = Arc::new(AtomicBool::new(true));
    let pausable = Pausable::current_thread();
    let watching = pausable.watch(Flag(is_wanted.clone()));
    let addresses = [counter.as_ptr(), should_end.as_ptr()].map(<*mut u64>::expose_provenance);
    let (mut stack, mut outcome) = call(&memory, [addresses[0], addresses[1], 0x1234_5678_9ABC]);
    let mut seen = 0;
    for round in 0..40 {
        assert_eq!(outcome, Outcome::Stopped(Cause::Pause));
        let stopped = stack.into_stopped().unwrap();
        assert!(counter.load(Ordering::SeqCst) >= seen);
        seen = counter.load(Ordering::SeqCst);
        let rdi = stopped.registers().general.iter().find(|(name, _)| *name == "rdi").unwrap().1;
        assert_eq!(rdi, addresses[0] as u64);
        if round == 39 {
            should_end.store(1, Ordering::SeqCst);
            is_wanted.store(false, Ordering::SeqCst);
        }
        (stack, outcome) = if round % 2 == 0 {
            // SAFETY: the data that the call uses is still alive.
            unsafe { stopped.resume(ready()) }
        } else {
            let flag = Flag(is_wanted.clone());
            let resumed = thread::spawn(move || {
                let pausable = Pausable::current_thread();
                let _watching = pausable.watch(flag);
                // SAFETY: the data that the call uses is still alive, and it may continue on any
                // thread.
                unsafe { stopped.resume(ready()) }
            });
            resumed.join().unwrap()
        };
    }
    while outcome == Outcome::Stopped(Cause::Pause) {
        // The signal came late. SAFETY: as above.
        (stack, outcome) = unsafe { stack.into_stopped().unwrap().resume(ready()) };
    }
    assert_eq!(outcome, Outcome::Returned(0x1234_5678_9ABC));
    drop(watching);
}

/// Rust frames on the stack of a call that faults are kept: nothing in them is dropped.
#[test]
fn callbacks_are_leaked_whole() {
    extern "C" fn callback(_: usize, _: usize, _: usize) -> u64 {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let _bomb = Bomb;
        let memory = code(READ);
        let address = memory.as_ptr().expose_provenance();
        type Function = unsafe extern "C" fn(usize) -> u64;
        // SAFETY: the code is that of `READ`; its fault is caught, which is tested here.
        unsafe { std::mem::transmute::<usize, Function>(address)(8) }
    }
    let address = callback as *const () as usize;
    let mut stack = Stack::new(false).unwrap();
    // SAFETY: a C function of three addresses; if it stops, the stack is leaked.
    let outcome = unsafe { stack.call(ready(), Entry { address, arguments: [0; 3] }) };
    assert!(matches!(outcome, Outcome::Stopped(Cause::Fault(_))));
    stack.into_stopped().unwrap().leak();
}
