//! Hover. For a value, its type and definition; for an operation, its meaning; for a symbol, its
//! signature, its calling convention, and what the compiled module contains.
//!
//! The Markdown for a symbol has three parts, each only where it has content: the definition as
//! written; the VM calling convention that is stated or derived; and, for each compiled module of
//! the source, its facts, with a warning if it is older than the text.

use std::fmt::Write;

use abi::cconv::Signature;
use syntax::{NodeKind, OpClass, Symbol, TextRange};

use super::conventions::{Depth, Known};
use super::instructions;
use crate::Document;
use crate::calling::{convention, is_exported};
use crate::modules::{CompiledFunction, Modules, NearbyModule};
use crate::operations::{Part, installed, known};
use crate::resolve::{
    Entity, Named, Reference, SymbolDefinition, alias_definition, check_variable, entity_at,
    exported_function, line_end, line_start, reference_at, resolve_symbol, stated_types, symbol_at,
    type_of,
};
use crate::text::{AnalysedChunk, ValueKind, is_in_long_function, uses_of_block, uses_of_value};

/// Text to show, and the place that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The place that it describes.
    pub range: TextRange,
    /// Markdown.
    pub markdown: String,
    /// The exported function that it describes, if only [`hover()`] says all of it.
    pub has_abi: Option<String>,
}

/// The most bytes of a head: types of six hundred arguments help no reader of a hover.
const LONGEST_HEAD: usize = 2000;
/// What a hover says where no compiler is installed.
const WITHOUT_COMPILER: &str = "\n*As of IREE 3.13. An installed iree-compile brings its \
                                documentation: `pip install iree-base-compiler`.*\n";
/// The most bytes of an attribute's value.
const LONGEST_VALUE: usize = 4000;

/// The hover for the entity at `offset`.
pub fn hover(document: &Document, modules: &Modules, offset: usize) -> Option<Hover> {
    any_hover(document, modules, offset, Depth::All)
}

/// The same without the conventions that follow from what is stated, for clients that can show them
/// elsewhere.
pub fn brief_hover(document: &Document, modules: &Modules, offset: usize) -> Option<Hover> {
    any_hover(document, modules, offset, Depth::Stated)
}

fn any_hover(document: &Document, modules: &Modules, offset: usize, depth: Depth) -> Option<Hover> {
    symbol_hover(document, modules, offset, depth)
        .or_else(|| check_variable_hover(document, offset))
        .or_else(|| name_hover(document, modules, offset, depth))
}

/// The hover of a variable of a test's directives: the line that defines it.
fn check_variable_hover(document: &Document, offset: usize) -> Option<Hover> {
    let variable = check_variable(document, offset)?;
    let definition = variable.definition()?;
    let text = document.text();
    let line = line_start(text, definition.start)..line_end(text, definition.end);
    let mut markdown = String::new();
    code(&mut markdown, &cut(text.slice(line).trim(), LONGEST_HEAD));
    Some(Hover { range: variable.range, markdown, has_abi: None })
}

/// The hover of a value, block, alias or operation.
fn name_hover(
    document: &Document,
    modules: &Modules,
    offset: usize,
    depth: Depth,
) -> Option<Hover> {
    let Named { entity, range } = entity_at(document, offset)?;
    let mut out = String::new();
    match entity {
        Entity::Value(found) => {
            let name = document.text().slice(found.value_range());
            match type_of(document, &found) {
                Some(ty) => code(&mut out, &format!("{name}: {}", cut(&ty, LONGEST_VALUE))),
                None => code(&mut out, &name),
            }
            let value = &found.analysed.analysis.names.values[found.index as usize];
            let what = match value.kind {
                ValueKind::Result(index) => format!("Result {index} of"),
                ValueKind::BlockArgument => "Argument of the block".into(),
                ValueKind::RegionArgument => "Argument of".into(),
            };
            let _ = writeln!(out, "{what}\n");
            code(&mut out, &first_lines(document, &found.analysed, value.node));
            // In a long function, finding the uses would take a search.
            if !is_in_long_function(&found.analysed.placed) {
                let uses = uses_of_value(document, &found).len();
                let _ = writeln!(out, "{uses} {}", if uses == 1 { "use" } else { "uses" });
            }
        }
        Entity::Block(found) => {
            let block = &found.analysed.analysis.names.blocks[found.index as usize];
            let tree = &found.analysed.analysis.tree;
            let label = tree.child(block.node, NodeKind::Label).unwrap_or(block.node);
            code(&mut out, &first_lines(document, &found.analysed, label));
            let uses = uses_of_block(document, &found);
            let _ = writeln!(
                out,
                "{} to it",
                if uses.len() == 1 {
                    "1 branch".into()
                } else {
                    format!("{} branches", uses.len())
                }
            );
        }
        Entity::Alias(name) => {
            let (range, _) = alias_definition(document, &name, offset)?;
            code(&mut out, &cut(&document.text().slice(range), LONGEST_HEAD));
        }
        Entity::Operation { analysed, node, name } => {
            if let Some(op) = name.strip_prefix("vm.").and_then(vmfb::Op::from_mnemonic) {
                out.push_str(&instructions::describe(op).markdown);
                out.push('\n');
            }
            code(&mut out, &first_lines(document, &analysed, node));
            let types = stated_types(document, &analysed, node);
            if !types.is_empty() && document.language() == syntax::Language::Mlir {
                let shown: Vec<_> = types.iter().map(|slot| format!("`{}`", slot.ty)).collect();
                let _ = writeln!(out, "Type: {}", cut(&shown.join(", "), LONGEST_VALUE));
            }
            documentation(&mut out, &name);
        }
        // In a directive of a test; other symbols have their hover already.
        Entity::Symbol(reference) => {
            let found = resolve_symbol(document, &reference, offset)?;
            let (markdown, has_abi) = describe(document, modules, &found, depth);
            return Some(Hover { range, markdown, has_abi });
        }
    }
    Some(Hover { range, markdown: out, has_abi: None })
}

