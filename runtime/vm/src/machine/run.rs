//! Running handlers, and how one leads to the next.
//!
//! Every instruction carries its handler, the function that runs it. A handler gets the state of
//! the running frame as arguments, few enough to stay in registers of the host, and ends by calling
//! the next instruction's handler with the new state. In optimised builds that call is a jump:
//! nothing remains to be done after it, and both functions have the same signature. So the host
//! predicts the successor of each instruction separately, and no instruction spills state for the
//! sake of another.
//!
//! The language does not promise such jumps. Where the optimiser does not make them
//! (`cfg(threaded)` is off: debug builds, other processors, Miri), and in builds with debug
//! assertions, a handler puts the state into [`Machine::saved`] and returns to a loop, which calls
//! the next one: the same handlers, another [`Dispatch`]. Observers always use that form.
//! `handlers/tests.rs` runs every handler, and fails if one lost its jump. To keep it, a handler
//! must not hold values with a destructor, nor pass the address of a local variable; such work is
//! in separate functions that are not inlined.
//!
//! # Results at hand
//!
//! A value that one instruction writes and another reads soon would go through memory, and wait
//! there for about seven cycles. So handlers also pass on the last two results of each kind
//! (`words`, `singles`, `doubles`), and some variants of handlers take operands from there.
//! `code/handler_choice.rs` chooses them where it knows which registers these results belong to.
//! Control from elsewhere, as after a stop, loads them first ([`Machine::run`]).

use std::time::Duration;

use super::state::{
    Cursor, Dispatch, Exit, FunctionSlot, Handler, Machine, Reason, Signal, State, call,
};
use crate::code::{Known, known_at};
use crate::errors::Status;
use crate::limits::{ExecutionLimits, Meter};
use crate::modules::{GlobalBytes, Globals, LinkedModule};
use crate::objects::Makes;
use crate::position::ModuleIndex;
use crate::stack::{Refs, Registers, Stack, WINDOW};

/// The most time between two looks that counts.
const LONGEST_INTERVAL: Duration = Duration::from_millis(2);

/// What runs: the parts of a context that handlers work with.
pub(crate) struct Program<'a> {
    pub(crate) limits: &'a ExecutionLimits,
    pub(crate) makes: &'a Makes,
    pub(crate) modules: &'a [LinkedModule],
    pub(crate) functions: &'a [FunctionSlot],
    pub(crate) globals: &'a mut [Globals],
}

impl<'a> Machine<'a> {
    /// Runs the innermost frame and what it calls and returns to, until there is a reason to leave;
    /// with an observer, runs one instruction. Updates `budget`.
    ///
    /// The frame's function has been translated.
    pub(crate) fn run<D: Dispatch>(
        program: Program<'a>,
        stack: &'a mut Stack,
        meter: &'a mut Meter,
        budget: &mut u32,
    ) -> Option<Reason> {
        let broken = |what| Some(Reason::Exit(Exit::Failed(Status::internal(what))));
        let Program { limits, makes, modules, functions, globals } = program;
        let Some(frame) = stack.frames.last() else {
            return Some(Reason::Exit(Exit::Completed(Vec::new())));
        };
        let (index, base, ref_count) = (frame.index as usize, frame.base(), frame.ref_count);
        let slot = &functions[frame.slot as usize];
        let Some((code, running)) = D::code(slot) else {
            return Some(Reason::Untranslated(frame.slot));
        };
        let Some(cursor) = running.cursor(index) else {
            return broken("a frame outside of its function");
        };
        let Some(window) = stack.words[base.word..].first_chunk_mut::<WINDOW>() else {
            // `Stack::push` keeps a whole window after the start of every frame.
            return broken("the stack is shorter than its frames");
        };
        let refs = &mut stack.refs[base.reference..base.reference + ref_count as usize];
        // SAFETY: only calls and returns move the stack, and they make new registers and refs.
        let (registers, refs) = unsafe { (Registers::new(window), Refs::new(refs)) };
        let known = if D::OBSERVES {
            Known::default()
        } else {
            known_at::<Handler>(code.instructions.flow(), index)
        };
        let saved = at_hand(cursor, registers, *budget, known);
        let module = slot.module;
        let global_bytes = GlobalBytes::of(&mut globals[module.index()]);
        let mut machine = Machine {
            limits,
            makes,
            modules,
            functions,
            globals,
            stack,
            meter,
            code,
            running,
            module,
            global_bytes,
            saved,
            refs,
            handler: cursor.handler(),
            reason: Reason::Native,
        };
        loop {
            let state = machine.saved;
            if call(state.cursor.handler().0, state, &mut machine) == Signal::Leave {
                *budget = machine.saved.budget;
                return Some(machine.reason);
            }
            if D::OBSERVES {
                let next = machine.running.index(machine.saved.cursor);
                machine.stack.set_index(next);
                *budget = machine.saved.budget;
                return None;
            }
        }
    }

