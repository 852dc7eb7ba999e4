//! Guards: values that are another value for almost every number. Functions that only keep what
//! they are given hold both in registers at the same time.

use super::Generator;
use crate::program::{
    Binary, Block, Cast, Function, Global, Id, Kind, Operation, Predicate, Program, Type, Value,
};
use crate::random::Random;

/// Adds functions that keep a float and an integer, if the program has none.
pub(super) fn add_keepers(random: &mut Random, program: &mut Program) {
    let initial = random.below(100) as i64;
    program.globals.push(Global { name: "kept".to_owned(), kind: Type::I64, initial });
    for kind in [Type::F32, Type::I32] {
        let keeper = Generator::new(random, program).keeper(kind);
        program.functions.push(keeper);
    }
}

impl Generator<'_> {
    /// A function without results that adds what it is given to the last global.
    fn keeper(mut self, kind: Type) -> Function {
        self.function.name = format!("keep_{}", kind.text());
        self.function.is_kept = true;
        let given = self.fresh(kind);
        self.scopes[0].push(given);
        let mut operations = Vec::new();
        let wide = if kind == Type::F32 {
            let bound = self.literal(kind, Value::F32(7.5), &mut operations);
            let less = Kind::Compare(Predicate::Less);
            let is_less = self.push(&mut operations, less, vec![given, bound], &[Type::I1]);
            let cast = Kind::Cast(Cast::ExtendUnsigned);
            self.push(&mut operations, cast, is_less, &[Type::I64])[0]
        } else {
            let cast = Kind::Cast(Cast::ExtendSigned);
            self.push(&mut operations, cast, vec![given], &[Type::I64])[0]
        };
        let global = self.program.globals.len() - 1;
        let old = self.push(&mut operations, Kind::Load(global), Vec::new(), &[Type::I64])[0];
        let add = Kind::Binary(Binary::Add);
        let new = self.push(&mut operations, add, vec![old, wide], &[Type::I64]);
        self.push(&mut operations, Kind::Store(global), new, &[]);
        self.push(&mut operations, Kind::Return, Vec::new(), &[]);
        self.function.blocks = vec![Block { arguments: vec![given], operations }];
        self.function
    }

    fn keeper_of(&self, kind: Type) -> Option<usize> {
        let mut functions = self.program.functions.iter();
        functions.position(|it| it.results.is_empty() && it.kind(it.parameters()[0]) == kind)
    }

    /// A value, its guard, and calls that keep both: fewer of them in loops.
    pub(super) fn guard(&mut self, operations: &mut Vec<Operation>, depth: usize) {
        let kind = if self.random.chance(3) { Type::I32 } else { Type::F32 };
        let given = self.pick(kind, operations);
        let guarded = match kind {
            Type::I32 => self.guarded_integer(given, operations),
            _ => self.guarded_float(given, operations),
        };
        let Some(keeper) = self.keeper_of(kind) else { return };
        let mut kept = vec![given, guarded];
        kept.push(if self.random.chance(2) { given } else { guarded });
        kept.push(if self.random.chance(2) { given } else { guarded });
        if self.random.chance(2) {
            kept.swap(0, 1);
        }
        if depth > 0 {
            kept.truncate(2);
        }
        for value in kept {
            self.push(operations, Kind::Call(keeper), vec![value], &[]);
        }
    }

    /// A token that is padding becomes another one; the condition may be of a square.
    fn guarded_integer(&mut self, given: Id, operations: &mut Vec<Operation>) -> Id {
        let kind = Type::I32;
        let rare = *self.random.choose(&[50_256, 30_522, 59, 1037, -100, 1 << 20]);
        let (tested, rare) = if self.random.chance(3) && rare < 40_000 && rare > 0 {
            let square = Kind::Binary(Binary::Multiply);
            let square = self.push(operations, square, vec![given, given], &[kind])[0];
            (square, i64::from((rare as i32).wrapping_mul(rare as i32)))
        } else {
            (given, rare)
        };
        let rare = self.integer(kind, rare, operations);
        let other = self.random.below(9) as i64;
        let other = self.integer(kind, other, operations);
        let equal = Kind::Compare(Predicate::Equal);
        let is_rare = self.push(operations, equal, vec![tested, rare], &[Type::I1])[0];
        self.push(operations, Kind::Select, vec![is_rare, other, given], &[kind])[0]
    }

    /// `nan_to_num`, a mask, a clamp, or a least divisor.
    pub(super) fn guarded_float(&mut self, given: Id, operations: &mut Vec<Operation>) -> Id {
        let kind = Type::F32;
        let choose = |generator: &mut Self, condition, operations: &mut Vec<Operation>| {
            // A constant of zero would change what the compiler makes of other operations.
            let other = generator.literal(kind, Value::F32(0.25), operations);
            generator.push(operations, Kind::Select, vec![condition, other, given], &[kind])[0]
        };
        match self.random.below(5) {
            0 => {
                let test = Kind::Compare(Predicate::Unordered);
                let is_bad = self.push(operations, test, vec![given, given], &[Type::I1])[0];
                choose(self, is_bad, operations)
            }
            1 => {
                let nothing = self.literal(kind, Value::F32(f32::NEG_INFINITY), operations);
                let test = Kind::Compare(Predicate::Equal);
                let is_masked = self.push(operations, test, vec![given, nothing], &[Type::I1])[0];
                choose(self, is_masked, operations)
            }
            2 => {
                let size = self.push(operations, Kind::AbsoluteFloat, vec![given], &[kind])[0];
                let least = *self.random.choose(&[1.0e-12, 1.0e-6, 1.0e-30]);
                let least = self.literal(kind, Value::F32(least), operations);
                let greater = Kind::Binary(Binary::MaximumFloat);
                self.push(operations, greater, vec![size, least], &[kind])[0]
            }
            which => {
                let bound = *self.random.choose(&[1.0e6, 65_504.0, 3.0e30]);
                let high = self.literal(kind, Value::F32(bound), operations);
                let lesser = Kind::Binary(Binary::MinimumFloat);
                let below = self.push(operations, lesser, vec![given, high], &[kind])[0];
                if which == 3 {
                    return below;
                }
                let low = self.literal(kind, Value::F32(-bound), operations);
                let greater = Kind::Binary(Binary::MaximumFloat);
                self.push(operations, greater, vec![below, low], &[kind])[0]
            }
        }
    }
}
