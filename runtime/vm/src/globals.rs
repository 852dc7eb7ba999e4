//! What a module keeps between invocations: bytes for primitive globals, refs for the others.

use vmfb::module::ModuleState;

use crate::limits::ExecutionLimits;
use crate::status::Status;
use crate::value::Ref;

/// What a module keeps between invocations.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    pub(crate) bytes: Vec<u8>,
    pub(crate) refs: Vec<Ref>,
}

impl Globals {
    pub(crate) fn new(state: ModuleState, limits: &ExecutionLimits) -> Result<Self, Status> {
        let too_large = || Status::resource_exhausted("its globals exceed the memory it may use");
        let refs = state.global_refs as usize;
        let ref_bytes = refs.checked_mul(size_of::<Ref>()).ok_or_else(too_large)?;
        if ref_bytes.max(state.global_bytes as usize) > limits.allocation_bytes {
            return Err(too_large());
        }
        let mut globals = Self::default();
        globals.refs.try_reserve_exact(refs).map_err(|_| too_large())?;
        globals.refs.resize(refs, Ref::Null);
        // Zeroed by the system: untouched pages of a large claim cost nothing.
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
