//! The source's names: which are in scope at an operation, and which the source still uses there.
//!
//! A use counts only if it matters: a compiler may drop an operation that has no effects and no
//! used results, and its operands with it.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{Block, Function, Id, Kind, Operation, Program};

/// The names of a function at each of its operations. Number 0 is its entry.
pub(crate) struct Scopes {
    /// The values in scope, in the order of their definitions.
    pub(crate) visible: Vec<Vec<Id>>,
    /// The visible values that the source uses from there on.
    pub(crate) used: Vec<BTreeSet<Id>>,
}

/// The scopes of each function.
pub(crate) fn scopes(program: &Program) -> Vec<Scopes> {
    let live = Live::of(program);
    let of_each = program.functions.iter().enumerate();
    of_each
        .map(|(index, function)| {
            let visible = visible(function);
            let uses = Uses::of(index, function, &live, program);
            let used = visible.iter().enumerate();
            let used = used
                .map(|(at, ids)| ids.iter().copied().filter(|id| uses.is_used(*id, at)).collect())
                .collect();
            Scopes { visible, used }
        })
        .collect()
}

fn visible(function: &Function) -> Vec<Vec<Id>> {
    fn walk(block: &Block, outer: &[Id], all: &mut Vec<Vec<Id>>) -> Vec<Id> {
        let mut scope = outer.to_vec();
        scope.extend(&block.arguments);
        for operation in &block.operations {
            all.push(scope.clone());
            debug_assert_eq!(all.len() - 1, operation.number);
            for region in &operation.regions {
                walk(region, &scope, all);
            }
            scope.extend(&operation.results);
        }
        scope
    }
    let mut all = vec![function.parameters().to_vec()];
    let dominators = dominators(function);
    let mut ends: Vec<Vec<Id>> = Vec::new();
    // The generator writes every block after the blocks that dominate it.
    for (index, block) in function.blocks.iter().enumerate() {
        let mut outer = Vec::new();
        for dominator in dominators[index].iter().filter(|it| **it != index) {
            let own = &ends[*dominator];
            outer.extend(own.iter().filter(|id| !outer.contains(*id)).copied().collect::<Vec<_>>());
        }
        let end = walk(block, &outer, &mut all);
        ends.push(end);
    }
    all
}

pub(crate) fn successors(block: &Block) -> Vec<usize> {
    match block.operations.last().map(|last| last.kind) {
        Some(Kind::Branch(target)) => vec![target],
        Some(Kind::BranchIf(yes, no, _)) => vec![yes, no],
        _ => Vec::new(),
    }
}

/// The dominators of each block, itself included.
pub(crate) fn dominators(function: &Function) -> Vec<BTreeSet<usize>> {
    let count = function.blocks.len();
    let mut all: Vec<BTreeSet<usize>> = vec![(0..count).collect(); count];
    all[0] = BTreeSet::from([0]);
    loop {
        let before = all.clone();
        for index in 1..count {
            let mut common: Option<BTreeSet<usize>> = None;
            for (from, block) in function.blocks.iter().enumerate() {
                if successors(block).contains(&index) {
                    common = Some(match common {
                        Some(common) => common.intersection(&all[from]).copied().collect(),
                        None => all[from].clone(),
                    });
                }
            }
            let mut own = common.unwrap_or_default();
            own.insert(index);
            all[index] = own;
        }
        if all == before {
            return all;
        }
    }
}

/// The values that results and effects of the program depend on.
pub(crate) struct Live(BTreeSet<(usize, Id)>);

impl Live {
    pub(crate) fn of(program: &Program) -> Self {
        let mut live = Self(BTreeSet::new());
        loop {
            let before = live.0.len();
            for (index, function) in program.functions.iter().enumerate() {
                for block in &function.blocks {
                    live.block(program, index, block, None);
                }
            }
            if live.0.len() == before {
                return live;
            }
        }
    }

    fn has(&self, function: usize, id: Id) -> bool {
        self.0.contains(&(function, id))
    }

