//! A loaded program and what this session knows of it: the numbers that its client holds.
//!
//! Whoever has the [`Debuggee`] may touch the program: the session's loop while it stands still,
//! the worker thread while it runs.

use std::collections::HashMap;
use std::ops::Range;

use debug::{
    BreakpointId, BreakpointTable, Call, Debugger, Frame, FrameId, Level, Position, StopReason,
};
use vm::Failure;

use crate::cancel::Cancelled;
use crate::client::Client;
use crate::error::RequestError;
use crate::events::{self, BreakpointEvent, Event, LoadedSource, ModuleEvent};
use crate::exceptions::Exceptions;
use crate::handles::Handles;
use crate::launch::Settings;
use crate::memories::Memories;
use crate::protocol;
use crate::sources::{SourceKey, Sources};
use crate::to_dap::{self, Content, Expandable};
use crate::watched::Watched;

/// See the module.
pub(crate) struct Debuggee {
    pub(crate) debugger: Debugger,
    pub(crate) settings: Settings,
    pub(crate) sources: Sources,
    pub(crate) breakpoints: BreakpointSets,
    /// Whether the program has been let go for the first time.
    pub(crate) started: bool,
    /// Whether the client has said that its breakpoints are all set.
    pub(crate) configured: bool,
    /// Whether any client has ever said so.
    pub(crate) configured_once: bool,
    /// How it has failed, if it has. It can be looked at, and going on ends it.
    pub(crate) failure: Option<Failure>,
    /// Why it stands still, as far as the client was told.
    pub(crate) stopped_for: Option<StopReason>,
    /// What requests have changed that the client is to hear of after their answers.
    pub(crate) to_say: Vec<Event>,
    /// How many modules the client has heard of.
    modules_told: usize,
    /// The source files that the client has heard of.
    sources_told: Vec<String>,
    /// What can be expanded at this stop.
    pub(crate) variables: Handles<Expandable>,
    /// The memory that the client was shown.
    pub(crate) memories: Memories,
    /// Where the client may step into, and go to.
    pub(crate) targets: Handles<Target>,
    /// The data that the client may want to watch.
    pub(crate) watched: Watched,
    /// What stops the program without a breakpoint.
    pub(crate) exceptions: Exceptions,
    /// What gives an evaluation up.
    pub(crate) cancelled: Cancelled,
    /// The numbers of those of this stop's frames that the client has asked for.
    frame_handles: Handles<FrameId>,
    frame_numbers: HashMap<FrameId, i64>,
    /// How many frames there are, once somebody has asked.
    frame_count: Option<usize>,
}

/// Where a client may make the program go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// An instruction to go on at.
    Place(Position),
    /// A call to step into.
    Call(Call),
}

/// What outlives a program that is launched anew.
pub(crate) struct Kept {
    table: BreakpointTable,
    breakpoints: BreakpointSets,
    sources: Sources,
    sources_told: Vec<String>,
    modules_told: usize,
    /// Emptied; their numbers go on, so that those of the earlier run name nothing.
    variables: Handles<Expandable>,
    targets: Handles<Target>,
    exceptions: Exceptions,
    frame_handles: Handles<FrameId>,
    /// The level that was chosen, and the one that the launch had asked for.
    level: (Level, Level),
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
    Data,
}

impl Debuggee {
    pub(crate) fn new(debugger: Debugger, settings: Settings) -> Self {
        Self {
            debugger,
            settings,
            sources: Sources::default(),
            breakpoints: BreakpointSets::default(),
            started: false,
            configured: false,
            configured_once: false,
            failure: None,
            stopped_for: None,
            to_say: Vec::new(),
            modules_told: 0,
            sources_told: Vec::new(),
            variables: Handles::default(),
            memories: Memories::default(),
            targets: Handles::default(),
            watched: Watched::default(),
            exceptions: Exceptions::default(),
            cancelled: Cancelled::default(),
            frame_handles: Handles::default(),
            frame_numbers: HashMap::new(),
            frame_count: None,
        }
    }

