//! Inside a crate, dependencies go one way.
//!
//! A *room* is a top-level module of a crate, with all that is in its folder. The table in the doc of
//! `lib.rs` (or `main.rs`) lists the rooms from the lowest to the highest: a room uses only rooms
//! above it in the table. In a room, at most [`MOST_IN_A_CIRCLE`] files may use each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{self, Graph, Module};
use crate::report;
use crate::sources::{self, Crate};

/// Two or three files may be halves of one thing; more are a knot.
const MOST_IN_A_CIRCLE: usize = 3;

/// Crates of which each file is a room of its own anyway, or which have only tests.
const WITHOUT_ROOMS: [&str; 2] = ["tests", "runtime/tvm-ffi"];

#[test]
fn tables_list_every_module() {
    let mut findings = Vec::new();
    for krate in crates() {
        let listed = table_of(&krate);
        let there = top_modules(&krate);
        let root = krate.root();
        for missing in there.iter().filter(|name| !listed.contains(name)) {
            findings.push(format!("{}: the table does not list `{missing}`", root.display()));
        }
        for stale in listed.iter().filter(|name| !there.contains(name)) {
            findings.push(format!("{}: there is no module `{stale}`", root.display()));
        }
    }
    report(&findings, "The table in the doc of lib.rs names each module once: | `name` | … |");
}

#[test]
fn rooms_use_only_rooms_above_them_in_their_table() {
    let mut findings = Vec::new();
    for krate in crates() {
        let order = table_of(&krate);
        let place = |room: &str| order.iter().position(|listed| listed == room);
        for (module, uses) in imports::of(&krate) {
            for used in uses {
                let (Some(room), Some(other)) = (module.first(), used.first()) else { continue };
                if room == other {
                    continue;
                }
                if let (Some(at), Some(of)) = (place(room), place(other))
                    && at < of
                {
                    let (module, used) = (module.join("::"), used.join("::"));
                    findings.push(format!("{}: {module} uses {used}", krate.folder));
                }
            }
        }
    }
    report(&findings, "A room uses only rooms above it in the table of its crate's lib.rs.");
}

#[test]
fn circles_of_files_are_small() {
    let mut findings = Vec::new();
    for krate in crates() {
        for circle in circles(imports::of(&krate)) {
            if circle.len() > MOST_IN_A_CIRCLE {
                let files: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
                findings.push(format!("{}: {}", krate.folder, files.join(", ")));
            }
        }
    }
    report(&findings, "These files use each other in a circle.");
}

/// The test is worth nothing if imports are not found.
#[test]
fn imports_are_found() {
    let debug = sources::crates().into_iter().find(|krate| krate.folder == "runtime/debug");
    let graph = imports::of(&debug.expect("the debugger is a crate"));
    let edges: usize = graph.values().map(BTreeSet::len).sum();
    assert!(edges > 100, "only {edges} imports in {} files", graph.len());
}

fn crates() -> impl Iterator<Item = Crate> {
    sources::crates().into_iter().filter(|krate| !WITHOUT_ROOMS.contains(&krate.folder.as_str()))
}

/// The modules in the first column of the first table of the root's doc, from top to bottom.
fn table_of(krate: &Crate) -> Vec<String> {
    let root = std::fs::read_to_string(krate.root()).expect("a crate has a root");
    let doc = root.lines().map_while(|line| line.strip_prefix("//!"));
    let rows = doc.skip_while(|line| !line.starts_with(" | module"));
    let rows = rows.take_while(|line| line.starts_with(" |")).skip(2);
    rows.flat_map(|row| names_in(row.split('|').nth(1).unwrap_or(""))).collect()
}

/// `` `a`, `b` `` names two modules.
fn names_in(cell: &str) -> Vec<String> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.map(|name| name.trim_end_matches('/').to_owned()).collect()
}

/// The modules that the root declares, those for tests left out.
fn top_modules(krate: &Crate) -> Vec<String> {
    let names: BTreeSet<String> =
        krate.modules().into_iter().filter_map(|(module, _)| module.into_iter().next()).collect();
    names.into_iter().collect()
}

/// Sets of modules each of which can be reached from each other (Tarjan's algorithm).
fn circles(graph: &Graph) -> Vec<Vec<Module>> {
    let mut search = Search {
        graph,
        order: BTreeMap::new(),
        low: BTreeMap::new(),
        open: vec![],
        circles: vec![],
    };
    for module in graph.keys() {
        if !search.order.contains_key(module) {
            search.visit(module);
        }
    }
    search.circles.retain(|circle| circle.len() > 1);
    search.circles
}

struct Search<'g> {
    graph: &'g Graph,
    order: BTreeMap<&'g Module, usize>,
    low: BTreeMap<&'g Module, usize>,
    open: Vec<&'g Module>,
    circles: Vec<Vec<Module>>,
}

impl<'g> Search<'g> {
    fn visit(&mut self, module: &'g Module) {
        let number = self.order.len();
        self.order.insert(module, number);
        self.low.insert(module, number);
        self.open.push(module);
        let uses = self.graph.get(module).into_iter().flatten();
        for used in uses.filter_map(|used| self.graph.get_key_value(used)).map(|(used, _)| used) {
            if !self.order.contains_key(used) {
                self.visit(used);
                self.low.insert(module, self.low[module].min(self.low[used]));
            } else if self.open.contains(&used) {
                self.low.insert(module, self.low[module].min(self.order[used]));
            }
        }
        if self.low[module] == number {
            let start = self.open.iter().position(|&open| open == module).unwrap_or(0);
            self.circles.push(self.open.drain(start..).cloned().collect());
        }
    }
}
