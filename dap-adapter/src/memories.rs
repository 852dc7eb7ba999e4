//! The memory that a client was shown references to, and may come back for.
//!
//! A reference is the address of the first byte, as text; a client may also name an address inside
//! of memory that it knows. The memory of values that were only listed is let go when the program
//! goes on; what the client has opened stays, so that its view can be brought up to date.

use std::collections::BTreeMap;

use debug::Memory;

use crate::error::RequestError;
use crate::events;

/// The most that is kept of what the client has opened.
const MOST_OPENED: usize = 64;

/// See the module.
#[derive(Default)]
pub(crate) struct Memories {
    by_address: BTreeMap<u64, Known>,
}

struct Known {
    memory: Memory,
    is_opened: bool,
}

impl Memories {
    /// Remembers memory, and names it. The longest of several that begin at one address is kept.
    pub(crate) fn reference(&mut self, memory: Memory) -> String {
        let reference = memory.reference();
        let Some(address) = parse(&reference) else { return reference };
        match self.by_address.get_mut(&address) {
            Some(known) if known.memory.len() >= memory.len() => {}
            Some(known) => known.memory = memory,
            None => {
                self.by_address.insert(address, Known { memory, is_opened: false });
            }
        }
        reference
    }

    /// The memory that a reference names, where it begins, and how far into it the reference leads.
    pub(crate) fn open(&mut self, reference: &str) -> Result<(Memory, u64, i64), RequestError> {
        let unknown = || {
            RequestError::stale(format!(
                "{reference:?} is no memory that was shown; ask for the variables of this stop"
            ))
        };
        let address = parse(reference).ok_or_else(unknown)?;
        let before = self.by_address.range_mut(..=address).next_back();
        let (start, known) = before.ok_or_else(unknown)?;
        let into = address - start;
        if into > known.memory.len() as u64 {
            return Err(unknown());
        }
        known.is_opened = true;
        Ok((known.memory.clone(), *start, into.cast_signed()))
    }

    /// The memory that an address is in, and how far.
    pub(crate) fn at(&self, address: u64) -> Option<(Memory, usize)> {
        let (start, known) = self.by_address.range(..=address).next_back()?;
        let into = usize::try_from(address - start).ok()?;
        (into < known.memory.len()).then(|| (known.memory.clone(), into))
    }

    /// What the client has opened, all of it.
    pub(crate) fn opened(&self) -> impl Iterator<Item = events::Memory> {
        self.by_address.values().filter(|known| known.is_opened).map(|known| events::Memory {
            memory_reference: known.memory.reference(),
            offset: 0,
            count: known.memory.len(),
        })
    }

    /// Lets go what the client has not opened.
    pub(crate) fn forget_unopened(&mut self) {
        self.by_address.retain(|_, known| known.is_opened);
        while self.by_address.len() > MOST_OPENED {
            self.by_address.pop_first();
        }
    }
}

/// An address, in hexadecimal behind `0x`, else decimal.
pub(crate) fn parse(reference: &str) -> Option<u64> {
    match reference.strip_prefix("0x").or_else(|| reference.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => reference.parse().ok(),
    }
}
