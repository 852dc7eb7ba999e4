//! MLIR types as text: scalars, `tensor`, `memref`, `vector`, `complex`, `tuple`, function types,
//! and types of dialects.
//!
//! ```text
//! type     = scalar | "none" | "complex<" scalar ">" | "tuple<" types ">" | "vector<" ( [N] "x" | N "x" )* type ">"
//!          | "tensor<" shape type ( "," encoding )? ">" | "memref<" shape type ( "," layout )? ( "," space )? ">"
//!          | function | "!" dialect type with balanced brackets
//! shape    = "*x" | ( ( N | "?" ) "x" )*
//! layout   = "strided<[" strides "]" ( ", offset:" N | "?" )? ">" | "offset:" … ", strides: [" … "]" (to MLIR 15)
//!          | "affine_map<" … ">" | "#" alias
//! function = "(" types ")" "->" ( type | "(" types ")" )
//! ```

use std::fmt::Write;

use super::affine;
use crate::signature::{
    Array, Function, Layout, NoForm, ScalarType, SequenceForm, Slot, Type, Vector,
};
use crate::text::cursor::{Cursor, SyntaxError, check_depth, is_word};

/// Parses one type; nothing may follow it.
///
/// # Errors
/// At the byte where the text stops being a type.
pub fn parse(text: &str) -> Result<Type, SyntaxError> {
    let mut cursor = Cursor::new(text);
    let ty = parse_type(&mut cursor, 0)?;
    cursor.finish()?;
    Ok(ty)
}

pub(crate) fn parse_type(cursor: &mut Cursor<'_>, depth: usize) -> Result<Type, SyntaxError> {
    cursor.skip_space();
    let start = cursor.position();
    check_depth(depth, start)?;
    match cursor.peek() {
        Some('(') => {
            return Ok(Type::Function(Some(Box::new(parse_function_type(cursor, depth)?))));
        }
        Some('!') => return parse_dialect_type(cursor, depth),
        Some('a'..='z') => {}
        _ => return Err(cursor.expected("a type")),
    }
    let word = cursor.word();
    let opens = cursor.peek() == Some('<');
    match word {
        "none" => return Ok(Type::Null),
        "complex" if opens => {
            cursor.expect("<")?;
            let at = cursor.position();
            let part = parse_type(cursor, depth + 1)?;
            cursor.expect(">")?;
            return match part {
                Type::Scalar(
                    part @ (ScalarType::Integer(..)
                    | ScalarType::Float(_)
                    | ScalarType::SpecialFloat(_)),
                ) => Ok(Type::Scalar(ScalarType::Complex(Box::new(part)))),
                other => Err(SyntaxError::at(
                    at,
                    format!("`{other}` cannot be a part of a complex number"),
                )),
            };
        }
        "tuple" if opens => {
            cursor.expect("<")?;
            let items = parse_types(cursor, ">", depth + 1)?;
            return Ok(Type::Sequence(SequenceForm::Tuple, items));
        }
        "vector" if opens => return parse_vector(cursor, depth),
        "tensor" if opens => return parse_tensor(cursor, depth),
        "memref" if opens => return parse_memref(cursor, depth),
        _ => {}
    }
    if let Some(scalar) = float_or_integer(word) {
        return Ok(Type::Scalar(scalar));
    }
    Err(SyntaxError::at(
        start,
        format!(
            "`{word}` is no MLIR type; they are i32, f32, index, tensor<4xf32>, memref<?xf32>, !hal.buffer_view, …"
        ),
    ))
}

/// MLIR only has floats of certain widths.
fn float_or_integer(word: &str) -> Option<ScalarType> {
    ScalarType::parse(word).filter(is_of_mlir)
}

/// The types up to `close`, which is consumed too.
fn parse_types(
    cursor: &mut Cursor<'_>,
    close: &str,
    depth: usize,
) -> Result<Vec<Type>, SyntaxError> {
    let mut items = Vec::new();
    if cursor.eat(close) {
        return Ok(items);
    }
    loop {
        items.push(parse_type(cursor, depth)?);
        if cursor.eat(close) {
            return Ok(items);
        }
        if !cursor.eat(",") {
            cursor.skip_space();
            return Err(cursor.expected(&format!("`,` or `{close}`")));
        }
    }
}

