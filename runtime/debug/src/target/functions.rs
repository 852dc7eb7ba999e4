//! Names of functions in breakpoints: functions, calls of imports, inlined calls.
//!
//! A name is one of an export, an internal function, or `module.function`. The name of an import
//! stands for its calls, because native code has no instruction to stop at. The name of an inlined
//! function stands for its copies. A name with `*` or `?` is a pattern and stands for everything
//! that fits. Functions of Python are called `Block.forward`, or without the class: `forward`. Only
//! patterns with a dot include imports, so that `*` does not stop at every call of the runtime.

use std::collections::BTreeSet;

use debuginfo::SourcePosition;
use vm::{FunctionId, Position};
use vmfb::decode::Instruction;
use vmfb::{BytecodeOffset, Callee, FunctionOrdinal, ImportOrdinal, Op};

use super::calls::callee;
use super::module::LoadedModule;
use super::program::Program;
use crate::view::symbol::bare_symbol;

/// A name, or a pattern of names.
pub(crate) struct Wanted {
    text: String,
    is_pattern: bool,
}

impl Wanted {
    pub(crate) fn new(text: &str) -> Self {
        let text = bare_symbol(text);
        let is_pattern = text.contains(['*', '?']);
        Self { text, is_pattern }
    }

    /// Whether a function of Python fits.
    pub(crate) fn fits_python(&self, name: &str) -> bool {
        let ends = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
        std::iter::once(name).chain(ends).any(|it| self.fits(it))
    }

    fn fits(&self, name: &str) -> bool {
        self.text == name || (self.is_pattern && abi::glob::matches(&self.text, name))
    }

    /// Whether a function of a module fits, with or without the module's name.
    fn fits_function(&self, module: &str, name: &str) -> bool {
        self.fits(name) || (self.text.contains('.') && self.fits(&format!("{module}.{name}")))
    }

    fn may_be_import(&self) -> bool {
        self.text.contains('.')
    }
}

impl Program {
    /// The names of functions, as breakpoints take them: exported and internal ones, those of the
    /// program's main module without the module's name.
    #[must_use]
    pub fn function_names(&self) -> Vec<String> {
        let mut names = BTreeSet::new();
        for (index, module) in self.modules.iter().enumerate() {
            let is_main = index == self.entry().module.0 as usize;
            let exported = module.module.exports().iter().map(|it| it.name.as_str());
            let ordinals = module.module.functions_with_ordinals().map(|(ordinal, _)| ordinal);
            let internal = ordinals.filter_map(|ordinal| module.info.function_name(ordinal));
            names.extend(module.info.python_functions());
            names.extend(exported.chain(internal).map(|name| match is_main {
                true => name.to_owned(),
                false => format!("{}.{name}", module.module.name()),
            }));
        }
        names.into_iter().collect()
    }

    /// The instructions before which to stop, for a name or a pattern.
    pub(crate) fn places_named(&self, name: &str) -> Vec<Position> {
        let wanted = Wanted::new(name);
        let mut places = BTreeSet::new();
        for module in &self.modules {
            places.extend(functions(module, &wanted));
            places.extend(inlined_copies(module, &wanted));
        }
        if wanted.may_be_import() {
            for module in &self.modules {
                places.extend(self.calls_of_imports(module, &wanted));
            }
        }
        places.into_iter().collect()
    }

    /// The index in an instruction's path of the frame that a breakpoint by name means.
    pub(crate) fn frame_named(
        &self,
        name: &str,
        position: Position,
        path: &[SourcePosition],
    ) -> usize {
        let innermost = path.len().saturating_sub(1);
        let Some(module) = self.module(position.function.module) else { return innermost };
        let wanted = Wanted::new(name);
        let is_called =
            |place| module.info.function_around(place).is_some_and(|it| wanted.fits(it));
        let inlined = (1..path.len()).rev().find(|level| is_called(path[*level]));
        let begins = || functions(module, &wanted).contains(&position);
        inlined.or_else(|| begins().then_some(0)).unwrap_or(innermost)
    }

