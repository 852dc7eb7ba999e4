//! How far a client may be ahead: what was read and not served yet takes memory, and a client that
//! goes on talking while its program is looked at could fill all of it. It is not read from any
//! more until the session has caught up.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Bytes of messages that may wait. One message may be longer.
const MOST: usize = 4 << 20;

/// What waits. Clones are the same account.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backlog(Arc<(Mutex<usize>, Condvar)>);

impl Backlog {
    /// Enters a message, when there is room for it.
    pub(crate) fn enter(&self, bytes: usize) -> Ticket {
        let (waiting, served) = &*self.0;
        let guard = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |waiting: &mut usize| *waiting > 0 && *waiting + bytes > MOST;
        let guard = served.wait_while(guard, is_full);
        *guard.unwrap_or_else(PoisonError::into_inner) += bytes;
        Ticket { backlog: self.clone(), bytes }
    }
}

/// A message that waits, until this is dropped.
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
        let long = backlog.enter(2 * MOST);
        let (sender, entered) = channel();
        let of_thread = backlog.clone();
        thread::spawn(move || {
            for _ in 0..3 {
                sender.send(of_thread.enter(MOST / 2)).unwrap();
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
