//! How many functions of numbers a dispatch computes, as far as its code says: for each operation
//! on tensors, how often its loops turn, times what one turn computes. A size that is only known
//! when it runs, or an operation that is not understood, makes the number unknown.

use mlir::linalg::Loops;
use mlir::table::Meaning;
use mlir::{Map, Numbers, TensorType};

use super::head::Head;
use super::symbolic::maps::Maps;
use crate::source::functions::{SourceFunction, ValueIndex};

/// The dialects whose operations, outside of loops, compute nothing that is counted.
const WITHOUT_WORK: [&str; 9] =
    ["func", "arith", "math", "tensor", "affine", "iree_tensor_ext", "util", "flow", "cf"];

/// The functions of numbers that a dispatch's code computes.
pub(super) fn operations(body: &SourceFunction, maps: &Maps<'_>) -> Option<u64> {
    let mut total = 0_u64;
    for index in 1..body.operations.len() {
        total = total.checked_add(of_operation(body, index, maps)?)?;
    }
    Some(total)
}

fn of_operation(body: &SourceFunction, index: usize, maps: &Maps<'_>) -> Option<u64> {
    let name = body.operations.get(index)?.name.as_str();
    let Some(Meaning::Loops(loops)) = mlir::meaning(name) else {
        let dialect = name.split_once('.').map_or("func", |(dialect, _)| dialect);
        let is_idle = match dialect {
            // Others compute what is not known here.
            "linalg" => mlir::meaning(name).is_some(),
            dialect => WITHOUT_WORK.contains(&dialect),
        };
        return is_idle.then_some(0);
    };
    let head = Head::of(body, index);
    let shapes = shapes(body, &head);
    match loops {
        Loops::Copy | Loops::Transpose | Loops::Broadcast => Some(0),
        Loops::Generic => {
            let at = head.anywhere("indexing_maps")? + 1;
            let written = head.parts(head.inside(at)).into_iter();
            let maps: Option<Vec<Map>> = written.map(|it| maps.map(&head.text(it))).collect();
            turns(&maps?, &shapes)?.checked_mul(computed(body, index))
        }
        Loops::Named(letters, step) => {
            let maps = mlir::linalg::maps(letters, &[], &[])?;
            turns(&maps, &shapes)?.checked_mul(step.operations())
        }
        Loops::Elementwise { .. } | Loops::Square => count(shapes.last()?),
        Loops::Map => count(shapes.last()?)?.checked_mul(computed(body, index).max(1)),
        Loops::Reduce => count(shapes.first()?)?.checked_mul(computed(body, index).max(1)),
        Loops::Quantized { .. } => count(shapes.last()?)?.checked_mul(2),
        Loops::Softmax => None,
    }
}

/// What one turn of a loop computes: the functions in its region, without conversions.
fn computed(body: &SourceFunction, loops: usize) -> u64 {
    let is_work = |name: &str| match mlir::meaning(name) {
        Some(Meaning::Numbers(numbers)) => !matches!(numbers, Numbers::Cast(_)),
        Some(meaning) => matches!(meaning, Meaning::Clamp | Meaning::Extended(..)),
        None => name.starts_with("math."),
    };
    let inside = body.operations.iter().filter(|it| it.parent == Some(loops));
    inside.filter(|it| is_work(&it.name)).count() as u64
}

/// How often all loops turn together.
fn turns(maps: &[Map], shapes: &[Vec<Option<usize>>]) -> Option<u64> {
    count(&mlir::linalg::turns(maps, shapes))
}

fn count(sizes: &[Option<usize>]) -> Option<u64> {
    sizes.iter().try_fold(1_u64, |count, size| count.checked_mul((*size)? as u64))
}

