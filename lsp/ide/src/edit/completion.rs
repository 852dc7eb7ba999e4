//! Completion: names in scope, and what may begin an operation or an attribute.

use syntax::{Language, Lexer, NodeKind, OpClass, Symbol, TextRange, TokenKind};

use crate::Document;
use crate::describe::instructions;
use crate::resolve::{file_around, line_start, type_of};
use crate::text::{AnalysedChunk, LocalDefinition, chunks_sharing_values, hash};

/// The kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionItemKind {
    /// A value.
    Value,
    /// A symbol.
    Symbol,
    /// A block.
    Block,
    /// An alias.
    Alias,
    /// An operation.
    Operation,
    /// An attribute's key.
    Key,
}

/// One proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionItem {
    /// The text to show and to insert.
    pub label: String,
    /// Its kind.
    pub kind: CompletionItemKind,
    /// One line that describes it.
    pub detail: String,
    /// Markdown that describes it.
    pub documentation: String,
    /// The text to insert instead, with places to fill in such as `${1:name}`.
    pub snippet: Option<String>,
}

/// Items and the text that they replace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completions {
    /// The part of the name that is already typed, sigil included.
    pub replaces: TextRange,
    /// The items, nearest first.
    pub items: Vec<CompletionItem>,
    /// Whether some items were left out.
    pub is_incomplete: bool,
}

/// The most items.
const LIMIT: usize = 500;

/// Keys that IREE reads from a function's attributes: key, rest of the snippet, meaning.
const KEYS: &[(&str, &str, &str)] = &[
    ("iree.abi.stub", "", "The function already has the types of the ABI: no wrapper is made."),
    (
        "iree.abi.model",
        " = \"coarse-fences\"",
        "Appends two fences to the arguments: one to wait for, one to signal. Read from `util.func`.",
    ),
    (
        "iree.abi.declaration",
        " = \"${1:sync func @f()}\"",
        "The signature that tools show for the export. Read from `util.func`.",
    ),
    (
        "iree.abi",
        " = \"{\\\"a\\\":[$1],\\\"r\\\":[$2],\\\"v\\\":1}\"",
        "The signature for hosts as JSON. Read from `util.func`, or in `iree.reflection`.",
    ),
    ("iree.reflection", " = {$1}", "Pairs of strings that are copied into the module."),
    ("iree.abi.name", " = \"$1\"", "The name of an argument or result in the declaration."),
    (
        "iree.abi.output",
        " = ${1:0} : index",
        "This `!hal.buffer` argument provides the storage of the result.",
    ),
    ("iree.abi.encoding", " = $1", "The encoding of an argument or result at the boundary."),
    ("iree.abi.affinity", " = $1", "The device where an argument or result resides."),
    ("iree.abi.consume", "", "The callee may reuse the storage of the argument."),
    (
        "iree.abi.transients",
        "",
        "This `!hal.buffer` argument provides the storage of transient values.",
    ),
    (
        "llvm.emit_c_interface",
        "",
        "Makes a wrapper `_mlir_ciface_<name>`, which takes descriptors by pointer.",
    ),
    ("sym_visibility", " = \"${1|public,private,nested|}\"", "Where the symbol is visible."),
];

/// The completions at `offset`.
pub fn complete(document: &Document, offset: usize) -> Completions {
    let text = document.text();
    let start = line_start(text, offset);
    let tokens: Vec<_> =
        Lexer::new(text, start).take_while(|token| token.range.start < offset).collect();
    // A bracket and the like ends the name before it.
    let current = tokens.last().filter(|token| {
        let is_word = !matches!(token.kind, TokenKind::Punct(sign) if !b"%@^#!".contains(&sign));
        token.range.end >= offset && is_word
    });
    if current.is_some_and(|token| {
        matches!(token.kind, TokenKind::Comment | TokenKind::String | TokenKind::UnterminatedString)
    }) {
        return Completions::default();
    }
    let replaces = current.map_or(offset..offset, |token| token.range.start..offset);
    let before = tokens.len().checked_sub(1 + usize::from(current.is_some())).map(|at| &tokens[at]);
    let mut items = match current.map(|token| token.kind) {
        Some(TokenKind::Value | TokenKind::Punct(b'%')) => values(document, offset),
        Some(TokenKind::Symbol | TokenKind::Punct(b'@')) => symbols(document, offset),
        Some(TokenKind::Block | TokenKind::Punct(b'^')) => blocks(document, offset),
        Some(TokenKind::Attribute | TokenKind::Punct(b'#')) => aliases(document, offset, "#"),
        Some(TokenKind::Type | TokenKind::Punct(b'!')) => aliases(document, offset, "!"),
        Some(TokenKind::Word) | None => {
            let replaced = current.map_or(0, |_| 1);
            words(
                document,
                offset,
                &tokens[..tokens.len() - replaced],
                before.is_none_or(|token| token.is(b'=') || token.is(b']')),
                &text.slice(replaces.clone()),
            )
        }
        _ => return Completions { replaces: offset..offset, ..Completions::default() },
    };
    let typed = text.slice(replaces.clone());
    items.retain(|item| {
        item.label.starts_with(&*typed)
            || typed.len() <= 1
            || item.label.contains(typed.trim_start_matches(['%', '@', '^', '#', '!']))
    });
    let is_incomplete = items.len() > LIMIT;
    items.truncate(LIMIT);
    let replaces = match current.map(|token| token.kind) {
        Some(
            TokenKind::Punct(b'%' | b'@' | b'^' | b'#' | b'!')
            | TokenKind::Word
            | TokenKind::Value
            | TokenKind::Symbol
            | TokenKind::Block
            | TokenKind::Attribute
            | TokenKind::Type,
        ) => replaces,
        _ => offset..offset,
    };
    Completions { replaces, items, is_incomplete }
}

