//! The dispatch at which a program stands, with copies of its tensors: what is needed to run it
//! again elsewhere.

use std::collections::HashMap;

use abi::tensor::Tensor;
use debuginfo::DebugFile;
use vm::FrameIndex;

use super::standing_dispatch::StandingDispatch;
use crate::machine::Machine;
use crate::target::module::LoadedModule;
use crate::target::program::Program;
use crate::view::frame::SourceLine;

/// A dispatch as the program stands before or after it.
#[derive(Clone, Debug)]
pub struct DispatchState {
    /// The export that it runs.
    pub export: String,
    /// The number of its command.
    pub number: u64,
    /// The operation of the source that it was made from.
    pub source: Option<SourceLine>,
    /// Its numbers.
    pub numbers: Vec<u32>,
    /// Whether it has run.
    pub has_run: bool,
    /// Its tensors.
    pub operands: Vec<OperandState>,
}

/// A tensor of such a dispatch.
#[derive(Clone, Debug)]
pub struct OperandState {
    /// Its name in the source, if it is known.
    pub name: Option<String>,
    /// Shape and element type.
    pub tensor_type: String,
    /// Whether the dispatch reads it.
    pub is_read: bool,
    /// Whether the dispatch writes it.
    pub is_written: bool,
    /// A copy of what is in it now; `None` if the dispatch's memory does not contain it.
    pub tensor: Option<Tensor>,
}

/// The text that a dispatch was compiled from.
#[derive(Clone, Debug)]
pub struct DispatchText<'a> {
    /// The sources of all dispatches of the module.
    pub sources: &'a str,
    /// The module's debug file.
    pub debug_file: Option<&'a DebugFile>,
    /// Where the module was loaded from.
    pub module: Option<&'a std::path::Path>,
}

/// Why a dispatch cannot be copied with its tensors.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoDispatchState {
    /// The program stands at no dispatch that has begun.
    #[error("this frame belongs to no dispatch")]
    NoDispatch,
    /// The program was compiled without what is kept for debugging.
    #[error(
        "the source of @{export} is not there; compile the program with `iree-dbg compile`, which \
         keeps it"
    )]
    WithoutSource {
        /// The dispatch.
        export: String,
    },
    /// Its bindings do not say which tensors are in them.
    #[error("where the tensors of @{export} are is not known")]
    TensorsNotKnown {
        /// The dispatch.
        export: String,
    },
}

impl Machine {
    /// The export that the dispatch runs at which the program stands.
    #[must_use]
    pub fn dispatch_export(&self) -> Option<String> {
        let dispatch = self.dispatch(FrameIndex(0))?;
        let export = dispatch.executable.exports().get(dispatch.dispatch.export)?;
        Some(export.name.clone())
    }

    /// Whether the program stands right after a dispatch.
    #[must_use]
    pub fn stands_after_dispatch(&self) -> bool {
        self.has_just_run(FrameIndex(0)) && self.dispatch(FrameIndex(0)).is_some()
    }

    /// The dispatch at which the program stands, with copies of all of its tensors.
    ///
    /// # Errors
    /// The program stands at no dispatch that has begun, or the tensors of it are not known.
    pub fn dispatch_state(&self) -> Result<DispatchState, NoDispatchState> {
        let standing = self.standing_dispatch().ok_or(NoDispatchState::NoDispatch)?;
        let StandingDispatch { export, number, source, constants, operands, .. } = standing;
        let Some(interface) = self.program.dispatch_interface(&export) else {
            return Err(NoDispatchState::WithoutSource { export });
        };
        if operands.len() != interface.tensor_count() {
            return Err(NoDispatchState::TensorsNotKnown { export });
        }
        let operands = operands.into_iter().map(|operand| OperandState {
            name: operand.name,
            is_read: operand.is_read,
            is_written: operand.is_written,
            tensor: operand.tensor.and_then(|it| it.tensor()),
            tensor_type: operand.tensor_type,
        });
        Ok(DispatchState {
            number,
            source,
            numbers: constants,
            has_run: self.has_just_run(FrameIndex(0)),
            operands: operands.collect(),
            export,
        })
    }
}

/// A dispatch as a function of the program of tensors.
#[derive(Clone, Debug)]
pub struct DispatchArguments {
    /// Which text of [`Program::flow_texts`] has the function, by the name of the export.
    pub text: usize,
    /// For each of the dispatch's operands, which argument of that function it is, if that is
    /// known.
    pub operands: Vec<Option<usize>>,
    /// The numbers that the count of workgroups is computed from, by ordinal, as far as known.
    pub workload: HashMap<usize, u64>,
}

impl Program {
    /// For each module, the program of tensors (the phase `flow`) that is kept beside it.
    #[must_use]
    pub fn flow_texts(&self) -> Vec<Option<String>> {
        self.modules.iter().map(|it| it.debug_file.as_ref()?.flow().ok()?).collect()
    }

    /// A dispatch as a function of the program of tensors, given its numbers.
    #[must_use]
    pub fn dispatch_arguments(&self, export: &str, numbers: &[u32]) -> Option<DispatchArguments> {
        let mut modules = self.modules.iter().enumerate();
        let (text, module) = modules.find(|(_, it)| it.interfaces.of(export).is_some())?;
        let interface = module.interfaces.of(export)?;
        let operands = module.tensors()?.program.interface_arguments(export, interface);
        Some(DispatchArguments { text, operands, workload: interface.workload(numbers) })
    }

    /// The text that a dispatch was compiled from, by its exported name.
    #[must_use]
    pub fn dispatch_text(&self, export: &str) -> Option<DispatchText<'_>> {
        let has_it = |it: &&LoadedModule| it.interfaces.of(export).is_some();
        let module = self.modules.iter().find(has_it)?;
        let sources = module.dispatch_sources.as_ref()?;
        Some(DispatchText {
            sources: std::str::from_utf8(sources.owned()).ok()?,
            debug_file: module.debug_file.as_ref(),
            module: module.path.as_deref(),
        })
    }
}
