//! `catch nan` and `catch inf`: which dispatch leaves a bad float, and which of its operations
//! makes it.
//!
//! ```text
//!  before: keep what it overwrites ──> it runs, unwatched ──> after: is there a bad float?
//!      ^                                                              │ yes
//!      │                            does it leave one of inputs without any, too? ── no: go on
//!      │                                                              │ yes, or it read none
//!      └── memory is put back; it runs again as bytecode, checked ────┘
//!              │ operation by operation
//!              ├──> one makes it of operands that have none: stop there
//!              └──> none does: the bad float was in what it read, or the dispatch is named
//! ```
//!
//! So a program without bad floats runs as fast as it can, and of one with bad floats only the
//! dispatches run slowly that leave some. The program's own code, outside of dispatches, is checked
//! as it runs, if it computes with floats at all.

use hal::{QueueActivity, ResolvedDispatch};
use vm::{Boundary, BoundaryKind, FrameIndex, Watch};

use super::kept_dispatch::take_back::NotTakenBack;
use super::runner::Runner;
use super::stop::{StopReason, Trapped};
use super::traps::dispatch_floats::{Bad, FloatsBefore, Run};
use super::traps::other_inputs::{self, Source};
use super::twins::{CodeOfLast, NoTwin};
use crate::machine::Machine;

