//! A function as the user wrote it: its operations, values, blocks and regions, out of the tree of
//! [`syntax`].
//!
//! This is what scopes, names and types are read from. It knows how MLIR writes names (`%r#1`,
//! labels, `%i = %low` in the head of a loop) and types, and nothing of what operations mean; that
//! is for [`super::lower`].

use std::collections::HashMap;
use std::ops::Range;

use syntax::TokenKind;
use syntax::{ChunkTable, Language, OpClass, Shape};
use syntax::{Leaf, NodeId, NodeKind, Tree};

/// Regions nested deeper are not read.
const DEEPEST: usize = 64;

/// A line and a column of a source, from 1.
pub(crate) type Place = (u32, u32);
/// The index of a value of a function.
pub(crate) type ValueIndex = usize;
/// The index of an operation of a function.
pub(crate) type OperationIndex = usize;

/// A value and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenValue {
    /// With its `%`; one of several results has its number: `%r#1`.
    pub(crate) name: String,
    /// Its type, where the text says it.
    pub(crate) type_text: Option<String>,
    /// The operation that it is a result of, and which; an argument of a block has none.
    pub(crate) definition: Option<(OperationIndex, usize)>,
    /// Where its name is written.
    pub(crate) place: Place,
}

/// Operations after a label.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenBlock {
    /// With its `^`; empty for a block without a label.
    pub(crate) label: String,
    pub(crate) arguments: Vec<ValueIndex>,
    pub(crate) operations: Vec<OperationIndex>,
}

/// The blocks between two braces.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenRegion {
    pub(crate) blocks: Vec<WrittenBlock>,
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct WrittenOperation {
    pub(crate) name: String,
    /// Where its name is: what locations say.
    pub(crate) place: Place,
    /// The operation around it; the function itself has none.
    pub(crate) parent: Option<OperationIndex>,
    /// The region and the block of `parent` that it is in.
    pub(crate) region: usize,
    pub(crate) block: usize,
    /// Values that its head names, in the order of the text.
    pub(crate) operands: Vec<ValueIndex>,
    pub(crate) results: Vec<ValueIndex>,
    /// What its head gives the arguments of its first region: `%acc = %n`.
    pub(crate) initial: Vec<(ValueIndex, Option<ValueIndex>)>,
    pub(crate) regions: Vec<WrittenRegion>,
    node: NodeId,
}

/// A function, with its own text.
#[derive(Debug)]
pub(crate) struct WrittenFunction {
    pub(crate) values: Vec<WrittenValue>,
    /// The first is the function itself; operations come before what is inside of them.
    pub(crate) operations: Vec<WrittenOperation>,
    by_place: HashMap<Place, OperationIndex>,
    tree: Tree,
    text: String,
}

/// Where the functions and globals of a source begin, to be read when somebody asks.
#[derive(Debug, Default)]
pub(crate) struct WrittenFile {
    functions: Vec<(String, Range<usize>, Place)>,
    globals: HashMap<String, Range<usize>>,
}

impl WrittenFile {
    /// Finds the functions of a text.
    pub(crate) fn scan(text: &str) -> Self {
        let mut file = Self::default();
        let table = ChunkTable::scan(text);
        let lines = Lines::new(text);
        let mut long: Option<(String, usize, usize)> = None;
        for placed in table.iter() {
            let chunk = placed.chunk;
            if let Some((name, start, nesting)) = &long {
                if chunk.kind != syntax::ChunkKind::Close || chunk.nesting() != nesting + 1 {
                    continue;
                }
                let range = *start..placed.range().end;
                let place = lines.place(*start);
                file.functions.push((name.clone(), range, place));
                long = None;
                continue;
            }
            let Some(symbol) = syntax::Symbol::read(text, &placed) else { continue };
            if symbol.target.is_some() {
                continue;
            }
            let range = placed.op_start()..placed.range().end;
            match chunk.class {
                OpClass::Function if chunk.is_long_function() => {
                    long = Some((symbol.name, range.start, chunk.nesting()));
                }
                OpClass::Function => {
                    let place = lines.place(range.start);
                    file.functions.push((symbol.name, range, place));
                }
                OpClass::Global => {
                    file.globals.insert(symbol.name, range);
                }
                _ => {}
            }
        }
        file
    }

