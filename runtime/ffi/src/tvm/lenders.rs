//! The tensors of one call that lie in memory of the caller's: which of them the program writes,
//! and what it has written into copies of them.
//!
//! A program works on a copy of a tensor whose memory it cannot share. What it writes there has to
//! come back to the caller, whatever the memory's alignment and strides are; and a tensor that the
//! program only reads must not be written back, for another thread may have changed it meanwhile.

use std::sync::Arc;

use super::strided;

/// What a function does with an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// It only reads it.
    Input,
    /// It leaves a result there.
    Output,
    /// The module does not say.
    Unknown,
}

/// Where the elements of a tensor lie: those of sizes and strides (in elements) from an address.
pub(crate) struct Place {
    pub(crate) address: u64,
    pub(crate) sizes: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    /// The bytes of an element.
    pub(crate) width: usize,
}

/// A tensor of the caller's, of which the program has a copy.
struct Copied {
    place: Place,
    copy: Arc<vm::Buffer>,
    /// What it was, if only a difference tells that the program has written it.
    before: Option<Vec<u8>>,
}

/// The tensors of a call that were met so far.
pub(crate) struct Lenders {
    /// The role of the argument that is converted now.
    pub(crate) role: Role,
    /// The first and the last byte of each tensor, and its role.
    met: Vec<(i128, i128, Role)>,
    copies: Vec<Copied>,
}

impl Default for Lenders {
    fn default() -> Self {
        Self { role: Role::Unknown, met: Vec::new(), copies: Vec::new() }
    }
}

/// Why a function cannot leave a result in a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum NotLent {
    #[error(
        "the function leaves a result in this tensor, and several of its elements have the same \
         memory; give a copy of it"
    )]
    Overlaps,
    #[error("the function leaves a result in this tensor, and another result in the same memory")]
    OtherResult,
}

impl Lenders {
    /// Notes a tensor whose elements reach from position `low` to `high`. Returns whether its
    /// memory is its own: what is written through one tensor must not be read through another.
    ///
    /// # Errors
    /// [`NotLent`]: the function leaves a result there, and memory of it is another result's or
    /// belongs to several elements.
    pub(super) fn meet(&mut self, place: &Place, low: i64, high: i64) -> Result<bool, NotLent> {
        let byte =
            |position: i64| i128::from(place.address) + i128::from(position) * place.width as i128;
        let (first, last) = (byte(low), byte(high) + place.width as i128 - 1);
        let shared = |(from, to, _): &&(i128, i128, Role)| *from <= last && first <= *to;
        let is_read =
            |(_, _, role): &(i128, i128, Role)| self.role == Role::Input && *role == Role::Input;
        let is_alone = !self.met.iter().any(|it| shared(&it) && !is_read(it));
        if self.role == Role::Output {
            if !strided::is_spread_out(&place.sizes, &place.strides) {
                return Err(NotLent::Overlaps);
            }
            if self.met.iter().filter(shared).any(|(_, _, role)| *role == Role::Output) {
                return Err(NotLent::OtherResult);
            }
        }
        self.met.push((first, last, self.role));
        Ok(is_alone)
    }

    /// Notes the program's copy of a tensor.
    pub(super) fn copied(&mut self, place: Place, copy: &Arc<vm::Buffer>) {
        let before = match self.role {
            Role::Input => return,
            Role::Output => None,
            Role::Unknown => Some(copy.read(0, copy.len())),
        };
        self.copies.push(Copied { place, copy: copy.clone(), before });
    }

    /// Gives the caller what the program has written into copies.
    ///
    /// # Safety
    /// The tensors that were met are alive, and their elements can be written.
    pub(super) unsafe fn write_back(self) {
        for Copied { place, copy, before } in self.copies {
            let Place { address, sizes, strides, width } = place;
            if before.is_some_and(|before| before == copy.read(0, copy.len())) {
                continue;
            }
            // SAFETY: the caller's promise; the copy has all elements.
            unsafe {
                strided::scatter(copy.address(), address as *mut u8, &sizes, &strides, width);
            }
        }
    }
}
