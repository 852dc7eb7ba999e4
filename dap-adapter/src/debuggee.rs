//! A loaded program and what this session knows of it: the numbers that its client holds.
//!
//! Whoever has the [`Debuggee`] may touch the program: the session's loop while it stands still, the
//! worker thread while it runs.

use std::collections::HashMap;

use debug::{BreakpointId, Children, Debugger, Frame, FrameIndex};

use crate::client::Client;
use crate::error::RequestError;
use crate::handles::Handles;
use crate::launch::Settings;
use crate::protocol;
use crate::sources::{SourceKey, Sources};
use crate::to_dap;

/// See the module.
pub(crate) struct Debuggee {
    pub(crate) debugger: Debugger,
    pub(crate) settings: Settings,
    pub(crate) sources: Sources,
    pub(crate) breakpoints: BreakpointSets,
    /// Whether the program has been let go for the first time.
    pub(crate) started: bool,
    /// Whether it has failed. It can be looked at, and going on ends it.
    pub(crate) failed: bool,
    /// What can be expanded at this stop.
    pub(crate) variables: Handles<Children>,
    /// The numbers of this stop's frames.
    frame_handles: Handles<FrameIndex>,
    /// This stop's frames, once somebody has asked.
    frames: Option<Vec<(i64, Frame)>>,
}

/// Which breakpoints each `set…Breakpoints` request owns: it replaces exactly those.
#[derive(Default)]
pub(crate) struct BreakpointSets {
    pub(crate) owned: HashMap<Owner, Vec<BreakpointId>>,
    /// What the client was last told of each.
    pub(crate) reported: HashMap<BreakpointId, protocol::Breakpoint>,
}

/// A `set…Breakpoints` request, as far as it replaces an earlier one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Owner {
    Source(SourceKey),
    Functions,
    Instructions,
}

impl Debuggee {
    pub(crate) fn new(debugger: Debugger, settings: Settings) -> Self {
        Self {
            debugger,
            settings,
            sources: Sources::default(),
            breakpoints: BreakpointSets::default(),
            started: false,
            failed: false,
            variables: Handles::default(),
            frame_handles: Handles::default(),
            frames: None,
        }
    }

    /// Forgets what was true of the last stop.
    pub(crate) fn forget_stop(&mut self) {
        self.variables.clear();
        self.frame_handles.clear();
        self.frames = None;
    }

    /// The frames of this stop with their numbers, innermost first.
    pub(crate) fn frames(&mut self) -> &[(i64, Frame)] {
        let Self { debugger, frame_handles, frames, .. } = self;
        frames.get_or_insert_with(|| {
            let number = |frame: Frame| (frame_handles.insert(frame.index), frame);
            debugger.frames().into_iter().map(number).collect()
        })
    }

    /// The frame of a number.
    pub(crate) fn frame(&self, number: i64) -> Result<FrameIndex, RequestError> {
        self.frame_handles.get(number).copied().ok_or_else(|| {
            RequestError::stale(format!(
                "frame {number} is not on the stack; ask for the stack trace of this stop"
            ))
        })
    }

    /// The breakpoints that are not what the client was told last, as they are now.
    pub(crate) fn changed_breakpoints(&mut self, client: &Client) -> Vec<protocol::Breakpoint> {
        let mut changed = Vec::new();
        for (id, told) in &mut self.breakpoints.reported {
            let Some(breakpoint) = self.debugger.breakpoint(*id) else { continue };
            let mut now = to_dap::breakpoint(breakpoint, &self.debugger, client);
            // These two the client may have been told from its own request.
            now.source.clone_from(&told.source);
            now.line = now.line.or(told.line);
            if now != *told {
                told.clone_from(&now);
                changed.push(now);
            }
        }
        changed.sort_by_key(|breakpoint| breakpoint.id);
        changed
    }
}
