//! Random programs: loops in loops, branches, and calls of functions that have loops.

use crate::program::{Binary, Bound, Function, Id, Loop, Named, Program, Statement, Type, What};
use crate::random::Random;

/// The most statements of a block, without those of its blocks.
const LONGEST: usize = 4;

/// The most loops and branches in each other.
const DEEPEST: usize = 3;

/// A program that follows from the choices.
pub(crate) fn program(random: &mut Random) -> Program {
    let mut program = Program::default();
    let helpers = random.below(3);
    for at in 0..=helpers {
        let is_main = at == helpers;
        let name = if is_main { "main".to_owned() } else { format!("f{at}") };
        let mut maker = Maker { program: &mut program, random, scope: Vec::new(), names: 0 };
        let arguments: Vec<Id> =
            (0..=usize::from(is_main)).map(|_| maker.value("x", Type::Tensor)).collect();
        maker.scope.clone_from(&arguments);
        let body = maker.block(0, if is_main { 4 } else { 1 });
        // What is not returned, and used by nothing else, would not be computed.
        let all = [Type::Tensor, Type::Count].map(|it| maker.of_type(it)).concat();
        let returned = if is_main { all } else { vec![maker.latest(Type::Tensor)] };
        let is_kept = !is_main && maker.random.chance(5);
        let lines = 0..=0;
        program.functions.push(Function { name, arguments, body, returned, is_kept, lines });
    }
    program
}

struct Maker<'m> {
    program: &'m mut Program,
    random: &'m mut Random,
    /// The values that may be used.
    scope: Vec<Id>,
    /// The number of names of the function that are in scope.
    names: usize,
}

