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

use vm::{Object, RunControl, Status};

use crate::refusals::RECOMPILE;

pub use self::halt::{Halt, Interrupted, PausedWorkgroup};

mod halt;
pub mod machine;
pub mod native;
pub mod pool;
pub mod vmvx;

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

/// What one dispatch works on, with all buffers resolved.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Index into [`Executable::exports`].
    pub export: usize,
    /// How many workgroups in x, y and z.
    pub workgroup_count: [u32; 3],
    /// How many invocations a workgroup has, 1 on CPUs.
    pub workgroup_size: [u32; 3],
    /// Push constants.
    pub constants: Arc<[u32]>,
    /// The memory that it works on.
    pub bindings: Vec<Binding>,
    /// Scratch memory that the dispatch asks for beyond what the export declares, in bytes.
    pub local_memory_bytes: usize,
}

/// A range of memory that a dispatch works on.
#[derive(Clone, Debug)]
pub struct Binding {
    memory: Arc<vm::Buffer>,
    offset: usize,
    length: usize,
}

impl Binding {
    /// A range of a buffer.
    ///
    /// # Errors
    /// The buffer does not have it.
    pub fn new(memory: Arc<vm::Buffer>, offset: usize, length: usize) -> Result<Self, Status> {
        memory.check(offset, length)?;
        Ok(Self { memory, offset, length })
    }

    /// The address of the first byte, valid while the binding lives.
    #[must_use]
    pub fn address(&self) -> *mut u8 {
        self.memory.address().wrapping_add(self.offset)
    }

    /// Bytes in the range.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Exactly the range as a buffer that shares the memory.
    ///
    /// # Errors
    /// None: the range was checked.
    pub fn view(&self) -> Result<Arc<vm::Buffer>, Status> {
        if self.offset == 0 && self.length == self.memory.len() {
            return Ok(self.memory.clone());
        }
        Ok(Arc::new(self.memory.subspan(self.offset, self.length)?))
    }
}

impl Dispatch {
    /// How many workgroups there are.
    #[must_use]
    pub fn total_workgroups(&self) -> u64 {
        // Three 32-bit factors fit 96 bits; more than 64 bits' worth would never end anyway.
        self.workgroup_count
            .iter()
            .fold(1, |total: u64, count| total.saturating_mul((*count).into()))
    }

    /// A failure with the workgroup that it was in, and the name of the dispatch.
    #[must_use]
    pub fn explain(&self, name: &str, workgroup: u64, status: Status) -> Status {
        let [x, y, z] = self.workgroup(workgroup);
        let Status { code, message } = status;
        let text = format!("{message}; in workgroup ({x}, {y}, {z}) of dispatch @{name}");
        Status::new(code, text)
    }

    /// Workgroup number `index`, counted with x fastest, as x, y and z.
    #[must_use]
    pub fn workgroup(&self, index: u64) -> [u32; 3] {
        workgroup(self.workgroup_count, index)
    }
}

/// Workgroup number `index` of so many, counted with x fastest, as x, y and z.
#[must_use]
pub fn workgroup(counts: [u32; 3], index: u64) -> [u32; 3] {
    let [x, y, _] = counts.map(|count| u64::from(count.max(1)));
    [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
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

/// Whether machine code may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NativeCode {
    /// The user launched the program: its code is as trusted as any they launch.
    #[default]
    Allowed,
    /// Only bytecode runs.
    Refused,
}

/// Loads an executable of any format that can run here. `data` stays alive with the executable, so
/// that nothing needs to be copied; `constants` are those that the program specialises it with;
/// `limits` bound each workgroup of bytecode.
///
/// # Errors
/// The format is for other devices, or the data is not what it claims to be.
pub fn load(
    format: &str,
    data: &Arc<vm::Buffer>,
    constants: &[u32],
    native_code: NativeCode,
    limits: &vm::ExecutionLimits,
) -> Result<Arc<dyn Executable>, Status> {
    match format {
        vmvx::FORMAT => Ok(Arc::new(vmvx::VmvxExecutable::load(data, constants, limits)?)),
        _ if native::FORMATS.contains(&format) => {
            Ok(Arc::new(native::NativeExecutable::load(format, data, constants, native_code)?))
        }
        _ => Err(unsupported(format)),
    }
}

/// Whether [`load`] loads the format: what programs ask before they create executables.
#[must_use]
pub fn is_supported(format: &str, native_code: NativeCode) -> bool {
    format == vmvx::FORMAT
        || native_code == NativeCode::Allowed && native::FORMATS.contains(&format)
}

/// Says what to do about an executable for a device that is not there.
fn unsupported(format: &str) -> Status {
    Status::new(
        vm::StatusCode::Incompatible,
        format!("executables of format '{format}' cannot run here; {RECOMPILE}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workgroups_are_counted_with_x_fastest() {
        let dispatch = Dispatch {
            export: 0,
            workgroup_count: [3, 2, 4],
            workgroup_size: [1; 3],
            constants: Arc::default(),
            bindings: Vec::new(),
            local_memory_bytes: 0,
        };
        assert_eq!(dispatch.total_workgroups(), 24);
        assert_eq!(dispatch.workgroup(0), [0, 0, 0]);
        assert_eq!(dispatch.workgroup(2), [2, 0, 0]);
        assert_eq!(dispatch.workgroup(3), [0, 1, 0]);
        assert_eq!(dispatch.workgroup(23), [2, 1, 3]);
    }
}
