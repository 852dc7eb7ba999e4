//! Log messages: text with expressions in braces.
//!
//! `n is {%n}, norm {norm(x)}` becomes `n is 3, norm 2.5`. A format letter may follow a comma
//! (`{i0,x}`); `{{` and `}}` are braces. An expression that cannot be evaluated is replaced by the
//! reason.

use super::budget::Limits;
use super::error::ExpressionError;
use super::parsed::Expression;
use super::parser;
use super::scope::Scope;

/// A parsed log message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Value(Box<Expression>),
}

impl Template {
    /// Parses a message.
    pub(crate) fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let doubled = text[at + c.len_utf8()..].starts_with(c);
            match c {
                '{' | '}' if doubled => {
                    plain.push(c);
                    at += 2;
                }
                '{' => {
                    parts.extend(
                        (!plain.is_empty()).then(|| Part::Text(std::mem::take(&mut plain))),
                    );
                    let end = value_end(text, at)?;
                    let body = &text[at + 1..end];
                    let expression = Expression::parse(body).map_err(|error| {
                        let span = error.span.start + at + 1..error.span.end + at + 1;
                        ExpressionError::new(span, error.reason)
                    })?;
                    parts.push(Part::Value(expression.into()));
                    at = end + 1;
                }
                '}' => {
                    return Err(ExpressionError::of_text(
                        at..at + 1,
                        "a `}` by itself; write `}}`",
                    ));
                }
                other => {
                    plain.push(other);
                    at += other.len_utf8();
                }
            }
        }
        parts.extend((!plain.is_empty()).then_some(Part::Text(plain)));
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The text that it was parsed from.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The expressions in it.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value(expression) => Some(&**expression),
        })
    }

    /// The message, with values in place of the expressions.
    pub(crate) fn message(&self, scope: &mut dyn Scope) -> String {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(expression) => match expression.variable(scope, Limits::default(), "") {
                Ok(shown) => shown.value,
                // Not every dispatch has each of them.
                Err(_) if let Some((family, index)) = expression.member() => {
                    format!("<no {family} {index}>")
                }
                Err(error) => format!("<{error}>"),
            },
        });
        texts.collect()
    }
}

/// The end of the value in braces that open at `open`.
fn value_end(text: &str, open: usize) -> Result<usize, ExpressionError> {
    // A brace follows the expression, or a comma, a format letter and a brace.
    let (_, end) = parser::parse_prefix(text, open + 1)?;
    let rest = &text[end..];
    let letter = rest.strip_prefix(',').and_then(|rest| rest.find('}'));
    match (rest.starts_with('}'), letter) {
        (true, _) => Ok(end),
        (false, Some(length)) => Ok(end + 1 + length),
        (false, None) => {
            Err(ExpressionError::of_text(end..end, "`}` is missing after the expression"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_text_and_values() {
        let template = Template::parse("n = {%n}, {{x}} {t[0,1] , x}{a ? b : c}!").unwrap();
        let texts: Vec<&str> = template.expressions().map(Expression::text).collect();
        assert_eq!(texts, ["%n", "t[0,1] , x", "a ? b : c"]);
        assert_eq!(template.parts[1], Part::Value(Expression::parse("%n").unwrap().into()));
        assert_eq!(template.parts[2], Part::Text(", {x} ".into()));
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, span) in [("a } b", 2..3), ("{1 + }", 5..6), ("{1", 2..2), ("{", 1..1)] {
            let error = Template::parse(text).expect_err(text);
            assert_eq!(error.span, span, "{text}: {error}");
        }
    }
}
