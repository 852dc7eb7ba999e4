//! Types of TVM FFI as text: the JSON in a library's metadata, and the form that Python prints.
//!
//! ```text
//! metadata = {"type_schema": "<schema as a JSON string>"}
//! schema   = {"type": name} | {"type": name, "args": [schema…]}
//!          | {"type": "ffi.Function", "named_args": {"return": [schema], "params": [schema…]}}
//!            without "params" it takes any arguments
//!            "args" of a function (until 0.1.14): the result, then the parameters; or those in a
//!            list of their own
//! written  = "(" types ")" "->" type | name ( "[" types "]" )? | type "|" type
//!          | "Callable[[" types "]," type "]" | "Callable[..., " type "]"
//! ```

use std::fmt;

use crate::signature::{
    Array, Function, NoForm, Printed, ScalarType, SequenceForm, Slot, Type, Unrepresentable, note,
};
use crate::text::cursor::{Cursor, SyntaxError, check_depth};
use crate::text::json::{Json, Value, write_string};

/// A type as TVM FFI names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The type's key: `int`, `ffi.Tensor`, `ffi.Array`, `Optional`, `ffi.Function`.
    pub name: String,
    /// Its type arguments; for a function, its parameters.
    pub arguments: Vec<Schema>,
    /// The result of a function.
    pub result: Option<Box<Schema>>,
    /// Whether a function takes any arguments; it has no parameters then.
    pub takes_any: bool,
}

/// The key of functions.
pub const FUNCTION: &str = "ffi.Function";

/// The generic types: name, key, and the smallest and greatest number of type arguments.
const GENERIC: [(&str, &str, usize, usize); 21] = [
    ("ffi.Array", "ffi.Array", 0, 1),
    ("Array", "ffi.Array", 0, 1),
    ("ffi.List", "ffi.List", 0, 1),
    ("List", "ffi.List", 0, 1),
    ("list", "list", 0, 1),
    ("std::vector", "std::vector", 1, 1),
    ("ffi.Map", "ffi.Map", 0, 2),
    ("Map", "ffi.Map", 0, 2),
    ("ffi.Dict", "ffi.Dict", 0, 2),
    ("Dict", "ffi.Dict", 0, 2),
    ("dict", "dict", 0, 2),
    ("std::map", "std::map", 2, 2),
    ("std::unordered_map", "std::unordered_map", 2, 2),
    ("Optional", "Optional", 1, 1),
    ("std::optional", "std::optional", 1, 1),
    ("Tuple", "Tuple", 0, usize::MAX),
    ("tuple", "Tuple", 0, usize::MAX),
    ("Union", "Variant", 1, usize::MAX),
    ("std::tuple", "std::tuple", 0, usize::MAX),
    ("Variant", "Variant", 1, usize::MAX),
    ("std::variant", "std::variant", 1, usize::MAX),
];

/// The short names that people write instead of keys.
const SHORT: [(&str, &str); 12] = [
    ("Tensor", "ffi.Tensor"),
    ("str", "ffi.String"),
    ("String", "ffi.String"),
    ("bytes", "ffi.Bytes"),
    ("Bytes", "ffi.Bytes"),
    ("Shape", "ffi.Shape"),
    ("Function", FUNCTION),
    ("Callable", FUNCTION),
    ("Module", "ffi.Module"),
    ("Object", "ffi.Object"),
    ("dtype", "DataType"),
    ("ctypes.c_void_p", "void*"),
];

impl Schema {
    fn leaf(name: &str) -> Self {
        Self::generic(name, Vec::new())
    }

    fn generic(name: &str, arguments: Vec<Self>) -> Self {
        Self { name: name.to_owned(), arguments, result: None, takes_any: false }
    }

    fn function(arguments: Vec<Self>, result: Self) -> Self {
        Self { result: Some(Box::new(result)), ..Self::generic(FUNCTION, arguments) }
    }

    fn function_of_any(result: Self) -> Self {
        Self { takes_any: true, ..Self::function(Vec::new(), result) }
    }

