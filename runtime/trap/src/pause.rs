//! Asking threads in machine code to stop.
//!
//! A thread in machine code looks at no flag. While it is there, one thread of this process looks for
//! it, and sends a signal to those that should stop. A signal can come too late, when the thread has
//! left the machine code; it is ignored then. It can also stop a later call, so whoever calls machine
//! code asks itself after each pause whether one is wanted, and goes on if not.

use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often is looked: how late a pause comes.
const INTERVAL: Duration = Duration::from_millis(5);

/// How long is looked for more after the last one.
const PATIENCE: Duration = Duration::from_millis(500);

/// Whether a thread should stop.
type IsWanted = Arc<dyn Fn() -> bool + Send + Sync>;

/// Looks after this thread until the result is dropped: once `is_wanted` says so, machine code that
/// the thread runs is paused.
pub fn watch(is_wanted: IsWanted) -> Watching {
    let mut state = lock(&MONITOR.state);
    state.last_id += 1;
    let id = state.last_id;
    state.threads.push(Watched { id, thread: Thread::current(), is_wanted });
    if !state.has_monitor {
        let spawned = thread::Builder::new().name("pause".to_owned()).spawn(monitor);
        state.has_monitor = spawned.is_ok();
    } else if state.is_asleep {
        MONITOR.changed.notify_one();
    }
    Watching(id)
}

/// A thread is looked after.
#[derive(Debug)]
#[must_use]
pub struct Watching(u64);

impl Drop for Watching {
    fn drop(&mut self) {
        // The lock is held while signals are sent, so none is sent to this thread from now on.
        lock(&MONITOR.state).threads.retain(|watched| watched.id != self.0);
    }
}

struct Watched {
    id: u64,
    thread: Thread,
    is_wanted: IsWanted,
}

#[derive(Default)]
struct State {
    threads: Vec<Watched>,
    last_id: u64,
    has_monitor: bool,
    is_asleep: bool,
}

#[derive(Default)]
struct Monitor {
    state: Mutex<State>,
    changed: Condvar,
}

static MONITOR: LazyLock<Monitor> = LazyLock::new(Monitor::default);

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // What these locks hold is whole at any time.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the monitor's thread does all its life.
fn monitor() {
    let mut last_seen = Instant::now();
    loop {
        let mut state = lock(&MONITOR.state);
        if !state.threads.is_empty() {
            last_seen = Instant::now();
        } else if last_seen.elapsed() > PATIENCE {
            state.is_asleep = true;
            while state.threads.is_empty() {
                state = MONITOR.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.is_asleep = false;
        }
        for watched in state.threads.iter().filter(|watched| (watched.is_wanted)()) {
            watched.thread.pause();
        }
        drop(state);
        thread::sleep(INTERVAL);
    }
}

/// A thread that can be sent a signal.
#[derive(Clone, Copy)]
struct Thread {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    handle: libc::pthread_t,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
impl Thread {
    fn current() -> Self {
        // SAFETY: asks only.
        Self { handle: unsafe { libc::pthread_self() } }
    }

    fn pause(self) {
        // SAFETY: the thread lives: it waits for our lock before it ends, as `Watching` is on its
        // stack.
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
