//! Tells the values of two graphs apart, by value numbering over samples.
//!
//! Every value is a function of the graph's leaves and of the values that loops carry. It is
//! computed for samples of these ([`super::draw`]). Two values that differ on one are different.
//! That they agree on all proves nothing by itself; [`super::evidence`] says what else is needed.
//!
//! Where the result of an operation depends on how it is compiled, its sample is *open*: nothing is
//! concluded from it, nor from what is computed with it.
//!
//! Values that loops carry are assumed to be equal until something contradicts it: all phis at the
//! head of a loop and of its partner begin in one class, and a class is split if its members have
//! different initial values or different values for the next iteration. Phis that stay together
//! have the same initial value and the same step, so they are equal in every iteration.

use std::collections::HashMap;

use super::arithmetic::{Pure, Scalar};
use super::draw::{Draw, float};
use super::graph::{Block, Edge, Flow, Graph, Kind, Node, When};
use super::terms::{Program, Term};

/// The most blocks that one sample's path passes through.
const LONGEST_WAY: usize = 4096;

/// The bits of a value for each sample.
pub(crate) type Sample = [u64];

/// A graph's flow, and the samples of its values.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) flow: Flow,
    pub(crate) samples: Vec<Option<Box<Sample>>>,
    /// By value, which of its samples are open, if some are.
    open: HashMap<Node, Box<[bool]>>,
    /// By value, its term.
    pub(super) terms: Vec<Option<Term>>,
    /// The terms of leaves, and of values that loops carry.
    pub(super) given_terms: HashMap<Node, Term>,
    pub(super) program: Program,
}

/// Mixes bits well (the finaliser of SplitMix64).
pub(crate) fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

impl Side {
    pub(crate) fn new(graph: &Graph, program: Program) -> Self {
        Self {
            flow: Flow::new(graph),
            samples: Vec::new(),
            open: HashMap::new(),
            terms: Vec::new(),
            given_terms: HashMap::new(),
            program,
        }
    }

    /// Computes the samples of all values, given those of some.
    pub(crate) fn compute(
        &mut self,
        graph: &Graph,
        draw: &Draw,
        given: &HashMap<Node, Box<Sample>>,
    ) {
        self.samples = vec![None; graph.nodes.len()];
        self.open.clear();
        for (node, sample) in given {
            if let Some(slot) = self.samples.get_mut(*node) {
                *slot = Some(sample.clone());
            }
        }
        for node in 0..graph.nodes.len() {
            self.demand(graph, draw, node);
        }
    }

    /// Computes the samples of nodes that were added to the graph since the last call.
    pub(crate) fn extend(&mut self, graph: &Graph, draw: &Draw) {
        let known = self.samples.len();
        self.samples.resize(graph.nodes.len(), None);
        for node in known..graph.nodes.len() {
            self.demand(graph, draw, node);
        }
    }

    /// Computes a value and its operands first, without recursion, so that no program is too deep.
    fn demand(&mut self, graph: &Graph, draw: &Draw, node: Node) {
        let mut stack = vec![(node, false)];
        let mut under_way = HashMap::new();
        while let Some((node, is_ready)) = stack.pop() {
            if self.samples[node].is_some() {
                continue;
            }
            if is_ready {
                let sample = self.value(graph, draw, node);
                self.samples[node] = Some(sample);
                if let Some(open) = self.opened(graph, draw, node) {
                    self.open.insert(node, open);
                }
                continue;
            }
            if under_way.insert(node, ()).is_some() {
                // The value depends on itself other than through a loop's head.
                let seed = self.seed_of(node);
                self.samples[node] = Some(draw.sample(seed, graph.nodes[node].scalar));
                continue;
            }
            stack.push((node, true));
            let needed = self.needs(graph, node).into_iter();
            stack.extend(needed.filter(|it| self.samples[*it].is_none()).map(|it| (it, false)));
        }
    }

    fn seed_of(&self, node: Node) -> u64 {
        // The samples of unmatched leaves differ from the other program's.
        let salt = match self.program {
            Program::Source => 1,
            Program::Bytecode => 2,
        };
        mix(mix(salt) ^ node as u64)
    }

    pub(super) fn needs(&self, graph: &Graph, node: Node) -> Vec<Node> {
        match &graph.nodes[node].kind {
            Kind::Leaf | Kind::Constant(_) => Vec::new(),
            Kind::Pure(_, operands) => operands.clone(),
            Kind::Same(other) => vec![*other],
            Kind::Phi(values) => {
                let block = graph.nodes[node].block;
                if self.is_assumed(block) {
                    return Vec::new();
                }
                let mut needed: Vec<Node> = values.iter().map(|(_, value)| *value).collect();
                needed.extend(self.conditions(graph, block));
                needed
            }
        }
    }

