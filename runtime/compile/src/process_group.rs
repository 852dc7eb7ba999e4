//! Programs that do not outlive whoever started them, nor do the programs that they start in turn:
//! pip's `iree-compile` is a script, and the compiler a child of it.
//!
//! ```text
//!   us ──────────── pipe ───────────> guard (a shell, leader of a process group)
//!    └── program ── its children          │
//!        all of them in that group <──────┘ kills the group when the pipe ends
//! ```
//!
//! The pipe ends when the group is dropped here, and also when this process dies, however it dies:
//! then the system closes it. So nobody has to catch signals, and SIGKILL is no exception.

use std::io;
use std::process::{Child, Command, Stdio};

/// What the guard does: it waits for the end of its input, then kills its group, itself included.
const WATCH: &str = "read -r _; kill -9 0";

/// Programs that end together. Dropping it ends them.
#[derive(Debug)]
pub struct ProcessGroup {
    guard: Child,
}

impl ProcessGroup {
    /// A group of no program yet.
    ///
    /// # Errors
    /// This system has no `/bin/sh`, or cannot start it.
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

    /// Lets a program start in this group.
    pub fn add(&self, command: &mut Command) {
        // The guard is not waited for before the end, so its number is nobody else's.
        enter(command, self.guard.id());
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        // It has sent the signals when it is gone itself.
        let _ = self.guard.wait();
    }
}

/// Lets a program start in a process group; 0 is a new one.
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

    /// How many processes have an argument.
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
