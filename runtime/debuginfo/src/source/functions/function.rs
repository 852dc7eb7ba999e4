//! A function of the source as data: its operations, values, blocks and regions. Queries that need
//! nothing else are here too: what encloses an operation, what is in scope, which blocks dominate.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::Arc;

use syntax::{Leaf, NodeId, NodeKind, TokenKind, Tree};

/// A line and a column of a source, from 1.
pub(crate) type LineColumn = (u32, u32);
/// The index of a value in its function.
pub(crate) type ValueIndex = usize;
/// The index of an operation in its function.
pub(crate) type OperationIndex = usize;

/// A value of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceValue {
    /// The name with its `%`; one of several results has its number: `%r#1`.
    pub(crate) name: String,
    /// Its type, if the text declares it.
    pub(crate) type_text: Option<String>,
    /// The operation that it is a result of, and the result's index; `None` for arguments.
    pub(crate) definition: Option<(OperationIndex, usize)>,
    /// Where its name is written.
    pub(crate) place: LineColumn,
}

/// A block: a label and the operations after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceBlock {
    /// The label with its `^`; empty if there is none.
    pub(crate) label: String,
    pub(crate) arguments: Vec<ValueIndex>,
    pub(crate) operations: Vec<OperationIndex>,
}

/// The blocks between two braces.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceRegion {
    pub(crate) blocks: Vec<SourceBlock>,
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct SourceOperation {
    pub(crate) name: String,
    /// The position of its name, as in locations.
    pub(crate) place: LineColumn,
    /// The operation around it; the function itself has none.
    pub(crate) parent: Option<OperationIndex>,
    /// Which region of `parent` it is in, and which block there.
    pub(crate) region: usize,
    pub(crate) block: usize,
    /// The values that its head uses, in the order of the text.
    pub(crate) operands: Vec<ValueIndex>,
    pub(crate) results: Vec<ValueIndex>,
    /// The arguments of its first region that its head declares, with their initial values:
    /// `%acc = %n`.
    pub(crate) initial: Vec<(ValueIndex, Option<ValueIndex>)>,
    pub(crate) regions: Vec<SourceRegion>,
    pub(super) node: NodeId,
}

/// A function, with its own text.
#[derive(Debug)]
pub(crate) struct SourceFunction {
    pub(crate) values: Vec<SourceValue>,
    /// The first is the function itself; each comes before the operations inside it.
    pub(crate) operations: Vec<SourceOperation>,
    pub(super) by_place: HashMap<LineColumn, OperationIndex>,
    pub(super) tree: Tree,
    pub(super) text: FunctionText,
}

/// The text of a function: a part of the text of its file, which may be large.
#[derive(Debug)]
pub(super) struct FunctionText {
    file: Arc<String>,
    range: Range<usize>,
}

impl FunctionText {
    /// A part of a text; `None` if it has no such part.
    pub(super) fn part(file: &Arc<String>, range: Range<usize>) -> Option<Self> {
        file.get(range.clone())?;
        Some(Self { file: Arc::clone(file), range })
    }
}

impl From<String> for FunctionText {
    fn from(text: String) -> Self {
        Self { range: 0..text.len(), file: Arc::new(text) }
    }
}

impl Deref for FunctionText {
    type Target = str;

    fn deref(&self) -> &str {
        self.file.get(self.range.clone()).unwrap_or_default()
    }
}

impl SourceFunction {
    /// The operation whose name is at a position.
    pub(crate) fn operation_at(&self, place: LineColumn) -> Option<OperationIndex> {
        self.by_place.get(&place).copied()
    }

    /// The place of the operation that defines a value, or of its own name, if it is an argument.
    pub(crate) fn defined_at(&self, value: ValueIndex) -> LineColumn {
        let value = &self.values[value];
        value.definition.map_or(value.place, |(operation, _)| self.operations[operation].place)
    }

