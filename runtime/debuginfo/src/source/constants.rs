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
use std::sync::{Arc, Mutex, PoisonError};

use abi::tensor::{Tensor, TensorType};

use crate::debug_file::DebugFile;
use crate::dialect_resources::dialect_resources;
use crate::elided_name::ElidedName;

use super::functions::{LineColumn, SourceFunction};

/// The name of a constant, the place of its operation, and its type.
pub(super) type NamedConstant = (String, LineColumn, String);

/// A tensor of the source as the operation that defines it has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenTensor {
    /// Its elements.
    Tensor(Arc<Tensor>),
    /// A constant whose elements are not in the text, or too many.
    Unread,
    /// What a global variable holds.
    Global(String),
    /// A tensor without elements yet.
    Empty,
}

/// The alignment of a resource, which comes before its bytes.
pub(super) const RESOURCE_HEAD: usize = "0x04000000".len();
/// The most bytes of a constant that is read.
const LONGEST: usize = 128 << 20;
/// The most bytes of resources that are kept once they were read.
const MOST_KEPT: usize = 512 << 20;

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

/// Whether an operation, by its name and its head, writes a constant.
pub(crate) fn writes_constant<'t>(name: &str, head: impl FnOnce() -> &'t str) -> bool {
    let is_of_onnx = || head().trim_start().starts_with("\"onnx.Constant\"");
    is_constant(name) && (name != "torch.operator" || is_of_onnx())
}

/// What an operation, by its name and its head, writes itself.
pub(super) fn written_by(
    text: &str,
    resources: &Resources,
    name: &str,
    head: &str,
) -> Option<WrittenTensor> {
    match name {
        "tensor.empty" => Some(WrittenTensor::Empty),
        "util.global.load" | "ml_program.global_load" | "ml_program.global_load_const" => {
            let symbol = head.split_once('@')?.1;
            let end = symbol.find(|it: char| !(it.is_alphanumeric() || "_$.-".contains(it)));
            Some(WrittenTensor::Global(symbol[..end.unwrap_or(symbol.len())].to_owned()))
        }
        name if writes_constant(name, || head) => Some(match constant(text, resources, head) {
            Some(tensor) => WrittenTensor::Tensor(tensor),
            None => WrittenTensor::Unread,
        }),
        _ => None,
    }
}

/// The constants of functions by the names that they have in texts which leave them out
/// ([`ElidedName`]): what each is called, where, and its type. Of two with the same bytes neither
/// is told.
pub(super) fn named(
    text: &str,
    resources: &Resources,
    functions: impl Iterator<Item = SourceFunction>,
) -> HashMap<String, Option<NamedConstant>> {
    let mut found: HashMap<String, Option<NamedConstant>> = HashMap::new();
    for function in functions {
        for value in &function.values {
            let Some((operation, 0)) = value.definition else { continue };
            let Some(of) = function.operations.get(operation) else { continue };
            let head = || function.head_text(operation).unwrap_or_default();
            if !writes_constant(&of.name, head) {
                continue;
            }
            let key = head().split_once("dense_resource<").and_then(|(_, it)| it.split_once('>'));
            let name = match key {
                Some((key, _)) => resources.elided_name(text, key.trim_matches('"')),
                None => ElidedName::of_constant(head()),
            };
            let type_text = value.type_text.clone().unwrap_or_default();
            let constant = (value.name.clone(), of.place, type_text);
            if let Some(name) = name {
                found.entry(name).and_modify(|it| *it = None).or_insert(Some(constant));
            }
        }
    }
    found
}

/// Reads `dense<…> : tensor<…>` or `dense_resource<…> : tensor<…>`.
pub(super) fn constant(text: &str, resources: &Resources, head: &str) -> Option<Arc<Tensor>> {
    const END: &str = "> : tensor<";
    let (start, is_resource) = match head.find("dense_resource<") {
        Some(at) => (at + "dense_resource<".len(), true),
        None => (head.find("dense<")? + "dense<".len(), false),
    };
    let rest = head.get(start..)?;
    let end = memchr::memmem::find(rest.as_bytes(), END.as_bytes())?;
    let written = rest.get(..end)?;
    let tensor_type = rest.get(end + END.len()..)?.split_once('>')?.0;
    let tensor_type = plain_tensor_type(tensor_type);
    let name = written.trim_matches('"');
    match is_resource {
        true => resources.tensor(text, name, &tensor_type),
        false if ElidedName::byte_length(name).is_some() => {
            resources.left_out(name, &tensor_type).map(Arc::new)
        }
        false => read_constant(written, &tensor_type).map(Arc::new),
    }
}

