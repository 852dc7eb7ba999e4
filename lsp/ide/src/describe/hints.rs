//! Inlay hints: types of values that have none beside them, and the meaning of calling conventions
//! and constants.

use abi::cconv::Signature;
use abi::element_type::ElementType;
use syntax::{ChunkKind, Language, NodeId, NodeKind, Symbol, TextRange, TokenKind};

use crate::Document;
use crate::calling::convention;
use crate::resolve::type_of;
use crate::text::{AnalysedChunk, LocalDefinition, ValueKind};

/// An inlay hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlayHint {
    /// The byte that it follows.
    pub offset: usize,
    /// The text to show.
    pub label: String,
    /// Its kind.
    pub kind: InlayHintKind,
}

/// The kind of a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InlayHintKind {
    /// The type of a value.
    Type,
    /// How the VM calls a function.
    Convention,
    /// What a constant means.
    Constant,
}

/// Longer types are cut.
const LONGEST: usize = 48;
/// How far from a value its type is seen without a hint.
const NEAR: u32 = 120;
/// The most elements of a constant that are shown.
const ELEMENTS: usize = 4;

/// The hints in a range. Incomplete if `cancelled`, which is asked between chunks, becomes true.
pub fn inlay_hints(
    document: &Document,
    range: &TextRange,
    cancelled: &dyn Fn() -> bool,
) -> Vec<InlayHint> {
    let mut found = Vec::new();
    for placed in document.chunks().iter_from(range.start) {
        if placed.start >= range.end || cancelled() {
            break;
        }
        let analysed = document.analysis(&placed);
        if document.language() == Language::Mlir {
            values(document, &analysed, range, &mut found);
        }
        constants(document, &analysed, range, &mut found);
        conventions(document, &analysed, &mut found);
    }
    found.retain(|hint| range.start <= hint.offset && hint.offset <= range.end);
    found.sort_by_key(|hint| hint.offset);
    found
}

fn cut(text: String) -> String {
    if text.chars().count() <= LONGEST {
        return text;
    }
    let kept: String = text.chars().take(LONGEST - 1).collect();
    kept + "…"
}

/// Hints for results: their types stand at the end of the operation, which may be lines below.
fn values(
    document: &Document,
    analysed: &AnalysedChunk,
    range: &TextRange,
    found: &mut Vec<InlayHint>,
) {
    let names = &analysed.analysis.names;
    for (index, value) in names.values.iter().enumerate() {
        let end = analysed.absolute(&value.span).end;
        let wanted = range.start <= end && end <= range.end;
        // Most arguments have their type beside them.
        let after =
            analysed.analysis.tree.tokens().partition_point(|token| token.start < value.span.end);
        let next = analysed.analysis.tree.tokens().get(after);
        let is_pack =
            matches!(value.kind, ValueKind::Result(_)) && next.is_some_and(|next| next.is(b':'));
        if !wanted || is_pack || next.is_some_and(|next| next.is(b':')) {
            continue;
        }
        let name_end = value.span.end;
        let value = LocalDefinition { analysed: analysed.clone(), index: index as u32 };
        if let Some(ty) = type_of(document, &value)
            && !ends_line(document, analysed, name_end, &ty)
        {
            found.push(InlayHint {
                offset: end,
                label: format!(": {}", cut(ty)),
                kind: InlayHintKind::Type,
            });
        }
    }
}

/// Whether the line of a value ends with its type, so that a hint would say it again.
fn ends_line(document: &Document, analysed: &AnalysedChunk, name_end: u32, ty: &str) -> bool {
    let tokens = analysed.analysis.tree.tokens();
    let near = tokens.partition_point(|token| token.end <= name_end + NEAR);
    let Some(last) = near.checked_sub(1).and_then(|at| tokens.get(at)) else { return false };
    let text = document.text().slice(analysed.absolute(&(name_end..last.end)));
    // Without the end of the line, the type may go on after what is seen.
    let Some((line, _)) = text.split_once('\n') else { return false };
    let code = line.split_once("//").map_or(line, |(code, _)| code).trim_end();
    code.strip_suffix(ty).is_some_and(|before| before.ends_with([' ', '>']))
}

/// The calling conventions of exports, and the meaning of convention strings.
fn conventions(document: &Document, analysed: &AnalysedChunk, found: &mut Vec<InlayHint>) {
    let Some(symbol) = Symbol::read(document.text(), &analysed.placed) else { return };
    if analysed.placed.chunk.kind == ChunkKind::Close {
        return;
    }
    if let Some((text, range)) = &symbol.calling_convention {
        if let Ok(signature) = Signature::parse(text) {
            let label = format!(" {signature}");
            // After the closing quote.
            found.push(InlayHint { offset: range.end + 1, label, kind: InlayHintKind::Convention });
        }
        return;
    }
    let attributes = symbol.attributes.clone().map(|range| document.text().slice(range));
    if let Ok(known) = convention(document, &symbol, attributes.as_deref().unwrap_or_default()) {
        let signature = known.signature.to_cconv();
        // Without arguments and results there is nothing to know.
        if signature != "0v_v" {
            let label = format!(" {signature}");
            let kind = InlayHintKind::Convention;
            found.push(InlayHint { offset: symbol.name_token.end, label, kind });
        }
    }
}

