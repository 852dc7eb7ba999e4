//! The owner's side: starting a child, asking it, ending it.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::MemfdFlags;

use crate::memory::{Change, SharedMemory};
use crate::page::{self, Page, Side, WORDS};

/// How often an owner that waits looks whether the child is alive, and whether it should go on.
const INTERVAL: Duration = Duration::from_millis(3);

/// How long a child may take to answer that was told to, before it is ended.
const GRACE: Duration = Duration::from_secs(5);

/// How long a child may take to start.
const START: Duration = Duration::from_secs(20);

/// A longer message is none.
const MAXIMUM_MESSAGE: u64 = 256 << 20;

/// The kind of message by which a child is told to answer: see [`Child::call`].
pub(crate) const INTERRUPT: u8 = 0;

/// The kind of message by which a child says that it has closed itself in.
pub(crate) const CLOSED: u8 = 0;

/// How a child says that it could not.
pub(crate) const FAILED: u8 = 1;

/// Words of a change, and how many changes come with a request.
pub(crate) const CHANGE_WORDS: usize = 3;
pub(crate) const MOST_CHANGES: usize = 1_000;

/// The program that becomes the child.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its file. With [`crate::ARGUMENT`] as its only argument it must call
    /// [`crate::Inside::enter`].
    pub file: PathBuf,
    /// What it may do.
    pub rights: Rights,
}

/// What a child may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rights {
    /// Compute, and nothing else.
    Compute {
        /// How many bytes it may take for itself.
        memory: u64,
    },
    /// All that its owner may do: it is only apart, so that what goes wrong in it stays there.
    All,
}

/// The word for [`Rights::All`] in the place of a number of bytes.
pub(crate) const ALL_RIGHTS: u64 = u64::MAX;

/// A child, which ends when this is dropped.
#[derive(Debug)]
pub struct Child {
    memory: Arc<SharedMemory>,
    page: Page,
    stream: UnixStream,
    process: Mutex<std::process::Child>,
    asked: Mutex<Asked>,
    /// Whether files are taken from it by Landlock, too.
    has_landlock: bool,
}

/// What a child has been asked and told.
#[derive(Debug, Default)]
struct Asked {
    number: u32,
    /// How many changes of its memory.
    changes: usize,
}

