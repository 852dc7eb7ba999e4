//! Types.

use crate::refusal::{Refusal, Result};
use crate::text::cursor::Cursor;
use mlir::{Access, Element, TensorType, Type};

/// Reads a type.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Type> {
    if cursor.eat("!") {
        let name = cursor.word();
        if !matches!(name, "iree_tensor_ext.dispatch.tensor" | "flow.dispatch.tensor") {
            let line = cursor.line();
            return Err(Refusal::unsupported(line, format!("the type `!{name}`")));
        }
        cursor.expect("<")?;
        let access = match cursor.word() {
            "readonly" => Access::ReadOnly,
            "writeonly" => Access::WriteOnly,
            "readwrite" => Access::ReadWrite,
            other => return cursor.error(format!("`{other}` is no access")),
        };
        cursor.expect(":")?;
        let mut inner = cursor.clone();
        if inner.eat("tensor") && inner.skip_group()?.contains(',') {
            // Its bytes are laid out as the target wants; as plain elements they would be wrong.
            let line = cursor.line();
            return Err(Refusal::unsupported(line, "a dispatch tensor with an encoding"));
        }
        let tensor = match read(cursor)? {
            Type::Tensor(tensor) => tensor,
            Type::Scalar(element) => TensorType { dimensions: Vec::new(), element },
            Type::Bound(..) => return cursor.error("a dispatch tensor in a dispatch tensor"),
        };
        cursor.expect(">")?;
        return Ok(Type::Bound(access, tensor));
    }
    let name = cursor.word();
    if name == "tensor" {
        return tensor(cursor).map(Type::Tensor);
    }
    match element(cursor, name) {
        Some(element) => Ok(Type::Scalar(element)),
        None => {
            let line = cursor.line();
            let group = if cursor.peek() == Some(b'<') { cursor.skip_group()? } else { "" };
            Err(Refusal::unsupported(line, format!("the type `{name}{}`", short(group))))
        }
    }
}

/// Reads a tensor's type.
pub(crate) fn read_tensor(cursor: &mut Cursor<'_>) -> Result<TensorType> {
    match read(cursor)? {
        Type::Tensor(tensor) => Ok(tensor),
        other => cursor.error(format!("expected a tensor, found a {:?}", other.element())),
    }
}

fn tensor(cursor: &mut Cursor<'_>) -> Result<TensorType> {
    cursor.expect("<")?;
    let mut dimensions = Vec::new();
    loop {
        cursor.skip();
        if cursor.eat("?") {
            dimensions.push(None);
        } else if cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            let size = cursor.integer()?;
            dimensions.push(usize::try_from(size).ok());
        } else {
            break;
        }
        if !cursor.rest().starts_with('x') {
            return cursor.error("expected `x` after a dimension");
        }
        cursor.bump(1);
    }
    let name = cursor.word();
    let Some(element) = element(cursor, name) else {
        let line = cursor.line();
        let group = if cursor.peek() == Some(b'<') { cursor.skip_group()? } else { "" };
        let reason = format!("tensors of the type `{name}{}`", short(group));
        return Err(Refusal::unsupported(line, reason));
    };
    if cursor.eat(",") {
        // An encoding says how bytes lie in memory; the tensor's values are the same.
        loop {
            match cursor.peek() {
                None => return cursor.error("the text ends inside a type"),
                Some(b'>') => break,
                Some(b'<') => {
                    cursor.skip_group()?;
                }
                Some(_) => cursor.bump(1),
            }
        }
    }
    cursor.expect(">")?;
    Ok(TensorType { dimensions, element })
}

/// The element type that begins with a word; the parts of complex numbers come after it.
fn element(cursor: &mut Cursor<'_>, name: &str) -> Option<Element> {
    if name != "complex" {
        return Element::parse(name);
    }
    let mut after = cursor.clone();
    let complex = Element::parse_complex(&format!("complex{}", after.skip_group().ok()?))?;
    *cursor = after;
    Some(complex)
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
