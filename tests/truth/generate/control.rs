//! Loops, ifs and branches.

use super::Generator;
use crate::program::{Binary, Block, Cast, Id, Kind, Operation, Predicate, Type};

const CARRIED: [Type; 6] = [Type::I64, Type::I64, Type::I64, Type::I32, Type::Index, Type::F32];

impl Generator<'_> {
    pub(super) fn control(&mut self, operations: &mut Vec<Operation>, depth: usize) {
        match self.random.below(5) {
            0 | 1 => self.count(operations, depth),
            2 | 3 => self.decide(operations, depth),
            _ => self.repeat(operations, depth),
        }
    }

    /// A few statements of a region.
    fn some(&mut self, operations: &mut Vec<Operation>, depth: usize) {
        let outer = self.budget;
        self.budget = outer.min(1 + self.random.below(6));
        let own = self.budget;
        self.statements(operations, depth + 1);
        self.budget = outer.saturating_sub(own);
    }

    /// A small number: one that is known only at run time, or a constant.
    fn small(&mut self, operations: &mut Vec<Operation>) -> Id {
        let bound = 1 + self.random.below(5) as i64;
        if self.random.chance(2) {
            return self.integer(Type::Index, bound, operations);
        }
        let (value, bound) =
            (self.pick(Type::I64, operations), self.integer(Type::I64, bound + 1, operations));
        let kind = Kind::Binary(Binary::RemainderUnsigned);
        let rest = self.push(operations, kind, vec![value, bound], &[Type::I64]);
        self.push(operations, Kind::Cast(Cast::Index), rest, &[Type::Index])[0]
    }

    fn count(&mut self, operations: &mut Vec<Operation>, depth: usize) {
        let lower = self.random.below(3) as i64;
        let lower = self.integer(Type::Index, lower, operations);
        let upper = self.small(operations);
        let step = 1 + self.random.below(2) as i64;
        let step = self.integer(Type::Index, step, operations);
        let kinds = self.kinds(4);
        let mut operands = vec![lower, upper, step];
        operands.extend(kinds.iter().map(|kind| self.pick(*kind, operations)));
        self.open();
        let mut arguments = vec![self.fresh(Type::Index)];
        arguments.extend(kinds.iter().map(|kind| self.fresh(*kind)));
        self.show(&arguments);
        let mut body = Vec::new();
        self.some(&mut body, depth);
        if !kinds.is_empty() {
            self.yields(&mut body, &kinds);
        }
        self.close();
        let results = self.results(&kinds);
        let region = Block { arguments, operations: body };
        self.push_with(operations, Kind::For, operands, results, vec![region]);
    }

    fn kinds(&mut self, bound: usize) -> Vec<Type> {
        (0..self.random.below(bound)).map(|_| *self.random.choose(&CARRIED)).collect()
    }

    fn yields(&mut self, operations: &mut Vec<Operation>, kinds: &[Type]) {
        let operands = kinds.iter().map(|kind| self.pick(*kind, operations)).collect();
        self.push(operations, Kind::Yield, operands, &[]);
    }

    fn decide(&mut self, operations: &mut Vec<Operation>, depth: usize) {
        let condition = self.pick(Type::I1, operations);
        let kinds = self.kinds(3);
        let count = if kinds.is_empty() && self.random.chance(2) { 1 } else { 2 };
        let mut regions = Vec::new();
        for _ in 0..count {
            self.open();
            let mut body = Vec::new();
            self.some(&mut body, depth);
            if !kinds.is_empty() {
                self.yields(&mut body, &kinds);
            }
            self.close();
            regions.push(Block { arguments: Vec::new(), operations: body });
        }
        let results = self.results(&kinds);
        self.push_with(operations, Kind::If, vec![condition], results, regions);
    }

    /// A `while` that counts down.
    fn repeat(&mut self, operations: &mut Vec<Operation>, depth: usize) {
        let bound = 2 + self.random.below(4) as i64;
        let (value, bound) =
            (self.pick(Type::I64, operations), self.integer(Type::I64, bound, operations));
        let kind = Kind::Binary(Binary::RemainderUnsigned);
        let counter = self.push(operations, kind, vec![value, bound], &[Type::I64])[0];
        let mut kinds = vec![Type::I64];
        kinds.extend(self.kinds(3));
        let mut operands = vec![counter];
        operands.extend(kinds[1..].iter().map(|kind| self.pick(*kind, operations)));

        self.open();
        let before: Vec<Id> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        self.show(&before);
        let mut first = Vec::new();
        if self.random.chance(2) {
            self.statement(&mut first, 2);
        }
        let zero = self.integer(Type::I64, 0, &mut first);
        let kind = Kind::Compare(Predicate::Greater);
        let goes_on = self.push(&mut first, kind, vec![before[0], zero], &[Type::I1])[0];
        let mut passed = vec![goes_on];
        passed.extend(&before);
        self.push(&mut first, Kind::Condition, passed, &[]);
        self.close();

        self.open();
        let after: Vec<Id> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        self.show(&after);
        let mut second = Vec::new();
        let one = self.integer(Type::I64, 1, &mut second);
        let kind = Kind::Binary(Binary::Subtract);
        let less = self.push(&mut second, kind, vec![after[0], one], &[Type::I64])[0];
        self.some(&mut second, depth);
        let mut yielded = vec![less];
        yielded.extend(kinds[1..].iter().map(|kind| self.pick(*kind, &mut second)));
        self.push(&mut second, Kind::Yield, yielded, &[]);
        self.close();

        let results = self.results(&kinds);
        let regions = vec![
            Block { arguments: before, operations: first },
            Block { arguments: after, operations: second },
        ];
        self.push_with(operations, Kind::While, operands, results, regions);
    }

    /// A function of blocks: some code, a choice or a loop, and the code after it.
    pub(super) fn branches(&mut self, arguments: Vec<Id>) -> Vec<Block> {
        let mut first = Vec::new();
        let budget = self.budget / 3;
        self.part(&mut first, budget);
        if self.random.chance(2) {
            self.diamond(arguments, first, budget)
        } else {
            self.cycle(arguments, first, budget)
        }
    }

    fn part(&mut self, operations: &mut Vec<Operation>, budget: usize) {
        self.budget = budget.max(1);
        // No regions here: branches and structured control flow do not mix well.
        self.statements(operations, 2);
    }

    fn diamond(&mut self, arguments: Vec<Id>, first: Vec<Operation>, budget: usize) -> Vec<Block> {
        let mut first = first;
        let mut kinds = self.kinds(3);
        kinds.push(Type::I64);
        let condition = self.pick(Type::I1, &mut first);
        let of_yes = *self.random.choose(&[Type::I64, Type::I32]);
        let passed = self.pick(of_yes, &mut first);
        self.push(&mut first, Kind::BranchIf(1, 2, 1), vec![condition, passed], &[]);
        let mut blocks = vec![Block { arguments, operations: first }];
        for way in 0..2 {
            self.scopes.push(Vec::new());
            let arguments = if way == 0 { vec![self.fresh(of_yes)] } else { Vec::new() };
            self.show(&arguments);
            let mut operations = Vec::new();
            self.part(&mut operations, budget / 2);
            let passed = kinds.iter().map(|kind| self.pick(*kind, &mut operations)).collect();
            self.push(&mut operations, Kind::Branch(3), passed, &[]);
            blocks.push(Block { arguments, operations });
            // The block's values leave the scope, but their names stay taken.
            self.scopes.pop();
        }
        let arguments: Vec<Id> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        self.show(&arguments);
        let mut last = Vec::new();
        self.part(&mut last, budget / 2);
        self.returns(&mut last);
        blocks.push(Block { arguments, operations: last });
        blocks
    }

    /// A loop that tests before its body.
    fn cycle(&mut self, arguments: Vec<Id>, first: Vec<Operation>, budget: usize) -> Vec<Block> {
        let mut first = first;
        let bound = self.integer(Type::I64, 4, &mut first);
        let value = self.pick(Type::I64, &mut first);
        let kind = Kind::Binary(Binary::RemainderUnsigned);
        let counter = self.push(&mut first, kind, vec![value, bound], &[Type::I64])[0];
        let mut kinds = vec![Type::I64];
        kinds.extend(self.kinds(3));
        let mut passed = vec![counter];
        passed.extend(kinds[1..].iter().map(|kind| self.pick(*kind, &mut first)));
        self.push(&mut first, Kind::Branch(1), passed, &[]);

        let carried: Vec<Id> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        self.show(&carried);
        let mut test = Vec::new();
        let zero = self.integer(Type::I64, 0, &mut test);
        let kind = Kind::Compare(Predicate::Greater);
        let goes_on = self.push(&mut test, kind, vec![carried[0], zero], &[Type::I1])[0];
        self.push(&mut test, Kind::BranchIf(2, 3, 0), vec![goes_on], &[]);

        self.scopes.push(Vec::new());
        let mut body = Vec::new();
        let one = self.integer(Type::I64, 1, &mut body);
        let kind = Kind::Binary(Binary::Subtract);
        let less = self.push(&mut body, kind, vec![carried[0], one], &[Type::I64])[0];
        self.part(&mut body, budget);
        let mut passed = vec![less];
        passed.extend(kinds[1..].iter().map(|kind| self.pick(*kind, &mut body)));
        self.push(&mut body, Kind::Branch(1), passed, &[]);
        self.scopes.pop();

        let mut last = Vec::new();
        self.part(&mut last, budget / 2);
        self.returns(&mut last);
        vec![
            Block { arguments, operations: first },
            Block { arguments: carried, operations: test },
            Block { arguments: Vec::new(), operations: body },
            Block { arguments: Vec::new(), operations: last },
        ]
    }
}
