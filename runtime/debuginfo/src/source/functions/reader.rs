//! Reads a [`SourceFunction`] from its text.
//!
//! The reader knows MLIR's notation for names (`%r#1`, labels, `%i = %low` in the head of a loop)
//! and types, but not what operations mean; that is [`crate::proof`]'s business.

use std::collections::HashMap;

use syntax::{Language, Leaf, NodeId, NodeKind, Shape, TokenKind, Tree};

use super::function::{
    FunctionText, LineColumn, OperationIndex, SourceBlock, SourceFunction, SourceOperation,
    SourceRegion, SourceValue, ValueIndex, head_leaves, is_region,
};
use super::types::{HeadTypes, TypeAliases};
use crate::source::lines::Lines;

/// Regions nested deeper are not read.
const DEEPEST: usize = 64;

/// The visible names, by region.
type Scopes = Vec<HashMap<String, ValueIndex>>;

struct Reader<'a> {
    aliases: &'a TypeAliases,
    function: SourceFunction,
    lines: Lines,
    start: LineColumn,
    scopes: Scopes,
}

/// Reads a function whose text begins at a position of its file.
pub(super) fn read(text: FunctionText, start: LineColumn, aliases: &TypeAliases) -> SourceFunction {
    Reader::read(text, start, aliases)
}

impl<'a> Reader<'a> {
    fn read(text: FunctionText, start: LineColumn, aliases: &'a TypeAliases) -> SourceFunction {
        let shape = Shape::default();
        let tree = Tree::parse(&*text, 0..text.len(), Language::Mlir, shape);
        let root = tree.children(0).find(|it| tree.node(*it).kind == NodeKind::Operation);
        let lines = Lines::of(&text);
        let function = SourceFunction {
            values: Vec::new(),
            operations: Vec::new(),
            by_place: HashMap::new(),
            tree,
            text,
        };
        let mut reader = Self { aliases, function, lines, start, scopes: Vec::new() };
        if let Some(root) = root {
            reader.operation(root, None, (0, 0), Vec::new());
        }
        let places = reader.function.operations.iter().enumerate();
        // `stablehlo.reduce(…)` says that it is at its bracket.
        let ends = places.clone().map(|(index, it)| {
            let length = u32::try_from(it.name.len()).unwrap_or(0);
            ((it.place.0, it.place.1.saturating_add(length)), index)
        });
        let own = places.map(|(index, it)| (it.place, index));
        reader.function.by_place = ends.chain(own).collect();
        reader.function
    }

    fn place(&self, offset: u32) -> LineColumn {
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
        self.function.values.push(SourceValue { name, type_text, definition, place });
        index
    }

    fn resolve(&self, name: &str) -> Option<ValueIndex> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// Reads an operation whose results were read before.
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
        let name = tree.op_name(&*self.function.text, 0, node);
        let index = self.function.operations.len();
        let written = SourceOperation {
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

    /// Reads the operands; returns the arguments that the head declares.
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
                let type_text = self.types(&leaves).type_at(at + length + 1);
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

    /// A name, `%r` or `%r#1`, and its number of tokens.
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

    fn types<'t>(&'t self, leaves: &'t [Leaf]) -> HeadTypes<'t> {
        HeadTypes { text: &self.function.text, leaves, aliases: self.aliases }
    }

    fn regions(&mut self, index: OperationIndex, node: NodeId, mut head: Vec<ValueIndex>) {
        // `stablehlo.while(%a = %x) cond { … } do { … }`: both regions begin with what it declares.
        let is_of_all = self.function.operations[index].name == "stablehlo.while";
        for (number, region) in regions_of(&self.function.tree, node).into_iter().enumerate() {
            self.function.operations[index].regions.push(SourceRegion::default());
            if self.scopes.len() >= DEEPEST {
                continue;
            }
            self.scopes.push(HashMap::new());
            let arguments = if is_of_all { head.clone() } else { std::mem::take(&mut head) };
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
        // A block may use values of a later one in the text, so all definitions are read first.
        let mut pending = Vec::new();
        for (position, block) in blocks.iter().enumerate() {
            let mut written = SourceBlock::default();
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
    fn label(&mut self, node: NodeId, block: &mut SourceBlock) {
        let leaves: Vec<Leaf> = self.function.tree.tokens_of(node).to_vec();
        for (at, leaf) in leaves.iter().enumerate() {
            match leaf.kind {
                TokenKind::Block if block.label.is_empty() => {
                    block.label = self.text(leaf).to_owned();
                }
                TokenKind::Value => {
                    let name = self.text(leaf).to_owned();
                    let type_text = self.types(&leaves).type_at(at + 2);
                    let value = self.value(name, Some(type_text), None, leaf.start);
                    block.arguments.push(value);
                }
                _ => {}
            }
        }
    }

    /// `%a, %r:2`.
    fn results(&mut self, node: NodeId) -> Vec<ValueIndex> {
        /// No operation has more results.
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

    /// Gives the results and the arguments of a loop the types that the head declares.
    fn result_types(&mut self, index: OperationIndex) {
        let operation = &self.function.operations[index];
        let arguments: Vec<ValueIndex> =
            operation.initial.iter().map(|(value, _)| *value).collect();
        let results = operation.results.clone();
        if results.is_empty() && arguments.is_empty() {
            return;
        }
        let leaves = head_leaves(&self.function.tree, operation.node);
        let head = self.types(&leaves);
        let mut types = head.of_results(&operation.name);
        if let Some(last) = types.last_mut().filter(|_| operation.name == "stablehlo.while") {
            // `%r:2 = stablehlo.while(…) : tensor<i32>, tensor<4xf32> cond {`
            last.truncate(last.trim_end_matches("cond").trim_end().len());
        }
        let of_arguments = head.of_loop_arguments(&operation.name, arguments.len(), &types);
        if types.len() == results.len() {
            self.set_types(&results, types);
        }
        self.set_types(&arguments, of_arguments);
    }

    fn set_types(&mut self, values: &[ValueIndex], types: Vec<String>) {
        for (value, type_text) in values.iter().zip(types) {
            self.function.values[*value].type_text = Some(type_text);
        }
    }
}

/// The regions of an operation, in the pretty or the generic form.
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