    /// The first instruction of a function.
    pub(crate) fn function_named(&self, name: &str) -> Option<Position> {
        let wanted = Wanted::new(name);
        self.modules.iter().find_map(|module| functions(module, &wanted).first().copied())
    }

    /// The calls of imports. An import that is a bytecode function stops where that function
    /// begins.
    fn calls_of_imports(&self, module: &LoadedModule, wanted: &Wanted) -> Vec<Position> {
        let is_bytecode = |name: &str| {
            name.split_once('.').is_some_and(|(provider, function)| {
                let mut loaded = self.modules.iter().map(|it| &it.module);
                loaded.any(|it| it.name() == provider && it.export_named(function).is_some())
            })
        };
        let imports = module.module.imports().iter().enumerate();
        let met: BTreeSet<ImportOrdinal> = imports
            .filter(|(_, it)| wanted.fits(&it.full_name) && !is_bytecode(&it.full_name))
            .map(|(index, _)| ImportOrdinal::from_index(index))
            .collect();
        if met.is_empty() {
            return Vec::new();
        }
        let calls = |instruction: &Instruction<'_>| match callee(instruction) {
            Some(Callee::Import(import)) => met.contains(&import),
            _ => false,
        };
        let functions = module.module.functions_with_ordinals();
        let found = functions.flat_map(|(ordinal, _)| {
            let code = vmfb::instructions(module.module.function_bytecode(ordinal));
            let calls = code.map_while(Result::ok).filter(&calls);
            calls.map(move |call| at(module, ordinal, call.offset)).collect::<Vec<_>>()
        });
        found.collect()
    }
}

fn at(module: &LoadedModule, function: FunctionOrdinal, offset: BytecodeOffset) -> Position {
    Position { function: FunctionId { module: module.index, function }, offset }
}

fn functions(module: &LoadedModule, wanted: &Wanted) -> Vec<Position> {
    let name = module.module.name();
    let exports = module.module.exports().iter();
    let exported = exports.filter(|it| wanted.fits_function(name, &it.name)).map(|it| it.function);
    let internal = module.module.functions_with_ordinals().map(|(ordinal, _)| ordinal);
    let internal = internal.filter(|ordinal| {
        let known = module.info.function_name(*ordinal);
        known.is_some_and(|known| wanted.fits_function(name, known))
    });
    let found: BTreeSet<FunctionOrdinal> = exported.chain(internal).collect();
    let first = |ordinal| Some(at(module, ordinal, first_instruction(module, ordinal)?));
    found.into_iter().filter_map(first).collect()
}

/// The first instruction of each inlined copy of a function.
fn inlined_copies(module: &LoadedModule, wanted: &Wanted) -> Vec<Position> {
    let info = &module.info;
    let mut found = Vec::new();
    for (ordinal, _) in module.module.functions_with_ordinals() {
        // The calls that lead to a copy distinguish it.
        let mut met: BTreeSet<Vec<SourcePosition>> = BTreeSet::new();
        let mut instance = None;
        for row in info.rows(ordinal) {
            if row.position.is_none() || instance.replace(row.instance) == Some(row.instance) {
                continue;
            }
            let path = info.path_at(ordinal, row.offset);
            for level in 1..path.len() {
                let calls = path[..level].to_vec();
                let is_wanted = info.function_around(path[level]).is_some_and(|it| wanted.fits(it));
                if is_wanted && met.insert(calls) {
                    found.push(at(module, ordinal, row.offset));
                }
            }
        }
    }
    found
}

/// Where a function begins as its user sees it: after constants, or else after the marker of the
/// entry block.
pub(crate) fn first_instruction(
    module: &LoadedModule,
    ordinal: FunctionOrdinal,
) -> Option<BytecodeOffset> {
    if let Some(entry) = module.info.entry_of(ordinal) {
        return Some(entry);
    }
    vmfb::instructions(module.module.function_bytecode(ordinal))
        .map_while(Result::ok)
        .find(|instruction| instruction.op != Op::Block)
        .map(|instruction| instruction.offset)
}
