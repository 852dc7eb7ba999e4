//! A process that can only compute: memory that it shares with its owner, requests to it, and the
//! rules that it lives by.
//!
//! *Memory.* A [`SharedMemory`] is a file without a name (`memfd`), mapped to a large range of
//! addresses. Owner and child map it at the same address, so a pointer means the same in both, and
//! nothing is copied. The child may touch only what has been allocated so far; the rest of the
//! range, and the guards of guarded buffers, fault there as unmapped memory does. Nothing else of
//! the owner exists in the child, which is a fresh process of the same program: no heap, no
//! environment, no file, no socket but the one to its owner.
//!
//! *Requests.* A [`Child`] has a page of words for one request at a time, and two numbers beside
//! it: how many requests were made, and how many were answered. Each side looks at the other's
//! number for a moment, as the next request usually comes soon, and then sleeps on it (`futex`).
//! What does not fit the page, what is rare, and what must come while a request is served goes over
//! a socket. Before the first request the child gives up what it does not need ([`Inside::close`]):
//! Landlock takes files, networks and signals to others; seccomp leaves the system calls in
//! `rules`, with the arguments there: its own memory, futexes, its socket. Any other raises SIGSYS,
//! which the child may handle as a fault. What the child answers is not trusted: the owner checks
//! it as it does a file from outside, and ends a child that does not answer.
//!
//! A child may also keep all rights ([`Rights::All`]): then it is no sandbox, but what crashes in
//! it, such as a driver, does not take its owner along.
//!
//! ```text
//!  owner                                               child
//!  SharedMemory ─────── the same pages, at the same address ─────── Inside::memory
//!  Child::call ── words, then +1 ──> [ request | words | answer ] <── words, then +1 ── Inside
//!  Child::send ══════════════════════════ socket ══════════════════════════ Inside::stream
//!  Child::drop ── SIGKILL ──>
//! ```
//!
//! | module | what lives there |
//! | --- | --- |
//! | `memory` | memory that both sides have, and its parts |
//! | `page` | the words of a request, and waiting for them |
//! | `rules` | what the child may do |
//! | `child` | starting a child, asking it, ending it |
//! | `inside` | the child's side |
//!
//! A room uses only rooms above it in this table. On other systems than Linux on x86-64 none of
//! them exists: [`IS_SUPPORTED`] is false there.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod child;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod inside;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod memory;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod page;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod rules;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use child::{Child, Gone, Program, Rights};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use inside::{Inside, Message, Requests};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use memory::{Block, Change, SharedMemory};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use page::WORDS;

/// Whether there are such processes on this system.
pub const IS_SUPPORTED: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// The only argument of the program that starts as a child: see [`Inside::enter`].
pub const ARGUMENT: &str = "--as-sandbox";
