//! Interrupting a running program from another thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::{Busy, BusyDispatch, Context, Interrupt, ModuleKind};

/// Stops a running program from another thread.
#[derive(Clone, Debug, Default)]
pub struct InterruptHandle(Arc<Mutex<InterruptState>>);

#[derive(Debug, Default)]
struct InterruptState {
    requested: bool,
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
        state.current.request();
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
    pub(crate) fn take(&self) -> bool {
        let mut state = self.lock();
        state.current.clear();
        std::mem::take(&mut state.requested)
    }

    fn lock(&self) -> MutexGuard<'_, InterruptState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
