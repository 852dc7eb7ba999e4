//! `iree_linalg_ext.quantize_affine` and `dequantize_affine` as functions of elements, in the form
//! in which dispatches have them.

use mlir::quantized::{Quantized, Steps};
use mlir::{Element, Scalar};

use super::build::{Builder, Operation};
use super::maps;
use super::terms::{Function, Term, TermId};

impl Builder<'_> {
    /// The step of the operation: of elements of its inputs, that of its output.
    pub(super) fn quantized(
        &mut self,
        operation: &Operation<'_, '_>,
        quantizes: bool,
        given: &[TermId],
    ) -> Option<TermId> {
        let text = operation.scope.function.head_text(operation.index)?;
        let quantized = Quantized::read(text, quantizes)?;
        let of_inputs = elements(operation, "ins")?;
        let to = *elements(operation, "outs")?.first()?;
        let given: Vec<(TermId, Element)> = given.iter().copied().zip(of_inputs).collect();
        quantized.element(&mut Terms { builder: self }, &given, to)
    }
}

/// The element types of `ins(%0, %1 : tensor<4xf32>, f32)`.
fn elements(operation: &Operation<'_, '_>, word: &str) -> Option<Vec<Element>> {
    let head = &operation.head;
    let range = head.group_after(word)?;
    let colon = range.clone().find(|at| head.token(*at) == ":")?;
    let types = head.parts(colon + 1..range.end).into_iter().map(|it| head.text(it));
    let element = |text: String| match maps::tensor(&text) {
        Some((_, element)) => Element::parse(&element),
        None => Element::parse(&text),
    };
    types.map(element).collect()
}

struct Terms<'s, 'b> {
    builder: &'s mut Builder<'b>,
}

impl Steps for Terms<'_, '_> {
    type Value = TermId;

    fn apply(&mut self, what: Scalar, operands: &[TermId], _: Element) -> TermId {
        self.builder.apply(Function::Scalar(what), operands.to_vec())
    }

    fn number(&mut self, number: i64, element: Element) -> TermId {
        let number = match element.is_float() {
            true => format!("{:?}", number as f64),
            false => number.to_string(),
        };
        let text = maps::literal(&number, &element.to_string());
        self.builder.terms.add(Term::Literal(text))
    }

    fn known(&self, number: TermId) -> Option<i64> {
        let Term::Literal(text) = self.builder.terms.get(number) else { return None };
        text.split_once(" : ")?.0.parse().ok()
    }
}