    /// Whether the phis of a block are assumed, not computed.
    pub(super) fn is_assumed(&self, block: Block) -> bool {
        !self.flow.is_reachable(block)
            || self.flow.is_head(block)
            || self.flow.is_irreducible(block)
    }

    /// The conditions that decide which edge control takes into a block.
    fn conditions(&self, graph: &Graph, block: Block) -> Vec<Node> {
        let Some(above) = self.flow.dominator(block) else { return Vec::new() };
        let mut seen: Vec<Block> = Vec::new();
        let mut pending: Vec<Block> =
            graph.incoming[block].iter().map(|edge| graph.edges[*edge].from).collect();
        let mut conditions = Vec::new();
        while let Some(at) = pending.pop() {
            if seen.contains(&at) || !self.flow.is_reachable(at) || seen.len() > LONGEST_WAY {
                continue;
            }
            seen.push(at);
            conditions.extend(graph.outgoing[at].iter().filter_map(|edge| {
                match graph.edges[*edge].when {
                    When::If(condition, _) => Some(condition),
                    When::Always | When::Unknown => None,
                }
            }));
            if at != above {
                pending.extend(graph.incoming[at].iter().map(|edge| graph.edges[*edge].from));
            }
        }
        conditions
    }

    fn get(&self, graph: &Graph, node: Node) -> Option<&Sample> {
        self.sample(graph.resolve(node))
    }

    /// The samples of a node.
    pub(super) fn sample(&self, node: Node) -> Option<&Sample> {
        self.samples.get(node)?.as_deref()
    }

    fn value(&self, graph: &Graph, draw: &Draw, node: Node) -> Box<Sample> {
        let unknown = || draw.sample(self.seed_of(node), graph.nodes[node].scalar);
        match &graph.nodes[node].kind {
            Kind::Leaf => unknown(),
            Kind::Constant(bits) => vec![*bits; draw.count()].into_boxed_slice(),
            Kind::Same(other) => self.get(graph, *other).map_or_else(unknown, Box::from),
            Kind::Pure(pure, operands) => {
                let operands: Option<Vec<&Sample>> =
                    operands.iter().map(|operand| self.get(graph, *operand)).collect();
                let Some(operands) = operands else { return unknown() };
                let mut sample = vec![0; draw.count()].into_boxed_slice();
                for (index, slot) in sample.iter_mut().enumerate() {
                    let mut numbers = [0; 3];
                    for (number, operand) in numbers.iter_mut().zip(&operands) {
                        *number = operand[index];
                    }
                    let numbers = &numbers[..operands.len().min(3)];
                    // An operation without a result gets one that depends on the operands alone.
                    *slot = pure.apply(numbers).unwrap_or_else(|| {
                        let name = format!("{pure:?}");
                        let seed = name.bytes().fold(7, |all, byte| mix(all ^ u64::from(byte)));
                        let bits = numbers.iter().fold(seed, |all, bits| mix(all ^ bits));
                        match graph.nodes[node].scalar {
                            Some(scalar @ Scalar::Int(_)) => scalar.cut(bits),
                            Some(Scalar::F32) => u64::from((float(index, bits) as f32).to_bits()),
                            Some(Scalar::F64) => float(index, bits).to_bits(),
                            None => bits,
                        }
                    });
                }
                sample
            }
            Kind::Phi(values) => {
                let block = graph.nodes[node].block;
                let above = self.flow.dominator(block).filter(|_| !self.is_assumed(block));
                let chosen = above.and_then(|above| self.chosen(graph, above, block, values, None));
                chosen.unwrap_or_else(unknown)
            }
        }
    }

