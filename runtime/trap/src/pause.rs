//! Asking threads in machine code to stop.
//!
//! A thread in machine code checks no flag. So a monitor, one thread for the whole process, checks
//! the wishes of all threads in machine code, and sends a signal to those that should stop. A
//! signal may come too late, after the thread has left the machine code, and is ignored then. It
//! may also stop a later call, so callers of machine code check after each pause whether one is
//! wanted, and resume if not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two checks, and so the latency of a pause.
const INTERVAL: Duration = Duration::from_millis(5);

/// How long the monitor keeps checking after it last saw a watched thread.
const PATIENCE: Duration = Duration::from_millis(500);

/// Something that can ask for a pause.
pub trait Wish: Send + 'static {
    /// Whether the thread should stop now.
    fn is_wanted(&self) -> bool;
}

/// The handle for pausing a thread. It stays on its thread.
#[derive(Debug)]
pub struct Pausable<W: Wish> {
    slot: Arc<Slot<W>>,
    /// Not `Send`: the slot has the handle of this thread.
    _stays: std::marker::PhantomData<*const ()>,
}

/// Until this is dropped, machine code on the thread is paused when the wish asks for it.
#[derive(Debug)]
#[must_use]
pub struct Watching<'a, W: Wish>(&'a Slot<W>);

impl<W: Wish> Pausable<W> {
    /// A handle for this thread.
    #[must_use]
    pub fn current_thread() -> Self {
        let slot = Arc::new(Slot { thread: Thread::current(), wish: Mutex::new(None) });
        MONITOR.add(slot.clone());
        Self { slot, _stays: std::marker::PhantomData }
    }

    /// Pauses machine code on the thread when `wish` asks for it, until the result is dropped.
    pub fn watch(&self, wish: W) -> Watching<'_, W> {
        *lock(&self.slot.wish) = Some(wish);
        if MONITOR.is_asleep.load(Ordering::SeqCst) {
            MONITOR.wake();
        }
        Watching(&self.slot)
    }
}

impl<W: Wish> Drop for Pausable<W> {
    fn drop(&mut self) {
        // Signals are sent under this lock, so none is sent to the thread afterwards.
        let mine = Arc::as_ptr(&self.slot).cast::<()>();
        lock(&MONITOR.slots).retain(|slot| Arc::as_ptr(slot).cast::<()>() != mine);
    }
}

impl<W: Wish> Drop for Watching<'_, W> {
    fn drop(&mut self) {
        lock(&self.0.wish).take();
    }
}

/// A thread, and the wish that it obeys while it is in machine code.
#[derive(Debug)]
struct Slot<W> {
    thread: Thread,
    wish: Mutex<Option<W>>,
}

/// A slot with any type of wish.
trait AnySlot: Send + Sync {
    fn is_watched(&self) -> bool;
    fn pause_if_wanted(&self);
}

impl<W: Wish> AnySlot for Slot<W> {
    fn is_watched(&self) -> bool {
        lock(&self.wish).is_some()
    }

    fn pause_if_wanted(&self) {
        if lock(&self.wish).as_ref().is_some_and(Wish::is_wanted) {
            self.thread.pause();
        }
    }
}

/// The thread that pauses other threads, and what it watches.
#[derive(Default)]
struct Monitor {
    slots: Mutex<Vec<Arc<dyn AnySlot>>>,
    has_thread: AtomicBool,
    is_asleep: AtomicBool,
    changed: Condvar,
}

static MONITOR: LazyLock<Monitor> = LazyLock::new(Monitor::default);

impl Monitor {
    fn add(&self, slot: Arc<dyn AnySlot>) {
        lock(&self.slots).push(slot);
        if !self.has_thread.swap(true, Ordering::SeqCst) {
            let spawned = thread::Builder::new().name("pause".to_owned()).spawn(monitor);
            self.has_thread.store(spawned.is_ok(), Ordering::SeqCst);
        }
    }

    fn wake(&self) {
        // While this lock is held, the monitor is not between its last check and its sleep.
        let _slots = lock(&self.slots);
        self.changed.notify_one();
    }
}

/// The main loop of the monitor's thread.
fn monitor() {
    let mut last_seen = Instant::now();
    loop {
        let mut slots = lock(&MONITOR.slots);
        if slots.iter().any(|slot| slot.is_watched()) {
            last_seen = Instant::now();
        } else if last_seen.elapsed() > PATIENCE {
            MONITOR.is_asleep.store(true, Ordering::SeqCst);
            while !slots.iter().any(|slot| slot.is_watched()) {
                slots = MONITOR.changed.wait(slots).unwrap_or_else(PoisonError::into_inner);
            }
            MONITOR.is_asleep.store(false, Ordering::SeqCst);
            last_seen = Instant::now();
        }
        for slot in slots.iter() {
            slot.pause_if_wanted();
        }
        drop(slots);
        thread::sleep(INTERVAL);
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data under these locks is consistent at any time, so a panic in another thread does not
    // spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that can be sent a signal.
#[derive(Clone, Copy, Debug)]
struct Thread {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    handle: libc::pthread_t,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
impl Thread {
    fn current() -> Self {
        // SAFETY: has no preconditions.
        Self { handle: unsafe { libc::pthread_self() } }
    }

    fn pause(self) {
        // SAFETY: the thread is alive: before it ends, its `Pausable` takes the monitor's lock,
        // which is held here.
        unsafe { libc::pthread_kill(self.handle, crate::signals::PAUSE) };
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
impl Thread {
    fn current() -> Self {
        Self {}
    }

    fn pause(self) {}
}
