//! What a breakpoint is asked for, and how that is resolved in a program.

use debuginfo::TensorOperationId;
use vm::{Boundary, BoundaryKind, ModuleIndex};

use crate::inspect::watch_target::WatchTarget;
use crate::target::level::Level;
use crate::target::program::Program;
use crate::target::resolve::Resolution;
use crate::view::address::LinearAddress;

/// Identifies a breakpoint as long as the session lives; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BreakpointId(pub u32);

/// What a breakpoint was asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BreakpointSpec {
    /// A line of a source file, counted from 1.
    Line {
        /// The file, as the client names it.
        file: String,
        /// Counted from 1.
        line: u32,
        /// Counted from 1; chooses one of several operations on the line.
        column: Option<u32>,
    },
    /// A line of a module's disassembly, counted from 1.
    ListingLine {
        /// The module.
        module: ModuleIndex,
        /// Counted from 1.
        line: u32,
    },
    /// The first instruction of functions, and the calls of imports.
    Function {
        /// The name of an export, an internal function, an inlined function or an import, or
        /// `module.function`; `*` stands for any text and `?` for any character.
        name: String,
    },
    /// One instruction.
    Instruction {
        /// Its address.
        address: LinearAddress,
    },
    /// A use of data: a watchpoint.
    Data {
        /// The data.
        target: WatchTarget,
        /// The use.
        access: DataAccess,
    },
    /// One dispatch of the program of tensors, before it runs. Others may share its code.
    Operation {
        /// The dispatch.
        operation: TensorOperationId,
    },
    /// Dispatches on a device, whatever executes them.
    Dispatch {
        /// A pattern of their names: `*` stands for any text and `?` for any character.
        pattern: String,
        /// When to stop.
        when: DispatchMoment,
    },
}

/// When a breakpoint on dispatches stops.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum DispatchMoment {
    /// Before the first workgroup runs.
    #[default]
    Before,
    /// When all workgroups have run.
    After,
}

/// The use of data that a data breakpoint looks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataAccess {
    /// The data is read.
    Read,
    /// It is written, with any value.
    Write,
    /// Its value changes.
    Change,
    /// It is read or written.
    ReadWrite,
}

impl BreakpointSpec {
    /// Resolves the breakpoint in a program.
    #[must_use]
    pub fn resolve(&self, program: &Program) -> Resolution {
        match self {
            Self::Line { file, line, column } => program.resolve_line(file, *line, *column),
            Self::ListingLine { module, line } => program.resolve_listing_line(*module, *line),
            Self::Function { name } => program.resolve_function(name),
            Self::Instruction { address } => program.resolve_instruction(*address),
            Self::Operation { operation } => program.resolve_operation(*operation),
            Self::Dispatch { pattern, .. } => program.resolve_dispatch(pattern),
            Self::Data { .. } => Resolution::default(),
        }
    }

    /// The level whose names and lines the breakpoint means: that of the text in which it is set,
    /// or else the level that is shown.
    #[must_use]
    pub fn level(&self, program: &Program, shown: Level) -> Level {
        match self {
            Self::Line { file, .. } if program.is_listing(file) => Level::Vm,
            Self::Line { file, .. } if program.is_python(file) => Level::Python,
            Self::Line { .. } => Level::Source,
            Self::ListingLine { .. } => Level::Disassembly,
            Self::Function { .. }
            | Self::Instruction { .. }
            | Self::Operation { .. }
            | Self::Dispatch { .. }
            | Self::Data { .. } => shown,
        }
    }

    /// Whether it means the dispatch at a boundary of native code.
    pub(super) fn fits(&self, boundary: &Boundary) -> bool {
        let Self::Dispatch { pattern, when } = self else { return false };
        let moment = match boundary.kind {
            BoundaryKind::BeforeStep => DispatchMoment::Before,
            BoundaryKind::AfterStep => DispatchMoment::After,
            BoundaryKind::BeforePart => return false,
        };
        // Only dispatches have a name.
        moment == *when && !boundary.name.is_empty() && abi::glob::matches(pattern, &boundary.name)
    }
}
