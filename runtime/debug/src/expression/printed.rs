//! [`PrintHistory`]: what was printed, by number, as gdb keeps it: `$`, `$$`, `$3`.
//!
//! A printed tensor is copied, so that it stays what it was. References to lists and buffers stay
//! references.

use std::sync::Arc;

use abi::tensor::TensorType;
use vm::Buffer;

use super::datum::{Datum, Item};
use super::evaluation_error::EvaluationError;
use crate::tensor::TensorView;
use crate::view::absent::Absent;

/// The most bytes of tensors that are kept.
const MOST_BYTES: usize = 256 << 20;

/// Which of the printed values is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Printed {
    /// `$`, `$$`, `$$2`: the last, or so many before it.
    Back(usize),
    /// `$3`
    Number(usize),
}

impl Printed {
    /// What a word means, if it is of this kind.
    pub(super) fn named(word: &str) -> Option<Self> {
        match word.strip_prefix('$')? {
            "" => Some(Self::Back(0)),
            "$" => Some(Self::Back(1)),
            rest => match rest.strip_prefix('$') {
                Some(back) => back.parse().ok().map(Self::Back),
                None => rest.parse().ok().map(Self::Number),
            },
        }
    }
}

/// What was printed, the oldest first.
#[derive(Debug, Default)]
pub struct PrintHistory {
    values: Vec<Item>,
    /// The bytes of tensors that are kept.
    bytes: usize,
}

impl PrintHistory {
    /// Keeps a value; returns its number, from one. A name without a value has none.
    pub(crate) fn keep(&mut self, item: &Item) -> Option<usize> {
        let datum = match &item.datum {
            Datum::Missing(_) | Datum::Family(_) => return None,
            Datum::Tensor(tensor) => self.copied(tensor),
            other => other.clone(),
        };
        self.values.push(Item { datum, place: None, declared: item.declared.clone() });
        Some(self.values.len())
    }

    fn copied(&mut self, tensor: &TensorView) -> Datum {
        let copy = tensor.tensor().filter(|copy| copy.bytes.len() <= MOST_BYTES).and_then(|copy| {
            let buffer = Buffer::from_bytes(&copy.bytes).ok()?;
            let tensor_type = TensorType { shape: copy.shape, element_type: copy.element_type };
            let view = TensorView::new(Arc::new(buffer), tensor_type).ok()?;
            Some((copy.bytes.len(), view.marked_as(tensor)))
        });
        let Some((length, view)) = copy else {
            return Datum::Missing(Absent::TooLargeToKeep);
        };
        self.bytes += length;
        let mut kept = self.values.iter_mut();
        while self.bytes > MOST_BYTES
            && let Some(oldest) = kept.next()
        {
            if let Datum::Tensor(tensor) = &oldest.datum {
                self.bytes -= tensor.tensor().map_or(0, |it| it.bytes.len());
                oldest.datum = Datum::Missing(Absent::NoLongerKept);
            }
        }
        Datum::Tensor(view)
    }

    /// A value that was printed.
    ///
    /// # Errors
    /// Nothing, or less, was printed.
    pub(crate) fn get(&self, which: Printed) -> Result<Item, EvaluationError> {
        let count = self.values.len();
        let index = match which {
            Printed::Back(back) => count.checked_sub(back + 1),
            Printed::Number(number) => number.checked_sub(1),
        };
        let found = index.and_then(|index| self.values.get(index));
        found.cloned().ok_or(match count {
            0 => EvaluationError::NothingPrinted,
            count => EvaluationError::NotPrinted { count },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Number;

    fn tensor(buffer: &Arc<Buffer>) -> Item {
        let shape = TensorType::parse("4xui8").expect("a type");
        Datum::Tensor(TensorView::new(Arc::clone(buffer), shape).expect("it fits")).into()
    }

    #[test]
    fn values_have_numbers() {
        let mut history = PrintHistory::default();
        assert!(history.get(Printed::Back(0)).is_err());
        for value in 0..3_i128 {
            let number = history.keep(&Datum::Number(Number::Integer(value)).into());
            assert_eq!(number, usize::try_from(value + 1).ok());
        }
        assert_eq!(history.keep(&Datum::Missing(Absent::Released).into()), None);
        let of = |word: &str| {
            let item = history.get(Printed::named(word)?).ok()?;
            item.datum.number().map(Number::float)
        };
        let words = ["$", "$$", "$$2", "$1", "$3", "$$3", "$4", "$0"];
        let expected = [Some(2.0), Some(1.0), Some(0.0), Some(0.0), Some(2.0), None, None, None];
        assert_eq!(words.map(of), expected);
        assert_eq!(Printed::named("$a"), None);
        assert_eq!(Printed::named("a$1"), None);
    }

    #[test]
    fn tensors_stay_as_they_were() {
        let buffer = Arc::new(Buffer::from_bytes(&[1, 2, 3, 4]).expect("it is small"));
        let mut history = PrintHistory::default();
        history.keep(&tensor(&buffer));
        buffer.write(0, &[9]).expect("it can be written");
        let Datum::Tensor(kept) = history.get(Printed::Back(0)).expect("it is kept").datum else {
            panic!("no tensor");
        };
        assert_eq!(kept.tensor().expect("it is small").bytes, [1, 2, 3, 4]);
    }
}