fn item(label: String, kind: CompletionItemKind, detail: String) -> CompletionItem {
    CompletionItem { label, kind, detail, documentation: String::new(), snippet: None }
}

/// Values in scope, latest first.
fn values(document: &Document, offset: usize) -> Vec<CompletionItem> {
    let Some(here) = document.analysis_at(offset) else { return Vec::new() };
    let tree = &here.analysis.tree;
    let names = &here.analysis.names;
    let at = here.relative(offset);
    // The innermost scope around the offset.
    let scope = {
        let node = tree.node_at(at);
        let ancestors: Vec<_> = tree.ancestors(node).collect();
        names
            .scopes
            .iter()
            .enumerate()
            .filter(|(_, scope)| ancestors.contains(&scope.node))
            .map(|(index, _)| index as u32)
            .next_back()
            .unwrap_or(0)
    };
    let mut items = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut offer = |analysed: &crate::text::AnalysedChunk, index: usize| {
        let value = &analysed.analysis.names.values[index];
        let place = analysed.absolute(&value.span);
        let label = document.text().slice(place.clone()).into_owned();
        if items.len() > LIMIT || !seen.insert(label.clone()) {
            return;
        }
        let found = LocalDefinition { analysed: analysed.clone(), index: index as u32 };
        items.push(item(
            label,
            CompletionItemKind::Value,
            type_of(document, &found).unwrap_or_default(),
        ));
    };
    for index in (0..names.values.len()).rev() {
        let value = &names.values[index];
        let is_before = (value.span.start as usize) < at;
        let is_itself = value.span.start as usize <= at && at <= value.span.end as usize;
        if is_before && !is_itself && names.sees(scope, value.scope) {
            offer(&here, index);
        }
    }
    for placed in chunks_sharing_values(document, &here.placed).iter().rev() {
        if placed.index >= here.placed.index {
            continue;
        }
        let analysed = document.analysis(placed);
        for index in (0..analysed.analysis.names.values.len()).rev() {
            if analysed.analysis.names.values[index].scope == 0 || placed.chunk.is_long_function() {
                offer(&analysed, index);
            }
        }
    }
    items
}

fn symbols(document: &Document, offset: usize) -> Vec<CompletionItem> {
    let within = file_around(document, offset);
    let text = document.text();
    let mut items = Vec::new();
    for placed in document.chunks().iter().filter(|placed| placed.chunk.name != 0) {
        if placed.start < within.start || placed.start >= within.end {
            continue;
        }
        let Some(symbol) = Symbol::read(text, &placed) else { continue };
        if crate::resolve::is_vm_export(&symbol) {
            continue;
        }
        let name = text.slice(symbol.name_token.clone()).into_owned();
        let label = if name.starts_with('@') { name } else { format!("@{}", symbol.name) };
        let detail = symbol.function_type.as_ref().map_or(symbol.op.clone(), |ty| {
            format!("{} {}", symbol.op, crate::calling::type_line(ty))
        });
        items.push(item(label, CompletionItemKind::Symbol, detail));
        if items.len() > LIMIT * 4 {
            break;
        }
    }
    items
}

fn blocks(document: &Document, offset: usize) -> Vec<CompletionItem> {
    let Some(here) = document.analysis_at(offset) else { return Vec::new() };
    let mut items = Vec::new();
    for placed in chunks_sharing_values(document, &here.placed) {
        let analysed = document.analysis(&placed);
        for block in &analysed.analysis.names.blocks {
            let label = document.text().slice(analysed.absolute(&block.span)).into_owned();
            items.push(item(label, CompletionItemKind::Block, "block".into()));
        }
    }
    items
}

fn aliases(document: &Document, offset: usize, sigil: &str) -> Vec<CompletionItem> {
    let within = file_around(document, offset);
    let text = document.text();
    let chunks = document.chunks().iter().filter(|placed| placed.chunk.class == OpClass::Alias);
    chunks
        .filter(|placed| within.contains(&placed.op_start()))
        .filter_map(|placed| {
            let token = Lexer::new(text, placed.op_start()).next()?;
            let label = token.text(text).into_owned();
            let detail = text.slice(token.range.end..placed.range().end.min(token.range.end + 120));
            let detail = detail.trim_start_matches([' ', '=']).trim().to_owned();
            label.starts_with(sigil).then(|| item(label, CompletionItemKind::Alias, detail))
        })
        .take(LIMIT)
        .collect()
}

