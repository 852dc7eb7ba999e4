//! Breakpoints in the machine: which instructions are armed, which guards are asked there, and what
//! happens when the program comes to one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use vm::{FrameIndex, Guard, Position, Watch};

use crate::breakpoint::{
    Breakpoint, BreakpointId, BreakpointOptions, BreakpointSpec, HitCondition, Hits, OptionError,
};
use crate::debugger::Debugger;
use crate::expression::condition::Meant;
use crate::expression::template::Template;
use crate::expression::{Expression, ExpressionError, condition};
use crate::inlined::FrameId;
use crate::level::Level;
use crate::view::SourceLine;

/// What is armed.
#[derive(Default, Debug)]
pub(crate) struct Arms {
    /// By breakpoints: which are where.
    armed: BTreeMap<Position, Vec<BreakpointId>>,
    /// By a step that runs to a place.
    temporary: BTreeSet<Position>,
    /// Where a guard decides, and by what.
    guarded: BTreeMap<Position, Guarding>,
    /// Whether breakpoints are being changed one after the other, and armed at the end.
    is_deferred: bool,
    /// How often all breakpoints were looked at.
    #[cfg(test)]
    pub(crate) rounds: usize,
}

impl Arms {
    /// The breakpoints at an address.
    pub(crate) fn at(&self, position: Position) -> Vec<BreakpointId> {
        self.armed.get(&position).cloned().unwrap_or_default()
    }
}

/// By what a guard lets the program pass.
#[derive(Clone, Debug)]
struct Guarding {
    condition: Option<Arc<Expression>>,
    /// Whose names the condition uses.
    names: Names,
    hit_condition: HitCondition,
    hits: Hits,
}

impl Guarding {
    fn is_same(&self, other: &Self) -> bool {
        let is_same_condition = match (&self.condition, &other.condition) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        is_same_condition
            && self.names == other.names
            && self.hit_condition == other.hit_condition
            && self.hits.is_same(&other.hits)
    }
}

/// Whose names the texts of a breakpoint use at one of its places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Names {
    level: Level,
    /// The frame that is meant, by the inlined calls that lead to it.
    calls: Option<usize>,
}

/// What a breakpoint has to say.
#[derive(Clone, Debug)]
pub struct LogMessage {
    /// The breakpoint.
    pub breakpoint: BreakpointId,
    /// Its text, with values.
    pub text: String,
    /// Where the program was.
    pub source: Option<SourceLine>,
}

/// Who is told log messages.
#[derive(Default)]
pub(crate) struct LogSink(Option<Box<dyn FnMut(LogMessage) + Send>>);

impl Debugger {
    /// Sets who is told the messages of breakpoints that log, while the program runs.
    pub fn set_log_sink(&mut self, sink: impl FnMut(LogMessage) + Send + 'static) {
        self.log = LogSink(Some(Box::new(sink)));
    }