    /// Notes why and where the handlers are left.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave(&mut self, cursor: Cursor, budget: u32, reason: Reason) -> Signal {
        let index = self.running.index(cursor);
        self.stack.set_index(index);
        self.saved.budget = budget;
        self.reason = reason;
        Signal::Leave
    }

    /// Notes that the instruction at the cursor will run again: its guard, if any, has let it pass.
    #[cold]
    pub(crate) fn run_again(&mut self, cursor: Cursor) {
        let Some(slot) = self.stack.frames.last().map(|frame| frame.slot) else { return };
        let index = self.running.index(cursor) as u32;
        let armed = self.functions.get(slot as usize).and_then(|slot| slot.armed.as_ref());
        if armed.is_some_and(|armed| armed.guards.contains_key(&index)) {
            self.stack.passed = Some((slot, index));
        }
    }

    /// Another budget; `None` to leave at the cursor.
    pub(crate) fn refill(&mut self, cursor: Cursor) -> Option<u32> {
        match self.meter.refill() {
            Ok(budget) => Some(budget),
            Err(halt) => {
                self.leave(cursor, 0, Reason::Exit(halt.into()));
                None
            }
        }
    }

    /// The running function, if it has just become hot: it has loops and no breakpoints, and has
    /// run for as long as it takes to compile it. A function without loops is compiled when
    /// compiled code calls it: entered by the interpreter, it would end too soon.
    pub(crate) fn hot(&self) -> Option<u32> {
        let code = self.code;
        let hot_after = self.limits.second_tier.hot_after(code.instructions.len())?;
        let slot = self.stack.frames.last()?.slot;
        let is_armed = self.functions.get(slot as usize)?.armed.is_some();
        let is_worth_it = code.has_loops && !is_armed && code.compiled.get().is_none();
        // The program may have stood still since the last look.
        let time = self.meter.interval().min(LONGEST_INTERVAL);
        (is_worth_it && code.heat.add(time) >= hot_after).then_some(slot)
    }

    /// Switches to the globals of another module.
    #[inline(always)]
    pub(crate) fn enter_module(&mut self, module: ModuleIndex) {
        if self.module != module {
            self.module = module;
            self.global_bytes = GlobalBytes::of(&mut self.globals[module.index()]);
        }
    }
}

/// The state that handlers would have left, given which results are known.
#[inline]
pub(crate) fn at_hand(cursor: Cursor, registers: Registers, budget: u32, known: Known) -> State {
    let mut state = State::at(cursor, registers, budget);
    if known.is_empty() {
        return state;
    }
    for results in [known.words, known.singles, known.doubles] {
        // The last one last.
        let [last, previous] = results;
        for (bank, register) in [previous, last].into_iter().flatten() {
            state.load(bank, register);
        }
        if let (None, Some((bank, register))) = (last, previous) {
            // As if another result had followed it.
            state.load(bank, register);
        }
    }
    state
}
