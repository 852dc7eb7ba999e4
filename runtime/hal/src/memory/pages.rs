//! Whole pages of memory and their access rights, which the system sets.
//!
//! On Windows nothing here is done, with an error that says so: machine code and guarded memory,
//! which need it, are for Linux and macOS.

/// What a program may do with pages, besides reading them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rights {
    Read,
    Write,
    Execute,
}

#[cfg(unix)]
pub(crate) use unix::{page_size, release, reserve, set_rights};

#[cfg(unix)]
mod unix {
    //! By `mmap` and `mprotect`.

    use std::ffi::c_void;
    use std::io;
    use std::ptr::{NonNull, null_mut};

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    use super::Rights;

    /// The size of a page, in bytes.
    pub(crate) fn page_size() -> usize {
        rustix::param::page_size()
    }

    /// Addresses without access, and without memory until rights are set.
    ///
    /// # Errors
    /// The system has none.
    pub(crate) fn reserve(length: usize) -> io::Result<NonNull<c_void>> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address that the system chooses.
        let mapping = unsafe { mmap_anonymous(null_mut(), length, ProtFlags::empty(), flags)? };
        NonNull::new(mapping).ok_or_else(|| io::Error::other("memory at address 0"))
    }

    /// Sets the rights of pages.
    ///
    /// # Errors
    /// The system refuses.
    ///
    /// # Safety
    /// The pages are mapped, and there are no references into them.
    pub(crate) unsafe fn set_rights(
        start: *mut c_void,
        length: usize,
        rights: Rights,
    ) -> io::Result<()> {
        let rights = match rights {
            Rights::Read => MprotectFlags::READ,
            Rights::Write => MprotectFlags::READ | MprotectFlags::WRITE,
            Rights::Execute => MprotectFlags::READ | MprotectFlags::EXEC,
        };
        // SAFETY: the caller's promise.
        unsafe { mprotect(start, length, rights) }.map_err(io::Error::from)
    }

    /// Gives back what [`reserve`] returned.
    ///
    /// # Safety
    /// Nothing uses it any more.
    pub(crate) unsafe fn release(start: *mut c_void, length: usize) {
        // SAFETY: the caller's promise.
        let _ = unsafe { munmap(start, length) };
    }
}

#[cfg(not(unix))]
pub(crate) use elsewhere::{page_size, release, reserve, set_rights};

#[cfg(not(unix))]
mod elsewhere {
    //! Not at all.

    use std::ffi::c_void;
    use std::io;
    use std::ptr::NonNull;

    use super::Rights;

    pub(crate) fn page_size() -> usize {
        4096
    }

    pub(crate) fn reserve(_length: usize) -> io::Result<NonNull<c_void>> {
        Err(unsupported())
    }

    pub(crate) unsafe fn set_rights(
        _start: *mut c_void,
        _length: usize,
        _rights: Rights,
    ) -> io::Result<()> {
        Err(unsupported())
    }

    pub(crate) unsafe fn release(_start: *mut c_void, _length: usize) {}

    fn unsupported() -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, "this works on Linux and macOS only")
    }
}
