//! How an operation is written, by what it means.

use crate::operations::Function;
use crate::refusal::Result;
use crate::text::module::ModuleText;
use crate::text::reader::{Read, Reader};
use crate::text::{arith, complex, control, extensions, linalg, tensors};
use mlir::table::{Control, Meaning};

/// Reads the function with this name.
pub(crate) fn read_function(module: &ModuleText<'_>, name: &str) -> Result<Function> {
    Reader::function(module, name, read)
}

/// Reads an operation after its name.
fn read<'t>(reader: &mut Reader<'t, '_>, name: &'t str) -> Result<Read> {
    match mlir::meaning(name) {
        Some(Meaning::Constant) => arith::constant(reader, name),
        Some(Meaning::Numbers(numbers)) => arith::numbers(reader, numbers),
        Some(Meaning::Extended(first, second)) => arith::extended(reader, first, second),
        Some(Meaning::Complex(function)) => complex::read(reader, function),
        Some(Meaning::Clamp) => arith::clamp(reader),
        Some(Meaning::Affine(which)) => control::affine(reader, which),
        Some(Meaning::Loops(loops)) => linalg::read(reader, loops),
        Some(Meaning::LoopIndex) => linalg::index(reader),
        Some(Meaning::Tensor(tensor)) => tensors::read(reader, tensor),
        Some(Meaning::Alias) => tensors::alias(reader),
        Some(Meaning::Control(Control::For)) => control::repeat(reader),
        Some(Meaning::Control(Control::If)) => control::branch(reader),
        Some(Meaning::Control(Control::Assert)) => control::assertion(reader),
        Some(Meaning::Extension(extension)) => extensions::read(reader, extension),
        Some(Meaning::Control(_) | Meaning::Global(_)) | None => {
            reader.unsupported("is not evaluated")
        }
    }
}
