//! Tensors as they were at earlier stops: copies, within limits, by the expression that named them.

use std::sync::Arc;

use vm::Buffer;

use super::view::TensorView;
use super::view_error::ViewError;

/// How many bytes are kept.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The largest tensor that is copied without being asked for.
    largest_seen: usize,
    /// The most bytes of such copies.
    seen: usize,
    /// The most bytes of copies that the user has asked for.
    pinned: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { largest_seen: 16 << 20, seen: 256 << 20, pinned: 2 << 30 }
    }
}

/// A tensor as it was.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Names it among all moments.
    pub number: u64,
    /// What the tensor was called.
    pub expression: String,
    /// Where the program stood when it was first so.
    pub place: String,
    /// How many later stops have seen it unchanged.
    pub repeated: usize,
    /// Whether the user has asked for it, so that it is kept.
    pub is_pinned: bool,
    /// A copy of it.
    pub tensor: TensorView,
    bytes: usize,
}

/// Why a tensor is not kept as it is.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotKept {
    /// It has more bytes than may be kept.
    #[error(
        "{tensor_type} is too large to be {}: {size} bytes, and there is room for {most}",
        if *is_pinned { "pinned" } else { "kept at each stop" }
    )]
    TooLarge {
        /// Its type.
        tensor_type: String,
        /// Whether the user has asked for it.
        is_pinned: bool,
        /// How many bytes it has.
        size: usize,
        /// How many bytes may be kept.
        most: usize,
    },
    /// Its elements share bytes, and have gaps between them.
    #[error("this part of a tensor cannot be copied")]
    Gaps,
    /// No memory is left for the copy.
    #[error(transparent)]
    Copy(#[from] ViewError),
    /// Others have taken its place.
    #[error("there is no room")]
    NoRoom,
}

/// The moments of a session, oldest first.
#[derive(Debug, Default)]
pub struct Moments {
    kept: Vec<Moment>,
    last: u64,
    limits: Limits,
}

impl Moments {
    /// Keeps a tensor as it is now, unless its last moment is the same. Tensors that were not
    /// pinned make room for others.
    ///
    /// # Errors
    /// It is too large to be kept.
    pub fn keep(
        &mut self,
        expression: &str,
        place: &str,
        tensor: &TensorView,
        is_pinned: bool,
    ) -> Result<&Moment, NotKept> {
        let size = tensor.count().saturating_mul(tensor.element_width());
        let most = match is_pinned {
            true => self.limits.pinned.saturating_sub(self.bytes(true)),
            false => self.limits.largest_seen,
        };
        if size > most {
            let tensor_type = tensor.type_name();
            return Err(NotKept::TooLarge { tensor_type, is_pinned, size, most });
        }
        let copied = tensor.tensor().ok_or(NotKept::Gaps)?;
        let known = self.kept.iter().rposition(|it| it.expression == expression);
        if let Some(at) = known
            && let known = &mut self.kept[at]
            && known.tensor.type_name() == tensor.type_name()
            && known.tensor.buffer().read(0, known.bytes) == copied.bytes
        {
            known.repeated += usize::from(!is_pinned);
            known.is_pinned |= is_pinned;
            return Ok(&self.kept[at]);
        }
        let buffer = Buffer::from_bytes(&copied.bytes).map_err(ViewError::from)?;
        self.last += 1;
        self.kept.push(Moment {
            number: self.last,
            expression: expression.to_owned(),
            place: place.to_owned(),
            repeated: 0,
            is_pinned,
            bytes: copied.bytes.len(),
            tensor: TensorView::new(Arc::new(buffer), tensor.tensor_type().clone())?,
        });
        while self.bytes(false) > self.limits.seen
            && let Some(oldest) = self.kept.iter().position(|it| !it.is_pinned)
        {
            self.kept.remove(oldest);
        }
        self.kept.last().ok_or(NotKept::NoRoom)
    }

    /// The bytes of those that are pinned, or of the others.
    fn bytes(&self, is_pinned: bool) -> usize {
        self.kept.iter().filter(|it| it.is_pinned == is_pinned).map(|it| it.bytes).sum()
    }

    /// The moments of an expression, oldest first.
    pub fn of(&self, expression: &str) -> impl Iterator<Item = &Moment> {
        self.kept.iter().filter(move |it| it.expression == expression)
    }

    /// The moment with a number.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&Moment> {
        self.kept.iter().find(|it| it.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f32]) -> TensorView {
        let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        let name = format!("{}xf32", values.len());
        let tensor_type = abi::tensor::TensorType::parse(&name).unwrap();
        TensorView::new(Arc::new(Buffer::from_bytes(&bytes).unwrap()), tensor_type).unwrap()
    }

    #[test]
    fn what_stays_the_same_is_one_moment() {
        let mut moments = Moments::default();
        let first = tensor(&[1.0, 2.0]);
        assert_eq!(moments.keep("%x", "a:1", &first, false).unwrap().number, 1);
        assert_eq!(moments.keep("%x", "a:2", &first, false).unwrap().repeated, 1);
        // The copy stays as the tensor was.
        first.at(0).set_scalar(super::super::number::Number::Float(5.0)).unwrap();
        assert_eq!(moments.keep("%x", "a:3", &first, true).unwrap().number, 2);
        moments.keep("%y", "a:3", &first, false).unwrap();
        let shown: Vec<_> = moments.of("%x").map(|it| (it.tensor.short(), it.is_pinned)).collect();
        assert_eq!(shown, [("[1, 2]".to_owned(), false), ("[5, 2]".to_owned(), true)]);
        assert_eq!(moments.get(2).unwrap().place, "a:3");
    }

    #[test]
    fn the_oldest_make_room_unless_they_are_pinned() {
        let limits = Limits { largest_seen: 64, seen: 256, pinned: 64 };
        let mut moments = Moments { limits, ..Moments::default() };
        let large = |value: f32| tensor(&[value; 16]);
        moments.keep("%x", "", &large(0.0), true).unwrap();
        let room = 4;
        for turn in 1..=room + 2 {
            moments.keep("%x", "", &large(turn as f32), false).unwrap();
        }
        let numbers: Vec<u64> = moments.of("%x").map(|it| it.number).collect();
        assert_eq!((numbers[0], numbers[1], numbers.len()), (1, 4, room + 1));
        let error = moments.keep("%z", "", &tensor(&[0.0; 17]), false).unwrap_err();
        assert!(matches!(error, NotKept::TooLarge { is_pinned: false, .. }), "{error}");
        let error = moments.keep("%z", "", &large(0.0), true).unwrap_err();
        assert!(matches!(error, NotKept::TooLarge { most: 0, .. }), "{error}");
    }
}
