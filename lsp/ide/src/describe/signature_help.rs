//! Signature help: the signature of the call that is being typed.

use syntax::{Lexer, TextRange, TokenKind};

use crate::Document;
use crate::operations::known;
use crate::resolve::{line_start, reference_at, resolve_symbol};

/// The signature of the call around an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSignature {
    /// `@f(%a: i32, %b: f32) -> i64`.
    pub label: String,
    /// The parameters, as byte ranges of the label.
    pub parameters: Vec<TextRange>,
    /// The index of the parameter at the offset.
    pub active: usize,
}

/// The signature of the call whose parentheses hold `offset`.
pub fn signature_help(document: &Document, offset: usize) -> Option<CallSignature> {
    let text = document.text();
    // Starting at the line works in a text that is still being typed.
    let start = line_start(text, offset);
    let mut callee = None;
    let mut open: Vec<(Option<TextRange>, usize)> = Vec::new();
    for token in Lexer::new(text, start).take_while(|token| token.range.start < offset) {
        match token.kind {
            TokenKind::Symbol => callee = Some(token.range.clone()),
            // `@f[%n](%a`: sizes precede the operands; `@m:3(`: a number does.
            TokenKind::Punct(b'(' | b'[' | b'{' | b'<') => {
                open.push((if token.is(b'(') { callee.clone() } else { None }, 0));
            }
            TokenKind::Punct(b')' | b']' | b'}' | b'>') => {
                open.pop();
            }
            TokenKind::Punct(b',') => {
                if let Some((_, commas)) = open.last_mut() {
                    *commas += 1;
                }
            }
            _ => {}
        }
    }
    let Some((callee, active)) =
        open.into_iter().rev().find_map(|(callee, commas)| Some((callee?, commas)))
    else {
        return operation(document, start, offset);
    };
    let reference = reference_at(document, callee.start + 1)?;
    let symbol = resolve_symbol(document, &reference, callee.start)?.symbol;
    // A declaration needs no help with its own signature.
    if symbol.name_token == callee {
        return None;
    }
    let mut label = format!("@{}(", symbol.name);
    let mut parameters = Vec::new();
    let (inputs, outputs) = match (&symbol.function_type, &symbol.calling_convention) {
        (Some(ty), _) => {
            let show = |slots: &[syntax::Slot]| -> Vec<String> {
                slots
                    .iter()
                    .map(|slot| match &slot.name {
                        Some(name) => format!("%{name}: {}", slot.ty),
                        None => slot.ty.clone(),
                    })
                    .collect()
            };
            (show(&ty.parameters), show(&ty.results))
        }
        (None, Some((text, _))) => {
            let signature = abi::cconv::Signature::parse(text).ok()?;
            let show = |values: &[abi::cconv::ValueType]| -> Vec<String> {
                values.iter().map(ToString::to_string).collect()
            };
            (show(&signature.arguments), show(&signature.results))
        }
        (None, None) => return None,
    };
    for (index, input) in inputs.iter().enumerate() {
        if index > 0 {
            label += ", ";
        }
        parameters.push(label.len()..label.len() + input.len());
        label += input;
    }
    label += &format!(") -> ({})", outputs.join(", "));
    Some(CallSignature { label, parameters, active })
}

/// The signature of the operation whose operands are being typed, as the installed compiler
/// has it, else IREE 3.13:
/// `arith.addi lhs, rhs -> result`.
fn operation(document: &Document, start: usize, offset: usize) -> Option<CallSignature> {
    let text = document.text();
    let known = known();
    let mut found: Option<(String, usize)> = None;
    let mut nest = 0_usize;
    for token in Lexer::new(text, start).take_while(|token| token.range.start < offset) {
        match token.kind {
            TokenKind::Word => {
                let name = token.text(text);
                if token.range.end < offset && known.get(&name).is_some() {
                    found = Some((name.into_owned(), 0));
                }
            }
            TokenKind::Punct(b'(' | b'[' | b'{' | b'<') => nest += 1,
            TokenKind::Punct(b')' | b']' | b'}' | b'>') => nest = nest.saturating_sub(1),
            TokenKind::Punct(b',') if nest == 0 => {
                if let Some((_, commas)) = &mut found {
                    *commas += 1;
                }
            }
            // Types follow, and no operand.
            TokenKind::Punct(b':') if nest == 0 => found = None,
            TokenKind::Comment => return None,
            _ => {}
        }
    }
    let (name, active) = found?;
    let operation = known.get(&name)?;
    if operation.operands.is_empty() {
        return None;
    }
    let mut label = format!("{name} ");
    let mut parameters = Vec::new();
    for (index, operand) in operation.operands.iter().enumerate() {
        if index > 0 {
            label += ", ";
        }
        let shown = operand.shown();
        parameters.push(label.len()..label.len() + shown.len());
        label += &shown;
    }
    let results: Vec<_> = operation.results.iter().map(crate::Part::shown).collect();
    if !results.is_empty() {
        label += &format!(" -> {}", results.join(", "));
    }
    Some(CallSignature { label, parameters, active })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use syntax::Language;

    use super::signature_help;
    use crate::Document;
    use crate::describe::hover;
    use crate::modules::Modules;

    /// No compiler is installed here.
    #[test]
    fn operands_are_known_without_a_compiler() {
        let text = "func.func @f(%a: i32) {\n  %0 = arith.addi %a, \n}\n";
        let document = Document::new(Language::Mlir, None, Arc::new(text.to_owned()));
        let help = signature_help(&document, text.find(", \n").expect("there") + 2);
        let help = help.expect("a signature");
        assert_eq!((help.label.as_str(), help.active), ("arith.addi lhs, rhs -> result", 1));
        assert_eq!(&help.label[help.parameters[1].clone()], "rhs");
        let at = text.find("addi").expect("there");
        let shown = hover(&document, &Modules::default(), at).expect("a hover").markdown;
        assert!(shown.contains("*lhs, rhs -> result*"), "{shown}");
        assert!(shown.contains("overflowFlags") && shown.contains("As of IREE 3.13"), "{shown}");
    }
}
