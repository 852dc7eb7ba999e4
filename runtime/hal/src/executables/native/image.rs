//! Machine code in memory: where it is, which parts may be read and executed, and what keeps it
//! mapped.
//!
//! # Soundness
//!
//! An [`Image`] owns the mapping that its segments are in, so addresses within them stay valid
//! until it is dropped. Reading copies bytes from readable segments after a check of the range.
//! Code in the image may change its data, so no references to the memory are made once code may
//! run.

use std::ops::Range;

use memmap2::MmapMut;
use vm::Status;

use crate::memory::pages::{self, Rights};

/// A part of an image, with its access rights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    /// Offsets from the start of the image.
    pub(super) range: Range<usize>,
    pub(super) is_writable: bool,
    pub(super) is_executable: bool,
}

/// The owner of the mapping, which unmaps it when dropped.
#[derive(Debug)]
enum Owner {
    Mapping { _memory: MmapMut },
    Library { _library: libloading::Library },
}

/// Mapped and relocated code and data.
#[derive(Debug)]
pub(super) struct Image {
    base: usize,
    segments: Vec<Segment>,
    _owner: Owner,
}

impl Image {
    /// Makes an image of memory with relocated contents. Every segment gets exactly its access
    /// rights, so that executable memory is not writable.
    ///
    /// # Errors
    /// The system does not set the rights.
    pub(super) fn protect(memory: MmapMut, segments: Vec<Segment>) -> Result<Self, Status> {
        let page = pages::page_size();
        let base = memory.as_ptr().addr();
        // Memory outside of the segments is read-only.
        set_rights(&memory, 0..memory.len(), Rights::Read)?;
        for segment in &segments {
            let rights = match segment {
                Segment { is_executable: true, .. } => Rights::Execute,
                Segment { is_writable: true, .. } => Rights::Write,
                _ => Rights::Read,
            };
            let start = segment.range.start / page * page;
            let end = segment.range.end.next_multiple_of(page).min(memory.len());
            set_rights(&memory, start..end, rights)?;
            if segment.is_executable {
                flush_instructions(base + start, base + end);
            }
        }
        Ok(Self { base, segments, _owner: Owner::Mapping { _memory: memory } })
    }

    /// The image of a library that the system has loaded at `base`.
    ///
    /// # Safety
    /// The library's memory from `base` has these segments.
    pub(super) unsafe fn of_library(
        library: libloading::Library,
        base: usize,
        segments: Vec<Segment>,
    ) -> Self {
        Self { base, segments, _owner: Owner::Library { _library: library } }
    }

    /// The address of an offset.
    pub(super) fn address(&self, offset: usize) -> usize {
        self.base.wrapping_add(offset)
    }

    /// Whether code at the address may be executed.
    pub(super) fn is_code(&self, address: usize) -> bool {
        self.offset_of_code(address).is_some()
    }

    /// The offset of an address of code; `None` if the image has no code there.
    pub(super) fn offset_of_code(&self, address: usize) -> Option<usize> {
        self.segment(address).filter(|segment| segment.is_executable)?;
        address.checked_sub(self.base)
    }

    fn segment(&self, address: usize) -> Option<&Segment> {
        let offset = address.checked_sub(self.base)?;
        self.segments.iter().find(|segment| segment.range.contains(&offset))
    }

    /// A copy of bytes at an address; `None` if the image does not have them in one segment.
    pub(super) fn read(&self, address: usize, length: usize) -> Option<Vec<u8>> {
        let segment = self.segment(address)?;
        let available = self.base + segment.range.end - address;
        if length > available {
            return None;
        }
        let mut bytes = vec![0; length];
        // SAFETY: the range is within a segment, which is mapped and readable while `self` lives;
        // the target is a new vector of that length. The image's description is read before its
        // dispatches run, so nothing changes the bytes meanwhile.
        unsafe {
            let source = std::ptr::with_exposed_provenance::<u8>(address);
            std::ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), length);
        }
        Some(bytes)
    }

    /// A copy of the text at an address, up to its zero byte; `None` if the image has none there.
    pub(super) fn read_c_string(&self, address: usize) -> Option<String> {
        const CHUNK: usize = 256;
        let segment = self.segment(address)?;
        let end = self.base + segment.range.end;
        let mut text = Vec::new();
        let mut at = address;
        while at < end {
            let chunk = self.read(at, CHUNK.min(end - at))?;
            if let Some(zero) = chunk.iter().position(|byte| *byte == 0) {
                text.extend(&chunk[..zero]);
                return Some(String::from_utf8_lossy(&text).into_owned());
            }
            at += chunk.len();
            text.extend(chunk);
        }
        None
    }
}

/// Sets the access rights of pages of a mapping.
fn set_rights(memory: &MmapMut, range: Range<usize>, rights: Rights) -> Result<(), Status> {
    if range.is_empty() || range.end > memory.len() {
        return Ok(());
    }
    let start = memory.as_ptr().wrapping_add(range.start).expose_provenance();
    let start = std::ptr::with_exposed_provenance_mut(start);
    // SAFETY: the pages are within `memory`, into which no references exist.
    unsafe { pages::set_rights(start, range.len(), rights) }.map_err(|error| {
        Status::permission_denied(format!(
            "the system does not let pages of an executable be {rights:?}: {error}"
        ))
    })
}

#[cfg(target_arch = "aarch64")]
fn flush_instructions(start: usize, end: usize) {
    unsafe extern "C" {
        fn __clear_cache(start: *mut std::ffi::c_void, end: *mut std::ffi::c_void);
    }
    let [start, end] = [start, end].map(std::ptr::with_exposed_provenance_mut);
    // SAFETY: a function of the compiler's runtime library, which only synchronises the caches.
    unsafe { __clear_cache(start, end) };
}

#[cfg(not(target_arch = "aarch64"))]
fn flush_instructions(_start: usize, _end: usize) {}
