//! The handlers, as code asks for them.

use super::control;
use super::operation::{Entry, handler};
use super::table::entry;
use crate::code::{Code, Handle};
use crate::machine::{Free, Handler, Observed, Signal};

impl Handle for Handler {
    fn free(code: Code) -> Entry {
        entry::<Free>(code)
    }

    fn observed(code: Code) -> Entry {
        entry::<Observed>(code)
    }

    fn guard() -> Self {
        Self(handler::<Free, control::Guarded>)
    }

    fn entering() -> Self {
        Self(handler::<Free, control::Enter>)
    }

    fn leaving() -> Self {
        Self(|_, _, _, _, _, _, _, _, _, _| Signal::Leave)
    }
}
