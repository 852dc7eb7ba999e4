//! From location trees to source positions: inlined frames, alternatives, lines of a listing.
//!
//! A module that was compiled with a listing of its VM program has a location labelled `vm` beside
//! each source location, or alone for code that the compiler generated. All other labels come from
//! users.
//!
//! Tables read from a file may hold cycles, and shared subtrees that unfold without end, so every
//! walk has a budget of nodes and a limit of depth; it ignores what lies beyond them.

use super::python::without_libraries;
use super::table::{Location, LocationId, LocationTable, SourcePosition};

/// The most nodes that one walk visits.
const MAX_NODES: usize = 1024;
/// The deepest nesting that a walk follows.
const MAX_DEPTH: usize = 128;
/// The most alternatives of a fused location that are kept.
const MAX_ALTERNATIVES: usize = 32;

/// The label of locations in the listing of the VM program (`--iree-vm-bytecode-source-listing`).
const LISTING: &str = "vm";

/// The positions of a location from the innermost inlined call outwards. A fused location counts as
/// its first child that is in a source.
pub(crate) fn call_chain(table: &LocationTable, location: LocationId) -> Vec<SourcePosition> {
    let mut walk = Walk { table, nodes: 0 };
    let mut chain = Vec::new();
    walk.chain(location, 0, &mut chain);
    without_libraries(table, chain)
}

/// The innermost source position of every alternative of a location, each once, the primary one
/// first.
pub(crate) fn alternatives(table: &LocationTable, location: LocationId) -> Vec<SourcePosition> {
    let mut found: Vec<_> = call_chain(table, location)
        .first()
        .copied()
        .filter(SourcePosition::is_written)
        .into_iter()
        .collect();
    let mut pending = vec![location];
    let mut nodes = 0;
    while let Some(next) = pending.pop() {
        nodes += 1;
        if nodes > MAX_NODES || found.len() >= MAX_ALTERNATIVES {
            break;
        }
        match table.get(next) {
            Location::Unknown => {}
            Location::Position(position) => {
                if position.is_written() && !found.contains(position) {
                    found.push(*position);
                }
            }
            Location::CallSite { callee, .. } => pending.push(*callee),
            Location::Fused(children) => pending.extend(children.iter().rev()),
            Location::Name { name, .. } if &**name == LISTING => {}
            Location::Name { child, .. } | Location::Same(child) => pending.push(*child),
        }
    }
    found
}

/// The call chains of all alternatives of a location, one for each innermost position, the primary
/// one first.
pub(crate) fn alternative_chains(
    table: &LocationTable,
    location: LocationId,
) -> Vec<Vec<SourcePosition>> {
    let mut found = vec![call_chain(table, location)];
    let Location::Fused(children) = table.get(location) else { return found };
    for child in children.iter().take(MAX_ALTERNATIVES) {
        let chain = call_chain(table, *child);
        if found.iter().all(|known| known.first() != chain.first()) {
            found.push(chain);
        }
    }
    found
}

/// The position in the listing of the VM program, if the module was compiled with one.
pub(crate) fn listing_position(
    table: &LocationTable,
    location: LocationId,
) -> Option<SourcePosition> {
    let mut pending = vec![(location, false)];
    for _ in 0..MAX_NODES {
        let (next, is_labelled) = pending.pop()?;
        match table.get(next) {
            Location::Position(position) if is_labelled => return Some(*position),
            Location::Unknown | Location::Position(_) | Location::CallSite { .. } => {}
            Location::Fused(children) => {
                pending.extend(children.iter().map(|child| (*child, is_labelled)));
            }
            Location::Name { name, child } => {
                pending.push((*child, is_labelled || &**name == LISTING));
            }
            Location::Same(child) => pending.push((*child, is_labelled)),
        }
    }
    None
}