/// Operations where one may begin, or keys in a dictionary.
fn words(
    document: &Document,
    offset: usize,
    before: &[syntax::Token],
    begins: bool,
    typed: &str,
) -> Vec<CompletionItem> {
    if begins {
        return operations(document, offset, typed);
    }
    let in_dictionary = document.analysis_at(offset).is_some_and(|here| {
        let tree = &here.analysis.tree;
        tree.node(tree.node_at(here.relative(offset))).kind == NodeKind::Dictionary
    });
    let opens = before.last().is_some_and(|token| token.is(b'{'));
    let after = opens || before.last().is_some_and(|token| token.is(b','));
    // At the end of the text, an empty dictionary may look like a region.
    let announced = before
        .len()
        .checked_sub(2)
        .is_some_and(|at| before[at].is(b'=') || before[at].text(document.text()) == "attributes");
    if document.language() == Language::Mlir && after && (in_dictionary || opens && announced) {
        return KEYS
            .iter()
            .map(|(key, rest, about)| CompletionItem {
                documentation: (*about).to_owned(),
                snippet: Some(format!("{key}{rest}")),
                ..item((*key).to_owned(), CompletionItemKind::Key, "attribute".into())
            })
            .collect();
    }
    Vec::new()
}

fn operations(document: &Document, offset: usize, typed: &str) -> Vec<CompletionItem> {
    let mut items = Vec::new();
    let in_vm = document.language() == Language::Vmasm
        || document.chunks().at(offset).is_some_and(|placed| {
            let ancestors = document.chunks().ancestors(placed.index);
            ancestors.iter().chain([&placed]).any(|open| {
                Symbol::read(document.text(), open)
                    .is_some_and(|symbol| symbol.op.starts_with("vm."))
            })
        });
    if in_vm {
        for op in vmfb::Op::all() {
            let about = instructions::describe(op);
            items.push(CompletionItem {
                documentation: about.markdown,
                snippet: (document.language() == Language::Vmasm).then_some(about.snippet),
                ..item(format!("vm.{}", op.mnemonic()), CompletionItemKind::Operation, about.syntax)
            });
        }
    }
    if document.language() == Language::Mlir {
        // Operations that nearby chunks use.
        let mut seen = std::collections::HashSet::new();
        let index = document.chunks().at(offset).map_or(0, |placed| placed.index);
        for placed in document.chunks().iter().skip(index.saturating_sub(20)).take(40) {
            let analysed = document.analysis(&placed);
            for id in analysed.analysis.tree.operations() {
                if is_half_typed(&analysed, id, offset) {
                    continue;
                }
                let name = analysed.analysis.tree.op_name(document.text(), analysed.base(), id);
                // What is being typed is no operation yet.
                let is_half = name == typed && name.contains('.') && !is_operation(&name);
                if !name.is_empty()
                    && !is_half
                    && seen.insert(hash(&name))
                    && !name.starts_with("vm.")
                {
                    items.push(known(name, "used nearby"));
                }
            }
        }
        let all = crate::operations::installed();
        let of_compiler = all.iter().flat_map(|all| all.beginning(typed));
        let of_compiler = of_compiler.map(|(name, _)| name.to_owned());
        let mut more: Vec<String> = if typed.is_empty() {
            Vec::new()
        } else {
            of_compiler.chain(crate::operations::beginning(typed)).collect()
        };
        more.retain(|name| seen.insert(hash(name)));
        // Short names first: `arith.addi` before `arith.addui_extended`.
        more.sort_by(|left, right| (left.len(), left).cmp(&(right.len(), right)));
        items.extend(more.into_iter().take(LIMIT).map(|name| known(name, "")));
    }
    items
}

/// Whether an operation is known by this name.
fn is_operation(name: &str) -> bool {
    let is_listed = crate::operations::is_listed(crate::operations::dialect_of(name));
    is_listed && crate::operations::standing(name) == crate::operations::Standing::Fine
}

/// An operation with what is known of it.
fn known(name: String, about: &str) -> CompletionItem {
    let all = crate::operations::installed();
    let operation = all.as_ref().and_then(|all| all.get(&name));
    let line = operation.map(crate::InstalledOperation::line).filter(|line| !line.is_empty());
    CompletionItem {
        documentation: operation.map(|known| known.documentation.clone()).unwrap_or_default(),
        snippet: crate::operations::form(&name, operation),
        ..item(name, CompletionItemKind::Operation, line.unwrap_or_else(|| about.to_owned()))
    }
}

/// Whether an operation's name is the word that is being typed, or breaks off after its dialect.
fn is_half_typed(analysed: &AnalysedChunk, id: syntax::NodeId, offset: usize) -> bool {
    let tree = &analysed.analysis.tree;
    let Some(name) = tree.child(id, syntax::NodeKind::Name) else { return true };
    let range = tree.range(name);
    let at = analysed.relative(offset);
    let holds_cursor = analysed.base() <= offset && range.start <= at && at <= range.end;
    holds_cursor || tree.tokens_of(name).last().is_some_and(|last| last.is(b'.'))
}
