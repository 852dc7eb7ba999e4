//! `!vm.list`: a growable sequence, typed or variant.

use std::sync::Mutex;

use crate::types::Type;
use crate::value::Value;

/// What the elements of a list are.
pub type ElementType = Type;

/// A list.
#[derive(Debug)]
pub struct List {
    element_type: ElementType,
    elements: Mutex<Vec<Option<Value>>>,
}

impl List {
    /// What the elements are.
    #[must_use]
    pub fn element_type(&self) -> &ElementType {
        &self.element_type
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.lock().map_or(0, |elements| elements.len())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index` in its own type; `None` past the end and for a variant element that
    /// was never set.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Value> {
        self.elements.lock().ok()?.get(index).cloned().flatten()
    }
}
