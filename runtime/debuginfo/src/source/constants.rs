//! Tensors whose elements the source writes: constants in the text of an operation, and in the
//! resources at the end of the file.
//!
//! ```text
//! %0 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<W> : tensor<4xf32>} …
//! %1 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
//! {-#
//!   dialect_resources: { builtin: { W: "0x04000000…" } }
//! #-}
//! ```

use std::collections::HashMap;
use std::ops::Range;

use abi::tensor::TensorType;

use super::functions::{LineColumn, SourceFunction, ValueIndex};
use super::imported;

/// A tensor of the source as the operation that defines it has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenTensor {
    /// Its elements: numbers with commas between them, one number for all, or their bytes in
    /// hexadecimal and quotes.
    Elements {
        /// The elements.
        elements: String,
        /// Shape and element type.
        tensor_type: String,
    },
    /// A constant whose elements are not in the text, or too many.
    Unread,
    /// What a global variable holds.
    Global(String),
    /// A tensor without elements yet.
    Empty,
}

/// The most text of a constant that is read.
const LONGEST: usize = 8 << 20;

/// The operations that define a constant, besides those in the table of operations.
const CONSTANTS: [&str; 6] = [
    "mhlo.constant",
    "stablehlo.constant",
    "torch.operator",
    "torch.vtensor.literal",
    "tosa.const",
    "util.unfoldable_constant",
];

fn is_constant(operation: &str) -> bool {
    mlir::meaning(operation) == Some(mlir::Meaning::Constant) || CONSTANTS.contains(&operation)
}

/// The definition of a name that is in scope at a place of a function, or is defined there.
pub(super) fn written(
    text: &str,
    resources: &Resources,
    function: &SourceFunction,
    place: LineColumn,
    name: &str,
) -> Option<WrittenTensor> {
    let here = function.operation_at(place)?;
    let own = function.operations.get(here)?.results.iter().copied();
    let mut known = function.in_scope(here);
    known.extend(own);
    let value = known.into_iter().rev().find(|it| function.values[*it].name == name)?;
    written_value(text, resources, function, value)
}

/// The definition of a value.
fn written_value(
    text: &str,
    resources: &Resources,
    function: &SourceFunction,
    value: ValueIndex,
) -> Option<WrittenTensor> {
    let (operation, _) = function.values.get(value)?.definition?;
    let head = function.head_text(operation)?;
    match function.operations.get(operation)?.name.as_str() {
        "tensor.empty" => Some(WrittenTensor::Empty),
        "util.global.load" | "ml_program.global_load" | "ml_program.global_load_const" => {
            let symbol = head.split_once('@')?.1;
            let end = symbol.find(|it: char| !(it.is_alphanumeric() || "_$.-".contains(it)));
            Some(WrittenTensor::Global(symbol[..end.unwrap_or(symbol.len())].to_owned()))
        }
        "torch.operator" if is_moved(head) => {
            let operand = *function.operations.get(operation)?.operands.first()?;
            let operand = written_value(text, resources, function, operand)?;
            moved(operand, head, function.values.get(value)?.type_text.as_deref()?)
        }
        "torch.operator" if !head.trim_start().starts_with("\"onnx.Constant\"") => None,
        name if is_constant(name) => {
            Some(constant(text, resources, head).unwrap_or(WrittenTensor::Unread))
        }
        _ => None,
    }
}

/// Whether an operation of ONNX gives the elements of its first operand another form, and leaves
/// their order.
fn is_moved(head: &str) -> bool {
    let is_move =
        |kind| matches!(kind, "Expand" | "Identity") || imported::RESHAPES.contains(&kind);
    imported::kind(head).is_some_and(|(kind, _)| is_move(kind))
}

/// The names of tensors that a function only gives another form of what it writes, each with the
/// place of its operation and its type.
pub(super) fn moved_constants(
    text: &str,
    resources: &Resources,
    function: &SourceFunction,
) -> Vec<(String, LineColumn, String)> {
    let values = function.values.iter().enumerate().filter_map(|(index, value)| {
        let operation = value.definition?.0;
        if !is_moved(function.head_text(operation)?) {
            return None;
        }
        match written_value(text, resources, function, index)? {
            WrittenTensor::Elements { tensor_type, .. } => {
                let place = function.operations.get(operation)?.place;
                Some((value.name.clone(), place, tensor_type))
            }
            _ => None,
        }
    });
    values.collect()
}