    /// Parses metadata, a schema, or a type as people write it.
    ///
    /// # Errors
    /// At the byte where the text is wrong; within metadata, at the string that holds the schema.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        if !text.trim_start().starts_with('{') {
            return parse_written(text);
        }
        let json = Json::parse(text)?;
        let Some(inner) = json.get("type_schema") else { return from_json(&json, 0) };
        let Some(schema) = inner.as_str() else {
            return Err(SyntaxError::at(
                inner.position,
                "`type_schema` is a string that holds JSON",
            ));
        };
        let inside =
            |error: SyntaxError| SyntaxError::at(inner.position, format!("in the schema: {error}"));
        from_json(&Json::parse(schema).map_err(inside)?, 0).map_err(inside)
    }

    /// The JSON in the form of today's libraries.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        let list = |out: &mut String, items: &[Self]| {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                item.write_json(out);
            }
            out.push(']');
        };
        out.push_str("{\"type\":");
        write_string(out, &self.name);
        if let Some(result) = &self.result {
            out.push_str(",\"named_args\":{\"return\":");
            list(out, std::slice::from_ref(result));
            if !self.takes_any {
                out.push_str(",\"params\":");
                list(out, &self.arguments);
            }
            out.push('}');
        } else if !self.arguments.is_empty() {
            out.push_str(",\"args\":");
            list(out, &self.arguments);
        }
        out.push('}');
    }

    /// In the words of the model.
    #[must_use]
    pub fn to_type(&self) -> Type {
        let first = || self.arguments.first().map_or(Type::Any, Self::to_type);
        let all = || self.arguments.iter().map(Self::to_type).collect();
        match self.name.as_str() {
            FUNCTION | "std::function" => {
                let is_known = self.result.is_some() && !self.takes_any;
                Type::Function(is_known.then(|| Box::new(self.to_function())))
            }
            "ffi.Array" | "ffi.List" | "list" | "std::vector" => Type::List(Box::new(first())),
            "ffi.Map" | "ffi.Dict" | "dict" | "std::map" | "std::unordered_map" => {
                let value = self.arguments.get(1).map_or(Type::Any, Self::to_type);
                Type::Map(Box::new(first()), Box::new(value))
            }
            "Optional" | "std::optional" => Type::Optional(Box::new(first())),
            "Variant" | "std::variant" => Type::OneOf(all()),
            "Tuple" | "std::tuple" => Type::Sequence(SequenceForm::Tuple, all()),
            name => leaf(name),
        }
    }

    /// The types of a function, if it says what it takes; for any other type, a function with one
    /// argument of that type.
    #[must_use]
    pub fn to_function(&self) -> Function {
        let Some(result) = self.result.as_ref().filter(|_| !self.takes_any) else {
            return Function { arguments: vec![Slot::of(self.to_type())], ..Function::default() };
        };
        let results = match result.to_type() {
            Type::Null => Vec::new(),
            ty => vec![Slot::of(ty).owned()],
        };
        let arguments =
            self.arguments.iter().map(|argument| Slot::of(argument.to_type())).collect();
        Function { name: None, arguments, results }
    }

    /// The nearest type of TVM FFI. Losses are added to `notes`.
    ///
    /// # Errors
    /// [`NoForm`]: why there is none.
    pub fn of_type(ty: &Type, notes: &mut Vec<String>) -> Result<Self, NoForm> {
        let generic = Self::generic;
        let all = |items: &[Type], notes: &mut Vec<String>| {
            items.iter().map(|item| Self::of_type(item, notes)).collect::<Result<Vec<_>, _>>()
        };
        Ok(match ty {
            Type::Null => Self::leaf("None"),
            Type::Unknown | Type::Any => Self::leaf("Any"),
            Type::Scalar(ScalarType::Index | ScalarType::Integer(..)) => {
                Self::leaf(if *ty == Type::Scalar(ScalarType::BOOL) {
                    "bool"
                } else {
                    note(notes, "integers of all widths are `int` (64 bits)");
                    "int"
                })
            }
            Type::Scalar(ScalarType::Float(_) | ScalarType::SpecialFloat(_)) => {
                note(notes, "floats of all formats are `float` (64 bits)");
                Self::leaf("float")
            }
            Type::Array(array)
                if !matches!(*array.element, Type::Scalar(_) | Type::Unknown | Type::Any) =>
            {
                note(notes, "an array of references is arrays inside of arrays");
                let rank = array.shape.as_ref().map_or(1, Vec::len);
                let element = Self::of_type(&array.element, notes)?;
                (0..rank).fold(element, |inner, _| Self::generic("ffi.Array", vec![inner]))
            }
            Type::Array(array) => {
                if array.shape.is_some() || *array.element != Type::Unknown {
                    note(notes, "tensors know their shape and element type at run time only");
                }
                Self::leaf("ffi.Tensor")
            }
            Type::String => Self::leaf("ffi.String"),
            Type::Bytes => Self::leaf("ffi.Bytes"),
            Type::Reference(Some(name)) if !name.starts_with('!') => Self::leaf(name),
            Type::Reference(_) => {
                note(notes, "the types of references are lost");
                Self::leaf("ffi.Object")
            }
            Type::Sequence(_, items) => generic("Tuple", all(items, notes)?),
            Type::List(item) => generic("ffi.Array", vec![Self::of_type(item, notes)?]),
            Type::Dictionary(_) => {
                note(notes, "the keys of structures are lost");
                generic("ffi.Map", vec![Self::leaf("ffi.String"), Self::leaf("Any")])
            }
            Type::Map(key, value) => {
                generic("ffi.Map", vec![Self::of_type(key, notes)?, Self::of_type(value, notes)?])
            }
            Type::Optional(item) => generic("Optional", vec![Self::of_type(item, notes)?]),
            Type::OneOf(items) => generic("Variant", all(items, notes)?),
            Type::Function(None) => Self::leaf(FUNCTION),
            Type::Function(Some(function)) => Self::of_function(function, notes)?,
            Type::Vector(_) | Type::Scalar(_) => {
                return Err(NoForm::Type { convention: "TVM FFI", ty: ty.to_string() });
            }
            Type::Variadic(_) => {
                return Err(NoForm::Span { instead: "an array" });
            }
            Type::Position(_) => return Err(NoForm::PositionOnly),
        })
    }

    fn of_function(function: &Function, notes: &mut Vec<String>) -> Result<Self, NoForm> {
        let types = |slots: &[Slot], notes: &mut Vec<String>| {
            slots.iter().map(|slot| Self::of_type(&slot.ty, notes)).collect::<Result<Vec<_>, _>>()
        };
        let mut results = types(&function.results, notes)?;
        let result = match results.len() {
            0 => Self::leaf("None"),
            1 => results.remove(0),
            _ => {
                note(notes, "several results become one array");
                Self::generic("Tuple", results)
            }
        };
        Ok(Self::function(types(&function.arguments, notes)?, result))
    }
}

