//! How to call a function: a command line, a line of Python, and the prototype of a C function with
//! the same signature. All of them can be used as they are; the values are examples.

use std::fmt::Write as _;

use crate::conventions::mlir::lowering;
use crate::conventions::sip;
use crate::signature::{Array, Function, ScalarType, Slot, SpecialFloat, Type, Unrepresentable};
use crate::text::json::write_string;
use crate::values::element_type::NumericalKind;

/// Why a function cannot be called in one of the ways.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCall {
    /// Arguments of a command line are texts.
    #[error("there is no text for a value of type {0}")]
    Text(String),
    /// Python has no such value.
    #[error("Python has no value of type {0}")]
    Python(String),
    /// NumPy has no such elements.
    #[error("NumPy has no arrays of type {0}")]
    NumPy(String),
    /// The function has no form in LLVM, and so none in C.
    #[error(transparent)]
    Llvm(#[from] Unrepresentable),
    /// C has other names.
    #[error("C has no functions called `{0}`")]
    CName(String),
    /// C has no such type.
    #[error("C has no type for {0}")]
    CType(String),
    /// C has no such elements.
    #[error("C has no arrays of {0}")]
    CArray(String),
    /// C passes the value in another way.
    #[error("C passes no values of type {0} as MLIR does")]
    CScalar(String),
}

/// How to call a function; `Err` says why it cannot be called so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// For a shell.
    pub command_line: Result<String, NoCall>,
    /// An expression of Python, with `numpy` and `iree_dbg` imported.
    pub python: Result<String, NoCall>,
    /// The C interface of a native function with this signature: what a library has to have that
    /// provides it, or what calls it in a library that MLIR compiled.
    pub c: Result<String, NoCall>,
}

/// The length of dimensions that a signature leaves open, in examples.
const OPEN: u64 = 2;

/// How to call the export `name` of the module or library `file`.
#[must_use]
pub fn usage(file: &str, name: &str, function: &Function) -> Usage {
    Usage {
        command_line: command_line(file, name, function),
        python: python(file, name, function),
        c: prototype(name, &flat(function)),
    }
}

/// The function with its values side by side. Arguments that are one value keep their names.
fn flat(function: &Function) -> Function {
    let mut flat = sip::flatten(function);
    if flat.arguments.len() == function.arguments.len() {
        for (slot, named) in flat.arguments.iter_mut().zip(&function.arguments) {
            slot.name.clone_from(&named.name);
        }
    }
    flat
}

fn command_line(file: &str, name: &str, function: &Function) -> Result<String, NoCall> {
    let mut line = format!("iree-dbg run --module={} --function={}", quoted(file), quoted(name));
    let arguments = &function.arguments;
    if arguments.iter().all(|slot| !slot.keyword && plain(&slot.ty).is_some()) {
        for text in arguments.iter().filter_map(|slot| plain(&slot.ty)) {
            let _ = write!(line, " --input={text}");
        }
        return Ok(line);
    }
    let values = |slots: &[&Slot], is_named: bool| {
        let values = slots.iter().map(|slot| {
            let mut text = String::new();
            if is_named {
                write_string(&mut text, slot.name.as_deref().unwrap_or_default());
                text += ": ";
            }
            Ok(text + &json(&slot.ty)?)
        });
        Ok::<_, NoCall>(values.collect::<Result<Vec<_>, NoCall>>()?.join(", "))
    };
    let (named, positional): (Vec<&Slot>, Vec<&Slot>) =
        arguments.iter().partition(|slot| slot.keyword);
    let positional = format!("[{}]", values(&positional, false)?);
    let text = if named.is_empty() {
        positional
    } else {
        let named = values(&named, true)?;
        format!("{{\"args\": {positional}, \"kwargs\": {{{named}}}}}")
    };
    let _ = write!(line, " --inputs-json={}", quoted(&text));
    Ok(line)
}

/// The text of an example of a number or an array on a command line.
fn plain(ty: &Type) -> Option<String> {
    match ty {
        // 16-bit floats would be given as their bits.
        Type::Scalar(scalar) if scalar.is_integer() || matches!(scalar.bits(), 32 | 64) => {
            Some("1".to_owned())
        }
        Type::Array(array) => tensor_text(array),
        _ => None,
    }
}

/// `2x4xf32=1`
fn tensor_text(array: &Array) -> Option<String> {
    let Type::Scalar(scalar) = &*array.element else { return None };
    let element = scalar.element_type()?;
    let lengths = shape(array).into_iter().map(|length| format!("{length}x"));
    Some(format!("{}{element}=1", lengths.collect::<String>()))
}

