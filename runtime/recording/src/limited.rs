//! [`within`]: a part of a recording is read only as far as what it makes is neither larger nor
//! deeper than allowed.
//!
//! A byte of a file can become a hundred in memory, and a list in a list in a list can be deeper
//! than the stack of a thread. Both are known while the part is read, and not before. So a
//! deserializer lies around that of the format: it counts each element of a sequence before there
//! is room for it, and each level before it is entered.

use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, SeqAccess, VariantAccess, Visitor,
};

/// Lists lie in lists up to 65 levels deep ([`hal::OutsideLog`] logs no more), and each takes four
/// of these.
const DEEPEST: u32 = 300;

/// A vector that grows has room for twice its elements.
const GROWTH: u64 = 2;

/// A piece of memory takes that much more than is asked for.
const PIECE: u64 = 16;

/// What may still be made.
struct Left {
    bytes: Cell<u64>,
    levels: Cell<u32>,
}

/// Reads a value that takes at most this many bytes in memory. Returns it, and about how many it
/// takes.
///
/// # Errors
/// It is not such a value, or is larger or deeper.
pub(crate) fn within<T: for<'de> Deserialize<'de>>(
    bytes: &[u8],
    allowed: u64,
) -> Result<(T, u64), Refused> {
    let left = Left { bytes: Cell::new(allowed), levels: Cell::new(DEEPEST) };
    let mut format = postcard::Deserializer::from_bytes(bytes);
    let value = T::deserialize(Limited { inner: &mut format, left: &left });
    match value {
        Ok(value) => Ok((value, allowed - left.bytes.get())),
        Err(_) if left.bytes.get() == 0 => Err(Refused::TooLarge),
        Err(_) if left.levels.get() == 0 => Err(Refused::TooDeep),
        Err(error) => Err(Refused::Damaged(error)),
    }
}

/// Why a value was not read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("it takes more memory than it may")]
    TooLarge,
    #[error("lists in it are nested too deep")]
    TooDeep,
    #[error(transparent)]
    Damaged(postcard::Error),
}

impl Left {
    /// What is over a limit stays over it: all that lies around it fails, too.
    fn take<E: Error>(&self, bytes: u64) -> Result<(), E> {
        let left = self.bytes.get().saturating_sub(bytes);
        self.bytes.set(left);
        if left == 0 { Err(E::custom("too large")) } else { Ok(()) }
    }

    /// Does something one level deeper.
    fn deeper<T, E: Error>(&self, inside: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let levels = self.levels.get().saturating_sub(1);
        self.levels.set(levels);
        if levels == 0 {
            return Err(E::custom("too deep"));
        }
        let made = inside()?;
        self.levels.set(levels + 1);
        Ok(made)
    }
}

/// Something of serde, within what is left.
struct Limited<'l, T> {
    inner: T,
    left: &'l Left,
}

/// A visitor, within what is left.
struct Inside<'l, V> {
    visitor: V,
    left: &'l Left,
    /// Whether elements are in memory of their own, not in what they are a part of.
    is_sequence: bool,
}

/// The elements of a sequence, or the fields of a structure.
struct Elements<'l, A> {
    elements: A,
    left: &'l Left,
    is_sequence: bool,
}

