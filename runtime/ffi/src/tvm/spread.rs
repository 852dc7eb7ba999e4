//! Structured calls of raw functions (attribute `sip`), between tagged values and raw ones.

use abi::signature::Type;
use abi::sip::Spread;
use abi::tvm::index;
use abi::tvm::layout::Any;

use super::error::FfiError;
use super::object::items_of;
use super::value::{Boundary, release};

/// Raw arguments: the place of each in the call, and its value, if it is given.
pub(super) struct RawArguments<'b> {
    boundary: Boundary<'b>,
    pub(super) values: Vec<(String, Option<Any>)>,
    /// Values that are owned here.
    owned: Vec<Any>,
}

impl Drop for RawArguments<'_> {
    fn drop(&mut self) {
        self.owned.drain(..).for_each(|any| release(self.boundary.core, any));
    }
}

impl<'b> RawArguments<'b> {
    /// Spreads the arguments of a call of `function`, which stay alive as long as this.
    ///
    /// # Errors
    /// They do not have the structure.
    pub(super) fn of(
        boundary: Boundary<'b>,
        function: &str,
        spread: &Spread,
        arguments: &[Any],
    ) -> Result<Self, FfiError> {
        let values = vec![(function.to_owned(), None); spread.raw.arguments.len()];
        let mut raw = Self { boundary, values, owned: Vec::new() };
        for (number, (slot, any)) in spread.structure.arguments.iter().zip(arguments).enumerate() {
            raw.place(&slot.ty, any, format!("{function} args[{number}]"))?;
        }
        Ok(raw)
    }

    fn place(&mut self, part: &Type, any: &Any, path: String) -> Result<(), FfiError> {
        match part {
            Type::Position(number) => {
                if let Some(raw) = self.values.get_mut(*number as usize) {
                    *raw = (path, Some(*any));
                }
                Ok(())
            }
            Type::Sequence(_, parts) => {
                // SAFETY: the caller keeps the arguments, and this the items of mappings.
                let items = unsafe { items_of(any) };
                let items = items.ok_or_else(|| wrong("an array", any).within(&path))?;
                if items.len() != parts.len() {
                    let (wanted, found) = (parts.len(), items.len());
                    let text = format!("expected {wanted} items, got {found}");
                    return Err(FfiError::new("ValueError", text).within(&path));
                }
                let mut items = parts.iter().zip(&items).enumerate();
                items.try_for_each(|(number, (part, item))| {
                    self.place(part, item, format!("{path}[{number}]"))
                })
            }
            Type::Dictionary(parts) => {
                let kind = match any.type_index {
                    index::MAP => "ffi.Map",
                    index::DICT => "ffi.Dict",
                    _ => return Err(wrong("a mapping", any).within(&path)),
                };
                let size = self.boundary.call_global(&format!("{kind}Size"), &mut [*any])?.payload;
                if size != parts.len() as u64 {
                    let text = format!("expected {} keys, got {size}", parts.len());
                    return Err(FfiError::new("ValueError", text).within(&path));
                }
                parts.iter().try_for_each(|(name, part)| {
                    let path = format!("{path}[{name:?}]");
                    let key = self.boundary.string(name)?;
                    let arguments = &mut [*any, key];
                    let found = self.boundary.call_global(&format!("{kind}GetItem"), arguments);
                    release(self.boundary.core, key);
                    let item =
                        found.map_err(|_| FfiError::new("KeyError", "missing").within(&path))?;
                    self.owned.push(item);
                    self.place(part, &item, path)
                })
            }
            _ if any.type_index == index::NONE => Ok(()),
            _ => Err(wrong("None: the function has nothing here", any).within(&path)),
        }
    }
}

fn wrong(expected: &str, found: &Any) -> FfiError {
    let found = index::describe(found.type_index);
    FfiError::new("TypeError", format!("expected {expected}, got {found}"))
}
