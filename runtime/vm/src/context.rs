//! Contexts: modules linked to each other, with their globals and breakpoints.

use std::sync::Arc;

use abi::cconv::Signature;
use vmfb::verify::VerifiedModule;
use vmfb::{BytecodeOffset, FunctionOrdinal, Module};

use crate::limits::ExecutionLimits;
use crate::native::NativeModule;
use crate::status::Status;
use crate::value::Ref;

/// A module's place in its context, in the order of registration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModuleIndex(pub u32);

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
    Native,
}

/// Why modules cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Nothing provides an import that must be there.
    #[error("module {module} needs {import} ({signature}), and {reason}")]
    MissingImport {
        /// The module that asks.
        module: String,
        /// The full name that it asks for.
        import: String,
        /// The calling convention that it asks for.
        signature: String,
        /// Which part is missing and what can be done.
        reason: String,
    },
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

/// Collects modules, then links them.
#[derive(Default)]
pub struct ContextBuilder {
    limits: ExecutionLimits,
    bytecode: Vec<VerifiedModule>,
    native: Vec<NativeModule>,
}

impl ContextBuilder {
    /// Adds a bytecode module. Modules see those added before them.
    #[must_use]
    pub fn add_bytecode(mut self, module: VerifiedModule) -> Self {
        self.bytecode.push(module);
        self
    }

    /// Adds a native module.
    #[must_use]
    pub fn add_native(mut self, module: NativeModule) -> Self {
        self.native.push(module);
        self
    }

    /// Bounds on what the program may use.
    #[must_use]
    pub fn limits(mut self, limits: ExecutionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Links the modules. Their initialisers have not run yet: run [`crate::Invocation::initialize`].
    ///
    /// # Errors
    /// An import that must be there is missing or has another signature.
    pub fn link(self) -> Result<Context, LinkError> {
        Ok(Context { limits: self.limits })
    }
}

/// Linked modules with their globals, and the breakpoints set in them.
#[derive(Debug)]
pub struct Context {
    limits: ExecutionLimits,
}

#[expect(unused_variables, reason = "the interface comes first")]
impl Context {
    /// Starts a context.
    #[must_use]
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// The bounds in force.
    #[must_use]
    pub fn limits(&self) -> &ExecutionLimits {
        &self.limits
    }

    /// The modules, in order of registration.
    pub fn modules(&self) -> impl Iterator<Item = (ModuleIndex, &str, ModuleKind<'_>)> {
        std::iter::empty()
    }

    /// The bytecode module at `index`; `None` for native ones.
    #[must_use]
    pub fn bytecode_module(&self, index: ModuleIndex) -> Option<&Arc<Module>> {
        None
    }

    /// The exported function `module.function`; a name without a dot is looked for in the modules
    /// from the last registered to the first.
    #[must_use]
    pub fn lookup(&self, name: &str) -> Option<FunctionId> {
        None
    }

    /// A function's name: its (first) export name, or `@<ordinal>`; empty if there is none.
    #[must_use]
    pub fn function_name(&self, function: FunctionId) -> String {
        String::new()
    }

    /// A function's signature, if it has a calling convention.
    #[must_use]
    pub fn signature(&self, function: FunctionId) -> Option<Signature> {
        None
    }

    /// Where each instruction of a bytecode function starts, ascending.
    #[must_use]
    pub fn instruction_offsets(&self, function: FunctionId) -> Vec<BytecodeOffset> {
        Vec::new()
    }

    /// Sets a breakpoint: the invocation stops before the instruction at `offset` runs. Setting it
    /// twice is the same as once. May be done at any time while nothing runs.
    ///
    /// # Errors
    /// No instruction starts there.
    pub fn set_breakpoint(
        &mut self,
        function: FunctionId,
        offset: BytecodeOffset,
    ) -> Result<(), BreakpointError> {
        Ok(())
    }

    /// Removes a breakpoint; whether there was one.
    pub fn clear_breakpoint(&mut self, function: FunctionId, offset: BytecodeOffset) -> bool {
        false
    }

    /// All breakpoints.
    pub fn breakpoints(&self) -> impl Iterator<Item = (FunctionId, BytecodeOffset)> {
        std::iter::empty()
    }

    /// The primitive globals of a module: bytes that instructions address by offset.
    #[must_use]
    pub fn global_bytes(&self, module: ModuleIndex) -> &[u8] {
        &[]
    }

    /// The primitive globals of a module, to change them.
    pub fn global_bytes_mut(&mut self, module: ModuleIndex) -> &mut [u8] {
        &mut []
    }

    /// The ref globals of a module.
    #[must_use]
    pub fn global_refs(&self, module: ModuleIndex) -> &[Ref] {
        &[]
    }

    /// The ref globals of a module, to change them.
    pub fn global_refs_mut(&mut self, module: ModuleIndex) -> &mut [Ref] {
        &mut []
    }

    /// Runs all initialisers to their end; [`crate::Invocation::initialize`] does it step by step.
    ///
    /// # Errors
    /// One of them failed; the message has its backtrace.
    pub fn initialize(&mut self) -> Result<(), Status> {
        Ok(())
    }
}