/// What is between the brackets of a tensor's type, as [`TensorType`] reads it: an integer without
/// a sign in its type is shown as one with a sign.
pub(super) fn plain_tensor_type(written: &str) -> String {
    let plain = |element: &str| match element.strip_prefix("si") {
        Some(width) => format!("i{width}"),
        None => element.to_owned(),
    };
    match written.rsplit_once('x') {
        Some((shape, element)) => format!("{shape}x{}", plain(element)),
        None => plain(written),
    }
}

/// A constant as texts write it: numbers with commas between them, one number for all, or all bytes
/// as `"0x3F80"`.
#[must_use]
pub fn read_constant(elements: &str, tensor_type: &str) -> Option<Tensor> {
    if let Some(digits) = elements.strip_prefix("\"0x") {
        return from_digits(digits.strip_suffix('"')?, tensor_type);
    }
    // Elements in hexadecimal are the bits of numbers.
    let is_read = !elements.contains("__elided__") && !elements.contains("0x");
    let parse = || Tensor::parse(&format!("{tensor_type}={elements}"), LONGEST).ok();
    is_read.then(parse).flatten()
}

/// A tensor whose bytes are digits in hexadecimal.
fn from_digits(digits: &str, tensor_type: &str) -> Option<Tensor> {
    tensor_of_bytes(tensor_type, |length| {
        Some(digits).filter(|it| it.len() / 2 == length).and_then(bytes_of_digits)
    })
}

/// A tensor of a type that a text writes, given its bytes; they are asked for with the length that
/// they have to have. `None` also if that is too long.
#[must_use]
pub fn tensor_of_bytes(
    tensor_type: &str,
    bytes: impl FnOnce(usize) -> Option<Vec<u8>>,
) -> Option<Tensor> {
    let tensor_type = TensorType::parse(tensor_type).ok()?;
    let length = tensor_type.byte_length(LONGEST).ok()?;
    // The bytes of one element would stand for all.
    let bytes = bytes(length).filter(|it| it.len() == length)?;
    let TensorType { shape, element_type } = tensor_type;
    Some(Tensor { shape, element_type, bytes })
}

