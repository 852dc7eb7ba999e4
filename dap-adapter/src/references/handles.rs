//! Numbers that stand for things of one stop, such as frames and variables.
//!
//! No number is given twice before all 2³¹ - 1 have been given. So a number from an earlier stop is
//! an error; it never names another thing.

/// The protocol keeps references within 31 bits.
const LAST: i64 = i32::MAX as i64;

/// Numbered things. The first number is 1.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    first: i64,
    items: Vec<T>,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self { first: 1, items: Vec::new() }
    }
}

impl<T> Handles<T> {
    /// Keeps a thing. Returns its number.
    pub(crate) fn insert(&mut self, item: T) -> i64 {
        if self.first + self.items.len() as i64 > LAST {
            *self = Self::default();
        }
        self.items.push(item);
        self.first + self.items.len() as i64 - 1
    }

    /// The thing of a number.
    pub(crate) fn get(&self, number: i64) -> Option<&T> {
        self.items.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Forgets all things. Later ones get new numbers.
    pub(crate) fn clear(&mut self) {
        self.first += self.items.len() as i64;
        self.items.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_forgotten_things_name_nothing() {
        let mut handles = Handles::default();
        let a = handles.insert("a");
        assert_eq!((a, handles.get(a)), (1, Some(&"a")));
        handles.clear();
        let b = handles.insert("b");
        assert_eq!((handles.get(a), handles.get(b)), (None, Some(&"b")));
        assert_eq!(
            (handles.get(0), handles.get(i64::MIN), handles.get(i64::MAX)),
            (None, None, None)
        );
    }

    #[test]
    fn numbers_begin_again_after_the_last() {
        let mut handles = Handles { first: LAST, items: Vec::new() };
        assert_eq!(handles.insert("last"), LAST);
        assert_eq!(handles.insert("next"), 1);
        assert_eq!(handles.get(LAST), None);
    }
}
