//! Which types the operand at the cursor may have: by the rules of its operation, by what it
//! refers to, and by the operands of the same operation elsewhere.

use mlir::{Cast, Meaning, Numbers, meaning, table::Control};
use syntax::{NodeId, NodeKind, Symbol, TokenKind, read_types};

use super::examples::{Continuation, Surroundings};
use super::statement::{Piece, Statement, pieces};
use crate::Document;
use crate::operations::{Stated, TypeRule, element, type_rules};
use crate::resolve::{Reference, resolve_symbol, stated_types, type_of};
use crate::text::{AnalysedChunk, LocalDefinition, value_of_use};

/// A family of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Float,
    Integer,
}

/// What is known of the type of an operand.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// It is this one.
    pub exact: Option<String>,
    /// It is one of elements of this type.
    pub with_element: Option<String>,
    /// It, or its element, is of this family.
    pub family: Option<Family>,
    /// It begins so: `tensor`.
    pub kind: Option<&'static str>,
    /// The same operand elsewhere, with the share of each type.
    pub seen: Vec<(String, f64)>,
}

impl Expected {
    /// How well a type fits.
    pub(super) fn fit(&self, ty: Option<&str>) -> f64 {
        let Some(ty) = ty else { return 0.0 };
        if let Some(exact) = &self.exact {
            return if same(exact, ty) { 60.0 } else { -40.0 };
        }
        if let Some(wanted) = &self.with_element {
            return if element(ty).is_some_and(|it| same(it, wanted)) { 50.0 } else { -40.0 };
        }
        if let Some(kind) = self.kind {
            let is_so = ty.split('<').next() == Some(kind);
            return if is_so { 40.0 + self.likeness(ty) } else { -40.0 };
        }
        let own = match self.family {
            Some(family) if family.has(ty) => 20.0,
            Some(_) => return -40.0,
            None => 0.0,
        };
        own + self.likeness(ty)
    }

    /// How much a type is like those of the same operand elsewhere.
    fn likeness(&self, ty: &str) -> f64 {
        let share = |is_like: &dyn Fn(&str) -> bool| -> f64 {
            self.seen.iter().filter(|(seen, _)| is_like(seen)).map(|(_, share)| share).sum()
        };
        let kind = |ty: &str| ty.split(['<', ' ']).next().unwrap_or_default().to_owned();
        let mismatch = if self.seen.is_empty() { 0.0 } else { -10.0 };
        let alike = share(&|seen| kind(seen) == kind(ty));
        let same_type = share(&|seen| same(seen, ty));
        35.0 * alike + 25.0 * same_type + if alike == 0.0 { mismatch } else { 0.0 }
    }
}

impl Family {
    fn has(self, ty: &str) -> bool {
        let ty = element(ty).unwrap_or(ty);
        let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
        let is_integer = ty == "index" || ty.strip_prefix('i').is_some_and(number);
        let is_float = ty.starts_with(['f', 'b', 't']) && !is_integer && !ty.contains('<');
        match self {
            Self::Float => is_float,
            Self::Integer => is_integer,
        }
    }
}

/// Whether two types are written alike but for white space.
pub(super) fn same(left: &str, right: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    left == right || plain(left) == plain(right)
}

/// The type of the value that is used at a place of a chunk.
pub(super) fn type_of_use(
    document: &Document,
    analysed: &AnalysedChunk,
    start: u32,
) -> Option<String> {
    let uses = &analysed.analysis.names.value_uses;
    let used = &uses[uses.binary_search_by_key(&start, |used| used.span.start).ok()?];
    type_of(document, &value_of_use(document, analysed, used)?)
}