/// `(i32, f32) -> i64`
pub(crate) fn parse_function_type(
    cursor: &mut Cursor<'_>,
    depth: usize,
) -> Result<Function, SyntaxError> {
    cursor.expect("(")?;
    let arguments = parse_types(cursor, ")", depth + 1)?;
    cursor.expect("->")?;
    let results = if cursor.eat("(") {
        parse_types(cursor, ")", depth + 1)?
    } else {
        vec![parse_type(cursor, depth + 1)?]
    };
    Ok(Function {
        name: None,
        arguments: arguments.into_iter().map(Slot::of).collect(),
        results: results.into_iter().map(|ty| Slot::of(ty).owned()).collect(),
    })
}

/// Whether the name of a reference is an MLIR type: other conventions have names such as
/// `!std::string`.
pub(crate) fn is_dialect_type(name: &str) -> bool {
    name.starts_with('!') && parse(name).is_ok()
}

/// `!hal.buffer_view`, `!util.list<?>`, `!torch.vtensor<[?,3],f32>`: the text up to where its
/// brackets are closed.
fn parse_dialect_type(cursor: &mut Cursor<'_>, depth: usize) -> Result<Type, SyntaxError> {
    let start = cursor.position();
    cursor.bump();
    let name = cursor.word();
    if name.is_empty() {
        return Err(cursor.expected("the name of a type"));
    }
    if cursor.peek() == Some('<') {
        if matches!(name, "util.list" | "vm.list" | "iree.list" | "iree_input.list") {
            cursor.bump();
            let item = if cursor.eat("?") || cursor.eat("!iree_input.variant") {
                Type::Any
            } else {
                parse_type(cursor, depth + 1)?
            };
            cursor.expect(">")?;
            return Ok(Type::List(Box::new(item)));
        }
        skip_balanced(cursor)?;
    }
    Ok(Type::Reference(Some(cursor.text()[start..cursor.position()].to_owned())))
}

/// Skips a bracketed text, whatever is in it.
pub(crate) fn skip_balanced(cursor: &mut Cursor<'_>) -> Result<(), SyntaxError> {
    let start = cursor.position();
    let mut open = Vec::new();
    loop {
        let at = cursor.position();
        match cursor.bump() {
            Some(c @ ('<' | '(' | '[' | '{')) => open.push(c),
            Some('-') if cursor.peek() == Some('>') => {
                cursor.bump();
            }
            Some('"') => while !matches!(cursor.bump(), Some('"') | None) {},
            Some(c @ ('>' | ')' | ']' | '}')) => {
                let expected = match open.pop() {
                    Some('<') => '>',
                    Some('(') => ')',
                    Some('[') => ']',
                    _ => '}',
                };
                if c != expected {
                    return Err(SyntaxError::at(
                        at,
                        format!("expected `{expected}`, but `{c}` here"),
                    ));
                }
            }
            Some(_) => {}
            None => return Err(SyntaxError::at(start, "this bracket is not closed")),
        }
        if open.is_empty() {
            return Ok(());
        }
    }
}

/// `4x?x`, up to the element type; `None` for `*x`.
fn parse_shape(cursor: &mut Cursor<'_>) -> Result<Option<Vec<Option<u64>>>, SyntaxError> {
    if cursor.eat("*") {
        cursor.expect("x")?;
        return Ok(None);
    }
    let mut shape = Vec::new();
    loop {
        cursor.skip_space();
        match cursor.peek() {
            Some('?') => {
                cursor.bump();
                shape.push(None);
            }
            Some('0'..='9') => shape.push(Some(parse_length(cursor)?)),
            Some('-') => {
                return Err(
                    cursor.error("a dimension is not negative; write `?` for an unknown one")
                );
            }
            _ => return Ok(Some(shape)),
        }
        cursor.expect("x")?;
    }
}

