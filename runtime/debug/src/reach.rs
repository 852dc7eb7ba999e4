//! Which functions can run: those that the function under the debugger calls, those that they call, and
//! what runs before it.

use std::collections::HashSet;

use vm::FunctionId;
use vmfb::{Callee, Op};

use crate::moves::callee;
use crate::program::Program;

/// The function that a runtime calls before all others.
const INITIALIZER: &str = "__init";

/// The functions of a program by what runs them.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// What the function that is debugged runs, itself included.
    pub(crate) running: HashSet<FunctionId>,
    /// What initialisers run.
    pub(crate) initializing: HashSet<FunctionId>,
}

impl Program {
    /// Which functions can run.
    pub(crate) fn reach(&self) -> &Reach {
        self.reach.get_or_init(|| Reach {
            running: self.called_from([self.entry()]),
            initializing: self.called_from(self.initializers()),
        })
    }

    /// The exported functions that run a function.
    pub(crate) fn exports_that_run(&self, function: FunctionId) -> Vec<&str> {
        let programs = self.modules.iter().filter(|module| !module.is_nested);
        let exports = programs.flat_map(|module| {
            module.module.exports().iter().map(|export| {
                let id = FunctionId { module: module.index, function: export.function };
                (export.name.as_str(), id)
            })
        });
        let runs = |(name, id): &(&str, FunctionId)| {
            !name.starts_with("__") && self.called_from([*id]).contains(&function)
        };
        exports.filter(runs).map(|(name, _)| name).collect()
    }

    fn initializers(&self) -> Vec<FunctionId> {
        let initializers = self.modules.iter().filter_map(|module| {
            let (_, export) = module.module.export_named(INITIALIZER)?;
            Some(FunctionId { module: module.index, function: export.function })
        });
        initializers.collect()
    }

    fn called_from(&self, start: impl IntoIterator<Item = FunctionId>) -> HashSet<FunctionId> {
        let mut pending: Vec<FunctionId> = start.into_iter().collect();
        let mut met: HashSet<FunctionId> = pending.iter().copied().collect();
        while let Some(next) = pending.pop() {
            pending.extend(self.callees(next).into_iter().filter(|it| met.insert(*it)));
        }
        met
    }

    /// The functions in bytecode that a function calls.
    fn callees(&self, function: FunctionId) -> Vec<FunctionId> {
        let Some(module) = self.module(function.module) else { return Vec::new() };
        let code = vmfb::instructions(module.module.function_bytecode(function.function));
        let calls = code.map_while(Result::ok).filter(|it| it.op != Op::Block);
        let called = calls.filter_map(|call| match callee(&call)? {
            Callee::Internal(ordinal) => {
                Some(FunctionId { module: module.index, function: ordinal })
            }
            Callee::Import(import) => self.provider(&module.module.import(import)?.full_name),
        });
        called.collect()
    }

    /// The function in bytecode that an import means.
    fn provider(&self, import: &str) -> Option<FunctionId> {
        let (provider, name) = import.split_once('.')?;
        let mut modules = self.modules.iter().rev();
        modules.find_map(|module| {
            let (_, export) =
                module.module.export_named(name).filter(|_| module.module.name() == provider)?;
            Some(FunctionId { module: module.index, function: export.function })
        })
    }
}