/// Methods that only pass on, with a visitor that is limited in its turn.
macro_rules! pass_on {
    ($($method:ident($($name:ident: $type:ty),*) $is_sequence:literal;)*) => {
        $(fn $method<V: Visitor<'de>>(
            self,
            $($name: $type,)*
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            let visitor = Inside { visitor, left: self.left, is_sequence: $is_sequence };
            self.inner.$method($($name,)* visitor)
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Limited<'_, D> {
    type Error = D::Error;

    pass_on! {
        deserialize_any() true;
        deserialize_bool() false;
        deserialize_i8() false;
        deserialize_i16() false;
        deserialize_i32() false;
        deserialize_i64() false;
        deserialize_u8() false;
        deserialize_u16() false;
        deserialize_u32() false;
        deserialize_u64() false;
        deserialize_f32() false;
        deserialize_f64() false;
        deserialize_char() false;
        deserialize_str() false;
        deserialize_string() false;
        deserialize_bytes() false;
        deserialize_byte_buf() false;
        deserialize_option() false;
        deserialize_unit() false;
        deserialize_unit_struct(name: &'static str) false;
        deserialize_newtype_struct(name: &'static str) false;
        deserialize_seq() true;
        deserialize_tuple(length: usize) false;
        deserialize_tuple_struct(name: &'static str, length: usize) false;
        deserialize_map() true;
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) false;
        deserialize_enum(name: &'static str, variants: &'static [&'static str]) false;
        deserialize_identifier() false;
        deserialize_ignored_any() false;
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Values without parts.
macro_rules! plain {
    ($($method:ident($type:ty);)*) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.visitor.$method(value)
        })*
    };
}

/// What has text or bytes, which are copied to memory of their own.
macro_rules! copied {
    ($($method:ident($type:ty);)*) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.left.take(value.len() as u64 + PIECE)?;
            self.visitor.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Inside<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    plain! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_f32(f32);
        visit_f64(f64);
        visit_char(char);
    }

    copied! {
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let Self { visitor, left, .. } = self;
        left.deeper(|| visitor.visit_some(Limited { inner, left }))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let Self { visitor, left, .. } = self;
        left.deeper(|| visitor.visit_newtype_struct(Limited { inner, left }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        let Self { visitor, left, is_sequence } = self;
        if is_sequence {
            left.take(PIECE)?;
        }
        left.deeper(|| visitor.visit_seq(Elements { elements, left, is_sequence }))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let Self { visitor, left, .. } = self;
        left.deeper(|| visitor.visit_enum(Limited { inner, left }))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        if self.is_sequence {
            self.left.take(size_of::<S::Value>() as u64 * GROWTH)?;
        }
        self.elements.next_element_seed(Limited { inner: seed, left: self.left })
    }

    /// No room is made before elements come.
    fn size_hint(&self) -> Option<usize> {
        None
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Limited<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(Limited { inner, left: self.left })
    }
}

impl<'de, 'l, A: EnumAccess<'de>> EnumAccess<'de> for Limited<'l, A> {
    type Error = A::Error;
    type Variant = Limited<'l, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let left = self.left;
        let (name, inner) = self.inner.variant_seed(Limited { inner: seed, left })?;
        Ok((name, Limited { inner, left }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Limited<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.newtype_variant_seed(Limited { inner: seed, left: self.left })
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = Inside { visitor, left: self.left, is_sequence: false };
        self.inner.tuple_variant(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = Inside { visitor, left: self.left, is_sequence: false };
        self.inner.struct_variant(fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    enum Tree {
        Leaf,
        Node { name: String, inside: Vec<Option<Self>> },
    }

    /// A tree of so many levels.
    fn tree(levels: usize) -> Tree {
        (0..levels).fold(Tree::Leaf, |inside, _| Tree::Node {
            name: "node".to_owned(),
            inside: vec![Some(inside)],
        })
    }

    fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8], allowed: u64) -> Result<T, Refused> {
        within(bytes, allowed).map(|(value, _)| value)
    }

    #[test]
    fn what_is_within_the_limits_is_read_as_without_them() {
        let whole = (vec![tree(65), Tree::Leaf], Some(5_u64), Ok::<_, String>(vec![1_u8, 2]));
        let bytes = postcard::to_allocvec(&whole).expect("memory");
        assert_eq!(read(&bytes, 1 << 20), Ok(whole));
    }

    #[test]
    fn what_is_too_deep_or_too_large_is_refused() {
        let deep = postcard::to_allocvec(&tree(80)).expect("memory");
        assert_eq!(read::<Tree>(&deep, 1 << 20), Err(Refused::TooDeep));
        // As deep as a file can make it: this would be deeper than the stack.
        let deepest = [1, 0, 1, 1].repeat(1 << 20);
        assert_eq!(read::<Tree>(&deepest, u64::MAX), Err(Refused::TooDeep));
        let many: Vec<Tree> = std::iter::repeat_with(|| Tree::Leaf).take(1000).collect();
        let bytes = postcard::to_allocvec(&many).expect("memory");
        let needed = (size_of::<Tree>() * many.len()) as u64;
        assert_eq!(read::<Vec<Tree>>(&bytes, needed), Err(Refused::TooLarge));
        // The end of the list is asked for like an element.
        let enough = (needed + size_of::<Tree>() as u64) * GROWTH + 2 * PIECE;
        assert!(read(&bytes, enough).is_ok_and(|read: Vec<Tree>| read.len() == many.len()));
        // A length alone makes no room.
        let claims = postcard::to_allocvec(&u64::MAX).expect("memory");
        let damaged = Refused::Damaged(postcard::Error::DeserializeUnexpectedEnd);
        assert_eq!(read::<Vec<[u64; 8]>>(&claims, 1 << 30), Err(damaged));
    }
}