/// The name that a user gave a location: the first of a fused one, the outermost of nested ones.
pub(crate) fn label(table: &LocationTable, location: LocationId) -> Option<&str> {
    let mut pending = vec![location];
    for _ in 0..MAX_NODES {
        match table.get(pending.pop()?) {
            Location::Name { name, .. } if &**name == LISTING => {}
            Location::Name { name, .. } => return Some(name),
            Location::Same(child) | Location::CallSite { callee: child, .. } => {
                pending.push(*child);
            }
            Location::Fused(children) => pending.extend(children.iter().rev()),
            Location::Unknown | Location::Position(_) => {}
        }
    }
    None
}

/// The names that stand directly around positions of a location: frameworks so name the function
/// that a line is in, `loc("attention"("model.py":4:8))`.
pub(crate) fn names_of_positions(
    table: &LocationTable,
    location: LocationId,
) -> Vec<(SourcePosition, &str)> {
    let mut found = Vec::new();
    let mut pending = vec![location];
    for _ in 0..MAX_NODES {
        let Some(next) = pending.pop() else { break };
        match table.get(next) {
            Location::Unknown | Location::Position(_) => {}
            Location::Name { name, .. } if &**name == LISTING => {}
            Location::Name { name, child } => match table.get(*child) {
                Location::Position(at) => found.push((*at, &**name)),
                _ => pending.push(*child),
            },
            Location::Same(child) => pending.push(*child),
            Location::CallSite { callee, caller } => pending.extend([*caller, *callee]),
            Location::Fused(children) => pending.extend(children.iter().rev()),
        }
    }
    found
}

/// Whether the innermost part of a location is unknown: the compiler generated the code while it
/// inlined a function, and only the position of the call is left.
pub(crate) fn is_generated(table: &LocationTable, location: LocationId) -> bool {
    let mut location = location;
    for _ in 0..MAX_NODES {
        match table.get(location) {
            Location::Unknown => return true,
            Location::Position(position) => return !position.is_written(),
            Location::CallSite { callee, .. } => location = *callee,
            Location::Name { name, .. } if &**name == LISTING => return true,
            Location::Name { child, .. } | Location::Same(child) => location = *child,
            Location::Fused(_) => return alternatives(table, location).is_empty(),
        }
    }
    true
}

struct Walk<'a> {
    table: &'a LocationTable,
    nodes: usize,
}