    /// An operation and those around it, innermost first; the last is the function.
    pub(crate) fn ancestors(
        &self,
        operation: OperationIndex,
    ) -> impl Iterator<Item = OperationIndex> + '_ {
        std::iter::successors(Some(operation), |at| self.operations.get(*at)?.parent)
    }

    /// The arguments of the function.
    pub(crate) fn arguments(&self) -> &[ValueIndex] {
        let body = self.operations.first().and_then(|function| function.regions.first());
        let entry = body.and_then(|body| body.blocks.first());
        entry.map_or(&[], |entry| &entry.arguments)
    }

    /// Whether it has a body, and is not only declared.
    pub(crate) fn is_defined(&self) -> bool {
        self.operations.first().is_some_and(|function| !function.regions.is_empty())
    }

    /// The tokens of an operation without its results, name and regions.
    pub(crate) fn head(&self, operation: OperationIndex) -> Vec<(TokenKind, &str)> {
        let Some(written) = self.operations.get(operation) else { return Vec::new() };
        let leaves = head_leaves(&self.tree, written.node);
        leaves.iter().map(|leaf| (leaf.kind, self.text_of(leaf))).collect()
    }

    /// The text of an operation after its name to its end.
    pub(crate) fn head_text(&self, operation: OperationIndex) -> Option<&str> {
        let leaves = head_leaves(&self.tree, self.operations.get(operation)?.node);
        let (first, last) = (leaves.first()?, leaves.last()?);
        self.text.get(first.start as usize..last.end as usize)
    }

    /// The text of an operation, with its results and regions.
    pub(crate) fn operation_text(&self, operation: OperationIndex) -> Option<&str> {
        let whole = self.tree.node(self.operations.get(operation)?.node);
        let tokens = self.tree.tokens();
        let first = tokens.get(whole.first as usize)?;
        let last = tokens.get((whole.last as usize).checked_sub(1)?)?;
        self.text.get(first.start as usize..last.end as usize)
    }

    /// The operation that defines a value as it is written, without types and regions:
    /// `%y = arith.mulf %a, %b`. An argument is its name, and what it is an argument of.
    pub(crate) fn defined_as(&self, value: ValueIndex) -> String {
        let Some(written) = self.values.get(value) else { return String::new() };
        if let Some((made_by, _)) = written.definition {
            return self.in_short(made_by);
        }
        if let Some(at) = self.arguments().iter().position(|it| *it == value) {
            return format!("{}: argument {at}", written.name);
        }
        let of = |it: &SourceOperation| {
            let blocks = it.regions.iter().flat_map(|region| &region.blocks);
            it.initial.iter().any(|(argument, _)| *argument == value)
                || blocks.into_iter().any(|block| block.arguments.contains(&value))
        };
        match self.operations.iter().skip(1).rposition(of) {
            Some(at) => format!("{} of {}", written.name, self.in_short(at + 1)),
            None => format!("{}: an argument of a block", written.name),
        }
    }

    /// An operation as it is written, without types and regions.
    fn in_short(&self, operation: OperationIndex) -> String {
        /// Longer text, as of a constant's elements, says no more.
        const LONGEST: usize = 100;
        let Some(written) = self.operations.get(operation) else { return String::new() };
        let mut head = self.without_types(&head_leaves(&self.tree, written.node));
        if let Some((cut, _)) = head.char_indices().nth(LONGEST) {
            head.truncate(cut);
            head.push('…');
        }
        let results: Vec<&str> =
            written.results.iter().map(|it| self.values[*it].name.as_str()).collect();
        let results = results.join(", ");
        let equals = if results.is_empty() { "" } else { " = " };
        let gap = if head.is_empty() || head.starts_with('(') { "" } else { " " };
        format!("{results}{equals}{}{gap}{head}", written.name)
    }

    /// The tokens of an operation's head as text, without what follows colons, without attributes
    /// in braces, and up to its type.
    fn without_types(&self, leaves: &[Leaf]) -> String {
        let mut text = String::new();
        // The depth of brackets, and the depth in which text is left out.
        let (mut depth, mut left_out) = (0_usize, None);
        let mut end = 0;
        for leaf in leaves {
            let own = self.text_of(leaf);
            let is_open = matches!(leaf.kind, TokenKind::Punct(b'(' | b'[' | b'{'));
            let is_close = matches!(leaf.kind, TokenKind::Punct(b')' | b']' | b'}'));
            if is_close {
                depth = depth.saturating_sub(1);
                if left_out.is_some_and(|it| it > depth) {
                    left_out = None;
                    if own == "}" {
                        end = leaf.end;
                        continue;
                    }
                }
            }
            let is_type = own == ":" || own == "->";
            if depth == 0 && (is_type || own == "loc") {
                break;
            }
            if left_out.is_none() && (is_type || own == "{") {
                left_out = Some(depth + usize::from(is_open));
            }
            if left_out.is_none() {
                if leaf.start > end && !text.is_empty() && !is_close {
                    text.push(' ');
                }
                text.push_str(own);
                end = leaf.end;
            }
            depth += usize::from(is_open);
        }
        text
    }

    /// The location that ends an operation, as text: `loc(#loc7)`. The compiler prints it; users
    /// rarely write it.
    pub(crate) fn location(&self, operation: OperationIndex) -> Option<&str> {
        let leaves = head_leaves(&self.tree, self.operations.get(operation)?.node);
        let last = leaves.last()?;
        let is_location = |it: &&Leaf| it.kind == TokenKind::Word && self.text_of(it) == "loc";
        let start = leaves.iter().rfind(is_location)?;
        self.text.get(start.start as usize..last.end as usize)
    }

    pub(super) fn text_of(&self, leaf: &Leaf) -> &str {
        self.text.get(leaf.start as usize..leaf.end as usize).unwrap_or_default()
    }

    /// The values in scope at an operation, outermost first: the values defined before it in the
    /// blocks around it. In a region of several blocks, also the values of the blocks that dominate
    /// its own.
    pub(crate) fn in_scope(&self, operation: OperationIndex) -> Vec<ValueIndex> {
        let mut around: Vec<OperationIndex> = self.ancestors(operation).collect();
        around.pop();
        let mut values = Vec::new();
        for at in around.into_iter().rev() {
            let written = &self.operations[at];
            let parent = written.parent.and_then(|parent| self.operations.get(parent));
            let Some(region) = parent.and_then(|it| it.regions.get(written.region)) else {
                continue;
            };
            for block in dominators(self, region, written.block) {
                let Some(block_text) = region.blocks.get(block) else { continue };
                values.extend(&block_text.arguments);
                let operations = block_text.operations.iter();
                let before = operations.take_while(|it| block != written.block || **it != at);
                values.extend(before.flat_map(|it| &self.operations[*it].results));
            }
        }
        values
    }

    /// The successors of a block in its region, in the order of its terminator.
    pub(crate) fn successors(&self, region: &SourceRegion, block: usize) -> Vec<usize> {
        let terminator = region.blocks.get(block).and_then(|it| it.operations.last());
        let Some(terminator) = terminator else { return Vec::new() };
        let head = self.head(*terminator);
        let labels = head.iter().filter(|(kind, _)| *kind == TokenKind::Block);
        let find = |label: &str| region.blocks.iter().position(|it| it.label == label);
        labels.filter_map(|(_, label)| find(label)).collect()
    }

    /// The reachable blocks of a region in reverse postorder: each comes after a predecessor, and
    /// after all of them except for those of back edges.
    pub(crate) fn order(&self, region: &SourceRegion) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = vec![false; region.blocks.len()];
        let mut stack = Vec::new();
        if !seen.is_empty() {
            seen[0] = true;
            stack.push((0, self.successors(region, 0)));
        }
        while let Some((block, mut rest)) = stack.pop() {
            match rest.pop() {
                Some(next) => {
                    stack.push((block, rest));
                    if !std::mem::replace(&mut seen[next], true) {
                        stack.push((next, self.successors(region, next)));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        order
    }
}

/// The dominators of a block, itself last.
fn dominators(function: &SourceFunction, region: &SourceRegion, block: usize) -> Vec<usize> {
    if region.blocks.len() <= 1 || block == 0 {
        return vec![block];
    }
    // A block dominates all blocks that cannot be reached without it. Functions have few blocks, so
    // trying each one is cheap.
    let reaches_without = |without: usize| {
        let mut seen = vec![false; region.blocks.len()];
        let mut pending = if without == 0 { Vec::new() } else { vec![0] };
        while let Some(at) = pending.pop() {
            if at == without || std::mem::replace(&mut seen[at], true) {
                continue;
            }
            pending.extend(function.successors(region, at));
        }
        seen[block]
    };
    let mut found: Vec<usize> =
        (0..region.blocks.len()).filter(|it| *it != block && !reaches_without(*it)).collect();
    // Dominators mostly come in this order in the text; it only matters for display.
    found.sort_unstable();
    found.push(block);
    found
}

pub(super) fn head_leaves(tree: &Tree, node: NodeId) -> Vec<Leaf> {
    let whole = tree.node(node);
    let name = tree.child(node, NodeKind::Name);
    let start = name.map_or(whole.first, |name| tree.node(name).last);
    let mut skipped: Vec<(u32, u32)> = Vec::new();
    for child in tree.children(node) {
        let it = tree.node(child);
        match it.kind {
            NodeKind::Region => skipped.push((it.first, it.last)),
            // In the generic form, regions are in parentheses.
            NodeKind::Paren => {
                let regions = tree.children(child).filter(|it| is_region(tree, *it));
                skipped.extend(regions.map(|it| (tree.node(it).first, tree.node(it).last)));
            }
            _ => {}
        }
    }
    let is_skipped = |at: &u32| skipped.iter().any(|(first, last)| first <= at && at < last);
    let indices = (start..whole.last).filter(|at| !is_skipped(at));
    let leaves = indices.filter_map(|at| tree.tokens().get(at as usize).copied());
    leaves.filter(|leaf| leaf.kind != TokenKind::Comment).collect()
}

pub(super) fn is_region(tree: &Tree, node: NodeId) -> bool {
    tree.node(node).kind == NodeKind::Region
}
