//! A module's state between invocations: bytes for primitive globals, refs for the others.

use std::ptr::NonNull;

use vmfb::ModuleState;

use crate::errors::Status;
use crate::limits::ExecutionLimits;
use crate::objects::Ref;

/// The primitive globals of the running module, without a lookup.
///
/// # Soundness
///
/// This is made from the bytes of a module's globals, which never grow. The machine borrows the
/// globals while it holds this, and makes a new one when it starts or enters another module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GlobalBytes {
    first: NonNull<u8>,
    length: usize,
}

impl GlobalBytes {
    pub(crate) fn of(globals: &mut Globals) -> Self {
        Self { first: NonNull::from(&mut *globals.bytes).cast(), length: globals.bytes.len() }
    }

    /// The address of the first byte.
    #[inline(always)]
    pub(crate) fn address(self) -> *mut u8 {
        self.first.as_ptr()
    }

    #[inline(always)]
    fn at<const N: usize>(self, offset: usize) -> Option<NonNull<[u8; N]>> {
        if offset > self.length || self.length - offset < N {
            return None;
        }
        // SAFETY: the bytes are within the globals.
        Some(unsafe { self.first.add(offset) }.cast())
    }

    /// The `N` bytes of a primitive global.
    #[inline(always)]
    pub(crate) fn load<const N: usize>(self, offset: usize) -> Option<[u8; N]> {
        // SAFETY: the bytes are within the globals, and bytes need no alignment.
        self.at(offset).map(|bytes| unsafe { bytes.read() })
    }

    /// Changes the `N` bytes of a primitive global.
    #[inline(always)]
    pub(crate) fn store<const N: usize>(self, offset: usize, bytes: [u8; N]) -> Option<()> {
        // SAFETY: as for `load`; the machine has exclusive access to the globals.
        self.at(offset).map(|global| unsafe { global.write(bytes) })
    }
}

/// A module's state between invocations.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    pub(crate) bytes: Vec<u8>,
    pub(crate) refs: Vec<Ref>,
}

impl Globals {
    pub(crate) fn new(state: ModuleState, limits: &ExecutionLimits) -> Result<Self, Status> {
        let too_large = || limits.too_much("the size of its globals");
        let refs = state.global_refs as usize;
        let ref_bytes = refs.checked_mul(size_of::<Ref>()).ok_or_else(too_large)?;
        if ref_bytes.max(state.global_bytes as usize) > limits.allocation_bytes {
            return Err(too_large());
        }
        let mut globals = Self::default();
        globals.refs.try_reserve_exact(refs).map_err(|_| too_large())?;
        globals.refs.resize(refs, Ref::Null);
        // Zeroed by the system: the untouched pages of a large allocation cost nothing.
        globals.bytes = vec![0; state.global_bytes as usize];
        Ok(globals)
    }

    /// The `N` bytes of a primitive global.
    #[inline]
    pub(crate) fn load<const N: usize>(&self, offset: usize) -> Result<[u8; N], Status> {
        match self.bytes.get(offset..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => Ok(*bytes),
            None => Err(self.byte_out_of_range(offset)),
        }
    }

    /// Changes the `N` bytes of a primitive global.
    #[inline]
    pub(crate) fn store<const N: usize>(
        &mut self,
        offset: usize,
        bytes: [u8; N],
    ) -> Result<(), Status> {
        match self.bytes.get_mut(offset..).and_then(<[u8]>::first_chunk_mut) {
            Some(global) => *global = bytes,
            None => return Err(self.byte_out_of_range(offset)),
        }
        Ok(())
    }

    /// A ref global.
    #[inline]
    pub(crate) fn reference(&mut self, ordinal: usize) -> Result<&mut Ref, Status> {
        let count = self.refs.len();
        self.refs.get_mut(ordinal).ok_or_else(|| {
            Status::out_of_range(format!(
                "global ref ordinal out of range: {ordinal} (table={count})"
            ))
        })
    }

    #[cold]
    fn byte_out_of_range(&self, offset: usize) -> Status {
        Status::out_of_range(format!(
            "global byte_offset out of range: {offset} (rwdata={})",
            self.bytes.len()
        ))
    }
}
