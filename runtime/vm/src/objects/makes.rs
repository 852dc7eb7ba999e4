//! The buffers and lists that a program makes, by number, so that going back does not move them.
//!
//! A program that goes back and runs again makes the same objects again, in the same order. A
//! watchpoint or a view of memory that has kept one means what it then becomes. So each one is
//! remembered by its number, without being kept alive:
//!
//! ```text
//!   makes      1      2      3      4        the third one is watched
//!   goes back to      2 ┘    .      .        it is not there now
//!   makes                    3      4        3: the same object, zeroed; 4: another one
//! ```
//!
//! What nothing has kept may lie anywhere, as nothing can tell.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::buffer::Buffer;
use super::guest_memory::Remembered;
use super::list::{ElementType, List};
use crate::errors::Status;

/// See the module documentation. It is off until something wants to go back.
#[derive(Debug, Default)]
pub struct Makes {
    is_on: AtomicBool,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    /// How many were made up to the present moment.
    count: u64,
    /// In the order of their numbers.
    known: Vec<(u64, Made)>,
    clean_at: usize,
}

/// What a program made after a moment, set aside while it makes something else instead.
#[derive(Default)]
pub struct LaterMakes(Vec<(u64, Made)>);

/// An object that may be gone.
enum Made {
    Memory(Remembered),
    List(Weak<List>),
}

impl Made {
    fn is_alive(&self) -> bool {
        match self {
            Self::Memory(memory) => memory.is_alive(),
            Self::List(list) => list.strong_count() > 0,
        }
    }

    /// It is not there at this moment.
    fn end(&self) {
        match self {
            Self::Memory(memory) => memory.end(),
            Self::List(list) => {
                if let Some(list) = list.upgrade() {
                    // A list can always be made shorter.
                    let _ = list.resize(0);
                }
            }
        }
    }
}

impl Makes {
    /// Whether the program may go back.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Begins or ends to remember what is made.
    pub fn set_on(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
        if !is_on {
            *self.lock() = Log::default();
        }
    }

    /// What is made until [`Self::resume`] is no part of the program's run. Returns whether that
    /// was remembered.
    #[must_use]
    pub fn suspend(&self) -> bool {
        self.is_on.swap(false, Ordering::Relaxed)
    }

    /// What is made from now on is remembered, if it was before.
    pub fn resume(&self, was_on: bool) {
        self.is_on.store(was_on, Ordering::Relaxed);
    }

    /// The present place, to which [`Self::go_back_to`] can return.
    #[must_use]
    pub fn mark(&self) -> u64 {
        self.lock().count
    }

    /// The program goes back: what was made later is not there.
    pub fn go_back_to(&self, mark: u64) {
        let mut log = self.lock();
        log.count = mark;
        let from = log.known.partition_point(|(number, _)| *number <= mark);
        log.known[from..].iter().for_each(|(_, made)| made.end());
    }

    /// The program will not make again what it made after this moment.
    pub fn forget_later(&self) {
        let mut log = self.lock();
        let count = log.count;
        log.known.retain(|(number, _)| *number <= count);
    }

    /// Sets aside what was made after a mark. None of it is there.
    #[must_use]
    pub fn take_after(&self, mark: u64) -> LaterMakes {
        let mut log = self.lock();
        let from = log.known.partition_point(|(number, _)| *number <= mark);
        let later = log.known.split_off(from);
        later.iter().for_each(|(_, made)| made.end());
        log.count = log.count.min(mark);
        LaterMakes(later)
    }

    /// The program, which has made nothing after the mark at which this was set aside, will make it
    /// again.
    pub fn put(&self, later: LaterMakes) {
        self.lock().known.extend(later.0);
    }

    /// A zeroed buffer of a length: the one that was made in its place before the program went
    /// back, if something has kept that, or else a fresh one.
    ///
    /// # Errors
    /// There is no memory for a fresh one.
    pub fn make(
        &self,
        length: usize,
        fresh: impl FnOnce() -> Result<Buffer, Status>,
    ) -> Result<Buffer, Status> {
        if !self.is_on.load(Ordering::Relaxed) {
            return fresh();
        }
        let mut log = self.lock();
        if let Some(Made::Memory(known)) = log.next()
            && known.len() == length
            && let Some(buffer) = Buffer::again(known)
        {
            buffer.fill(0, length as u64, [0])?;
            log.count += 1;
            return Ok(buffer);
        }
        let buffer = fresh()?;
        log.add(buffer.remembered().map(Made::Memory));
        Ok(buffer)
    }