/// The type of a key without type arguments.
#[must_use]
pub fn leaf(name: &str) -> Type {
    match name {
        "None" => Type::Null,
        "Any" => Type::Any,
        "int" => Type::scalar("i64"),
        "bool" => Type::Scalar(ScalarType::BOOL),
        "float" => Type::scalar("f64"),
        "DLTensor*" | "ffi.Tensor" => Type::Array(Array::dense(Type::Unknown, None)),
        "const char*" | "std::string" | "ffi.String" | "ffi.SmallStr" => Type::String,
        "TVMFFIByteArray*" | "ffi.Bytes" | "ffi.SmallBytes" => Type::Bytes,
        FUNCTION => Type::Function(None),
        "ffi.Array" | "ffi.List" => Type::List(Box::new(Type::Any)),
        "ffi.Map" | "ffi.Dict" => Type::Map(Box::new(Type::Any), Box::new(Type::Any)),
        other => Type::Reference(Some(other.to_owned())),
    }
}

/// Writes a function as its schema.
///
/// # Errors
/// A type that TVM FFI does not have.
pub fn print(function: &Function) -> Result<Printed, Unrepresentable> {
    let mut notes = Vec::new();
    // Only to name the path of an offending type.
    crate::signature::each_slot(function, |slot, path| {
        Schema::of_type(&slot.ty, &mut notes).map_err(|reason| reason.at(path))
    })?;
    let schema =
        Schema::of_function(function, &mut notes).map_err(|reason| reason.at("function"))?;
    if function.arguments.iter().chain(&function.results).any(|slot| slot.name.is_some()) {
        note(&mut notes, "a schema has no names; they are lost");
    }
    Ok(Printed { text: schema.to_json(), notes })
}