    /// Sets what a breakpoint does besides stopping.
    ///
    /// # Errors
    /// The condition or message is no expression, or names what is not there where the breakpoint
    /// is. Nothing is changed then.
    pub fn set_breakpoint_options(
        &mut self,
        id: BreakpointId,
        options: &BreakpointOptions,
    ) -> Result<(), OptionError> {
        let breakpoint = self.breakpoints.get(id).ok_or(OptionError::NoBreakpoint)?;
        let level = self.program.level_of(&breakpoint.spec);
        let place = breakpoint.locations.first().copied();
        let calls = place.and_then(|place| self.calls_meant(breakpoint, place));
        let check = |expression: &Expression| match place {
            Some(place) => self.check_names(expression, Names { level, calls }, place),
            None => Ok(()),
        };
        let condition = match options.condition.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(text) => {
                let condition = Expression::parse(text).map_err(OptionError::Condition)?;
                condition.check_truth().map_err(OptionError::Condition)?;
                check(&condition).map_err(OptionError::Condition)?;
                Some(Arc::new(condition))
            }
        };
        let log = match options.log.as_deref() {
            None | Some("") => None,
            Some(text) => {
                let template = Template::parse(text).map_err(OptionError::Log)?;
                for expression in template.expressions() {
                    check(expression).map_err(|error| {
                        let start = text.find(expression.text()).unwrap_or(0);
                        let span = error.span.start + start..error.span.end + start;
                        OptionError::Log(ExpressionError::new(span, error.message))
                    })?;
                }
                Some(Arc::new(template))
            }
        };
        let same = |known: &Option<Arc<Expression>>| {
            known
                .as_ref()
                .filter(|known| options.condition.as_deref() == Some(known.text()))
                .cloned()
        };
        if let Some(breakpoint) = self.breakpoints.get_mut(id) {
            let condition = same(&breakpoint.condition).or(condition);
            breakpoint.level = level;
            if breakpoint.has_failed {
                (breakpoint.has_failed, breakpoint.message) = (false, None);
            }
            breakpoint.condition = condition;
            breakpoint.hit_condition = options.hit_condition;
            breakpoint.log = log;
        }
        self.rearm();
        Ok(())
    }

    /// Makes only some hits of a breakpoint stop; tells whether it was there.
    pub fn set_hit_condition(&mut self, id: BreakpointId, condition: HitCondition) -> bool {
        let breakpoint = self.breakpoints.get_mut(id);
        let is_there = breakpoint.map(|breakpoint| breakpoint.hit_condition = condition).is_some();
        self.rearm();
        is_there
    }

    /// Changes many breakpoints. Instructions are armed once, at the end, as that looks at all
    /// breakpoints.
    pub fn edit_breakpoints<R>(&mut self, edit: impl FnOnce(&mut Self) -> R) -> R {
        self.arms.is_deferred = true;
        let result = edit(self);
        self.arms.is_deferred = false;
        self.rearm();
        result
    }

    /// Whether all names in an expression may stand for something at an instruction.
    fn check_names(
        &self,
        expression: &Expression,
        names: Names,
        place: Position,
    ) -> Result<(), ExpressionError> {
        let is_nested = self.program.module(place.function.module).is_some_and(|it| it.is_nested);
        let is_known = |name: &str| {
            let of_dispatch = is_nested && matches!(name, "workgroup_id" | "workgroup_count");
            let arguments = || self.program.argument_names();
            of_dispatch
                || self.program.meaning(names.level, place, names.calls, name, false).is_some()
                || self.program.name_slot(names.level, place, names.calls, name).is_some()
                || (place.function == self.program.entry()
                    && (name.starts_with("arg") || arguments().iter().any(|known| known == name)))
        };
        expression.check_names(&is_known)
    }

    /// Modules have come while the program ran: breakpoints may have more places now.
    pub(crate) fn meet_modules(&mut self) {
        if self.program.meet_modules(&self.context) {
            let Self { program, breakpoints, .. } = self;
            breakpoints.resolve_again(|spec| program.resolve(spec));
            self.rearm();
        }
    }

    /// Arms what the breakpoints want, after they have changed.
    pub(crate) fn rearm(&mut self) {
        if self.arms.is_deferred {
            return;
        }
        #[cfg(test)]
        {
            self.arms.rounds += 1;
        }
        let wanted = self.breakpoints.by_place();
        let Arms { armed, temporary, guarded, .. } = &mut self.arms;
        guarded.retain(|position, _| wanted.contains_key(position));
        let place = |position: &Position| (position.function, position.offset);
        let gone = armed.keys().filter(|it| !wanted.contains_key(it) && !temporary.contains(it));
        let new = wanted.keys().filter(|it| !armed.contains_key(it));
        // Addresses come from decoded instructions, so all of them can be armed.
        self.context.change_breakpoints(gone.map(place), new.map(place));
        self.arms.armed = wanted;
        self.guard_all();
        self.watch_dispatches();
    }

    /// Arms some places for a step, and no others but those of breakpoints.
    pub(crate) fn arm(&mut self, temporary: impl IntoIterator<Item = Position>) {
        let wanted: BTreeSet<Position> = temporary.into_iter().collect();
        self.watch_dispatches();
        if wanted == self.arms.temporary {
            return;
        }
        let old = std::mem::replace(&mut self.arms.temporary, wanted);
        for position in old.difference(&self.arms.temporary) {
            if !self.arms.armed.contains_key(position) {
                self.context.clear_breakpoint(position.function, position.offset);
            }
        }
        for position in self.arms.temporary.difference(&old) {
            let _ = self.context.set_breakpoint(position.function, position.offset);
        }
        let meets_breakpoint = old.iter().any(|position| self.arms.armed.contains_key(position));
        if !self.arms.guarded.is_empty() || meets_breakpoint {
            self.guard_all();
        }
    }

    /// Stops at the boundaries of dispatches if anybody wants to know of them.
    pub(crate) fn watch_dispatches(&mut self) {
        let any_dispatch =
            self.watches_dispatches() || self.breakpoints.iter().any(Breakpoint::is_of_dispatches);
        self.context.set_watch(if any_dispatch { Watch::Steps } else { Watch::Nothing });
    }

    /// Gives each place the guard that it should have. Places that a step wants to stop at have
    /// none, nor those with several breakpoints.
    fn guard_all(&mut self) {
        let mut wanted: BTreeMap<Position, Guarding> = BTreeMap::new();
        for (position, here) in &self.arms.armed {
            let [id] = here.as_slice() else { continue };
            let is_plain = self.arms.temporary.contains(position);
            let guarding = self.breakpoints.get(*id).filter(|_| !is_plain);
            if let Some(guarding) = guarding.and_then(|it| self.guarding(it, *position)) {
                wanted.insert(*position, guarding);
            }
        }
        for position in self.arms.guarded.keys().filter(|it| !wanted.contains_key(it)) {
            self.context.set_guard(position.function, position.offset, None);
        }
        for (position, guarding) in &wanted {
            let known = self.arms.guarded.get(position);
            if known.is_none_or(|known| !known.is_same(guarding)) {
                let guard = self.guard(*position, guarding);
                self.context.set_guard(position.function, position.offset, guard);
            }
        }
        self.arms.guarded = wanted;
    }

    /// By what a guard could let the program pass a breakpoint at one of its places.
    fn guarding(&self, breakpoint: &Breakpoint, position: Position) -> Option<Guarding> {
        let Breakpoint { condition, hit_condition, hits, level, .. } = breakpoint;
        // Whose command a dispatch runs for that several share is for the debugger to tell, so it
        // counts.
        let hit_condition = match breakpoint.used_by.contains_key(&position) {
            true => &HitCondition::Always,
            false => hit_condition,
        };
        let calls = match condition {
            Some(_) => self.calls_meant(breakpoint, position),
            None if *hit_condition == HitCondition::Always => return None,
            None => None,
        };
        Some(Guarding {
            condition: condition.clone(),
            names: Names { level: *level, calls },
            hit_condition: *hit_condition,
            hits: hits.clone(),
        })
    }

    /// The guard for a breakpoint, if its condition is about registers alone. What that cannot
    /// decide, it leaves to the debugger. Hits that do not stop are counted by the guard.
    fn guard(&self, position: Position, guarding: &Guarding) -> Option<Guard> {
        let Guarding { condition, names, hit_condition, hits } = guarding.clone();
        let passes = move || hit_condition != HitCondition::Always && hits.pass(hit_condition);
        let Some(condition) = condition else { return Some(Arc::new(move |_| !passes())) };
        let meant = |name: &str| {
            if let Some(slot) = self.program.name_slot(names.level, position, names.calls, name) {
                return Some(Meant::Register(slot));
            }
            let meaning = self.program.meaning(names.level, position, names.calls, name, false)?;
            let (recipe, scalar) = meaning.computed()?;
            Some(Meant::Computed(recipe, scalar))
        };
        let test = condition::compile(condition.root(), &meant)?;
        Some(Arc::new(move |frame| match test(frame) {
            Some(true) => !passes(),
            undecided => undecided.is_none(),
        }))
    }

    /// The program has come to these breakpoints: those of them that stop it. Each whose condition
    /// holds is counted; one that logs does so, and does not stop. Names mean what they mean in the
    /// text that a breakpoint was set in.
    pub(crate) fn hit(&mut self, candidates: Vec<BreakpointId>) -> Vec<BreakpointId> {
        let mut stopping = Vec::new();
        for id in candidates.into_iter().filter(|id| self.is_meant(*id)).collect::<Vec<_>>() {
            let Some(breakpoint) = self.breakpoints.get(id) else { continue };
            let (condition, log) = (breakpoint.condition.clone(), breakpoint.log.clone());
            let refined = condition.is_some() || log.is_some();
            let position = self.position().filter(|_| refined);
            let calls = position.and_then(|position| self.calls_meant(breakpoint, position));
            let frame = FrameId { index: FrameIndex(0), calls };
            let shown = std::mem::replace(&mut self.program.level, breakpoint.level);
            let is_blind =
                condition.as_ref().is_some_and(|condition| self.is_blind(id, frame, condition));
            let holds = match condition {
                Some(condition) if !is_blind => self.holds(frame, &condition),
                condition => Ok(condition.is_none()),
            };
            self.program.level = shown;
            match holds {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    if self.condition_failed(id, &error) {
                        stopping.push(id);
                    }
                    continue;
                }
            }
            if !self.breakpoints.count(id) {
                continue;
            }
            match log {
                Some(template) => self.say(id, frame, &template),
                None => stopping.push(id),
            }
        }
        stopping
    }

    /// Whether a condition names a value that there is not: then it does not hold, and that is said
    /// once.
    fn is_blind(&mut self, id: BreakpointId, frame: FrameId, condition: &Expression) -> bool {
        let missing = |name: &str| self.meaning(frame, name).and_then(|it| it.missing());
        let Some((name, reason)) = condition.names().find_map(|it| Some((it, missing(it)?))) else {
            return false;
        };
        let text = format!(
            "note: the condition of breakpoint {} does not hold where %{name} is {}",
            id.0,
            reason.text()
        );
        let breakpoint = self.breakpoints.get_mut(id);
        if breakpoint.is_some_and(|it| !std::mem::replace(&mut it.is_blind, true)) {
            self.notice(id, text);
        }
        true
    }

    /// Whether a breakpoint is about the command that the program is at, where it is at one: others
    /// may use the same dispatch.
    fn is_meant(&self, id: BreakpointId) -> bool {
        let Some(breakpoint) = self.breakpoints.get(id) else { return false };
        let command = self.command(FrameIndex(0));
        let recorded_at = command.and_then(|command| command.recorded_at);
        let is_user = |place: &Position| match (breakpoint.used_by.get(place), recorded_at) {
            (Some(users), Some(command)) => users.contains(&command),
            _ => true,
        };
        if let Some(position) = self.position() {
            return is_user(&position);
        }
        if !matches!(breakpoint.spec, BreakpointSpec::Line { .. }) {
            return true;
        }
        // Where the line has bytecode in the dispatch, that is where it stops.
        let function = self.dispatch(FrameIndex(0)).and_then(|it| self.dispatch_function(&it));
        let is_inside = breakpoint
            .locations
            .iter()
            .any(|place| Some(place.function) == function && is_user(place));
        let is_it = command.is_some_and(|it| breakpoint.commands.iter().any(|at| at.fits(it)));
        is_it && !is_inside
    }

    /// The condition of a breakpoint cannot be asked. Whether to stop for that: once, since passing
    /// over it in silence would look as if it were never true.
    fn condition_failed(&mut self, id: BreakpointId, error: &ExpressionError) -> bool {
        let Some(breakpoint) = self.breakpoints.get_mut(id) else { return false };
        if std::mem::replace(&mut breakpoint.has_failed, true) {
            return false;
        }
        breakpoint.message = Some(format!("the condition failed: {error}"));
        self.failed_conditions.push((id, error.to_string()));
        true
    }

    /// Hands a message to whoever is told them.
    pub(crate) fn tell(&mut self, message: LogMessage) {
        if let Some(sink) = &mut self.log.0 {
            sink(message);
        }
    }

    fn say(&mut self, breakpoint: BreakpointId, frame: FrameId, template: &Template) {
        if self.log.0.is_none() {
            return;
        }
        let set_at = self.breakpoints.get(breakpoint).map_or(self.level(), |it| it.level);
        let shown = std::mem::replace(&mut self.program.level, set_at);
        let text = template.message(self, frame);
        let source = self.position().and_then(|position| self.source_line(position));
        self.program.level = shown;
        self.tell(LogMessage { breakpoint, text, source });
    }
}