/// What the installed compiler says of an operation; without one, what IREE 3.13 says it takes.
fn documentation(out: &mut String, op: &str) {
    let known = known();
    let Some(operation) = known.get(op) else { return };
    let line = operation.line();
    if !line.is_empty() {
        let _ = writeln!(out, "\n`{op}` *{line}*");
    }
    let attributes: Vec<_> = operation.attributes.iter().map(Part::shown).collect();
    if !attributes.is_empty() {
        let _ = writeln!(out, "\nAttributes: *{}*", attributes.join(", "));
    }
    if !operation.documentation.is_empty() {
        let _ = writeln!(out, "\n{}", cut(&operation.documentation, LONGEST_VALUE));
    }
    if installed().is_none() {
        out.push_str(WITHOUT_COMPILER);
    }
}

/// A node's text up to its first region, shortened.
fn first_lines(document: &Document, analysed: &AnalysedChunk, node: syntax::NodeId) -> String {
    let tree = &analysed.analysis.tree;
    let range = tree.range(node);
    let end = tree
        .child(node, NodeKind::Region)
        .map_or(range.end, |region| tree.range(region).start)
        .min(range.start + LONGEST_HEAD);
    let text = document.text().slice(analysed.base() + range.start..analysed.base() + end);
    cut(own_lines(&text).join("\n").trim_end(), LONGEST_HEAD)
}