/// A tensor in the form of a type, `!torch.vtensor<[1,2],f32>`, if that has as many elements, or
/// one number stands for all.
fn moved(operand: WrittenTensor, head: &str, declared: &str) -> Option<WrittenTensor> {
    let WrittenTensor::Elements { elements, tensor_type } = operand else { return Some(operand) };
    if imported::kind(head)?.0 == "Identity" {
        return Some(WrittenTensor::Elements { elements, tensor_type });
    }
    let before = TensorType::parse(&tensor_type).ok()?;
    let declared = TensorType::parse(imported::types(declared)?.first()?).ok()?;
    let after = TensorType { shape: declared.shape, ..before.clone() };
    let is_one_for_all = !elements.contains([',', '"']);
    if after.element_count()? != before.element_count()? && !is_one_for_all {
        return None;
    }
    Some(WrittenTensor::Elements { elements, tensor_type: after.to_string() })
}

/// Reads `dense<…> : tensor<…>` or `dense_resource<…> : tensor<…>`.
fn constant(text: &str, resources: &Resources, head: &str) -> Option<WrittenTensor> {
    const END: &str = "> : tensor<";
    let (start, is_resource) = match head.find("dense_resource<") {
        Some(at) => (at + "dense_resource<".len(), true),
        None => (head.find("dense<")? + "dense<".len(), false),
    };
    let rest = head.get(start..)?;
    let end = memchr::memmem::find(rest.as_bytes(), END.as_bytes())?;
    let written = rest.get(..end)?;
    let tensor_type = rest.get(end + END.len()..)?.split_once('>')?.0;
    // An integer without a sign in its type is shown as one with a sign.
    let plain = |element: &str| match element.strip_prefix("si") {
        Some(width) => format!("i{width}"),
        None => element.to_owned(),
    };
    let tensor_type = match tensor_type.rsplit_once('x') {
        Some((shape, element)) => format!("{shape}x{}", plain(element)),
        None => plain(tensor_type),
    };
    let elements = if is_resource {
        /// The alignment of a resource comes before its bytes.
        const HEAD: usize = "0x04000000".len();
        let bytes = resources.get(text, written.trim_matches('"'))?;
        let digits = bytes.get(HEAD..).filter(|it| it.len() <= LONGEST)?;
        format!("\"0x{digits}\"")
    } else {
        Some(written.to_owned()).filter(|it| it.len() <= LONGEST && !it.contains("__elided__"))?
    };
    Some(WrittenTensor::Elements { elements, tensor_type })
}

/// What the compiler calls the parameter of a global's definition, with its shape; all characters
/// but letters and digits as underscores.
pub(super) fn parameter(definition: &str) -> Option<String> {
    let (head, value) = definition.split_once(" = ")?;
    let (_, named) = value.split_once("parameter.named<")?;
    let (key, tensor_type) = named.split_once("> : tensor<")?;
    let tensor_type = tensor_type.split_once('>')?.0;
    let key: Vec<&str> = key.split('"').skip(1).step_by(2).collect();
    let is_whole = !head.contains(" mutable ") && (1..=2).contains(&key.len());
    let name = format!("__parameter_{}_tensor_{tensor_type}", key.join("_"));
    is_whole.then(|| plain_symbol(&name))
}

/// A symbol with all characters but letters and digits as underscores.
pub fn plain_symbol(symbol: &str) -> String {
    symbol.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect()
}

/// The resources at the end of a source.
#[derive(Debug, Default)]
pub(super) struct Resources {
    /// The bytes of each, in hexadecimal; none of a key that is there twice.
    by_key: HashMap<String, Option<Range<usize>>>,
}

