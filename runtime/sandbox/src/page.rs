//! The page of a request: its words, and how each side waits for the other.
//!
//! ```text
//!  [ requests made | requests answered | child sleeps | owner sleeps | … | words ]
//! ```
//! A side that waits looks at the number for a moment, then notes that it sleeps, looks once more,
//! and sleeps. A side that changes a number wakes the other if that has noted it. The moment
//! becomes shorter each time that it was not enough: on a busy machine the other side does not run
//! before this one sleeps.
//!
//! # Soundness
//!
//! The page is memory of two processes, accessed by atomic operations only. It stays mapped while
//! the [`Page`] lives.

use std::io;
use std::os::fd::AsFd;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::mm::ProtFlags;
use rustix::thread::futex::{self, Flags, Timespec};

use crate::memory::map;

/// How many words a request or an answer has.
pub const WORDS: usize = 8_000;

/// How long owner and child look before they sleep, at most: to be woken takes long on some
/// systems, compared with a dispatch.
const MOST: [Duration; 2] = [Duration::from_millis(1), Duration::from_micros(200)];

/// How long a side looks at first, and when it tries again after it did not.
const FIRST: Duration = Duration::from_micros(50);

/// How many times a side sleeps at once before it tries again to look.
const REST: u32 = 32;

/// How often the clock is read meanwhile.
const LOOKS: u32 = 64;

#[repr(C)]
struct Shared {
    requested: Cell,
    answered: Cell,
    child_sleeps: Cell,
    owner_sleeps: Cell,
    /// How far a request has come, where the child says so.
    progress: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// A number with a cache line of its own.
#[repr(C, align(64))]
struct Cell(AtomicU32);

/// Bytes of a page.
pub(crate) const BYTES: usize = size_of::<Shared>().next_multiple_of(4096);

/// One of the two sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Owner,
    Child,
}

/// A page, as this side has it.
#[derive(Debug)]
pub(crate) struct Page {
    shared: NonNull<Shared>,
    side: Side,
    patience: Patience,
}

/// How long a side looks the next time.
#[derive(Debug)]
struct Patience {
    nanoseconds: AtomicU64,
    /// How often it has not looked at all since it last has.
    rested: AtomicU32,
}

// SAFETY: all access is atomic.
unsafe impl Send for Page {}
// SAFETY: as for `Send`.
unsafe impl Sync for Page {}

impl Page {
    /// Maps a file of [`BYTES`] zeros.
    pub(crate) fn map(file: impl AsFd, side: Side) -> io::Result<Self> {
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        let shared = map(file, null_mut(), BYTES, rights)?.cast();
        Ok(Self { shared, side, patience: Patience::new() })
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the mapping has the size of a `Shared`, is aligned to a page, and lives as long
        // as `self`; all bits are valid for atomics, which may be changed at any time.
        unsafe { self.shared.as_ref() }
    }

    /// The words, to be written by the side whose turn it is.
    pub(crate) fn set_words(&self, words: &[u64]) {
        for (to, from) in self.shared().words.iter().zip(words) {
            to.store(*from, Ordering::Relaxed);
        }
    }

    /// The first `count` words.
    pub(crate) fn words(&self, count: usize) -> Vec<u64> {
        let words = self.shared().words.iter().take(count);
        words.map(|word| word.load(Ordering::Relaxed)).collect()
    }

    /// How far the request has come.
    pub(crate) fn progress(&self) -> u64 {
        self.shared().progress.load(Ordering::Relaxed)
    }

    /// Says how far the request has come.
    pub(crate) fn set_progress(&self, progress: u64) {
        self.shared().progress.store(progress, Ordering::Relaxed);
    }

    /// The number that this side changes, and whether the other sleeps on it.
    fn mine(&self) -> (&AtomicU32, &AtomicU32) {
        let Shared { requested, answered, child_sleeps, owner_sleeps, .. } = self.shared();
        match self.side {
            Side::Owner => (&requested.0, &child_sleeps.0),
            Side::Child => (&answered.0, &owner_sleeps.0),
        }
    }

    /// The number that this side waits for, and whether it sleeps on it.
    fn others(&self) -> (&AtomicU32, &AtomicU32) {
        let Shared { requested, answered, child_sleeps, owner_sleeps, .. } = self.shared();
        match self.side {
            Side::Owner => (&answered.0, &owner_sleeps.0),
            Side::Child => (&requested.0, &child_sleeps.0),
        }
    }

