//! Texts, and the trees that they are parsed to.

use super::parser::parse;
use super::syntax::{Expr, Kind, Subscript, Unary};

/// The tree as text with all its parentheses.
fn tree(text: &str) -> String {
    fn write(expr: &Expr) -> String {
        match &expr.kind {
            Kind::Integer(value) => value.to_string(),
            Kind::Float(value) => format!("{value:?}"),
            Kind::Bool(value) => value.to_string(),
            Kind::Text(text) => format!("{text:?}"),
            Kind::Name(name) => name.clone(),
            Kind::Printed(which) => format!("{which:?}"),
            Kind::Function(name) => format!("@{name}"),
            Kind::Unary(operator, operand) => {
                let sign = match operator {
                    Unary::Negate => "-",
                    Unary::Not => "!",
                    Unary::Complement => "~",
                };
                format!("({sign}{})", write(operand))
            }
            Kind::Binary(operator, left, right) => {
                format!("({} {} {})", write(left), operator.text(), write(right))
            }
            Kind::Choice(condition, yes, no) => {
                format!("({} ? {} : {})", write(condition), write(yes), write(no))
            }
            Kind::Index(base, subscripts) => {
                let part = |part: &Option<Expr>| part.as_ref().map(write).unwrap_or_default();
                let subscripts: Vec<String> = subscripts
                    .iter()
                    .map(|subscript| match subscript {
                        Subscript::At(at) => write(at),
                        Subscript::Range(start, end, step) => {
                            format!("{}:{}:{}", part(start), part(end), part(step))
                        }
                    })
                    .collect();
                format!("{}[{}]", write(base), subscripts.join(","))
            }
            Kind::Field(base, name) => format!("{}.{name}", write(base)),
            Kind::Call(callee, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(write).collect();
                format!("{}({})", write(callee), arguments.join(","))
            }
            Kind::Cast(base, name) => format!("({} as {name})", write(base)),
        }
    }
    parse(text).map_or_else(|error| format!("{error}"), |expr| write(&expr))
}

#[test]
fn operators_bind_as_people_expect() {
    let cases = [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("a - b - c", "((a - b) - c)"),
        ("a == 1 && b < 2 || c", "(((a == 1) && (b < 2)) || c)"),
        ("a & 1 == 1", "((a & 1) == 1)"),
        ("not a == b and c", "((!(a == b)) && c)"),
        ("!a == b", "((!a) == b)"),
        ("-a ** 2", "(-(a ** 2))"),
        ("2 ** 3 ** 2", "(2 ** (3 ** 2))"),
        ("a % b", "(a % b)"),
        ("%a % %b", "(a % b)"),
        ("%0 %%1", "(0 % 1)"),
        ("-x as f32", "(-(x as f32))"),
        ("a as f16[4, 4]", "(a as 4x4xf16)"),
        ("(r0 as any) == 5", "((r0 as any) == 5)"),
        (
            "(a as memref<?xf32, affine_map<(d0) -> (d0)>>)[1]",
            "(a as memref<?xf32, affine_map<(d0) -> (d0)>>)[1]",
        ),
        ("max(a as tensor<4x8xf32>)", "max((a as 4x8xf32))"),
        ("t[1, :, -1:, ::2]", "t[1,::,(-1)::,::2]"),
        ("i2:3 + i4", "(i2:3 + i4)"),
        ("t[i2:3]", "t[i2:3]"),
        ("t[i2:5]", "t[i2:5:]"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("t.shape[0]", "t.shape[0]"),
        ("%\"a b\" + %x#1", "(a b + x#1)"),
        ("@m.f(1, 2.5)", "@m.f(1,2.5)"),
        ("0x1F + 1e3 + 1_000", "((31 + 1000.0) + 1000)"),
        ("nan(t) == nan", "(nan(t) == NaN)"),
        ("inf(t) == -inf or NaN", "((inf(t) == (-inf)) || NaN)"),
        ("x << 2 >> 1", "((x << 2) >> 1)"),
    ];
    for (text, expected) in cases {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn mistakes_have_a_place() {
    let cases = [
        ("", 0..0, "a value is missing at the end"),
        ("a +", 3..3, "a value is missing at the end"),
        ("(a", 2..2, "`)` is missing at the end"),
        ("a b", 2..3, "an operator or the end is expected instead of `b`"),
        ("a < b < c", 6..7, "comparisons do not chain"),
        ("12ab", 0..4, "`12ab` is no number"),
        ("t[", 2..2, "a value is missing at the end"),
        ("t[1", 3..3, "`]` is missing at the end"),
        ("a as ", 5..5, "a type such as"),
        ("\"abc", 0..4, "the text has no end"),
    ];
    for (text, span, message) in cases {
        let error = parse(text).expect_err(text);
        assert_eq!(error.span, span, "{text}: {error}");
        assert!(error.to_string().starts_with(message), "{text}: {error}");
    }
    assert!(parse(&"(".repeat(100_000)).is_err());
    assert!(parse(&"(".repeat(10_000)).is_err());
    assert!(parse(&"-".repeat(10_000)).is_err());
    assert!(parse(&"1+".repeat(10_000)).is_err());
    assert!(parse(&format!("a{}", "[0]".repeat(10_000))).is_err());
}
