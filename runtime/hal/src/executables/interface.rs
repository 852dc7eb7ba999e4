//! Executables: compiled dispatches, whatever they are made of.
//!
//! A program hands over the bytes of an executable with the name of their format; [`load`] finds
//! who can run it. From then on everything else knows only the trait: names and sizes of exports,
//! and how to run some workgroups of a dispatch on the calling thread, as far as a [`RunControl`]
//! lets it.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use vm::{Object, RunControl};

use super::dispatch::Dispatch;
use super::halt::Halt;

/// A function of an executable that a dispatch can name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Export {
    /// Its name; empty if it was stripped.
    pub name: String,
    /// How many 32-bit constants it takes, if that is known.
    pub constant_count: Option<usize>,
    /// How many buffers it works on, if that is known.
    pub binding_count: Option<usize>,
    /// Bytes of scratch memory that each workgroup gets.
    pub local_memory_bytes: usize,
    /// The size that workgroups were compiled for, if that is fixed.
    pub workgroup_size: Option<[u32; 3]>,
    /// Where it comes from, if it says.
    pub source: Option<SourceLocation>,
    /// Sources that the compiler embedded: what they are of (a stage of compilation) and their
    /// text.
    pub embedded_sources: Vec<(String, String)>,
}

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLocation {
    /// The file as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A nested module of bytecode whose exports are dispatches.
#[derive(Clone, Debug)]
pub struct Bytecode {
    /// The verified module.
    pub module: vmfb::verify::VerifiedModule,
    /// The function in it for each export.
    pub functions: Vec<vmfb::FunctionOrdinal>,
}

/// Compiled dispatches that were loaded.
pub trait Executable: Send + Sync + Debug {
    /// The name of the format, such as `vmvx-bytecode-fb`.
    fn format(&self) -> &str;

    /// The functions that a dispatch can name.
    fn exports(&self) -> &[Export];

    /// Runs workgroups `range`, counted with x fastest, on the calling thread. Several threads may
    /// do so at the same time with different ranges. Each workgroup costs a step of the budget at
    /// least.
    ///
    /// # Errors
    /// A workgroup failed, which may be because the budget is used up; or somebody asked for a
    /// stop.
    fn run(&self, dispatch: &Dispatch, range: Range<u64>, control: &RunControl)
    -> Result<(), Halt>;

    /// The name of an export, or its number if the names were stripped.
    fn name_of(&self, export: usize) -> Cow<'_, str> {
        match self.exports().get(export) {
            Some(export) if !export.name.is_empty() => Cow::Borrowed(&export.name),
            _ => Cow::Owned(format!("#{export}")),
        }
    }

    /// The nested module, where the executable is one: a debugger runs it instead of [`Self::run`].
    fn bytecode(&self) -> Option<&Bytecode> {
        None
    }
}

/// `!hal.executable`: a ref to an executable.
#[derive(Clone, Debug)]
pub struct ExecutableRef(pub Arc<dyn Executable>);

impl Object for ExecutableRef {
    fn type_name(&self) -> &str {
        "hal.executable"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