    fn block(
        &mut self,
        program: &Program,
        function: usize,
        block: &Block,
        parent: Option<&Operation>,
    ) {
        for operation in block.operations.iter().rev() {
            for (position, id) in operation.operands.iter().enumerate() {
                if self.needs(program, function, operation, position, parent) {
                    self.0.insert((function, *id));
                }
            }
            for region in &operation.regions {
                self.block(program, function, region, Some(operation));
            }
        }
    }

    /// Whether the operand at this position matters.
    fn needs(
        &self,
        program: &Program,
        function: usize,
        operation: &Operation,
        position: usize,
        parent: Option<&Operation>,
    ) -> bool {
        let has = |id: Id| self.has(function, id);
        let blocks = &program.functions[function].blocks;
        match operation.kind {
            Kind::For => match position.checked_sub(3) {
                None => self.matters(program, function, operation),
                Some(carried) => {
                    has(operation.results[carried])
                        || has(operation.regions[0].arguments[carried + 1])
                }
            },
            Kind::If => self.matters(program, function, operation),
            Kind::While => has(operation.regions[0].arguments[position]),
            Kind::Yield => parent.is_some_and(|parent| match parent.kind {
                Kind::For => {
                    has(parent.results[position]) || has(parent.regions[0].arguments[position + 1])
                }
                Kind::While => has(parent.regions[0].arguments[position]),
                _ => has(parent.results[position]),
            }),
            Kind::ElementYield => parent.is_some_and(|parent| has(parent.results[0])),
            Kind::Condition => parent.is_some_and(|parent| match position.checked_sub(1) {
                None => self.matters(program, function, parent),
                Some(passed) => {
                    has(parent.results[passed]) || has(parent.regions[1].arguments[passed])
                }
            }),
            Kind::Call(callee) => {
                self.has(callee, program.functions[callee].parameters()[position])
            }
            Kind::Store(global) => self.is_loaded(program, global),
            Kind::ListResize | Kind::ListSet | Kind::ListCreate => true,
            Kind::Branch(target) => has(blocks[target].arguments[position]),
            Kind::BranchIf(yes, no, count) => match position.checked_sub(1) {
                None => true,
                Some(at) if at < count => has(blocks[yes].arguments[at]),
                Some(at) => has(blocks[no].arguments[at - count]),
            },
            Kind::Return if function + 1 == program.functions.len() => true,
            Kind::Return => program.functions.iter().enumerate().any(|(caller, it)| {
                it.operations().iter().any(|call| {
                    matches!(call.kind, Kind::Call(callee) if callee == function)
                        && self.has(caller, call.results[position])
                })
            }),
            _ => operation.results.iter().any(|id| has(*id)),
        }
    }

    /// Whether an operation with regions has results that matter, or effects inside.
    fn matters(&self, program: &Program, function: usize, operation: &Operation) -> bool {
        operation.results.iter().any(|id| self.has(function, *id))
            || operation.regions.iter().any(|region| self.has_effects(program, region))
    }

    fn has_effects(&self, program: &Program, block: &Block) -> bool {
        block.operations.iter().any(|operation| match operation.kind {
            Kind::Call(callee) => {
                let blocks = &program.functions[callee].blocks;
                program.functions[callee].is_kept
                    || blocks.iter().any(|block| self.has_effects(program, block))
            }
            Kind::Store(global) => self.is_loaded(program, global),
            Kind::ListResize | Kind::ListSet => true,
            _ => operation.regions.iter().any(|region| self.has_effects(program, region)),
        })
    }

    fn is_loaded(&self, program: &Program, global: usize) -> bool {
        program.functions.iter().enumerate().any(|(index, function)| {
            function.operations().iter().any(|it| {
                matches!(it.kind, Kind::Load(from) if from == global)
                    && self.has(index, it.results[0])
            })
        })
    }
}

/// The place of an operation.
#[derive(Clone, Default)]
struct Place {
    block: usize,
    /// The enclosing operations, outermost first: number, index of the region, and whether the
    /// region may run repeatedly.
    around: Vec<(usize, usize, bool)>,
}

