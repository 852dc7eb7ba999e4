//! How far a client may be ahead. Messages that were read but not served take memory, and a client
//! that keeps sending while a request is served could fill all of it. So the reading thread waits
//! here until the session has caught up.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The most bytes of messages that may wait. A single message may be longer.
const MAX_WAITING: usize = 4 << 20;

/// How many bytes of messages wait. Clones share one count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backlog(Arc<(Mutex<usize>, Condvar)>);

impl Backlog {
    /// Adds a message of so many bytes; blocks until there is room for it.
    pub(crate) fn enter(&self, bytes: usize) -> Ticket {
        let (waiting, served) = &*self.0;
        let guard = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |waiting: &mut usize| *waiting > 0 && *waiting + bytes > MAX_WAITING;
        let guard = served.wait_while(guard, is_full);
        *guard.unwrap_or_else(PoisonError::into_inner) += bytes;
        Ticket { backlog: self.clone(), bytes }
    }
}

/// A waiting message. Dropping the ticket makes room for the next.
#[derive(Debug)]
pub(crate) struct Ticket {
    backlog: Backlog,
    bytes: usize,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let (waiting, served) = &*self.backlog.0;
        *waiting.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        served.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_client_that_is_ahead_waits() {
        let backlog = Backlog::default();
        let long = backlog.enter(2 * MAX_WAITING);
        let (sender, entered) = channel();
        let of_thread = backlog.clone();
        thread::spawn(move || {
            for _ in 0..3 {
                sender.send(of_thread.enter(MAX_WAITING / 2)).unwrap();
            }
        });
        assert!(entered.recv_timeout(Duration::from_millis(50)).is_err());
        drop(long);
        let first = entered.recv().unwrap();
        let second = entered.recv().unwrap();
        assert!(entered.recv_timeout(Duration::from_millis(50)).is_err());
        drop((first, second));
        entered.recv().unwrap();
    }
}
