//! Breakpoints that a program never comes to, to measure what they cost it.
//!
//! The program runs once under an observer that notes every instruction; breakpoints then go to
//! instructions that were not noted. Those in functions that ran come first: only they make the
//! program run on code that has breakpoints in it. A call that comes to one after all (calls may
//! differ when the program keeps state) fails, so a number that is printed is one without hits.

use std::collections::HashSet;

use vm::{Context, FunctionId, Invocation, ModuleKind, Observer, Position, Reaction};
use vmfb::FunctionOrdinal;

use crate::program::Program;

/// Where a program has been.
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
pub(crate) struct Armed {
    /// All of them.
    pub(crate) total: usize,
    /// Those in functions that the program runs.
    pub(crate) in_running_functions: usize,
}

/// Sets `count` breakpoints where a call of the program does not come.
///
/// # Errors
/// The call fails, or the program has not that many other instructions.
pub(crate) fn arm(program: &mut Program, count: usize) -> Result<Armed, String> {
    let mut visited = Visited::default();
    if count > 0 {
        program.call(Some(&mut visited)).map_err(|failure| failure.to_string())?;
    }
    let mut armed = Armed { total: 0, in_running_functions: 0 };
    let mut functions = bytecode_functions(&program.context);
    functions.sort_by_key(|function| !visited.functions.contains(function));
    for function in functions {
        let wanted = count - armed.total;
        let set = arm_function(&mut program.context, function, &visited, wanted);
        armed.total += set;
        if visited.functions.contains(&function) {
            armed.in_running_functions += set;
        }
    }
    if armed.total < count {
        return Err(format!(
            "--breakpoints={count}: the loaded modules have only {} instructions that this call \
             does not come to",
            armed.total
        ));
    }
    Ok(armed)
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

/// Sets up to `wanted` breakpoints in one function; how many it were.
fn arm_function(
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
        // One on a block marker slips to the next instruction, which may be one that runs.
        let Ok(place) = context.set_breakpoint(function, offset) else { continue };
        if visited.positions.contains(&Position { function, offset: place }) {
            context.clear_breakpoint(function, place);
        } else {
            places.insert(place);
        }
    }
    places.len()
}