impl Maker<'_> {
    fn value(&mut self, prefix: &str, type_: Type) -> Id {
        self.names += 1;
        self.program.values.push(Named { name: format!("{prefix}{}", self.names), type_ });
        self.program.values.len() - 1
    }

    fn of_type(&self, type_: Type) -> Vec<Id> {
        self.scope.iter().copied().filter(|id| self.program.values[*id].type_ == type_).collect()
    }

    fn any(&mut self, type_: Type) -> Option<Id> {
        let known = self.of_type(type_);
        // What was computed last is used more often, so that most is used.
        let recent = known.len().saturating_sub(3);
        let from = if self.random.chance(3) { &known[..] } else { &known[recent..] };
        (!from.is_empty()).then(|| *self.random.choose(from))
    }

    fn latest(&self, type_: Type) -> Id {
        self.of_type(type_).pop().expect("a function has tensors")
    }

    fn tensor(&mut self) -> Id {
        self.any(Type::Tensor).expect("a function has tensors")
    }

    /// Statements whose names end with them; their values, too, except for those of the last
    /// statements that are left in scope.
    fn block(&mut self, depth: usize, at_least: usize) -> Vec<Statement> {
        let mut found = Vec::new();
        for _ in 0..at_least + self.random.below(LONGEST) {
            self.statement(depth, &mut found);
        }
        found
    }

    /// A block of its own: its names are not in scope after it.
    fn inner<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let (scope, names) = (self.scope.len(), self.names);
        let made = inside(self);
        self.scope.truncate(scope);
        self.names = names;
        made
    }

    fn push(&mut self, found: &mut Vec<Statement>, what: What) {
        found.push(Statement { line: 0, what });
    }

    fn statement(&mut self, depth: usize, found: &mut Vec<Statement>) {
        let functions = self.program.functions.len();
        match self.random.below(if depth < DEEPEST { 16 } else { 10 }) {
            0..=5 => self.binary(found),
            6 => {
                let of = self.tensor();
                let result = self.value("t", Type::Tensor);
                self.push(found, What::Transpose(result, of));
                self.scope.push(result);
            }
            7 | 8 => self.row(found),
            9 if functions > 0 => self.call(found),
            10..=12 => self.counted(depth, found),
            13 | 14 => self.conditional(depth, found),
            15 => self.branch(depth, found),
            _ => self.binary(found),
        }
    }

    fn binary(&mut self, found: &mut Vec<Statement>) {
        let first = self.tensor();
        self.of_two(first, found);
    }

    /// An operation of a tensor and another one.
    fn of_two(&mut self, first: Id, found: &mut Vec<Statement>) {
        use Binary::{Add, Matmul, Maximum, Multiply, Subtract};
        let operation = *self.random.choose(&[Add, Subtract, Multiply, Maximum, Matmul, Matmul]);
        let operands = [first, self.tensor()];
        let large = self.value("p", Type::Tensor);
        self.push(found, What::Binary(operation, large, operands));
        // Only what is small may be used.
        let small = self.value("v", Type::Tensor);
        self.push(found, What::Small(small, large));
        self.scope.push(small);
    }

    fn row(&mut self, found: &mut Vec<Statement>) {
        let Some(at) = self.any(Type::Index) else { return self.binary(found) };
        let (of, into) = (self.tensor(), self.tensor());
        if of == into {
            // A row of itself is nothing to the compiler.
            return self.binary(found);
        }
        let row = self.value("r", Type::Row);
        self.push(found, What::Row(row, of, at));
        let result = self.value("w", Type::Tensor);
        let at = self.any(Type::Index).unwrap_or(at);
        self.push(found, What::WithRow(result, row, [into, at]));
        self.scope.push(result);
    }

    fn call(&mut self, found: &mut Vec<Statement>) {
        let function = self.random.below(self.program.functions.len());
        let arguments = vec![self.tensor()];
        let results = vec![self.value("q", Type::Tensor)];
        self.scope.extend(&results);
        self.push(found, What::Call { function, arguments, results });
    }

    /// What a loop carries: a count, if there has to be one, and tensors.
    fn initial(&mut self, has_count: bool) -> Vec<Id> {
        let mut initial = Vec::new();
        if has_count {
            // `%k0`.
            self.program.values.push(Named { name: "k0".to_owned(), type_: Type::Count });
            initial.push(self.program.values.len() - 1);
        }
        for _ in 0..=self.random.below(2) {
            initial.push(self.tensor());
        }
        initial
    }

    fn fresh(&mut self, prefix: &str, of: &[Id]) -> Vec<Id> {
        let types: Vec<Type> = of.iter().map(|id| self.program.values[*id].type_).collect();
        let make = |type_| {
            let prefix = if type_ == Type::Count { "n" } else { prefix };
            self.value(prefix, type_)
        };
        types.into_iter().map(make).collect()
    }

    fn bound(&mut self) -> Bound {
        let value = if self.random.chance(8) { 0 } else { 1 + self.random.below(4) as u8 };
        Bound { value, is_hidden: !self.random.chance(4) }
    }

    /// The body of a loop, and what it yields.
    fn body(&mut self, inside: &[Id], depth: usize) -> (Vec<Statement>, Vec<Id>) {
        self.scope.extend(inside);
        let mut body = self.block(depth + 1, 1);
        let mut yielded = Vec::new();
        for id in inside {
            if self.program.values[*id].type_ == Type::Count {
                let next = self.value("m", Type::Count);
                self.push(&mut body, What::Next(next, *id));
                yielded.push(next);
                continue;
            }
            // What is computed from what it carries, or the compiler would not carry it.
            while yielded.contains(&self.latest(Type::Tensor)) || self.random.chance(3) {
                self.of_two(*id, &mut body);
            }
            yielded.push(self.latest(Type::Tensor));
        }
        (body, yielded)
    }

    fn counted(&mut self, depth: usize, found: &mut Vec<Statement>) {
        let has_count = self.random.chance(3);
        let initial = self.initial(has_count);
        let results = self.fresh("f", &initial);
        let (end, first) = (self.bound(), u8::from(self.random.chance(4)));
        let step = 1 + u8::from(self.random.chance(4));
        let (counter, of) = self.inner(|it| {
            let counter = it.value("s", Type::Index);
            it.scope.push(counter);
            let inside = it.fresh("a", &initial);
            let (body, yielded) = it.body(&inside, depth);
            (counter, Loop { initial, inside, body, yielded, results: results.clone() })
        });
        self.push(found, What::For { counter, first, end, step, of });
        self.scope.extend(results);
    }

    fn conditional(&mut self, depth: usize, found: &mut Vec<Statement>) {
        let initial = self.initial(true);
        let results = self.fresh("g", &initial);
        let end = self.bound();
        let (tested, test, passed) = self.inner(|it| {
            let tested = it.fresh("b", &initial);
            it.scope.extend(&tested);
            let test = if it.random.chance(3) { it.block(DEEPEST, 1) } else { Vec::new() };
            let mut passed = tested.clone();
            if !test.is_empty() {
                passed[1] = it.latest(Type::Tensor);
            }
            (tested, test, passed)
        });
        let of = self.inner(|it| {
            let inside = it.fresh("d", &initial);
            let (body, yielded) = it.body(&inside, depth);
            Loop { initial, inside, body, yielded, results: results.clone() }
        });
        self.push(found, What::While { tested, test, passed, end, of });
        self.scope.extend(results);
    }

    fn branch(&mut self, depth: usize, found: &mut Vec<Statement>) {
        let Some(index) = self.any(Type::Index) else { return self.counted(depth, found) };
        let result = self.value("e", Type::Tensor);
        let below = 1 + self.random.below(3) as u8;
        let regions = [(); 2].map(|()| {
            self.inner(|it| {
                let block = it.block(depth + 1, 1);
                (block, it.latest(Type::Tensor))
            })
        });
        self.push(found, What::If { index, below, result, regions });
        self.scope.push(result);
    }
}