fn shape(array: &Array) -> Vec<u64> {
    match &array.shape {
        Some(shape) => shape.iter().map(|length| length.unwrap_or(OPEN)).collect(),
        None => vec![OPEN],
    }
}

/// An example of any type as JSON.
fn json(ty: &Type) -> Result<String, NoCall> {
    let text = |text: &str| {
        let mut out = String::new();
        write_string(&mut out, text);
        out
    };
    let all = |items: &[Type]| {
        let items = items.iter().map(json).collect::<Result<Vec<_>, _>>()?;
        Ok::<_, NoCall>(items.join(", "))
    };
    Ok(match ty {
        Type::Scalar(ScalarType::Integer(_, 1)) => "true".to_owned(),
        Type::Scalar(_) => "1".to_owned(),
        Type::Array(array) => match tensor_text(array) {
            Some(tensor) => text(&tensor),
            None => return Err(NoCall::Text(ty.to_string())),
        },
        Type::String | Type::Bytes => text("text"),
        Type::Null | Type::Unknown | Type::Any | Type::Reference(_) | Type::Optional(_) => {
            "null".to_owned()
        }
        Type::Sequence(_, items) => format!("[{}]", all(items)?),
        Type::List(item) => format!("[{}]", json(item)?),
        Type::Dictionary(fields) => {
            let fields = fields.iter().map(|(key, ty)| Ok(format!("{}: {}", text(key), json(ty)?)));
            format!("{{{}}}", fields.collect::<Result<Vec<_>, NoCall>>()?.join(", "))
        }
        Type::OneOf(items) if !items.is_empty() => json(&items[0])?,
        _ => return Err(NoCall::Text(ty.to_string())),
    })
}

fn python(file: &str, name: &str, function: &Function) -> Result<String, NoCall> {
    let is_identifier = |name: &str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|it| it.is_ascii_alphabetic() || it == '_')
            && letters.all(|it| it.is_ascii_alphanumeric() || it == '_')
    };
    let literal = |text: &str| {
        let mut out = String::new();
        write_string(&mut out, text);
        out
    };
    let program = format!("iree_dbg.open({})", literal(file));
    let callee = if is_identifier(name) {
        format!("{program}.{name}")
    } else {
        format!("getattr({program}, {})", literal(name))
    };
    let mut arguments = Vec::new();
    for slot in &function.arguments {
        let value = python_value(&slot.ty)?;
        arguments.push(match &slot.name {
            Some(name) if slot.keyword && is_identifier(name) => format!("{name}={value}"),
            Some(name) if slot.keyword => format!("**{{{}: {value}}}", literal(name)),
            _ => value,
        });
    }
    Ok(format!("{callee}({})", arguments.join(", ")))
}

fn python_value(ty: &Type) -> Result<String, NoCall> {
    let all = |items: &[Type]| {
        let items = items.iter().map(python_value).collect::<Result<Vec<_>, _>>()?;
        Ok::<_, NoCall>(items.join(", "))
    };
    Ok(match ty {
        Type::Scalar(ScalarType::Integer(_, 1)) => "True".to_owned(),
        Type::Scalar(scalar) if scalar.is_integer() => "1".to_owned(),
        Type::Scalar(_) => "1.0".to_owned(),
        Type::Array(array) => {
            let dtype = match &*array.element {
                Type::Scalar(scalar) => dtype(scalar),
                _ => None,
            };
            let Some(dtype) = dtype else {
                return Err(NoCall::NumPy(ty.to_string()));
            };
            let lengths: Vec<String> = shape(array).iter().map(u64::to_string).collect();
            let comma = if lengths.len() == 1 { "," } else { "" };
            format!("numpy.ones(({}{comma}), {dtype})", lengths.join(", "))
        }
        Type::String => "\"text\"".to_owned(),
        Type::Bytes => "b\"bytes\"".to_owned(),
        Type::Null | Type::Unknown | Type::Any | Type::Reference(_) | Type::Optional(_) => {
            "None".to_owned()
        }
        Type::Sequence(crate::signature::SequenceForm::Tuple, items) => match items.as_slice() {
            [one] => format!("({},)", python_value(one)?),
            items => format!("({})", all(items)?),
        },
        Type::Sequence(_, items) => format!("[{}]", all(items)?),
        Type::List(item) => format!("[{}]", python_value(item)?),
        Type::Dictionary(fields) => {
            let fields = fields.iter().map(|(key, ty)| {
                let mut text = String::new();
                write_string(&mut text, key);
                Ok(format!("{text}: {}", python_value(ty)?))
            });
            format!("{{{}}}", fields.collect::<Result<Vec<_>, NoCall>>()?.join(", "))
        }
        Type::OneOf(items) if !items.is_empty() => python_value(&items[0])?,
        _ => return Err(NoCall::Python(ty.to_string())),
    })
}

