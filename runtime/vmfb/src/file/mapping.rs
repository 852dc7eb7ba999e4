//! Mapped memory: parts of files, and large blocks without a file. The unsafe calls of this crate
//! outside the FlatBuffer accessors are here.
//!
//! # Soundness
//!
//! Another process may write to a mapped file, or truncate it, at any time. So no reference to
//! mapped bytes is ever made: they are reached by address, and a read makes a copy that is checked
//! afterwards. Touching a page beyond the file's current end would raise SIGBUS. [`repair`], called
//! by a signal handler, puts a page of zeros there instead, and the access continues. Code that
//! shows mapped bytes asks [`crate::FileBytes::change`] whether the file is still the same.
//!
//! The handler reads the [`SLOTS`] of all mappings, which are atomic numbers, and calls `mmap`: it
//! takes no lock, allocates nothing, and preserves `errno`. An address outside all mappings goes to
//! the previous handler. The handler of crate `trap`, which is installed later, handles what
//! machine code touches and passes on the rest.

use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most files that are mapped at a time; more files are read.
const MAXIMUM: usize = 512;

/// The addresses of a mapping. `end` is 0 while the slot is free or not ready.
struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    /// Whether the pages may be written.
    is_private: AtomicUsize,
}

static SLOTS: [Slot; MAXIMUM] = [const {
    Slot { start: AtomicUsize::new(0), end: AtomicUsize::new(0), is_private: AtomicUsize::new(0) }
}; MAXIMUM];

/// Registers a range of addresses as a mapped file, until it is dropped.
struct Registration(&'static Slot);

impl Registration {
    /// `None` if there are too many mappings.
    fn new(address: usize, length: usize, is_private: bool) -> Option<Self> {
        handler::install();
        let take = |slot: &&Slot| {
            slot.start.compare_exchange(0, address, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let slot = SLOTS.iter().find(take)?;
        slot.is_private.store(usize::from(is_private), Ordering::Release);
        slot.end.store(address + length, Ordering::Release);
        Some(Self(slot))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.0.end.store(0, Ordering::Release);
        self.0.start.store(0, Ordering::Release);
    }
}

/// A file that is mapped for reading.
pub(crate) struct FileMapping {
    // Dropped first: addresses that are no longer mapped must not be registered.
    _registration: Registration,
    map: memmap2::MmapRaw,
}

impl FileMapping {
    /// Maps a whole file; `None` if the system does not, or too many are mapped.
    pub(crate) fn new(file: &File, length: usize) -> Option<Self> {
        let map = memmap2::MmapOptions::new().len(length).map_raw_read_only(file).ok()?;
        let registration = Registration::new(map.as_ptr() as usize, map.len(), false)?;
        Some(Self { _registration: registration, map })
    }

    /// The first address. It stays valid while the mapping lives.
    pub(crate) fn address(&self) -> *const u8 {
        self.map.as_ptr()
    }
}

/// A part of a file as private memory: writes stay here, and only the pages that are written are
/// copied. Or memory without a file.
pub struct PrivateMapping {
    _registration: Option<Registration>,
    map: memmap2::MmapMut,
}

impl PrivateMapping {
    /// Zeroed memory of no file, in large pages where the system has them.
    #[must_use]
    pub fn anonymous(length: usize) -> Option<Self> {
        let map = memmap2::MmapMut::map_anon(length).ok()?;
        // Small pages do as well.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Some(Self { _registration: None, map })
    }

    /// A part of a file.
    pub(crate) fn of_file(file: &File, offset: usize, length: usize) -> Option<Self> {
        let mut options = memmap2::MmapOptions::new();
        options.offset(offset as u64).len(length);
        // SAFETY: no reference to the bytes is made, here or by the callers that have their
        // address. Writes to the mapping do not reach the file.
        let mut map = unsafe { options.map_copy(file) }.ok()?;
        let registration = Registration::new(map.as_mut_ptr() as usize, map.len(), true)?;
        Some(Self { _registration: Some(registration), map })
    }

    /// The first address. It stays valid while the mapping lives.
    pub fn address(&mut self) -> *mut u8 {
        self.map.as_mut_ptr()
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
}

/// Puts zeros where a mapped file no longer has bytes: from the page of `address` to the end of the
/// mapping. Returns whether the address is in a mapped file; if so, it can be accessed now. A
/// signal handler may call this.
#[cfg(unix)]
#[must_use]
fn repair(address: usize) -> bool {
    let found = SLOTS.iter().find(|slot| {
        let end = slot.end.load(Ordering::Acquire);
        slot.start.load(Ordering::Acquire) <= address && address < end
    });
    let Some(slot) = found else { return false };
    let is_private = slot.is_private.load(Ordering::Acquire) != 0;
    handler::put_zeros(address, slot.end.load(Ordering::Acquire), is_private)
}

#[cfg(unix)]
mod handler {
    //! The SIGBUS handler, which stays as long as the process lives.

    use std::sync::{Once, OnceLock};

    use trap::PreviousAction;

    static INSTALLED: Once = Once::new();
    static BEFORE: OnceLock<PreviousAction> = OnceLock::new();

    /// Installs the handler that repairs reads of truncated files.
    pub(super) fn install() {
        INSTALLED.call_once(|| {
            let Ok(before) = PreviousAction::of(libc::SIGBUS) else { return };
            let _ = BEFORE.set(before);
            // Without the handler, a truncated file ends the process.
            // SAFETY: the handler does only what signal handlers may do: see the top of this file.
            let _ = unsafe { trap::install(libc::SIGBUS, on_bus_error) };
        });
    }

    unsafe extern "C" fn on_bus_error(
        signal: libc::c_int,
        info: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        // SAFETY: the system passes a valid pointer.
        let address = unsafe { (*info).si_addr() } as usize;
        if !super::repair(address)
            && let Some(before) = BEFORE.get()
        {
            // SAFETY: these are the arguments that the system passed.
            unsafe { before.pass_on(signal, info, context) };
        }
    }

    /// Maps zeros over a range of addresses; returns whether that worked.
    pub(super) fn put_zeros(address: usize, end: usize, is_private: bool) -> bool {
        // SAFETY: the call has no conditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let Ok(page) = usize::try_from(page) else { return false };
        let start = address & !(page.max(1) - 1);
        let rights = if is_private { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the range is inside one of our mappings, as `repair` found; it stays mapped, with
        // the same rights. Its bytes are only reached by address, by code that expects any values.
        unsafe {
            let errno = errno();
            let before = *errno;
            let made = libc::mmap(start as *mut libc::c_void, end - start, rights, flags, -1, 0);
            *errno = before;
            made != libc::MAP_FAILED
        }
    }

    /// The address of this thread's `errno`.
    fn errno() -> *mut libc::c_int {
        // SAFETY: the call has no conditions.
        #[cfg(any(target_os = "linux", target_os = "emscripten"))]
        unsafe {
            libc::__errno_location()
        }
        // SAFETY: the call has no conditions.
        #[cfg(any(target_os = "macos", target_os = "ios", target_os = "freebsd"))]
        unsafe {
            libc::__error()
        }
    }
}

#[cfg(not(unix))]
mod handler {
    //! Windows does not truncate a file that is mapped.

    pub(super) fn install() {}
}
