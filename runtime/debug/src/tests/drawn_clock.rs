//! A clock by which checkpoints are taken at random. The real one takes them by their cost: on
//! another machine, or a busy one, they are elsewhere, and what a session shows must not depend on
//! it. What is drawn here comes again with the same number.

use std::cell::RefCell;

use super::going_back::Dice;

thread_local! {
    static DRAWN: RefCell<Option<Dice>> = const { RefCell::new(None) };
}

/// The real clock is back once this is dropped.
pub(super) struct DrawnClock(());

impl DrawnClock {
    pub(super) fn begin(seed: u64) -> Self {
        DRAWN.set(Some(Dice(seed)));
        Self(())
    }
}

impl Drop for DrawnClock {
    fn drop(&mut self) {
        DRAWN.set(None);
    }
}

/// Whether the time is over, if that is drawn on this thread.
pub(crate) fn is_over() -> Option<bool> {
    DRAWN.with_borrow_mut(|dice| Some(dice.as_mut()?.roll(2) == 0))
}
