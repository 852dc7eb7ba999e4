//! `linalg.pack` and `linalg.unpack`.

use crate::operations::{Kind, Tiling};
use crate::refusal::Result;
use crate::text::attributes::{self, Attributes};
use crate::text::reader::{Read, Reader};
use mlir::table::Tensor;

/// Reads `%a padding_value(%p : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles =
/// [8, %n] into %b : type -> type`.
pub(crate) fn read(reader: &mut Reader<'_, '_>, operation: Tensor) -> Result<Read> {
    let source = reader.operand()?;
    let mut padding = None;
    if reader.cursor.eat("padding_value") {
        reader.cursor.expect("(")?;
        padding = Some(reader.operand()?);
        reader.cursor.expect(":")?;
        reader.read_type()?;
        reader.cursor.expect(")")?;
    }
    let outer = dimensions(reader, "outer_dims_perm")?.unwrap_or_default();
    let inner = dimensions(reader, "inner_dims_pos")?.unwrap_or_default();
    reader.cursor.expect("inner_tiles")?;
    reader.cursor.expect("=")?;
    let tiles = reader.sizes("[", "]")?;
    reader.cursor.expect("into")?;
    let target = reader.operand()?;
    Attributes::default().read(&mut reader.cursor)?;
    reader.cursor.expect(":")?;
    reader.read_type()?;
    reader.cursor.expect("->")?;
    let type_ = reader.read_type()?;
    let tiling = Tiling { outer, inner, tiles };
    let kind = match operation {
        Tensor::Pack => Kind::Pack { source, padding, target, tiling },
        _ => Kind::Unpack { source, target, tiling },
    };
    Ok((kind, vec![type_]))
}

/// Reads `NAME = [1, 0]`, if it is next.
fn dimensions(reader: &mut Reader<'_, '_>, name: &str) -> Result<Option<Vec<usize>>> {
    if !reader.cursor.eat(name) {
        return Ok(None);
    }
    reader.cursor.expect("=")?;
    let list = attributes::integers(&mut reader.cursor, 0)?;
    let list: Option<Vec<usize>> = list.into_iter().map(|it| usize::try_from(it).ok()).collect();
    match list {
        Some(list) => Ok(Some(list)),
        None => reader.cursor.error("a dimension below zero"),
    }
}
