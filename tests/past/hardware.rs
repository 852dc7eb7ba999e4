//! Watches of the processor, by the kernel's `perf_event_open`: how often an element was stored to,
//! by machine code, by the interpreter or by a command, be it with the value that was there.
//!
//! Kernels may forbid them, and other systems have none. Then [`Watch::open`] returns nothing.

/// A watched element.
pub(crate) struct Watch {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    file: std::fs::File,
}

/// How many elements a processor watches at once.
pub(crate) const MOST: usize = 4;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
impl Watch {
    /// Watches the bytes of an element from now on, on this thread and those that it starts.
    pub(crate) fn open(address: u64, length: usize) -> Option<Self> {
        use std::os::fd::FromRawFd;
        const BREAKPOINT: u32 = 5;
        const ON_WRITE: u32 = 2;
        const INHERIT: u64 = 1 << 1;
        const EXCLUDE_KERNEL: u64 = 1 << 5;
        const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
        // `struct perf_event_attr`, in its second version.
        let mut attributes = [0_u64; 9];
        let size = u32::try_from(size_of_val(&attributes)).ok()?;
        attributes[0] = u64::from(BREAKPOINT) | u64::from(size) << 32;
        attributes[5] = INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
        attributes[6] = u64::from(ON_WRITE) << 32;
        attributes[7] = address;
        attributes[8] = length as u64;
        // SAFETY: the kernel reads as many bytes of the attributes as they say that they have.
        let opened =
            unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, 0) };
        let descriptor = i32::try_from(opened).ok().filter(|it| *it >= 0)?;
        // SAFETY: the kernel has just opened it, and no one else knows it.
        Some(Self { file: unsafe { std::fs::File::from_raw_fd(descriptor) } })
    }

    /// How many stores there were.
    pub(crate) fn count(&self) -> u64 {
        use std::io::Read;
        let mut count = [0; 8];
        match (&self.file).read_exact(&mut count) {
            Ok(()) => u64::from_le_bytes(count),
            Err(_) => 0,
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
impl Watch {
    pub(crate) fn open(_address: u64, _length: usize) -> Option<Self> {
        None
    }

    pub(crate) fn count(&self) -> u64 {
        0
    }
}
