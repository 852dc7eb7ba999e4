//! Results that are known at the heads of loops.
//!
//! ```text
//! before:  jump head             after:  jump stub
//! head:    i2 = add i2, i3       head:   i2 = add i2, i3        both at hand
//!          i3 = add i3, i1               i3 = add i3, i1
//!          jump back to head             jump back to head      [i3, i2] are the last two results
//!                                stub:   i2 = i2; i3 = i3; jump head
//! ```
//!
//! So the variables of a loop need not pass through memory from one round to the next. This takes
//! two steps: before the code is checked, [`edges`] says which jumps are to lead through a stub;
//! once it is checked, [`heads`] says what is known at a target on every path to it.

use std::collections::HashMap;

use super::call_plan::CallPlan;
use super::instr::{Code, Instr};
use super::results_at_hand::{Flow, Known, known_at};
use super::shape::Handle;

/// A jump's way out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Low,
    High,
    Table(usize),
}

/// A jump from an instruction to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) way: Way,
    pub(crate) to: usize,
}

impl Edge {
    fn is_back(&self) -> bool {
        self.to <= self.from
    }
}

/// All jumps.
fn jumps<'a>(
    instructions: &'a [Instr],
    tables: &'a [Box<[u32]>],
) -> impl Iterator<Item = Edge> + 'a {
    instructions.iter().enumerate().flat_map(|(from, instr)| {
        let edge = move |way, to| Edge { from, way, to };
        let mut edges = Vec::new();
        match instr.code {
            Code::Jump | Code::JumpBack => edges.push(edge(Way::Low, instr.low())),
            Code::CondJump | Code::CondJumpBack => {
                edges.push(edge(Way::Low, instr.low()));
                edges.push(edge(Way::High, instr.high()));
            }
            Code::JumpTable => {
                let targets = tables.get(instr.low()).into_iter().flatten().enumerate();
                edges.extend(targets.map(|(entry, to)| edge(Way::Table(entry), *to as usize)));
            }
            _ => {}
        }
        edges
    })
}

/// Where control arrives with nothing known: the entry, and the instructions after a call or a
/// pause.
fn unknown<'a>(
    instructions: &'a [Instr],
    calls: &'a [CallPlan],
) -> impl Iterator<Item = usize> + 'a {
    let pauses = instructions.iter().filter_map(|instr| match instr.code {
        Code::Yield | Code::Stop | Code::CondStop => Some(instr.low()),
        _ => None,
    });
    [0, 1].into_iter().chain(calls.iter().map(|call| call.next as usize)).chain(pauses)
}

/// What all jumps back to each target leave.
fn left_by_jumps_back<H: Handle>(
    flow: Flow<'_>,
    tables: &[Box<[u32]>],
    calls: &[CallPlan],
) -> HashMap<usize, Known> {
    let mut heads = HashMap::<usize, Known>::new();
    for edge in jumps(flow.instructions, tables).filter(Edge::is_back) {
        let known = known_at::<H>(flow, edge.from);
        heads.entry(edge.to).and_modify(|head| *head = head.meet(known)).or_insert(known);
    }
    for index in unknown(flow.instructions, calls) {
        heads.remove(&index);
    }
    heads.retain(|_, known| !known.is_empty());
    heads
}

/// The results that are known at each target, whichever jump leads to it.
pub(crate) fn heads<H: Handle>(
    flow: Flow<'_>,
    tables: &[Box<[u32]>],
    calls: &[CallPlan],
) -> HashMap<usize, Known> {
    let mut heads = left_by_jumps_back::<H>(flow, tables, calls);
    if !heads.is_empty() {
        for edge in jumps(flow.instructions, tables) {
            if let Some(head) = heads.get_mut(&edge.to) {
                *head = head.meet(known_at::<H>(flow, edge.from));
            }
        }
        heads.retain(|_, known| !known.is_empty());
    }
    heads
}

/// Jumps to heads of loops from outside, with the results that they have to establish.
pub(crate) fn edges<H: Handle>(
    flow: Flow<'_>,
    tables: &[Box<[u32]>],
    calls: &[CallPlan],
) -> Vec<(Edge, Known)> {
    let mut heads = left_by_jumps_back::<H>(flow, tables, calls);
    heads.retain(|head, known| is_used::<H>(flow, *head, *known));
    let from_outside = jumps(flow.instructions, tables).filter(|edge| !edge.is_back());
    from_outside.filter_map(|edge| Some((edge, *heads.get(&edge.to)?))).collect()
}

/// Whether an instruction at a target or after it reads a result that is known there.
fn is_used<H: Handle>(flow: Flow<'_>, head: usize, known: Known) -> bool {
    let mut index = head;
    while let Some(instr) = flow.instructions.get(index) {
        let reads = H::shape(instr.code).reads;
        let fields = [instr.a, instr.b, instr.c];
        let is_read = |(bank, field): (&Option<_>, u16)| {
            bank.is_some_and(|bank| known.results().any(|result| result == (bank, field)))
        };
        if reads.iter().zip(fields).any(is_read) {
            return true;
        }
        index += 1;
        if index >= flow.instructions.len() || !flow.is_after_another(index) {
            break;
        }
    }
    false
}