    /// The function that is written at a place.
    pub(crate) fn at(&self, place: Place) -> Option<usize> {
        self.functions.iter().position(|(.., at)| *at == place)
    }

    /// The function of a name, if there is one only.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        let mut found = self.functions.iter().enumerate().filter(|(_, (it, ..))| it == name);
        let (index, _) = found.next().filter(|_| found.next().is_none())?;
        Some(index)
    }

    /// The symbol of a function.
    pub(crate) fn name(&self, function: usize) -> Option<&str> {
        self.functions.get(function).map(|(name, ..)| name.as_str())
    }

    /// The function that a line is in.
    pub(crate) fn around(&self, line: u32) -> Option<usize> {
        self.functions.iter().rposition(|(_, _, (first, _))| *first <= line)
    }

    /// Reads a function.
    pub(crate) fn read(&self, text: &str, function: usize) -> Option<WrittenFunction> {
        let (_, range, place) = self.functions.get(function)?;
        let own = text.get(range.clone())?;
        Some(Reader::read(own.to_owned(), *place))
    }

    /// The text of a global's definition.
    pub(crate) fn global<'t>(&self, text: &'t str, name: &str) -> Option<&'t str> {
        text.get(self.globals.get(name)?.clone())
    }
}

/// Offsets to lines.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self(std::iter::once(0).chain(newlines).collect())
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.0.partition_point(|start| *start <= offset);
        let start = self.0.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (line as u32, (offset - start) as u32 + 1)
    }
}