fn from_json(json: &Json, depth: usize) -> Result<Schema, SyntaxError> {
    check_depth(depth, json.position)?;
    let Some(name) = json.get("type") else {
        return Err(SyntaxError::at(
            json.position,
            format!("a schema is an object with a `type`, this is {}", json.kind()),
        ));
    };
    let Some(key) = name.as_str() else {
        return Err(SyntaxError::at(
            name.position,
            format!("`type` is a string, not {}", name.kind()),
        ));
    };
    let list = |json: &Json| match &json.value {
        Value::Array(items) => {
            let is_length =
                |it: &&Json| key == "std::array" && matches!(it.value, Value::Number(_));
            let types = items.iter().filter(|it| !is_length(it));
            types.map(|item| from_json(item, depth + 1)).collect::<Result<Vec<_>, _>>()
        }
        _ => Err(SyntaxError::at(
            json.position,
            format!("expected a list of schemas, not {}", json.kind()),
        )),
    };
    let mut schema = Schema::leaf(key_of(key).unwrap_or(key));
    let is_function = matches!(schema.name.as_str(), FUNCTION | "std::function");
    if let Some(named) = json.get("named_args") {
        if !is_function {
            return Err(SyntaxError::at(named.position, "only functions have named arguments"));
        }
        let Some(result) = named.get("return") else {
            return Err(SyntaxError::at(named.position, "`return` is missing"));
        };
        let mut results = list(result)?;
        if results.len() != 1 {
            return Err(SyntaxError::at(result.position, "a function gives one value"));
        }
        schema.result = Some(Box::new(results.remove(0)));
        schema.takes_any = named.get("params").is_none();
        schema.arguments = named.get("params").map(list).transpose()?.unwrap_or_default();
    } else if let Some(arguments) = json.get("args") {
        if is_function
            && let Value::Array(items) = &arguments.value
            && let [result, parameters] = items.as_slice()
            && matches!(parameters.value, Value::Array(_))
        {
            schema.result = Some(Box::new(from_json(result, depth + 1)?));
            schema.arguments = list(parameters)?;
            return Ok(schema);
        }
        schema.arguments = list(arguments)?;
        if is_function && !schema.arguments.is_empty() {
            schema.result = Some(Box::new(schema.arguments.remove(0)));
        }
        check_count(&schema, arguments.position)?;
    }
    Ok(schema)
}

fn check_count(schema: &Schema, position: usize) -> Result<(), SyntaxError> {
    let count = schema.arguments.len();
    if schema.result.is_some() {
        return Ok(());
    }
    match GENERIC.iter().find(|(_, key, ..)| *key == schema.name) {
        Some((_, key, least, most)) if count < *least || count > *most => {
            Err(SyntaxError::at(position, format!("`{key}` is not made of {count} types")))
        }
        None if count > 0 && schema.name != "std::array" => {
            Err(SyntaxError::at(position, format!("`{}` is not made of other types", schema.name)))
        }
        _ => Ok(()),
    }
}

/// The key of a type, by a name of it that people write.
fn key_of(name: &str) -> Option<&'static str> {
    let generic = GENERIC.iter().find(|(short, ..)| *short == name).map(|(_, key, ..)| *key);
    generic.or_else(|| SHORT.iter().find(|(short, _)| *short == name).map(|(_, key)| *key))
}

fn parse_written(text: &str) -> Result<Schema, SyntaxError> {
    let mut cursor = Cursor::new(text);
    let schema = parse_union(&mut cursor, 0)?;
    cursor.finish()?;
    Ok(schema)
}

