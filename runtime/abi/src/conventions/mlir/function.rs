//! Functions in MLIR's notation, from a bare type to a whole declaration.
//!
//! ```text
//! function = type | "(" types ")" "->" … | declaration
//! declaration = ("sync" | "async")? [dialect "."] "func" ("public" | "private" | "nested")? "@" name
//!               "(" slots ")" ( "->" ( type | "(" slots ")" ) )? ( "attributes" "{" … "}" )? …
//! slot     = ( "%" name ":" )? type ( "{" attributes "}" )? | "..."
//! ```
//!
//! The text after a declaration (a body) is not read. `iree.abi.declaration`, which iree-compile
//! writes into modules, has this form:
//! `sync func @f(%input0: tensor<4xf32>) -> (%output0: tensor<4xf32>)`.

use super::types::{self, ArrayKeyword, parse_function_type, parse_type, skip_balanced};
use crate::signature::{Function, Printed, Slot, Type, Unrepresentable, each_slot, note};
use crate::text::cursor::{Cursor, SyntaxError};

/// A function as MLIR declares it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// Arguments and results.
    pub function: Function,
    /// Whether it waits for and signals fences; only `iree.abi.declaration` says so.
    pub is_async: Option<bool>,
    /// Whether the text requests a C interface.
    pub wants_c_interface: bool,
    /// Whether the text says that memrefs are bare pointers.
    pub uses_bare_pointers: bool,
    /// Whether there is no body, so that the host provides it.
    pub is_external: bool,
    /// For each argument, the result that is left in its memory: `iree.abi.output`.
    pub outputs: Vec<Option<usize>>,
}

/// Reads a declaration or a function type.
///
/// # Errors
/// At the byte where the text stops being one.
pub fn parse(text: &str) -> Result<Declaration, SyntaxError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_space();
    if cursor.peek() == Some('(') {
        let function = parse_function_type(&mut cursor, 0)?;
        cursor.finish()?;
        return Ok(Declaration { function, ..Declaration::default() });
    }
    let mut declaration = Declaration::default();
    if cursor.eat_word("sync") {
        declaration.is_async = Some(false);
    } else if cursor.eat_word("async") {
        declaration.is_async = Some(true);
    }
    cursor.skip_space();
    let start = cursor.position();
    if cursor.peek() == Some('@') {
        // `@f(i32) -> f32`, for short.
    } else if !is_function_keyword(cursor.word()) {
        cursor.go_to(start);
        if declaration.is_async.is_some() {
            return Err(cursor.expected("`func`"));
        }
        let ty = parse_type(&mut cursor, 0)?;
        cursor.finish()?;
        declaration.function.arguments.push(Slot::of(ty));
        return Ok(declaration);
    }
    for visibility in ["public", "private", "nested"] {
        cursor.eat_word(visibility);
    }
    cursor.expect("@")?;
    declaration.function.name = Some(parse_symbol(&mut cursor)?);
    cursor.eat(":");
    cursor.expect("(")?;
    let arguments = parse_slots(&mut cursor)?;
    declaration.outputs = arguments.iter().map(|(_, attributes)| output(attributes)).collect();
    declaration.function.arguments = arguments.into_iter().map(|(slot, _)| slot).collect();
    if cursor.eat("->") {
        let results: Vec<Slot> = if cursor.eat("(") {
            parse_slots(&mut cursor)?.into_iter().map(|(slot, _)| slot).collect()
        } else {
            vec![Slot::of(parse_type(&mut cursor, 0)?)]
        };
        declaration.function.results = results.into_iter().map(Slot::owned).collect();
    }
    if cursor.eat_word("attributes") {
        cursor.skip_space();
        let at = cursor.position();
        skip_balanced(&mut cursor)?;
        let attributes = &text[at..cursor.position()];
        declaration.wants_c_interface = attributes.contains("llvm.emit_c_interface");
        declaration.uses_bare_pointers = attributes.contains("llvm.bareptr");
    }
    cursor.skip_space();
    match cursor.peek() {
        Some('{') => {}
        _ => declaration.is_external = true,
    }
    if declaration.is_async.is_some() {
        cursor.finish()?;
    }
    Ok(declaration)
}