fn parse_length(cursor: &mut Cursor<'_>) -> Result<u64, SyntaxError> {
    let at = cursor.position();
    let digits = cursor.take_while(|c| c.is_ascii_digit());
    let length = digits.parse::<i64>().ok().and_then(|length| u64::try_from(length).ok());
    length
        .ok_or_else(|| SyntaxError::at(at, format!("the dimension {digits} does not fit 63 bits")))
}

fn parse_vector(cursor: &mut Cursor<'_>, depth: usize) -> Result<Type, SyntaxError> {
    cursor.expect("<")?;
    let mut dimensions = Vec::new();
    loop {
        cursor.skip_space();
        match cursor.peek() {
            Some('[') => {
                cursor.bump();
                cursor.skip_space();
                // Older texts put several scalable dimensions into one pair of brackets: `[2x4]`.
                loop {
                    if !matches!(cursor.peek(), Some('0'..='9')) {
                        return Err(cursor.expected("a length"));
                    }
                    dimensions.push((parse_length(cursor)?, true));
                    if !cursor.eat("x") {
                        break;
                    }
                }
                cursor.expect("]")?;
            }
            Some('0'..='9') => dimensions.push((parse_length(cursor)?, false)),
            Some('?') => return Err(cursor.error("a vector has no unknown dimensions")),
            _ => break,
        }
        cursor.expect("x")?;
    }
    if let Some(&(0, _)) = dimensions.iter().find(|(length, _)| *length == 0) {
        return Err(cursor.error("a vector has no dimension of length 0"));
    }
    let at = cursor.position();
    let element = parse_type(cursor, depth + 1)?;
    if !matches!(
        &element,
        Type::Scalar(
            ScalarType::Index
                | ScalarType::Integer(..)
                | ScalarType::Float(_)
                | ScalarType::SpecialFloat(_)
        ) | Type::Reference(_)
    ) {
        return Err(SyntaxError::at(at, format!("`{element}` cannot be an element of a vector")));
    }
    cursor.expect(">")?;
    Ok(Type::Vector(Vector { dimensions, element: Box::new(element) }))
}

fn parse_tensor(cursor: &mut Cursor<'_>, depth: usize) -> Result<Type, SyntaxError> {
    cursor.expect("<")?;
    let shape = parse_shape(cursor)?;
    let element = parse_type(cursor, depth + 1)?;
    if cursor.eat(",") {
        cursor.skip_space();
        // The encoding says how a compiler stores the tensor; callers see the dense one.
        attribute(cursor)?;
    }
    cursor.expect(">")?;
    Ok(Type::Array(Array::dense(element, shape)))
}

fn parse_memref(cursor: &mut Cursor<'_>, depth: usize) -> Result<Type, SyntaxError> {
    cursor.expect("<")?;
    let shape = parse_shape(cursor)?;
    let at = cursor.position();
    let element = parse_type(cursor, depth + 1)?;
    if matches!(&element, Type::Null | Type::Sequence(..) | Type::Function(_)) {
        return Err(SyntaxError::at(at, format!("`{element}` cannot be an element of a memref")));
    }
    let mut array = Array::dense(element, shape);
    let mut has_layout = false;
    while cursor.eat(",") {
        cursor.skip_space();
        let at = cursor.position();
        if let Some(layout) = parse_layout(cursor, &array)? {
            let rank = array.shape.as_ref().map(Vec::len);
            if rank.is_none() {
                return Err(SyntaxError::at(at, "an unranked memref has no layout"));
            }
            if has_layout || array.memory_space.is_some() {
                return Err(SyntaxError::at(at, "the layout comes once, before the memory space"));
            }
            if let Layout::Strided { strides, .. } = &layout
                && Some(strides.len()) != rank
            {
                return Err(SyntaxError::at(
                    at,
                    format!("{} strides for {} dimensions", strides.len(), rank.unwrap_or(0)),
                ));
            }
            array.layout = layout;
            has_layout = true;
        } else if array.memory_space.is_some() {
            return Err(SyntaxError::at(at, "a second memory space"));
        } else {
            let space = attribute(cursor)?;
            // The default space is not written.
            array.memory_space = (space != "0").then_some(space);
        }
    }
    cursor.expect(">")?;
    Ok(Type::Array(array))
}