impl Walk<'_> {
    fn chain(&mut self, mut location: LocationId, depth: usize, chain: &mut Vec<SourcePosition>) {
        while depth < MAX_DEPTH && self.nodes < MAX_NODES {
            self.nodes += 1;
            match self.table.get(location) {
                Location::Unknown => return,
                Location::Position(position) => return chain.push(*position),
                Location::CallSite { callee, caller } => {
                    self.chain(*callee, depth + 1, chain);
                    location = *caller;
                }
                Location::Name { name, .. } if &**name == LISTING => return,
                Location::Name { child, .. } | Location::Same(child) => location = *child,
                Location::Fused(children) => return self.best_of(children, depth + 1, chain),
            }
        }
    }

    /// Appends the chain of the first child that is in a source, or else of the first that has a
    /// chain.
    fn best_of(&mut self, children: &[LocationId], depth: usize, chain: &mut Vec<SourcePosition>) {
        let mut second_best = Vec::new();
        for child in children {
            let mut candidate = Vec::new();
            self.chain(*child, depth, &mut candidate);
            if candidate.first().is_some_and(SourcePosition::is_written) {
                return chain.append(&mut candidate);
            }
            if second_best.is_empty() {
                second_best = candidate;
            }
        }
        chain.append(&mut second_best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locations::{FileId, LocationBuilder};

    fn at(builder: &mut LocationBuilder, line: u32) -> LocationId {
        let file = builder.file("a.mlir");
        builder.add(Location::Position(SourcePosition { file, line, column: 1 }))
    }

    fn lines(positions: &[SourcePosition]) -> Vec<u32> {
        positions.iter().map(|position| position.line).collect()
    }

    #[test]
    fn inlined_calls_give_a_chain() {
        let mut builder = LocationBuilder::default();
        let [inner, middle, outer] = [3, 7, 9].map(|line| at(&mut builder, line));
        let call = builder.add(Location::CallSite { callee: middle, caller: outer });
        let chain = builder.add(Location::CallSite { callee: inner, caller: call });
        assert_eq!(lines(&call_chain(&builder.finish(), chain)), [3, 7, 9]);
    }

    #[test]
    fn positions_have_the_names_around_them() {
        let mut builder = LocationBuilder::default();
        let [inner, outer] = [3, 7].map(|line| at(&mut builder, line));
        let mut named = |name: &str, child| {
            let name = builder.name(name);
            builder.add(Location::Name { name, child })
        };
        let [inner, outer] = [named("attention", inner), named("model", outer)];
        let chain = builder.add(Location::CallSite { callee: inner, caller: outer });
        let name = builder.name("jit(f)/dot");
        let whole = builder.add(Location::Name { name, child: chain });
        let table = builder.finish();
        let found = names_of_positions(&table, whole);
        let found: Vec<(u32, &str)> = found.iter().map(|(at, name)| (at.line, *name)).collect();
        assert_eq!(found, [(3, "attention"), (7, "model")]);
        assert_eq!(label(&table, whole), Some("jit(f)/dot"));
    }

    #[test]
    fn a_fused_location_prefers_what_was_written() {
        let mut builder = LocationBuilder::default();
        let children = [0, 5, 6].map(|line| at(&mut builder, line));
        let fused = builder.add(Location::Fused(children.into()));
        let table = builder.finish();
        assert_eq!(lines(&call_chain(&table, fused)), [5]);
        assert_eq!(lines(&alternatives(&table, fused)), [5, 6]);
    }

    #[test]
    fn a_listing_is_a_level_of_its_own() {
        let mut builder = LocationBuilder::default();
        let user = at(&mut builder, 5);
        let file = builder.file("a.vm.mlir");
        let line = builder.add(Location::Position(SourcePosition { file, line: 70, column: 1 }));
        let named = builder.add(Location::Name { name: "vm".into(), child: line });
        let other = builder.add(Location::Name { name: "add".into(), child: user });
        let fused = [[named, user], [user, named], [named, other]]
            .map(|children| builder.add(Location::Fused(children.into())));
        let table = builder.finish();
        for fused in fused {
            assert_eq!(lines(&call_chain(&table, fused)), [5]);
            assert_eq!(lines(&alternatives(&table, fused)), [5]);
            assert_eq!(listing_position(&table, fused).map(|it| it.line), Some(70));
        }
        // Code that the compiler generated has a line in the listing only.
        assert!(call_chain(&table, named).is_empty() && is_generated(&table, named));
        assert_eq!(listing_position(&table, named).map(|it| it.line), Some(70));
        assert_eq!(listing_position(&table, other), None);
        assert_eq!(table.file(FileId(1)), "a.vm.mlir");
    }

    #[test]
    fn cycles_and_explosions_end() {
        let mut builder = LocationBuilder::default();
        let position = at(&mut builder, 5);
        let cycle = builder.reserve();
        builder.fill(cycle, Location::CallSite { callee: cycle, caller: cycle });
        let mut bomb = position;
        for _ in 0..100 {
            bomb = builder.add(Location::CallSite { callee: bomb, caller: bomb });
        }
        let fused_cycle = builder.reserve();
        builder.fill(fused_cycle, Location::Fused([fused_cycle, fused_cycle, position].into()));
        let table = builder.finish();
        for location in [cycle, bomb, fused_cycle] {
            assert!(call_chain(&table, location).len() <= MAX_NODES);
            assert_eq!(listing_position(&table, location), None);
            assert!(alternatives(&table, location).len() <= 1);
        }
    }
}
