//! A loaded program, and what the session knows of it: the numbers that its client holds, its
//! breakpoints, and what the client has already heard.
//!
//! The owner of the [`Debuggee`] may touch the program: the session's loop while the program stands
//! still, the runner's thread while it runs.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use commands::Session as Commands;
use debug::{
    BreakpointId, BreakpointSpec, BreakpointTable, Call, Debugger, Frame, FrameId, Level,
    LineMoment, Moments, Position, PrintHistory, RunMoment, StopReason,
};
use vm::Failure;

use super::breakpoint_sets::{BreakpointSets, Owner};
use super::exception_filters::ExceptionFilters;
use crate::cancellation::CancelledRequests;
use crate::client::Client;
use crate::configuration::{Expected, Settings};
use crate::protocol::events::{self, BreakpointEvent, Category, LoadedSource, ModuleEvent};
use crate::protocol::{self, Event, RequestError};
use crate::references::{
    Content, DataIds, Expandable, Handles, SourceKey, Sources, ValueReferences,
};
use crate::to_dap;

/// See the module documentation.
pub(crate) struct Debuggee {
    pub(crate) debugger: Debugger,
    pub(crate) settings: Settings,
    pub(crate) sources: Sources,
    pub(crate) breakpoints: BreakpointSets,
    /// Whether the program has begun to run.
    pub(crate) started: bool,
    /// Whether the client has sent `configurationDone`.
    pub(crate) configured: bool,
    /// Whether any client has ever sent it.
    pub(crate) configured_once: bool,
    /// The failure, if the program has failed. It can be inspected, but not resumed.
    pub(crate) failure: Option<Failure>,
    /// The moment at which its launch opens it, until it has come there.
    pub(crate) opens_at: Option<RunMoment>,
    /// The results that its launch expects.
    pub(crate) expected: Option<Expected>,
    /// The moment from which it ran last, and its end, if it is recorded and has come there.
    pub(crate) ran_from: Option<LineMoment>,
    pub(crate) end: Option<LineMoment>,
    /// The reason of the stop that the client last heard.
    pub(crate) stopped_for: Option<StopReason>,
    /// Whether the client hears at every stop what has run.
    pub(crate) tells_run_map: bool,
    /// Events about changes that a request made, to be sent after its response.
    pub(crate) pending_events: Vec<Event>,
    /// How many modules the client has heard of.
    announced_modules: usize,
    /// The source files that the client has heard of.
    announced_sources: Vec<String>,
    /// The values and the memory that the client was shown.
    pub(crate) values: ValueReferences,
    /// The targets of `stepIn` and `goto` that the client was shown.
    pub(crate) targets: Handles<Target>,
    /// The data that the client may want to watch.
    pub(crate) data_ids: DataIds,
    /// What stops the program without a breakpoint.
    pub(crate) exception_filters: ExceptionFilters,
    /// Tensors as they were at earlier stops.
    pub(crate) moments: Moments,
    /// What the commands of the console remember.
    pub(crate) console: Commands,
    /// The frame that the client has last sent with a line of the console.
    console_frame: Option<i64>,
    /// The requests that the client has cancelled, which may end an evaluation.
    pub(crate) cancelled: CancelledRequests,
    /// How many expectations of the program did not hold.
    pub(crate) unmet: usize,
    /// The numbers of the frames of this stop that the client has asked for.
    frame_handles: Handles<FrameId>,
    frame_numbers: HashMap<FrameId, i64>,
    /// How many frames there are, if that was counted at this stop.
    frame_count: Option<usize>,
}

/// Where a client may make the program continue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// An instruction to continue at.
    Place(Position),
    /// A call to step into.
    Call(Call),
}

