//! Which module of a crate uses which, read from the paths in its code.
//!
//! A path counts where it is written: in a `use`, an expression, a type, a pattern, a macro's
//! arguments. A re-export (`pub use`) stands for the module that defines the name, and a module
//! that re-exports its own children does not use them. Code under `#[cfg(test)]` does not count.
//! Methods that another file adds to a type are not seen: they need no path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

use crate::sources::Crate;

pub(crate) type Module = Vec<String>;

/// The modules of a crate, each with the modules that it uses. Read once per test run.
pub(crate) type Graph = BTreeMap<Module, BTreeSet<Module>>;

pub(crate) fn of(krate: &Crate) -> &'static Graph {
    static GRAPHS: Mutex<BTreeMap<String, &'static Graph>> = Mutex::new(BTreeMap::new());
    let mut graphs = GRAPHS.lock().unwrap_or_else(PoisonError::into_inner);
    graphs.entry(krate.folder.clone()).or_insert_with(|| Box::leak(Box::new(read(krate))))
}

fn read(krate: &Crate) -> Graph {
    let files: BTreeMap<Module, syn::File> = krate
        .modules()
        .into_iter()
        .map(|(module, source)| {
            let file = syn::parse_file(&source.text)
                .unwrap_or_else(|error| panic!("{}: {error}", source.path));
            (module, file)
        })
        .collect();
    let names: BTreeSet<Module> = files.keys().cloned().collect();
    let uses: BTreeMap<&Module, Paths> = files
        .iter()
        .map(|(module, file)| {
            let mut paths = Paths { modules: &names, at: module.clone(), depth: 0, found: vec![] };
            paths.visit_file(file);
            (module, paths)
        })
        .collect();
    let mut exports = BTreeMap::new();
    for (&module, paths) in &uses {
        for found in paths.found.iter().filter(|found| found.is_export) {
            let exported = module.iter().cloned().chain([found.name.clone()]).collect::<Module>();
            exports.insert(exported, found.path.clone());
        }
    }
    let mut graph: Graph = names.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    for (&module, paths) in &uses {
        for found in &paths.found {
            if found.is_export && found.path.starts_with(module) {
                continue;
            }
            let owner = owner_of(&found.path, &names, &exports);
            if owner != *module && !owner.is_empty() {
                graph.entry(module.clone()).or_default().insert(owner);
            }
        }
    }
    graph
}

/// The module that defines what a path names, re-exports followed.
fn owner_of(
    path: &[String],
    names: &BTreeSet<Module>,
    exports: &BTreeMap<Module, Module>,
) -> Module {
    let mut path = path.to_vec();
    // As many times as re-exports can be chained; a circle of them would not compile.
    for _ in 0..16 {
        let longest = (1..=path.len()).rev().find(|&length| exports.contains_key(&path[..length]));
        let Some(length) = longest else { break };
        let mut target = exports[&path[..length]].clone();
        target.extend_from_slice(&path[length..]);
        if target == path {
            break;
        }
        path = target;
    }
    while !path.is_empty() && !names.contains(&path) {
        path.pop();
    }
    path
}

struct Found {
    /// From the root of the crate.
    path: Module,
    /// The name that it is imported by.
    name: String,
    is_export: bool,
}

/// Collects the paths of one file.
struct Paths<'m> {
    modules: &'m BTreeSet<Module>,
    at: Module,
    /// How many inline modules stand around the current item.
    depth: usize,
    found: Vec<Found>,
}

impl Paths<'_> {
    fn add(&mut self, segments: &[String], name: &str, is_export: bool) {
        let Some(path) = self.absolute(segments) else { return };
        self.found.push(Found { path, name: name.to_owned(), is_export });
    }

    fn absolute(&self, segments: &[String]) -> Option<Module> {
        let (first, rest) = segments.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" if self.depth == 0 => Some([&self.at[..], rest].concat()),
            "super" => {
                let supers = segments.iter().take_while(|segment| *segment == "super").count();
                let up = supers.saturating_sub(self.depth);
                let kept = self.at.len().checked_sub(up)?;
                Some([&self.at[..kept], &segments[supers..]].concat())
            }
            child => {
                let child = [&self.at[..], &[child.to_owned()]].concat();
                self.modules.contains(&child).then(|| [&child[..], rest].concat())
            }
        }
    }

    fn add_tree(&mut self, tree: &syn::UseTree, prefix: &mut Module, is_export: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.add_tree(&path.tree, prefix, is_export);
                prefix.pop();
            }
            syn::UseTree::Group(group) => {
                for item in &group.items {
                    self.add_tree(item, prefix, is_export);
                }
            }
            syn::UseTree::Name(name) => self.add_leaf(&name.ident, None, prefix, is_export),
            syn::UseTree::Rename(rename) => {
                self.add_leaf(&rename.ident, Some(&rename.rename), prefix, is_export);
            }
            syn::UseTree::Glob(_) => self.add(prefix, "*", is_export),
        }
    }

    fn add_leaf(
        &mut self,
        ident: &syn::Ident,
        renamed: Option<&syn::Ident>,
        prefix: &[String],
        is_export: bool,
    ) {
        let mut path = prefix.to_vec();
        if ident != "self" || path.is_empty() {
            path.push(ident.to_string());
        }
        let name = renamed.map_or_else(|| path[path.len() - 1].clone(), ToString::to_string);
        self.add(&path, &name, is_export);
    }

    /// Paths in what a macro is given, which is only tokens.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Module = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add_written(&std::mem::take(&mut path));
                    }
                    colons = 0;
                    path.push(ident.to_string());
                }
                other => {
                    self.add_written(&std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add_written(&path);
    }

    /// A path in code. One segment alone is a local name.
    fn add_written(&mut self, path: &[String]) {
        if path.len() > 1 {
            self.add(path, &path[path.len() - 1], false);
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes_of(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            syn::visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.depth += 1;
        syn::visit::visit_item_mod(self, module);
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_export = !matches!(item.vis, syn::Visibility::Inherited);
        self.add_tree(&item.tree, &mut Vec::new(), is_export);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Module =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add_written(&segments);
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.add_tokens(invocation.tokens.clone());
        syn::visit::visit_macro(self, invocation);
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.path.is_ident("cfg") && list.tokens.to_string() == "test"
    })
}

fn attributes_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        _ => &[],
    }
}