/// What is known of the operand at the cursor. `written` are the types after the cursor.
pub(super) fn expected(
    document: &Document,
    statement: &Statement,
    around: &Surroundings,
    continuations: &[Continuation<'_>],
    written: &[String],
) -> Expected {
    let exact = by_reference(document, statement).or_else(|| {
        by_rules(document, statement, written).filter(|(_, of_element)| !of_element).map(|it| it.0)
    });
    let with_element = by_rules(document, statement, written);
    let with_element = with_element.filter(|(_, of_element)| *of_element).map(|it| it.0);
    Expected {
        exact,
        with_element,
        family: family(statement),
        kind: kind(document, statement),
        seen: seen(document, around, continuations),
    }
}

/// The types of the same operand in other operations, each with its share.
fn seen(
    document: &Document,
    around: &Surroundings,
    continuations: &[Continuation<'_>],
) -> Vec<(String, f64)> {
    let mut found: Vec<(String, f64)> = Vec::new();
    let values = continuations.iter().filter(|it| *it.piece == Piece::Value);
    for continuation in values.take(24) {
        let Some((chunk, _)) = continuation.form.of else { continue };
        let start = continuation.form.pieces[continuation.at].start;
        let Some(ty) = type_of_use(document, &around.chunks[chunk], start) else { continue };
        match found.iter_mut().find(|(other, _)| *other == ty) {
            Some((_, weight)) => *weight += continuation.weight,
            None => found.push((ty, continuation.weight)),
        }
    }
    let all: f64 = found.iter().map(|(_, weight)| weight).sum();
    found.iter_mut().for_each(|(_, weight)| *weight /= all);
    found
}

/// The typed operands outside brackets, each with its type.
fn operands(document: &Document, statement: &Statement) -> Vec<Option<String>> {
    let mut nest = 0_i32;
    let mut found = Vec::new();
    for placed in &statement.pieces {
        match placed.piece {
            Piece::Sign(b'(' | b'[' | b'{') => nest += 1,
            Piece::Sign(b')' | b']' | b'}') => nest -= 1,
            Piece::Value if nest == 0 => {
                found.push(type_of_use(document, &statement.analysed, placed.start));
            }
            _ => {}
        }
    }
    found
}

/// The type by the rules of the operation, and whether that is only the type of the elements.
fn by_rules(
    document: &Document,
    statement: &Statement,
    written: &[String],
) -> Option<(String, bool)> {
    let rules = type_rules(&statement.name);
    let typed = operands(document, statement);
    let in_brackets = statement.brackets() == NodeKind::Bracket;
    let stated_here = |index: usize| {
        rules.iter().find_map(|rule| match *rule {
            TypeRule::InBrackets(stated) if in_brackets => Some(stated),
            TypeRule::All(stated) if !in_brackets => Some(stated),
            TypeRule::Operand(at, stated) if !in_brackets && usize::from(at) == index => {
                Some(stated)
            }
            _ => None,
        })
    };
    let here = stated_here(typed.len());
    if let Some(Stated::Index) = here {
        return Some(("index".into(), false));
    }
    if rules.contains(&TypeRule::Each) && !in_brackets {
        return Some((written.get(typed.len())?.clone(), false));
    }
    let here = here?;
    if !written.is_empty() {
        return Some((here.among(written.len(), |at| written[at].clone())?, false));
    }
    // By the operands before it.
    for (index, ty) in typed.iter().enumerate() {
        let (Some(there), Some(ty)) = (stated_here(index), ty) else { continue };
        match (there, here) {
            _ if there == here => return Some((ty.clone(), false)),
            (Stated::Type(of), Stated::Element(at)) if of == at || of == -1 => {
                return Some((element(ty)?.to_owned(), false));
            }
            (Stated::Element(of), Stated::Type(at)) if of == at || at == -1 => {
                return Some((ty.clone(), true));
            }
            _ => {}
        }
    }
    None
}

/// The type that what the operation refers to asks for.
fn by_reference(document: &Document, statement: &Statement) -> Option<String> {
    let values_in = |from: usize| {
        let pieces = &statement.pieces[from..];
        pieces.iter().filter(|placed| placed.piece == Piece::Value).count()
    };
    let opened = statement.opened();
    let first = statement.pieces.iter().all(|placed| placed.piece != Piece::Value);
    match meaning(&statement.name) {
        Some(Meaning::Control(Control::Call)) => {
            let symbol = callee(document, statement)?;
            let parameters = &symbol.function_type.as_ref()?.parameters;
            return Some(parameters.get(values_in(opened?))?.ty.clone());
        }
        Some(Meaning::Control(Control::Return)) => {
            let results = function_results(document, statement)?;
            return results.get(values_in(0)).cloned();
        }
        Some(Meaning::Control(Control::Yield)) => {
            return yielded(document, statement)?.get(values_in(0)).cloned();
        }
        Some(
            Meaning::Control(
                Control::If | Control::ConditionalBranch | Control::Condition | Control::Assert,
            )
            | Meaning::Numbers(Numbers::Select),
        ) if first => return Some("i1".into()),
        Some(Meaning::Control(Control::For)) if opened.is_none() => {
            let typed = operands(document, statement);
            return Some(typed.into_iter().flatten().next().unwrap_or_else(|| "index".into()));
        }
        _ => {}
    }
    let opened = opened?;
    let before = opened.checked_sub(1).map(|at| &statement.pieces[at]);
    let label = before.filter(|placed| placed.piece == Piece::Block)?;
    block_arguments(document, statement, label.start)?.get(values_in(opened)).cloned()
}

/// The function that a call names.
pub(super) fn callee(document: &Document, statement: &Statement) -> Option<Symbol> {
    let named = statement.pieces.iter().find(|placed| placed.piece == Piece::Symbol)?;
    let start = statement.analysed.base() + named.start as usize;
    let reference: Reference = crate::resolve::reference_at(document, start + 1)?;
    Some(resolve_symbol(document, &reference, start)?.symbol)
}

/// The result types of the function around a statement.
pub(super) fn function_results(document: &Document, statement: &Statement) -> Option<Vec<String>> {
    let offset = statement.analysed.base();
    let parts = crate::text::chunks_sharing_values(document, &statement.analysed.placed);
    let head = parts.first().filter(|head| head.start <= offset)?;
    let symbol = Symbol::read(document.text(), head)?;
    let results = &symbol.function_type.as_ref()?.results;
    Some(results.iter().map(|slot| slot.ty.clone()).collect())
}

/// The types that a yield gives to the operation around it.
pub(super) fn yielded(document: &Document, statement: &Statement) -> Option<Vec<String>> {
    let outer = statement.around()?;
    let analysed = &statement.analysed;
    let name = statement.name_of(document, outer);
    if name.starts_with("linalg.") || name.starts_with("tensor.") {
        let outs = output_types(document, analysed, outer);
        return Some(outs.iter().filter_map(|ty| element(ty)).map(str::to_owned).collect());
    }
    let types = stated_types(document, analysed, outer);
    Some(types.into_iter().map(|slot| slot.ty).collect())
}

/// The types in the `outs(…)` of an operation, or its written result types.
pub(super) fn output_types(
    document: &Document,
    analysed: &AnalysedChunk,
    id: NodeId,
) -> Vec<String> {
    let tree = &analysed.analysis.tree;
    let text = |leaf: &syntax::Leaf| tree.text(document.text(), analysed.base(), leaf);
    let all = pieces(tree, id, &text);
    let outs = all.iter().position(|placed| placed.piece == Piece::Word("outs".into()));
    let Some(outs) = outs else {
        let stated = stated_types(document, analysed, id);
        return stated.into_iter().map(|slot| slot.ty).collect();
    };
    let mut found = Vec::new();
    for placed in &all[outs..] {
        match &placed.piece {
            Piece::Type(ty) => found.push(ty.clone()),
            Piece::Sign(b')') => break,
            _ => {}
        }
    }
    found
}

/// The types of the arguments of the block whose label is used at a place.
fn block_arguments(document: &Document, statement: &Statement, label: u32) -> Option<Vec<String>> {
    let base = statement.analysed.base();
    let analysed = document.analysis_at(base + label as usize)?;
    let names = &analysed.analysis.names;
    let at = (base + label as usize).checked_sub(analysed.base())? as u32;
    let used = names.block_uses.iter().find(|used| used.span.start == at)?;
    let found = crate::text::block_of_use(document, &analysed, used)?;
    let values = &found.analysed.analysis.names.values;
    let tree = &found.analysed.analysis.tree;
    let block = found.analysed.analysis.names.blocks[found.index as usize].node;
    let own = values.iter().enumerate().filter(|(_, value)| {
        tree.node(value.node).kind == NodeKind::Label && tree.node(value.node).parent == block
    });
    let definition =
        |index: usize| LocalDefinition { analysed: found.analysed.clone(), index: index as u32 };
    Some(own.map(|(at, _)| type_of(document, &definition(at)).unwrap_or_default()).collect())
}

/// What an operand's type begins with, by the dialect that works on such types.
fn kind(document: &Document, statement: &Statement) -> Option<&'static str> {
    let (dialect, _) = statement.name.split_once('.')?;
    let kind = ["tensor", "memref"].into_iter().find(|kind| *kind == dialect)?;
    let index = operands(document, statement).len();
    let is_whole = |rule: &TypeRule| match rule {
        TypeRule::Operand(at, Stated::Type(_)) => usize::from(*at) == index,
        _ => false,
    };
    let in_brackets = statement.brackets() == NodeKind::Bracket;
    let is_so = !in_brackets && type_rules(&statement.name).iter().any(is_whole);
    is_so.then_some(kind)
}

/// The family of an operand by what its operation means.
fn family(statement: &Statement) -> Option<Family> {
    let Some(Meaning::Numbers(numbers)) = meaning(&statement.name) else { return None };
    match numbers {
        Numbers::FloatBinary(_)
        | Numbers::FloatUnary(_)
        | Numbers::CompareFloats
        | Numbers::FloatTest(_)
        | Numbers::Cast(Cast::Float | Cast::ToSigned | Cast::ToUnsigned) => Some(Family::Float),
        Numbers::IntegerBinary(_)
        | Numbers::IntegerUnary(_)
        | Numbers::CompareIntegers
        | Numbers::Cast(Cast::Signed | Cast::Unsigned | Cast::FromSigned | Cast::FromUnsigned) => {
            Some(Family::Integer)
        }
        _ => None,
    }
}

/// The types that the operation writes after the cursor, on its line.
pub(super) fn written_after(document: &Document, offset: usize) -> Vec<String> {
    let end = crate::resolve::line_end(document.text(), offset);
    let tokens: Vec<_> = syntax::Lexer::new(document.text(), offset)
        .take_while(|token| token.range.start < end && token.kind != TokenKind::Comment)
        .collect();
    let mut nest = 0_i32;
    let colon = tokens.iter().rfind(|token| {
        match token.kind {
            TokenKind::Punct(b')' | b']' | b'}' | b'>') => nest += 1,
            TokenKind::Punct(b'(' | b'[' | b'{' | b'<') => nest -= 1,
            _ => {}
        }
        nest == 0 && token.is(b':')
    });
    let Some(colon) = colon else { return Vec::new() };
    let types = read_types(document.text(), colon.range.end, end);
    types.into_iter().map(|slot| slot.ty).collect()
}
