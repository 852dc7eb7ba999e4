//! The types that a program takes its parameters for, and whether archives have the same.
//!
//! A program asks an archive for bytes, so a parameter of other elements is read all the same, and
//! means something else. The debug file has the types, in the program of tensors; without it the
//! source has those from before the compilation, which may change their widths.

use std::path::{Path, PathBuf};

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::TensorType;
use debuginfo::{DebugFile, DebugInfo, DeclaredParameter, declared_parameters};
use hal::Parameters;
use vmfb::Module;

/// The types of a module's parameters.
#[derive(Debug, Default)]
pub struct ParameterTypes {
    declared: Vec<DeclaredParameter>,
    /// Whether the program reads exactly these.
    is_exact: bool,
}

/// A parameter of another type than the program takes it for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "INVALID_ARGUMENT; parameter `{key}`{} is {stated} ({} bytes), and the program reads it as \
     tensor<{wanted}> ({} bytes); convert it, or give its bytes as a .bin file",
    of_scope(scope),
    size(stated),
    size(wanted)
)]
pub struct OtherParameter {
    /// The scope of the parameter; may be empty.
    pub scope: String,
    /// Its key in the scope.
    pub key: String,
    /// The type that the archive states.
    pub stated: TensorType,
    /// The type that the program takes it for.
    pub wanted: TensorType,
}

impl ParameterTypes {
    /// Those of a module, by its program of tensors, or else by its sources.
    pub(crate) fn of(flow: Option<&str>, info: &DebugInfo) -> Self {
        if let Some(flow) = flow {
            return Self { declared: declared_parameters(flow), is_exact: true };
        }
        let sources = info.files().filter_map(|(file, _)| info.source(file));
        let mut declared: Vec<DeclaredParameter> =
            sources.flat_map(|source| declared_parameters(source.text())).collect();
        // The compiler may demote these.
        let is_wide = |it: &DeclaredParameter| {
            let ElementType { kind, bits } = it.tensor_type.element_type;
            bits == 64 && kind != NumericalKind::ComplexFloat
        };
        declared.retain(|it| !is_wide(it));
        Self { declared, is_exact: false }
    }

    /// Those of a module that is not loaded otherwise. Sources are looked for in `roots`.
    #[must_use]
    pub fn of_module(
        module: &Module,
        path: Option<&Path>,
        debug_directory: Option<&Path>,
        roots: &[PathBuf],
    ) -> Self {
        let find = |path| DebugFile::for_module(path, module.file_bytes(), debug_directory).ok();
        let debug_file = path.and_then(find).flatten();
        let flow = debug_file.as_ref().and_then(|file| file.flow().ok().flatten());
        if flow.is_some() {
            return Self {
                declared: declared_parameters(&flow.unwrap_or_default()),
                is_exact: true,
            };
        }
        let beside = path.and_then(Path::parent).map(Path::to_owned);
        let roots = roots.iter().cloned().chain(beside);
        let info = DebugInfo::load(module, None).with_source_roots(roots);
        Self::of(None, &info)
    }

    /// The parameters.
    #[must_use]
    pub fn declared(&self) -> &[DeclaredParameter] {
        &self.declared
    }

    /// Checks that archives have the parameters as tensors of these types, where they state what
    /// they have.
    ///
    /// # Errors
    /// They have one of another type.
    pub fn check(&self, parameters: &Parameters) -> Result<(), OtherParameter> {
        self.declared.iter().try_for_each(|declared| {
            let entry = parameters.scope(&declared.scope).and_then(|it| it.find(&declared.key));
            let stated = entry.ok().and_then(|entry| TensorType::parse(entry.stated_type()?).ok());
            match stated.map(|stated| (self.fits(&declared.tensor_type, &stated), stated)) {
                Some((false, stated)) => {
                    let DeclaredParameter { scope, key, tensor_type } = declared.clone();
                    Err(OtherParameter { scope, key, stated, wanted: tensor_type })
                }
                _ => Ok(()),
            }
        })
    }

    fn fits(&self, wanted: &TensorType, stated: &TensorType) -> bool {
        let length = |ty: &TensorType| ty.byte_length(usize::MAX).ok();
        if length(wanted) != length(stated) {
            // How many bytes are read is seen when they are.
            return !self.is_exact || wanted.element_type.is_packed();
        }
        is_bytes(stated) || fits_element(wanted, stated) && !is_transposed(wanted, stated)
    }
}

fn of_scope(scope: &str) -> String {
    if scope.is_empty() { String::new() } else { format!(" of the scope `{scope}`") }
}

fn size(tensor_type: &TensorType) -> usize {
    tensor_type.byte_length(usize::MAX).unwrap_or(0)
}

/// Whether a tensor is a row of bytes, which may be anything.
fn is_bytes(stated: &TensorType) -> bool {
    let ElementType { kind, bits } = stated.element_type;
    bits == 8 && kind == NumericalKind::UnsignedInteger && stated.shape.len() == 1
}

fn fits_element(wanted: &TensorType, stated: &TensorType) -> bool {
    let is_integer = |ty: ElementType| {
        use NumericalKind::{Boolean, Integer, SignedInteger, UnsignedInteger};
        matches!(ty.kind, Integer | SignedInteger | UnsignedInteger | Boolean)
    };
    let (wanted, stated) = (wanted.element_type, stated.element_type);
    let is_unnamed = |ty: ElementType| ty.kind == NumericalKind::BrainFloat || ty.bits == 8;
    wanted == stated
        || is_integer(wanted) && is_integer(stated)
        || stated.kind == NumericalKind::Opaque
        // Formats without names for these have their bits.
        || is_unnamed(wanted) && stated.kind == NumericalKind::UnsignedInteger
}

/// Whether a tensor has the dimensions of another in another order.
fn is_transposed(wanted: &TensorType, stated: &TensorType) -> bool {
    let lengths = |ty: &TensorType| -> Vec<u64> {
        ty.shape.iter().copied().filter(|length| *length != 1).collect()
    };
    let (mut wanted, mut stated) = (lengths(wanted), lengths(stated));
    if wanted == stated {
        return false;
    }
    wanted.sort_unstable();
    stated.sort_unstable();
    wanted == stated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_another_tensor_is_told_from_what_is_the_same() {
        for (wanted, stated, exact, source) in [
            ("4xf32", "4xf32", true, true),
            ("4xf32", "4xi32", false, false),
            ("4xf32", "4xui32", false, false),
            ("4xf32", "4xf64", false, true),
            ("4xf32", "16xui8", true, true),
            ("4xf32", "4x4xui8", false, false),
            ("4xf32", "2x2xf32", true, true),
            ("2x3xf32", "3x2xf32", false, false),
            ("2x1x3xf32", "2x3xf32", true, true),
            ("4xi32", "4xsi32", true, true),
            ("4xbf16", "4xui16", true, true),
            ("4xbf16", "4xf16", false, false),
            ("4xbf16", "4x*16", true, true),
            ("4xf8E4M3FN", "4xui8", true, true),
            ("4xf8E4M3FN", "4xf8E5M2", false, false),
            ("8xi4", "4xui8", true, true),
        ] {
            let parsed = |text: &str| TensorType::parse(text).unwrap();
            for (is_exact, fits) in [(true, exact), (false, source)] {
                let types = ParameterTypes { declared: Vec::new(), is_exact };
                assert_eq!(types.fits(&parsed(wanted), &parsed(stated)), fits, "{wanted} {stated}");
            }
        }
    }
}
