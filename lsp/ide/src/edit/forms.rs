//! The two forms of a function's text: MLIR's generic form, which says everything, and that of its
//! dialects. iree-opt rewrites one into the other; the server starts it with what [`extract`] takes
//! out of the document, and finds the function again in what it prints.
//!
//! [`extract`]: crate::extract

use std::sync::Arc;

use syntax::{ChunkKind, Language, OpClass, Placed, Symbol, TextRange};

use crate::Document;
use crate::resolve::symbol_at;
use crate::text::Replacement;
use crate::text::function_range;

/// A function that can be rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewriting {
    /// What a menu says.
    pub title: String,
    /// The function's name.
    pub function: String,
    /// Whether it becomes generic.
    pub to_generic: bool,
}

/// How the function whose head is at `offset` can be rewritten. None in what has no body.
pub fn rewriting(document: &Document, offset: usize) -> Option<Rewriting> {
    if document.language() != Language::Mlir {
        return None;
    }
    let found = symbol_at(document, offset)?;
    let has_body = range_of(document, &found.placed).end > found.symbol.head.end;
    if found.symbol.class != OpClass::Function || !has_body {
        return None;
    }
    let function = found.symbol.name.clone();
    let to_generic = !is_generic(document, &found.placed);
    let form = if to_generic { "the generic form" } else { "the form of its dialects" };
    Some(Rewriting {
        title: format!("Rewrite @{function} in {form} (comments and names of values are lost)"),
        function,
        to_generic,
    })
}

/// Why what iree-opt has printed replaces nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRewritten {
    /// The document has the function no more.
    #[error("@{0} is not there any more")]
    Gone(String),
    /// The output has no such function, or several.
    #[error("iree-opt does not print one function @{0}")]
    NotPrinted(String),
}

/// The replacement of a function by what iree-opt has printed of it.
///
/// # Errors
/// [`NotRewritten`]: one of the texts has no such function, or has several.
pub fn rewritten(
    document: &Document,
    offset: usize,
    function: &str,
    printed: &str,
) -> Result<Replacement, NotRewritten> {
    let here = document.chunks().at(offset).filter(|it| is_named(document, it, function));
    let here = here.ok_or_else(|| NotRewritten::Gone(function.to_owned()))?;
    let output = Document::new(Language::Mlir, None, Arc::new(printed.to_owned()));
    let mut found = output.chunks().iter().filter(|it| is_named(&output, it, function));
    let (Some(placed), None) = (found.next(), found.next()) else {
        return Err(NotRewritten::NotPrinted(function.to_owned()));
    };
    let range = range_of(&output, &placed);
    let indent = |text: &str| text.len() - text.trim_start_matches(' ').len();
    let line_start = printed[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let printed_at = indent(&printed[line_start..range.start]);
    let place = range_of(document, &here);
    let before = document.text().slice(place.start.saturating_sub(200)..place.start);
    let wanted = " ".repeat(indent(before.rsplit('\n').next().unwrap_or_default()));
    let mut lines = printed[range].trim_end().lines();
    let mut text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let kept = line.get(printed_at.min(indent(line))..).unwrap_or_default();
        text += "\n";
        text += if kept.is_empty() { "" } else { &wanted };
        text += kept;
    }
    Ok(Replacement { range: place, text })
}

fn is_named(document: &Document, placed: &Placed, name: &str) -> bool {
    placed.chunk.class == OpClass::Function
        && placed.chunk.kind != ChunkKind::Close
        && Symbol::read(document.text(), placed).is_some_and(|it| it.name == name)
}

/// Whether a function is in the generic form: its name is in quotes.
fn is_generic(document: &Document, placed: &Placed) -> bool {
    let start = placed.op_start();
    document.text().slice(start..(start + 1).min(document.text().len())) == "\""
}

/// A function from its name to its last brace, without what stands before and after it.
fn range_of(document: &Document, placed: &Placed) -> TextRange {
    let range = function_range(document, placed);
    let text = document.text().slice(range.clone());
    range.start..range.start + text.trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "module {\n  func.func @f(%a: i32) -> i32 {\n    return %a : i32\n  }\n  \
                        func.func private @g(i32) -> i32\n}\n";
    const PRINTED: &str = "\"builtin.module\"() ({\n    \"func.func\"() <{function_type = (i32) -> \
                           i32, sym_name = \"f\"}> ({\n    ^bb0(%arg0: i32):\n      \
                           \"func.return\"(%arg0) : (i32) -> ()\n    }) : () -> ()\n    \
                           \"func.func\"() <{sym_name = \"g\"}> ({\n    }) : () -> ()\n}) : () -> \
                           ()\n";

    fn document(text: &str) -> Document {
        Document::new(Language::Mlir, None, Arc::new(text.to_owned()))
    }

    #[test]
    fn functions_with_a_body_can_be_rewritten() {
        let at = |text: &str, name: &str| {
            rewriting(&document(text), text.find(name).expect("it is there"))
        };
        let found = at(TEXT, "@f").expect("it has a body");
        assert!(found.to_generic && found.function == "f");
        assert_eq!(at(TEXT, "@g"), None);
        assert_eq!(at(TEXT, "return"), None);
        assert!(!at(PRINTED, "sym_name = \"f\"").expect("it has a body").to_generic);
    }

    #[test]
    fn what_is_printed_takes_the_place_of_the_function() {
        let there = document(TEXT);
        let at = TEXT.find("@f").expect("it is there");
        let made = rewritten(&there, at, "f", PRINTED).expect("it is printed");
        assert_eq!(&TEXT[made.range], "func.func @f(%a: i32) -> i32 {\n    return %a : i32\n  }");
        let expected = "\"func.func\"() <{function_type = (i32) -> i32, sym_name = \"f\"}> ({\n  \
                        ^bb0(%arg0: i32):\n    \"func.return\"(%arg0) : (i32) -> ()\n  }) : () -> \
                        ()";
        assert_eq!(made.text, expected);
        assert!(rewritten(&there, at, "f", "module {\n}\n").is_err());
        assert!(rewritten(&there, 0, "f", PRINTED).is_err());
    }
}
