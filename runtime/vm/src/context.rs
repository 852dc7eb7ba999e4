//! Contexts: modules linked to each other, with their globals and breakpoints.
//!
//! All bytecode functions of a context are in one table, so that a call is one index whatever
//! module it leads to. A function is translated when it is first called; breakpoints patch a copy
//! of its translation, which free running then uses instead.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use abi::cconv::Signature;
use vmfb::{BytecodeOffset, FunctionOrdinal, Module};

use crate::activity::Watch;
use crate::code::{Code, FunctionCode, Target};
use crate::cursor::{CheckedCode, Instructions};
use crate::fusion;
use crate::globals::Globals;
use crate::guard::{Guard, Guarded};
use crate::invocation::{Invocation, Outcome};
use crate::limits::ExecutionLimits;
use crate::link::{ContextBuilder, export_named};
use crate::native::NativeModule;
use crate::stack::Stack;
use crate::status::Failure;
use crate::translate::translate;
use crate::types::Type;
use crate::value::Ref;

/// A module's place in its context, in the order of registration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModuleIndex(pub u32);

impl ModuleIndex {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function of a context. For native modules the ordinal is the order of declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId {
    /// The module.
    pub module: ModuleIndex,
    /// The function in it.
    pub function: FunctionOrdinal,
}

/// What a module of a context is made of.
#[derive(Clone, Copy, Debug)]
pub enum ModuleKind<'a> {
    /// Bytecode.
    Bytecode(&'a Arc<Module>),
    /// Rust.
    Native(&'a NativeModule),
}

/// Why a breakpoint cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BreakpointError {
    /// The function is native, or there is no such function.
    #[error("there is no bytecode function with this id")]
    NoSuchFunction,
    /// No instruction starts there.
    #[error("no instruction starts at {offset}; the closest before it is at {before}")]
    NotAnInstruction {
        /// What was asked for.
        offset: BytecodeOffset,
        /// The instruction that contains it.
        before: BytecodeOffset,
    },
}

/// A module in its context.
#[derive(Debug)]
pub(crate) struct LinkedModule {
    pub(crate) name: String,
    pub(crate) kind: LinkedKind,
    /// For a module that serves whoever attached it only: what it was loaded from.
    pub(crate) attached_from: Option<Ref>,
}

#[derive(Debug)]
pub(crate) enum LinkedKind {
    Bytecode {
        module: Arc<Module>,
        /// Where its functions start in the context's table.
        first_function: u32,
        types: Box<[Type]>,
        /// For each function; `None` for one without a calling convention.
        signatures: Box<[Option<Signature>]>,
        imports: Box<[Target]>,
        /// A buffer for each rodata segment.
        rodata: Box<[Ref]>,
    },
    Native(NativeModule),
}

impl LinkedModule {
    /// The type table; empty for native modules.
    pub(crate) fn types(&self) -> &[Type] {
        match &self.kind {
            LinkedKind::Bytecode { types, .. } => types,
            LinkedKind::Native(_) => &[],
        }
    }

    /// A function's signature, if it has a calling convention.
    pub(crate) fn signature(&self, function: FunctionOrdinal) -> Option<&Signature> {
        match &self.kind {
            LinkedKind::Bytecode { signatures, .. } => signatures.get(function.index())?.as_ref(),
            LinkedKind::Native(module) => {
                module.functions.get(function.index()).map(|native| &native.signature)
            }
        }
    }

    /// The rodata; empty for native modules.
    pub(crate) fn rodata(&self) -> &[Ref] {
        match &self.kind {
            LinkedKind::Bytecode { rodata, .. } => rodata,
            LinkedKind::Native(_) => &[],
        }
    }
}

/// A bytecode function of a context.
#[derive(Debug)]
pub(crate) struct FunctionSlot {
    pub(crate) module: ModuleIndex,
    pub(crate) ordinal: FunctionOrdinal,
    /// Frame size: 64-bit words of registers.
    pub(crate) word_count: u32,
    /// Frame size: ref registers.
    pub(crate) ref_count: u32,
    pub(crate) code: OnceLock<Box<FunctionCode>>,
    pub(crate) armed: Option<Armed>,
}

/// More breakpoints than these are changed at once: the whole function is made anew, rather than
/// what is around each.
const FEW_CHANGES: usize = 8;

/// A function's instructions with breakpoints in them.
#[derive(Debug)]
pub(crate) struct Armed {
    instructions: Instructions,
    /// What runs when nobody looks: it is made of them.
    pub(crate) free: CheckedCode,
    indices: BTreeSet<u32>,
    /// Those of them that may be passed.
    pub(crate) guards: BTreeMap<u32, Guarded>,
}

impl Armed {
    fn new(code: &FunctionCode) -> Self {
        Self {
            instructions: code.instructions.clone(),
            free: code.free.clone(),
            indices: BTreeSet::new(),
            guards: BTreeMap::new(),
        }
    }

