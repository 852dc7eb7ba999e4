//! What the name of a dispatch and its bytecode say of the types of its bindings.

use std::collections::BTreeSet;

use abi::tensor::TensorType;
use hal::Export;
use vm::FunctionId;
use vmfb::Module;

/// The shape in the name of a dispatch.
pub(super) struct NamedShape {
    is_matmul: bool,
    /// Loop bounds and element type.
    pub(super) tensor_type: TensorType,
}

impl NamedShape {
    /// Reads `…_matmul_4x16x8_f32`. A name with several element types (`…_4x16x8_f32xi8xf32`) is
    /// not read, as it does not say which tensor has which.
    pub(super) fn of(export: &Export) -> Option<Self> {
        let (rest, element_type) = export.name.rsplit_once('_')?;
        let (rest, bounds) = rest.rsplit_once('_')?;
        let tensor_type = TensorType::parse(&format!("{bounds}x{element_type}")).ok()?;
        Some(Self { is_matmul: rest.ends_with("matmul"), tensor_type })
    }

    /// Some of the bounds, whose product is the number of elements.
    pub(super) fn shape(&self, binding: usize, count: u64) -> Option<Vec<u64>> {
        let bounds = &self.tensor_type.shape;
        if let (true, [.., m, n, k]) = (self.is_matmul, &bounds[..]) {
            let operands = [[*m, *k], [*k, *n], [*m, *n]];
            // The compiler may bind several operands as one, so the index is only a first guess.
            let in_order = operands.iter().cycle().skip(binding).take(operands.len());
            let mut fitting = in_order.filter(|shape| shape.iter().product::<u64>() == count);
            let batch = &bounds[..bounds.len() - 3];
            return fitting.next().filter(|_| batch.is_empty()).map(|shape| shape.to_vec());
        }
        // There are few bounds, so few subsets; the longest that fits is the most specific.
        let subsets = 1_u32..1 << bounds.len().min(8);
        let picked = subsets.map(|subset| -> Vec<u64> {
            let is_in = |index: &usize| subset & (1 << index) != 0;
            (0..bounds.len()).filter(is_in).map(|index| bounds[index]).collect()
        });
        let product = |shape: &Vec<u64>| shape.iter().try_fold(1_u64, |all, n| all.checked_mul(*n));
        picked.filter(|shape| product(shape) == Some(count)).max_by_key(Vec::len)
    }
}

/// The element type that a dispatch's function loads and stores, if there is only one.
pub(super) fn accessed_type(module: &Module, function: FunctionId) -> Option<&'static str> {
    let code = module.function_bytecode(function.function);
    let mut types = BTreeSet::new();
    for instruction in vmfb::instructions(code).map_while(Result::ok) {
        let mnemonic = instruction.op.mnemonic();
        let Some(access) = mnemonic
            .strip_prefix("buffer.load.")
            .or_else(|| mnemonic.strip_prefix("buffer.store."))
        else {
            continue;
        };
        types.insert(match access {
            "f32" => "f32",
            "f64" => "f64",
            "i32" => "i32",
            "i64" => "i64",
            "i8" | "i8.u" | "i8.s" => "i8",
            "i16" | "i16.u" | "i16.s" => "i16",
            _ => return None,
        });
    }
    let mut types = types.into_iter();
    types.next().filter(|_| types.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(name: &str, binding: usize, count: u64) -> Option<Vec<u64>> {
        let export = Export { name: name.to_owned(), ..Export::default() };
        NamedShape::of(&export)?.shape(binding, count)
    }

    #[test]
    fn shapes_from_names() {
        let matmul = "mlp_dispatch_0_matmul_4x16x8_f32";
        assert_eq!(shape(matmul, 0, 32), Some(vec![4, 8]));
        assert_eq!(shape(matmul, 1, 128), Some(vec![8, 16]));
        assert_eq!(shape(matmul, 2, 64), Some(vec![4, 16]));
        // Operands that were constants are bound elsewhere.
        assert_eq!(shape(matmul, 1, 64), Some(vec![4, 16]));
        assert_eq!(shape("x_elementwise_4x16_f32", 0, 64), Some(vec![4, 16]));
        assert_eq!(shape("x_elementwise_4x16_f32", 1, 16), Some(vec![16]));
        assert_eq!(shape("x_elementwise_4x16_f32", 1, 7), None);
        assert_eq!(shape("main_dispatch_0", 0, 7), None);
        assert_eq!(shape("x_matmul_like_DxDx8_f32", 0, 7), None);
    }
}