/// A layout, if one is next.
fn parse_layout(cursor: &mut Cursor<'_>, array: &Array) -> Result<Option<Layout>, SyntaxError> {
    if cursor.eat_word("strided") {
        cursor.expect("<")?;
        let strides = parse_strides(cursor)?;
        let mut offset = Some(0);
        if cursor.eat(",") {
            cursor.expect("offset")?;
            cursor.expect(":")?;
            offset = parse_signed(cursor)?;
        }
        cursor.expect(">")?;
        return Ok(Some(normal(Layout::Strided { strides, offset }, array)));
    }
    if cursor.eat_word("offset") {
        cursor.expect(":")?;
        let offset = parse_signed(cursor)?;
        cursor.expect(",")?;
        cursor.expect("strides")?;
        cursor.expect(":")?;
        let strides = parse_strides(cursor)?;
        return Ok(Some(normal(Layout::Strided { strides, offset }, array)));
    }
    if cursor.rest().starts_with("affine_map") {
        let start = cursor.position();
        let map = affine::parse(cursor)?;
        let rank = array.shape.as_ref().map_or(0, Vec::len);
        if map.dimensions != rank {
            return Err(SyntaxError::at(
                start,
                format!("the map takes {} dimensions, the memref has {rank}", map.dimensions),
            ));
        }
        let text = cursor.text()[start..cursor.position()].to_owned();
        return Ok(Some(match map.strides() {
            _ if map.is_identity() => Layout::RowMajor,
            Some((strides, offset)) => normal(Layout::Strided { strides, offset }, array),
            None => Layout::Other(text),
        }));
    }
    Ok(None)
}

/// Strides that follow from the shape are the row-major layout, written out.
fn normal(layout: Layout, array: &Array) -> Layout {
    let Layout::Strided { strides, offset: Some(0) } = &layout else { return layout };
    let shape = array.shape.as_deref().unwrap_or_default();
    if row_major_strides(shape).is_some_and(|natural| {
        natural.iter().map(|stride| Some(*stride)).eq(strides.iter().copied())
    }) {
        return Layout::RowMajor;
    }
    layout
}

/// The strides of a dense array, if all but the outermost dimension are known.
pub(crate) fn row_major_strides(shape: &[Option<u64>]) -> Option<Vec<i64>> {
    let mut stride = 1_i64;
    let mut strides = vec![1; shape.len()];
    for (index, dimension) in shape.iter().enumerate().skip(1).rev() {
        stride = stride.checked_mul(i64::try_from((*dimension)?).ok()?)?;
        strides[index - 1] = stride;
    }
    Some(strides)
}

fn parse_strides(cursor: &mut Cursor<'_>) -> Result<Vec<Option<i64>>, SyntaxError> {
    cursor.expect("[")?;
    let mut strides = Vec::new();
    if cursor.eat("]") {
        return Ok(strides);
    }
    loop {
        strides.push(parse_signed(cursor)?);
        if cursor.eat("]") {
            return Ok(strides);
        }
        cursor.expect(",")?;
    }
}

/// A number, or `?`.
fn parse_signed(cursor: &mut Cursor<'_>) -> Result<Option<i64>, SyntaxError> {
    if cursor.eat("?") {
        return Ok(None);
    }
    cursor.skip_space();
    let at = cursor.position();
    let text = cursor.take_while(|c| c.is_ascii_digit() || c == '-');
    let number = text.parse().map_err(|_| SyntaxError::at(at, "expected a number or `?`"))?;
    Ok(Some(number))
}

