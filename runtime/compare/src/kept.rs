//! Both sides of what was compared and is not equal, kept to be looked at: as
//! `.npy`, up to so many bytes. What is dropped of a report gives its bytes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use debug::TensorView;

/// What a comparison keeps; nothing, unless it is told to. Clones have one budget.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    budget: Option<Arc<Budget>>,
}

#[derive(Debug)]
struct Budget {
    most: usize,
    left: AtomicUsize,
    /// Whether a tensor that differs was kept.
    has_first: AtomicBool,
}

/// A tensor of both sides.
#[derive(Clone, Debug, Default)]
pub enum Kept {
    /// It was not asked for, or there is nothing to see.
    #[default]
    No,
    /// Both sides.
    Pair(Arc<KeptPair>),
    /// It is left out, and why.
    LeftOut(String),
}

/// Both sides of a tensor.
#[derive(Debug)]
pub struct KeptPair {
    files: [Vec<u8>; 2],
    /// How many bytes of the budget they take.
    taken: usize,
    budget: Arc<Budget>,
}

impl Keep {
    /// Keeps up to so many bytes: of what is within its bounds or not judged, up to a half of them,
    /// as what differs matters more; and the first tensor that differs, however large it is.
    #[must_use]
    pub fn up_to(most: usize) -> Self {
        let (left, has_first) = (AtomicUsize::new(most), AtomicBool::new(false));
        Self { budget: Some(Arc::new(Budget { most, left, has_first })) }
    }

    /// Keeps both sides of a tensor, if there is room.
    pub(crate) fn pair(&self, a: &TensorView, b: &TensorView, differs: bool) -> Kept {
        let Some(budget) = &self.budget else { return Kept::No };
        let is_first = differs && !budget.has_first.load(Ordering::Relaxed);
        let needed: usize = [a, b].map(length).iter().fold(0, |sum, it| sum.saturating_add(*it));
        let left = budget.left.load(Ordering::Relaxed);
        let reserved = if differs { 0 } else { budget.most / 2 };
        if !is_first && needed > left.saturating_sub(reserved) {
            let most = budget.most;
            let why = format!("{needed} bytes are more than what is left of {most} to be kept");
            return Kept::LeftOut(why);
        }
        match (a.npy(), b.npy()) {
            (Ok(a), Ok(b)) => {
                let taken = needed.min(left);
                budget.left.fetch_sub(taken, Ordering::Relaxed);
                budget.has_first.fetch_or(differs, Ordering::Relaxed);
                let budget = Arc::clone(budget);
                Kept::Pair(Arc::new(KeptPair { files: [a, b], taken, budget }))
            }
            (Err(why), _) | (_, Err(why)) => Kept::LeftOut(why.to_string()),
        }
    }
}

impl KeptPair {
    /// The `.npy` files of both sides.
    #[must_use]
    pub fn files(&self) -> &[Vec<u8>; 2] {
        &self.files
    }
}

impl Drop for KeptPair {
    fn drop(&mut self) {
        self.budget.left.fetch_add(self.taken, Ordering::Relaxed);
    }
}

/// How many bytes a tensor takes, about.
pub(crate) fn length(tensor: &TensorView) -> usize {
    tensor.count().saturating_mul(usize::from(tensor.element_type().bits)).div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(count: usize) -> TensorView {
        let tensor = abi::tensor::Tensor::parse(&format!("{count}xf32=1"), 99).unwrap();
        let buffer = Arc::new(vm::Buffer::from_bytes(&tensor.bytes).unwrap());
        TensorView::new(buffer, tensor.tensor_type()).unwrap()
    }

    fn is_kept(kept: &Kept) -> bool {
        matches!(kept, Kept::Pair(_))
    }

    #[test]
    fn what_differs_has_the_whole_budget_and_what_does_not_half_of_it() {
        let keep = Keep::up_to(64);
        let [small, large] = [2, 4].map(tensor);
        let of = |it: &TensorView, differs| keep.pair(it, it, differs);
        // 16 bytes, then 32, which would leave less than a half.
        let first = of(&small, false);
        assert!(is_kept(&first) && !is_kept(&of(&large, false)));
        let differs = of(&large, true);
        assert!(is_kept(&differs) && is_kept(&of(&small, true)));
        // 16 are left.
        let Kept::LeftOut(why) = of(&large, true) else { panic!("there is room") };
        assert_eq!(why, "32 bytes are more than what is left of 64 to be kept");
        drop(differs);
        assert!(is_kept(&of(&large, true)));
    }

    #[test]
    fn the_first_that_differs_is_kept_however_large_it_is() {
        let keep = Keep::up_to(8);
        let large = tensor(9);
        assert!(!is_kept(&keep.pair(&large, &large, false)));
        let first = keep.pair(&large, &large, true);
        let Kept::Pair(pair) = &first else { panic!("{first:?}") };
        assert_eq!(abi::npy::read(&pair.files()[1]).unwrap().0.shape, [9]);
        assert!(!is_kept(&keep.pair(&tensor(1), &tensor(1), true)), "it takes the whole budget");
        assert!(matches!(Keep::default().pair(&large, &large, true), Kept::No));
    }

    #[test]
    fn what_numpy_has_no_type_for_says_so() {
        let tensor = abi::tensor::Tensor::parse("4xi4=1", 99).unwrap();
        let buffer = Arc::new(vm::Buffer::from_bytes(&tensor.bytes).unwrap());
        let view = TensorView::new(buffer, tensor.tensor_type()).unwrap();
        let kept = Keep::up_to(99).pair(&view, &view, true);
        assert!(matches!(&kept, Kept::LeftOut(why) if !why.is_empty()), "{kept:?}");
    }
}
