//! Dispatches that leave something else than their text says, evaluated in float64 and exact
//! integers.
//!
//! What a dispatch reads is copied before it runs, as it may write over that. After it, its text is
//! evaluated on the copy, which takes far longer than the dispatch itself. One that would need more
//! than [`MOST_OPERATIONS`] is not judged. What is not judged is said once for each dispatch.

use std::collections::HashSet;

use abi::element_type::ElementType;
use reference::Output;
use vm::FrameIndex;

use super::guarded_memory::at_place;
use crate::control::breakpoints::log::LogSink;
use crate::control::breakpoints::spec::BreakpointId;
use crate::inspect::dispatch::DispatchPlace;
use crate::machine::Machine;
use crate::opinion::{
    Answer, Evaluated, MOST_OPERATIONS, OpinionQuestion, Opinions, expected_tensor,
};
use crate::tensor::{Comparison, TensorView};

/// The dispatch that is judged, and what was found in the last one.
#[derive(Default)]
pub(super) struct DifferenceTrap {
    /// The texts of all dispatches.
    opinions: Option<Opinions<'static>>,
    /// What the dispatch reads that runs now.
    question: Option<OpinionQuestion>,
    /// What the last dispatch should have left.
    answer: Option<Answer>,
    /// How many commands had run then. After more of them, memory may have something else.
    commands: u64,
    /// Dispatches that are not judged; that is reported once for each.
    untold: HashSet<String>,
}

impl std::fmt::Debug for DifferenceTrap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DifferenceTrap").finish_non_exhaustive()
    }
}

impl DifferenceTrap {
    /// Copies what the dispatch reads before which the program stands.
    pub(super) fn before(&mut self, machine: &Machine, log: &mut LogSink) {
        self.question = None;
        self.answer = None;
        let Some(dispatch) = machine.standing_dispatch() else { return };
        let opinions = self
            .opinions
            .get_or_insert_with(|| Opinions::read(&machine.program.flow_texts(), MOST_OPERATIONS));
        match opinions.question(&machine.program, &dispatch) {
            Ok(question) => self.question = Some(question),
            Err(refused) => self.not_judged(machine, log, &dispatch.export, &refused.reason),
        }
    }

    /// A sentence about the first tensor of the dispatch that is not what its text says.
    pub(super) fn after(&mut self, machine: &Machine, log: &mut LogSink) -> Option<String> {
        let (question, opinions) = (self.question.take()?, self.opinions.as_ref()?);
        let dispatch = machine.dispatch(FrameIndex(0))?;
        let name = dispatch.executable.name_of(dispatch.dispatch.export).into_owned();
        let outputs = match opinions.answer(&question) {
            Ok(outputs) => outputs,
            Err(refused) => {
                self.not_judged(machine, log, &name, &refused.reason);
                return None;
            }
        };
        let mut sentence = None;
        for (place, left) in machine.written_tensors(&dispatch) {
            let DispatchPlace::Operand(operand) = place else { continue };
            let Some((_, output)) = outputs.iter().find(|(index, _)| *index == operand) else {
                continue;
            };
            let expected = match expected_tensor(output, &left) {
                Ok(expected) => expected,
                Err(reason) => {
                    let reason = format!("operand[{operand}]: {reason}");
                    self.not_judged(machine, log, &name, &reason);
                    continue;
                }
            };
            if sentence.is_none()
                && let Some(found) = Found::of(output, &left, &expected)
            {
                let names = machine.known_operands(FrameIndex(0), &dispatch);
                let place = place.describe(&names, &left);
                let found = found.text(output, &left);
                let at = at_place(machine);
                sentence = Some(format!(
                    "dispatch @{name} left something else in {place} than its text means: \
                     {found}{at}"
                ));
            }
        }
        self.answer = machine.standing_dispatch().map(|it| Answer::new(it, &outputs));
        self.commands = commands_run(machine);
        sentence
    }

    /// What a tensor should be that the last dispatch has left, if it was judged.
    pub(super) fn expected(&self, machine: &Machine, tensor: &TensorView) -> Option<Evaluated> {
        if self.commands != commands_run(machine) {
            return None;
        }
        self.answer.as_ref()?.of(tensor).ok()
    }

    /// The user has changed values: tensors may be other than the dispatch has left them.
    pub(super) fn values_changed(&mut self) {
        self.answer = None;
    }

    fn not_judged(&mut self, machine: &Machine, log: &mut LogSink, name: &str, reason: &str) {
        if self.untold.insert(name.to_owned()) {
            let text = format!("note: dispatch @{name} is not compared with its text: {reason}");
            log.notice(machine, BreakpointId(0), text);
        }
    }
}

fn commands_run(machine: &Machine) -> u64 {
    machine.program.host().device().history().total()
}

/// How a tensor differs from what it should be.
struct Found {
    /// How many elements lie outside of their bounds.
    count: usize,
    /// Of these, the one that is furthest away: its number in order, what it is and should be.
    worst: (usize, f64, f64),
}

impl Found {
    /// None: all elements of which there is an opinion are within their bounds.
    fn of(output: &Output, left: &TensorView, expected: &TensorView) -> Option<Self> {
        let mut found: Option<Self> = None;
        let comparison = Comparison::of(left.clone(), expected).ok()?;
        let distance = |a: f64, b: f64| match (a - b).abs() {
            it if it.is_nan() => f64::INFINITY,
            it => it,
        };
        let looked = comparison.each_different(|at, a, b| {
            if output.allows(at, a, b) {
                return;
            }
            let it = found.get_or_insert(Self { count: 0, worst: (at, a, b) });
            it.count += 1;
            if distance(a, b) > distance(it.worst.1, it.worst.2) {
                it.worst = (at, a, b);
            }
        });
        looked.ok()?;
        found
    }

    fn text(&self, output: &Output, left: &TensorView) -> String {
        let Self { count, worst: (at, is, should) } = self;
        let index = left.index_text(*at);
        let index = index.map(|index| format!(" at [{index}]")).unwrap_or_default();
        let element_type = left.tensor_type().element_type;
        let (is, should) = (number(*is, element_type), number(*should, element_type));
        let bound = output.bound(*at);
        let allowed = match bound > 0.0 {
            true => format!(", where {bound:.1e} is allowed ({})", output.reason),
            false => String::new(),
        };
        format!(
            "{count} of {} elements, the worst{index}: {is} instead of {should}{allowed}",
            left.count()
        )
    }
}

/// A number as short as its type allows.
fn number(value: f64, element_type: ElementType) -> String {
    match element_type.bits {
        ..=32 if element_type.float_value(&[0; 8][..element_type.byte_count()]).is_some() => {
            (value as f32).to_string()
        }
        _ => value.to_string(),
    }
}
