//! The tensors that dispatches leave, one row for each.

use debuginfo::OperandAccess;
use hal::ResolvedDispatch;

use super::dispatch::DispatchPlace;
use super::tensor_memory::OperandName;
use crate::machine::Machine;
use crate::tensor::{Summary, TensorView};
use crate::view::absent::Absent;
use crate::view::frame::{FrameId, SourceLine};

/// A tensor that a dispatch of the model leaves.
#[derive(Clone, Debug)]
pub struct TensorEntry {
    /// Its names in the source; empty if none is known.
    pub names: Vec<String>,
    /// Its names in the framework's layers: `blocks.2.scores`.
    pub in_layers: Vec<String>,
    /// Where the dispatch has it that has just run, as expressions say it: `operand[1]`.
    pub place: Option<String>,
    /// The export that makes it.
    pub dispatch: String,
    /// The operation of the source that it was made for.
    pub source: Option<SourceLine>,
    /// Shape and element type, as far as they are known without the tensor.
    pub tensor_type: String,
    /// The tensor, or the reason why it cannot be shown.
    pub value: Result<TensorView, Absent>,
}

impl TensorEntry {
    /// Statistics of all its elements; `None` if it cannot be shown, or has no numbers.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        self.value.as_ref().ok()?.summary(usize::MAX)
    }
}

impl Machine {
    /// The tensors that the dispatches of a frame's function leave, in the order of the model.
    #[must_use]
    pub fn tensor_list(&self, frame: FrameId) -> Vec<TensorEntry> {
        self.tensors_called(frame, |_| true)
    }

    /// Those of them that have a wanted name among theirs.
    fn tensors_called(
        &self,
        frame: FrameId,
        is_wanted: impl Fn(&[String]) -> bool,
    ) -> Vec<TensorEntry> {
        let Some(stand) = self.stand(frame) else { return Vec::new() };
        let results = stand.tensors.results(stand.function);
        let entries = results.filter_map(|(chain, export, value)| {
            let known = stand.tensors.function(stand.function).map(|it| it.value(value));
            let names = known.map(|it| it.names.as_slice()).unwrap_or_default();
            // A padded tensor is shown without what is around it.
            let part = known.and_then(|it| it.parts.first()).filter(|_| names.is_empty());
            let own = part.map_or(names, |part| std::slice::from_ref(&part.tensor));
            let node = stand.tensors.node(stand.function, value).map(str::to_owned);
            let all: Vec<String> = own.iter().map(|it| it.name.clone()).chain(node).collect();
            // The tensor itself may have to be looked for.
            if !is_wanted(&all) {
                return None;
            }
            let shown = match part {
                Some(part) => self.part_at(&stand, part),
                None => self.value_at(&stand, value, names.first()),
            };
            let source = chain.and_then(|chain| chain.first());
            Some(TensorEntry {
                names: all,
                in_layers: stand.tensors.names_in_layers(stand.function, value).to_vec(),
                place: None,
                dispatch: export.to_owned(),
                source: source.and_then(|at| self.line_of_place(at)),
                tensor_type: match (&shown, part) {
                    (Ok(tensor), _) => tensor.type_name(),
                    (Err(_), Some(part)) => part.tensor.tensor_type.clone(),
                    (Err(_), None) => known.map(|it| it.tensor_type.clone()).unwrap_or_default(),
                },
                value: shown,
            })
        });
        entries.collect()
    }

    /// Why a tensor that a dispatch leaves cannot be shown; `None`: it can, or nothing leaves it.
    pub(super) fn why_no_tensor(&self, frame: FrameId, name: &str) -> Option<Absent> {
        let is_it = |known: &String| known.strip_prefix('%') == Some(name);
        let found = self.tensors_called(frame, |names| names.iter().any(is_it));
        match found.into_iter().next() {
            Some(entry) => entry.value.err(),
            None => self.why_no_value(frame, &format!("%{name}")),
        }
    }

    /// The tensors that the dispatch of a frame has left, if it has just run.
    #[must_use]
    pub fn tensors_left(&self, frame: FrameId) -> Vec<TensorEntry> {
        let Some(dispatch) = self.dispatch(frame.index).filter(|_| self.has_just_run(frame.index))
        else {
            return Vec::new();
        };
        let export = dispatch.executable.exports().get(dispatch.dispatch.export);
        let export = export.map(|export| export.name.clone()).unwrap_or_default();
        let source = self.dispatch_source(frame.index);
        let known = self.known_operands(frame.index, &dispatch);
        let entry = |place: Option<&DispatchPlace>, tensor_type: String, value| {
            let known = place.and_then(|it| it.of(&known));
            TensorEntry {
                names: known.into_iter().flat_map(OperandName::names).map(str::to_owned).collect(),
                in_layers: known.map(|it| it.in_layers.clone()).unwrap_or_default(),
                place: place.map(ToString::to_string),
                dispatch: export.clone(),
                source: source.clone(),
                tensor_type,
                value,
            }
        };
        let encoded = self.encoded_tensors(&dispatch);
        // Memory that has encoded tensors has no type that its dispatch's name could tell.
        let is_shown = |place: &DispatchPlace| match place {
            DispatchPlace::Operand(_) => true,
            DispatchPlace::Binding(_) => encoded.is_empty(),
        };
        let written = self.written_tensors(&dispatch).into_iter();
        let shown = written
            .filter(|(place, _)| is_shown(place))
            .map(|(place, tensor)| entry(Some(&place), tensor.type_name(), Ok(tensor)));
        let written = encoded.iter().filter(|(_, access)| *access != OperandAccess::Read);
        let withheld =
            written.map(|(of_type, _)| entry(None, of_type.clone(), Err(Absent::Encoded)));
        shown.chain(withheld).collect()
    }

    /// Types and uses of the encoded tensors of a dispatch, if its source is there.
    fn encoded_tensors(&self, dispatch: &ResolvedDispatch) -> Vec<(String, OperandAccess)> {
        let export = dispatch.executable.exports().get(dispatch.dispatch.export);
        let interface = export.and_then(|export| self.program.dispatch_interface(&export.name));
        let constants = &dispatch.dispatch.constants;
        interface.map(|it| it.encoded_types(constants)).unwrap_or_default()
    }
}
