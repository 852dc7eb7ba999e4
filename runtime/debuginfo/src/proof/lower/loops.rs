//! Loops as the compiler makes them: a head with a phi for each value that is carried.

use mlir::IntegerBinary;

use super::{At, Lowering};
use crate::proof::arithmetic::{Pure, Scalar};
use crate::proof::graph::{Block, Node, When};
use crate::source::functions::ValueIndex;

/// A loop that has been begun.
struct OpenLoop {
    head: Block,
    /// The phis of the values that are carried from one iteration to the next.
    phis: Vec<Node>,
}

impl Lowering<'_> {
    /// The initial values of the arguments of a loop's first region.
    fn initial(
        &mut self,
        at: At<'_>,
        carried: &[(ValueIndex, Option<ValueIndex>)],
    ) -> Option<Vec<Node>> {
        carried.iter().map(|(_, value)| Some(self.value(at, (*value)?))).collect()
    }

    /// Begins a loop whose head has a phi for each value that is carried.
    fn begin_loop(
        &mut self,
        at: At<'_>,
        carried: &[ValueIndex],
        initial: impl IntoIterator<Item = Node>,
    ) -> OpenLoop {
        let entry = self.enter(self.block, When::Always);
        let phis: Vec<Node> =
            initial.into_iter().take(carried.len()).map(|it| self.phi(vec![(entry, it)])).collect();
        self.bind_all(at.instance, carried, phis.iter().copied());
        OpenLoop { head: self.block, phis }
    }

    /// Ends the body of a loop with the values for the next iteration, and continues after the
    /// loop, which control leaves from the block `decided` unless the condition holds.
    fn end_loop(
        &mut self,
        begun: &OpenLoop,
        next: impl IntoIterator<Item = Node>,
        decided: Block,
        condition: Node,
    ) {
        let back = self.result.graph.add_edge(self.block, begun.head, When::Always);
        for (phi, value) in begun.phis.iter().zip(next) {
            self.add_to_phi(*phi, back, value);
        }
        self.enter(decided, When::If(condition, false));
    }

    /// `%r = scf.for %i = %low to %high step %step iter_args(%a = %n) -> (i64) { … }`.
    pub(super) fn counted(&mut self, at: At<'_>) -> Option<()> {
        let At { instance, function, .. } = at;
        let written = at.written();
        let ((counter, Some(low)), carried) = written.initial.split_first()? else { return None };
        // The head has the lower bound, which is the counter's initial value, then the upper bound
        // and the step, then the initial values of carried values.
        let named = self.operands(at);
        let low = self.value(at, *low);
        let [_, high, step, ..] = named[..] else { return None };
        let scalar = self.scalar(function, *counter);
        let initial = self.initial(at, carried)?;
        let arguments: Vec<ValueIndex> = written.initial.iter().map(|(value, _)| *value).collect();
        let initial_of_all = [low].into_iter().chain(initial.iter().copied());
        match self.turns(low, high, step) {
            Some(0) => {
                self.bind_all(instance, &written.results, initial);
                return Some(());
            }
            // The compiler unrolls a loop with one iteration.
            Some(1) => {
                self.bind_all(instance, &arguments, initial_of_all);
                let yielded = self.body(at, written.regions.first()?)?;
                self.bind_all(instance, &written.results, yielded);
                return Some(());
            }
            _ => {}
        }
        let begun = self.begin_loop(at, &arguments, initial_of_all);
        let (count, phis) = begun.phis.split_first()?;
        let less = Pure::less(scalar?);
        let is_next = self.pure(less, vec![*count, high], Some(Scalar::Int(1)));
        self.enter(begun.head, When::If(is_next, true));
        let yielded = self.body(at, written.regions.first()?)?;
        let next = Pure::integers(IntegerBinary::Add, scalar?);
        let next = self.pure(next, vec![*count, step], scalar);
        self.end_loop(&begun, [next].into_iter().chain(yielded), begun.head, is_next);
        self.bind_all(instance, &written.results, phis.iter().copied());
        Some(())
    }

    /// The number of iterations of a loop, if its bounds are constants and it is less than two.
    fn turns(&self, low: Node, high: Node, step: Node) -> Option<u64> {
        let graph = &self.result.graph;
        if graph.resolve(low) == graph.resolve(high) {
            return Some(0);
        }
        let constant = |node: Node| self.constant(node).map(|bits| bits as i64);
        let (low, high, step) = (constant(low)?, constant(high)?, constant(step)?);
        if low >= high {
            return Some(0);
        }
        let second = low.checked_add(step).filter(|_| step > 0)?;
        (second >= high).then_some(1)
    }

    /// `%r = scf.while (%k = %n) : (i64) -> i64 { … scf.condition(%c) %k } do { … }`.
    pub(super) fn repeated(&mut self, at: At<'_>) -> Option<()> {
        let written = at.written();
        let [test, turn] = &written.regions[..] else { return None };
        let initial = self.initial(at, &written.initial)?;
        let carried = test.blocks.first().map_or(&[][..], |block| &block.arguments);
        let begun = self.begin_loop(at, carried, initial);
        let passed = self.body(at, test)?;
        let (condition, passed) = passed.split_first()?;
        let decided = self.block;
        self.enter(decided, When::If(*condition, true));
        let passed = passed.iter().copied();
        self.bind_all(at.instance, &turn.blocks.first()?.arguments, passed.clone());
        let yielded = self.body(at, turn)?;
        self.end_loop(&begun, yielded, decided, *condition);
        self.bind_all(at.instance, &written.results, passed);
        Some(())
    }
}
