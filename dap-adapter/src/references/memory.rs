//! The memory that a client holds references to.
//!
//! A reference is the address of the first byte, as text. A client may also name an address inside
//! memory that it has a reference to. When the program resumes, memory that was only listed is
//! released; memory that the client has opened stays, so that its view can be refreshed.

use std::collections::BTreeMap;

use debug::Memory;

use crate::protocol::{RequestError, events};

/// The most blocks of opened memory that are kept.
const MAX_OPENED: usize = 64;

/// See the module documentation.
#[derive(Default)]
pub(crate) struct MemoryReferences {
    by_address: BTreeMap<u64, Known>,
}

struct Known {
    memory: Memory,
    is_opened: bool,
}

impl MemoryReferences {
    /// Keeps memory and returns its reference. Of several blocks that begin at one address it keeps
    /// the longest.
    pub(crate) fn reference(&mut self, memory: Memory) -> String {
        let reference = memory.reference();
        let Some(address) = parse_address(&reference) else { return reference };
        match self.by_address.get_mut(&address) {
            Some(known) if known.memory.len() >= memory.len() => {}
            Some(known) => known.memory = memory,
            None => {
                self.by_address.insert(address, Known { memory, is_opened: false });
            }
        }
        reference
    }

    /// The memory that a reference names, its first address, and the offset of the reference in it.
    /// Counts as opened from now on.
    ///
    /// # Errors
    /// The reference is no address, or outside all memory that the client was shown.
    pub(crate) fn open(&mut self, reference: &str) -> Result<(Memory, u64, i64), RequestError> {
        let unknown = || {
            RequestError::stale(format!(
                "{reference:?} is no memory that was shown; ask for the variables of this stop"
            ))
        };
        let address = parse_address(reference).ok_or_else(unknown)?;
        let before = self.by_address.range_mut(..=address).next_back();
        let (start, known) = before.ok_or_else(unknown)?;
        let into = address - start;
        if into > known.memory.len() as u64 {
            return Err(unknown());
        }
        known.is_opened = true;
        Ok((known.memory.clone(), *start, into.cast_signed()))
    }

    /// The memory that contains an address, and the offset of the address in it.
    pub(crate) fn at(&self, address: u64) -> Option<(Memory, usize)> {
        let (start, known) = self.by_address.range(..=address).next_back()?;
        let into = usize::try_from(address - start).ok()?;
        (into < known.memory.len()).then(|| (known.memory.clone(), into))
    }

    /// All memory that the client has opened, as events about it.
    pub(crate) fn opened(&self) -> impl Iterator<Item = events::Memory> {
        self.by_address.values().filter(|known| known.is_opened).map(|known| events::Memory {
            memory_reference: known.memory.reference(),
            offset: 0,
            count: known.memory.len(),
        })
    }

    /// Releases the memory that the client has not opened.
    pub(crate) fn forget_unopened(&mut self) {
        self.by_address.retain(|_, known| known.is_opened);
        while self.by_address.len() > MAX_OPENED {
            self.by_address.pop_first();
        }
    }
}

/// An address: hexadecimal after `0x`, else decimal.
pub(crate) fn parse_address(reference: &str) -> Option<u64> {
    match reference.strip_prefix("0x").or_else(|| reference.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => reference.parse().ok(),
    }
}
