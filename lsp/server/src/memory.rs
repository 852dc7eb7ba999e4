//! Memory that was used once and is free: the allocator of Linux keeps it, so the server asks it to
//! give it back when work on long texts has ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long nothing may ask before it is done: it takes milliseconds, in which other threads wait
/// for memory.
const REST: Duration = Duration::from_secs(3);

/// How often it was asked for.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// Gives memory back after a rest.
pub(crate) fn give_back_after_rest() {
    let mine = ASKED.fetch_add(1, Ordering::Relaxed) + 1;
    tokio::spawn(async move {
        tokio::time::sleep(REST).await;
        if ASKED.load(Ordering::Relaxed) == mine {
            let _ = tokio::task::spawn_blocking(give_back).await;
        }
    });
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() {
    // SAFETY: the call takes no pointer and frees nothing that is in use; the allocator locks its
    // own data, so any thread may make it.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators give memory back themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::give_back;

    /// Megabytes of this process in memory.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
    }

    #[test]
    fn what_is_free_is_given_back() {
        let mut small: Vec<Box<[u8]>> = (0..400_000).map(|_| vec![1; 200].into()).collect();
        // The last one holds the allocator's heap open.
        small.drain(..small.len() - 1);
        let before = resident();
        give_back();
        let after = resident();
        assert!(after + 40 < before, "{before} MB, then {after} MB");
        drop(small);
    }
}
