//! Contexts: modules linked to each other, with their globals and breakpoints.
//!
//! All bytecode functions of a context are in one table, so a call is a single index, whichever
//! module it leads to. A function is translated on its first call. Breakpoints patch a copy of its
//! translation, which then runs instead when nothing observes.

use std::sync::{Arc, Mutex};

use abi::cconv::Signature;
use vmfb::{BytecodeOffset, Module};

use crate::code::{Linkage, translate};
use crate::limits::ExecutionLimits;
use crate::machine::{FunctionCode, FunctionSlot, Handler, Program};
use crate::modules::{Globals, LinkedKind, LinkedModule};
use crate::native::{NativeModule, Watch};
use crate::objects::{Makes, Ref};
use crate::position::{FunctionId, ModuleIndex};
use crate::second_tier::compile_slot;
use crate::stack::Stack;

/// What a module of a context is made of.
#[derive(Clone, Copy, Debug)]
pub enum ModuleKind<'a> {
    /// Bytecode.
    Bytecode(&'a Arc<Module>),
    /// Rust.
    Native(&'a NativeModule),
}

/// Linked modules with their globals, and the breakpoints set in them.
#[derive(Debug)]
pub struct Context {
    pub(crate) limits: ExecutionLimits,
    makes: Makes,
    pub(crate) modules: Vec<LinkedModule>,
    pub(crate) functions: Vec<FunctionSlot>,
    /// For each module.
    pub(crate) globals: Vec<Globals>,
    watch: Watch,
    is_inspected: bool,
    /// Whether calls within modules pass 32 bits of each number only: see `narrow_calls`.
    pub(crate) has_narrow_calls: bool,
    /// The stack of an invocation that completed, for the next one.
    pub(crate) spare_stack: Mutex<Option<Stack>>,
}

impl Context {
    pub(crate) fn empty(limits: ExecutionLimits, is_inspected: bool) -> Self {
        Self {
            limits,
            makes: Makes::default(),
            modules: Vec::new(),
            functions: Vec::new(),
            globals: Vec::new(),
            watch: Watch::Nothing,
            is_inspected,
            has_narrow_calls: false,
            spare_stack: Mutex::default(),
        }
    }

    /// The bounds in force.
    #[must_use]
    pub fn limits(&self) -> &ExecutionLimits {
        &self.limits
    }

    /// What its program makes, so that going back does not move it.
    #[must_use]
    pub fn makes(&self) -> &Makes {
        &self.makes
    }

    /// Whether a debugger inspects the context; see [`crate::ContextBuilder::inspected`].
    #[must_use]
    pub fn is_inspected(&self) -> bool {
        self.is_inspected
    }

    /// Inspects the context from now on, or no longer.
    pub fn set_inspected(&mut self, is_inspected: bool) {
        self.is_inspected = is_inspected;
    }

    /// The activity boundaries at which a free-running invocation stops.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.watch
    }

    /// Sets the activity boundaries at which a free-running invocation stops with
    /// [`crate::Stop::Boundary`].
    pub fn set_watch(&mut self, watch: Watch) {
        self.watch = watch;
    }

    pub(crate) fn module_indices(&self) -> impl Iterator<Item = ModuleIndex> + use<> {
        (0..self.modules.len() as u32).map(ModuleIndex)
    }

    /// The rodata of a module, a buffer a segment; empty for native modules.
    #[must_use]
    pub fn rodata(&self, module: ModuleIndex) -> &[Ref] {
        self.modules.get(module.index()).map_or(&[], LinkedModule::rodata)
    }

    /// The modules, in order of registration; modules attached at run time come last.
    pub fn modules(&self) -> impl Iterator<Item = (ModuleIndex, &str, ModuleKind<'_>)> {
        self.modules.iter().enumerate().map(|(index, module)| {
            let kind = match &module.kind {
                LinkedKind::Bytecode { module, .. } => ModuleKind::Bytecode(module),
                LinkedKind::Native(module) => ModuleKind::Native(module),
            };
            (ModuleIndex(index as u32), module.name.as_str(), kind)
        })
    }

    /// The bytecode module at `index`; `None` for native ones.
    #[must_use]
    pub fn bytecode_module(&self, index: ModuleIndex) -> Option<&Arc<Module>> {
        match &self.modules.get(index.index())?.kind {
            LinkedKind::Bytecode { module, .. } => Some(module),
            LinkedKind::Native(_) => None,
        }
    }

    /// The name of a module; empty if there is none.
    #[must_use]
    pub fn module_name(&self, index: ModuleIndex) -> &str {
        self.modules.get(index.index()).map_or("", |module| &module.name)
    }

    /// The exported function `module.function`; a name without a module is looked for in the
    /// bytecode modules from the last registered to the first.
    #[must_use]
    pub fn lookup(&self, name: &str) -> Option<FunctionId> {
        let in_module = |index: usize, name: &str| {
            let function = self.modules[index].export_named(name)?;
            Some(FunctionId { module: ModuleIndex(index as u32), function })
        };
        let indices = || {
            (0..self.modules.len())
                .rev()
                .filter(|index| self.modules[*index].attached_from.is_none())
        };
        // Export names may hold dots themselves, so the name is tried whole first.
        let whole = indices()
            .filter(|index| matches!(self.modules[*index].kind, LinkedKind::Bytecode { .. }))
            .find_map(|index| in_module(index, name));
        whole.or_else(|| {
            indices().find_map(|index| {
                let rest = name.strip_prefix(&self.modules[index].name)?.strip_prefix('.')?;
                in_module(index, rest)
            })
        })
    }

    /// A function's name: its first export name, or `@<ordinal>`; empty if there is no such
    /// function.
    #[must_use]
    pub fn function_name(&self, function: FunctionId) -> String {
        match self.modules.get(function.module.index()).map(|module| &module.kind) {
            Some(LinkedKind::Bytecode { module, .. }) => {
                let mut names = module.export_names(function.function);
                names.next().map_or_else(|| format!("@{}", function.function.0), str::to_owned)
            }
            Some(LinkedKind::Native(module)) => module
                .functions
                .get(function.function.index())
                .map_or_else(String::new, |function| function.name.clone()),
            None => String::new(),
        }
    }

    /// A function's signature, if it has a calling convention.
    #[must_use]
    pub fn signature(&self, function: FunctionId) -> Option<Signature> {
        self.signature_of(function).cloned()
    }

    pub(crate) fn signature_of(&self, function: FunctionId) -> Option<&Signature> {
        self.modules.get(function.module.index())?.signature(function.function)
    }

    /// Where a bytecode function is in the context's table.
    pub(crate) fn slot_index(&self, function: FunctionId) -> Option<u32> {
        match &self.modules.get(function.module.index())?.kind {
            LinkedKind::Bytecode { module, first_function, .. } => {
                module.function(function.function)?;
                Some(first_function + function.function.0)
            }
            LinkedKind::Native(_) => None,
        }
    }

    /// The executable form of a function, made on first use.
    #[inline]
    pub(crate) fn code(&self, slot: u32) -> &FunctionCode {
        let slot = &self.functions[slot as usize];
        match slot.code.get() {
            Some(code) => code,
            None => self.translate_slot(slot),
        }
    }

    /// What calls lead to.
    fn linkage(&self) -> Linkage<'_, Handler> {
        let Self { modules, functions, has_narrow_calls, .. } = self;
        Linkage { modules, functions, has_narrow_calls: *has_narrow_calls }
    }

    /// Compiles a function, if it can be; once it was tried, nothing more is done.
    #[cold]
    pub(crate) fn compile(&self, slot: u32) {
        compile_slot(&self.functions[slot as usize], &self.globals);
    }

    #[cold]
    fn translate_slot<'a>(&'a self, slot: &'a FunctionSlot) -> &'a FunctionCode {
        slot.code.get_or_init(|| Box::new(translate(&self.linkage(), slot.id())))
    }

    /// Where each instruction of a bytecode function starts, ascending; empty if there is no such
    /// function.
    #[must_use]
    pub fn instruction_offsets(&self, function: FunctionId) -> Vec<BytecodeOffset> {
        let Some(slot) = self.slot_index(function) else { return Vec::new() };
        self.code(slot).starts.iter().map(|(offset, _)| BytecodeOffset(*offset)).collect()
    }

    /// The primitive globals of a module: bytes that instructions address by offset.
    #[must_use]
    pub fn global_bytes(&self, module: ModuleIndex) -> &[u8] {
        self.globals.get(module.index()).map_or(&[], |globals| &globals.bytes)
    }

    /// The primitive globals of a module, to change them.
    pub fn global_bytes_mut(&mut self, module: ModuleIndex) -> &mut [u8] {
        self.globals.get_mut(module.index()).map_or(&mut [], |globals| &mut globals.bytes)
    }

    /// The ref globals of a module.
    #[must_use]
    pub fn global_refs(&self, module: ModuleIndex) -> &[Ref] {
        self.globals.get(module.index()).map_or(&[], |globals| &globals.refs)
    }

    /// The ref globals of a module, to change them.
    pub fn global_refs_mut(&mut self, module: ModuleIndex) -> &mut [Ref] {
        self.globals.get_mut(module.index()).map_or(&mut [], |globals| &mut globals.refs)
    }

    /// What handlers work with.
    #[inline]
    pub(crate) fn program(&mut self) -> Program<'_> {
        let Self { limits, makes, modules, functions, globals, .. } = self;
        Program { limits, makes, modules, functions, globals }
    }
}
