//! Random programs that are valid, end, and have one meaning only.
//!
//! They avoid division by zero, too large shifts, indices outside a list, numbers that depend on
//! the contraction of floats (nothing is ever added to a product), and constant zeros, by which the
//! compiler folds NaN away.

mod control;
mod guards;
mod special;
mod tensors;

use std::collections::BTreeSet;

pub(crate) use special::inputs;

use crate::program::{
    Binary, Block, Cast, Dialect, Function, Global, Id, Kind, Operation, Predicate, Program, Type,
    Value, Variable,
};
use crate::random::Random;

/// A random program. Every third one uses tensors.
pub(crate) fn program(random: &mut Random, seed: u64) -> Program {
    if seed % 3 == 2 {
        return tensors::program(random);
    }
    let dialect = if random.chance(4) { Dialect::Func } else { Dialect::Util };
    let globals = (0..random.below(3)).map(|index| Global {
        name: format!("global_{index}"),
        kind: *random.choose(&[Type::I64, Type::I32]),
        initial: random.below(100) as i64,
    });
    let globals = globals.collect();
    let name = random.chance(2).then(|| "module_of_truth".to_owned());
    let mut program = Program { dialect, name, globals, functions: Vec::new() };
    for index in 0..random.below(4) {
        let function = Generator::new(random, &program).helper(index);
        program.functions.push(function);
    }
    if random.chance(2) {
        guards::add_keepers(random, &mut program);
    }
    let entry = Generator::new(random, &program).entry();
    program.functions.push(entry);
    program
}

