//! The names of a chunk: values, blocks, symbols and aliases, with their definitions and uses.
//!
//! MLIR's scoping rules, without its dialects. Results belong to the region around their operation,
//! block arguments to the region of the block. Names in the head of an operation with regions
//! (`scf.for %i = …`, `iter_args(%a = %b)`, `with(%a as %b)`) belong to a scope of their own around
//! these regions. Only a dialect knows which names of a head are such arguments; here they are the
//! names before `=`, the names after `as`, the names with a type in the head of a function, and the
//! names without any other definition.
//!
//! In `.vmasm` a register may be written many times. A use means the last write before it in the
//! text.

use std::collections::HashMap;

use mlir::structure::{Fact, has};
use syntax::{Language, Leaf, NodeId, NodeKind, OpClass, Source, TokenKind, Tree};

/// A range of bytes, from the chunk's start.
pub(crate) type Span = std::ops::Range<u32>;
/// The index of a scope.
pub(crate) type ScopeId = u32;

/// A region of the text where names are visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The enclosing scope; `None` if its names are not visible here.
    pub parent: Option<ScopeId>,
    /// The operation or region that makes it.
    pub node: NodeId,
}

/// The origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// A result of an operation, with its index.
    Result(u32),
    /// An argument of a block.
    BlockArgument,
    /// An argument of a function or of another region, named in the operation's head.
    RegionArgument,
}

/// A definition of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    /// The place of its name, sigil included.
    pub span: Span,
    /// The hash of its name.
    pub hash: u64,
    /// The scope where it is visible.
    pub scope: ScopeId,
    /// The operation that defines it, or the label.
    pub node: NodeId,
    /// Its origin.
    pub kind: ValueKind,
}

/// A use of a value or block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    /// The place of the name, sigil included.
    pub span: Span,
    /// The hash of the name.
    pub hash: u64,
    /// The scope of the use.
    pub scope: ScopeId,
    /// The index of its definition in this chunk.
    pub definition: Option<u32>,
}

/// A block with a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// The place of its name, sigil included.
    pub span: Span,
    /// The hash of its name.
    pub hash: u64,
    /// The scope of the region that holds it.
    pub scope: ScopeId,
    /// The block's node.
    pub node: NodeId,
}

/// The names of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// The scopes. The first is the whole chunk.
    pub scopes: Vec<Scope>,
    /// Values, in the order of the text.
    pub values: Vec<Value>,
    /// Uses of values, in the order of the text.
    pub value_uses: Vec<Use>,
    /// Blocks.
    pub blocks: Vec<Block>,
    /// Uses of blocks.
    pub block_uses: Vec<Use>,
    /// Every mention of a symbol.
    pub symbols: Vec<Span>,
    /// Every mention of an alias: `#map`, `!type`. Names of dialects' attributes and types are left
    /// out.
    pub aliases: Vec<Span>,
}

/// The hash of a name.
pub(crate) fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Names {
    /// The names of a tree that begins at `base` of `source`.
    pub(crate) fn of<S: Source + ?Sized>(
        source: &S,
        base: usize,
        tree: &Tree,
        language: Language,
    ) -> Self {
        let mut reader = NameReader {
            source,
            base,
            tree,
            language,
            names: Names { scopes: vec![Scope { parent: None, node: 0 }], ..Names::default() },
            scope_of_node: vec![0; tree.nodes().len()],
            regions: regions(tree),
            values: HashMap::new(),
            is_definition: vec![false; tree.tokens().len()],
        };
        reader.scopes();
        reader.definitions();
        if language == Language::Mlir {
            reader.uses();
        } else {
            reader.register_uses();
        }
        reader.resolve_blocks();
        reader.names
    }

    /// Whether `inner` is `outer` or a scope inside it that sees its names.
    pub(crate) fn sees(&self, inner: ScopeId, outer: ScopeId) -> bool {
        let mut next = Some(inner);
        while let Some(scope) = next {
            if scope == outer {
                return true;
            }
            next = self.scopes[scope as usize].parent;
        }
        false
    }
}

