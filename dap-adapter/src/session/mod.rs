//! A session: one client, one program, and the loop between them.
//!
//! ```text
//!             launch           loaded               configurationDone
//!  Unlaunched ─────> Launching ──────> Standing ───────────────> Running
//!      │             ^   │               │  ^                     │   │
//!      │ attach      │   │ failed        │  └──────── stopped ────┘   │ completed
//!      │             │   v               v  terminate                 v
//!      │             │ Ended <─────────Ended<───────────────────────Ended ── disconnect ─> (gone)
//!      └──> Standing └── restart, from Standing or Running
//! ```
//!
//! Everything that can wake the loop is in [`LoopEvent`]. The loop never blocks on the program:
//! while the program runs, the runner's thread owns the `Debuggee`. A request that needs the
//! program then interrupts it and waits in `Running::waiting`. When the program stops, the
//! session serves the request, and the program resumes, in the middle of a step if need be, without
//! the client seeing a stop.
//!
//! A session that started a program never ends without an `exited` and a `terminated` event. A
//! program that the client attached to keeps running when the client leaves: see [`Ending`].
//!
//! The files, lowest first; a method calls only methods of its own file and of those above:
//!
//! | file | what lives there |
//! | --- | --- |
//! | `loop_event` | everything that wakes the loop |
//! | `progress` | when to tell the client that something takes its time |
//! | `early_answers` | answers to requests that cannot wait for the program |
//! | `state` | the session's states and data, and how it ends |
//! | `waiting` | requests that wait for the program |
//! | `running` | the program resumes, stops, and the client hears why |
//! | `lifecycle` | a program is launched, attached to, restarted, left or ended |
//! | `routing` | each request to its handler: at once, at a stop, or after an interrupt |
//! | `event_loop` | the loop |

mod early_answers;
mod event_loop;
mod lifecycle;
mod loop_event;
mod progress;
mod routing;
mod running;
mod state;
mod waiting;

pub(crate) use loop_event::LoopEvent;
pub(crate) use state::{Ended, Ending, Session};
