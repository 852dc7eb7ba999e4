//! What a run leaves on the lines of its sources: figures of each tensor whose name is proven,
//! taken from memory when its dispatch has run. The tensors themselves are not kept.

use std::collections::{BTreeMap, HashSet};

use abi::tensor::Tensor;
use debuginfo::{DebugFile, KeptSource, NamedPosition, SourceTensor, StepValueId};

use super::all_tensors::AllTensors;
use super::source_evaluation::Known;
use crate::machine::Machine;
use crate::tensor::Summary;
use crate::view::frame::FrameId;

/// Collects figures while a program runs.
#[derive(Default)]
pub struct LineValues {
    all: AllTensors,
    seen: HashSet<StepValueId>,
    found: Vec<(NamedPosition, LineFigures)>,
}

/// A tensor of a source, and what was in it.
#[derive(Clone, Debug)]
pub struct LineFigures {
    /// Its name: `%dot`.
    pub name: String,
    /// The line of the operation that defines it, or of the argument's name; from 1.
    pub line: u32,
    /// The inlined calls around it as `file:line`, innermost first.
    pub calls: Vec<String>,
    /// Shape and element type.
    pub tensor_type: String,
    /// Figures of all its elements.
    pub summary: Summary,
}

impl LineValues {
    /// Notes what the dispatch has left, and read, that has just run in a frame.
    pub fn keep(&mut self, machine: &Machine, frame: FrameId) {
        self.all.keep(machine, frame);
        self.all.forget_unnamed();
        let Some(steps) = self.all.steps() else { return };
        for (id, tensor) in self.all.kept_mut() {
            if !self.seen.insert(*id) {
                continue;
            }
            // Its place stays, so that it is not read again.
            let empty = Tensor { shape: Vec::new(), bytes: Vec::new(), ..*tensor };
            let tensor = std::mem::replace(tensor, empty);
            let figures = |source: &SourceTensor| {
                let known = Known::memory(tensor.clone());
                let view = known.view(Some(&source.tensor_type)).ok()?;
                let call = |at: &NamedPosition| format!("{}:{}", at.file, at.line);
                let figures = LineFigures {
                    name: source.name.clone(),
                    line: source.at.line,
                    calls: source.calls.iter().map(call).collect(),
                    tensor_type: view.type_name(),
                    summary: view.summary(usize::MAX)?,
                };
                Some((source.at.clone(), figures))
            };
            self.found.extend(steps.tensors(*id).iter().filter_map(figures));
        }
    }

    /// The figures of each source whose compiled text is known by its digest, in the order of its
    /// lines.
    #[must_use]
    pub fn finish(self, machine: &Machine) -> Vec<(KeptSource, Vec<LineFigures>)> {
        let mut by_file: BTreeMap<String, Vec<(u32, LineFigures)>> = BTreeMap::new();
        for (at, figures) in self.found {
            by_file.entry(at.file).or_default().push((at.column, figures));
        }
        let module = self.all.module().and_then(|index| machine.program.module(index));
        let manifest = module.and_then(|it| it.debug_file.as_ref()).map(DebugFile::manifest);
        let sources = manifest.map(|it| it.sources.as_slice()).unwrap_or_default();
        let known = by_file.into_iter().filter_map(|(file, mut values)| {
            let source = sources.iter().find(|it| it.name == file)?.clone();
            values.sort_by_key(|(column, it)| (it.line, *column));
            Some((source, values.into_iter().map(|(_, it)| it).collect()))
        });
        known.collect()
    }
}