    /// Tells the other side that the words are a request, or an answer, with this number.
    pub(crate) fn post(&self, number: u32) {
        let (mine, is_asleep) = self.mine();
        mine.store(number, Ordering::SeqCst);
        if is_asleep.swap(0, Ordering::SeqCst) != 0 {
            // The owner would see the number anyway, when its time is over.
            let _ = futex::wake(mine, Flags::empty(), 1);
        }
    }

    /// Whether the other side has posted something else than `seen`: its number.
    pub(crate) fn posted(&self, seen: u32) -> Option<u32> {
        let number = self.others().0.load(Ordering::SeqCst);
        (number != seen).then_some(number)
    }

    /// Looks for a moment whether the other side posts something else than `seen`.
    pub(crate) fn look(&self, seen: u32) -> Option<u32> {
        let [owner, child] = MOST;
        let most = if self.side == Side::Owner { owner } else { child };
        let time = self.patience.next();
        let began = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if let Some(number) = self.posted(seen) {
                    self.patience.was_enough(began.elapsed(), most);
                    return Some(number);
                }
                std::hint::spin_loop();
            }
            if began.elapsed() >= time {
                self.patience.was_too_short(time);
                return None;
            }
        }
    }

    /// Sleeps until the other side posts something else than `seen`, but not for longer than
    /// `time`.
    pub(crate) fn sleep(&self, seen: u32, time: Option<Duration>) -> Option<u32> {
        let (others, is_asleep) = self.others();
        is_asleep.store(1, Ordering::SeqCst);
        if self.posted(seen).is_none() {
            let time = time.and_then(|time| Timespec::try_from(time).ok());
            // However it ends, the number is looked at.
            let _ = futex::wait(others, Flags::empty(), seen, time.as_ref());
        }
        is_asleep.store(0, Ordering::SeqCst);
        self.posted(seen)
    }
}

impl Patience {
    fn new() -> Self {
        let first = FIRST.as_nanos() as u64;
        Self { nanoseconds: AtomicU64::new(first), rested: AtomicU32::new(0) }
    }

    /// How long to look now.
    fn next(&self) -> Duration {
        let time = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed));
        let is_resting = time.is_zero() && self.rested.fetch_add(1, Ordering::Relaxed) < REST;
        if is_resting {
            return time;
        }
        self.rested.store(0, Ordering::Relaxed);
        time.max(FIRST)
    }

    /// Looking has found something after this time.
    fn was_enough(&self, time: Duration, most: Duration) {
        let wanted = (4 * time).clamp(FIRST, most).as_nanos() as u64;
        self.nanoseconds.fetch_max(wanted, Ordering::Relaxed);
    }

    /// Looking has found nothing for this time.
    fn was_too_short(&self, time: Duration) {
        // Less than a part of the first time is not worth it.
        let half = time / 2;
        let next = if half < FIRST / 8 { Duration::ZERO } else { half };
        self.nanoseconds.store(next.as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the mapping of `map`, to which no reference is left.
        let _ = unsafe { rustix::mm::munmap(self.shared.as_ptr().cast(), BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_gets_its_answer_whoever_sleeps() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(BYTES as u64).unwrap();
        let owner = Page::map(&file, Side::Owner).unwrap();
        let child = Page::map(&file, Side::Child).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..500_u32 {
                    let found = child.look(number - 1);
                    let found = found.or_else(|| child.sleep(number - 1, None));
                    assert_eq!(found, Some(number));
                    let words = child.words(2);
                    if number % 7 == 0 {
                        std::thread::sleep(FIRST * 4);
                    }
                    child.set_words(&[words[0] + words[1]]);
                    child.post(number);
                }
            });
            for number in 1..500_u32 {
                if number % 5 == 0 {
                    std::thread::sleep(FIRST * 4);
                }
                owner.set_words(&[number.into(), 1]);
                owner.post(number);
                let found = std::iter::repeat_with(|| {
                    owner.look(number - 1).or_else(|| owner.sleep(number - 1, Some(FIRST)))
                });
                assert_eq!(found.flatten().next(), Some(number));
                assert_eq!(owner.words(1), [u64::from(number) + 1]);
            }
        });
    }
}