impl WrittenFunction {
    /// The operation whose name is at a place.
    pub(crate) fn operation_at(&self, place: Place) -> Option<OperationIndex> {
        self.by_place.get(&place).copied()
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

    /// Whether it has a body.
    pub(crate) fn is_defined(&self) -> bool {
        self.operations.first().is_some_and(|function| !function.regions.is_empty())
    }

    /// The tokens of an operation outside of its regions, results and name.
    pub(crate) fn head(&self, operation: OperationIndex) -> Vec<(TokenKind, &str)> {
        let Some(written) = self.operations.get(operation) else { return Vec::new() };
        let leaves = head_leaves(&self.tree, written.node);
        leaves.iter().map(|leaf| (leaf.kind, self.text_of(leaf))).collect()
    }

    fn text_of(&self, leaf: &Leaf) -> &str {
        self.text.get(leaf.start as usize..leaf.end as usize).unwrap_or_default()
    }

    /// The values that are in scope at an operation, outermost first: those of blocks around it
    /// that were made before. In a region of several blocks, those of blocks that must run before.
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

    /// The blocks of a region that the terminator of one names.
    pub(crate) fn successors(&self, region: &WrittenRegion, block: usize) -> Vec<usize> {
        let terminator = region.blocks.get(block).and_then(|it| it.operations.last());
        let Some(terminator) = terminator else { return Vec::new() };
        let head = self.head(*terminator);
        let labels = head.iter().filter(|(kind, _)| *kind == TokenKind::Block);
        let find = |label: &str| region.blocks.iter().position(|it| it.label == label);
        labels.filter_map(|(_, label)| find(label)).collect()
    }
}

/// The blocks through which every way to a block leads, in the order of the way, itself last.
fn dominators(function: &WrittenFunction, region: &WrittenRegion, block: usize) -> Vec<usize> {
    if region.blocks.len() <= 1 || block == 0 {
        return vec![block];
    }
    // Whatever cannot be reached without a block is dominated by it. Functions have few blocks.
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
    // A dominator of another one is dominated by fewer blocks, and comes first in the text mostly;
    // the order only matters for showing.
    found.sort_unstable();
    found.push(block);
    found
}

fn head_leaves(tree: &Tree, node: NodeId) -> Vec<Leaf> {
    let whole = tree.node(node);
    let name = tree.child(node, NodeKind::Name);
    let start = name.map_or(whole.first, |name| tree.node(name).last);
    let mut skipped: Vec<(u32, u32)> = Vec::new();
    for child in tree.children(node) {
        let it = tree.node(child);
        match it.kind {
            NodeKind::Region => skipped.push((it.first, it.last)),
            // The generic form has regions between parentheses.
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

fn is_region(tree: &Tree, node: NodeId) -> bool {
    tree.node(node).kind == NodeKind::Region
}

/// The regions of an operation, also those of the generic form.
fn regions_of(tree: &Tree, node: NodeId) -> Vec<NodeId> {
    let mut regions = Vec::new();
    for child in tree.children(node) {
        match tree.node(child).kind {
            NodeKind::Region => regions.push(child),
            NodeKind::Paren => {
                regions.extend(tree.children(child).filter(|it| is_region(tree, *it)));
            }
            _ => {}
        }
    }
    regions
}

/// Names that are visible, by region.
type Scopes = Vec<HashMap<String, ValueIndex>>;

struct Reader {
    function: WrittenFunction,
    lines: Lines,
    start: Place,
    scopes: Scopes,
}

impl Reader {
    fn read(text: String, start: Place) -> WrittenFunction {
        let shape = Shape::default();
        let tree = Tree::parse(text.as_str(), 0..text.len(), Language::Mlir, shape);
        let root = tree.children(0).find(|it| tree.node(*it).kind == NodeKind::Operation);
        let lines = Lines::new(&text);
        let function = WrittenFunction {
            values: Vec::new(),
            operations: Vec::new(),
            by_place: HashMap::new(),
            tree,
            text,
        };
        let mut reader = Self { function, lines, start, scopes: Vec::new() };
        if let Some(root) = root {
            reader.operation(root, None, (0, 0), Vec::new());
        }
        let places = reader.function.operations.iter().enumerate();
        let by_place = places.map(|(index, it)| (it.place, index)).collect();
        reader.function.by_place = by_place;
        reader.function
    }

    fn place(&self, offset: u32) -> Place {
        let (line, column) = self.lines.place(offset as usize);
        let (first_line, first_column) = self.start;
        match line {
            1 => (first_line, first_column + column - 1),
            _ => (first_line + line - 1, column),
        }
    }

    fn text(&self, leaf: &Leaf) -> &str {
        self.function.text_of(leaf)
    }

    fn value(
        &mut self,
        name: String,
        type_text: Option<String>,
        definition: Option<(OperationIndex, usize)>,
        offset: u32,
    ) -> ValueIndex {
        let place = self.place(offset);
        let index = self.function.values.len();
        self.function.values.push(WrittenValue { name, type_text, definition, place });
        index
    }

    fn resolve(&self, name: &str) -> Option<ValueIndex> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// Reads an operation whose results are known already.
    fn operation(
        &mut self,
        node: NodeId,
        parent: Option<OperationIndex>,
        (region, block): (usize, usize),
        results: Vec<ValueIndex>,
    ) -> OperationIndex {
        let tree = &self.function.tree;
        let name_node = tree.child(node, NodeKind::Name);
        let offset = name_node.map_or(0, |it| tree.range(it).start as u32);
        let name = tree.op_name(self.function.text.as_str(), 0, node);
        let index = self.function.operations.len();
        let written = WrittenOperation {
            name,
            place: self.place(offset),
            parent,
            region,
            block,
            operands: Vec::new(),
            results,
            initial: Vec::new(),
            regions: Vec::new(),
            node,
        };
        for (position, value) in written.results.iter().enumerate() {
            self.function.values[*value].definition = Some((index, position));
        }
        self.function.operations.push(written);
        let heads = self.head(index, node);
        self.regions(index, node, heads);
        self.result_types(index);
        index
    }

    /// Reads the operands; gives the arguments that the head names.
    fn head(&mut self, index: OperationIndex, node: NodeId) -> Vec<ValueIndex> {
        let leaves = head_leaves(&self.function.tree, node);
        let is_function = index == 0;
        let mut arguments = Vec::new();
        let mut at = 0;
        while at < leaves.len() {
            let leaf = leaves[at];
            if leaf.kind != TokenKind::Value {
                at += 1;
                continue;
            }
            let (name, length) = self.name_at(&leaves, at);
            let next = leaves.get(at + length).copied();
            let defines = |byte| next.is_some_and(|it: Leaf| it.is(byte));
            if is_function && defines(b':') {
                let type_text = self.type_until(&leaves, at + length + 1);
                arguments.push(self.value(name, Some(type_text), None, leaf.start));
            } else if defines(b'=') {
                let start = at + length + 1;
                let initial = leaves.get(start).filter(|it| it.kind == TokenKind::Value);
                let initial = initial.and_then(|_| self.resolve(&self.name_at(&leaves, start).0));
                let value = self.value(name, None, None, leaf.start);
                self.function.operations[index].initial.push((value, initial));
                arguments.push(value);
            } else if let Some(value) = self.resolve(&name) {
                self.function.operations[index].operands.push(value);
            }
            at += length;
        }
        arguments
    }

    /// A name, `%r` or `%r#1`, and how many tokens it takes.
    fn name_at(&self, leaves: &[Leaf], at: usize) -> (String, usize) {
        let leaf = leaves[at];
        let name = self.text(&leaf).to_owned();
        match leaves.get(at + 1) {
            Some(number) if number.kind == TokenKind::Attribute && number.start == leaf.end => {
                (name + self.text(number), 2)
            }
            _ => (name, 1),
        }
    }

    /// The text of a type, up to the comma or bracket that ends it.
    fn type_until(&self, leaves: &[Leaf], start: usize) -> String {
        let mut depth = 0_usize;
        let mut end = start;
        for leaf in leaves.iter().skip(start) {
            match leaf.kind {
                TokenKind::Punct(b',' | b'{') if depth == 0 => break,
                TokenKind::Punct(b'(' | b'[' | b'<' | b'{') => depth += 1,
                TokenKind::Punct(b')' | b']' | b'>' | b'}') if depth == 0 => break,
                TokenKind::Punct(b')' | b']' | b'>' | b'}') => depth -= 1,
                TokenKind::Word if depth == 0 && ends_type(self.text(leaf)) => break,
                _ => {}
            }
            end += 1;
        }
        self.span(leaves, start..end)
    }

    fn span(&self, leaves: &[Leaf], range: Range<usize>) -> String {
        let Some(tokens) = leaves.get(range) else { return String::new() };
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return String::new();
        };
        let text = self.function.text.get(first.start as usize..last.end as usize);
        text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn regions(&mut self, index: OperationIndex, node: NodeId, mut head: Vec<ValueIndex>) {
        for (number, region) in regions_of(&self.function.tree, node).into_iter().enumerate() {
            self.function.operations[index].regions.push(WrittenRegion::default());
            if self.scopes.len() >= DEEPEST {
                continue;
            }
            self.scopes.push(HashMap::new());
            let arguments = std::mem::take(&mut head);
            self.region(index, number, region, &arguments);
            self.scopes.pop();
        }
    }

    fn region(
        &mut self,
        index: OperationIndex,
        number: usize,
        region: NodeId,
        head: &[ValueIndex],
    ) {
        let blocks: Vec<NodeId> = self.function.tree.children(region).collect();
        // Blocks may use what a later one in the text defines, so all definitions come first.
        let mut pending = Vec::new();
        for (position, block) in blocks.iter().enumerate() {
            let mut written = WrittenBlock::default();
            if position == 0 {
                written.arguments = head.to_vec();
            }
            let children: Vec<NodeId> = self.function.tree.children(*block).collect();
            for child in children {
                match self.function.tree.node(child).kind {
                    NodeKind::Label => self.label(child, &mut written),
                    NodeKind::Operation => pending.push((position, child, self.results(child))),
                    _ => {}
                }
            }
            for value in &written.arguments {
                let name = self.function.values[*value].name.clone();
                self.define(name, *value);
            }
            self.function.operations[index].regions[number].blocks.push(written);
        }
        for (_, _, results) in &pending {
            for value in results {
                let name = self.function.values[*value].name.clone();
                self.define(name, *value);
            }
        }
        for (position, child, results) in pending {
            let operation = self.operation(child, Some(index), (number, position), results);
            let region = &mut self.function.operations[index].regions[number];
            region.blocks[position].operations.push(operation);
        }
    }

    fn define(&mut self, name: String, value: ValueIndex) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, value);
        }
    }

    /// `^name(%a: i32, %b: f32):`.
    fn label(&mut self, node: NodeId, block: &mut WrittenBlock) {
        let leaves: Vec<Leaf> = self.function.tree.tokens_of(node).to_vec();
        for (at, leaf) in leaves.iter().enumerate() {
            match leaf.kind {
                TokenKind::Block if block.label.is_empty() => {
                    block.label = self.text(leaf).to_owned();
                }
                TokenKind::Value => {
                    let name = self.text(leaf).to_owned();
                    let type_text = self.type_until(&leaves, at + 2);
                    let value = self.value(name, Some(type_text), None, leaf.start);
                    block.arguments.push(value);
                }
                _ => {}
            }
        }
    }

    /// `%a, %r:2`.
    fn results(&mut self, node: NodeId) -> Vec<ValueIndex> {
        /// More results than any operation has.
        const MOST: u32 = 4096;
        let Some(results) = self.function.tree.child(node, NodeKind::Results) else {
            return Vec::new();
        };
        let leaves: Vec<Leaf> = self.function.tree.tokens_of(results).to_vec();
        let mut values = Vec::new();
        for (at, leaf) in leaves.iter().enumerate() {
            if leaf.kind != TokenKind::Value {
                continue;
            }
            let name = self.text(leaf).to_owned();
            let is_many = leaves.get(at + 1).is_some_and(|it| it.is(b':'));
            let count = leaves.get(at + 2).filter(|_| is_many);
            let count = count.and_then(|it| self.text(it).parse::<u32>().ok());
            match count {
                Some(count) => {
                    values.extend((0..count.min(MOST)).map(|number| {
                        self.value(format!("{name}#{number}"), None, None, leaf.start)
                    }));
                }
                None => values.push(self.value(name, None, None, leaf.start)),
            }
        }
        values
    }

    fn result_types(&mut self, index: OperationIndex) {
        let written = &self.function.operations[index];
        let arguments: Vec<ValueIndex> = written.initial.iter().map(|(value, _)| *value).collect();
        let results = written.results.clone();
        if results.is_empty() && arguments.is_empty() {
            return;
        }
        let leaves = head_leaves(&self.function.tree, written.node);
        let types = self.types(&written.name.clone(), &leaves);
        if types.len() == results.len() {
            for (value, type_text) in results.iter().zip(&types) {
                self.function.values[*value].type_text = Some(type_text.clone());
            }
        }
        self.loop_types(index, &arguments, &types, &leaves);
    }

    /// The arguments that a loop's head names have the types of its results, after those that
    /// count.
    fn loop_types(
        &mut self,
        index: OperationIndex,
        arguments: &[ValueIndex],
        types: &[String],
        leaves: &[Leaf],
    ) {
        let name = self.function.operations[index].name.clone();
        let counters = arguments.len().saturating_sub(types.len());
        match name.as_str() {
            "scf.for" | "affine.for" if counters == 1 || types.is_empty() => {
                let colon = leaves.iter().rposition(|it| it.is(b':'));
                let declared = colon.map(|at| self.type_until(leaves, at + 1));
                let counter = declared.filter(|it| it.starts_with('i'));
                let counter = counter.unwrap_or_else(|| "index".to_owned());
                if let Some(value) = arguments.first() {
                    self.function.values[*value].type_text = Some(counter);
                }
                for (value, type_text) in arguments.iter().skip(1).zip(types) {
                    self.function.values[*value].type_text = Some(type_text.clone());
                }
            }
            "scf.while" => {
                let arrow = leaves.iter().rposition(|it| it.kind == TokenKind::Arrow);
                let colon = leaves.iter().rposition(|it| it.is(b':'));
                let (Some(colon), Some(arrow)) = (colon, arrow) else { return };
                let taken = self.list(leaves, colon + 1..arrow);
                if taken.len() == arguments.len() {
                    for (value, type_text) in arguments.iter().zip(taken) {
                        self.function.values[*value].type_text = Some(type_text);
                    }
                }
            }
            _ => {}
        }
    }

    /// The types of an operation's results, as far as its text says them.
    fn types(&self, name: &str, leaves: &[Leaf]) -> Vec<String> {
        let one = |text: &str| vec![text.to_owned()];
        match name {
            "tensor.dim" | "memref.dim" | "linalg.index" | "tensor.rank" | "memref.rank"
            | "util.list.size" | "util.buffer.size" => return one("index"),
            _ => {}
        }
        let (colon, arrow) = outermost_separators(leaves);
        let start = match (colon, arrow) {
            // Of a loop, the type behind the colon is that of its counter.
            (_, Some(arrow)) if name == "scf.for" => arrow + 1,
            _ if name == "scf.for" => return Vec::new(),
            (Some(colon), Some(arrow)) if arrow > colon => arrow + 1,
            (Some(colon), _) => colon + 1,
            (None, Some(arrow)) => arrow + 1,
            (None, None) if name == "arith.constant" => return one("i1"),
            (None, None) => return Vec::new(),
        };
        let types = self.list(leaves, start..leaves.len());
        let first = types.first().map_or("", String::as_str);
        match name {
            "arith.cmpi" | "arith.cmpf" | "util.cmp.eq" | "util.cmp.ne" | "index.cmp" => {
                if first.contains('<') { Vec::new() } else { one("i1") }
            }
            "arith.select" => types.last().cloned().into_iter().collect(),
            "tensor.extract" | "memref.load" => element(first).into_iter().collect(),
            "util.list.get" if colon > arrow => {
                let inner = first.strip_prefix("!util.list<").and_then(|it| it.strip_suffix('>'));
                inner.map(str::to_owned).into_iter().collect()
            }
            _ => types,
        }
    }

    /// Types with commas between them, with or without parentheses; of `A to B` the latter.
    fn list(&self, leaves: &[Leaf], range: Range<usize>) -> Vec<String> {
        let mut types = Vec::new();
        let mut at = range.start;
        let is_list = leaves.get(at).is_some_and(|it| it.is(b'('));
        at += usize::from(is_list);
        while at < range.end {
            if leaves[at].is(b')') || leaves[at].is(b'{') {
                break;
            }
            let end = self.type_end(leaves, at, range.end);
            if end == at {
                at += 1;
                continue;
            }
            let target = (at..end)
                .rev()
                .find(|it| leaves[*it].kind == TokenKind::Word && self.text(&leaves[*it]) == "to");
            types.push(self.span(leaves, target.map_or(at, |it| it + 1)..end));
            at = end;
            match leaves.get(at) {
                Some(next) if next.is(b',') => at += 1,
                _ => break,
            }
        }
        types
    }

    fn type_end(&self, leaves: &[Leaf], start: usize, limit: usize) -> usize {
        let mut depth = 0_usize;
        for (at, leaf) in leaves.iter().enumerate().take(limit).skip(start) {
            match leaf.kind {
                TokenKind::Punct(b',' | b'{') if depth == 0 => return at,
                TokenKind::Punct(b'(' | b'[' | b'<' | b'{') => depth += 1,
                TokenKind::Punct(b')' | b']' | b'>' | b'}') if depth == 0 => return at,
                TokenKind::Punct(b')' | b']' | b'>' | b'}') => depth -= 1,
                TokenKind::Word if depth == 0 && at > start && ends_type(self.text(leaf)) => {
                    return at;
                }
                _ => {}
            }
        }
        limit
    }
}

/// Whether a word comes after a type rather than in it.
fn ends_type(word: &str) -> bool {
    matches!(word, "loc" | "do" | "else" | "attributes")
}

/// The last colon and the last arrow that are in no bracket.
fn outermost_separators(leaves: &[Leaf]) -> (Option<usize>, Option<usize>) {
    let (mut colon, mut arrow, mut depth) = (None, None, 0_usize);
    for (at, leaf) in leaves.iter().enumerate() {
        match leaf.kind {
            TokenKind::Punct(b'(' | b'[' | b'<' | b'{') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'>' | b'}') => depth = depth.saturating_sub(1),
            TokenKind::Punct(b':') if depth == 0 => colon = Some(at),
            TokenKind::Arrow if depth == 0 => arrow = Some(at),
            _ => {}
        }
    }
    (colon, arrow)
}