    /// Which samples of a value are open, if some are.
    fn opened(&self, graph: &Graph, draw: &Draw, node: Node) -> Option<Box<[bool]>> {
        let open = |node: &Node| self.open.get(&graph.resolve(*node));
        let (operands, pure) = match &graph.nodes[node].kind {
            Kind::Pure(pure, operands) => (operands.clone(), Some(*pure)),
            Kind::Phi(values)
                if !self.open.is_empty() && !self.is_assumed(graph.nodes[node].block) =>
            {
                let values = values.iter().map(|(_, value)| *value);
                (values.chain(self.conditions(graph, graph.nodes[node].block)).collect(), None)
            }
            Kind::Same(other) => return open(other).cloned(),
            _ => return None,
        };
        let is_partial = pure.is_some_and(Pure::is_partial);
        let inputs: Vec<Option<&Box<[bool]>>> = operands.iter().map(open).collect();
        if !is_partial && inputs.iter().all(Option::is_none) {
            return None;
        }
        let samples: Option<Vec<&Sample>> =
            operands.iter().map(|operand| self.get(graph, *operand)).collect();
        let samples = samples?;
        let is_open_at = |input: usize, index: usize| inputs[input].is_some_and(|it| it[index]);
        let lanes = (0..draw.count()).map(|index| match pure {
            Some(pure) if pure.is_select() && !is_open_at(0, index) => {
                let is_yes = samples[0][index] & 1 == 1;
                is_open_at(if is_yes { 1 } else { 2 }, index)
            }
            Some(pure) if is_partial => {
                let numbers: Vec<u64> = samples.iter().map(|sample| sample[index]).collect();
                (0..inputs.len()).any(|it| is_open_at(it, index)) || pure.apply(&numbers).is_none()
            }
            _ => (0..inputs.len()).any(|it| is_open_at(it, index)),
        });
        let lanes: Box<[bool]> = lanes.collect();
        lanes.contains(&true).then_some(lanes)
    }

    /// The samples that are open for some value.
    pub(super) fn all_open(&self, count: usize) -> Vec<bool> {
        let mut all = vec![false; count];
        for open in self.open.values() {
            for (all, open) in all.iter_mut().zip(open) {
                *all |= open;
            }
        }
        all
    }

    /// How many samples of a value of this side, the source's, are those of one of the other side.
    ///
    /// # Errors
    /// They differ in one that is not open, the first of which is given; or one of them has none.
    pub(super) fn told(
        &self,
        node: Node,
        scalar: Option<Scalar>,
        other: &Self,
        held: Node,
    ) -> Result<usize, Option<usize>> {
        let (Some(one), Some(two)) = (self.sample(node), other.sample(held)) else {
            return Err(None);
        };
        let (own, others) = (self.open.get(&node), other.open.get(&held));
        let is_open = |index: usize| {
            own.is_some_and(|open| open[index]) || others.is_some_and(|open| open[index])
        };
        let mut told = 0;
        for (index, (one, two)) in one.iter().zip(two).enumerate() {
            if *one == narrow(scalar, *two) {
                told += 1;
            } else if !is_open(index) {
                return Err(Some(index));
            }
        }
        Ok(told)
    }

    /// For each sample, the value that a phi takes when control comes from a block above; `head` is
    /// the loop that control must stay in. `None` if the path is not understood.
    fn chosen(
        &self,
        graph: &Graph,
        above: Block,
        block: Block,
        values: &[(Edge, Node)],
        head: Option<Block>,
    ) -> Option<Box<Sample>> {
        let (_, any) = values.first()?;
        let mut sample = vec![0; self.get(graph, *any)?.len()].into_boxed_slice();
        for (index, slot) in sample.iter_mut().enumerate() {
            let edge = self.way(graph, above, block, head, index)?;
            let (_, value) = values.iter().find(|(it, _)| *it == edge)?;
            *slot = self.get(graph, *value)?[index];
        }
        Some(sample)
    }

    /// The edge through which control enters a block from one above, for a sample.
    fn way(
        &self,
        graph: &Graph,
        above: Block,
        block: Block,
        head: Option<Block>,
        sample: usize,
    ) -> Option<Edge> {
        let mut at = above;
        for _ in 0..LONGEST_WAY {
            let edge = if at != above && self.flow.is_head(at) && !self.flow.is_in(block, at) {
                self.exit(graph, at)?
            } else {
                self.taken(graph, at, head, sample)?
            };
            let to = graph.edges[edge].to;
            if to == block {
                return Some(edge);
            }
            at = to;
        }
        None
    }

    fn taken(&self, graph: &Graph, at: Block, head: Option<Block>, sample: usize) -> Option<Edge> {
        let edges = &graph.outgoing[at];
        let is_taken = |edge: &&Edge| match graph.edges[**edge].when {
            When::Always => Some(true),
            When::If(condition, when) => {
                Some((self.get(graph, condition)?[sample] & 1 == 1) == when)
            }
            When::Unknown => None,
        };
        let stays = |edge: &&Edge| {
            let to = graph.edges[**edge].to;
            head.is_none_or(|head| to == head || self.flow.is_in(to, head))
        };
        // The iteration in question is followed by another, so control stays in the loop.
        let inside: Vec<&Edge> = edges.iter().filter(stays).collect();
        if let [only] = inside[..] {
            return Some(*only);
        }
        for edge in inside {
            if is_taken(&edge)? {
                return Some(*edge);
            }
        }
        None
    }