fn is_function_keyword(word: &str) -> bool {
    matches!(word, "func" | "builtin.func" | "func.func" | "util.func" | "std.func")
}

/// `name` or `"any text"`.
fn parse_symbol(cursor: &mut Cursor<'_>) -> Result<String, SyntaxError> {
    if cursor.peek() == Some('"') {
        cursor.bump();
        let name = cursor.take_while(|c| c != '"').to_owned();
        cursor.expect("\"")?;
        return Ok(name);
    }
    // Names in `iree.abi.declaration` are never quoted, whatever characters they contain.
    let name = cursor.take_while(|c| c != '(' && c != ':').trim_end();
    if name.is_empty() {
        return Err(cursor.expected("the name of a function"));
    }
    Ok(name.to_owned())
}

/// The result that is left in an argument's memory, by the argument's attributes.
fn output(attributes: &str) -> Option<usize> {
    let text = attributes.split_once("iree.abi.output")?.1.trim_start().strip_prefix('=')?;
    let digits = text.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Slots, each with the text of its attributes.
fn parse_slots<'t>(cursor: &mut Cursor<'t>) -> Result<Vec<(Slot, &'t str)>, SyntaxError> {
    let mut slots = Vec::new();
    if cursor.eat(")") {
        return Ok(slots);
    }
    loop {
        slots.push(parse_slot(cursor)?);
        if cursor.eat(")") {
            return Ok(slots);
        }
        if !cursor.eat(",") {
            cursor.skip_space();
            return Err(cursor.expected("`,` or `)`"));
        }
    }
}

fn parse_slot<'t>(cursor: &mut Cursor<'t>) -> Result<(Slot, &'t str), SyntaxError> {
    let mut name = None;
    let mut attributes = "";
    if cursor.eat("%") {
        name = Some(cursor.word().to_owned());
        cursor.expect(":")?;
    }
    let ty = parse_type(cursor, 0)?;
    cursor.skip_space();
    if cursor.peek() == Some('{') {
        let text = cursor.rest();
        skip_balanced(cursor)?;
        attributes = text.get(..text.len() - cursor.rest().len()).unwrap_or_default();
        cursor.skip_space();
    }
    if cursor.rest().starts_with("loc(") {
        cursor.expect("loc")?;
        skip_balanced(cursor)?;
    }
    let slot = Slot::of(ty);
    let slot = match name {
        Some(name) => slot.named(name),
        None => slot,
    };
    Ok((slot, attributes))
}

/// Writes a function type: `(tensor<4xf32>, i32) -> (f32)`.
///
/// # Errors
/// A type that MLIR does not have.
pub(crate) fn print_type(
    function: &Function,
    keyword: ArrayKeyword,
) -> Result<Printed, Unrepresentable> {
    let (arguments, results, notes) = texts(function, keyword)?;
    let text = format!(
        "({}) -> {}",
        arguments.join(", "),
        match results.as_slice() {
            [one] if !one.starts_with('(') => one.clone(),
            many => format!("({})", many.join(", ")),
        }
    );
    Ok(Printed { text, notes })
}

type Texts = (Vec<String>, Vec<String>, Vec<String>);

fn texts(function: &Function, keyword: ArrayKeyword) -> Result<Texts, Unrepresentable> {
    let mut notes = Vec::new();
    let (arguments, results) = each_slot(function, |slot, path| {
        let ty = in_mlir(&slot.ty, &mut notes);
        let mut text = String::new();
        types::write(&mut text, &ty, keyword).map_err(|reason| reason.at(path))?;
        Ok(text)
    })?;
    Ok((arguments, results, notes))
}