/// What each character is as a digit in hexadecimal; 16 of one that is none.
const DIGITS: [u8; 256] = {
    let mut digits = [16; 256];
    let mut digit = 0;
    while digit < 16 {
        digits[b"0123456789abcdef"[digit] as usize] = digit as u8;
        digits[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    digits
};

/// The bytes that digits in hexadecimal are; `None` if they are none.
#[must_use]
pub fn bytes_of_digits(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let mut bytes = Vec::with_capacity(pairs.len());
    let mut is_digits = rest.is_empty();
    for [high, low] in pairs {
        let (high, low) = (DIGITS[usize::from(*high)], DIGITS[usize::from(*low)]);
        is_digits &= high | low < 16;
        bytes.push(high << 4 | low & 15);
    }
    is_digits.then_some(bytes)
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

/// The long constants of a source: the resources at its end, and those that are left out of it.
#[derive(Debug, Default)]
pub(super) struct Resources {
    /// The bytes of each resource, in hexadecimal, or the name of what is left out; none of a key
    /// that is there twice.
    by_key: HashMap<String, Option<Range<usize>>>,
    /// The file that the text is kept in, which has the constants that are left out.
    kept_in: Option<DebugFile>,
    /// Those that were read, by key and type: weights are asked for again and again.
    read: Mutex<HashMap<(String, String), Arc<Tensor>>>,
}

impl Resources {
    /// Finds the resources of a text, which may be kept in a debug file.
    pub(super) fn of(text: &str, kept_in: Option<DebugFile>) -> Self {
        let mut found = Self { kept_in, ..Self::default() };
        for (key, range) in dialect_resources(text) {
            let entry = found.by_key.entry(key.to_owned());
            entry.and_modify(|it| *it = None).or_insert(Some(range));
        }
        found
    }

    /// A resource as a tensor.
    fn tensor(&self, text: &str, key: &str, tensor_type: &str) -> Option<Arc<Tensor>> {
        let name = (key.to_owned(), tensor_type.to_owned());
        let read = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read().get(&name) {
            return Some(Arc::clone(known));
        }
        let written = self.get(text, key)?;
        let tensor = match ElidedName::byte_length(written) {
            Some(_) => self.left_out(written, tensor_type)?,
            None => from_digits(written.get(RESOURCE_HEAD..)?, tensor_type)?,
        };
        let tensor = Arc::new(tensor);
        let mut read = read();
        let kept: usize = read.values().map(|it| it.bytes.len()).sum();
        if kept + tensor.bytes.len() <= MOST_KEPT {
            read.insert(name, Arc::clone(&tensor));
        }
        Some(tensor)
    }

    /// A constant that is left out of the text, by its name there.
    fn left_out(&self, name: &str, tensor_type: &str) -> Option<Tensor> {
        let file = self.kept_in.as_ref()?;
        tensor_of_bytes(tensor_type, |length| {
            let is_fitting = ElidedName::byte_length(name) == Some(length);
            is_fitting.then(|| file.constant(name)).flatten()
        })
    }

    /// The name that a resource has in texts that leave it out.
    pub(super) fn elided_name(&self, text: &str, key: &str) -> Option<String> {
        let written = self.get(text, key)?;
        if ElidedName::byte_length(written).is_some() {
            return Some(written.to_owned());
        }
        let mut name = ElidedName::default();
        name.add(written.get(RESOURCE_HEAD..)?.as_bytes());
        Some(name.finish())
    }

    /// The bytes of a resource, as `0x…`, or the name of what is left out.
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
        let tensor = |text: &str| {
            let tensor = Tensor::parse(text, LONGEST).expect("a tensor");
            Some(WrittenTensor::Tensor(Arc::new(tensor)))
        };
        assert_eq!(at("%0"), tensor("2xf32=1 2"));
        assert_eq!(at("%1"), tensor("1xi64=3"));
        assert_eq!(at("%2"), tensor("2xf32=1 2"));
        assert_eq!(at("%3"), tensor("2xf32=2 4"));
        assert_eq!(at("%4"), Some(WrittenTensor::Empty));
        assert_eq!(at("%5"), Some(WrittenTensor::Unread));
        assert_eq!(at("%6"), Some(WrittenTensor::Global("weights".to_owned())));
        assert_eq!(at("%x"), None);
    }

    #[test]
    fn constants_are_told_by_their_bytes() {
        let told = |text: &str, bytes: &str| {
            let source = SourceText::new(text.to_owned());
            let name = ElidedName::of_constant(&format!("\"0x{bytes}\"")).unwrap();
            source.constant_named(&name).cloned()
        };
        let weights = "0000803F00000040";
        let found = told(TEXT, weights).expect("it is there once");
        assert_eq!((found.0.as_str(), found.1.0), ("%0", 2));
        assert_eq!(told(TEXT, "0300000000000000").unwrap().0, "%1");
        assert_eq!(told(TEXT, "0000803F00000041"), None);
        let twice = TEXT.replace("dense_resource<gone>", "dense_resource<W1>");
        assert_eq!(told(&twice, weights), None, "which one is not known");
        let inline = TEXT.replace("dense<[1.0, 2.0]>", "dense<\"0x000080BF00000040\">");
        assert_eq!(told(&inline, "000080BF00000040").unwrap().0, "%2");
        // As a debug file keeps the text.
        let name = ElidedName::of_constant(&format!("\"0x{weights}\"")).unwrap();
        let kept = TEXT.replace("0x040000000000803F00000040", &name);
        assert_eq!(told(&kept, weights).unwrap().0, "%0");
    }

    #[test]
    fn constants_in_another_form_are_constants() {
        let source = SourceText::new(TEXT.to_owned());
        let at = |name: &str| match source.written_tensor((13, 3), name)? {
            WrittenTensor::Tensor(tensor) => Some(tensor.format(8)),
            _ => None,
        };
        assert_eq!(at("%7").as_deref(), Some("1x2x1xf32=[[1][2]]"));
        assert_eq!(at("%8").as_deref(), Some("1x2x1xf32=[[1][2]]"));
        assert_eq!(at("%9"), None, "two elements do not become four and two");
        assert_eq!(at("%10").as_deref(), Some("1x2xf32=[2 4]"));
        let folded = source.folded_constants(3);
        let folded: Vec<_> = folded.iter().map(|(name, place, _)| (&**name, place.0)).collect();
        assert_eq!(folded, [("%3", 5), ("%7", 9), ("%8", 10), ("%10", 12)]);
    }
}
