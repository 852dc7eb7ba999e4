//! Which family of operations a name belongs to.

use crate::operations::Function;
use crate::refusal::Result;
use crate::text::module::ModuleText;
use crate::text::reader::{Read, Reader};
use crate::text::{arith, control, extensions, linalg, tensors};

/// Reads the function with this name.
pub(crate) fn read_function(module: &ModuleText<'_>, name: &str) -> Result<Function> {
    Reader::function(module, name, read)
}

/// Reads an operation after its name.
fn read<'t>(reader: &mut Reader<'t, '_>, name: &'t str) -> Result<Read> {
    let (dialect, rest) = name.split_once('.').unwrap_or(("", name));
    match dialect {
        "arith" | "math" | "index" => arith::read(reader, name),
        "linalg" => linalg::read(reader, rest),
        "tensor" => tensors::read(reader, rest),
        "scf" | "affine" => control::read(reader, name),
        "iree_linalg_ext" => extensions::read(reader, rest),
        _ => tensors::read_bound(reader, name),
    }
}