    /// The only edge out of a loop.
    pub(super) fn exit(&self, graph: &Graph, head: Block) -> Option<Edge> {
        let mut found = None;
        for (edge, data) in graph.edges.iter().enumerate() {
            let inside = |block| self.flow.is_reachable(block) && self.flow.is_in(block, head);
            if inside(data.from) && !inside(data.to) && found.replace(edge).is_some() {
                return None;
            }
        }
        found
    }

    /// The initial value of a phi at a loop's head, and its value for the next iteration.
    pub(crate) fn turn(&self, graph: &Graph, phi: Node) -> Option<(Box<Sample>, Box<Sample>)> {
        let Kind::Phi(values) = &graph.nodes[phi].kind else { return None };
        let head = graph.nodes[phi].block;
        let (back, entry): (Vec<_>, Vec<_>) =
            values.iter().copied().partition(|(edge, _)| self.flow.is_back(*edge));
        let single = |values: &[(Edge, Node)]| {
            let (_, first) = values.first()?;
            let first = self.get(graph, *first)?;
            let mut others = values[1..].iter();
            let is_same = others.all(|(_, it)| self.get(graph, *it) == Some(first));
            is_same.then(|| Box::from(first))
        };
        let begins = single(&entry).or_else(|| {
            let above = self.flow.dominator(head)?;
            self.chosen(graph, above, head, &entry, None)
        })?;
        let goes_on =
            single(&back).or_else(|| self.chosen(graph, head, head, &back, Some(head)))?;
        Some((begins, goes_on))
    }
}

/// Pairs of corresponding loops of the two sides, by their heads.
pub(crate) type Pairs = Vec<(Block, Block)>;

/// Computes the samples of both sides, given those of matched leaves and the pairs of loops. Equal
/// values get equal samples.
pub(crate) fn number(
    graphs: [&Graph; 2],
    sides: [&mut Side; 2],
    draw: &Draw,
    leaves: &HashMap<Node, Box<Sample>>,
    other_leaves: &HashMap<Node, Box<Sample>>,
    pairs: &Pairs,
) {
    let [one, other] = sides;
    // By phi, its class. The phis of a loop without a partner have classes of their own.
    let mut classes: HashMap<(usize, Node), u64> = HashMap::new();
    let heads: [HashMap<Block, usize>; 2] = [
        pairs.iter().enumerate().map(|(index, pair)| (pair.0, index)).collect(),
        pairs.iter().enumerate().map(|(index, pair)| (pair.1, index)).collect(),
    ];
    for (which, graph) in graphs.iter().enumerate() {
        for (node, data) in graph.nodes.iter().enumerate() {
            if let (Kind::Phi(_), Some(pair)) = (&data.kind, heads[which].get(&data.block)) {
                let width = data.scalar.map_or(0, |scalar| match scalar {
                    // Narrow integers are held in 32-bit registers.
                    Scalar::Int(width) => u64::from(width.max(32)),
                    Scalar::F32 => 132,
                    Scalar::F64 => 164,
                });
                classes.insert((which, node), mix((*pair as u64) << 16 | width));
            }
        }
    }
    let mut count = 0;
    // Classes only split, so this ends; the limit is for malicious programs.
    for _ in 0..200 {
        let mut given = [leaves.clone(), other_leaves.clone()];
        for ((which, node), class) in &classes {
            given[*which].insert(*node, draw.sample(*class, graphs[*which].nodes[*node].scalar));
        }
        one.compute(graphs[0], draw, &given[0]);
        other.compute(graphs[1], draw, &given[1]);
        let open = one.all_open(draw.count());
        let is_open = open.iter().zip(other.all_open(draw.count())).map(|(one, other)| one | other);
        let is_open: Vec<bool> = is_open.collect();
        let mut split: HashMap<(usize, Node), u64> = HashMap::new();
        for ((which, node), class) in &classes {
            let side = if *which == 0 { &*one } else { &*other };
            let scalar = graphs[*which].nodes[*node].scalar;
            let key = match side.turn(graphs[*which], *node) {
                Some((begins, goes_on)) => {
                    let both = begins.iter().zip(&is_open).chain(goes_on.iter().zip(&is_open));
                    let told = both.filter(|(_, is_open)| !**is_open);
                    told.fold(*class, |all, (bits, _)| mix(all ^ narrow(scalar, *bits)))
                }
                None => mix(class ^ mix(*which as u64) ^ mix(*node as u64 + 3)),
            };
            split.insert((*which, *node), key);
        }
        let mut distinct: Vec<u64> = split.values().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == count {
            return;
        }
        count = distinct.len();
        classes = split;
    }
}

/// The bits of a number that count in a comparison.
fn narrow(scalar: Option<Scalar>, bits: u64) -> u64 {
    scalar.map_or(bits, |scalar| scalar.cut(bits))
}
