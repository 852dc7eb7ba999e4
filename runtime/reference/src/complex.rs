//! Complex numbers as pairs of floats: a function with them becomes one without.
//!
//! Each complex value is two values from here on, its real and its imaginary part, and each
//! operation on it is one on both or one on each. So bounds of complex numbers are those of their
//! parts, and nothing after this module knows that there are such numbers.
//!
//! Functions of complex numbers become their textbook formulas, which are those of MLIR's lowering
//! for finite numbers: `(a + bi)(c + di) = (ac - bd) + (ad + bc)i`. Conventions differ where a
//! formula makes NaN of an infinite operand: C99 (annex G) has an infinite product there. The part
//! has no opinion then.

use std::collections::HashMap;

use crate::operations::{Constant, Function, Generic, Id, Kind, Operation, Region};
use crate::refusal::{Refusal, Result};
use mlir::table::Complex;
use mlir::{
    Element, FloatBinary as B, FloatTest, FloatUnary as U, Format, IntegerBinary as I, Map, Order,
    Scalar, TensorType, Type,
};

/// The name of operations that find out where conventions differ: no part of a formula.
pub(crate) const CONVENTION: &str = "complex infinities";

/// The same function on the parts of complex numbers.
pub(crate) fn split(mut function: Function) -> Result<Function> {
    let mut splitter = Splitter { types: function.types, imaginary: HashMap::new() };
    for at in 0..splitter.types.len() {
        if let Element::Complex(format) = splitter.types[at].element() {
            let part = with_element(&splitter.types[at], Element::Float(format));
            splitter.types[at] = part.clone();
            splitter.types.push(part);
            splitter.imaginary.insert(Id(at), Id(splitter.types.len() - 1));
        }
    }
    if !splitter.imaginary.is_empty() {
        function.body = splitter.region(&function.body)?;
    }
    function.types = splitter.types;
    function.imaginary = splitter.imaginary;
    Ok(function)
}

fn with_element(type_: &Type, element: Element) -> Type {
    match type_ {
        Type::Bound(access, tensor) => Type::Bound(*access, tensor.of(element)),
        other => other.of(element),
    }
}

/// Which part of a complex number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Real,
    Imaginary,
}

struct Splitter {
    types: Vec<Type>,
    imaginary: HashMap<Id, Id>,
}

/// Where the operations go that one becomes.
struct Place<'o> {
    operation: &'o Operation,
    into: &'o mut Vec<Operation>,
}

impl Place<'_> {
    fn push(&mut self, kind: Kind, results: Vec<Id>) {
        let Operation { name, line, .. } = self.operation;
        self.into.push(Operation { name: name.clone(), line: *line, results, kind });
    }
}

impl Splitter {
    fn is_complex(&self, id: Id) -> bool {
        self.imaginary.contains_key(&id)
    }

    /// A part of a value; a value that is no complex number has one.
    fn part(&self, id: Id, part: Part) -> Id {
        match part {
            Part::Real => id,
            Part::Imaginary => self.imaginary.get(&id).copied().unwrap_or(id),
        }
    }

    /// All values, each complex one followed by its imaginary part.
    fn all(&self, ids: &[Id]) -> Vec<Id> {
        ids.iter().flat_map(|id| [Some(*id), self.imaginary.get(id).copied()]).flatten().collect()
    }

    fn region(&mut self, region: &Region) -> Result<Region> {
        let mut operations = Vec::new();
        for operation in &region.operations {
            self.operation(&mut Place { operation, into: &mut operations })
                .map_err(|it| it.in_operation(&operation.name, operation.line))?;
        }
        let (arguments, yields) = (self.all(&region.arguments), self.all(&region.yields));
        Ok(Region { arguments, operations, yields })
    }

