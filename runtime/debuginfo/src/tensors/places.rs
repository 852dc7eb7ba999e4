//! The places in the source of what dispatches do, and how places are compared.

use std::collections::{HashMap, HashSet};

use mlir::Meaning;
use mlir::linalg::Loops;
use mlir::table::Tensor;

use crate::mlir_text::{CallChain, LocationReader, NamedPosition};
use crate::source::functions::SourceFunction;

const EMPTY: Meaning = Meaning::Tensor(Tensor::Empty);
const FILL: Meaning = Meaning::Loops(Loops::Copy);

/// The places of the operations in dispatches.
pub(super) struct Places<'p> {
    pub(super) reader: LocationReader<'p>,
    pub(super) bodies: HashMap<String, BodyPlaces>,
}

/// The places of one dispatch's operations.
#[derive(Clone, Default)]
pub(super) struct BodyPlaces {
    /// Of the operations whose results are stored.
    pub(super) stored: Vec<CallChain>,
    pub(super) all: Vec<CallChain>,
}

impl Places<'_> {
    pub(super) fn of(&mut self, export: &str, body: &SourceFunction) -> BodyPlaces {
        if let Some(known) = self.bodies.get(export) {
            return known.clone();
        }
        let mut places = BodyPlaces::default();
        let mut stored = HashSet::new();
        for written in &body.operations {
            if written.name.ends_with("dispatch.tensor.store") {
                stored.extend(written.operands.first().copied());
            }
        }
        let block = body.operations.first().and_then(|it| it.regions.first());
        let operations = block.and_then(|it| it.blocks.first()).map(|it| it.operations.clone());
        for index in operations.unwrap_or_default() {
            let Some(written) = body.operations.get(index) else { continue };
            let meaning = mlir::meaning(&written.name);
            let is_work = written.name.starts_with("linalg.")
                || written.name.starts_with("iree_linalg_ext.")
                || (written.name.starts_with("tensor.") && meaning != Some(EMPTY));
            let is_stored = written.results.iter().any(|it| stored.contains(it));
            if !is_work && !is_stored {
                continue;
            }
            let chains = body.location(index).map(|it| self.reader.paths_of(it));
            let chains = chains.unwrap_or_default();
            if is_stored {
                places.stored.extend(chains.iter().cloned());
            }
            if meaning != Some(FILL) || is_stored {
                places.all.extend(chains);
            }
        }
        self.bodies.insert(export.to_owned(), places.clone());
        places
    }
}

/// Whether a place of the program is that of an operation of the source: the program may know
/// one more call around it.
pub(super) fn is_at(place: &[NamedPosition], own: &[NamedPosition]) -> bool {
    !own.is_empty() && place.starts_with(own)
}