/// Why a dispatch that has left bad floats does not run again.
#[derive(Debug, thiserror::Error)]
enum NotSearched {
    #[error(transparent)]
    NoTwin(#[from] NoTwin),
    #[error("what it has overwritten cannot be put back")]
    NotPutBack,
    #[error(transparent)]
    NotTakenBack(#[from] NotTakenBack),
}

/// What a dispatch has done to floats.
pub(super) enum Floats {
    /// Nothing to report.
    Fine,
    /// It runs again, from before it.
    RunAgain,
    /// A pause has come before it could run again.
    Paused,
    /// The dispatch as a whole has made bad floats.
    Bad(Trapped),
}

/// Whether a search has begun.
enum Begun {
    Search,
    /// No: a pause came before it could.
    Paused,
    /// No: all bad floats come from what the dispatch has read.
    NotNeeded,
}

/// The native module with dispatches that have no boundaries.
const LOADER: &str = "hal_loader";

impl Runner {
    /// How closely the program has to be observed as it runs on: not at all, its own code, or what
    /// dispatches run as well.
    pub(super) fn observes(&mut self) -> Option<Watch> {
        let traps = self.watcher.traps;
        let looks_inside = self.watcher.has_items() || traps.overflow;
        if looks_inside || traps.operations && traps.watches_floats() || self.must_observe() {
            return Some(Watch::Parts);
        }
        let Self { machine, watcher, breakpoints, .. } = self;
        let context = &machine.context;
        let looks_at_own = traps.watches_floats()
            && (breakpoints.armed.is_any_in(|module| context.is_attached(module))
                || watcher.has_float_code(context));
        looks_at_own.then_some(Watch::Steps)
    }

    /// Whether the dispatch in progress has to be observed, as what it leaves does not tell enough.
    fn must_observe(&self) -> bool {
        if !self.watcher.traps.watches_floats() {
            return false;
        }
        let machine = &self.machine;
        let Some(activity) = machine.queue_activity(FrameIndex(0)) else {
            return machine.context.modules().any(|(_, name, _)| name == LOADER);
        };
        match &self.dispatches.floats {
            Some(floats) => {
                !activity.is_after_step() && (floats.run == Run::Search || !floats.is_telling)
            }
            // The program has come into its middle in another way.
            None => activity.has_begun() && !activity.is_after_step(),
        }
    }

    /// Whether a dispatch runs again to find an operation, which its user does not see.
    pub(super) fn is_searching(&self) -> bool {
        let floats = self.dispatches.floats.as_ref();
        floats.is_some_and(|it| it.run == Run::Search && !it.is_seen)
    }

    /// The program stops in a dispatch that runs again: from here on, its user sees it run.
    pub(super) fn show_search(&mut self, is_paused: bool) {
        if self.is_searching()
            && let Some(floats) = &mut self.dispatches.floats
        {
            (floats.is_seen, floats.is_seen_paused) = (true, is_paused);
            self.show_twin();
            self.arm_places();
        }
    }

    /// The program goes on after a stop. If that was a pause of which its user does not hear, the
    /// user does not see the dispatch run again either.
    pub(super) fn leave_search(&mut self, goes_on_as_before: bool) {
        let Some(floats) = &mut self.dispatches.floats else { return };
        if std::mem::take(&mut floats.is_seen_paused) && goes_on_as_before {
            floats.is_seen = false;
            self.hide_twin();
            self.arm_places();
        }
    }

    /// Makes the search that a pause has kept from beginning. `None`: the program stands where it
    /// stood, and nothing stops it there.
    pub(super) fn search_now(&mut self) -> Option<StopReason> {
        let floats = self.dispatches.floats.as_mut()?;
        if !std::mem::take(&mut floats.awaits_search) {
            return None;
        }
        match self.at_boundary() {
            None if self.is_searching() => self.run_on(),
            reason => reason,
        }
    }

    /// Looks at the floats that the dispatch has left at whose boundary the program stands. It may
    /// be put back to before the dispatch.
    pub(super) fn look_at_floats(&mut self, boundary: &Boundary) -> Floats {
        match boundary.kind {
            BoundaryKind::BeforePart => return Floats::Fine,
            BoundaryKind::BeforeStep => {
                self.watcher.has_made_bad = false;
                return Floats::Fine;
            }
            BoundaryKind::AfterStep => {}
        }
        let Some(mut before) = self.dispatches.floats.take() else { return Floats::Fine };
        let traps = self.watcher.traps;
        let dispatch = self.machine.dispatch(FrameIndex(0));
        let Some(dispatch) = dispatch.filter(|_| traps.looks_at_floats()) else {
            return Floats::Fine;
        };
        let was_searched = before.run == Run::Search;
        if was_searched {
            self.arm_places();
        }
        let activity = self.machine.queue_activity(FrameIndex(0));
        let was_checked =
            was_searched || before.is_observed && activity.is_some_and(QueueActivity::was_on_stack);
        let mut trapped = None;
        if let Some(bad) = before.left(traps) {
            let mut are_inputs = false;
            if !was_checked && before.may_run_again {
                match self.begin_search(boundary, &dispatch, &mut before, bad) {
                    Ok(Begun::Search) => {
                        self.dispatches.floats = Some(before);
                        self.arm_places();
                        return Floats::RunAgain;
                    }
                    Ok(Begun::Paused) => {
                        before.awaits_search = true;
                        self.dispatches.floats = Some(before);
                        return Floats::Paused;
                    }
                    Ok(Begun::NotNeeded) => are_inputs = true,
                    Err(reason) => before.why_not = Some(reason.to_string()),
                }
            }
            if !are_inputs {
                let said = self.conclude(&mut before, &dispatch, &boundary.name, bad, was_checked);
                trapped = said.map(|text| bad.trapped(text));
            }
        }
        let Self { machine, dispatches, .. } = self;
        let trapped =
            trapped.or_else(|| before.results_sentence(machine, traps, &dispatch, &boundary.name));
        match trapped {
            Some(trapped) if dispatches.is_first_catch(machine, traps, &boundary.name) => {
                Floats::Bad(trapped)
            }
            _ => Floats::Fine,
        }
    }

    /// Puts the program back to before the dispatch that has just run, to run it again as bytecode.
    ///
    /// # Errors
    /// There is no bytecode, or memory cannot be put back; the text says why. The program stands
    /// where it stood.
    fn begin_search(
        &mut self,
        boundary: &Boundary,
        dispatch: &ResolvedDispatch,
        before: &mut FloatsBefore,
        bad: Bad,
    ) -> Result<Begun, NotSearched> {
        match self.source_of(dispatch, before, bad) {
            Some(Source::Inputs) => {
                self.note_passed_on(before, dispatch, &boundary.name, bad);
                return Ok(Begun::NotNeeded);
            }
            Some(Source::Unknown) => {}
            None => return Ok(Begun::Paused),
        }
        let twin = match self.twin_of_last()? {
            CodeOfLast::Bytecode => None,
            CodeOfLast::Machine(twin) => Some(twin),
            CodeOfLast::Paused => return Ok(Begun::Paused),
        };
        if !before.exchange() {
            return Err(NotSearched::NotPutBack);
        }
        before.note_inputs(&self.machine, dispatch);
        if let Err(reason) = self.machine.take_back(boundary.name.clone()) {
            before.exchange();
            return Err(reason.into());
        }
        before.begin_search();
        self.watcher.has_made_bad = false;
        if let Some(twin) = twin {
            // The machine code runs again if its bytecode does not.
            before.why_not = self.check_twin(twin).err().map(|reason| reason.to_string());
        }
        Ok(Begun::Search)
    }

    /// Where the bad floats come from that a dispatch has left, unless each operation is to be
    /// checked anyway. `None`: the user has paused.
    fn source_of(
        &self,
        dispatch: &ResolvedDispatch,
        before: &mut FloatsBefore,
        bad: Bad,
    ) -> Option<Source> {
        if self.watcher.traps.operations {
            return Some(Source::Unknown);
        }
        let Ok(source) = other_inputs::source_of(&self.machine, dispatch, before, bad) else {
            // What is no pause is met where the program goes on.
            return (!self.interrupt.is_pending()).then_some(Source::Unknown);
        };
        Some(source)
    }

    /// Says, once for each kind, that dispatches pass on bad floats.
    fn note_passed_on(
        &mut self,
        before: &mut FloatsBefore,
        dispatch: &ResolvedDispatch,
        name: &str,
        bad: Bad,
    ) {
        let inputs = before.inputs(&self.machine, dispatch);
        let kind = if bad == Bad::Infinity { "inf" } else { "nan" };
        let (had, bad) = (inputs.of(bad).join(", "), bad.name());
        let text = format!(
            "note: @{name} passes on the {bad} that {had} had: with numbers in its place it leaves \
             none. Dispatches that do so are not checked by operation (`catch {kind} operations` \
             checks all)"
        );
        let key = format!("{bad} passed on");
        self.dispatches.note_once(&self.machine, &mut self.breakpoints.log, &key, text);
    }

    /// What there is to say of a dispatch that has left bad floats, if no stop at an operation has
    /// said it.
    fn conclude(
        &mut self,
        before: &mut FloatsBefore,
        dispatch: &ResolvedDispatch,
        name: &str,
        bad: Bad,
        was_checked: bool,
    ) -> Option<String> {
        if self.watcher.has_made_bad {
            return None;
        }
        let machine = &self.machine;
        let is_bytecode = dispatch.executable.bytecode().is_some();
        let twin = |tensor: &_| self.twin_of_tensor(tensor).ok();
        let is_own = was_checked && !is_bytecode && before.has_unlike(bad, twin);
        let inputs = before.inputs(machine, dispatch);
        let had_some = inputs.of(bad);
        // A dispatch that cannot be looked into is one operation.
        if !had_some.is_empty() && !is_own {
            if let Some(reason) = &before.why_not {
                let text = format!(
                    "note: {} had {} before dispatch @{name} wrote some; whether it also makes \
                     some itself is not known: it is not checked by operation, as {reason}",
                    had_some.join(", "),
                    bad.name(),
                );
                self.dispatches.note_once(&self.machine, &mut self.breakpoints.log, name, text);
            }
            return None;
        }
        // An infinity that no operation makes is a constant of the program, such as a mask's.
        let is_constant = bad == Bad::Infinity
            && was_checked
            && before.why_not.is_none()
            && !is_own
            && !before.has_in_narrow(bad)
            && !calls_kernels(machine, dispatch);
        if is_constant {
            return None;
        }
        let text = before.sentence(machine, dispatch, name, bad, true)?;
        let bad = bad.name();
        Some(match (&before.why_not, was_checked) {
            (Some(reason), _) => format!("{text}; not checked by operation: {reason}"),
            (None, false) => text,
            (None, true) if is_own => format!("{text}; its bytecode leaves no {bad} there"),
            (None, true) => format!("{text}; no operation on floats in its bytecode makes it"),
        })
    }
}

/// Whether bytecode of a dispatch calls native functions that compute with floats.
fn calls_kernels(machine: &Machine, dispatch: &ResolvedDispatch) -> bool {
    let bytecode = dispatch.executable.bytecode();
    let Some(function) = bytecode.and_then(|_| machine.dispatch_function(dispatch)) else {
        return false;
    };
    let module = machine.context.bytecode_module(function.module);
    module.is_some_and(|it| it.imports().iter().any(|it| it.full_name.starts_with("vmvx.")))
}