    fn operation(&mut self, place: &mut Place<'_>) -> Result<()> {
        let Operation { results, kind, .. } = place.operation;
        let result = results.first().copied();
        let is_complex = result.is_some_and(|id| self.is_complex(id));
        match kind {
            Kind::Constant(Constant::Pairs(pairs)) => {
                let Some(id) = result.filter(|_| is_complex) else {
                    return Err(Refusal::malformed(0, "complex numbers of another type"));
                };
                for (part, id) in [(Part::Real, id), (Part::Imaginary, self.imaginary[&id])] {
                    let of = |it: &(f64, f64)| if part == Part::Real { it.0 } else { it.1 };
                    let constant = match &pairs[..] {
                        [pair] => Constant::Float(of(pair)),
                        pairs => Constant::Floats(pairs.iter().map(of).collect()),
                    };
                    place.push(Kind::Constant(constant), vec![id]);
                }
                Ok(())
            }
            Kind::Complex(function, operands) => self.function(*function, operands, place),
            Kind::Scalar(what, operands) if operands.iter().any(|id| self.is_complex(*id)) => {
                match what {
                    Scalar::SelectInteger => {
                        for part in [Part::Real, Part::Imaginary] {
                            let operands = operands.iter().map(|id| self.part(*id, part)).collect();
                            let results = results.iter().map(|id| self.part(*id, part)).collect();
                            place.push(Kind::Scalar(Scalar::SelectFloat, operands), results);
                        }
                        Ok(())
                    }
                    // Named operations of linalg say by their types what they compute.
                    Scalar::IntegerBinary(I::Add, _) => {
                        self.function(Complex::Add, operands, place)
                    }
                    Scalar::IntegerBinary(I::Subtract, _) => {
                        self.function(Complex::Subtract, operands, place)
                    }
                    Scalar::IntegerBinary(I::Multiply, _) => {
                        self.function(Complex::Multiply, operands, place)
                    }
                    _ => Err(Refusal::unsupported(0, "is not evaluated on complex numbers")),
                }
            }
            Kind::Generic(generic) => {
                let generic = self.generic(generic)?;
                place.push(Kind::Generic(Box::new(generic)), self.all(results));
                Ok(())
            }
            Kind::Alias(ids) => {
                place.push(Kind::Alias(self.all(ids)), self.all(results));
                Ok(())
            }
            Kind::For { low, high, step, initial, body } => {
                let (low, high, step) = (*low, *high, *step);
                let (initial, body) = (self.all(initial), self.region(body)?);
                place.push(Kind::For { low, high, step, initial, body }, self.all(results));
                Ok(())
            }
            Kind::If { condition, then, otherwise } => {
                let (then, otherwise) = (self.region(then)?, self.region(otherwise)?);
                let kind = Kind::If { condition: *condition, then, otherwise };
                place.push(kind, self.all(results));
                Ok(())
            }
            Kind::Extension { inputs, outputs, .. } => {
                if inputs.iter().chain(outputs).any(|id| self.is_complex(*id)) {
                    return Err(Refusal::unsupported(0, "is not evaluated on complex numbers"));
                }
                place.push(kind.clone(), results.clone());
                Ok(())
            }
            Kind::Store { value, .. } if self.is_complex(*value) => self.both(place),
            _ if is_complex => self.both(place),
            Kind::Pad { .. } | Kind::Generate { .. } => self.one(place, Part::Real),
            _ => {
                place.push(kind.clone(), results.clone());
                Ok(())
            }
        }
    }

    /// An operation that moves elements moves both parts.
    fn both(&mut self, place: &mut Place<'_>) -> Result<()> {
        self.one(place, Part::Real)?;
        self.one(place, Part::Imaginary)
    }

    fn one(&mut self, place: &mut Place<'_>, part: Part) -> Result<()> {
        let of = |id: &Id| self.part(*id, part);
        let kind = match &place.operation.kind {
            Kind::Load { source, slice } => Kind::Load { source: of(source), slice: slice.clone() },
            Kind::Store { value, target, slice } => {
                Kind::Store { value: of(value), target: of(target), slice: slice.clone() }
            }
            Kind::TieShape { source, sizes } => {
                Kind::TieShape { source: of(source), sizes: sizes.clone() }
            }
            Kind::Empty { sizes } => Kind::Empty { sizes: sizes.clone() },
            Kind::Splat { value, sizes } => Kind::Splat { value: of(value), sizes: sizes.clone() },
            Kind::FromElements(ids) => Kind::FromElements(ids.iter().map(of).collect()),
            Kind::Extract { source, indices } => {
                Kind::Extract { source: of(source), indices: indices.clone() }
            }
            Kind::Insert { value, target, indices } => {
                let indices = indices.clone();
                Kind::Insert { value: of(value), target: of(target), indices }
            }
            Kind::ExtractSlice { source, slice } => {
                Kind::ExtractSlice { source: of(source), slice: slice.clone() }
            }
            Kind::InsertSlice { value, target, slice } => {
                let slice = slice.clone();
                Kind::InsertSlice { value: of(value), target: of(target), slice }
            }
            Kind::Reshape { source, sizes } => {
                Kind::Reshape { source: of(source), sizes: sizes.clone() }
            }
            Kind::Concat { dimension, sources } => {
                let sources = sources.iter().map(of).collect();
                Kind::Concat { dimension: *dimension, sources }
            }
            Kind::Pack { source, padding, target, tiling } => Kind::Pack {
                source: of(source),
                padding: padding.as_ref().map(of),
                target: of(target),
                tiling: tiling.clone(),
            },
            Kind::Unpack { source, target, tiling } => {
                let tiling = tiling.clone();
                Kind::Unpack { source: of(source), target: of(target), tiling }
            }
            Kind::Pad { source, low, high, body } => {
                let (source, low, high) = (of(source), low.clone(), high.clone());
                Kind::Pad { source, low, high, body: self.body(body, part)? }
            }
            Kind::Generate { sizes, body } => {
                Kind::Generate { sizes: sizes.clone(), body: self.body(body, part)? }
            }
            _ => return Err(Refusal::unsupported(0, "is not evaluated on complex numbers")),
        };
        let results = place.operation.results.iter().map(|id| self.part(*id, part)).collect();
        place.push(kind, results);
        Ok(())
    }

