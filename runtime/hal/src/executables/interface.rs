//! The interface of executables: compiled dispatches, in any format.
//!
//! A program passes the bytes of an executable and the name of their format; [`super::load()`]
//! finds the implementation. Everything else knows only the trait: the exports, and how to run some
//! workgroups of a dispatch on the calling thread, until they are done or a [`RunControl`] stops
//! them.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vm::{Object, RunControl};

use super::dispatch::Dispatch;
use super::foreign::Foreign;
use super::halt::Halt;

/// A function of an executable that a dispatch can name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Export {
    /// Its name; empty if it was stripped.
    pub name: String,
    /// The number of 32-bit constants that it takes, if that is known.
    pub constant_count: Option<usize>,
    /// The number of buffers that it works on, if that is known.
    pub binding_count: Option<usize>,
    /// The scratch memory of each workgroup, in bytes.
    pub local_memory_bytes: usize,
    /// The size that workgroups were compiled for, if that is fixed.
    pub workgroup_size: Option<[u32; 3]>,
    /// Its place in the source, if the executable says.
    pub source: Option<SourceLocation>,
    /// Sources that the compiler embedded: the stage of compilation and the text of each.
    pub embedded_sources: Vec<(String, String)>,
}

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceLocation {
    /// The file, as it was named to the compiler.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A nested module of bytecode whose exports are dispatches.
#[derive(Clone, Debug)]
pub struct Bytecode {
    /// The verified module.
    pub module: vmfb::verify::VerifiedModule,
    /// The function of each export.
    pub functions: Vec<vmfb::FunctionOrdinal>,
}

/// A loaded executable.
pub trait Executable: Send + Sync + Debug {
    /// The name of the format, such as `vmvx-bytecode-fb`.
    fn format(&self) -> &str;

    /// The functions that a dispatch can name.
    fn exports(&self) -> &[Export];

    /// Runs the workgroups of `range`, numbered with x fastest, on the calling thread. Several
    /// threads may do so at the same time with different ranges. Each workgroup costs at least one
    /// step of the budget.
    ///
    /// # Errors
    /// A workgroup failed, possibly as the budget is used up; or a stop was requested.
    fn run(&self, dispatch: &Dispatch, range: Range<u64>, control: &RunControl)
    -> Result<(), Halt>;

    /// Itself, if its code is in a sandbox, which has threads of its own.
    fn sandboxed(&self) -> Option<&dyn Any> {
        None
    }

    /// Itself, if its dispatches run whole on a device that has an order of workgroups of its own.
    fn whole(&self) -> Option<&dyn Any> {
        None
    }

    /// How long its device worked on its last dispatch, by the device's own clock, if it has one.
    fn device_time(&self) -> Option<Duration> {
        None
    }

    /// The name of an export, or its number if the names were stripped.
    fn name_of(&self, export: usize) -> Cow<'_, str> {
        match self.exports().get(export) {
            Some(export) if !export.name.is_empty() => Cow::Borrowed(&export.name),
            _ => Cow::Owned(format!("#{export}")),
        }
    }

    /// The nested module, if the executable is one: a debugger calls its functions instead of
    /// [`Self::run`].
    fn bytecode(&self) -> Option<&Bytecode> {
        None
    }

    /// Whether it is bytecode that stands for an executable of another device.
    fn is_stand_in(&self) -> bool {
        false
    }

    /// Whether its code does not run, as a recording has the results of its dispatches.
    fn is_recorded(&self) -> bool {
        false
    }

    /// The executable as one for a device that is not here.
    fn foreign(&self) -> Option<&Foreign> {
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