/// The type of elements in NumPy, or in the package that adds the others.
fn dtype(scalar: &ScalarType) -> Option<String> {
    if let ScalarType::SpecialFloat(SpecialFloat { name, .. }) = scalar {
        let name = if *name == "bf16" { "bfloat16" } else { name };
        let is_known = name == "bfloat16" || name.starts_with("f8");
        let name = name.to_ascii_lowercase().replace("f8", "float8_");
        return is_known.then(|| format!("ml_dtypes.{name}"));
    }
    let element = scalar.element_type()?;
    let bits = element.bits;
    let kind = match element.kind {
        NumericalKind::Boolean => return Some("numpy.bool_".to_owned()),
        NumericalKind::UnsignedInteger => "uint",
        NumericalKind::Integer | NumericalKind::SignedInteger => "int",
        NumericalKind::Float => "float",
        NumericalKind::ComplexFloat => "complex",
        _ => return None,
    };
    matches!(bits, 8 | 16 | 32 | 64 | 128).then(|| format!("numpy.{kind}{bits}"))
}

/// The text as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./+=:,@%".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The C interface of a function: `void _mlir_ciface_f(struct memref_1d_f32 *x, int32_t n);`,
/// after the structs that it needs.
fn prototype(name: &str, function: &Function) -> Result<String, NoCall> {
    lowering::lower(function)?;
    let mut structs = Structs::default();
    let mut parameters = Vec::new();
    for (index, slot) in function.arguments.iter().enumerate() {
        let ty = structs.c_type(&slot.ty)?;
        let is_free = |name: &&String| is_c_name(name) && !C_WORDS.contains(&name.as_str());
        let name = slot.name.as_ref().filter(is_free).cloned();
        let name = name.unwrap_or_else(|| format!("arg{index}"));
        let by = if matches!(slot.ty, Type::Array(_)) { "*" } else { "" };
        parameters.push(format!("{ty} {by}{name}"));
    }
    let results = function.results.iter().map(|slot| structs.c_type(&slot.ty));
    let results = results.collect::<Result<Vec<_>, _>>()?;
    let is_struct = results.len() > 1
        || matches!(function.results.first(), Some(slot) if matches!(slot.ty, Type::Array(_)));
    let result = match results.as_slice() {
        [] => "void".to_owned(),
        [one] if !is_struct => one.clone(),
        [one] => {
            parameters.insert(0, format!("{one} *result"));
            "void".to_owned()
        }
        many => {
            let fields = many.iter().enumerate();
            let fields = fields.map(|(index, ty)| format!("{ty} result{index};"));
            let fields = fields.collect::<Vec<_>>().join(" ");
            let own = format!("struct {}_results", c_name(name));
            structs.add(&own, &format!("{{ {fields} }}"));
            parameters.insert(0, format!("{own} *result"));
            "void".to_owned()
        }
    };
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    if !is_c_name(name) {
        return Err(NoCall::CName(name.to_owned()));
    }
    let mut out = structs.text;
    let _ = write!(out, "{result} _mlir_ciface_{name}({parameters});");
    Ok(out)
}

/// Words of C that are names in MLIR, and the name of the result.
const C_WORDS: [&str; 37] = [
    "result", "struct", "auto", "break", "case", "char", "const", "continue", "default", "do",
    "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long",
    "register", "restrict", "return", "short", "signed", "sizeof", "static", "switch", "typedef",
    "union", "unsigned", "void", "volatile", "while", "asm", "typeof",
];

fn is_c_name(name: &str) -> bool {
    !name.is_empty() && c_name(name) == name && !name.starts_with(|it: char| it.is_ascii_digit())
}

fn c_name(name: &str) -> String {
    name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect()
}

/// The structs of a prototype, each once.
#[derive(Default)]
struct Structs {
    names: Vec<String>,
    text: String,
}

impl Structs {
    fn add(&mut self, name: &str, body: &str) {
        if !self.names.iter().any(|known| known == name) {
            let _ = writeln!(self.text, "{name} {body};");
            self.names.push(name.to_owned());
        }
    }

    fn c_type(&mut self, ty: &Type) -> Result<String, NoCall> {
        match ty {
            Type::Scalar(scalar) => c_scalar(scalar),
            Type::Array(array) => self.descriptor(array),
            other => Err(NoCall::CType(other.to_string())),
        }
    }

