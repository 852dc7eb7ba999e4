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