    /// A region that yields one part only.
    fn body(&mut self, body: &Region, part: Part) -> Result<Region> {
        let yields = body.yields.iter().map(|id| self.part(*id, part)).collect();
        Ok(Region { yields, ..self.region(body)? })
    }

    fn generic(&mut self, generic: &Generic) -> Result<Generic> {
        let Generic { maps, iterators, inputs, outputs, body } = generic;
        let operands = inputs.iter().chain(outputs).zip(maps);
        let twice = |(id, map): (&Id, &Map)| {
            let count = 1 + usize::from(self.is_complex(*id));
            std::iter::repeat_n(map.clone(), count).collect::<Vec<_>>()
        };
        Ok(Generic {
            maps: operands.flat_map(twice).collect(),
            iterators: iterators.clone(),
            inputs: self.all(inputs),
            outputs: self.all(outputs),
            body: self.region(body)?,
        })
    }

    /// A function of complex numbers by its formula.
    fn function(
        &mut self,
        function: Complex,
        operands: &[Id],
        place: &mut Place<'_>,
    ) -> Result<()> {
        let Some(result) = place.operation.results.first().copied() else { return Ok(()) };
        let first = operands.first().copied().unwrap_or(result);
        let second = operands.get(1).copied().unwrap_or(first);
        let [(a, b), (c, d)] = [first, second].map(|id| (id, self.part(id, Part::Imaginary)));
        let Element::Float(format) = self.types[a.0].element() else {
            return Err(Refusal::malformed(0, "a complex number whose parts are no floats"));
        };
        let shape = self.types[a.0].tensor().or(self.types[c.0].tensor()).cloned();
        let mut to = Formula { splitter: self, place, format, shape };
        let (real, imaginary) = match function {
            Complex::Create => (first, Some(second)),
            Complex::Real => (a, None),
            Complex::Imaginary => (b, None),
            Complex::Negate => (to.unary(U::Negate, a), Some(to.unary(U::Negate, b))),
            Complex::Conjugate => (a, Some(to.unary(U::Negate, b))),
            Complex::Add => (to.binary(B::Add, a, c), Some(to.binary(B::Add, b, d))),
            Complex::Subtract => (to.binary(B::Subtract, a, c), Some(to.binary(B::Subtract, b, d))),
            Complex::Multiply => {
                let real = to.products(B::Subtract, [a, c], [b, d]);
                let imaginary = to.products(B::Add, [a, d], [b, c]);
                let of = [a, b, c, d];
                (to.unless_infinite(real, &of), Some(to.unless_infinite(imaginary, &of)))
            }
            Complex::Divide => {
                let plain = to.quotient([a, b], [c, d]);
                let scaled = to.scaled_quotient([a, b], [c, d]);
                let [real, imaginary] = [0, 1].map(|part| {
                    let either = to.either(plain[part], scaled[part]);
                    to.unless_infinite(either, &[a, b, c, d])
                });
                (real, Some(imaginary))
            }
            Complex::Equal | Complex::NotEqual => {
                let [order, both] = match function {
                    Complex::Equal => [Order::Equal, Order::Always],
                    _ => [Order::NotEqual, Order::Never],
                };
                let join = if both == Order::Always { I::And } else { I::Or };
                let (real, imaginary) = (to.compare(order, a, c), to.compare(order, b, d));
                (to.truths(join, real, imaginary), None)
            }
            Complex::Absolute => (to.absolute(a, b), None),
            Complex::Angle => (to.binary(B::Atan2, b, a), None),
            Complex::Log => {
                let distance = to.absolute(a, b);
                (to.unary(U::Log, distance), Some(to.binary(B::Atan2, b, a)))
            }
            Complex::Exp => {
                let scale = to.unary(U::Exp, a);
                let [real, imaginary] = [U::Cos, U::Sin].map(|function| {
                    let part = to.unary(function, b);
                    let part = to.binary(B::Multiply, scale, part);
                    to.unless_infinite(part, &[a, b])
                });
                (real, Some(imaginary))
            }
        };
        let parts: Vec<Id> = [Some(real), imaginary].into_iter().flatten().collect();
        let results = self.all(&[result]);
        if parts.len() != results.len() {
            return Err(Refusal::malformed(0, "a result of another type"));
        }
        place.push(Kind::Alias(parts), results);
        Ok(())
    }
}