struct NameReader<'a, S: Source + ?Sized> {
    source: &'a S,
    base: usize,
    tree: &'a Tree,
    language: Language,
    names: Names,
    /// The scope of each node's content.
    scope_of_node: Vec<ScopeId>,
    /// The token ranges of the regions of each operation with regions.
    regions: HashMap<NodeId, Vec<std::ops::Range<u32>>>,
    /// The first definition of each name in each scope.
    values: HashMap<(ScopeId, u64), u32>,
    is_definition: Vec<bool>,
}

/// The regions of each operation, also those inside groups: `"name"() ({ … })`.
fn regions(tree: &Tree) -> HashMap<NodeId, Vec<std::ops::Range<u32>>> {
    let mut regions: HashMap<NodeId, Vec<_>> = HashMap::new();
    for id in 1..tree.nodes().len() as u32 {
        let node = tree.node(id);
        if node.kind == NodeKind::Region
            && let Some(operation) = tree.operation_of(id)
        {
            regions.entry(operation).or_default().push(node.first..node.last);
        }
    }
    regions
}

impl<S: Source + ?Sized> NameReader<'_, S> {
    fn text(&self, token: &Leaf) -> std::borrow::Cow<'_, str> {
        self.tree.text(self.source, self.base, token)
    }

    fn hash_of(&self, token: &Leaf) -> u64 {
        let text = self.text(token);
        match (self.language, text.strip_prefix("%R")) {
            // `%R3` is the register `%r3`, moved.
            (Language::Vmasm, Some(number)) => hash(&format!("%r{number}")),
            _ => hash(&text),
        }
    }

    /// Assigns a scope to every node. In `.vmasm` a function is one scope.
    fn scopes(&mut self) {
        for id in 1..self.tree.nodes().len() as u32 {
            let node = self.tree.node(id);
            let outer = self.scope_of_node[node.parent as usize];
            let scope = match node.kind {
                NodeKind::Operation if self.regions.contains_key(&id) => {
                    let isolated = self.is_isolated(id);
                    Some((!isolated).then_some(outer))
                }
                NodeKind::Operation if self.is_function(id) => Some(None),
                NodeKind::Region if self.language == Language::Mlir => Some(Some(outer)),
                _ => None,
            };
            self.scope_of_node[id as usize] = match scope {
                Some(parent) => {
                    self.names.scopes.push(Scope { parent, node: id });
                    self.names.scopes.len() as u32 - 1
                }
                None => outer,
            };
        }
    }

    fn class(&self, id: NodeId) -> OpClass {
        syntax::class_of(&self.tree.op_name(self.source, self.base, id))
    }

    fn is_function(&self, id: NodeId) -> bool {
        matches!(self.class(id), OpClass::Function | OpClass::Import)
    }

    fn is_isolated(&self, id: NodeId) -> bool {
        matches!(
            self.class(id),
            OpClass::Function
                | OpClass::Import
                | OpClass::Module
                | OpClass::Executable
                | OpClass::Initializer
        )
    }

    fn define(&mut self, token: usize, scope: ScopeId, node: NodeId, kind: ValueKind) {
        let leaf = self.tree.tokens()[token];
        let hash = self.hash_of(&leaf);
        let span = leaf.start..leaf.end;
        self.is_definition[token] = true;
        self.values.entry((scope, hash)).or_insert(self.names.values.len() as u32);
        self.names.values.push(Value { span, hash, scope, node, kind });
    }

    /// Finds the definitions that their place alone reveals.
    fn definitions(&mut self) {
        for id in 1..self.tree.nodes().len() as u32 {
            let node = *self.tree.node(id);
            let outer = self.scope_of_node[node.parent as usize];
            match node.kind {
                // Results belong to the scope around their operation.
                NodeKind::Results => {
                    let around = self.tree.node(node.parent).parent;
                    let scope = self.scope_of_node[around as usize];
                    self.results(node.parent, node.first..node.last, scope);
                }
                NodeKind::Label => self.label(id, outer),
                NodeKind::Operation if self.language == Language::Mlir => self.head(id),
                NodeKind::Operation if self.is_function(id) => self.head(id),
                _ => {}
            }
        }
        self.names.values.sort_by_key(|value| value.span.start);
        self.values.clear();
        for (index, value) in self.names.values.iter().enumerate() {
            self.values.entry((value.scope, value.hash)).or_insert(index as u32);
        }
    }

    fn results(&mut self, operation: NodeId, tokens: std::ops::Range<u32>, scope: ScopeId) {
        let mut count = 0;
        for token in tokens.start as usize..tokens.end as usize {
            let leaf = self.tree.tokens()[token];
            match leaf.kind {
                TokenKind::Value => {
                    self.define(token, scope, operation, ValueKind::Result(count));
                    count += 1;
                }
                // `%a:2` is a pack of that many results.
                TokenKind::Number if self.language == Language::Mlir => {
                    let many: u32 = self.text(&leaf).parse().unwrap_or(1);
                    count = count.saturating_add(many.saturating_sub(1));
                }
                _ => {}
            }
        }
    }

    fn label(&mut self, id: NodeId, scope: ScopeId) {
        let node = *self.tree.node(id);
        for token in node.first as usize..node.last as usize {
            let leaf = self.tree.tokens()[token];
            match leaf.kind {
                TokenKind::Block if token == node.first as usize => {
                    let hash = self.hash_of(&leaf);
                    let span = leaf.start..leaf.end;
                    self.is_definition[token] = true;
                    self.names.blocks.push(Block { span, hash, scope, node: node.parent });
                }
                // Types hold no values, so each value is an argument.
                TokenKind::Value => self.define(token, scope, id, ValueKind::BlockArgument),
                _ => {}
            }
        }
    }

    /// Finds the region arguments in an operation's head.
    fn head(&mut self, id: NodeId) {
        let scope = self.scope_of_node[id as usize];
        let opens_scope = self.names.scopes[scope as usize].node == id;
        if !opens_scope {
            return;
        }
        let is_function = self.is_function(id);
        let named = has(&self.tree.op_name(self.source, self.base, id), Fact::BeginsWithArguments);
        let node = *self.tree.node(id);
        let results = self
            .tree
            .child(id, NodeKind::Results)
            .map_or(node.first, |results| self.tree.node(results).last);
        let regions = self.regions.get(&id).cloned().unwrap_or_default();
        let mut token = results as usize;
        let mut lists = 0;
        while token < node.last as usize {
            if let Some(region) = regions.iter().find(|region| region.start as usize == token) {
                token = region.end as usize;
                continue;
            }
            let leaf = self.tree.tokens()[token];
            lists += u32::from(leaf.is(b'('));
            if leaf.kind == TokenKind::Value {
                let next = self.tree.tokens().get(token + 1);
                // Results were skipped; a head that begins with a value has no token before it.
                let Some(before) = token.checked_sub(1).map(|before| &self.tree.tokens()[before])
                else {
                    token += 1;
                    continue;
                };
                let assigned = next.is_some_and(|next| next.is(b'='))
                    || self.after_location(token + 1).is_some_and(|next| next.is(b'='));
                let renamed = before.kind == TokenKind::Word && self.text(before) == "as";
                let typed = next.is_some_and(|next| next.is(b':'))
                    && (before.is(b'(') || before.is(b',') || before.kind == TokenKind::Comment);
                let parameter =
                    typed && (is_function && lists == 1 || self.list_is_assigned(id, token));
                // `%i4:5: i64` and `%i4: i32` in `.vmasm`.
                let register = self.language == Language::Vmasm && lists == 1;
                // `scf.forall (%i, %j) in …`
                let counter = named && lists == 1;
                if assigned || renamed || parameter || register || counter {
                    self.define(token, scope, id, ValueKind::RegionArgument);
                }
            }
            token += 1;
        }
    }

    /// The token after `loc(…)`, if that begins here: printers put it between a loop's counter and
    /// the `=`.
    fn after_location(&self, at: usize) -> Option<&Leaf> {
        let tokens = self.tree.tokens();
        let first = tokens.get(at).filter(|token| token.kind == TokenKind::Word)?;
        if self.text(first) != "loc" {
            return None;
        }
        let mut nest = 0_usize;
        for (index, token) in tokens.iter().enumerate().skip(at + 1) {
            nest += usize::from(token.is(b'('));
            nest -= usize::from(token.is(b')')).min(nest);
            if nest == 0 {
                return tokens.get(index + 1);
            }
        }
        None
    }

    /// Whether the parentheses around a token follow a `=`: `… = (%a: index) {`.
    fn list_is_assigned(&self, id: NodeId, token: usize) -> bool {
        self.tree.children(id).any(|child| {
            let node = self.tree.node(child);
            node.kind == NodeKind::Paren
                && (node.first as usize) < token
                && token < node.last as usize
                && node.first > 0
                && self.tree.tokens()[node.first as usize - 1].is(b'=')
        })
    }

    fn lookup(&self, scope: ScopeId, hash: u64) -> Option<u32> {
        let mut next = Some(scope);
        while let Some(scope) = next {
            if let Some(&value) = self.values.get(&(scope, hash)) {
                return Some(value);
            }
            next = self.names.scopes[scope as usize].parent;
        }
        None
    }

    fn uses(&mut self) {
        let tokens = self.tree.tokens_in_nodes();
        let found: Vec<(usize, NodeId)> =
            tokens.filter(|(token, _)| self.matters(*token)).collect();
        for (token, node) in found {
            let leaf = self.tree.tokens()[token];
            let span = leaf.start..leaf.end;
            match leaf.kind {
                TokenKind::Value => {
                    let scope = self.scope_of_node[node as usize];
                    let hash = self.hash_of(&leaf);
                    let mut definition = self.lookup(scope, hash);
                    let own = self.tree.operation_of(node);
                    if definition.is_none()
                        && let Some(own) = own
                        && self.names.scopes[scope as usize].node == own
                        && !self.shows_arguments(own)
                    {
                        // Only operations with regions have a scope of their own.
                        self.define(token, scope, own, ValueKind::RegionArgument);
                        continue;
                    }
                    // Operands do not see their own operation's arguments of the same name.
                    if let Some(index) = definition {
                        let value = &self.names.values[index as usize];
                        if value.span.start > leaf.start
                            && value.kind == ValueKind::RegionArgument
                            && own == Some(value.node)
                            && let Some(outer) = self.outer_scope(value.node)
                        {
                            definition = self.lookup(outer, hash).or(definition);
                        }
                    }
                    self.names.value_uses.push(Use { span, hash, scope, definition });
                }
                TokenKind::Block => {
                    let scope = self.region_scope(node);
                    let hash = self.hash_of(&leaf);
                    self.names.block_uses.push(Use { span, hash, scope, definition: None });
                }
                TokenKind::Symbol => self.names.symbols.push(span),
                _ => self.names.aliases.push(span),
            }
        }
        // New arguments move to their places in the order of the text.
        self.sort_values();
    }

    /// Whether the place of a name in an operation's head tells that it is an argument, so that all
    /// others are operands.
    fn shows_arguments(&self, id: NodeId) -> bool {
        let op = self.tree.op_name(self.source, self.base, id);
        self.is_generic(id) || has(&op, Fact::ShowsArguments)
    }

    /// Whether an operation is written as `"name"(…)`: there only labels name arguments.
    fn is_generic(&self, id: NodeId) -> bool {
        let name = self.tree.child(id, NodeKind::Name);
        let first = name.and_then(|name| self.tree.tokens_of(name).first());
        first.is_some_and(|token| token.kind == TokenKind::String)
    }

    /// The scope around an operation that has a scope of its own.
    fn outer_scope(&self, operation: NodeId) -> Option<ScopeId> {
        Some(self.scope_of_node[self.tree.node(operation).parent as usize])
    }

    fn sort_values(&mut self) {
        let mut order: Vec<u32> = (0..self.names.values.len() as u32).collect();
        order.sort_by_key(|&index| self.names.values[index as usize].span.start);
        let mut place = vec![0; order.len()];
        for (to, &from) in order.iter().enumerate() {
            place[from as usize] = to as u32;
        }
        self.names.values = order.iter().map(|&i| self.names.values[i as usize].clone()).collect();
        for used in &mut self.names.value_uses {
            used.definition = used.definition.map(|index| place[index as usize]);
        }
    }

    /// Whether a token mentions a name without defining it.
    fn matters(&self, token: usize) -> bool {
        let leaf = &self.tree.tokens()[token];
        if self.is_definition[token] {
            return false;
        }
        match leaf.kind {
            TokenKind::Value | TokenKind::Block => leaf.end - leaf.start > 1,
            TokenKind::Symbol => true,
            TokenKind::Attribute | TokenKind::Type => {
                let next = self.tree.tokens().get(token + 1);
                let has_body = next.is_some_and(|next| next.is(b'<') && next.start == leaf.end);
                let text = self.text(leaf);
                let named = text[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                named && !has_body && !text.contains('.')
            }
            _ => false,
        }
    }

    /// The scope of the region around an operation, where its successor blocks are.
    fn region_scope(&self, node: NodeId) -> ScopeId {
        let region = self.tree.operation_of(node).map_or(0, |id| self.tree.node(id).parent);
        self.scope_of_node[region as usize]
    }

    /// Resolves registers: a use means the last write before it.
    fn register_uses(&mut self) {
        let tree = self.tree;
        let mut latest: HashMap<(ScopeId, u64), u32> = HashMap::new();
        let mut defined = std::mem::take(&mut self.names.values).into_iter().peekable();
        // An instruction reads its operands before it writes its results.
        let mut pending: Vec<Value> = Vec::new();
        for (token, node) in tree.tokens_in_nodes() {
            let leaf = self.tree.tokens()[token];
            if leaf.line_start {
                for value in pending.drain(..) {
                    latest.insert((value.scope, value.hash), self.names.values.len() as u32);
                    self.names.values.push(value);
                }
            }
            if self.is_definition[token] {
                while defined.peek().is_some_and(|value| value.span.start <= leaf.start) {
                    pending.extend(defined.next());
                }
                continue;
            }
            let scope = self.scope_of_node[node as usize];
            let span = leaf.start..leaf.end;
            match leaf.kind {
                TokenKind::Value => {
                    let hash = self.hash_of(&leaf);
                    let before = token.checked_sub(1).map(|before| self.tree.tokens()[before]);
                    if before.is_some_and(|before| before.kind == TokenKind::Arrow) {
                        // `%a->%b` writes `%b` on the way to a block.
                        let kind = ValueKind::BlockArgument;
                        pending.push(Value { span, hash, scope, node, kind });
                        continue;
                    }
                    let definition = latest.get(&(scope, hash)).copied();
                    self.names.value_uses.push(Use { span, hash, scope, definition });
                }
                TokenKind::Block => {
                    let hash = self.hash_of(&leaf);
                    self.names.block_uses.push(Use { span, hash, scope, definition: None });
                }
                TokenKind::Symbol => self.names.symbols.push(span),
                _ => {}
            }
        }
        self.names.values.append(&mut pending);
        // A register read in the text before the block that writes it.
        let mut first: HashMap<(ScopeId, u64), u32> = HashMap::new();
        for (index, value) in self.names.values.iter().enumerate() {
            first.entry((value.scope, value.hash)).or_insert(index as u32);
        }
        for used in self.names.value_uses.iter_mut().filter(|used| used.definition.is_none()) {
            used.definition = first.get(&(used.scope, used.hash)).copied();
        }
    }

    fn resolve_blocks(&mut self) {
        let mut by_name: HashMap<(ScopeId, u64), u32> = HashMap::new();
        for (index, block) in self.names.blocks.iter().enumerate() {
            by_name.entry((block.scope, block.hash)).or_insert(index as u32);
        }
        for used in &mut self.names.block_uses {
            used.definition = by_name.get(&(used.scope, used.hash)).copied();
        }
    }
}