/// Why a child does not answer.
#[derive(Debug)]
pub enum Gone {
    /// Its process has ended.
    Ended(ExitStatus),
    /// It was told to answer, did not, and was ended.
    Silent,
    /// What it says makes no sense.
    Nonsense,
    /// The system has failed.
    System(io::Error),
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(status) => match (status.signal(), status.code()) {
                (Some(libc::SIGSYS), _) => f.write_str(
                    "it has ended: it made a system call that the sandbox does not allow",
                ),
                (Some(libc::SIGKILL), _) => {
                    f.write_str("it was killed (signal 9), perhaps for want of memory")
                }
                (Some(signal), _) => write!(f, "it has ended by signal {signal}"),
                (None, Some(code)) => write!(f, "it has ended with status {code}"),
                (None, None) => f.write_str("it has ended"),
            },
            Self::Silent => write!(f, "it did not stop within {} s", GRACE.as_secs()),
            Self::Nonsense => f.write_str("what it answered makes no sense"),
            Self::System(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Gone {}

impl From<io::Error> for Gone {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// What a waiting owner wants.
type Wanted<'a> = &'a mut dyn FnMut() -> bool;

impl Child {
    /// Starts a child that has this memory.
    ///
    /// # Errors
    /// The program does not start, or cannot close itself in.
    pub fn start(program: &Program, memory: &Arc<SharedMemory>) -> Result<Self, Gone> {
        let (stream, theirs) = UnixStream::pair()?;
        let file = rustix::fs::memfd_create("iree-dbg requests", MemfdFlags::CLOEXEC)
            .map_err(io::Error::from)?;
        rustix::fs::ftruncate(&file, page::BYTES as u64).map_err(io::Error::from)?;
        let page = Page::map(&file, Side::Owner)?;
        let mut command = Command::new(&program.file);
        command.arg0("iree-dbg").arg(crate::ARGUMENT).current_dir("/");
        let memory_word = match program.rights {
            Rights::Compute { memory } => {
                command.env_clear();
                memory.min(ALL_RIGHTS - 1)
            }
            Rights::All => ALL_RIGHTS,
        };
        // An interrupt from the keyboard is for the owner.
        command.process_group(0);
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        command.stdout(Stdio::from(memory.file().try_clone_to_owned()?));
        command.stderr(Stdio::from(file));
        let child = Self {
            memory: memory.clone(),
            page,
            stream,
            process: Mutex::new(spawn(command)?),
            asked: Mutex::default(),
            has_landlock: false,
        };
        child.stream.set_read_timeout(Some(INTERVAL))?;
        child.stream.set_write_timeout(Some(GRACE))?;
        let (base, reserved) = memory.place();
        let own = u64::from(std::process::id());
        let greeting = [base as u64, reserved as u64, memory_word, own];
        child.write(&greeting.map(u64::to_le_bytes).concat())?;
        Ok(child)
    }

    /// Waits until the child has closed itself in.
    ///
    /// # Errors
    /// It could not, or has ended.
    pub fn closed(mut self) -> Result<Self, Gone> {
        let began = Instant::now();
        let (kind, bytes) = self.receive(&mut || began.elapsed() > START)?;
        if kind == FAILED {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return Err(io::Error::other(text).into());
        }
        self.has_landlock = bytes == [1];
        Ok(self)
    }

    /// Whether Landlock holds it, besides the rules for system calls.
    #[must_use]
    pub fn has_landlock(&self) -> bool {
        self.has_landlock
    }

    /// How far the request has come, as the child last said, or the owner.
    #[must_use]
    pub fn progress(&self) -> u64 {
        self.page.progress()
    }

    /// Notes where the next request begins.
    pub fn set_progress(&self, progress: u64) {
        self.page.set_progress(progress);
    }

    /// Asks the child and waits for its answer. `is_stopping` is asked every few milliseconds; once
    /// it says so, the child is told to answer soon.
    ///
    /// # Errors
    /// It does not answer any more.
    pub fn call(&self, request: &[u64], is_stopping: Wanted<'_>) -> Result<Vec<u64>, Gone> {
        let mut asked = lock(&self.asked);
        let mut changes = self.memory.changes(asked.changes);
        asked.changes += changes.len();
        while changes.len() > MOST_CHANGES {
            let rest = changes.split_off(MOST_CHANGES);
            self.ask(&mut asked, &changes, &[], &mut || false)?;
            changes = rest;
        }
        self.ask(&mut asked, &changes, request, is_stopping)
    }

    fn ask(
        &self,
        asked: &mut Asked,
        changes: &[Change],
        request: &[u64],
        is_stopping: Wanted<'_>,
    ) -> Result<Vec<u64>, Gone> {
        let mut words = vec![changes.len() as u64, request.len() as u64];
        for change in changes {
            let Change { start, length, is_accessible } = *change;
            words.extend([start as u64, length as u64, is_accessible.into()]);
        }
        words.extend(request);
        if words.len() > WORDS {
            return Err(io::Error::from(io::ErrorKind::ArgumentListTooLong).into());
        }
        self.page.set_words(&words);
        let seen = asked.number;
        asked.number = asked.number.wrapping_add(1);
        self.page.post(asked.number);
        let found = match self.page.look(seen) {
            Some(number) => number,
            None => self.wait(seen, asked.number, is_stopping)?,
        };
        let [count] = self.page.words(1)[..] else { return Err(Gone::Nonsense) };
        if found != asked.number || count >= WORDS as u64 {
            return Err(Gone::Nonsense);
        }
        Ok(self.page.words(count as usize + 1).split_off(1))
    }

    fn wait(&self, seen: u32, number: u32, is_stopping: Wanted<'_>) -> Result<u32, Gone> {
        let mut told: Option<Instant> = None;
        loop {
            if is_stopping() && told.is_none() {
                self.send(INTERRUPT, &number.to_le_bytes())?;
                told = Some(Instant::now());
            }
            if let Some(found) = self.page.sleep(seen, Some(INTERVAL)) {
                return Ok(found);
            }
            self.check(told)?;
        }
    }

    /// Fails if the process has ended, or does not do what it was told at that time.
    fn check(&self, told: Option<Instant>) -> Result<(), Gone> {
        if let Some(status) = lock(&self.process).try_wait()? {
            return Err(Gone::Ended(status));
        }
        if told.is_some_and(|told| told.elapsed() > GRACE) {
            self.end();
            return Err(Gone::Silent);
        }
        Ok(())
    }

    /// Sends a message of a kind other than 0.
    ///
    /// # Errors
    /// It takes no messages any more.
    pub fn send(&self, kind: u8, bytes: &[u8]) -> Result<(), Gone> {
        let mut message = vec![kind];
        message.extend((bytes.len() as u64).to_le_bytes());
        message.extend(bytes);
        self.write(&message)
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Gone> {
        // The standard library does not raise SIGPIPE for a socket.
        (&self.stream).write_all(bytes).map_err(|error| self.why(error))
    }

    /// Waits for a message of the child.
    ///
    /// # Errors
    /// It has ended; or `is_over` said that it had to come by now, and the child was ended.
    pub fn receive(&self, is_over: Wanted<'_>) -> Result<(u8, Vec<u8>), Gone> {
        let mut head = [0; 9];
        self.read(&mut head, is_over)?;
        let [kind, length @ ..] = head;
        let length = u64::from_le_bytes(length);
        if length > MAXIMUM_MESSAGE {
            return Err(Gone::Nonsense);
        }
        // Room is made for what comes, not for what is announced.
        let mut bytes = Vec::new();
        let mut left = length as usize;
        while left > 0 {
            let mut part = vec![0; left.min(1 << 20)];
            self.read(&mut part, is_over)?;
            left -= part.len();
            bytes.extend(part);
        }
        Ok((kind, bytes))
    }

    fn read(&self, target: &mut [u8], is_over: Wanted<'_>) -> Result<(), Gone> {
        let mut read = 0;
        while read < target.len() {
            match (&self.stream).read(&mut target[read..]) {
                Ok(0) => return Err(self.why(io::ErrorKind::UnexpectedEof.into())),
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.check(None)?;
                    if is_over() {
                        self.end();
                        return Err(Gone::Silent);
                    }
                }
                Err(error) => return Err(self.why(error)),
            }
        }
        Ok(())
    }

    /// Why the socket fails: mostly since the process has ended.
    fn why(&self, error: io::Error) -> Gone {
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(100) {
            match lock(&self.process).try_wait() {
                Ok(Some(status)) => return Gone::Ended(status),
                _ => thread::sleep(Duration::from_millis(1)),
            }
        }
        self.end();
        Gone::System(error)
    }

    /// Ends the process.
    pub fn end(&self) {
        let mut process = lock(&self.process);
        let _ = process.kill();
        let _ = process.wait();
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is under these locks is whole at any time.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Spawned = io::Result<std::process::Child>;

/// What to start, and who waits for it.
type Order = (Command, Sender<Spawned>);

/// A thread that lives as long as this process: the system ends a child with the thread that has
/// started it.
static SPAWNER: LazyLock<Option<Mutex<Sender<Order>>>> = LazyLock::new(|| {
    let (sender, commands) = mpsc::channel::<Order>();
    let spawn = move || {
        for (mut command, answer) in commands {
            let _ = answer.send(command.spawn());
        }
    };
    let thread = thread::Builder::new().name("sandboxes".to_owned()).spawn(spawn);
    thread.is_ok().then(|| Mutex::new(sender))
});

fn spawn(command: Command) -> Spawned {
    let no_thread = || io::Error::other("no thread for starting sandboxes");
    let (sender, answer) = mpsc::channel();
    let spawner = SPAWNER.as_ref().ok_or_else(no_thread)?;
    lock(spawner).send((command, sender)).map_err(|_| no_thread())?;
    answer.recv().map_err(|_| no_thread())?
}