    /// Adapts what runs to a change of the instruction at `index`.
    fn update(&mut self, original: &FunctionCode, index: u32) {
        let changed = self.free.update(&self.instructions, index);
        for guarded in self.guards.range(changed).map(|(guarded, _)| guarded) {
            self.free.guard(&original.instructions, *guarded);
        }
    }
}

impl FunctionSlot {
    pub(crate) fn id(&self) -> FunctionId {
        FunctionId { module: self.module, function: self.ordinal }
    }

    /// Whether a breakpoint is set on the instruction at `index`.
    pub(crate) fn is_armed(&self, index: u32) -> bool {
        self.armed.as_ref().is_some_and(|armed| armed.indices.contains(&index))
    }
}

/// Linked modules with their globals, and the breakpoints set in them.
#[derive(Debug)]
pub struct Context {
    pub(crate) limits: ExecutionLimits,
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
    /// Starts a context.
    #[must_use]
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    pub(crate) fn empty(limits: ExecutionLimits, is_inspected: bool) -> Self {
        Self {
            limits,
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

    /// Whether somebody looks at what runs; see [`ContextBuilder::inspected`].
    #[must_use]
    pub fn is_inspected(&self) -> bool {
        self.is_inspected
    }

    /// At which boundaries of activities an invocation stops that runs free.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.watch
    }

    /// Sets at which boundaries of activities an invocation stops that runs free, with
    /// [`crate::Stop::Boundary`].
    pub fn set_watch(&mut self, watch: Watch) {
        self.watch = watch;
    }

    /// Whether a breakpoint is in a module.
    #[must_use]
    pub fn has_breakpoints(&self, module: ModuleIndex) -> bool {
        let Some(LinkedKind::Bytecode { module, first_function, .. }) =
            self.modules.get(module.index()).map(|module| &module.kind)
        else {
            return false;
        };
        let first = *first_function as usize;
        let functions = self.functions.get(first..first + module.functions().len());
        functions.is_some_and(|functions| functions.iter().any(|slot| slot.armed.is_some()))
    }

    pub(crate) fn module_indices(&self) -> impl Iterator<Item = ModuleIndex> + use<> {
        (0..self.modules.len() as u32).map(ModuleIndex)
    }

    /// The rodata of a module, a buffer a segment; empty for native modules.
    #[must_use]
    pub fn rodata(&self, module: ModuleIndex) -> &[Ref] {
        self.modules.get(module.index()).map_or(&[], LinkedModule::rodata)
    }

    /// The modules, in order of registration; those attached while running are behind the others.
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
            let function = export_named(&self.modules[index], name)?;
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

    /// A function's name: its (first) export name, or `@<ordinal>`; empty if there is none.
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

    #[cold]
    fn translate_slot<'a>(&'a self, slot: &'a FunctionSlot) -> &'a FunctionCode {
        slot.code.get_or_init(|| Box::new(translate(self, slot.id())))
    }

    /// Where each instruction of a bytecode function starts, ascending; empty if there is none.
    #[must_use]
    pub fn instruction_offsets(&self, function: FunctionId) -> Vec<BytecodeOffset> {
        let Some(slot) = self.slot_index(function) else { return Vec::new() };
        self.code(slot).starts.iter().map(|(offset, _)| BytecodeOffset(*offset)).collect()
    }

    /// Sets a breakpoint: the invocation stops before the instruction at `offset` runs. Block
    /// markers are jumped over by branches, so a breakpoint on one slips to the instruction behind
    /// it. Returns where it is. Setting it twice is the same as once. May be done at any time while
    /// nothing runs.
    ///
    /// # Errors
    /// No instruction starts there.
    pub fn set_breakpoint(
        &mut self,
        function: FunctionId,
        offset: BytecodeOffset,
    ) -> Result<BytecodeOffset, BreakpointError> {
        let slot = self.slot_index(function).ok_or(BreakpointError::NoSuchFunction)?;
        let code = self.code(slot);
        let Some(index) = stoppable_index(code, offset) else {
            let before = code.starts.iter().rev().find(|(start, _)| *start < offset.0);
            let before = BytecodeOffset(before.map_or(0, |(start, _)| *start));
            return Err(BreakpointError::NotAnInstruction { offset, before });
        };
        let set_at = code.offset_at(index);
        let slot = &mut self.functions[slot as usize];
        let Some(code) = slot.code.get() else { return Err(BreakpointError::NoSuchFunction) };
        let armed = slot.armed.get_or_insert_with(|| Armed::new(code));
        if armed.indices.insert(index) {
            armed.instructions.arm(index);
            armed.update(code, index);
        }
        Ok(set_at)
    }

    /// Removes some breakpoints and sets others, those that can be. Of many in one function this is
    /// done at once: what runs of a function depends on what is around each breakpoint.
    pub fn change_breakpoints(
        &mut self,
        cleared: impl IntoIterator<Item = (FunctionId, BytecodeOffset)>,
        set: impl IntoIterator<Item = (FunctionId, BytecodeOffset)>,
    ) {
        let mut changes: BTreeMap<u32, Vec<(BytecodeOffset, bool)>> = BTreeMap::new();
        let cleared = cleared.into_iter().map(|place| (place, false));
        for ((function, offset), is_set) in cleared.chain(set.into_iter().map(|it| (it, true))) {
            if let Some(slot) = self.slot_index(function) {
                changes.entry(slot).or_default().push((offset, is_set));
            }
        }
        for (slot, changes) in changes {
            if changes.len() > FEW_CHANGES {
                self.change_many(slot, &changes);
                continue;
            }
            let function = self.functions[slot as usize].id();
            for (offset, is_set) in changes {
                if is_set {
                    // What is no instruction is not armed.
                    let _ = self.set_breakpoint(function, offset);
                } else {
                    self.clear_breakpoint(function, offset);
                }
            }
        }
    }

    fn change_many(&mut self, slot: u32, changes: &[(BytecodeOffset, bool)]) {
        let code = self.code(slot);
        let changes: Vec<(u32, bool)> = changes
            .iter()
            .filter_map(|(offset, is_set)| Some((stoppable_index(code, *offset)?, *is_set)))
            .collect();
        let slot = &mut self.functions[slot as usize];
        let Some(code) = slot.code.get() else { return };
        let armed = slot.armed.get_or_insert_with(|| Armed::new(code));
        for (index, is_set) in changes {
            if is_set {
                armed.indices.insert(index);
                armed.instructions.arm(index);
            } else {
                armed.indices.remove(&index);
                armed.guards.remove(&index);
                armed.instructions.disarm(index, &code.instructions);
            }
        }
        armed.free = CheckedCode::free(&armed.instructions);
        for guarded in armed.guards.keys() {
            armed.free.guard(&code.instructions, *guarded);
        }
        if armed.indices.is_empty() {
            slot.armed = None;
        }
    }

    /// Removes a breakpoint; whether there was one.
    pub fn clear_breakpoint(&mut self, function: FunctionId, offset: BytecodeOffset) -> bool {
        let Some(slot) = self.slot_index(function) else { return false };
        let Some(index) = stoppable_index(self.code(slot), offset) else { return false };
        let slot = &mut self.functions[slot as usize];
        let (Some(armed), Some(code)) = (&mut slot.armed, slot.code.get()) else { return false };
        let removed = armed.indices.remove(&index);
        armed.guards.remove(&index);
        armed.instructions.disarm(index, &code.instructions);
        armed.update(code, index);
        if armed.indices.is_empty() {
            slot.armed = None;
        }
        removed
    }

    /// Lets a guard decide whether a breakpoint stops while nobody observes; without one it always
    /// does. Whether there is a breakpoint.
    pub fn set_guard(
        &mut self,
        function: FunctionId,
        offset: BytecodeOffset,
        guard: Option<Guard>,
    ) -> bool {
        let Some(slot) = self.slot_index(function) else { return false };
        let Some(index) = stoppable_index(self.code(slot), offset) else { return false };
        let slot = &mut self.functions[slot as usize];
        let (Some(armed), Some(code)) = (&mut slot.armed, slot.code.get()) else { return false };
        if !armed.indices.contains(&index) {
            return false;
        }
        match guard {
            Some(guard) => {
                let handler = fusion::alone(&code.instructions, index as usize);
                armed.guards.insert(index, Guarded { guard, handler });
            }
            None => {
                armed.guards.remove(&index);
            }
        }
        armed.update(code, index);
        true
    }

    /// All breakpoints.
    pub fn breakpoints(&self) -> impl Iterator<Item = (FunctionId, BytecodeOffset)> {
        self.functions.iter().flat_map(|slot| {
            let indices = slot.armed.iter().flat_map(|armed| armed.indices.iter());
            indices.filter_map(|index| Some((slot.id(), slot.code.get()?.offset_at(*index))))
        })
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

    /// Runs all initialisers to their end, whatever breakpoints there are;
    /// [`Invocation::initialize`] does it step by step.
    ///
    /// # Errors
    /// One of them failed.
    pub fn initialize(&mut self) -> Result<(), Failure> {
        let mut invocation = Invocation::initialize(self);
        loop {
            match invocation.run(self) {
                Outcome::Completed(_) => return Ok(()),
                Outcome::Failed(failure) => return Err(failure),
                Outcome::Yielded | Outcome::Stopped(_) => {}
            }
        }
    }
}

/// The instruction at `offset`, or the one behind it if it is a block marker.
fn stoppable_index(code: &FunctionCode, offset: BytecodeOffset) -> Option<u32> {
    let index = code.index_of(offset)?;
    let is_marker = code.instructions[index as usize].code == Code::Block;
    Some(if is_marker { index + 1 } else { index })
}

impl fmt::Display for FunctionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.module.0, self.function.0)
    }
}