/// The nearest type that MLIR has.
fn in_mlir(ty: &Type, notes: &mut Vec<String>) -> Type {
    match ty {
        Type::String | Type::Bytes => {
            note(notes, "strings are written as lists of bytes");
            Type::List(Box::new(Type::scalar("i8")))
        }
        Type::Dictionary(_) | Type::Sequence(..) => {
            note(notes, "structures travel as lists of values of any type");
            Type::List(Box::new(Type::Any))
        }
        Type::Reference(name) if !name.as_deref().is_some_and(types::is_dialect_type) => {
            note(notes, "references without an MLIR type are written as !vm.ref<?>");
            Type::Reference(Some("!vm.ref<?>".to_owned()))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mlir_does_not_read_are_not_written() {
        use crate::conventions::convention::Convention;

        let text = r#"{"type":"ffi.Function","args":[{"type":"!std::string"},{"type":"!a.b<c>"}]}"#;
        let function = Convention::Tvm.parse(text).expect("it has the form of a schema");
        let printed = Convention::Memref.print(&function).expect("references have a type");
        assert_eq!(printed.text, "(!a.b<c>) -> !vm.ref<?>");
    }

    #[test]
    fn reads_declarations() {
        for (text, shown) in [
            (
                "sync func @f(%input0: tensor<4xf32>, %n: i32 {iree.abi.x = \"a)\"}) -> (%output0: tensor<?x2xf16>)",
                "(input0: tensor<4xf32>, n: i32) -> (output0: tensor<?x2xf16>)",
            ),
            ("async func @a b$c()-> ()", "() -> ()"),
            (
                "func.func private @\"x y\"(memref<?xf32>) -> f32 attributes {llvm.emit_c_interface}",
                "(tensor<?xf32>) -> (f32)",
            ),
            (
                "func @foo(%arg0: memref<?x4x8xf32, offset: ?, strides: [?, 8, 1]>) {",
                "(arg0: tensor<?x4x8xf32, strided<[?, 8, 1], offset: ?>>) -> ()",
            ),
            ("(i32, (f32) -> ()) -> (i64, index)", "(i32, function<(f32) -> ()>) -> (i64, index)"),
            (
                "@f(!util.list<?>, !hal.fence) -> !torch.vtensor<[?,3],f32>",
                "(list<any>, ref<!hal.fence>) -> (ref<!torch.vtensor<[?,3],f32>>)",
            ),
            (
                "memref<2x3xf32, affine_map<(d0, d1) -> (d1 * 2 + d0)>, 1>",
                "(tensor<2x3xf32, strided<[1, 2]>, 1>) -> ()",
            ),
            ("memref<2x3xf32, affine_map<(d0, d1) -> (d0 * 3 + d1)>>", "(tensor<2x3xf32>) -> ()"),
        ] {
            let found = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(found.function.to_string(), shown, "{text}");
        }
        let found =
            parse("func.func @g(memref<4xf32>) attributes {llvm.emit_c_interface}").unwrap();
        assert!(found.wants_c_interface && found.is_external);
    }

    #[test]
    fn arguments_that_are_outputs_are_known() {
        let text = "sync func @f(%a: f32, %b: tensor<4xf32> {iree.abi.output = 1 : index}, \
                    %c: tensor<f32> {iree.abi.x, iree.abi.output=0 : index}) -> (f32, f32)";
        assert_eq!(parse(text).unwrap().outputs, [None, Some(1), Some(0)]);
    }

    #[test]
    fn errors_point_at_the_fault() {
        for (text, position) in [
            ("(i32", 4),
            ("(i32) -> ", 9),
            ("(i32) - i32", 6),
            ("(memref<?f32>) -> ()", 9),
            ("(memref<-1xf32>) -> ()", 8),
            ("(memref<4xf33>) -> ()", 10),
            ("(memref<4xf32, strided<[1, 2]>>) -> ()", 15),
            ("(memref<*xf32, strided<[1]>>) -> ()", 15),
            ("(vector<?xf32>) -> ()", 8),
            ("(vector<0xf32>) -> ()", 10),
            ("(complex<index>) -> ()", 9),
            ("(i0) -> ()", 1),
            ("func.func f()", 10),
            ("(i32) -> i32 i32", 13),
            ("memref<4xf32, affine_map<(d0) -> (d0 + x)>>", 39),
            ("memref<4xf32, affine_map<(d0, d1) -> (d0)>>", 14),
            ("!hal.fence<(]>", 12),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
        }
    }
}