/// The first lines of an operation's text. A line after its last bracket that is indented no deeper
/// is half-typed, not part of it.
fn own_lines(text: &str) -> Vec<&str> {
    let mut nest = 0_i32;
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().take(12) {
        let begins = |c: char| c.is_alphabetic() || c == '_';
        // The operation's own indentation is not in its text, so a word is what tells.
        let is_next = !lines.is_empty() && nest <= 0 && {
            let word = line.trim_start();
            word.starts_with(begins) && word.trim_end().bytes().all(is_of_name)
        };
        if is_next {
            break;
        }
        for byte in line.bytes() {
            match byte {
                b'(' | b'[' | b'{' | b'<' => nest += 1,
                b')' | b']' | b'}' => nest -= 1,
                _ => {}
            }
        }
        // `->` closes nothing.
        nest -= line.matches('>').count() as i32 - line.matches("->").count() as i32;
        lines.push(line);
    }
    lines
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

fn symbol_hover(
    document: &Document,
    modules: &Modules,
    offset: usize,
    depth: Depth,
) -> Option<Hover> {
    if let Some(found) = own_symbol(document, offset) {
        let range = if touches(&found.symbol.op_range, offset) {
            found.symbol.op_range.clone()
        } else {
            found.symbol.name_token.clone()
        };
        let (markdown, has_abi) = describe(document, modules, &found, depth);
        return Some(Hover { range, markdown, has_abi });
    }
    let reference = reference_at(document, offset)?;
    let (markdown, has_abi) = match resolve_symbol(document, &reference, offset) {
        Some(found) => describe(document, modules, &found, depth),
        None => (describe_absent(document, modules, &reference)?, None),
    };
    Some(Hover { range: reference.range, markdown, has_abi })
}

/// The symbol whose own name or operation stands at `offset`.
fn own_symbol(document: &Document, offset: usize) -> Option<SymbolDefinition> {
    symbol_at(document, offset).filter(|found| {
        let name = &found.symbol.name_token;
        touches(&found.symbol.op_range, offset) || touches(name, offset)
    })
}

fn touches(range: &TextRange, offset: usize) -> bool {
    range.start <= offset && offset <= range.end
}

/// The text about a symbol, and its name if there is more to say of its ABI.
fn describe(
    document: &Document,
    modules: &Modules,
    found: &SymbolDefinition,
    depth: Depth,
) -> (String, Option<String>) {
    let mut out = String::new();
    code(&mut out, &cut(&document.text().slice(found.symbol.head.clone()), LONGEST_HEAD));
    let exported = found.symbol.name.clone();
    let function = exported_function(document, &found.symbol, found.placed.op_start());
    let callee = function.as_ref().unwrap_or(found);
    if function.is_some() {
        code(&mut out, &cut(&document.text().slice(callee.symbol.head.clone()), LONGEST_HEAD));
    }
    let attributes = callee.symbol.attributes.clone().map(|range| document.text().slice(range));
    let expected = convention(document, &callee.symbol, attributes.as_deref().unwrap_or_default());
    let compiled = modules.as_compiled(document, &callee.symbol);
    let known = Known::of(&callee.symbol, expected, compiled);
    let depth = if is_exported(&callee.symbol) { depth } else { Depth::All };
    let has_more = known.describe(&mut out, document, &callee.symbol, depth);
    if callee.symbol.class == OpClass::Function || callee.symbol.class == OpClass::Import {
        let names = names_in_module(&exported, &callee.symbol);
        for module in modules.of(document) {
            describe_module(&mut out, &module, &names, &callee.symbol, &known);
        }
    }
    (out, has_more.then_some(exported))
}

/// The hover of a symbol that only a compiled module defines.
fn describe_absent(
    document: &Document,
    modules: &Modules,
    reference: &Reference,
) -> Option<String> {
    let name = reference.path.last()?;
    let mut out = String::new();
    for found in modules.of(document) {
        let Ok(module) = &found.module else { continue };
        let mut all = module.exports.iter().chain(&module.imports);
        if let Some(function) = all.find(|function| &function.name == name) {
            code(&mut out, &format!("@{name}"));
            module_heading(&mut out, &found);
            describe_function(&mut out, function);
        }
    }
    (!out.is_empty()).then_some(out)
}

/// The names that a symbol may have in a compiled module. Importers of PyTorch models add `$async`.
fn names_in_module(exported: &str, symbol: &Symbol) -> Vec<String> {
    let mut names = vec![exported.to_owned()];
    if symbol.op != "vm.func" && symbol.op != "vm.import" {
        names.push(format!("{exported}$async"));
    }
    names
}

fn describe_module(
    out: &mut String,
    found: &NearbyModule,
    names: &[String],
    symbol: &Symbol,
    known: &Known,
) {
    let module = match &found.module {
        Ok(module) => module,
        Err(error) => {
            module_heading(out, found);
            let _ = writeln!(out, "cannot be read: {error}\n");
            return;
        }
    };
    let list = if symbol.class == OpClass::Import { &module.imports } else { &module.exports };
    let functions: Vec<_> = list.iter().filter(|function| names.contains(&function.name)).collect();
    if functions.is_empty() {
        if is_exported(symbol) && symbol.op != "vm.func" {
            module_heading(out, found);
            let _ = writeln!(out, "exports no `{}`\n", names[0]);
        }
        return;
    }
    module_heading(out, found);
    for function in functions {
        if function.name != names[0] {
            let _ = writeln!(out, "export `{}`\n", function.name);
        }
        describe_function(out, function);
        let expected = known.signature(function.name != names[0]);
        describe_difference(out, function, expected.as_ref());
    }
}

fn module_heading(out: &mut String, found: &NearbyModule) {
    let name = found.path.file_name().unwrap_or(found.path.as_os_str()).to_string_lossy();
    let _ = writeln!(out, "---\n**Compiled module** `{name}`\n");
    if found.is_stale {
        out.push_str(
            "⚠ *Stale: older than this text. Compile again to see the current module.*\n\n",
        );
    }
}

fn describe_function(out: &mut String, function: &CompiledFunction) {
    match function.calling_convention.as_deref().map(|text| (text, Signature::parse(text))) {
        Some((text, Ok(signature))) => {
            let _ = writeln!(out, "calling convention `{text}` = `{signature}`\n");
        }
        Some((text, Err(error))) => {
            let _ = writeln!(out, "calling convention `{text}`: {error}\n");
        }
        None => {}
    }
    for (key, value) in &function.attributes {
        let value = cut(value, LONGEST_VALUE);
        if key == "iree.abi.declaration" || value.len() > 60 || value.contains('`') {
            let _ = writeln!(out, "`{key}`\n");
            code(out, &value);
        } else {
            let _ = writeln!(out, "`{key}` = `{value}`\n");
        }
    }
}

fn describe_difference(
    out: &mut String,
    function: &CompiledFunction,
    expected: Option<&Signature>,
) {
    let real = function.calling_convention.as_deref().and_then(|text| Signature::parse(text).ok());
    if let (Some(real), Some(expected)) = (real, expected)
        && real != *expected
    {
        let _ = writeln!(
            out,
            "*The types here give another one (`{}`): other options, or another version of the text.*\n",
            expected.to_cconv()
        );
    }
}

/// Writes a code block. Its fence is longer than any fence in the text.
fn code(out: &mut String, text: &str) {
    let fence = if text.contains("```") { "``````" } else { "```" };
    let _ = writeln!(out, "{fence}mlir\n{}\n{fence}\n", text.trim());
}

fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let end = (0..=longest).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    format!("{} …", &text[..end])
}