/// The shapes of the operands of an operation: those after `ins`, then those after `outs`. A number
/// that is the same for all elements has none.
fn shapes(body: &SourceFunction, head: &Head<'_>) -> Vec<Vec<Option<usize>>> {
    let shape = |value: ValueIndex| {
        let declared = body.values.get(value).and_then(|it| it.type_text.as_deref());
        declared.and_then(TensorType::parse).map_or_else(Vec::new, |it| it.dimensions)
    };
    let groups = ["ins", "outs"].into_iter().filter_map(|word| head.group_after(word));
    groups.flat_map(|range| head.values(range)).map(shape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::functions::FunctionIndex;

    /// The count for a function with one operation on these types.
    fn of(operation: &str, types: &[&str]) -> Option<u64> {
        let all: Vec<String> =
            types.iter().enumerate().map(|(at, it)| format!("%{at}: tensor<{it}>")).collect();
        let (inputs, outputs) = types.split_at(types.len() - 1);
        let names: Vec<String> = (0..inputs.len()).map(|at| format!("%{at}")).collect();
        let list: Vec<String> = inputs.iter().map(|it| format!("tensor<{it}>")).collect();
        let result = outputs[0];
        let text = format!(
            "#map = affine_map<(d0, d1) -> (d0, d1)>\n\
             #map1 = affine_map<(d0, d1) -> (d0)>\n\
             func.func @f({}) {{\n  %r = {operation} ins({} : {}) outs(%{} : tensor<{result}>) \
             -> tensor<{result}>\n  return\n}}\n",
            all.join(", "),
            names.join(", "),
            list.join(", "),
            inputs.len(),
        );
        let index = FunctionIndex::scan(&text);
        operations(&index.read(&text, 0)?, &Maps::of(&text))
    }

    #[test]
    fn operations_with_names_of_their_own() {
        let three = |name: &str, types: [&str; 3]| {
            of(
                &format!("linalg.{name}"),
                &types.map(|it| format!("{it}xf32")).each_ref().map(String::as_str),
            )
        };
        assert_eq!(three("matmul", ["2x3", "3x5", "2x5"]), Some(2 * 2 * 3 * 5));
        assert_eq!(three("batch_matmul", ["7x2x3", "7x3x5", "7x2x5"]), Some(2 * 7 * 2 * 3 * 5));
        assert_eq!(three("matvec", ["4x6", "6", "4"]), Some(2 * 24));
        assert_eq!(
            three("conv_2d_nchw_fchw", ["1x3x10x10", "8x3x3x3", "1x8x8x8"]),
            Some(2 * 8 * 8 * 8 * 27)
        );
        assert_eq!(
            three("conv_2d_nhwc_hwcf", ["1x10x10x3", "3x3x3x8", "1x8x8x8"]),
            Some(2 * 8 * 8 * 8 * 27)
        );
        assert_eq!(
            three("depthwise_conv_2d_nhwc_hwc", ["1x10x10x8", "3x3x8", "1x8x8x8"]),
            Some(2 * 8 * 8 * 8 * 9)
        );
        assert_eq!(three("pooling_nhwc_max", ["1x4x4x2", "2x2", "1x2x2x2"]), Some(8 * 4));
        assert_eq!(three("matmul", ["?x3", "3x5", "?x5"]), None);
        assert_eq!(three("add", ["2x3", "2x3", "2x3"]), Some(6));
        assert_eq!(of("linalg.softmax dimension(1)", &["2x3xf32", "2x3xf32"]), None);
        assert_eq!(of("linalg.mine", &["2x3xf32", "2x3xf32"]), None);
    }

    #[test]
    fn the_turns_of_loops() {
        let read = |text: &str| Map::parse(text).unwrap();
        let maps = [read("(d0, d1) -> (d0, d1)"), read("(d0, d1) -> (d0)")];
        assert_eq!(turns(&maps, &[vec![Some(4), Some(9)], vec![Some(4)]]), Some(36));
        assert_eq!(turns(&maps, &[vec![Some(4), None], vec![Some(4)]]), None);
        let window =
            [read("(d0, d1) -> (d0 * 2 + d1)"), read("(d0, d1) -> (d1)"), read("(d0, d1) -> (d0)")];
        assert_eq!(turns(&window, &[vec![Some(9)], vec![Some(3)], vec![Some(4)]]), Some(12));
    }
}
