//! Breakpoints that a program never reaches, to measure their cost.
//!
//! The program runs once under an observer that records every instruction. Breakpoints then go to
//! other instructions, first to those in functions that ran: only these make the program run code
//! that has breakpoints in it. If a later call reaches a breakpoint after all, which is possible if
//! the program keeps state, it fails. So a printed figure is always one without hits.

use std::collections::HashSet;

use vm::{Context, FunctionId, Invocation, ModuleKind, Observer, Position, Reaction};
use vmfb::FunctionOrdinal;

use crate::failure::Failure;
use crate::program::Program;

/// The instructions and functions that a program has run.
#[derive(Default)]
struct Visited {
    positions: HashSet<Position>,
    functions: HashSet<FunctionId>,
}

impl Observer for Visited {
    fn before_instruction(&mut self, _: &Context, _: &Invocation, position: Position) -> Reaction {
        if self.positions.insert(position) {
            self.functions.insert(position.function);
        }
        Reaction::Continue
    }
}

/// How many breakpoints were set.
pub(crate) struct IdleBreakpoints {
    /// In all functions.
    pub(crate) total: usize,
    /// In functions that the program runs.
    pub(crate) in_running_functions: usize,
}

/// Sets `count` breakpoints that a call of the program does not reach.
///
/// # Errors
/// The call fails, or the program does not have that many other instructions.
pub(crate) fn set_idle_breakpoints(
    program: &mut Program,
    count: usize,
) -> Result<IdleBreakpoints, Failure> {
    let mut visited = Visited::default();
    if count > 0 {
        program.call(Some(&mut visited))?;
    }
    let mut idle = IdleBreakpoints { total: 0, in_running_functions: 0 };
    let mut functions = bytecode_functions(&program.context);
    functions.sort_by_key(|function| !visited.functions.contains(function));
    for function in functions {
        let wanted = count - idle.total;
        let set = set_in_function(&mut program.context, function, &visited, wanted);
        idle.total += set;
        if visited.functions.contains(&function) {
            idle.in_running_functions += set;
        }
    }
    if idle.total < count {
        return Err(format!(
            "--breakpoints={count}: the loaded modules have only {} instructions that this call \
             does not come to",
            idle.total
        )
        .into());
    }
    Ok(idle)
}

fn bytecode_functions(context: &Context) -> Vec<FunctionId> {
    let modules = context.modules().filter_map(|(index, _, kind)| match kind {
        ModuleKind::Bytecode(module) => Some((index, module.functions().len())),
        ModuleKind::Native(_) => None,
    });
    modules
        .flat_map(|(module, count)| {
            (0..count).map(move |index| FunctionId {
                module,
                function: FunctionOrdinal::from_index(index),
            })
        })
        .collect()
}

/// Sets up to `wanted` breakpoints in one function. Returns how many it has set.
fn set_in_function(
    context: &mut Context,
    function: FunctionId,
    visited: &Visited,
    wanted: usize,
) -> usize {
    let mut places = HashSet::new();
    for offset in context.instruction_offsets(function) {
        if places.len() == wanted {
            break;
        }
        if visited.positions.contains(&Position { function, offset }) {
            continue;
        }
        // A breakpoint on a block marker moves to the next instruction, which may have run.
        let Ok(place) = context.set_breakpoint(function, offset) else { continue };
        if visited.positions.contains(&Position { function, offset: place }) {
            context.clear_breakpoint(function, place);
        } else {
            places.insert(place);
        }
    }
    places.len()
}
