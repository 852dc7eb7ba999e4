//! Tensor programs. Their numbers are small integers, so sums do not depend on the order.

use super::Generator;
use crate::program::{
    Binary, Block, Dialect, Function, Id, Kind, Operation, Predicate, Program, Type,
};
use crate::random::Random;

const WIDE: Type = Type::Tensor(4, 6);

/// A program with some dispatches, and scalar code around them.
pub(super) fn program(random: &mut Random) -> Program {
    let dialect = if random.chance(3) { Dialect::Util } else { Dialect::Func };
    let name = random.chance(2).then(|| "module_of_tensors".to_owned());
    let program = Program { dialect, name, globals: Vec::new(), functions: Vec::new() };
    let function = Generator::new(random, &program).tensors();
    Program { functions: vec![function], ..program }
}

impl Generator<'_> {
    fn tensors(mut self) -> Function {
        self.function.name = if self.random.chance(4) { "the-model" } else { "main" }.to_owned();
        self.function.is_public = true;
        let mut parameters = vec![WIDE, Type::I64];
        for kind in [WIDE, Type::Tensor(6, 4), Type::F32, Type::I32] {
            if self.random.chance(2) {
                parameters.push(kind);
            }
        }
        let arguments: Vec<Id> = parameters.iter().map(|kind| self.fresh(*kind)).collect();
        self.scopes[0].clone_from(&arguments);
        let mut operations = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            self.scalars(&mut operations);
            self.stage(&mut operations);
        }
        self.scalars(&mut operations);
        let last = self.last_tensor();
        let element = self.extract(last, &mut operations);
        self.function.results =
            vec![self.function.kind(last), self.function.kind(element), Type::I64];
        let sum = self.pick(Type::I64, &mut operations);
        let sum = self.gather(sum, &mut operations);
        self.push(&mut operations, Kind::Return, vec![last, element, sum], &[]);
        self.function.blocks = vec![Block { arguments, operations }];
        self.function
    }

    /// The last tensor that was made.
    fn last_tensor(&self) -> Id {
        let is_tensor = |id: &&Id| matches!(self.function.kind(**id), Type::Tensor(..));
        let made = self.scopes[0].iter().rev();
        *made.clone().find(is_tensor).expect("there is an argument that is one")
    }

    /// A tensor of this type that has values.
    fn tensor(&mut self, kind: Type) -> Option<Id> {
        let all = self.scopes[0].iter().copied();
        let empty = &self.empty;
        let all = all.filter(|id| self.function.kind(*id) == kind && !empty.contains(id));
        let all: Vec<Id> = all.collect();
        all.last().map(|last| if self.random.chance(3) { *self.random.choose(&all) } else { *last })
    }

    fn scalars(&mut self, operations: &mut Vec<Operation>) {
        for _ in 0..self.random.below(4) {
            match self.random.below(5) {
                0 => self.arithmetic(operations),
                1 => self.cast(operations),
                2 => {
                    let tensor = self.last_tensor();
                    let index = self.integer(Type::Index, 0, operations);
                    self.push(operations, Kind::Dimension, vec![tensor, index], &[Type::Index]);
                }
                3 => self.compare(operations),
                _ => self.select(operations),
            }
        }
    }

    fn extract(&mut self, tensor: Id, operations: &mut Vec<Operation>) -> Id {
        let Type::Tensor(rows, columns) = self.function.kind(tensor) else {
            unreachable!("it is a tensor")
        };
        let mut operands = vec![tensor];
        for size in [rows, columns].into_iter().filter(|size| *size > 0) {
            let at = self.random.below(size.into()) as i64;
            operands.push(self.integer(Type::Index, at, operations));
        }
        self.push(operations, Kind::Extract, operands, &[Type::F32])[0]
    }

    /// A tensor without values, or filled with a small number.
    fn start(&mut self, kind: Type, fills: Option<f32>, operations: &mut Vec<Operation>) -> Id {
        let empty = self.push(operations, Kind::TensorEmpty, Vec::new(), &[kind])[0];
        self.empty.insert(empty);
        let Some(value) = fills else { return empty };
        let value = self.literal(Type::F32, crate::program::Value::F32(value), operations);
        self.push(operations, Kind::Fill, vec![value, empty], &[kind])[0]
    }

    fn stage(&mut self, operations: &mut Vec<Operation>) {
        let last = self.last_tensor();
        let kind = self.function.kind(last);
        let right = self.tensor(Type::Tensor(6, 4));
        match (self.random.below(5), kind, right) {
            (0, Type::Tensor(_, 1..), _) => self.reduce(last, operations),
            (1 | 2, WIDE, Some(right)) if !self.has_product => {
                self.has_product = true;
                let square = Type::Tensor(4, 4);
                let sum = self.start(square, Some(0.0), operations);
                let operands = vec![last, right, sum];
                self.push(operations, Kind::MatrixProduct, operands, &[square]);
            }
            _ => self.elementwise(last, kind, operations),
        }
    }

    /// Two to five operations on each element.
    fn elementwise(&mut self, last: Id, kind: Type, operations: &mut Vec<Operation>) {
        let mut inputs = vec![last];
        if self.random.chance(2) {
            inputs.extend(self.tensor(kind));
        }
        let output = self.start(kind, None, operations);
        let count = 2 + self.random.below(4);
        self.generic(inputs, output, kind, operations, |generator, body, elements| {
            let elements = &elements[..elements.len() - 1];
            let mut values = elements.to_vec();
            for _ in 0..count {
                let left = *values.last().expect("there is an element");
                let captured =
                    if generator.random.chance(6) { generator.find(Type::F32) } else { None };
                let right = captured.unwrap_or(*generator.random.choose(elements));
                let result = generator.element(left, right, body);
                values.push(result);
            }
            values[values.len() - 1]
        });
    }

    fn element(&mut self, left: Id, right: Id, body: &mut Vec<Operation>) -> Id {
        let binaries = [Binary::Add, Binary::Add, Binary::Subtract, Binary::MaximumFloat];
        match self.random.below(9) {
            7 | 8 => self.guarded_float(left, body),
            0 => {
                let less = Kind::Compare(Predicate::Less);
                let is_less = self.push(body, less, vec![left, right], &[Type::I1])[0];
                self.push(body, Kind::Select, vec![is_less, right, left], &[Type::F32])[0]
            }
            1 => self.push(body, Kind::NegateFloat, vec![left], &[Type::F32])[0],
            2 => {
                let number = 1.0 + self.random.below(9) as f32;
                let value = crate::program::Value::F32(number);
                let number = self.literal(Type::F32, value, body);
                self.push(body, Kind::Binary(Binary::Add), vec![left, number], &[Type::F32])[0]
            }
            _ => {
                let kind = Kind::Binary(*self.random.choose(&binaries));
                self.push(body, kind, vec![left, right], &[Type::F32])[0]
            }
        }
    }

    /// Sums or maxima of rows.
    fn reduce(&mut self, last: Id, operations: &mut Vec<Operation>) {
        let Type::Tensor(rows, _) = self.function.kind(last) else { return };
        let kind = Type::Tensor(rows, 0);
        let output = self.start(kind, Some(0.0), operations);
        let binary = *self.random.choose(&[Binary::Add, Binary::MaximumFloat]);
        self.generic(vec![last], output, kind, operations, |generator, body, elements| {
            let mut value = elements[0];
            if generator.random.chance(2) {
                value = generator.element(value, elements[0], body);
            }
            let operands = vec![value, elements[1]];
            generator.push(body, Kind::Binary(binary), operands, &[Type::F32])[0]
        });
    }

    fn generic(
        &mut self,
        inputs: Vec<Id>,
        output: Id,
        kind: Type,
        operations: &mut Vec<Operation>,
        body: impl FnOnce(&mut Self, &mut Vec<Operation>, &[Id]) -> Id,
    ) {
        self.open();
        let arguments: Vec<Id> = (0..=inputs.len()).map(|_| self.fresh(Type::F32)).collect();
        // The contents of a tensor without values are undefined.
        let known = if self.empty.contains(&output) { inputs.len() } else { arguments.len() };
        self.show(&arguments[..known]);
        let mut inside = Vec::new();
        let result = body(self, &mut inside, &arguments);
        self.push(&mut inside, Kind::ElementYield, vec![result], &[]);
        self.close();
        let mut operands = inputs;
        operands.push(output);
        let results = self.results(&[kind]);
        let region = Block { arguments, operations: inside };
        self.push_with(operations, Kind::Generic, operands, results, vec![region]);
    }
}
