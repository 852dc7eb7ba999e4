//! Groups of boxes: a tree, made of where the operations came from.
//!
//! A group helps who reads the picture, so not every part of a path is one: what all dispatches
//! have in common, what has less than two boxes or no dispatch, and what only has one other group
//! in it are none.

use std::collections::HashMap;

use super::origins::Path;
use super::{GraphNode, GroupedBy, NodeKind};

/// Deeper parts of a path are no groups.
const DEEPEST: usize = 64;

/// Less boxes are no group.
const FEWEST: usize = 2;

/// The groups of a function.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Each after the group around it.
    pub(super) all: Vec<Group>,
    /// The innermost group of each box.
    pub(super) of_node: Vec<Option<usize>>,
    pub(super) by: Option<GroupedBy>,
}

/// A group.
#[derive(Debug)]
pub(super) struct Group {
    /// Tells it from other groups of the function, and is the same for the same module.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) parent: Option<usize>,
}

impl Groups {
    /// The groups by the source that puts most dispatches into groups, the first of equals.
    pub(super) fn best(nodes: &[GraphNode], sources: Vec<(GroupedBy, Vec<Option<Path>>)>) -> Self {
        let mut best = Self { of_node: vec![None; nodes.len()], ..Self::default() };
        let mut most = 0;
        for (by, paths) in sources {
            let found = Self::of(nodes, &paths, by);
            let is_grouped = |(node, group): &(&GraphNode, &Option<usize>)| {
                node.kind == NodeKind::Dispatch && group.is_some()
            };
            let count = nodes.iter().zip(&found.of_node).filter(is_grouped).count();
            if count > most {
                (best, most) = (found, count);
            }
        }
        best
    }

    pub(super) fn of(nodes: &[GraphNode], paths: &[Option<Path>], by: GroupedBy) -> Self {
        let mut tree = Tree::default();
        for (node, path) in paths.iter().enumerate() {
            if let Some(path) = path {
                tree.add(node, path);
            }
        }
        let is_dispatch = |node: &usize| nodes[*node].kind == NodeKind::Dispatch;
        let dispatches = (0..nodes.len()).filter(is_dispatch).count();
        let mut root = 0;
        while let [only] = tree.parts[root].children[..]
            && tree.members(only).into_iter().filter(is_dispatch).count() == dispatches
        {
            root = only;
        }
        let mut groups = Self { all: Vec::new(), of_node: vec![None; nodes.len()], by: Some(by) };
        groups.take(&tree, root, None, &is_dispatch);
        groups
    }

    /// Takes what is in a part of the tree into a group.
    fn take(
        &mut self,
        tree: &Tree,
        part: usize,
        group: Option<usize>,
        is_dispatch: &dyn Fn(&usize) -> bool,
    ) {
        for node in &tree.parts[part].members {
            self.of_node[*node] = group;
        }
        let mut names: HashMap<String, usize> = HashMap::new();
        for child in &tree.parts[part].children {
            let members = tree.members(*child);
            if members.len() < FEWEST || !members.iter().any(is_dispatch) {
                members.into_iter().for_each(|node| self.of_node[node] = group);
                continue;
            }
            let (mut inner, mut name) = (*child, tree.parts[*child].name.clone());
            while let Some(only) = tree.only_group(inner) {
                inner = only;
                let between = if self.by == Some(GroupedBy::Names) { "/" } else { " › " };
                name = format!("{name}{between}{}", tree.parts[inner].name);
            }
            let same = names.entry(name.clone()).or_default();
            *same += 1;
            if *same > 1 {
                name = format!("{name} ({same})");
            }
            let key = tree.parts[inner].key.clone();
            self.all.push(Group { key, name, parent: group });
            self.take(tree, inner, Some(self.all.len() - 1), is_dispatch);
        }
    }

    /// A group and those around it, the innermost first.
    pub(super) fn around(&self, group: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(group, |it| self.all.get(*it)?.parent)
    }

    /// The innermost group that has all of some boxes, given their own groups.
    pub(super) fn common(&self, of: impl IntoIterator<Item = Option<usize>>) -> Option<usize> {
        let mut of = of.into_iter();
        let mut common = of.next()?;
        for group in of {
            let around: Vec<usize> = self.around(group).collect();
            common = self.around(common).find(|it| around.contains(it));
        }
        common
    }
}

/// The paths as a tree. The first part is its root.
struct Tree {
    parts: Vec<Part>,
    known: HashMap<(usize, String), usize>,
}

#[derive(Default)]
struct Part {
    name: String,
    key: String,
    children: Vec<usize>,
    members: Vec<usize>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { parts: vec![Part::default()], known: HashMap::new() }
    }
}

impl Tree {
    fn add(&mut self, node: usize, path: &Path) {
        let mut at = 0;
        for segment in path.iter().take(DEEPEST) {
            let next = self.parts.len();
            let known = *self.known.entry((at, segment.key.clone())).or_insert(next);
            if known == next {
                let key = match &self.parts[at].key {
                    around if around.is_empty() => segment.key.clone(),
                    around => format!("{around}/{}", segment.key),
                };
                self.parts.push(Part { name: segment.name.clone(), key, ..Part::default() });
                self.parts[at].children.push(known);
            }
            at = known;
        }
        self.parts[at].members.push(node);
    }

    /// All boxes in a part, and in the parts of it.
    fn members(&self, part: usize) -> Vec<usize> {
        let (mut found, mut open) = (Vec::new(), vec![part]);
        while let Some(part) = open.pop() {
            found.extend(&self.parts[part].members);
            open.extend(&self.parts[part].children);
        }
        found
    }

    /// The one part with all boxes of a part, if there is one.
    fn only_group(&self, part: usize) -> Option<usize> {
        match self.parts[part].children[..] {
            [only] if self.parts[part].members.is_empty() => Some(only),
            _ => None,
        }
    }
}