fn constants(
    document: &Document,
    analysed: &AnalysedChunk,
    range: &TextRange,
    found: &mut Vec<InlayHint>,
) {
    let tree = &analysed.analysis.tree;
    for id in tree.operations() {
        let place = tree.range(id);
        if analysed.base() + place.end < range.start || analysed.base() + place.start > range.end {
            continue;
        }
        let op = tree.op_name(document.text(), analysed.base(), id);
        if op.contains("const") {
            element_type_code(document, analysed, id, found);
            dense(document, analysed, id, found);
        }
    }
}

/// The meaning of an element type code: `553648160` is the HAL's f32.
fn element_type_code(
    document: &Document,
    analysed: &AnalysedChunk,
    id: NodeId,
    found: &mut Vec<InlayHint>,
) {
    let tree = &analysed.analysis.tree;
    for token in tree.tokens_of(id).iter().filter(|token| token.kind == TokenKind::Number) {
        let text = tree.text(document.text(), analysed.base(), token);
        let Ok(code) = text.parse::<u32>() else { continue };
        // Smaller numbers are plain numbers.
        if code < 1 << 24 {
            continue;
        }
        if let Ok(ty) = ElementType::from_code(code) {
            let offset = analysed.base() + token.end as usize;
            found.push(InlayHint {
                offset,
                label: format!(" element type {ty}"),
                kind: InlayHintKind::Constant,
            });
        }
    }
}

/// The first elements of `dense<"0x…"> : tensor<…>`.
fn dense(document: &Document, analysed: &AnalysedChunk, id: NodeId, found: &mut Vec<InlayHint>) {
    let tree = &analysed.analysis.tree;
    let base = analysed.base();
    for child in tree.children(id).filter(|&child| tree.node(child).kind == NodeKind::Angle) {
        let node = tree.node(child);
        let [open, blob, ..] = tree.tokens_of(child) else { continue };
        let word = (node.first as usize).checked_sub(1).map(|before| tree.tokens()[before]);
        let is_dense = word.is_some_and(|word| tree.text(document.text(), base, &word) == "dense");
        if !is_dense || !open.is(b'<') || blob.kind != TokenKind::String {
            continue;
        }
        let Some(ty) = crate::resolve::stated_types(document, analysed, id).into_iter().next()
        else {
            continue;
        };
        let Some(element) = crate::operations::element(&ty.ty) else { continue };
        let start = base + blob.start as usize;
        let hex =
            document.text().slice(start..(base + blob.end as usize).min(start + 4 + ELEMENTS * 32));
        let Some(hex) = hex.strip_prefix("\"0x") else { continue };
        let bytes: Vec<u8> = hex
            .as_bytes()
            .chunks_exact(2)
            .map_while(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        let Some(size) = element_size(element) else { continue };
        let shown: Vec<String> = bytes
            .chunks_exact(size)
            .take(ELEMENTS)
            .filter_map(|bytes| element_text(element, bytes))
            .collect();
        let total = (blob.end as usize - blob.start as usize).saturating_sub(4) / 2 / size;
        let more = if total > shown.len() { ", …" } else { "" };
        let offset = base + node_end(analysed, child);
        let label = format!(" = [{}{more}]", shown.join(", "));
        found.push(InlayHint { offset, label, kind: InlayHintKind::Constant });
    }
}

fn node_end(analysed: &AnalysedChunk, id: NodeId) -> usize {
    analysed.analysis.tree.range(id).end
}

fn element_size(element: &str) -> Option<usize> {
    Some(match element {
        "i1" | "i8" => 1,
        "i16" => 2,
        "i32" | "f32" => 4,
        "i64" | "f64" | "index" => 8,
        _ => return None,
    })
}

/// One element, from little-endian bytes as in the memory of the machines that models are compiled
/// for.
fn element_text(element: &str, bytes: &[u8]) -> Option<String> {
    Some(match element {
        "i1" => (bytes.first()? != &0).to_string(),
        "i8" => i8::from_le_bytes(bytes.try_into().ok()?).to_string(),
        "i16" => i16::from_le_bytes(bytes.try_into().ok()?).to_string(),
        "i32" => i32::from_le_bytes(bytes.try_into().ok()?).to_string(),
        "i64" | "index" => i64::from_le_bytes(bytes.try_into().ok()?).to_string(),
        "f32" => f32::from_le_bytes(bytes.try_into().ok()?).to_string(),
        "f64" => f64::from_le_bytes(bytes.try_into().ok()?).to_string(),
        _ => return None,
    })
}