impl Resources {
    /// Finds the resources of a text.
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        let Some(start) = memchr::memmem::rfind(text.as_bytes(), b"{-#") else { return found };
        let mut at = start;
        // The bytes of a resource stand in quotes after its key, which may be quoted, too.
        while let Some(open) = memchr::memmem::find(&text.as_bytes()[at..], b": \"0x") {
            let bytes = at + open + ": \"".len();
            let Some(length) = memchr::memchr(b'"', &text.as_bytes()[bytes..]) else { break };
            let before = text.get(at..at + open).unwrap_or_default().trim_end();
            let key = match before.strip_suffix('"') {
                Some(quoted) => quoted.rsplit('"').next(),
                None => before.rsplit(|it: char| it.is_whitespace() || it == '{').next(),
            };
            let range = bytes..bytes + length;
            let entry = found.by_key.entry(key.unwrap_or_default().to_owned());
            entry.and_modify(|it| *it = None).or_insert(Some(range));
            at = bytes + length + 1;
        }
        found
    }

    /// The bytes of a resource, as `0x…`.
    fn get<'t>(&self, text: &'t str, key: &str) -> Option<&'t str> {
        text.get(self.by_key.get(key)?.clone()?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::SourceText;
    use super::*;

    const TEXT: &str = "\
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = torch.operator \"onnx.Constant\"() {torch.onnx.value = dense_resource<W1> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  %1 = torch.operator \"onnx.Constant\"() {torch.onnx.value = dense_resource<\"a b\"> : tensor<1xsi64>} : () -> !torch.vtensor<[1],si64>
  %2 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %3 = torch.operator \"onnx.Add\"(%0, %0) : (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>
  %4 = tensor.empty() : tensor<2xf32>
  %5 = arith.constant dense_resource<gone> : tensor<2xf32>
  %6 = util.global.load @weights : tensor<2xf32>
  %7 = torch.operator \"onnx.Reshape\"(%0, %1) : (!torch.vtensor<[2],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[1,2,1],f32>
  %8 = torch.operator \"onnx.Identity\"(%7) : (!torch.vtensor<[1,2,1],f32>) -> !torch.vtensor<[?,2,1],f32>
  %9 = torch.operator \"onnx.Expand\"(%0, %1) : (!torch.vtensor<[2],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[4,2],f32>
  %10 = torch.operator \"onnx.Reshape\"(%3, %1) : (!torch.vtensor<[2],f32>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[1,2],f32>
  return %2 : tensor<2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      W1: \"0x040000000000803F00000040\",
      \"a b\": \"0x080000000300000000000000\"
    }
  }
#-}
";

    #[test]
    fn parameters_have_the_compilers_names_if_no_other_has_them() {
        let text = "
util.global private @w = #flow.parameter.named<\"model\"::\"l0.w\"> : tensor<2x3xf32>
util.global private @v = #flow.parameter.named<\"model\"::\"l1.w\"> : tensor<2x3xf32>
util.global private @u = #flow.parameter.named<\"model\"::\"l1_w\"> : tensor<2x3xf32>
util.global private mutable @m = #flow.parameter.named<\"model\"::\"m\"> : tensor<2x3xf32>
util.global private @c = dense<1.0> : tensor<2x3xf32>
";
        let source = SourceText::new(text.to_owned());
        let name = "__parameter_model_l0_w_tensor_2x3xf32";
        assert_eq!(source.parameter("w").as_deref(), Some(name));
        for other in ["v", "u", "m", "c", "none"] {
            assert_eq!(source.parameter(other), None, "{other}");
        }
    }

    #[test]
    fn constants_are_read_where_the_source_writes_them() {
        let source = SourceText::new(TEXT.to_owned());
        let at = |name: &str| source.written_tensor((13, 3), name);
        let elements = |elements: &str, tensor_type: &str| {
            let (elements, tensor_type) = (elements.to_owned(), tensor_type.to_owned());
            Some(WrittenTensor::Elements { elements, tensor_type })
        };
        assert_eq!(at("%0"), elements("\"0x0000803F00000040\"", "2xf32"));
        assert_eq!(at("%1"), elements("\"0x0300000000000000\"", "1xi64"));
        assert_eq!(at("%2"), elements("[1.0, 2.0]", "2xf32"));
        assert_eq!(at("%3"), None);
        assert_eq!(at("%4"), Some(WrittenTensor::Empty));
        assert_eq!(at("%5"), Some(WrittenTensor::Unread));
        assert_eq!(at("%6"), Some(WrittenTensor::Global("weights".to_owned())));
        assert_eq!(at("%x"), None);
    }

    #[test]
    fn constants_in_another_form_are_constants() {
        let source = SourceText::new(TEXT.to_owned());
        let at = |name: &str| match source.written_tensor((13, 3), name)? {
            WrittenTensor::Elements { elements, tensor_type } => Some((elements, tensor_type)),
            _ => None,
        };
        let elements = "\"0x0000803F00000040\"".to_owned();
        assert_eq!(at("%7"), Some((elements.clone(), "1x2x1xf32".to_owned())));
        assert_eq!(at("%8"), Some((elements, "1x2x1xf32".to_owned())));
        assert_eq!(at("%9"), None, "each element would stand there several times");
        assert_eq!(at("%10"), None, "it is computed");
        let moved = source.moved_constants(3);
        let moved: Vec<_> = moved.iter().map(|(name, place, _)| (&**name, place.0)).collect();
        assert_eq!(moved, [("%7", 9), ("%8", 10)]);
    }
}
