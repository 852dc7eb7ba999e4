//! Syntax trees. Every node knows its bytes in the text, so that an error can point at them.

use std::ops::Range;

use super::printed::Printed;

/// A node, with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

impl Expr {
    /// The part of a variable that it is, if it is one, as Python writes it: `layers[0]['w']`,
    /// `self.bias`.
    pub(crate) fn part(&self) -> Option<String> {
        match &self.kind {
            Kind::Name(name) => Some(name.clone()),
            Kind::Field(base, field) => Some(format!("{}.{field}", base.part()?)),
            Kind::Index(base, subscripts) => match subscripts.as_slice() {
                [Subscript::At(Self { kind: Kind::Integer(index), .. })] => {
                    Some(format!("{}[{index}]", base.part()?))
                }
                [Subscript::At(Self { kind: Kind::Text(key), .. })] => {
                    Some(format!("{}['{key}']", base.part()?))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Integer(i128),
    Float(f64),
    Bool(bool),
    Text(String),
    /// `%sum`, `sum`, `i0`, `i2:3`, `r0`: the name without its `%`.
    Name(String),
    /// `$`, `$$`, `$3`: what was printed.
    Printed(Printed),
    /// `@main`: a function, or a global.
    Function(String),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a[1, 2:3]`
    Index(Box<Expr>, Vec<Subscript>),
    /// `a.shape`
    Field(Box<Expr>, String),
    /// `max(a)`, `@f(1)`
    Call(Box<Expr>, Vec<Expr>),
    /// `a as 4x8xf32`
    Cast(Box<Expr>, String),
}

/// One subscript of an index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Subscript {
    At(Expr),
    /// `start:end:step`; each may be missing.
    Range(Option<Expr>, Option<Expr>, Option<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Negate,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    /// `a @ b`
    MatrixProduct,
}

impl Binary {
    /// The operator as text.
    pub(crate) fn text(self) -> &'static str {
        OPERATORS.iter().find(|(_, operator, _)| *operator == self).map_or("", |(text, ..)| text)
    }
}

/// The operators and how tightly they bind. A longer operator stands before one that is its
/// beginning.
pub(crate) const OPERATORS: [(&str, Binary, u8); 22] = [
    ("||", Binary::Or, 1),
    ("or", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("and", Binary::And, 2),
    ("==", Binary::Equal, 3),
    ("!=", Binary::NotEqual, 3),
    ("<<", Binary::ShiftLeft, 7),
    (">>", Binary::ShiftRight, 7),
    ("<=", Binary::LessEqual, 3),
    (">=", Binary::GreaterEqual, 3),
    ("<", Binary::Less, 3),
    (">", Binary::Greater, 3),
    ("|", Binary::BitOr, 4),
    ("^", Binary::BitXor, 5),
    ("&", Binary::BitAnd, 6),
    ("+", Binary::Add, 8),
    ("-", Binary::Subtract, 8),
    ("**", Binary::Power, 11),
    ("*", Binary::Multiply, 9),
    ("/", Binary::Divide, 9),
    ("%", Binary::Remainder, 9),
    ("@", Binary::MatrixProduct, 9),
];

/// The precedence of comparisons, which do not chain.
pub(crate) const COMPARISON: u8 = 3;
/// The precedence of `**`, which groups to the right.
pub(crate) const POWER: u8 = 11;
