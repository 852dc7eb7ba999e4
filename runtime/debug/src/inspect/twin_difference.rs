//! What a dispatch has left that ran as machine code and as bytecode, compared in a sentence.

use std::sync::Arc;

use abi::element_type::ElementType;
use hal::TwinOutcome;
use vm::Buffer;

use crate::machine::Machine;
use crate::tensor::{Number, TensorView, ulps};

/// How two tensors differ.
#[derive(Default)]
struct Difference {
    /// How many elements differ.
    count: usize,
    /// The largest difference, and the largest in units in the last place.
    most: f64,
    most_ulp: Option<u64>,
    /// The element with the largest difference: its index, and both numbers.
    at: Option<(usize, Number, Number)>,
}

impl Machine {
    /// How the results of machine code and of its bytecode compare.
    pub(crate) fn twin_sentence(&self, outcome: &TwinOutcome) -> String {
        let TwinOutcome { resolved, keeps_twin, differing } = outcome;
        let name = resolved.executable.name_of(resolved.dispatch.export);
        if *keeps_twin {
            return format!(
                "@{name} ran as bytecode only, as you have changed values; the program goes on \
                 with what it has left"
            );
        }
        if differing.is_empty() {
            return format!("@{name}: bytecode and machine code have left the same bytes");
        }
        let mut parts = Vec::new();
        for (index, (operand, tensor)) in self.operands(resolved).into_iter().enumerate() {
            let is_written = operand.access != debuginfo::OperandAccess::Read;
            let twin = differing.iter().find(|(binding, _)| *binding == operand.binding);
            let (Some(tensor), Some((_, twin))) = (tensor.filter(|_| is_written), twin) else {
                continue;
            };
            if let Some(difference) = difference(&tensor, twin, operand.offset) {
                parts.push(format!(
                    "operand[{index}] : {}: {}",
                    tensor.type_name(),
                    difference.sentence(&tensor)
                ));
            }
        }
        if parts.is_empty() && !self.differs_outside(outcome) {
            return format!(
                "@{name}: bytecode and machine code have left the same values; the bits of NaN \
                 differ"
            );
        }
        if parts.is_empty() {
            parts.push("bytes outside of its operands".to_owned());
        }
        format!(
            "@{name}: bytecode and machine code differ in {}; the program goes on with what the \
             machine code has left",
            parts.join("; ")
        )
    }

    /// Whether bytes differ that belong to none of the tensors that the dispatch writes.
    fn differs_outside(&self, outcome: &TwinOutcome) -> bool {
        let TwinOutcome { resolved, differing, .. } = outcome;
        let operands = self.operands(resolved);
        let written = operands.iter().filter_map(|(operand, tensor)| {
            let is_written = operand.access != debuginfo::OperandAccess::Read;
            let tensor = tensor.as_ref().filter(|_| is_written)?;
            let start = usize::try_from(operand.offset).ok()?;
            let length = tensor.tensor_type().byte_length(usize::MAX).ok()?;
            Some((operand.binding, start..start.checked_add(length)?))
        });
        let written: Vec<(usize, std::ops::Range<usize>)> = written.collect();
        differing.iter().any(|(binding, twin)| {
            let Some(buffer) = resolved.buffers.get(*binding) else { return true };
            let now = buffer.storage().read(0, twin.len());
            let mut differing = (0..twin.len()).filter(|at| now.get(*at) != twin.get(*at));
            let is_inside = |at: &usize| {
                written.iter().any(|(index, range)| index == binding && range.contains(at))
            };
            differing.any(|at| !is_inside(&at))
        })
    }
}

/// Compares a tensor that machine code has left with the same one in the bytes that bytecode has
/// left. None: they are equal, or cannot be compared.
fn difference(machine: &TensorView, twin: &[u8], offset: u64) -> Option<Difference> {
    let bytes = twin.get(usize::try_from(offset).ok()?..)?;
    let memory = Arc::new(Buffer::from_bytes(bytes).ok()?);
    let twin = TensorView::new(memory, machine.tensor_type().clone()).ok()?;
    let mut others = Vec::with_capacity(twin.count());
    twin.each(|number| {
        others.push(number);
        true
    });
    let element_type = machine.tensor_type().element_type;
    let mut found = Difference::default();
    let mut index = 0;
    machine.each(|number| {
        if let Some(other) = others.get(index) {
            found.add(index, number, *other, element_type);
        }
        index += 1;
        true
    });
    (found.count > 0).then_some(found)
}

impl Difference {
    fn add(&mut self, index: usize, machine: Number, twin: Number, element_type: ElementType) {
        let (a, b) = (machine.float(), twin.float());
        if machine == twin && a.is_sign_negative() == b.is_sign_negative()
            || a.is_nan() && b.is_nan()
        {
            return;
        }
        self.count += 1;
        let ulp = ulps(a, b, element_type);
        self.most_ulp = self.most_ulp.max(ulp);
        let distance = if a.is_nan() || b.is_nan() { f64::INFINITY } else { (a - b).abs() };
        if self.at.is_none() || distance > self.most {
            self.most = distance;
            self.at = Some((index, machine, twin));
        }
    }

    fn sentence(&self, tensor: &TensorView) -> String {
        let Self { count, most, most_ulp, at } = self;
        let ulp = most_ulp.map(|ulp| format!(" or {ulp} ULP")).unwrap_or_default();
        let element_type = tensor.tensor_type().element_type;
        let text = |number: Number| match number {
            // Shorter than its value as a wider float.
            Number::Float(value) if element_type.bits == 32 => (value as f32).to_string(),
            number => number.text_for(element_type),
        };
        let place = at.map(|(index, machine, twin)| {
            format!(
                " at {:?}: {} in machine code, {} in bytecode",
                tensor.indices_of(index),
                text(machine),
                text(twin)
            )
        });
        let most = if most.is_finite() { format!("by {most:.4e}") } else { "without bound".into() };
        let all = tensor.count();
        format!("{count} of {all} elements, at most {most}{ulp},{}", place.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use abi::tensor::TensorType;

    use super::*;

    #[test]
    fn the_largest_difference_has_a_place() {
        let tensor = |values: &[f32]| {
            let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
            let memory = Arc::new(Buffer::from_bytes(&bytes).unwrap());
            (bytes, TensorView::new(memory, TensorType::parse("2x2xf32").unwrap()).unwrap())
        };
        let (_, machine) = tensor(&[1.0, 2.0, 3.0, 4.0]);
        let (twin, _) = tensor(&[1.0, 2.5, 3.25, 4.0]);
        let found = difference(&machine, &twin, 0).unwrap();
        let text = found.sentence(&machine);
        assert_eq!(found.count, 2);
        assert!(text.starts_with("2 of 4 elements, at most by 5.0000e-1 or 2097152 ULP"), "{text}");
        assert!(text.contains("at [0, 1]: 2"), "{text}");
        let (same, _) = tensor(&[1.0, 2.0, 3.0, 4.0]);
        assert!(difference(&machine, &same, 0).is_none());
    }
}
