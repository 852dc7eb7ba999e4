//! The limits of a try: a minute, and half a gigabyte more than all tries before it.

use std::process;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(60);
const MEMORY: u64 = 512 << 20;

/// The current try.
static CURRENT: Mutex<Option<(String, u64, Instant)>> = Mutex::new(None);
static GUARD: Once = Once::new();

pub(crate) struct Try {
    peak: u64,
}

impl Try {
    pub(crate) fn begin(target: &str, seed: u64) -> Self {
        GUARD.call_once(|| drop(thread::spawn(watch)));
        *current() = Some((target.to_owned(), seed, Instant::now()));
        Self { peak: peak_memory() }
    }

    /// # Panics
    /// The try took too much memory.
    pub(crate) fn check_memory(&self) {
        let more = peak_memory().saturating_sub(self.peak);
        assert!(more < MEMORY, "it took {} MiB", more >> 20);
    }
}

impl Drop for Try {
    fn drop(&mut self) {
        *current() = None;
    }
}

fn current() -> std::sync::MutexGuard<'static, Option<(String, u64, Instant)>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the process if a try does not end: nothing else can.
fn watch() {
    loop {
        thread::sleep(Duration::from_secs(1));
        if let Some((target, seed, began)) = &*current()
            && began.elapsed() > TIME
        {
            println!("{target} --seed={seed} --count=1: it does not end");
            println!("0 passed, 1 failed");
            process::exit(1);
        }
    }
}

/// The peak memory of this process, in bytes; 0 where the system does not tell.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}
