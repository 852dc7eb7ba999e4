//! Processes that end together with the process that started them, and so do their own children:
//! pip's `iree-compile` is a script, and the compiler its child.
//!
//! ```text
//!   us ──────────── pipe ───────────> guard (a shell, leader of a process group)
//!    └── program ── its children          │
//!        all of them in that group <──────┘ kills the group when the pipe ends
//! ```
//!
//! Dropping the group closes the pipe. The system closes it too when this process dies, in whatever
//! way, SIGKILL included, so no signal handler is needed.

use std::io;
use std::process::{Child, Command, Output, Stdio};

/// The guard's script: it waits for the end of its input, then kills its group, itself included.
const WATCH: &str = "read -r _; kill -9 0";

/// Processes that end together. Dropping the group ends them.
#[derive(Debug)]
pub struct ProcessGroup {
    guard: Child,
}

impl ProcessGroup {
    /// Makes an empty group.
    ///
    /// # Errors
    /// The system has no `/bin/sh`, or cannot start it.
    pub fn new() -> io::Result<Self> {
        if !cfg!(unix) {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WATCH]).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        enter(&mut command, 0);
        Ok(Self { guard: command.spawn()? })
    }

    /// Runs a program to its end. It and its children end with this process.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn output(command: &mut Command) -> io::Result<Output> {
        let group = Self::new().ok();
        if let Some(group) = &group {
            group.add(command);
        }
        command.output()
    }

    /// Makes a command start in this group.
    pub fn add(&self, command: &mut Command) {
        // The guard is reaped only in `drop`, so its process ID cannot belong to another process
        // yet.
        enter(command, self.guard.id());
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        // Once the guard itself has ended, it has sent the signals.
        let _ = self.guard.wait();
    }
}

/// Makes a command start in a process group; 0 stands for a new one.
#[cfg(unix)]
fn enter(command: &mut Command, group: u32) {
    use std::os::unix::process::CommandExt;

    if let Ok(group) = i32::try_from(group) {
        command.process_group(group);
    }
}

#[cfg(not(unix))]
fn enter(_command: &mut Command, _group: u32) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// The number of processes whose command line contains the marker.
    fn count(marker: &str) -> usize {
        let processes = std::fs::read_dir("/proc").expect("this is Linux").flatten();
        let lines = processes.map(|it| std::fs::read(it.path().join("cmdline")));
        lines.flatten().filter(|line| String::from_utf8_lossy(line).contains(marker)).count()
    }

    fn becomes(marker: &str, expected: usize) -> bool {
        let deadline = Instant::now() + Duration::from_secs(60);
        while count(marker) != expected {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    #[test]
    fn children_of_children_end_with_the_group() {
        let marker = format!("100{}", std::process::id());
        let group = ProcessGroup::new().expect("there is a shell");
        let script = format!("sleep {marker} & wait");
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        group.add(&mut command);
        let mut wrapper = command.spawn().expect("there is a shell");
        assert!(becomes(&format!("sleep\0{marker}"), 1));
        drop(group);
        assert!(!wrapper.wait().expect("it is ours").success());
        assert!(becomes(&marker, 0));
    }
}