/// An attribute as text: `1`, `1 : i64`, `"local"`, `#gpu.address_space<workgroup>`, `#alias`.
fn attribute(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    let start = cursor.position();
    match cursor.peek() {
        Some('#') => {
            cursor.bump();
            cursor.word();
            if cursor.peek() == Some('<') {
                skip_balanced(cursor)?;
            }
        }
        Some('"') => {
            cursor.bump();
            cursor.take_while(|c| c != '"');
            cursor.expect("\"")?;
        }
        Some('[' | '{') => skip_balanced(cursor)?,
        Some(c) if is_word(c) => {
            let number = cursor.word();
            if cursor.peek() == Some('<') {
                skip_balanced(cursor)?;
            }
            if cursor.eat(":") {
                parse_type(cursor, 0)?;
            }
            return Ok(if number.bytes().all(|b| b.is_ascii_digit()) {
                number.to_owned()
            } else {
                cursor.text()[start..cursor.position()].to_owned()
            });
        }
        _ => return Err(cursor.expected("an attribute")),
    }
    Ok(cursor.text()[start..cursor.position()].to_owned())
}

/// Whether MLIR has the type: its floats have only these widths.
fn is_of_mlir(scalar: &ScalarType) -> bool {
    match scalar {
        ScalarType::Float(bits) => [16, 32, 64, 80, 128].contains(bits),
        ScalarType::Complex(part) => is_of_mlir(part),
        _ => true,
    }
}

/// How arrays are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayKeyword {
    /// `tensor<…>`
    Tensor,
    /// `memref<…>`
    Memref,
}

/// Appends the text of a type, if MLIR has one.
///
/// # Errors
/// [`NoForm`]: why there is none.
pub fn write(out: &mut String, ty: &Type, keyword: ArrayKeyword) -> Result<(), NoForm> {
    let list = |out: &mut String, open: &str, items: &[Type], close: &str| {
        out.push_str(open);
        for (index, item) in items.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            write(out, item, keyword)?;
        }
        out.push_str(close);
        Ok::<(), NoForm>(())
    };
    match ty {
        Type::Null => out.push_str("none"),
        Type::Scalar(ScalarType::Opaque(bits)) => return Err(NoForm::OpaqueElements(*bits)),
        Type::Scalar(scalar) if !is_of_mlir(scalar) => {
            return Err(NoForm::MlirNumber(scalar.to_string()));
        }
        Type::Scalar(scalar) => {
            let _ = write!(out, "{scalar}");
        }
        Type::Vector(vector) => {
            out.push_str("vector<");
            vector.write_dimensions(out);
            write(out, &vector.element, keyword)?;
            out.push('>');
        }
        Type::Array(array) => {
            if matches!(*array.element, Type::Unknown | Type::Any) {
                return Err(NoForm::ElementUnknown);
            }
            out.push_str(if keyword == ArrayKeyword::Tensor { "tensor<" } else { "memref<" });
            match &array.shape {
                None => out.push_str("*x"),
                Some(shape) => shape.iter().for_each(|dimension| match dimension {
                    Some(length) => {
                        let _ = write!(out, "{length}x");
                    }
                    None => out.push_str("?x"),
                }),
            }
            write(out, &array.element, keyword)?;
            if keyword == ArrayKeyword::Memref {
                if array.layout != Layout::RowMajor {
                    let _ = write!(out, ", {}", array.layout);
                }
                if let Some(space) = &array.memory_space {
                    let _ = write!(out, ", {space}");
                }
            }
            out.push('>');
        }
        Type::Sequence(_, items) => list(out, "tuple<", items, ">")?,
        Type::Reference(Some(name)) if is_dialect_type(name) => out.push_str(name),
        Type::List(item) if **item == Type::Any => out.push_str("!util.list<?>"),
        Type::List(item) => list(out, "!util.list<", std::slice::from_ref(item), ">")?,
        Type::Function(Some(function)) => {
            let types =
                |slots: &[Slot]| slots.iter().map(|slot| slot.ty.clone()).collect::<Vec<_>>();
            list(out, "(", &types(&function.arguments), ") -> ")?;
            list(out, "(", &types(&function.results), ")")?;
        }
        Type::Position(_) => return Err(NoForm::PositionOnly),
        other => return Err(NoForm::Type { convention: "MLIR", ty: other.to_string() }),
    }
    Ok(())
}
