//! Interrupting a running program from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::{Busy, BusyDispatch, Context, Interrupt, ModuleKind};

/// Whether the program waits for its host. A native function that waits raises it and yields.
#[derive(Clone, Debug, Default)]
pub struct Waiting(Arc<AtomicBool>);

impl Waiting {
    /// The program waits, until something looks at it.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the program waits; it then no longer does.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }
}

/// Stops a running program from another thread.
#[derive(Clone, Debug, Default)]
pub struct InterruptHandle(Arc<Mutex<InterruptState>>);

/// Wakes what waits while the program stands still.
#[derive(Default)]
struct Waker(Option<Box<dyn Fn() + Send>>);

impl std::fmt::Debug for Waker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Waker({})", self.0.is_some())
    }
}

#[derive(Debug, Default)]
struct InterruptState {
    requested: bool,
    /// Whether [`InterruptHandle::take`] has met a request since [`InterruptHandle::begin`].
    was_requested: bool,
    /// Whether the program comes back to where it stood, and does not stop on that way.
    is_held: bool,
    /// Whether the program has to pause for its [`crate::Caller`], which it has not done yet.
    attended: bool,
    /// Whether the caller wants a program back that stands still for what runs the debugger.
    recalled: bool,
    /// Called by each request.
    waker: Waker,
    /// Called when the caller wants its program back.
    recaller: Waker,
    /// The invocation that runs now: first that of the initialisers, then that of the function.
    current: Interrupt,
    /// The names of native functions, by module.
    natives: Vec<Vec<String>>,
}

impl InterruptHandle {
    /// Makes a running [`crate::Debugger::resume`] return [`crate::StopReason::Pause`] at the next
    /// call or backward branch; one that has not begun yet returns at once.
    pub fn interrupt(&self) {
        let mut state = self.lock();
        state.requested = true;
        if !state.is_held {
            state.current.request();
        }
        if let Waker(Some(wake)) = &state.waker {
            wake();
        }
    }

    /// Makes a running program pause so that its [`crate::Caller`] looks at it; it is no request to
    /// stop.
    pub fn attend(&self) {
        let mut state = self.lock();
        state.attended = true;
        if !state.is_held {
            state.current.request();
        }
    }

    /// The same, also of a program that stands still for what runs the debugger, as an editor: that
    /// lets it go on.
    pub fn recall(&self) {
        self.attend();
        let mut state = self.lock();
        state.recalled = true;
        if let Waker(Some(wake)) = &state.recaller {
            wake();
        }
    }

    /// Calls a function whenever the program's caller wants it back: what shows the program
    /// standing lets it go on then.
    pub fn recall_by(&self, wake: impl Fn() + Send + 'static) {
        self.lock().recaller = Waker(Some(Box::new(wake)));
    }

    /// Whether the caller wants its program back, and has not been asked since.
    #[must_use]
    pub fn is_recalled(&self) -> bool {
        self.lock().recalled
    }

    /// The caller is about to say what it wants: there is no need to pause for it.
    pub fn hear(&self) {
        let mut state = self.lock();
        (state.recalled, state.attended) = (false, false);
    }

    /// Withdraws a request to stop that came too late for the run that it was meant for.
    pub fn withdraw(&self) {
        let mut state = self.lock();
        state.current.clear();
        state.requested = false;
    }

    /// Does something that no request to stop interrupts. One that comes meanwhile stays.
    pub(crate) fn held<T>(&self, act: impl FnOnce() -> T) -> T {
        self.lock().is_held = true;
        let done = act();
        let mut state = self.lock();
        state.is_held = false;
        if state.requested || state.attended {
            state.current.request();
        }
        done
    }

    /// Calls a function at each request to stop: a caller that waits for its next call hears of it
    /// so.
    pub fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        self.lock().waker = Waker(Some(Box::new(wake)));
    }

    /// Whether something else than [`Self::attend`] has asked for the last pause.
    #[must_use]
    pub fn was_requested(&self) -> bool {
        self.lock().was_requested
    }

    /// The program resumes.
    pub(crate) fn begin(&self) {
        self.lock().was_requested = false;
    }

    /// Whether an interrupt was requested that has not stopped the program yet.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.lock().requested
    }

    /// What keeps the program from stopping at once: a sentence without its full stop. None: the
    /// program itself runs.
    #[must_use]
    pub fn busy(&self) -> Option<String> {
        let state = self.lock();
        Some(match state.current.busy()? {
            Busy::Dispatch(dispatch, workgroup) => {
                let BusyDispatch { name, workgroup_count } = dispatch;
                let [x, y, z] = hal::workgroup_at(workgroup_count, workgroup);
                format!("in dispatch @{name}, workgroup ({x},{y},{z}); stops at its end")
            }
            Busy::Native(function) => {
                let module = state.natives.get(function.module.0 as usize)?;
                let name = module.get(function.function.0 as usize)?;
                format!("in {name}, which is native; stops when it returns")
            }
        })
    }

    /// Takes the names of native functions from a context.
    pub(crate) fn learn(&self, context: &Context) {
        let names = context.modules().map(|(_, module, kind)| match kind {
            ModuleKind::Native(native) => {
                native.functions().map(|(name, _)| format!("{module}.{name}")).collect()
            }
            ModuleKind::Bytecode(_) => Vec::new(),
        });
        self.lock().natives = names.collect();
    }

    pub(crate) fn attach(&self, interrupt: Interrupt) {
        self.lock().current = interrupt;
    }

    /// Whether an interrupt was requested since the last call. The request is withdrawn.
    pub fn take(&self) -> bool {
        let mut state = self.lock();
        if state.is_held {
            return false;
        }
        state.current.clear();
        let was_requested = std::mem::take(&mut state.requested);
        state.was_requested |= was_requested;
        was_requested
    }

    /// The same, where the program is about to run: also whether it has to pause for its caller.
    pub(crate) fn take_any(&self) -> bool {
        let was_requested = self.take();
        let mut state = self.lock();
        !state.is_held && std::mem::take(&mut state.attended) || was_requested
    }

    /// The program pauses, so its caller looks at it.
    pub(crate) fn paused(&self) {
        self.lock().attended = false;
    }

    fn lock(&self) -> MutexGuard<'_, InterruptState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