/// The places where a function's values are defined and used.
struct Uses<'a> {
    function: &'a Function,
    places: Vec<Place>,
    /// The last number inside each operation; its own if it has no regions.
    ends: Vec<usize>,
    /// The numbers of the operations whose use of a value matters.
    of: BTreeMap<Id, Vec<usize>>,
    /// The place of a value's definition.
    made: BTreeMap<Id, Place>,
}

impl<'a> Uses<'a> {
    fn of(index: usize, function: &'a Function, live: &Live, program: &Program) -> Self {
        let mut uses = Self {
            function,
            places: vec![Place::default()],
            ends: vec![0],
            of: BTreeMap::new(),
            made: BTreeMap::new(),
        };
        for (at, block) in function.blocks.iter().enumerate() {
            let place = Place { block: at, around: Vec::new() };
            uses.walk((index, live, program), block, &place, None);
        }
        uses
    }

    fn walk(
        &mut self,
        context: (usize, &Live, &Program),
        block: &Block,
        place: &Place,
        parent: Option<&Operation>,
    ) {
        let (index, live, program) = context;
        self.made.extend(block.arguments.iter().map(|id| (*id, place.clone())));
        for operation in &block.operations {
            self.places.push(place.clone());
            self.ends.push(operation.number);
            self.made.extend(operation.results.iter().map(|id| (*id, place.clone())));
            for (position, id) in operation.operands.iter().enumerate() {
                if live.needs(program, index, operation, position, parent) {
                    self.of.entry(*id).or_default().push(operation.number);
                }
            }
            for (region, block) in operation.regions.iter().enumerate() {
                let repeats = !matches!(operation.kind, Kind::If);
                let mut inner = place.clone();
                inner.around.push((operation.number, region, repeats));
                self.walk(context, block, &inner, Some(operation));
            }
            self.ends[operation.number] = self.places.len() - 1;
        }
    }

    /// Whether the value is used by the operation with this number, or by a later one before it is
    /// defined again.
    fn is_used(&self, id: Id, at: usize) -> bool {
        let Some(users) = self.of.get(&id) else { return false };
        users.iter().any(|user| self.reaches(at, *user, id))
    }

    fn reaches(&self, at: usize, user: usize, id: Id) -> bool {
        let (from, to) = (&self.places[at], &self.places[user]);
        if from.block != to.block {
            return self.flows(from.block, to.block, id);
        }
        // Different regions of one `if` never run after each other.
        let parted = from.around.iter().zip(&to.around).find(|(one, other)| one != other);
        let is_exclusive = parted.is_some_and(|(one, other)| one.0 == other.0 && !one.2);
        if user >= at && !is_exclusive {
            return true;
        }
        // The loops around this place reach the use again, unless they define the value.
        let made = self.made.get(&id).map_or(0, |place| place.around.len());
        let outer = from.around.iter().enumerate().skip(made);
        let comes_back =
            outer.filter(|(_, (_, _, repeats))| *repeats).any(|(_, (number, _, _))| {
                // A `for` reads its bounds and step again.
                let again = user == *number && self.is_looked_at_again(*number, id);
                again || (user > *number && user <= self.ends[*number])
            });
        comes_back || (self.function.blocks.len() > 1 && self.flows(from.block, to.block, id))
    }

    fn is_looked_at_again(&self, number: usize, id: Id) -> bool {
        let operations = self.function.operations();
        let operation = operations[number - 1];
        matches!(operation.kind, Kind::For) && operation.operands[1..3].contains(&id)
    }

    /// Whether control flows from the end of a block to another one without passing the value's
    /// definition.
    fn flows(&self, from: usize, to: usize, id: Id) -> bool {
        let made = self.made.get(&id).map_or(0, |place| place.block);
        let (mut seen, mut ahead) = (BTreeSet::new(), successors(&self.function.blocks[from]));
        while let Some(block) = ahead.pop() {
            if block == made || !seen.insert(block) {
                continue;
            }
            if block == to {
                return true;
            }
            ahead.extend(successors(&self.function.blocks[block]));
        }
        false
    }
}
