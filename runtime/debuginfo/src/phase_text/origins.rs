//! The places of a source that a location names, each with the reason.

use crate::locations::{Location, LocationId, LocationTable, SourcePosition};

/// The most nodes of a location that are visited. Tables from files may hold cycles.
const MAX_NODES: usize = 4096;
/// The most places of one location.
const MAX_ORIGINS: usize = 512;

/// Why a location names a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OriginKind {
    /// The operation is of that place.
    Own,
    /// The operation was made from several, and one is of that place.
    Fused,
    /// The operation was inlined into the call at that place.
    Caller,
}

/// A place that an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The place.
    pub position: SourcePosition,
    /// Why.
    pub kind: OriginKind,
}

impl LocationTable {
    /// The places that a location names, its own first, each once.
    #[must_use]
    pub fn origins(&self, location: LocationId) -> Vec<Origin> {
        let mut found: Vec<Origin> = Vec::new();
        let mut pending = vec![(location, OriginKind::Own)];
        for _ in 0..MAX_NODES {
            let Some((next, kind)) = pending.pop() else { break };
            match self.get(next) {
                Location::Unknown => {}
                Location::Position(position) => {
                    if !position.is_written() || found.len() >= MAX_ORIGINS {
                        continue;
                    }
                    match found.iter_mut().find(|known| known.position == *position) {
                        Some(known) => known.kind = known.kind.min(kind),
                        None => found.push(Origin { position: *position, kind }),
                    }
                }
                Location::CallSite { callee, caller } => {
                    pending.push((*caller, OriginKind::Caller));
                    pending.push((*callee, kind));
                }
                Location::Fused(children) => {
                    let several = children.len() > 1;
                    let kind = if several { kind.max(OriginKind::Fused) } else { kind };
                    pending.extend(children.iter().rev().map(|child| (*child, kind)));
                }
                Location::Name { child, .. } | Location::Same(child) => {
                    pending.push((*child, kind));
                }
            }
        }
        found.sort_by_key(|origin| origin.kind);
        found
    }
}
