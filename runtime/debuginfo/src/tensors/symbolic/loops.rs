//! Operations of `linalg`: loops over operands.

use mlir::linalg::Body;
use mlir::table::{Control, Meaning};
use mlir::{Cast, Element, FloatBinary, FloatUnary, IntegerBinary, Map, Numbers, Scalar};

use super::build::{Builder, Constants, Operation, Scope, Value};
use super::index::Index;
use super::maps;
use super::terms::{Function, Node, NodeId, NodeKind, Term, TermId};
use crate::source::functions::OperationIndex;

/// Loops, and what they read and write.
pub(super) struct Loops {
    /// Whether each loop reduces.
    pub(super) reduces: Vec<bool>,
    pub(super) inputs: Vec<Value>,
    pub(super) outputs: Vec<NodeId>,
    /// The indices of inputs, then of outputs.
    pub(super) maps: Vec<Vec<Index>>,
}

impl Builder<'_> {
    pub(super) fn loops(
        &mut self,
        operation: &Operation<'_, '_>,
        which: mlir::linalg::Loops,
    ) -> Option<Vec<Value>> {
        use mlir::linalg::Loops as Known;
        match which {
            Known::Generic => self.generic(operation),
            Known::Named(letters, body) => self.named(operation, letters, body),
            Known::Elementwise { float, integer } => self.each(operation, float, integer),
            Known::Square | Known::Map => None,
            Known::Copy => self.copy(operation),
            Known::Transpose => self.transpose(operation),
            Known::Broadcast => self.broadcast(operation),
            Known::Reduce => self.reduce(operation),
            Known::Softmax => self.softmax(operation),
            Known::Quantized { quantizes } => self.quantize(operation, quantizes),
        }
    }

    pub(super) fn outputs(&self, operation: &Operation<'_, '_>) -> Option<Vec<NodeId>> {
        operation.group("outs")?.into_iter().map(Value::tensor).collect()
    }

    pub(super) fn shape_of(&self, node: NodeId) -> (Vec<Index>, String) {
        let node = self.terms.node(node);
        (node.shape.clone(), node.element.clone())
    }

    /// A number in every element, or the elements of another tensor.
    fn copy(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let (shape, element) = self.shape_of(*self.outputs(operation)?.first()?);
        let value = match operation.group("ins")?.first()? {
            Value::Scalar(value) => *value,
            Value::Tensor(node) if self.terms.node(*node).element == element => {
                let index = (0..shape.len() as u32).map(Index::variable).collect();
                self.terms.read(*node, index)
            }
            Value::Tensor(_) => return None,
        };
        Some(vec![Value::Tensor(self.terms.elements(shape, element, value))])
    }

    /// `array<i64: 1, 0>` or `[1, 0]`.
    fn numbers(operation: &Operation<'_, '_>, word: &str) -> Option<Vec<i64>> {
        let head = &operation.head;
        let at = head.anywhere(word)? + 1;
        if head.token(at) == "dense" {
            let text = head.text(head.inside(at + 1));
            let numbers: Option<Vec<i64>> =
                text.trim_matches(['[', ']']).split(',').map(|it| it.trim().parse().ok()).collect();
            // `dense<2> : vector<2xi64>` stands for two.
            return numbers.map(|it| if it.len() == 1 { it.repeat(3) } else { it });
        }
        let inside = head.inside(at);
        let parts = head.parts(inside).into_iter();
        parts.map(|it| head.text(it).trim_start_matches("i64:").trim().parse().ok()).collect()
    }

    fn transpose(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let input = operation.group("ins")?.first()?.tensor()?;
        let (shape, element) = self.shape_of(*self.outputs(operation)?.first()?);
        let order = Self::numbers(operation, "permutation")?;
        // The result's axis `i` is the input's axis `order[i]`.
        let mut index = vec![Index::default(); order.len()];
        for (at, axis) in (0_u32..).zip(&order) {
            *index.get_mut(usize::try_from(*axis).ok()?)? = Index::variable(at);
        }
        let term = self.terms.read(input, index);
        Some(vec![Value::Tensor(self.terms.elements(shape, element, term))])
    }

    fn broadcast(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let input = operation.group("ins")?.first()?.tensor()?;
        let (shape, element) = self.shape_of(*self.outputs(operation)?.first()?);
        let added = Self::numbers(operation, "dimensions")?;
        let kept = (0..shape.len() as i64).filter(|at| !added.contains(at));
        let index = kept.map(|at| Index::variable(at as u32)).collect();
        let term = self.terms.read(input, index);
        Some(vec![Value::Tensor(self.terms.elements(shape, element, term))])
    }

    fn reduce(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let inputs = operation.group("ins")?;
        let outputs = self.outputs(operation)?;
        let dimensions = Self::numbers(operation, "dimensions")?;
        let rank = self.terms.node(inputs.first()?.tensor()?).shape.len();
        let reduces: Vec<bool> = (0..rank as i64).map(|at| dimensions.contains(&at)).collect();
        let all: Vec<Index> = (0..rank as u32).map(Index::variable).collect();
        let kept: Vec<Index> =
            all.iter().zip(&reduces).filter(|(_, it)| !**it).map(|(it, _)| it.clone()).collect();
        let count = inputs.len();
        let mut maps = vec![all; count];
        maps.extend(std::iter::repeat_n(kept, outputs.len()));
        let loops = Loops { reduces, inputs, outputs, maps };
        // `{ arith.addf }` has no operands in the text.
        let head = &operation.head;
        if head.token(0) == "{" || head.token(1) == "{" {
            let open = usize::from(head.token(0) != "{");
            let name = head.text(head.inside(open));
            let element = Element::parse(&self.shape_of(*loops.outputs.first()?).1)?;
            let function = Function::Scalar(mlir::table::scalar(&name, element, element, "")?);
            return self.finish(&loops, |builder, given, before| {
                let operands = vec![*given.first()?, *before.first()?];
                Some(vec![builder.apply(function.clone(), operands)])
            });
        }
        self.region(operation, &loops)
    }

    /// The indices of all operands, where an operation writes its `indexing_maps`.
    pub(super) fn indexing_maps(&self, operation: &Operation<'_, '_>) -> Option<Vec<Vec<Index>>> {
        let head = &operation.head;
        let maps = head.parts(head.inside(head.anywhere("indexing_maps")? + 1)).into_iter();
        maps.map(|it| self.maps.read(&head.text(it))).collect()
    }

    fn generic(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let head = &operation.head;
        let maps = self.indexing_maps(operation)?;
        let kinds = head.anywhere("iterator_types")? + 1;
        let kinds = head.parts(head.inside(kinds)).into_iter();
        let reduces: Option<Vec<bool>> = kinds
            .map(|it| match head.text(it).as_str() {
                "\"parallel\"" => Some(false),
                "\"reduction\"" => Some(true),
                _ => None,
            })
            .collect();
        let inputs = operation.group("ins").or_else(|| {
            let has_none = operation.head.after("ins").is_none();
            has_none.then(Vec::new)
        })?;
        let outputs = self.outputs(operation)?;
        let loops = Loops { reduces: reduces?, inputs, outputs, maps };
        self.region(operation, &loops)
    }

    /// Floats as integers of few bits, or back.
    fn quantize(&mut self, operation: &Operation<'_, '_>, quantizes: bool) -> Option<Vec<Value>> {
        let maps = self.indexing_maps(operation)?;
        let reduces = vec![false; maps.last()?.len()];
        let (inputs, outputs) = (operation.group("ins")?, self.outputs(operation)?);
        self.finish(&Loops { reduces, inputs, outputs, maps }, |builder, given, _| {
            Some(vec![builder.quantized(operation, quantizes, given)?])
        })
    }

    /// A function of each element.
    fn each(
        &mut self,
        operation: &Operation<'_, '_>,
        float: Option<Numbers>,
        integer: Option<Numbers>,
    ) -> Option<Vec<Value>> {
        let inputs = operation.group("ins")?;
        let (shape, element) = self.shape_of(*self.outputs(operation)?.first()?);
        let of = Element::parse(&element)?;
        let numbers = if of.is_float() { float } else { integer }?;
        let index: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let mut operands = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            let node = input.tensor()?;
            let term = self.terms.read(node, index.clone());
            let is_condition = numbers == Numbers::Select && at == 0;
            let own = self.shape_of(node).1;
            operands.push(match is_condition {
                true => term,
                false => self.converted(term, &own, of, true)?,
            });
        }
        let function = Function::Scalar(numbers.of(of, of, "")?);
        let term = self.apply(function, operands);
        Some(vec![Value::Tensor(self.terms.elements(shape, element, term))])
    }

    /// A contraction or a pooling.
    fn named(
        &mut self,
        operation: &Operation<'_, '_>,
        letters: &str,
        body: Body,
    ) -> Option<Vec<Value>> {
        let inputs = operation.group("ins")?;
        let outputs = self.outputs(operation)?;
        let element = Element::parse(&self.shape_of(*outputs.first()?).1)?;
        let of = |word| Self::numbers(operation, word).unwrap_or_default();
        let head = &operation.head;
        let written = match head.anywhere("indexing_maps") {
            Some(at) => {
                let written = head.parts(head.inside(at + 1)).into_iter();
                written.map(|it| self.maps.map(&head.text(it))).collect()
            }
            None => mlir::linalg::maps(letters, &of("strides"), &of("dilations")),
        };
        let written: Vec<Map> = written?;
        let maps = written.iter().map(maps::indices).collect::<Option<Vec<Vec<Index>>>>()?;
        let mut reduces = vec![true; written.first()?.dimensions];
        for index in maps.last()? {
            *reduces.get_mut(index.as_variable()? as usize)? = false;
        }
        let is_unsigned = head.text(0..head.len()).contains("type_fn<cast_unsigned>");
        let is_signed = body.is_signed() && !is_unsigned;
        let loops = Loops { reduces, inputs, outputs, maps };
        let types: Vec<String> = loops
            .inputs
            .iter()
            .map(|it| it.tensor().map(|it| self.shape_of(it).1).unwrap_or_default())
            .collect();
        self.finish(&loops, |builder, given, before| {
            let mut read = Vec::new();
            for (term, own) in given.iter().zip(&types) {
                read.push(builder.converted(*term, own, element, is_signed)?);
            }
            let apply = |builder: &mut Self, function: Scalar, one: TermId, other: TermId| {
                builder.apply(Function::Scalar(function), vec![one, other])
            };
            let mut added = *read.first()?;
            if let Some(times) = body.product(element) {
                let mut other = *read.get(1)?;
                if let Some(subtract) = body.offset(element) {
                    added = apply(builder, subtract, added, *read.get(2)?);
                    other = apply(builder, subtract, other, *read.get(3)?);
                }
                added = apply(builder, times, added, other);
            }
            Some(vec![apply(builder, body.join(element), *before.first()?, added)])
        })
    }

    /// An element in the type of the output, as named operations convert what they read. `own` is
    /// its type; empty for a scalar, which is of the output's type.
    fn converted(
        &mut self,
        term: TermId,
        own: &str,
        to: Element,
        is_signed: bool,
    ) -> Option<TermId> {
        let from = if own.is_empty() { to } else { Element::parse(own)? };
        Some(match Cast::between(from, to, is_signed) {
            Some(cast) => self.apply(Function::Scalar(cast), vec![term]),
            None => term,
        })
    }

    /// Loops whose step is a region.
    fn region(&mut self, operation: &Operation<'_, '_>, loops: &Loops) -> Option<Vec<Value>> {
        let function = operation.scope.function;
        let written = function.operations.get(operation.index)?;
        let block = written.regions.first()?.blocks.first()?;
        let mut scope = Scope { function, values: operation.scope.values.clone() };
        self.finish(loops, |builder, given, before| {
            let values = given.iter().chain(before).map(|it| Value::Scalar(*it));
            scope.values.extend(block.arguments.iter().copied().zip(values));
            builder.scalars(&mut scope, &block.operations, loops)
        })
    }

    /// What the operations of a loop's step yield.
    fn scalars(
        &mut self,
        scope: &mut Scope<'_>,
        operations: &[OperationIndex],
        loops: &Loops,
    ) -> Option<Vec<TermId>> {
        for index in operations {
            let written = scope.function.operations.get(*index)?;
            match mlir::meaning(&written.name) {
                Some(Meaning::Control(Control::Yield)) => {
                    let yielded = written.operands.iter();
                    return yielded.map(|it| scope.values.get(it)?.scalar()).collect();
                }
                Some(Meaning::LoopIndex) => {
                    let axis = scope.function.head(*index);
                    let axis: usize = axis.first()?.1.parse().ok()?;
                    let index = loops.ordered().get(axis)?.clone();
                    let term = self.terms.add(Term::Index(index));
                    scope.values.insert(*written.results.first()?, Value::Scalar(term));
                }
                _ => self.operation(scope, *index),
            }
        }
        None
    }

    /// The results of loops whose step is known: given the elements of inputs, and what the
    /// outputs are so far.
    pub(super) fn finish(
        &mut self,
        loops: &Loops,
        mut step: impl FnMut(&mut Self, &[TermId], &[TermId]) -> Option<Vec<TermId>>,
    ) -> Option<Vec<Value>> {
        let count = loops.inputs.len();
        let (input_maps, output_maps) = loops.maps.split_at_checked(count)?;
        let order = loops.output_order()?;
        let is_reduction = loops.reduces.contains(&true);
        // Outputs of one order are written together; others are read in the order of the first.
        let has_one_order = output_maps.iter().all(|it| it == &output_maps[0]);
        if output_maps.len() != loops.outputs.len() {
            return None;
        }
        let sizes = self.sizes(loops);
        // Axes of one element have variables, but no loops.
        let reducing = loops.reduces.iter().filter(|it| **it).count();
        let mut ranges = vec![Index::constant(1); output_maps.first()?.len() + reducing];
        for (size, at) in sizes.iter().zip(&order) {
            ranges.get_mut(at.as_variable()? as usize)?.clone_from(size);
        }
        let mut given = Vec::new();
        for (input, map) in loops.inputs.iter().zip(input_maps) {
            given.push(match input {
                Value::Scalar(term) => *term,
                Value::Tensor(node) => {
                    let mut same = |term: TermId| term;
                    let map = map.iter().map(|it| it.replace(&order, &mut same, &ranges));
                    let map: Vec<Index> = map.collect();
                    if map.len() != self.terms.node(*node).shape.len() {
                        return None;
                    }
                    self.terms.read(*node, map)
                }
            });
        }
        let rank = output_maps[0].len();
        let own: Vec<Index> = (0..rank as u32).map(Index::variable).collect();
        let outputs = loops.outputs.iter().zip(output_maps);
        let first = outputs.map(|(output, map)| {
            let mut same = |term: TermId| term;
            let index = match has_one_order {
                true => own.clone(),
                false => map.iter().map(|it| it.replace(&order, &mut same, &ranges)).collect(),
            };
            self.terms.read(*output, index)
        });
        let first: Vec<TermId> = first.collect();
        let so_far: Vec<TermId> = if is_reduction {
            let results = 0..loops.outputs.len() as u32;
            results.map(|it| self.terms.add(Term::Accumulated(it))).collect()
        } else {
            first.clone()
        };
        let steps = step(self, &given, &so_far)?;
        if steps.len() != loops.outputs.len() {
            return None;
        }
        if !has_one_order && !is_reduction {
            return self.in_own_orders(loops, &order, &steps);
        }
        let turns = || ranges.iter().all(|it| it.as_constant().is_some_and(|it| it > 0));
        let is_alone = |result: &usize| output_maps[*result] != output_maps[0];
        let reduced: Vec<Index> = ranges.get(rank..).unwrap_or_default().to_vec();
        let results = loops.outputs.iter().enumerate().map(|(result, output)| {
            let (shape, element) = self.shape_of(*output);
            if !is_reduction {
                return Some(Value::Tensor(self.terms.elements(shape, element, steps[result])));
            }
            if is_alone(&result) {
                // Each turn writes the same number, as the count of what a mean is of.
                let is_number = matches!(self.terms.get(steps[result]), Term::Literal(_));
                let written = (is_number && turns()).then_some(steps[result])?;
                return Some(Value::Tensor(self.terms.elements(shape, element, written)));
            }
            // Results that this one does not need may be left out of the other program.
            let needed = self.terms.needed_results(&steps, result);
            if needed.iter().any(is_alone) {
                return None;
            }
            let steps: Vec<TermId> =
                needed.iter().map(|it| self.terms.renumbered(steps[*it], &needed)).collect();
            let mut first: Vec<TermId> = needed.iter().map(|it| first[*it]).collect();
            let added = self.summed_apart(&steps, &mut first, &element);
            let is_constant = steps.iter().chain(&first).all(|it| self.terms.is_constant(*it));
            let kind = NodeKind::Reduction { reduced: reduced.clone(), steps, first };
            let node = Node { kind, shape: shape.clone(), element: element.clone(), is_constant };
            let node = self.terms.add_node(node);
            Some(Value::Tensor(match added {
                Some((function, first)) => {
                    let sum = self.terms.read(node, own.clone());
                    let term = self.apply(function, vec![first, sum]);
                    self.terms.elements(shape, element, term)
                }
                None => node,
            }))
        });
        results.collect()
    }

    /// The results of loops whose outputs have other orders: `steps` are over the axes of the first
    /// one, by `order`.
    fn in_own_orders(
        &mut self,
        loops: &Loops,
        order: &[Index],
        steps: &[TermId],
    ) -> Option<Vec<Value>> {
        let maps = loops.maps.get(loops.inputs.len()..)?;
        let axes = maps.first()?.len();
        let results = loops.outputs.iter().zip(maps).zip(steps).map(|((output, map), step)| {
            let (shape, element) = self.shape_of(*output);
            let mut own: Vec<Option<Index>> = vec![None; axes];
            for (axis, index) in (0_u32..).zip(map) {
                // An axis of one element has no loop.
                if index.as_constant() == Some(0) {
                    continue;
                }
                let first = order.get(index.as_variable()? as usize)?.as_variable()?;
                let slot = own.get_mut(first as usize)?;
                if slot.replace(Index::variable(axis)).is_some() {
                    return None;
                }
            }
            // An axis of the first one that this one lacks has one element, or it is not known.
            let first_shape = self.terms.node(*loops.outputs.first()?).shape.clone();
            let is_one = |at: usize| first_shape.get(at).and_then(Index::as_constant) == Some(1);
            let own = own.into_iter().enumerate().map(|(at, it)| match it {
                None if is_one(at) => Some(Index::default()),
                it => it,
            });
            let own: Vec<Index> = own.collect::<Option<_>>()?;
            let term = self.terms.replace(*step, &own, &shape);
            Some(Value::Tensor(self.terms.elements(shape, element, term)))
        });
        results.collect()
    }

    /// What a sum begins with is added to one that begins with zero: programs do either. Returns
    /// the addition and what the sum began with.
    fn summed_apart(
        &mut self,
        steps: &[TermId],
        first: &mut [TermId],
        element: &str,
    ) -> Option<(Function, TermId)> {
        let ([step], [first]) = (steps, first) else { return None };
        let Term::Operation(function, operands) = self.terms.get(*step) else { return None };
        let zero = match function.scalar() {
            Some(Scalar::FloatBinary(FloatBinary::Add, _)) => "0.0",
            Some(Scalar::IntegerBinary(IntegerBinary::Add, _)) => "0",
            _ => return None,
        };
        let [one, other] = operands.as_slice() else { return None };
        let is_so_far = |it: &TermId| matches!(self.terms.get(*it), Term::Accumulated(0));
        let added = match (is_so_far(one), is_so_far(other)) {
            (true, false) => *other,
            (false, true) => *one,
            _ => return None,
        };
        let function = function.clone();
        let zero = self.terms.add(Term::Literal(maps::literal(zero, element)));
        // What is added may not depend on the sum so far.
        if *first == zero || self.terms.reads_results(added) {
            return None;
        }
        Some((function, std::mem::replace(first, zero)))
    }

    /// The number of steps of each loop.
    fn sizes(&mut self, loops: &Loops) -> Vec<Index> {
        let mut sizes: Vec<Option<Index>> = vec![None; loops.reduces.len()];
        let mut equal: Vec<(Index, Index)> = Vec::new();
        let tensors = loops.inputs.iter().map(|it| it.tensor());
        let tensors = tensors.chain(loops.outputs.iter().map(|it| Some(*it)));
        for (tensor, map) in tensors.zip(&loops.maps) {
            let Some(tensor) = tensor else { continue };
            for (index, size) in map.iter().zip(&self.terms.node(tensor).shape) {
                let variable = index.as_variable().and_then(|it| sizes.get_mut(it as usize));
                let Some(slot) = variable else { continue };
                equal.extend(slot.clone().filter(|it| it != size).map(|it| (it, size.clone())));
                if slot.as_ref().is_none_or(|it| it.as_constant().is_none())
                    && (slot.is_none() || size.as_constant().is_some())
                {
                    *slot = Some(size.clone());
                }
            }
        }
        // What the compiler has made of it is not asked.
        if self.constants == Constants::Written {
            equal.iter().for_each(|(one, other)| self.terms.note_equal(one, other));
        }
        sizes.into_iter().map(|it| it.unwrap_or_else(|| self.terms.unknown_size())).collect()
    }

    fn softmax(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let input = operation.group("ins")?.first()?.tensor()?;
        let axis = operation.head.group_after("dimension")?;
        let axis: usize = operation.head.text(axis).parse().ok()?;
        Some(vec![Value::Tensor(self.shares(input, axis)?)])
    }

    /// The largest element along an axis, the exponentials of the differences from it, their sum,
    /// and their shares in it.
    pub(super) fn shares(&mut self, input: NodeId, axis: usize) -> Option<NodeId> {
        let (shape, element) = self.shape_of(input);
        let rank = shape.len();
        (axis < rank).then_some(())?;
        let own: Vec<Index> = (0..rank as u32).map(Index::variable).collect();
        // The axes that stay come first, then the reduced one.
        let mut along: Vec<Index> = Vec::new();
        for at in 0..rank {
            let kept = at - usize::from(at > axis);
            along.push(Index::variable(if at == axis { rank - 1 } else { kept } as u32));
        }
        let mut kept = own.clone();
        kept.remove(axis);
        let mut kept_shape = shape.clone();
        let size = kept_shape.remove(axis);
        let type_ = Element::parse(&element).filter(|it| it.is_float())?;
        let of_two = |function| Function::Scalar(Scalar::FloatBinary(function, type_));
        let reduce = |builder: &mut Self, of: TermId, function: FloatBinary, first: &str| {
            let so_far = builder.terms.add(Term::Accumulated(0));
            let step = builder.apply(of_two(function), vec![of, so_far]);
            let first = builder.terms.add(Term::Literal(maps::literal(first, &element)));
            let is_constant = builder.terms.is_constant(step);
            let kind = NodeKind::Reduction {
                reduced: vec![size.clone()],
                steps: vec![step],
                first: vec![first],
            };
            let (shape, element) = (kept_shape.clone(), element.clone());
            builder.terms.add_node(Node { kind, shape, element, is_constant })
        };
        let lowest = match element.as_str() {
            "f32" => "0xFF800000",
            "f64" => "0xFFF0000000000000",
            "f16" => "0xFC00",
            _ => "0xFF80",
        };
        let along_axis = self.terms.read(input, along.clone());
        let most = reduce(self, along_axis, FloatBinary::Maximum, lowest);
        let here = self.terms.read(input, own.clone());
        let most = self.terms.read(most, kept.clone());
        let less = self.apply(of_two(FloatBinary::Subtract), vec![here, most]);
        let exponential = Function::Scalar(Scalar::FloatUnary(FloatUnary::Exp, type_));
        let power = self.apply(exponential, vec![less]);
        let power = self.terms.elements(shape.clone(), element.clone(), power);
        let along_axis = self.terms.read(power, along);
        let sum = reduce(self, along_axis, FloatBinary::Add, "0.0");
        let (power, sum) = (self.terms.read(power, own), self.terms.read(sum, kept));
        let share = self.apply(of_two(FloatBinary::Divide), vec![power, sum]);
        Some(self.terms.elements(shape, element, share))
    }
}

impl Loops {
    /// For each loop, its number if those come first that do not reduce, in the order of the
    /// outputs' axes. `None` if an output's axes are not loops of their own.
    fn output_order(&self) -> Option<Vec<Index>> {
        let output = self.maps.get(self.inputs.len())?;
        let mut order: Vec<Option<u32>> = vec![None; self.reduces.len()];
        for (axis, index) in (0_u32..).zip(output) {
            // An axis of one element has no loop.
            if index.as_constant() == Some(0) {
                continue;
            }
            let at = index.as_variable()? as usize;
            if order.get(at)?.is_some() || *self.reduces.get(at)? {
                return None;
            }
            order[at] = Some(axis);
        }
        let mut next = u32::try_from(output.len()).ok()?;
        for (slot, reduces) in order.iter_mut().zip(&self.reduces) {
            if *reduces {
                *slot = Some(next);
                next += 1;
            }
        }
        order.into_iter().map(|it| it.map(Index::variable)).collect()
    }

    fn ordered(&self) -> Vec<Index> {
        self.output_order().unwrap_or_default()
    }
}