    /// The descriptor of a memref.
    fn descriptor(&mut self, array: &Array) -> Result<String, NoCall> {
        let Some(shape) = &array.shape else {
            let name = "struct memref_unranked".to_owned();
            self.add(&name, "{ int64_t rank; void *descriptor; }");
            return Ok(name);
        };
        let Type::Scalar(scalar) = &*array.element else {
            return Err(NoCall::CArray(array.element.to_string()));
        };
        // The elements of complex arrays are pairs in memory, as in C.
        let element = match scalar {
            ScalarType::Complex(part) => format!("{} _Complex", c_scalar(part)?),
            scalar => c_scalar(scalar)?,
        };
        let rank = shape.len();
        let suffix = c_name(&scalar.to_string().replace("complex<", "c").replace('>', ""));
        let name = format!("struct memref_{rank}d_{suffix}");
        let lengths = if rank > 0 {
            format!(" int64_t sizes[{rank}], strides[{rank}];")
        } else {
            String::new()
        };
        self.add(&name, &format!("{{ {element} *allocated, *aligned; int64_t offset;{lengths} }}"));
        Ok(name)
    }
}

fn c_scalar(scalar: &ScalarType) -> Result<String, NoCall> {
    Ok(match scalar {
        ScalarType::Index => "int64_t".to_owned(),
        ScalarType::Integer(_, 1) => "_Bool".to_owned(),
        ScalarType::Integer(sign, bits @ (8 | 16 | 32 | 64)) => {
            let unsigned = if *sign == crate::signature::Signedness::Unsigned { "u" } else { "" };
            format!("{unsigned}int{bits}_t")
        }
        ScalarType::Float(16) => "_Float16".to_owned(),
        ScalarType::Float(32) => "float".to_owned(),
        ScalarType::Float(64) => "double".to_owned(),
        other => return Err(NoCall::CScalar(other.to_string())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conventions::convention::Convention;

    fn of(convention: Convention, text: &str) -> Usage {
        usage("a b.vmfb", "f", &convention.parse(text).unwrap())
    }

    #[test]
    fn calls_of_tensors_and_numbers() {
        let text = "sync func @f(%x: tensor<?x4xf32>, %n: i32, %h: f64, %b: tensor<bf16>) -> ()";
        let found = of(Convention::Iree, text);
        assert_eq!(
            found.command_line.unwrap(),
            "iree-dbg run --module='a b.vmfb' --function=f --input=2x4xf32=1 --input=1 --input=1 \
             --input=bf16=1"
        );
        assert_eq!(
            found.python.unwrap(),
            "iree_dbg.open(\"a b.vmfb\").f(numpy.ones((2, 4), numpy.float32), 1, 1.0, \
             numpy.ones((), ml_dtypes.bfloat16))"
        );
    }

    #[test]
    fn calls_of_structures() {
        let text = r#"{"a":["f16",["stuple","i1",["ndarray","i64",1,null]],["named","k",["sdict",["x","i32"]]]],"r":[]}"#;
        let found = of(Convention::Iree, text);
        assert_eq!(
            found.command_line.unwrap(),
            "iree-dbg run --module='a b.vmfb' --function=f --inputs-json=\
             '{\"args\": [1, [true, \"2xi64=1\"]], \"kwargs\": {\"k\": {\"x\": 1}}}'"
        );
        assert_eq!(
            found.python.unwrap(),
            "iree_dbg.open(\"a b.vmfb\").f(1.0, (True, numpy.ones((2,), numpy.int64)), k={\"x\": 1})"
        );
    }

    #[test]
    fn prototypes() {
        let text = "(memref<?x4xf32>, i32, memref<*xf32>, index) -> (memref<?x4xf32>, f64)";
        assert_eq!(
            of(Convention::Memref, text).c.unwrap(),
            "struct memref_2d_f32 { float *allocated, *aligned; int64_t offset; \
             int64_t sizes[2], strides[2]; };\n\
             struct memref_unranked { int64_t rank; void *descriptor; };\n\
             struct f_results { struct memref_2d_f32 result0; double result1; };\n\
             void _mlir_ciface_f(struct f_results *result, struct memref_2d_f32 *arg0, \
             int32_t arg1, struct memref_unranked *arg2, int64_t arg3);"
        );
        let scalar = of(Convention::Memref, "(complex<f32>) -> ()");
        assert!(scalar.c.is_err_and(|it| it.to_string().contains("complex<f32>")));
        assert_eq!(of(Convention::Memref, "() -> i1").c.unwrap(), "_Bool _mlir_ciface_f(void);");
    }
}