    /// An empty list of a type, likewise.
    pub(crate) fn make_list(
        &self,
        element_type: ElementType,
        fresh: impl FnOnce(ElementType) -> List,
    ) -> Arc<List> {
        if !self.is_on.load(Ordering::Relaxed) {
            return Arc::new(fresh(element_type));
        }
        let mut log = self.lock();
        if let Some(Made::List(known)) = log.next()
            && let Some(list) = known.upgrade()
            && *list.element_type() == element_type
            && list.resize(0).is_ok()
        {
            log.count += 1;
            return list;
        }
        let list = Arc::new(fresh(element_type));
        log.add(Some(Made::List(Arc::downgrade(&list))));
        list
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        // Entries are added whole, so a panic in another thread does not spoil the log.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn place(&self) -> Result<usize, usize> {
        self.known.binary_search_by_key(&(self.count + 1), |(number, _)| *number)
    }

    /// What was made next before the program went back, if it did.
    fn next(&self) -> Option<&Made> {
        self.place().ok().map(|index| &self.known[index].1)
    }

    /// Something is made, which is remembered if it has contents.
    fn add(&mut self, made: Option<Made>) {
        let place = self.place();
        self.count += 1;
        let Some(made) = made else { return };
        match place {
            Ok(index) => self.known[index].1 = made,
            Err(index) => self.known.insert(index, (self.count, made)),
        }
        self.clean();
    }

    /// Forgets what is gone, each time that there is twice as much as was left the last time.
    fn clean(&mut self) {
        if self.known.len() > self.clean_at {
            self.known.retain(|(_, made)| made.is_alive());
            self.clean_at = 2 * self.known.len() + 64;
        }
    }
}

impl std::fmt::Debug for LaterMakes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LaterMakes").field(&self.0.len()).finish()
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("count", &self.count).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ExecutionLimits;

    fn make(makes: &Makes, length: usize) -> Buffer {
        makes.make(length, || Buffer::alloc(length, 0, &ExecutionLimits::default())).unwrap()
    }

    #[test]
    fn what_was_kept_is_made_again_where_it_was() {
        let makes = Makes::default();
        makes.set_on(true);
        let first = make(&makes, 100);
        let mark = makes.mark();
        let second = make(&makes, 100);
        second.write(0, &[7; 100]).unwrap();
        let part = second.subspan(10, 4).unwrap();
        let address = second.address();
        drop(second);
        for _ in 0..1000 {
            drop(make(&makes, 8));
        }
        makes.go_back_to(mark);
        assert!(first.is_there() && !part.is_there());
        let second = make(&makes, 100);
        assert_eq!((second.address(), part.is_there()), (address, true));
        assert_eq!(part.read(0, 4), [0; 4]);

        // What another run makes in its place is another buffer.
        makes.go_back_to(mark);
        assert_ne!(make(&makes, 101).address(), address);
        makes.go_back_to(mark);
        makes.forget_later();
        assert_ne!(make(&makes, 100).address(), address);
        assert!(!part.is_there());
    }

    #[test]
    fn what_was_set_aside_is_made_again_later() {
        let makes = Makes::default();
        makes.set_on(true);
        let first = make(&makes, 10);
        let mark = makes.mark();
        let second = make(&makes, 20);
        let later = makes.take_after(mark);
        assert!(first.is_there() && !second.is_there());
        let other = make(&makes, 20);
        assert_ne!(other.address(), second.address());
        let others = makes.take_after(mark);
        makes.put(later);
        assert!(!other.is_there());
        assert_eq!(make(&makes, 20).address(), second.address());
        drop(makes.take_after(mark));
        makes.put(others);
        assert_eq!(make(&makes, 20).address(), other.address());
    }

    #[test]
    fn an_old_life_does_not_end_a_new_one() {
        let makes = Makes::default();
        makes.set_on(true);
        let old = make(&makes, 10);
        let life = old.life();
        makes.go_back_to(0);
        let new = make(&makes, 10);
        old.end(life);
        assert!(new.is_there());
        new.end(new.life());
        assert!(!old.is_there());
    }

    #[test]
    fn lists_are_made_again_empty() {
        let makes = Makes::default();
        makes.set_on(true);
        let limits = ExecutionLimits::default();
        let number = ElementType::parse("i32").unwrap();
        let make = |of: &ElementType| makes.make_list(of.clone(), |it| List::new(it, &limits));
        let list = make(&number);
        list.push(crate::objects::Value::I32(5)).unwrap();
        makes.go_back_to(0);
        assert!(list.is_empty());
        assert!(Arc::ptr_eq(&make(&number), &list));
        makes.go_back_to(0);
        assert!(!Arc::ptr_eq(&make(&ElementType::Variant), &list));
    }
}