    /// What is taken over when the program is launched anew.
    pub(crate) fn into_kept(mut self) -> Kept {
        self.forget_stop();
        let level = (self.debugger.level(), self.settings.level);
        Kept {
            variables: self.variables,
            targets: self.targets,
            exceptions: self.exceptions,
            frame_handles: self.frame_handles,
            table: self.debugger.take_breakpoints(),
            breakpoints: self.breakpoints,
            sources: self.sources,
            sources_told: self.sources_told,
            modules_told: self.modules_told,
            level,
        }
    }

    /// Takes over what an earlier run of the program had.
    pub(crate) fn adopt(&mut self, kept: Kept) {
        self.debugger.adopt_breakpoints(kept.table);
        self.breakpoints = kept.breakpoints;
        self.variables = kept.variables;
        self.targets = kept.targets;
        self.debugger.set_traps(kept.exceptions.traps);
        self.exceptions = kept.exceptions;
        self.forget_data_breakpoints();
        self.frame_handles = kept.frame_handles;
        self.sources = kept.sources;
        self.sources_told = kept.sources_told;
        self.modules_told = kept.modules_told;
        let (level, asked) = kept.level;
        if asked == self.settings.level {
            // A program that does not have it any more is shown as it was launched.
            let _ = self.debugger.set_level(level);
        }
        self.configured = true;
    }

    /// Data is that of one run: what was watched in an earlier one is no more.
    fn forget_data_breakpoints(&mut self) {
        for id in self.breakpoints.owned.remove(&Owner::Data).unwrap_or_default() {
            self.debugger.remove_breakpoint(id);
            self.breakpoints.reported.remove(&id);
            let id = Some(i64::from(id.0));
            let breakpoint = protocol::Breakpoint { id, ..protocol::Breakpoint::default() };
            let event = BreakpointEvent { reason: "removed", breakpoint };
            self.to_say.push(Event::Breakpoint(event));
        }
    }

    /// Forgets what a client has set and asked for; another one may come.
    pub(crate) fn forget_client(&mut self) {
        self.debugger.take_breakpoints();
        self.breakpoints = BreakpointSets::default();
        self.exceptions = Exceptions::default();
        self.debugger.set_traps(self.exceptions.traps);
        self.watched = Watched::default();
        self.sources = Sources::default();
        self.sources_told.clear();
        self.modules_told = 0;
        self.configured = false;
        self.settings = Settings::default();
        // The source is a level of every program.
        let _ = self.debugger.set_level(Level::Source);
        self.forget_stop();
    }

    /// Modules and sources that the client has not heard of.
    pub(crate) fn news(&mut self, client: &Client) -> Vec<Event> {
        let program = self.debugger.program();
        let catalog = program.catalog();
        if catalog.len() <= self.modules_told {
            return Vec::new();
        }
        let mut news = Vec::new();
        for details in &catalog[self.modules_told..] {
            let module = to_dap::module(details, program, client);
            news.push(Event::Module(ModuleEvent { reason: "new", module }));
        }
        self.modules_told = catalog.len();
        for file in self.debugger.program().source_files() {
            if self.sources_told.contains(&file.file) {
                continue;
            }
            self.sources_told.push(file.file.clone());
            if let Some(source) = self.sources.of_file(&file, &self.debugger, client) {
                news.push(Event::LoadedSource(LoadedSource { reason: "new", source }));
            }
        }
        news
    }

    /// Forgets what was true of the last stop.
    pub(crate) fn forget_stop(&mut self) {
        self.stopped_for = None;
        self.variables.clear();
        self.targets.clear();
        self.memories.forget_unopened();
        self.frame_handles.clear();
        self.frame_numbers.clear();
        self.frame_count = None;
    }

    /// How many frames there are at this stop.
    pub(crate) fn frame_count(&mut self) -> usize {
        let Self { debugger, frame_count, .. } = self;
        *frame_count.get_or_insert_with(|| debugger.frame_count())
    }