pub(crate) struct Generator<'a> {
    random: &'a mut Random,
    program: &'a Program,
    function: Function,
    /// The values of each enclosing region, outermost first.
    scopes: Vec<Vec<Id>>,
    /// Names from regions that have ended.
    retired: Vec<String>,
    /// All names in use in each enclosing region, of values or not.
    taken: Vec<BTreeSet<String>>,
    /// Products of floats: an addition to them might be contracted.
    products: BTreeSet<Id>,
    /// Lists, with their lengths.
    lists: Vec<(Id, i64)>,
    constants: Vec<(Type, i64, Id)>,
    literals: BTreeSet<Id>,
    /// Tensors without values.
    empty: BTreeSet<Id>,
    /// Whether there is a product of matrices. The numbers of a second one would be too large.
    has_product: bool,
    next: usize,
    /// Values that some operation uses.
    used: BTreeSet<Id>,
    /// How many more operations may be made.
    budget: usize,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random, program: &'a Program) -> Self {
        let budget = 6 + random.below(30);
        Self {
            random,
            program,
            function: Function::default(),
            scopes: vec![Vec::new()],
            retired: Vec::new(),
            taken: vec![BTreeSet::new()],
            products: BTreeSet::new(),
            lists: Vec::new(),
            constants: Vec::new(),
            literals: BTreeSet::new(),
            empty: BTreeSet::new(),
            has_product: false,
            next: 0,
            used: BTreeSet::new(),
            budget,
        }
    }

    fn helper(mut self, index: usize) -> Function {
        self.function.name = match self.random.below(6) {
            0 => format!("a-helper.{index}"),
            _ => format!("helper_{index}"),
        };
        self.function.is_kept = self.random.chance(2);
        self.budget = 2 + self.random.below(9);
        let kinds = [Type::I64, Type::I64, Type::I32, Type::Index, Type::I1, Type::F32];
        let parameters = (0..1 + self.random.below(3)).map(|_| *self.random.choose(&kinds));
        let parameters = parameters.collect::<Vec<_>>();
        let count = 1 + usize::from(self.random.chance(3));
        let results = (0..count).map(|_| *self.random.choose(&kinds[..4])).collect::<Vec<_>>();
        self.body(&parameters, results)
    }

    fn entry(mut self) -> Function {
        self.function.name = if self.random.chance(6) { "the-main" } else { "main" }.to_owned();
        self.function.is_public = true;
        let kinds = [Type::I64, Type::I64, Type::I64, Type::I32, Type::I32, Type::F32, Type::F64];
        let mut parameters = vec![Type::I64, Type::I32];
        parameters.extend((0..self.random.below(4)).map(|_| *self.random.choose(&kinds)));
        let mut results = vec![Type::I64];
        results.extend((0..self.random.below(3)).map(|_| *self.random.choose(&kinds)));
        self.body(&parameters, results)
    }

    fn body(mut self, parameters: &[Type], results: Vec<Type>) -> Function {
        self.function.results = results;
        let arguments = parameters.iter().map(|kind| self.fresh(*kind)).collect::<Vec<_>>();
        self.scopes[0].clone_from(&arguments);
        self.function.blocks = if self.random.chance(5) {
            self.branches(arguments)
        } else {
            let mut operations = Vec::new();
            self.statements(&mut operations, 0);
            self.returns(&mut operations);
            vec![Block { arguments, operations }]
        };
        self.function
    }

    /// Adds operations until the budget is used up.
    fn statements(&mut self, operations: &mut Vec<Operation>, depth: usize) {
        while self.budget > 0 {
            self.statement(operations, depth);
        }
    }

    fn returns(&mut self, operations: &mut Vec<Operation>) {
        let kinds = self.function.results.clone();
        let mut operands: Vec<Id> = kinds.iter().map(|kind| self.pick(*kind, operations)).collect();
        self.used.extend(&operands);
        for operand in &mut operands {
            if self.function.kind(*operand) == Type::I64 {
                *operand = self.gather(*operand, operations);
                break;
            }
        }
        self.push(operations, Kind::Return, operands, &[]);
    }

    /// Adds some unused values to a sum, so that they matter.
    fn gather(&mut self, sum: Id, operations: &mut Vec<Operation>) -> Id {
        let mut sum = sum;
        let all: Vec<Id> = self.scopes.iter().flatten().copied().collect();
        for id in all {
            let is_free = !self.used.contains(&id) && !self.products.contains(&id);
            let cast = match self.function.kind(id) {
                Type::I64 => None,
                Type::I1 => Some(Cast::ExtendUnsigned),
                Type::I32 => Some(Cast::ExtendSigned),
                Type::Index => Some(Cast::Index),
                Type::F32 | Type::F64 | Type::List | Type::Tensor(..) => continue,
            };
            if !is_free || self.random.chance(4) {
                continue;
            }
            let wide = match cast {
                None => id,
                Some(cast) => self.push(operations, Kind::Cast(cast), vec![id], &[Type::I64])[0],
            };
            let binary = *self.random.choose(&[Binary::Add, Binary::Xor]);
            sum = self.push(operations, Kind::Binary(binary), vec![sum, wide], &[Type::I64])[0];
        }
        sum
    }

    // Values and names.

    /// A new value whose name nothing in scope has.
    fn fresh(&mut self, kind: Type) -> Id {
        let name = self.unused_name();
        self.named(kind, name)
    }

    fn named(&mut self, kind: Type, name: String) -> Id {
        self.function.values.push(Variable { name, kind });
        self.function.values.len() - 1
    }

    fn unused_name(&mut self) -> String {
        if !self.retired.is_empty() && self.random.chance(3) {
            let name = self.random.choose(&self.retired).clone();
            if self.taken.iter().all(|names| !names.contains(&name)) {
                self.take(name.clone());
                return name;
            }
        }
        self.next += 1;
        let name = match self.random.below(5) {
            0 => format!("%{}", self.next),
            1 => format!("%value_{}", self.next),
            2 => format!("%{}{}", self.random.choose(&["a.", "x-", "sum$"]), self.next),
            _ => format!("%v{}", self.next),
        };
        self.take(name.clone());
        name
    }

    fn take(&mut self, name: String) {
        if let Some(names) = self.taken.last_mut() {
            names.insert(name);
        }
    }

    fn open(&mut self) {
        self.scopes.push(Vec::new());
        self.taken.push(BTreeSet::new());
    }

    fn close(&mut self) {
        self.scopes.pop();
        self.retired.extend(self.taken.pop().unwrap_or_default());
    }

    fn show(&mut self, ids: &[Id]) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(ids);
        }
    }

    /// Adds an operation; its results are in scope afterwards.
    fn push(
        &mut self,
        operations: &mut Vec<Operation>,
        kind: Kind,
        operands: Vec<Id>,
        results: &[Type],
    ) -> Vec<Id> {
        let results = self.results(results);
        self.push_with(operations, kind, operands, results, Vec::new())
    }

    /// Values for the results of an operation: `%x`, or `%r#0` and `%r#1`.
    fn results(&mut self, kinds: &[Type]) -> Vec<Id> {
        match kinds {
            [] => Vec::new(),
            [kind] => vec![self.fresh(*kind)],
            _ => {
                let name = self.unused_name();
                let each = kinds.iter().enumerate();
                each.map(|(index, kind)| self.named(*kind, format!("{name}#{index}"))).collect()
            }
        }
    }

    fn push_with(
        &mut self,
        operations: &mut Vec<Operation>,
        kind: Kind,
        operands: Vec<Id>,
        results: Vec<Id>,
        regions: Vec<Block>,
    ) -> Vec<Id> {
        self.show(&results);
        self.used.extend(&operands);
        self.budget = self.budget.saturating_sub(1);
        let joins = self.random.chance(25) && !operations.is_empty();
        operations.push(Operation {
            number: 0,
            line: 0,
            joins,
            kind,
            operands,
            results: results.clone(),
            regions,
        });
        results
    }

    /// A value in scope of this type: often a recent one, sometimes a distant one.
    fn find(&mut self, kind: Type) -> Option<Id> {
        let all = self.scopes.iter().flatten().copied();
        let all: Vec<Id> = all
            .filter(|id| self.function.kind(*id) == kind && !self.products.contains(id))
            .collect();
        if all.is_empty() {
            return None;
        }
        // Computations on constants leave no code.
        let is_constant = |id: &Id| self.literals.contains(id);
        let computed: Vec<Id> = all.iter().copied().filter(|id| !is_constant(id)).collect();
        let all = if computed.is_empty() || self.random.chance(6) { all } else { computed };
        // A value that nothing uses would be dead.
        let unused: Vec<Id> = all.iter().copied().filter(|id| !self.used.contains(id)).collect();
        if !unused.is_empty() && !self.random.chance(3) {
            return Some(*self.random.choose(&unused));
        }
        let back = if self.random.chance(2) { all.len() } else { all.len().min(4) };
        Some(all[all.len() - 1 - self.random.below(back)])
    }

    /// A value of this type: one in scope or a constant.
    fn pick(&mut self, kind: Type, operations: &mut Vec<Operation>) -> Id {
        match self.find(kind) {
            Some(id) if !self.random.chance(12) => id,
            _ => self.constant(kind, operations),
        }
    }

    fn constant(&mut self, kind: Type, operations: &mut Vec<Operation>) -> Id {
        let value = match kind {
            Type::I1 => Value::Integer(i64::from(self.random.chance(2))),
            Type::I32 => Value::Integer(i64::from(self.random.number() as i32)),
            Type::F32 => Value::F32(self.random.below(400) as f32 / 8.0 - 20.0625),
            Type::F64 => Value::F64(self.random.below(4000) as f64 / 8.0 - 200.0625),
            _ => Value::Integer(self.random.number()),
        };
        self.literal(kind, value, operations)
    }

    fn literal(&mut self, kind: Type, value: Value, operations: &mut Vec<Operation>) -> Id {
        let id = self.push(operations, Kind::Constant(value), Vec::new(), &[kind])[0];
        self.literals.insert(id);
        if let Value::Integer(value) = value {
            self.constants.push((kind, value, id));
        }
        id
    }

    /// A constant with this value, which may exist already.
    fn integer(&mut self, kind: Type, value: i64, operations: &mut Vec<Operation>) -> Id {
        let earlier = self.constants.iter().filter(|(of, it, _)| (*of, *it) == (kind, value));
        let visible = |id: &Id| self.scopes.iter().any(|scope| scope.contains(id));
        let found = earlier.map(|(_, _, id)| *id).find(visible);
        if let Some(id) = found
            && !self.random.chance(3)
        {
            return id;
        }
        self.literal(kind, Value::Integer(value), operations)
    }

    // Operations.

    fn statement(&mut self, operations: &mut Vec<Operation>, depth: usize) {
        match self.random.below(28) {
            0..=7 => self.arithmetic(operations),
            8 => self.divide(operations),
            9 => self.shift(operations),
            10 | 11 => self.compare(operations),
            12 | 13 => self.select(operations),
            14 | 15 => self.cast(operations),
            16 => self.float(operations),
            17 | 18 => self.call(operations, depth),
            19 => self.global(operations),
            20 => self.list(operations),
            21 => self.again(operations),
            26 | 27 => self.guard(operations, depth),
            _ if depth < 2 => self.control(operations, depth),
            _ => self.arithmetic(operations),
        }
    }

    fn arithmetic(&mut self, operations: &mut Vec<Operation>) {
        let kind = *self.random.choose(&[Type::I64, Type::I64, Type::I32, Type::Index, Type::I1]);
        let binary = match kind {
            Type::I1 => *self.random.choose(&[Binary::And, Binary::Or, Binary::Xor]),
            Type::Index => *self.random.choose(&[Binary::Add, Binary::Subtract, Binary::Multiply]),
            _ => *self.random.choose(&[
                Binary::Add,
                Binary::Add,
                Binary::Subtract,
                Binary::Multiply,
                Binary::Multiply,
                Binary::And,
                Binary::Or,
                Binary::Xor,
                Binary::MaximumSigned,
                Binary::MinimumUnsigned,
            ]),
        };
        let operands = vec![self.pick(kind, operations), self.pick(kind, operations)];
        self.push(operations, Kind::Binary(binary), operands, &[kind]);
    }

    fn divide(&mut self, operations: &mut Vec<Operation>) {
        let kind = *self.random.choose(&[Type::I64, Type::I32]);
        let binary = *self.random.choose(&[
            Binary::DivideUnsigned,
            Binary::RemainderUnsigned,
            Binary::DivideSigned,
        ]);
        let value = *self.random.choose(&[3, 7, 10, 13, 16, 1000]);
        let operands = vec![self.pick(kind, operations), self.integer(kind, value, operations)];
        self.push(operations, Kind::Binary(binary), operands, &[kind]);
    }

    fn shift(&mut self, operations: &mut Vec<Operation>) {
        let kind = *self.random.choose(&[Type::I64, Type::I32]);
        let binary = *self.random.choose(&[
            Binary::ShiftLeft,
            Binary::ShiftRightSigned,
            Binary::ShiftRightUnsigned,
        ]);
        let value = 1 + self.random.below(kind.bits() as usize - 1) as i64;
        let operands = vec![self.pick(kind, operations), self.integer(kind, value, operations)];
        self.push(operations, Kind::Binary(binary), operands, &[kind]);
    }

    fn compare(&mut self, operations: &mut Vec<Operation>) {
        let predicate = *self.random.choose(&[
            Predicate::Equal,
            Predicate::NotEqual,
            Predicate::Less,
            Predicate::LessOrEqual,
            Predicate::Greater,
            Predicate::LessUnsigned,
            Predicate::GreaterOrEqualUnsigned,
        ]);
        let kinds = [Type::I64, Type::I64, Type::I32, Type::Index, Type::F32];
        let kind = *self.random.choose(&kinds);
        let operands = vec![self.pick(kind, operations), self.pick(kind, operations)];
        self.push(operations, Kind::Compare(predicate), operands, &[Type::I1]);
    }

    fn select(&mut self, operations: &mut Vec<Operation>) {
        let kind = *self.random.choose(&[Type::I64, Type::I32, Type::F32, Type::F64]);
        let operands = vec![
            self.pick(Type::I1, operations),
            self.pick(kind, operations),
            self.pick(kind, operations),
        ];
        self.push(operations, Kind::Select, operands, &[kind]);
    }

    fn cast(&mut self, operations: &mut Vec<Operation>) {
        let (from, to, cast) = *self.random.choose(&[
            (Type::I32, Type::I64, Cast::ExtendSigned),
            (Type::I32, Type::I64, Cast::ExtendUnsigned),
            (Type::I64, Type::I32, Cast::Truncate),
            (Type::I1, Type::I64, Cast::ExtendUnsigned),
            (Type::I1, Type::I32, Cast::ExtendUnsigned),
            (Type::I64, Type::Index, Cast::Index),
            (Type::Index, Type::I64, Cast::Index),
            (Type::I32, Type::Index, Cast::Index),
            (Type::I32, Type::F32, Cast::ToFloat),
        ]);
        let operands = vec![self.pick(from, operations)];
        self.push(operations, Kind::Cast(cast), operands, &[to]);
    }

    fn float(&mut self, operations: &mut Vec<Operation>) {
        let kind = *self.random.choose(&[Type::F32, Type::F32, Type::F64]);
        let operands = vec![self.pick(kind, operations), self.pick(kind, operations)];
        match self.random.below(5) {
            0 => {
                let kind_of = Kind::Binary(Binary::Multiply);
                let product = self.push(operations, kind_of, operands, &[kind]);
                self.products.extend(product.iter().copied());
                // The value still has a use.
                let other = self.pick(kind, operations);
                let less = Kind::Compare(Predicate::Less);
                self.push(operations, less, vec![product[0], other], &[Type::I1]);
            }
            1 => drop(self.push(operations, Kind::NegateFloat, operands[..1].to_vec(), &[kind])),
            2 => drop(self.push(operations, Kind::Binary(Binary::Subtract), operands, &[kind])),
            _ => drop(self.push(operations, Kind::Binary(Binary::Add), operands, &[kind])),
        }
    }

    fn call(&mut self, operations: &mut Vec<Operation>, depth: usize) {
        let count = self.program.functions.len();
        if count == 0 {
            return self.arithmetic(operations);
        }
        let callee = self.random.below(count);
        if self.program.functions[callee].results.is_empty() {
            return self.guard(operations, depth);
        }
        let function = &self.program.functions[callee];
        let kinds: Vec<Type> = function.parameters().iter().map(|id| function.kind(*id)).collect();
        let results = function.results.clone();
        let operands = kinds.iter().map(|kind| self.pick(*kind, operations)).collect();
        self.push(operations, Kind::Call(callee), operands, &results);
    }

    fn global(&mut self, operations: &mut Vec<Operation>) {
        if self.program.globals.is_empty() {
            return self.arithmetic(operations);
        }
        let global = self.random.below(self.program.globals.len());
        let kind = self.program.globals[global].kind;
        if self.random.chance(2) {
            self.push(operations, Kind::Load(global), Vec::new(), &[kind]);
        } else {
            let operand = self.pick(kind, operations);
            self.push(operations, Kind::Store(global), vec![operand], &[]);
        }
    }

    fn list(&mut self, operations: &mut Vec<Operation>) {
        let in_scope = |generator: &Self| {
            let visible: Vec<Id> = generator.scopes.iter().flatten().copied().collect();
            let lists = generator.lists.iter().copied();
            lists.filter(|(id, _)| visible.contains(id)).collect::<Vec<_>>()
        };
        let lists = in_scope(self);
        if lists.is_empty() {
            let length = 1 + self.random.below(4) as i64;
            let capacity = self.integer(Type::Index, length, operations);
            let list = self.push(operations, Kind::ListCreate, vec![capacity], &[Type::List])[0];
            self.push(operations, Kind::ListResize, vec![list, capacity], &[]);
            self.lists.push((list, length));
            return;
        }
        let (list, length) = *self.random.choose(&lists);
        let at = self.random.below(length as usize) as i64;
        match self.random.below(6) {
            0 => drop(self.push(operations, Kind::ListSize, vec![list], &[Type::Index])),
            1..=3 => {
                let index = self.integer(Type::Index, at, operations);
                let value = self.pick(Type::I64, operations);
                self.push(operations, Kind::ListSet, vec![list, index, value], &[]);
            }
            _ => {
                let index = self.integer(Type::Index, at, operations);
                self.push(operations, Kind::ListGet, vec![list, index], &[Type::I64]);
            }
        }
    }

    /// Repeats an earlier computation, as a common subexpression.
    fn again(&mut self, operations: &mut Vec<Operation>) {
        let earlier = operations.iter().filter(|it| matches!(it.kind, Kind::Binary(_)));
        let earlier: Vec<_> =
            earlier.map(|it| (it.kind, it.operands.clone(), it.results[0])).collect();
        if earlier.is_empty() {
            return self.arithmetic(operations);
        }
        let (kind, operands, result) = self.random.choose(&earlier).clone();
        let is_product = self.products.contains(&result);
        let of = self.function.kind(result);
        let results = self.push(operations, kind, operands, &[of]);
        if is_product {
            self.products.extend(results);
        }
    }
}