fn parse_union(cursor: &mut Cursor<'_>, depth: usize) -> Result<Schema, SyntaxError> {
    let mut items = vec![parse_item(cursor, depth)?];
    while cursor.eat("|") {
        items.push(parse_item(cursor, depth)?);
    }
    if items.len() == 1 {
        return Ok(items.remove(0));
    }
    let none = Schema::leaf("None");
    let is_optional = items.contains(&none);
    items.retain(|item| *item != none);
    let inner = match items.len() {
        0 => none,
        1 => items.remove(0),
        _ => Schema::generic("Variant", items),
    };
    if !is_optional {
        return Ok(inner);
    }
    Ok(Schema::generic("Optional", vec![inner]))
}

fn parse_item(cursor: &mut Cursor<'_>, depth: usize) -> Result<Schema, SyntaxError> {
    cursor.skip_space();
    check_depth(depth, cursor.position())?;
    if cursor.eat("(") {
        let arguments = parse_parameters(cursor, ")", depth)?;
        cursor.expect("->")?;
        return Ok(function(arguments, parse_union(cursor, depth + 1)?));
    }
    let start = cursor.position();
    let mut name = cursor
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '*'))
        .to_owned();
    if name == "const" && cursor.eat("char*") {
        name.push_str(" char*");
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        cursor.go_to(start);
        return Err(cursor.expected("a type"));
    }
    if name == "Callable" && cursor.eat("[") {
        let arguments = if cursor.eat("...") {
            None
        } else {
            cursor.expect("[")?;
            Some(parse_list(cursor, "]", depth)?)
        };
        cursor.expect(",")?;
        let result = parse_union(cursor, depth + 1)?;
        cursor.expect("]")?;
        return Ok(function(arguments, result));
    }
    let known = key_of(&name);
    let mut schema = Schema::leaf(known.unwrap_or(&name));
    let is_bare_name = !name.contains('.') && known.is_none();
    let is_leaf =
        super::index::INDICES.iter().any(|(_, _, key)| *key == name) || name == "std::string";
    if is_bare_name && !is_leaf {
        return Err(SyntaxError::at(
            start,
            format!(
                "`{name}` is no type of TVM FFI; they are int, float, bool, str, Tensor, Array[…], Map[…], Optional[…], Any or keys such as ffi.Shape"
            ),
        ));
    }
    let at = cursor.position();
    if cursor.eat("[") {
        // Python writes the tuple of nothing so.
        schema.arguments =
            if cursor.eat("()]") { Vec::new() } else { parse_list(cursor, "]", depth)? };
        check_count(&schema, at)?;
    }
    Ok(schema)
}

/// A function; without a list of parameters, one of any arguments.
fn function(parameters: Option<Vec<Schema>>, result: Schema) -> Schema {
    match parameters {
        Some(parameters) => Schema::function(parameters, result),
        None => Schema::function_of_any(result),
    }
}

/// The parameters of a function; `None` for `...`, which stands for any.
fn parse_parameters(
    cursor: &mut Cursor<'_>,
    close: &str,
    depth: usize,
) -> Result<Option<Vec<Schema>>, SyntaxError> {
    if cursor.eat("...") {
        cursor.expect(close)?;
        return Ok(None);
    }
    parse_list(cursor, close, depth).map(Some)
}

fn parse_list(
    cursor: &mut Cursor<'_>,
    close: &str,
    depth: usize,
) -> Result<Vec<Schema>, SyntaxError> {
    let mut items = Vec::new();
    if cursor.eat(close) {
        return Ok(items);
    }
    loop {
        items.push(parse_union(cursor, depth + 1)?);
        if cursor.eat(close) {
            return Ok(items);
        }
        if !cursor.eat(",") {
            cursor.skip_space();
            return Err(cursor.expected(&format!("`,` or `{close}`")));
        }
    }
}

/// As Python writes it: `(ffi.Tensor, int) -> float`, `ffi.Array[int]`.
impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>| {
            self.arguments.iter().enumerate().try_for_each(|(index, item)| {
                write!(f, "{}{item}", if index > 0 { ", " } else { "" })
            })
        };
        if let Some(result) = &self.result {
            f.write_str(if self.takes_any { "(..." } else { "(" })?;
            list(f)?;
            return write!(f, ") -> {result}");
        }
        f.write_str(&self.name)?;
        if self.arguments.is_empty() {
            return Ok(());
        }
        f.write_str("[")?;
        list(f)?;
        f.write_str("]")
    }
}
