//! Which functions can run: everything that the entry function or an initialiser calls, directly or
//! through other functions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

use vm::FunctionId;
use vmfb::Callee;

use super::calls::callee;
use super::program::{Program, Reach};

/// The function that the runtime calls before all others.
const INITIALIZER: &str = "__init";

impl Program {
    /// Which functions can run.
    pub(crate) fn reach(&self) -> &Reach {
        self.reach.get_or_init(|| {
            let mut graph = CallGraph { program: self, callees: HashMap::new() };
            let initializers = self.exported(|name| name == INITIALIZER);
            let entries = match self.is_called_from_outside() {
                true => self.exported(|name| name != INITIALIZER),
                false => vec![("", self.entry())],
            };
            Reach {
                running: graph.called_from(entries.into_iter().map(|(_, it)| it)),
                initializing: graph.called_from(initializers.into_iter().map(|(_, it)| it)),
                exports: OnceLock::new(),
            }
        })
    }

    /// The exported functions that run a function.
    pub(crate) fn exports_that_run(&self, function: FunctionId) -> impl Iterator<Item = &str> {
        let exports = self.reach().exports.get_or_init(|| {
            let mut graph = CallGraph { program: self, callees: HashMap::new() };
            let mut exports: HashMap<FunctionId, BTreeSet<String>> = HashMap::new();
            for (name, id) in self.exported(|name| !name.starts_with("__")) {
                for called in graph.called_from([id]) {
                    exports.entry(called).or_default().insert(name.to_owned());
                }
            }
            exports
        });
        exports.get(&function).into_iter().flatten().map(String::as_str)
    }

    /// The exported functions that `is_wanted` selects, except those of modules for devices.
    fn exported(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<(&str, FunctionId)> {
        let programs = self.modules.iter().filter(|module| !module.is_nested);
        let exports = programs.flat_map(|module| {
            let exports = module.module.exports().iter();
            exports.map(|export| {
                let id = FunctionId { module: module.index, function: export.function };
                (export.name.as_str(), id)
            })
        });
        exports.filter(|(name, _)| is_wanted(name)).collect()
    }

    /// The bytecode function that provides an import.
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

/// The call graph, as far as it was explored.
struct CallGraph<'p> {
    program: &'p Program,
    callees: HashMap<FunctionId, Vec<FunctionId>>,
}

impl CallGraph<'_> {
    fn called_from(&mut self, start: impl IntoIterator<Item = FunctionId>) -> HashSet<FunctionId> {
        let mut pending: Vec<FunctionId> = start.into_iter().collect();
        let mut met: HashSet<FunctionId> = pending.iter().copied().collect();
        while let Some(next) = pending.pop() {
            let program = self.program;
            let callees = self.callees.entry(next).or_insert_with(|| callees(program, next));
            pending.extend(callees.iter().copied().filter(|it| met.insert(*it)));
        }
        met
    }
}

/// The bytecode functions that a function calls.
fn callees(program: &Program, function: FunctionId) -> Vec<FunctionId> {
    let Some(module) = program.module(function.module) else { return Vec::new() };
    let code = vmfb::instructions(module.module.function_bytecode(function.function));
    let called = code.map_while(Result::ok).filter_map(|call| match callee(&call)? {
        Callee::Internal(ordinal) => Some(FunctionId { module: module.index, function: ordinal }),
        Callee::Import(import) => program.provider(&module.module.import(import)?.full_name),
    });
    let mut called: Vec<FunctionId> = called.collect();
    called.sort_unstable();
    called.dedup();
    called
}
