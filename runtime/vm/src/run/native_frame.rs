//! Native functions on the stack.

use std::fmt;

use vmfb::FunctionOrdinal;

use crate::errors::Status;
use crate::native::{Activity, Boundary, Host, NativeReturn, Next};
use crate::objects::Value;
use crate::position::{FunctionId, ModuleIndex};

/// What a native function on the stack does.
pub(crate) enum Doing {
    /// It waits for a closure to say that it is done.
    Polling(Box<dyn FnMut() -> Result<NativeReturn, Status> + Send>),
    /// It runs in steps.
    Stepping(Box<dyn Activity>),
}

/// A native function on the stack.
pub(crate) struct NativeFrame {
    pub(crate) module: u32,
    pub(crate) function: u32,
    /// The number of bytecode frames below it.
    pub(crate) depth: usize,
    pub(crate) doing: Doing,
    /// The results of the function that it called.
    pub(crate) results: Vec<Value>,
    /// The boundary that it is at, if it reported one.
    pub(crate) boundary: Option<Boundary>,
    /// The turns of the invocation when it last called a function; `None` if it has adopted the
    /// frames of another invocation, whose turns were counted there.
    pub(crate) called_at: Option<u64>,
}

impl NativeFrame {
    /// The frame of a native function that has not returned yet. `Err`: its results.
    pub(crate) fn new(
        (module, function): (u32, u32),
        depth: usize,
        returned: NativeReturn,
    ) -> Result<Self, Vec<Value>> {
        let doing = match returned {
            NativeReturn::Results(results) => return Err(results),
            NativeReturn::Result(result) => return Err(vec![result]),
            NativeReturn::Pending(poll) => Doing::Polling(poll),
            NativeReturn::Activity(activity) => Doing::Stepping(activity),
        };
        let results = Vec::new();
        Ok(Self { module, function, depth, doing, results, boundary: None, called_at: Some(0) })
    }

    pub(crate) fn id(&self) -> FunctionId {
        FunctionId { module: ModuleIndex(self.module), function: FunctionOrdinal(self.function) }
    }

    pub(crate) fn is_polling(&self) -> bool {
        matches!(self.doing, Doing::Polling(_))
    }

    /// The activity; `None` if the function only waits.
    pub(crate) fn activity(&self) -> Option<&dyn Activity> {
        match &self.doing {
            Doing::Polling(_) => None,
            Doing::Stepping(activity) => Some(&**activity),
        }
    }

    /// The activity, to change it.
    pub(crate) fn activity_mut(&mut self) -> Option<&mut dyn Activity> {
        match &mut self.doing {
            Doing::Polling(_) => None,
            Doing::Stepping(activity) => Some(&mut **activity),
        }
    }

    /// The number of frames that it shows as: its own, and one per part.
    pub(crate) fn frame_count(&self) -> usize {
        1 + self.activity().map_or(0, Activity::part_count)
    }

    /// The parts of its activity, outermost first.
    pub(crate) fn parts(&self) -> Vec<String> {
        self.activity().map_or_else(Vec::new, Activity::parts)
    }

    /// Resumes the function.
    pub(crate) fn resume(&mut self, host: &mut Host<'_>) -> Result<Next, Status> {
        self.boundary = None;
        match &mut self.doing {
            Doing::Stepping(activity) => activity.resume(host, std::mem::take(&mut self.results)),
            Doing::Polling(poll) => Ok(match poll()? {
                NativeReturn::Results(results) => Next::Return(results),
                NativeReturn::Result(result) => Next::Return(vec![result]),
                NativeReturn::Pending(poll) => {
                    self.doing = Doing::Polling(poll);
                    Next::Wait
                }
                NativeReturn::Activity(activity) => {
                    self.doing = Doing::Stepping(activity);
                    Next::Again
                }
            }),
        }
    }
}

impl fmt::Debug for NativeFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module, function, depth, boundary, .. } = self;
        let mut text = f.debug_struct("NativeFrame");
        text.field("function", &format_args!("{module}:{function}")).field("depth", depth);
        text.field("boundary", boundary);
        match self.activity() {
            Some(activity) => text.field("activity", &activity),
            None => text.field("activity", &"waits"),
        };
        text.finish()
    }
}