/// The element type of `tensor<4x?xf32>`.
pub(crate) fn element(shaped: &str) -> Option<String> {
    let inner = shaped.split_once('<')?.1.strip_suffix('>')?;
    let inner = inner.split(',').next()?;
    let mut rest = inner;
    while let Some((size, after)) = rest.split_once('x') {
        let is_size = size == "?" || size.bytes().all(|byte| byte.is_ascii_digit());
        if !is_size || size.is_empty() {
            break;
        }
        rest = after;
    }
    Some(rest.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"module @m {
  util.global private @g = 5 : i64
  util.func private @"a b"(%n: i64, %t: tensor<4x?xf32> {x}) -> i64 {
    %c0 = arith.constant 0 : index
    %c = arith.cmpi slt, %n, %n : i64
    scf.for %j = %c to %c step %c : i1 {
    }
    %r:2 = scf.for %i = %c0 to %c0 step %c0 iter_args(%a = %n, %b = %c0) -> (i64, index) : index {
      %s = arith.addi %a, %n : i64
      %e = tensor.extract %t[%i, %c0] : tensor<4x?xf32>
      scf.yield %s, %i : i64, index
    }
    %w = scf.while (%k = %n) : (i64) -> i64 {
      scf.condition(%c) %k : i64
    } do {
    ^bb0(%k: i64):
      %x = arith.index_cast %k : i64 to index
      scf.yield %k : i64
    }
    util.return %r#0 : i64
  }
  func.func @cfg(%a: i1, %n: i32) -> i32 {
    cf.cond_br %a, ^one, ^two(%n : i32)
  ^one:
    %x = arith.addi %n, %n : i32
    cf.br ^two(%x : i32)
  ^two(%y: i32):
    %z = arith.muli %y, %n : i32
    return %z : i32
  }
}
"#;

    fn names(function: &WrittenFunction, place: Place) -> Vec<String> {
        let operation = function.operation_at(place).unwrap();
        let scope = function.in_scope(operation).into_iter();
        let shown = scope.map(|it| {
            let value = &function.values[it];
            format!("{}: {}", value.name, value.type_text.as_deref().unwrap_or("?"))
        });
        shown.collect()
    }

    #[test]
    fn scopes_and_types() {
        let file = WrittenFile::scan(TEXT);
        let function = file.read(TEXT, file.named("a b").unwrap()).unwrap();
        assert_eq!(file.at((3, 3)), Some(0));
        let outer =
            ["%n: i64", "%t: tensor<4x?xf32>", "%c0: index", "%c: i1"].map(str::to_owned).to_vec();
        assert_eq!(names(&function, (8, 12)), outer);
        let inside = ["%i: index", "%a: i64", "%b: index", "%s: i64", "%e: f32"];
        let whole: Vec<String> = outer.iter().cloned().chain(inside.map(str::to_owned)).collect();
        assert_eq!(names(&function, (11, 7)), whole);
        let after = ["%r#0: i64", "%r#1: index"].map(str::to_owned);
        let inner = [&outer[..], &after[..]].concat();
        assert_eq!(names(&function, (14, 7)), [&inner[..], &["%k: i64".to_owned()]].concat());
        let last = ["%k: i64", "%x: index"].map(str::to_owned);
        assert_eq!(names(&function, (18, 7)), [&inner[..], &last[..]].concat());
        assert_eq!(names(&function, (20, 5)), [&inner[..], &["%w: i64".to_owned()]].concat());
        assert!(file.global(TEXT, "g").unwrap().contains("= 5 : i64"));
    }

    #[test]
    fn blocks_see_what_dominates_them() {
        let file = WrittenFile::scan(TEXT);
        let function = file.read(TEXT, file.named("cfg").unwrap()).unwrap();
        assert_eq!(names(&function, (29, 5)), ["%a: i1", "%n: i32", "%y: i32", "%z: i32"]);
        assert_eq!(names(&function, (26, 5)), ["%a: i1", "%n: i32", "%x: i32"]);
    }
}
