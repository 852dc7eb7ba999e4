//! Types of values, as the type tables of modules name them.

use std::fmt;
use std::sync::Arc;

/// The type of a list's elements, or of a type table entry that is not a ref type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum ScalarType {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl ScalarType {
    /// The name in a module's type table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::I8, Self::I16, Self::I32, Self::I64, Self::F32, Self::F64]
            .into_iter()
            .find(|scalar| scalar.name() == name)
    }
}

/// The type of the object that a ref may refer to. A null ref is of every type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum RefType {
    /// `!vm.ref<?>`: any object.
    Any,
    /// `!vm.buffer`
    Buffer,
    /// `!vm.list<…>`; the element type is not part of an object's identity, as in IREE.
    List,
    /// An object of another module, by its type's name without `!`, such as `hal.buffer_view`.
    Object(Arc<str>),
}

impl fmt::Display for RefType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("!vm.ref<?>"),
            Self::Buffer => f.write_str("!vm.buffer"),
            Self::List => f.write_str("!vm.list"),
            Self::Object(name) => write!(f, "!{name}"),
        }
    }
}

/// A type-table entry, resolved.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A primitive.
    Scalar(ScalarType),
    /// A ref.
    Ref(RefType),
    /// `!vm.opaque`, any value: the element type of variant lists (`!vm.list<?>`).
    Variant,
}

impl Type {
    /// Reads a type as type tables spell it: `i32`, `!vm.list<i32>`, `!hal.buffer_view`,
    /// `!vm.opaque` or, as within list types, `?`. `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(scalar) = ScalarType::from_name(text) {
            return Some(Self::Scalar(scalar));
        }
        if matches!(text, "?" | "!vm.opaque") {
            return Some(Self::Variant);
        }
        let name = text.strip_prefix('!')?;
        let name =
            name.strip_prefix("vm.ref<!").and_then(|name| name.strip_suffix('>')).unwrap_or(name);
        Some(Self::Ref(match name {
            "" => return None,
            "vm.ref<?>" => RefType::Any,
            "vm.buffer" => RefType::Buffer,
            _ if name == "vm.list" || name.starts_with("vm.list<") => RefType::List,
            _ => RefType::Object(name.into()),
        }))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => f.write_str(scalar.name()),
            Self::Ref(ref_type) => ref_type.fmt(f),
            Self::Variant => f.write_str("!vm.opaque"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_table_texts() {
        for (text, expected) in [
            ("i8", Some(Type::Scalar(ScalarType::I8))),
            ("!vm.list<!vm.ref<?>>", Some(Type::Ref(RefType::List))),
            ("!vm.buffer", Some(Type::Ref(RefType::Buffer))),
            ("!vm.ref<!hal.fence>", Some(Type::Ref(RefType::Object("hal.fence".into())))),
            ("!hal.fence", Some(Type::Ref(RefType::Object("hal.fence".into())))),
            ("!vm.ref<?>", Some(Type::Ref(RefType::Any))),
            ("!vm.opaque", Some(Type::Variant)),
            ("?", Some(Type::Variant)),
            ("", None),
            ("!", None),
            ("index", None),
        ] {
            assert_eq!(Type::parse(text), expected, "{text}");
        }
    }
}