/// A formula that is written, with the type of its numbers.
struct Formula<'s, 'p, 'o> {
    splitter: &'s mut Splitter,
    place: &'p mut Place<'o>,
    format: Format,
    shape: Option<TensorType>,
}

impl Formula<'_, '_, '_> {
    fn scalar(&mut self, what: Scalar, operands: &[Id], element: Element) -> Id {
        let type_ = match &self.shape {
            Some(shape) => Type::Tensor(shape.of(element)),
            None => Type::Scalar(element),
        };
        self.splitter.types.push(type_);
        let id = Id(self.splitter.types.len() - 1);
        self.place.push(Kind::Scalar(what, operands.to_vec()), vec![id]);
        id
    }

    fn float(&mut self, what: Scalar, operands: &[Id]) -> Id {
        self.scalar(what, operands, Element::Float(self.format))
    }

    fn truth(&mut self, what: Scalar, operands: &[Id]) -> Id {
        self.scalar(what, operands, Element::TRUTH)
    }

    fn unary(&mut self, function: U, a: Id) -> Id {
        self.float(Scalar::FloatUnary(function, Element::Float(self.format)), &[a])
    }

    fn binary(&mut self, function: B, a: Id, b: Id) -> Id {
        self.float(Scalar::FloatBinary(function, Element::Float(self.format)), &[a, b])
    }

    /// Two products, added or subtracted.
    fn products(&mut self, function: B, first: [Id; 2], second: [Id; 2]) -> Id {
        let [first, second] = [first, second].map(|[a, b]| self.binary(B::Multiply, a, b));
        self.binary(function, first, second)
    }

    /// `((ac + bd) + (bc - ad)i) / (c² + d²)`
    fn quotient(&mut self, [a, b]: [Id; 2], [c, d]: [Id; 2]) -> [Id; 2] {
        let divisor = self.products(B::Add, [c, c], [d, d]);
        let real = self.products(B::Add, [a, c], [b, d]);
        let imaginary = self.products(B::Subtract, [b, c], [a, d]);
        [real, imaginary].map(|part| self.binary(B::Divide, part, divisor))
    }

    /// The same as Smith computes it: the lesser part of the divisor is divided by the greater one
    /// first, so that no square overflows.
    fn scaled_quotient(&mut self, [a, b]: [Id; 2], [c, d]: [Id; 2]) -> [Id; 2] {
        let by_real = self.quotient_by([a, b], [c, d]);
        // (a + bi) / (c + di) is the conjugate of (b + ai) / (d + ci).
        let by_imaginary = self.quotient_by([b, a], [d, c]);
        let [one, other] = [c, d].map(|part| self.unary(U::Absolute, part));
        let is_real = self.compare(Order::GreaterEqual, one, other);
        let turned = self.unary(U::Negate, by_imaginary[1]);
        let real = self.float(Scalar::SelectFloat, &[is_real, by_real[0], by_imaginary[0]]);
        [real, self.float(Scalar::SelectFloat, &[is_real, by_real[1], turned])]
    }

    /// With q = d / c: `((a + bq) + (b - aq)i) / (c + dq)`.
    fn quotient_by(&mut self, [a, b]: [Id; 2], [c, d]: [Id; 2]) -> [Id; 2] {
        let q = self.binary(B::Divide, d, c);
        let product = self.binary(B::Multiply, d, q);
        let divisor = self.binary(B::Add, c, product);
        [(a, b, B::Add), (b, a, B::Subtract)].map(|(first, second, sign)| {
            let product = self.binary(B::Multiply, second, q);
            let part = self.binary(sign, first, product);
            self.binary(B::Divide, part, divisor)
        })
    }

    /// What one of two formulas gives: the bound holds for both.
    fn either(&mut self, one: Id, other: Id) -> Id {
        let first = self.place.into.len();
        let zero = self.constant(0.0);
        let near_zero = self.near_zero();
        let is_unknown = self.compare(Order::Less, near_zero, zero);
        let it = self.float(Scalar::SelectFloat, &[is_unknown, other, one]);
        self.name_from(first);
        it
    }

    /// The sine of zero, which is zero within a bound: its sign is not known, and a quotient by it
    /// may be anything.
    fn near_zero(&mut self) -> Id {
        let zero = self.constant(0.0);
        self.unary(U::Sin, zero)
    }

    /// The operations from one on are no part of a formula.
    fn name_from(&mut self, first: usize) {
        for operation in &mut self.place.into[first..] {
            CONVENTION.clone_into(&mut operation.name);
        }
    }

    fn compare(&mut self, order: Order, a: Id, b: Id) -> Id {
        let element = Element::Float(self.format);
        let unordered = order == Order::NotEqual;
        self.truth(Scalar::CompareFloats { order, unordered, element }, &[a, b])
    }

    fn truths(&mut self, function: I, a: Id, b: Id) -> Id {
        self.truth(Scalar::IntegerBinary(function, 1), &[a, b])
    }

    /// The distance from zero: the greater part times √(1 + q²), with the quotient q of both. That
    /// is rounded more often than √(a² + b²), whose squares overflow.
    fn absolute(&mut self, a: Id, b: Id) -> Id {
        let [one, other] = [a, b].map(|part| self.unary(U::Absolute, part));
        let greater = self.binary(B::Maximum, one, other);
        let lesser = self.binary(B::Minimum, one, other);
        let quotient = self.binary(B::Divide, lesser, greater);
        let square = self.binary(B::Multiply, quotient, quotient);
        let number = self.constant(1.0);
        let sum = self.binary(B::Add, square, number);
        let root = self.unary(U::Sqrt, sum);
        let distance = self.binary(B::Multiply, greater, root);
        // Of two zeros, two infinities, and zero and infinity, it is the sum.
        let simple = self.binary(B::Add, one, other);
        let test = Scalar::FloatTest(FloatTest::Nan, Element::Float(self.format));
        let is_simple = self.truth(test, &[quotient]);
        let chosen = self.float(Scalar::SelectFloat, &[is_simple, simple, distance]);
        self.unless_infinite(chosen, &[a, b])
    }

    fn constant(&mut self, value: f64) -> Id {
        self.splitter.types.push(Type::Scalar(Element::Float(self.format)));
        let id = Id(self.splitter.types.len() - 1);
        self.place.push(Kind::Constant(Constant::Float(value)), vec![id]);
        id
    }

    /// The value, and no opinion where it is NaN and an operand is infinite.
    fn unless_infinite(&mut self, value: Id, operands: &[Id]) -> Id {
        let (element, first) = (Element::Float(self.format), self.place.into.len());
        let mut is_doubtful = None;
        for (at, operand) in operands.iter().enumerate() {
            if operands[..at].contains(operand) {
                continue;
            }
            let test = self.truth(Scalar::FloatTest(FloatTest::Infinite, element), &[*operand]);
            is_doubtful = Some(match is_doubtful {
                Some(so_far) => self.truths(I::Or, so_far, test),
                None => test,
            });
        }
        let Some(is_infinite) = is_doubtful else { return value };
        let is_nan = self.truth(Scalar::FloatTest(FloatTest::Nan, element), &[value]);
        let is_doubtful = self.truths(I::And, is_infinite, is_nan);
        let near_zero = self.near_zero();
        let anything = self.binary(B::Divide, value, near_zero);
        let it = self.float(Scalar::SelectFloat, &[is_doubtful, anything, value]);
        self.name_from(first);
        it
    }
}
