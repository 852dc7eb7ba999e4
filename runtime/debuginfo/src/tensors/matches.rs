//! Which tensor of the source a dispatch leaves: candidates by place and by size, each compared
//! with a proof. Where the compiler pads a result, the tensor is a part of what is left.

use std::collections::HashSet;

use super::names::Walk;
use super::places::is_at;
use super::program::{TensorOperationId, TensorPart, TensorValueId, Unrecognised};
use super::sizes::{SizeKey, size_key};
use super::symbolic::build::Value;
use super::symbolic::equal::{Equality, Folded};
use super::symbolic::index::Index;
use super::symbolic::terms::{NodeId, NodeKind, Term};
use crate::mlir_text::CallChain;

/// The most tensors of the source that a value is compared with.
const CANDIDATES: usize = 64;

/// What a dispatch leaves, and what is known of it.
pub(super) struct Left<'l> {
    pub(super) operation: TensorOperationId,
    /// The places in the source of what it stores.
    pub(super) stored_at: &'l [CallChain],
    /// The places of all that it does.
    pub(super) all: &'l [CallChain],
    pub(super) given: &'l [Option<Value>],
}

/// How far a tensor of the source is what a dispatch leaves.
enum Agreement {
    Proven,
    /// It is, if the compiler's constants are these.
    Assuming(Folded),
    Unknown,
}

impl Walk<'_, '_> {
    /// The tensor of the source that a dispatch leaves; itself, if it is not known.
    pub(super) fn identify(
        &mut self,
        node: NodeId,
        result: TensorValueId,
        left: &Left<'_>,
    ) -> NodeId {
        let source = self.source;
        let found = self.matched(node, left).and_then(|at| source.values.get(at));
        // A tensor that is padded in the source has no name there either.
        if found.is_none_or(|it| it.tensor.is_none())
            && let Some((inner, before, after)) = self.part(node)
            && let Some(at) = self.matched(inner, left)
            && let Some(tensor) = source.values.get(at).and_then(|it| it.tensor.clone())
        {
            self.parts.insert(at, TensorPart { value: result, before, after, tensor });
        }
        if let Some(value) = found {
            return self.in_shape_of(node, value.node);
        }
        for at in self.here(left.stored_at, &size_key(self.terms.node(node))) {
            if let Some(value) = source.values.get(at) {
                self.near.entry(value.node).or_default().push(result);
            }
        }
        node
    }

    /// The same for a tensor whose elements are in the order of the machine's tiles. It has no
    /// name, as its bytes are not those of the source's tensor; what is made from it may have one.
    pub(super) fn identify_encoded(
        &mut self,
        node: NodeId,
        result: TensorValueId,
        left: &Left<'_>,
    ) -> NodeId {
        let source = self.source;
        let Some(at) = self.matched(node, left) else { return node };
        let Some(value) = source.values.get(at) else { return node };
        self.packed.insert(result, at);
        self.withheld.insert(value.node, Unrecognised::Tiled);
        self.in_shape_of(node, value.node)
    }

    /// A tensor of the source in the shape that the compiled program has it in.
    fn in_shape_of(&mut self, compiled: NodeId, source: NodeId) -> NodeId {
        let it = self.terms.node(compiled);
        let (shape, element) = (it.shape.clone(), it.element.clone());
        self.builder().reshaped(source, shape, element).unwrap_or(compiled)
    }

    /// The tensor of the source that is proven to be a tensor.
    fn matched(&mut self, node: NodeId, left: &Left<'_>) -> Option<usize> {
        let key = size_key(self.terms.node(node));
        let here = self.here(left.stored_at, &key);
        let mut others = self.here(left.all, &key);
        others.extend(self.consumers(left.given, &key));
        others.retain(|it| !here.contains(it));
        // A proof is better than an assumption about constants.
        let mut assumed = None;
        for at in here {
            match self.agreement(at, node) {
                Agreement::Proven => return Some(self.claim(at, left, false)),
                Agreement::Assuming(folded) if assumed.is_none() => assumed = Some((at, folded)),
                Agreement::Assuming(_) => {}
                Agreement::Unknown => self.refute(at, left),
            }
        }
        if let Some((at, folded)) = assumed {
            self.folded = folded;
            return Some(self.claim(at, left, true));
        }
        let is_proven = |it: &usize| matches!(self.agreement(*it, node), Agreement::Proven);
        let at = others.into_iter().find(is_proven)?;
        Some(self.claim(at, left, false))
    }

