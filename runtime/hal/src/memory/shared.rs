//! Memory of a program whose machine code runs in a sandbox: all its buffers lie in what the
//! sandbox has, too, at the same addresses.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) use elsewhere::Shared;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use here::Shared;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod here {
    use std::io;
    use std::ptr::NonNull;
    use std::sync::Arc;

    use sandbox::SharedMemory;
    use vm::{Keeper, MemorySource};

    /// The memory that a program shares with its sandbox.
    #[derive(Clone, Debug)]
    pub(crate) struct Shared(Arc<SharedMemory>);

    impl Shared {
        /// Memory for a program.
        ///
        /// # Errors
        /// The system has none.
        pub(crate) fn new() -> io::Result<Self> {
            SharedMemory::new().map(Self)
        }

        /// Whether the sandbox has this address.
        pub(crate) fn contains(&self, address: usize) -> bool {
            self.0.contains(address)
        }

        /// The memory itself.
        pub(crate) fn memory(&self) -> &Arc<SharedMemory> {
            &self.0
        }

        /// Whole pages, and `guard` bytes before and after them that the sandbox may not access:
        /// the address of the first guard, and what keeps it all.
        ///
        /// # Errors
        /// There is no memory.
        pub(crate) fn guarded(
            &self,
            pages: usize,
            guard: usize,
        ) -> io::Result<(NonNull<u8>, Keeper)> {
            let block = self.0.allocate_guarded(pages, guard)?;
            Ok((block.address(), Box::new(block)))
        }
    }

    // SAFETY: a block is zeroed, its own, and lasts until it is dropped: see the crate `sandbox`.
    unsafe impl MemorySource for Shared {
        fn zeroed(&self, length: usize, alignment: usize) -> Option<(NonNull<u8>, Keeper)> {
            let block = self.0.allocate(length, alignment).ok()?;
            Some((block.address(), Box::new(block)))
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere {
    use std::io;
    use std::ptr::NonNull;

    use vm::{Keeper, MemorySource};

    /// There is none.
    #[derive(Clone, Debug)]
    pub(crate) enum Shared {}

    impl Shared {
        pub(crate) fn new() -> io::Result<Self> {
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "sandboxes are there on Linux on x86-64 only",
            ))
        }

        pub(crate) fn guarded(&self, _: usize, _: usize) -> io::Result<(NonNull<u8>, Keeper)> {
            match *self {}
        }
    }

    // SAFETY: there is none.
    unsafe impl MemorySource for Shared {
        fn zeroed(&self, _: usize, _: usize) -> Option<(NonNull<u8>, Keeper)> {
            match *self {}
        }
    }
}
