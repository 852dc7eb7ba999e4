//! Reduces a program with a finding: removes what can be removed while the finding stays.

use crate::program::{Block, Id, Kind, Operation, Program, Type, Value};

/// The most programs that are tried.
const PATIENCE: usize = 250;

/// A reduction of a program.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// Removes a function that is never called.
    Function(usize),
    /// Removes an operation whose results are never used.
    Operation(usize, usize),
    /// Replaces an operation by a constant.
    Constant(usize, usize),
}

/// The smallest program found for which `shows` still holds.
pub(crate) fn reduce(program: &Program, shows: &mut dyn FnMut(&mut Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut tries = 0;
    loop {
        let mut is_smaller = false;
        for cut in cuts(&best) {
            let Some(mut candidate) = apply(&best, cut) else { continue };
            tries += 1;
            if tries > PATIENCE {
                return best;
            }
            if shows(&mut candidate) {
                best = candidate;
                is_smaller = true;
                // Numbers and positions have changed.
                break;
            }
        }
        if !is_smaller {
            return best;
        }
    }
}

/// Large cuts first, and operations from the last to the first, so that uses go before definitions.
fn cuts(program: &Program) -> Vec<Cut> {
    let count = program.functions.len();
    let mut cuts: Vec<Cut> = (0..count - 1).map(Cut::Function).collect();
    for make in [Cut::Operation, Cut::Constant] {
        for (index, function) in program.functions.iter().enumerate().rev() {
            let operations = function.operations().len();
            cuts.extend((1..=operations).rev().map(|number| make(index, number)));
        }
    }
    cuts
}

fn apply(program: &Program, cut: Cut) -> Option<Program> {
    let mut program = program.clone();
    match cut {
        Cut::Function(index) => remove_function(&mut program, index)?,
        Cut::Operation(function, number) => {
            let function = &mut program.functions[function];
            let used: Vec<Id> =
                function.operations().iter().flat_map(|it| it.operands.clone()).collect();
            let mut remove = |operation: &mut Operation| {
                let is_free = operation.results.iter().all(|id| !used.contains(id));
                (is_free && !operation.kind.ends_block()).then_some(Vec::new())
            };
            replace(&mut function.blocks, number, &mut remove).then_some(())?;
        }
        Cut::Constant(function, number) => {
            let function = &mut program.functions[function];
            let values = function.values.clone();
            let mut constant = |operation: &mut Operation| {
                let [result] = operation.results[..] else { return None };
                let value = match values[result].kind {
                    Type::I1 => Value::Integer(1),
                    Type::F32 => Value::F32(7.5),
                    Type::F64 => Value::F64(7.5),
                    Type::List | Type::Tensor(..) => return None,
                    _ => Value::Integer(7),
                };
                let is_one = matches!(operation.kind, Kind::Constant(_) | Kind::For | Kind::While);
                let operation = Operation {
                    kind: Kind::Constant(value),
                    operands: Vec::new(),
                    regions: Vec::new(),
                    ..operation.clone()
                };
                (!is_one).then(|| vec![operation])
            };
            replace(&mut function.blocks, number, &mut constant).then_some(())?;
        }
    }
    Some(program)
}

/// Replaces the operation with this number. Returns whether it did.
fn replace(
    blocks: &mut [Block],
    number: usize,
    with: &mut dyn FnMut(&mut Operation) -> Option<Vec<Operation>>,
) -> bool {
    for block in blocks {
        if let Some(at) = block.operations.iter().position(|it| it.number == number) {
            let Some(others) = with(&mut block.operations[at]) else { return false };
            block.operations.splice(at..=at, others);
            return true;
        }
        for operation in &mut block.operations {
            if replace(&mut operation.regions, number, with) {
                return true;
            }
        }
    }
    false
}

fn remove_function(program: &mut Program, index: usize) -> Option<()> {
    let calls =
        |callee: usize| move |it: &&Operation| matches!(it.kind, Kind::Call(to) if to == callee);
    let functions = program.functions.iter();
    let is_called = functions.flat_map(|it| it.operations()).any(|it| calls(index)(&it));
    if is_called {
        return None;
    }
    program.functions.remove(index);
    for function in &mut program.functions {
        renumber(&mut function.blocks, index);
    }
    Some(())
}

fn renumber(blocks: &mut [Block], removed: usize) {
    for operation in blocks.iter_mut().flat_map(|block| &mut block.operations) {
        if let Kind::Call(callee) = &mut operation.kind
            && *callee > removed
        {
            *callee -= 1;
        }
        renumber(&mut operation.regions, removed);
    }
}