    /// How far a tensor of the source is a tensor. What would have to be assumed of constants is
    /// not assumed yet. One that was assumed to be, and turned out not to, is not again; and
    /// nothing is assumed to be a number in every element, which any constant might be.
    fn agreement(&mut self, at: usize, node: NodeId) -> Agreement {
        let source = self.source;
        let Some(value) = source.values.get(at) else { return Agreement::Unknown };
        let before = self.folded.clone();
        match self.compare(value.node, node) {
            Equality::Proven => Agreement::Proven,
            Equality::Unknown => Agreement::Unknown,
            Equality::ExceptConstants => {
                let folded = std::mem::replace(&mut self.folded, before);
                let is_refused = self.terms.filled(value.node).is_some()
                    || self.refused.tensors.contains(&(value.chain.clone(), at));
                if is_refused { Agreement::Unknown } else { Agreement::Assuming(folded) }
            }
        }
    }

    fn claim(&mut self, at: usize, left: &Left<'_>, assumes: bool) -> usize {
        self.claims.entry(at).or_default().push((left.operation, assumes));
        at
    }

    /// Notes that what a dispatch leaves is not the tensor of its place.
    fn refute(&mut self, at: usize, left: &Left<'_>) {
        let refuted = self.refuted.entry(at).or_default();
        if !refuted.contains(&left.operation) {
            refuted.push(left.operation);
        }
    }

    /// The tensor that another one has inside, with the number of elements before and after it
    /// along each axis.
    fn part(&mut self, node: NodeId) -> Option<(NodeId, Vec<u64>, Vec<u64>)> {
        /// Tensors are seldom reshaped so often.
        const MOST: usize = 16;
        let (shape, element) = {
            let node = self.terms.node(node);
            (node.shape.clone(), node.element.clone())
        };
        let own: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let mut term = self.terms.read(node, own.clone());
        let (bounds, inside) = (0..MOST).find_map(|_| match self.terms.get(term).clone() {
            Term::Within(bounds, inside, _) => Some((bounds, inside)),
            Term::Read(from, at) => {
                if let NodeKind::Elements(inner) = self.terms.node(from).kind {
                    term = self.terms.replace(inner, &at, &shape);
                }
                None
            }
            _ => None,
        })?;
        let (mut before, mut after) = (vec![0; shape.len()], vec![0; shape.len()]);
        let (mut inner_shape, mut moved) = (shape.clone(), own.clone());
        for (place, size) in bounds {
            let axis = own.iter().position(|it| place.subtract(it).as_constant().is_some())?;
            let low = own[axis].subtract(&place);
            let high = shape[axis].subtract(&size).subtract(&low).as_constant()?;
            before[axis] = u64::try_from(low.as_constant()?).ok()?;
            after[axis] = u64::try_from(high).ok()?;
            moved[axis] = own[axis].add(&low);
            inner_shape[axis] = size;
        }
        let term = self.terms.replace(inside, &moved, &inner_shape);
        Some((self.terms.elements(inner_shape, element, term), before, after))
    }

    /// The tensors of the source that are defined at one of these places.
    fn here(&self, stored_at: &[CallChain], key: &SizeKey) -> Vec<usize> {
        let mut found = Vec::new();
        for chain in stored_at {
            let Some(place) = chain.first() else { continue };
            for at in self.by_place.get(place).into_iter().flatten() {
                let Some(value) = self.source.values.get(*at) else { continue };
                if is_at(chain, &value.chain)
                    && self.key(value).as_ref() == Some(key)
                    && !found.contains(at)
                {
                    found.push(*at);
                }
            }
        }
        // The last operation of a place has its result.
        found.sort_unstable_by(|one, other| other.cmp(one));
        found
    }

    /// Tensors of the source of this size that are computed soon after the operands: first those
    /// after all of them.
    fn consumers(&self, given: &[Option<Value>], key: &SizeKey) -> Vec<usize> {
        let places = given.iter().filter_map(|it| it.and_then(Value::tensor)).filter_map(|it| {
            let base = self.reshaped.get(&it).copied().unwrap_or(it);
            self.source.values.iter().position(|value| value.node == it || value.node == base)
        });
        let places: Vec<usize> = places.collect();
        let (Some(oldest), Some(newest)) = (places.iter().min(), places.iter().max()) else {
            return Vec::new();
        };
        let all = self.by_shape.get(key).map(Vec::as_slice).unwrap_or_default().iter().copied();
        let after = all.clone().filter(|it| it > newest).take(CANDIDATES);
        after.chain(all.filter(|it| it < newest && it > oldest).take(CANDIDATES)).collect()
    }

    /// Several values that might be one tensor, depending on constants, are none of them.
    pub(super) fn check_claims(&mut self) {
        for (at, claims) in &self.claims {
            let operations: HashSet<TensorOperationId> = claims.iter().map(|it| it.0).collect();
            if operations.len() > 1 && claims.iter().any(|(_, assumes)| *assumes) {
                let Some(value) = self.source.values.get(*at) else { continue };
                self.refused.tensors.insert((value.chain.clone(), *at));
                self.is_sound = false;
            }
        }
    }
}
