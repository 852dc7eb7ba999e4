//! The child's side: entering it, closing it, and serving requests.

use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

use rustix::mm::{MprotectFlags, ProtFlags};
use rustix::process::{Pid, Signal};

use crate::child::{ALL_RIGHTS, CHANGE_WORDS, CLOSED, FAILED, INTERRUPT, MOST_CHANGES};
use crate::memory::map;
use crate::page::{Page, Side, WORDS};
use crate::rules;

/// The child, as it sees itself. Two threads share it: one takes messages, one serves requests.
#[derive(Debug)]
pub struct Inside {
    stream: File,
    page: Page,
    /// The memory: its address and its length.
    memory: (usize, usize),
    has_landlock: bool,
    /// Whether it is only apart from its owner: see [`crate::Rights::All`].
    has_all_rights: bool,
}

/// A message of the owner.
#[derive(Debug)]
pub enum Message {
    /// The request with this number is to be answered soon.
    Interrupt(u32),
    /// Another message, of a kind that is not 0.
    Other(u8, Vec<u8>),
}

/// The requests, for the thread that serves them.
#[derive(Debug)]
pub struct Requests {
    inside: Arc<Inside>,
    seen: u32,
}

impl Inside {
    /// Makes this process a child: it takes what the owner has sent, and gives up files and
    /// networks. The program has no other thread yet, and nothing of it is open.
    ///
    /// # Errors
    /// The process was not started as a child.
    pub fn enter() -> io::Result<Arc<Self>> {
        // SAFETY: nothing in this process owns a descriptor yet, besides the three standard ones.
        unsafe { libc::close_range(3, u32::MAX, 0) };
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        let stream = File::from(standard(0).try_clone_to_owned()?);
        Self::enter_by(&stream).inspect_err(|error| {
            // The owner hears it, or has ended.
            let _ = send(&stream, FAILED, error.to_string().as_bytes());
        })
    }

    fn enter_by(mut stream: &File) -> io::Result<Arc<Self>> {
        let mut greeting = [0; 32];
        stream.read_exact(&mut greeting)?;
        let number = |at: usize| {
            let bytes = greeting[8 * at..].first_chunk().copied().unwrap_or_default();
            u64::from_le_bytes(bytes)
        };
        let owner = Pid::from_raw(number(3) as i32);
        if rustix::process::getppid() != owner {
            return Err(io::Error::other("the owner has ended"));
        }
        let (base, length) = (number(0) as usize, number(1) as usize);
        let address = std::ptr::with_exposed_provenance_mut::<c_void>(base);
        // Pages that nothing has used yet fault. Writing is a right of the file.
        let mapped = map(standard(1), address, length, ProtFlags::empty())?;
        let page = Page::map(standard(2), Side::Child)?;
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(&nothing)?;
        rustix::stdio::dup2_stderr(&nothing)?;
        drop(nothing);
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| io::Error::other(error);
        let has_all_rights = number(2) == ALL_RIGHTS;
        let has_landlock = !has_all_rights && rules::restrict_files().map_err(failed)?;
        if !has_all_rights {
            rules::limit(number(2))?;
        }
        let memory = (mapped.as_ptr().expose_provenance(), length);
        let stream = stream.try_clone()?;
        Ok(Arc::new(Self { stream, page, memory, has_landlock, has_all_rights }))
    }

    /// Leaves all threads of this process only what computing takes, unless it has all rights, and
    /// tells the owner. No thread can be started afterwards.
    ///
    /// # Errors
    /// The system does not do it; the owner hears of that.
    pub fn close(&self) -> io::Result<()> {
        if self.has_all_rights {
            return self.send(CLOSED, &[0]);
        }
        let stream = self.stream.as_raw_fd().unsigned_abs().into();
        match rules::restrict_calls(stream) {
            Ok(()) => self.send(CLOSED, &[self.has_landlock.into()]),
            Err(error) => {
                self.refuse(&error.to_string());
                Err(io::Error::other(error))
            }
        }
    }