    /// Some frames of this stop with their numbers, from the innermost on.
    pub(crate) fn frames_in(&mut self, range: Range<usize>) -> Vec<(i64, Frame)> {
        let Self { debugger, frame_handles, frame_numbers, .. } = self;
        let number = |frame: Frame| {
            let id = frame.id();
            (*frame_numbers.entry(id).or_insert_with(|| frame_handles.insert(id)), frame)
        };
        debugger.frames_in(range).into_iter().map(number).collect()
    }

    /// The frame of a number.
    pub(crate) fn frame(&self, number: i64) -> Result<FrameId, RequestError> {
        self.frame_handles.get(number).copied().ok_or_else(|| {
            RequestError::stale(format!(
                "frame {number} is not on the stack; ask for the stack trace of this stop"
            ))
        })
    }

    /// The frame of a number, the innermost if there is none.
    pub(crate) fn frame_or_innermost(&self, number: Option<i64>) -> Result<FrameId, RequestError> {
        number.map_or(Ok(self.debugger.innermost_frame()), |number| self.frame(number))
    }

    /// What a number of a variable stands for.
    pub(crate) fn expandable(&self, number: i64) -> Result<Expandable, RequestError> {
        self.variables.get(number).cloned().ok_or_else(|| {
            RequestError::stale(format!(
                "variable {number} is not of this stop; ask for the scopes of a frame"
            ))
        })
    }

    /// What names a part of something expandable, and in which frame.
    pub(crate) fn expression_of(
        &self,
        container: i64,
        name: &str,
    ) -> Result<(FrameId, String), RequestError> {
        let Expandable { content, parent } = self.expandable(container)?;
        let Content::Parts(children) = content else {
            return Err(RequestError::failed(format!("{name} is no value of the program")));
        };
        let index = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')?.parse().ok());
        let range = index.map(|index: usize| index..index.saturating_add(1));
        let found = self.debugger.children(&children.node, range);
        let found = found.into_iter().find(|it| it.name == name).ok_or_else(|| {
            RequestError::failed(format!("there is nothing called {name} in that"))
        })?;
        let of_parent = parent.expression.map(|whole| format!("{whole}{name}"));
        let expression = found.evaluate_name.or(of_parent.filter(|_| name.starts_with('[')));
        let expression = expression
            .ok_or_else(|| RequestError::failed(format!("{name} cannot be named or changed")))?;
        Ok((parent.frame, expression))
    }

    /// Something has been changed: whoever shows values is told to ask again.
    pub(crate) fn changed(&mut self, client: &Client, memory: Option<(String, i64, usize)>) {
        if client.shows_memory {
            let written = memory.map(|(memory_reference, offset, count)| {
                Event::Memory(events::Memory { memory_reference, offset, count })
            });
            // A value that was set may lie in any memory that the client looks at.
            let opened = || self.memories.opened().map(Event::Memory).collect();
            self.to_say.extend(written.map_or_else(opened, |event| vec![event]));
        }
        if client.refreshes {
            let areas = &["variables"];
            self.to_say.push(Event::Invalidated(events::Invalidated { areas }));
        }
    }

    /// Shows the program in another text: the client is told to ask again for what it shows of this
    /// stop.
    ///
    /// # Errors
    /// The program has no such text.
    pub(crate) fn set_level(&mut self, level: Level, client: &Client) -> Result<(), String> {
        self.debugger.set_level(level)?;
        self.frame_numbers.clear();
        self.frame_count = None;
        if self.debugger.frame_count() == 0 {
            return Ok(());
        }
        if client.refreshes {
            let areas = &["stacks", "variables"];
            self.to_say.push(Event::Invalidated(events::Invalidated { areas }));
        } else if let Some(reason) = &self.stopped_for {
            // Clients that cannot be told so ask after every stop.
            let stopped = to_dap::stopped(reason, &self.debugger);
            self.to_say.extend(stopped.map(Event::Stopped));
        }
        Ok(())
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
