//! [`Scratch`]: a private folder for files that other programs read or write.
//!
//! ```text
//!   us ─── pipe ───> guard (a shell)
//!    └── folder <────── removes it when the pipe ends without a word
//! ```
//!
//! The folder goes when it is dropped. A process that is ended by a signal drops nothing; then the
//! guard sees the pipe end, as the guard of `process_group` does, and removes the folder.

use std::io;
use std::path::Path;

use tempfile::{Builder, TempDir};

/// A folder that only its user can open. Dropping it removes it, and so does the end of the
/// process, in whatever way it ends.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// Without one, the folder stays if a signal ends the process.
    guard: Option<Guard>,
    is_kept: bool,
}

impl Scratch {
    /// Makes a folder among temporary files. Its name begins with the prefix.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(prefix: &str) -> io::Result<Self> {
        Self::beside(&std::env::temp_dir(), prefix)
    }

    /// Makes a folder within another one, so that files can be renamed from it into that one.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn beside(parent: &Path, prefix: &str) -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix(prefix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let folder = builder.tempdir_in(std::path::absolute(parent)?)?;
        let guard = Guard::of(folder.path()).ok();
        Ok(Self { folder, guard, is_kept: false })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder to the user.
    pub fn keep(mut self) {
        self.is_kept = true;
        self.folder.disable_cleanup(true);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nothing can be done for what cannot be removed; the guard could not, either.
            let _ = std::fs::remove_dir_all(self.folder.path());
        }
        drop(self.guard.take());
    }
}

#[cfg(unix)]
use unix::Guard;

#[cfg(unix)]
mod unix {
    use std::io::{self, Write};
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    /// It waits for a line, and removes the folder if there is none. Signals of the terminal are
    /// for others.
    const WATCH: &str = "trap '' HUP INT QUIT TERM; read -r _ || exec /bin/rm -rf -- \"$1\"";

    /// The shell that removes a folder.
    #[derive(Debug)]
    pub(super) struct Guard(Child);

    impl Guard {
        pub(super) fn of(folder: &Path) -> io::Result<Self> {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", WATCH, "sh"]).arg(folder).env_clear().current_dir("/");
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            command.process_group(0);
            command.spawn().map(Self)
        }

        /// Ends the pipe as the end of the process does.
        #[cfg(test)]
        pub(super) fn abandoned(mut self) {
            drop(self.0.stdin.take());
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            if let Some(mut pipe) = self.0.stdin.take() {
                // If it has ended already, the folder is gone.
                let _ = pipe.write_all(b"\n");
            }
            let _ = self.0.wait();
        }
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
struct Guard;

#[cfg(not(unix))]
impl Guard {
    fn of(_folder: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::{Duration, Instant};

    #[test]
    fn it_is_private_and_goes_when_it_is_dropped() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::beside(parent.path(), "x-").unwrap();
        let mode = scratch.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        std::fs::write(scratch.path().join("file"), "text").unwrap();
        drop(scratch);
        assert_eq!(parent.path().read_dir().unwrap().count(), 0);
    }

    /// What a process leaves that is killed: a pipe that ends without a word.
    #[test]
    fn it_goes_when_nothing_drops_it() {
        let parent = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::beside(parent.path(), "-x ' \n").unwrap();
        std::fs::write(scratch.path().join("file"), "text").unwrap();
        let guard = scratch.guard.take().unwrap();
        guard.abandoned();
        let deadline = Instant::now() + Duration::from_secs(60);
        while scratch.path().exists() {
            assert!(Instant::now() < deadline, "it stays");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