    /// Tells the owner why this process is no sandbox.
    pub fn refuse(&self, reason: &str) {
        // The owner hears it, or has ended.
        let _ = self.send(FAILED, reason.as_bytes());
    }

    /// Says how far the request has come.
    pub fn set_progress(&self, progress: u64) {
        self.page.set_progress(progress);
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The owner has ended.
    pub fn send(&self, kind: u8, bytes: &[u8]) -> io::Result<()> {
        send(&self.stream, kind, bytes)
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// The owner has ended.
    pub fn receive(&self) -> io::Result<Message> {
        let mut head = [0; 9];
        (&self.stream).read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        (&self.stream).read_exact(&mut bytes)?;
        Ok(match (kind, bytes.first_chunk()) {
            (INTERRUPT, Some(number)) => Message::Interrupt(u32::from_le_bytes(*number)),
            _ => Message::Other(kind, bytes),
        })
    }

    /// Where the memory is, and how many addresses it has.
    #[must_use]
    pub fn memory(&self) -> (usize, usize) {
        self.memory
    }

    /// The requests. One thread serves them.
    #[must_use]
    pub fn requests(self: &Arc<Self>) -> Requests {
        Requests { inside: self.clone(), seen: 0 }
    }

    /// Makes pages of the memory accessible, or not.
    fn change(&self, words: &[u64]) -> io::Result<()> {
        for change in words.chunks_exact(CHANGE_WORDS) {
            let [start, length, is_accessible] = [0, 1, 2].map(|at| change[at] as usize);
            let (base, most) = self.memory;
            let offset = start.wrapping_sub(base);
            if offset > most || length > most - offset {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let rights = match is_accessible {
                0 => MprotectFlags::empty(),
                _ => MprotectFlags::READ | MprotectFlags::WRITE,
            };
            let start = std::ptr::with_exposed_provenance_mut(start);
            // SAFETY: pages of the memory, to which this process has no references.
            unsafe { rustix::mm::mprotect(start, length, rights)? };
        }
        Ok(())
    }
}

fn send(mut stream: &File, kind: u8, bytes: &[u8]) -> io::Result<()> {
    let mut message = vec![kind];
    message.extend((bytes.len() as u64).to_le_bytes());
    message.extend(bytes);
    stream.write_all(&message)
}

/// One of the three descriptors that the owner has passed: the socket, the memory, the page.
fn standard(number: i32) -> BorrowedFd<'static> {
    // SAFETY: a program starts with these open; here they are replaced, and never closed.
    unsafe { BorrowedFd::borrow_raw(number) }
}

impl Requests {
    /// Waits for the next request, which has a number.
    ///
    /// # Errors
    /// The request makes no sense, or the system does not change the memory as the owner wants it.
    pub fn wait(&mut self) -> io::Result<(u32, Vec<u64>)> {
        loop {
            let page = &self.inside.page;
            let found = page.look(self.seen).or_else(|| page.sleep(self.seen, None));
            let Some(number) = found else { continue };
            self.seen = number;
            let head = page.words(2);
            let [changes, count] = [0, 1].map(|at| head[at] as usize);
            let total = 2 + changes.min(MOST_CHANGES) * CHANGE_WORDS + count.min(WORDS);
            let mut words = page.words(total);
            let request = words.split_off((2 + changes * CHANGE_WORDS).min(words.len()));
            self.inside.change(&words[2..])?;
            if !request.is_empty() {
                return Ok((number, request));
            }
            self.answer(&[]);
        }
    }

    /// Answers the last request.
    pub fn answer(&self, words: &[u64]) {
        let mut answer = vec![words.len() as u64];
        answer.extend(words.iter().take(WORDS - 1));
        self.inside.page.set_words(&answer);
        self.inside.page.post(self.seen);
    }
}