/// What outlives the program across a restart.
pub(crate) struct RestartState {
    printed: PrintHistory,
    table: BreakpointTable,
    breakpoints: BreakpointSets,
    sources: Sources,
    announced_sources: Vec<String>,
    announced_modules: usize,
    /// Without their things, so that numbers of the earlier run name nothing in the next.
    variables: Handles<Expandable>,
    targets: Handles<Target>,
    exception_filters: ExceptionFilters,
    frame_handles: Handles<FrameId>,
    console: Commands,
    /// The current level, and the level of the launch.
    level: (Level, Option<Level>),
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
            tells_run_map: false,
            pending_events: Vec::new(),
            announced_modules: 0,
            announced_sources: Vec::new(),
            values: ValueReferences::default(),
            targets: Handles::default(),
            data_ids: DataIds::default(),
            exception_filters: ExceptionFilters::default(),
            moments: Moments::default(),
            console: Commands::default().in_editor(),
            console_frame: None,
            cancelled: CancelledRequests::default(),
            unmet: 0,
            opens_at: None,
            expected: None,
            ran_from: None,
            end: None,
            frame_handles: Handles::default(),
            frame_numbers: HashMap::new(),
            frame_count: None,
        }
    }

    /// Whether it is over for a second time, as its client has let it run on from its end.
    pub(crate) fn has_run_from_end(&self) -> bool {
        self.end.is_some() && self.ran_from == self.end
    }

    /// A recorded program that is over goes back to its last stop, where its past can be looked at:
    /// always, or if its results are wrong. False: it is not recorded, or has run from there and is
    /// to end.
    pub(crate) fn go_back_to_end(&mut self, is_wrong: bool) -> bool {
        let is_second = self.has_run_from_end();
        // Then, what is over is that clients are served.
        let is_called = self.debugger.program().is_called_from_outside();
        let ends = self.settings.ends_if_right && !is_wrong;
        if is_called || ends || is_second || self.debugger.record_state().is_none() {
            return false;
        }
        self.end = self.debugger.go_back_from_end(self.settings.step_by.into()).ok().flatten();
        self.end.is_some()
    }

    /// What the program keeps across a restart.
    pub(crate) fn into_restart_state(mut self) -> RestartState {
        self.forget_stop();
        let level = (self.debugger.machine().level(), self.settings.level);
        RestartState {
            variables: self.values.variables,
            targets: self.targets,
            exception_filters: self.exception_filters,
            frame_handles: self.frame_handles,
            console: self.console,
            printed: std::mem::take(self.debugger.printed()),
            table: self.debugger.edit_breakpoints().take_others(),
            breakpoints: self.breakpoints,
            sources: self.sources,
            announced_sources: self.announced_sources,
            announced_modules: self.announced_modules,
            level,
        }
    }

    /// Takes over the state of an earlier run.
    pub(crate) fn restore(&mut self, kept: RestartState) {
        *self.debugger.printed() = kept.printed;
        self.debugger.edit_breakpoints().adopt(kept.table);
        self.breakpoints = kept.breakpoints;
        self.values.variables = kept.variables;
        self.targets = kept.targets;
        self.exception_filters = kept.exception_filters;
        self.forget_data_breakpoints();
        let inputs = self.console.inputs().clone();
        self.console = kept.console.called_with(inputs);
        let notes = self.console.restarted(&mut self.debugger).text;
        self.print(&notes);
        self.set_traps();
        self.frame_handles = kept.frame_handles;
        self.sources = kept.sources;
        self.announced_sources = kept.announced_sources;
        self.announced_modules = kept.announced_modules;
        let (level, asked) = kept.level;
        if asked == self.settings.level {
            // A program that no longer has the level stays at that of the launch.
            let _ = self.debugger.set_level(level);
        }
        self.configured = true;
    }

    /// Forgets data breakpoints: data of an earlier run does not exist in this one.
    fn forget_data_breakpoints(&mut self) {
        for id in self.breakpoints.owned.remove(&Owner::Data).unwrap_or_default() {
            self.debugger.edit_breakpoints().remove(id);
            self.breakpoints.reported.remove(&id);
            let id = Some(i64::from(id.0));
            let breakpoint = protocol::Breakpoint { id, ..protocol::Breakpoint::default() };
            let event = BreakpointEvent { reason: "removed", breakpoint };
            self.pending_events.push(Event::Breakpoint(event));
        }
    }

    /// The program, once no client is attached.
    pub(crate) fn into_debugger(mut self) -> Debugger {
        self.forget_client();
        self.debugger
    }

    /// Forgets everything about a client that leaves; another one may attach.
    pub(crate) fn forget_client(&mut self) {
        self.debugger.edit_breakpoints().take_others();
        self.breakpoints = BreakpointSets::default();
        self.exception_filters = ExceptionFilters::default();
        self.console = Commands::default().in_editor();
        self.set_traps();
        self.data_ids = DataIds::default();
        self.sources = Sources::default();
        self.announced_sources.clear();
        self.announced_modules = 0;
        self.configured = false;
        self.settings = Settings::default();
        // Cannot fail: a program has its own level.
        let _ = self.debugger.set_level(self.debugger.program().own_level());
        self.forget_stop();
    }

    /// Events about modules and sources that the client has not heard of.
    pub(crate) fn announcements(&mut self, client: &Client) -> Vec<Event> {
        let program = self.debugger.program();
        let catalog = program.catalog();
        if catalog.len() <= self.announced_modules {
            return Vec::new();
        }
        let mut events = Vec::new();
        for details in &catalog[self.announced_modules..] {
            let module = to_dap::module(details, program, client);
            events.push(Event::Module(ModuleEvent { reason: "new", module }));
        }
        self.announced_modules = catalog.len();
        for file in self.debugger.program().source_files() {
            if self.announced_sources.contains(&file.file) {
                continue;
            }
            self.announced_sources.push(file.file.clone());
            if let Some(source) = self.sources.of_file(&file, &self.debugger, client) {
                events.push(Event::LoadedSource(LoadedSource { reason: "new", source }));
            }
        }
        events
    }

    /// Forgets what holds only for the last stop.
    pub(crate) fn forget_stop(&mut self) {
        self.stopped_for = None;
        self.values.variables.clear();
        self.targets.clear();
        self.values.memory.forget_unopened();
        self.frame_handles.clear();
        self.frame_numbers.clear();
        self.frame_count = None;
        self.console_frame = None;
    }

    /// How many frames there are at this stop.
    pub(crate) fn frame_count(&mut self) -> usize {
        let Self { debugger, frame_count, .. } = self;
        *frame_count.get_or_insert_with(|| debugger.machine().frame_count())
    }

    /// Frames of this stop with their numbers; 0 is the innermost.
    pub(crate) fn frames_in(&mut self, range: Range<usize>) -> Vec<(i64, Frame)> {
        let Self { debugger, frame_handles, frame_numbers, .. } = self;
        let number = |frame: Frame| {
            let id = frame.id();
            (*frame_numbers.entry(id).or_insert_with(|| frame_handles.insert(id)), frame)
        };
        debugger.machine().frames_in(range).into_iter().map(number).collect()
    }

    /// The frame of a number.
    pub(crate) fn frame(&self, number: i64) -> Result<FrameId, RequestError> {
        self.frame_handles.get(number).copied().ok_or_else(|| {
            RequestError::stale(format!(
                "frame {number} is not on the stack; ask for the stack trace of this stop"
            ))
        })
    }

    /// The frame of a number; without a number, the innermost.
    pub(crate) fn frame_or_innermost(&self, number: Option<i64>) -> Result<FrameId, RequestError> {
        number.map_or(Ok(self.debugger.machine().innermost_frame()), |number| self.frame(number))
    }

    /// The frame of a line of the console: the one that the client has selected, or that a command
    /// has selected since.
    pub(crate) fn console_frame(&mut self, number: Option<i64>) -> Result<FrameId, RequestError> {
        if number != self.console_frame {
            let frame = self.frame_or_innermost(number)?;
            self.console.select_frame(&self.debugger, frame);
            self.console_frame = number;
        }
        Ok(self.console.frame())
    }

    /// Prints a text on the client's console, after the response.
    pub(crate) fn print(&mut self, text: &str) {
        if !text.is_empty() {
            let (category, output) = (Category::Console, text.trim_end().to_owned() + "\n");
            let output = events::Output { category, output, place: None };
            self.pending_events.push(Event::Output(output));
        }
    }

    /// Looks for what the client's filters and the console's commands ask for.
    pub(crate) fn set_traps(&mut self) {
        let wanted = self.console.with_filters(self.exception_filters.traps);
        if !self.settings.no_debug {
            self.debugger.set_traps(wanted);
        }
    }

    /// The value that a number stands for.
    pub(crate) fn expandable(&self, number: i64) -> Result<Expandable, RequestError> {
        self.values.variables.get(number).cloned().ok_or_else(|| {
            RequestError::stale(format!(
                "variable {number} is not of this stop; ask for the scopes of a frame"
            ))
        })
    }

    /// The expression for a part of an expandable value, and the frame to evaluate it in.
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
        let found = self.debugger.machine().children(&children.node, range);
        let found = found.into_iter().find(|it| it.name == name).ok_or_else(|| {
            RequestError::failed(format!("there is nothing called {name} in that"))
        })?;
        let of_parent = parent.expression.map(|whole| format!("{whole}{name}"));
        let expression = found.evaluate_name.or(of_parent.filter(|_| name.starts_with('[')));
        let expression = expression
            .ok_or_else(|| RequestError::failed(format!("{name} cannot be named or changed")))?;
        Ok((parent.frame, expression))
    }

    /// Values have changed: makes the client ask again for what it shows. `memory` is the
    /// reference, the offset and the length of memory that was written, if that is known.
    pub(crate) fn values_changed(&mut self, client: &Client, memory: Option<(String, i64, usize)>) {
        if client.shows_memory {
            let written = memory.map(|(memory_reference, offset, count)| {
                Event::Memory(events::Memory { memory_reference, offset, count })
            });
            // A value that was set may lie in any memory that the client shows.
            let opened = || self.values.memory.opened().map(Event::Memory).collect();
            self.pending_events.extend(written.map_or_else(opened, |event| vec![event]));
        }
        if let Some(text) = self.debugger.take_new_line() {
            self.print(&text);
        }
        if client.refreshes {
            let areas = &["variables"];
            self.pending_events.push(Event::Invalidated(events::Invalidated { areas }));
        }
    }

    /// The program is shown at another level: makes the client ask again for what it shows of this
    /// stop.
    pub(crate) fn level_changed(&mut self, client: &Client) {
        self.frame_numbers.clear();
        self.frame_count = None;
        if self.debugger.machine().frame_count() == 0 {
            return;
        }
        if client.refreshes {
            let areas = &["stacks", "variables"];
            self.pending_events.push(Event::Invalidated(events::Invalidated { areas }));
        } else if let Some(reason) = &self.stopped_for {
            // Other clients ask again only after a stop.
            let stopped = to_dap::stopped(reason, &self.debugger);
            self.pending_events.extend(stopped.map(Event::Stopped));
        }
    }

    /// Tells the client about breakpoints that commands have made, changed or removed.
    pub(crate) fn sync_breakpoints(&mut self, client: &Client) {
        for reported in
            self.breakpoints.take_missing(|id| self.debugger.breakpoints().get(id).is_some())
        {
            let event = BreakpointEvent { reason: "removed", breakpoint: reported };
            self.pending_events.push(Event::Breakpoint(event));
        }
        let known = &self.breakpoints.reported;
        let all = self.debugger.breakpoints().iter();
        let new: Vec<BreakpointId> =
            all.map(|it| it.id).filter(|id| !known.contains_key(id)).collect();
        // What `until` has set is no breakpoint of the user's.
        let hidden = self.console.hidden_breakpoint();
        for id in new.into_iter().filter(|id| Some(*id) != hidden) {
            self.announce_breakpoint(id, client);
        }
        for breakpoint in self.changed_breakpoints(client) {
            let event = BreakpointEvent { reason: "changed", breakpoint };
            self.pending_events.push(Event::Breakpoint(event));
        }
    }

    /// Tells the client about a breakpoint that it has not asked for.
    fn announce_breakpoint(&mut self, id: BreakpointId, client: &Client) {
        let Some(set) = self.debugger.breakpoints().get(id) else { return };
        let mut breakpoint = to_dap::breakpoint(set, &self.debugger, client);
        let file = match &set.spec {
            BreakpointSpec::Line { file, .. } => Some(file.clone()),
            _ => None,
        };
        if let Some(file) = file {
            let files = self.debugger.program().source_files().into_iter();
            let mut named = files.filter(|it| {
                it.file == file || it.path.as_ref().is_some_and(|path| *path == Path::new(&file))
            });
            let found = named.next();
            breakpoint.source =
                found.and_then(|found| self.sources.of_file(&found, &self.debugger, client));
            if client.takes_over_breakpoints && breakpoint.source.is_some() {
                let owner = Owner::Source(SourceKey::File(file));
                self.breakpoints.owned.entry(owner).or_default().push(id);
            }
        }
        self.breakpoints.of_commands.insert(id);
        self.breakpoints.report(&breakpoint);
        self.pending_events.push(Event::Breakpoint(BreakpointEvent { reason: "new", breakpoint }));
    }

    /// The breakpoints that have changed since the client last heard of them, as they are now.
    pub(crate) fn changed_breakpoints(&mut self, client: &Client) -> Vec<protocol::Breakpoint> {
        let mut changed = Vec::new();
        for (id, reported) in &mut self.breakpoints.reported {
            let Some(breakpoint) = self.debugger.breakpoints().get(*id) else { continue };
            let mut now = to_dap::breakpoint(breakpoint, &self.debugger, client);
            // The client may know these two from its own request.
            now.source.clone_from(&reported.source);
            now.line = now.line.or(reported.line);
            if now != *reported {
                reported.clone_from(&now);
                changed.push(now);
            }
        }
        changed.sort_by_key(|breakpoint| breakpoint.id);
        changed
    }
}
