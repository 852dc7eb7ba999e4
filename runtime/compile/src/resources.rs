//! Constants that a printed phase writes at its end are written where they are used, so that the
//! text of an operation is all that is needed to evaluate it or to compile it again.
//!
//! ```text
//! %0 = arith.constant dense_resource<w> : tensor<2xf32>          %0 = arith.constant dense<"0x…"> : …
//! {-#                                                       →
//!   dialect_resources: { builtin: { w: "0x04000000…" } }
//! #-}
//! ```
//!
//! The compiler leaves long ones out: they stay `dense_resource<w>`. PyTorch's importers and many
//! exporters write all weights so.

use std::collections::HashMap;

use debuginfo::{DIALECT_RESOURCES, ElidedName, dialect_resources};

/// What stands for a constant that is written at the end, or that is left out.
pub(crate) const RESOURCE: &str = "dense_resource<";
/// The alignment of a resource, as digits, which come before those of its bytes.
pub(crate) const ALIGNMENT_DIGITS: usize = 8;

/// Resources by their names, each as it is written inline.
pub(crate) type Values = HashMap<String, String>;

/// The text with its resources where they are used, and without the end that lists them.
pub(crate) fn inlined(text: String) -> String {
    inlined_with_values(text).0
}

/// The same, and the resources.
pub(crate) fn inlined_with_values(text: String) -> (String, Values) {
    let Some((body, _)) = text.rsplit_once(DIALECT_RESOURCES) else { return (text, Values::new()) };
    let values = values(&text);
    (with_values(body, &values), values)
}

/// A text with these resources where it uses them.
pub(crate) fn with_values(body: &str, values: &Values) -> String {
    let mut written = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((before, after)) = rest.split_once(RESOURCE) {
        written += before;
        rest = after;
        let value = name_at(after).and_then(|(name, after)| {
            let value = values.get(name).filter(|_| has_whole_bytes(after))?;
            Some((value, after))
        });
        match value {
            Some((value, after)) => {
                written += &format!("dense<\"{value}\">");
                rest = after;
            }
            None => written += RESOURCE,
        }
    }
    written + rest
}

/// The name that begins here, and the text after its `>`.
pub(crate) fn name_at(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\">"),
        None => text.split_once('>'),
    }
}

/// Whether the type that follows has elements of whole bytes: those of others have another form
/// where they are written inline.
fn has_whole_bytes(after: &str) -> bool {
    let Some((_, tensor)) = after.split_once('<') else { return false };
    let element = tensor.split_once('>').map_or(tensor, |(it, _)| it);
    let element = element.rsplit('x').next().unwrap_or_default();
    let bits = element.trim_start_matches(|it: char| !it.is_ascii_digit());
    bits.parse::<u32>().is_ok_and(|bits| bits.is_multiple_of(8))
}

fn values(text: &str) -> Values {
    let mut values = Values::new();
    for (name, range) in dialect_resources(text) {
        let value = &text[range];
        let inline = match value.strip_prefix("0x") {
            Some(digits) => digits.get(ALIGNMENT_DIGITS..).map(|it| format!("0x{it}")),
            None => ElidedName::in_text(&format!("{value}>")).map(str::to_owned),
        };
        if let Some(inline) = inline.filter(|it| it.len() > "0x".len()) {
            values.insert(name.to_owned(), inline);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_stand_where_they_are_used() {
        let text = "\
%0 = arith.constant dense_resource<w> : tensor<2xf32> loc(\"a\")
%1 = arith.constant dense_resource<\"a b\"> : tensor<1x1xi64>
%2 = arith.constant dense_resource<gone> : tensor<2xf32>
%3 = arith.constant dense_resource<mask> : tensor<8xi1>
%4 = arith.constant dense_resource<long> : tensor<9000xf32>

{-#
  dialect_resources: {
    builtin: {
      w: \"0x040000000000803F00000040\",
      \"a b\": \"0x080000000300000000000000\",
      mask: \"0x0100000001\",
      long: \"__elided__72000_8d1f\"
    }
  }
#-}
";
        let expected = "\
%0 = arith.constant dense<\"0x0000803F00000040\"> : tensor<2xf32> loc(\"a\")
%1 = arith.constant dense<\"0x0300000000000000\"> : tensor<1x1xi64>
%2 = arith.constant dense_resource<gone> : tensor<2xf32>
%3 = arith.constant dense_resource<mask> : tensor<8xi1>
%4 = arith.constant dense<\"__elided__72000_8d1f\"> : tensor<9000xf32>

";
        assert_eq!(inlined(text.to_owned()), expected);
        assert_eq!(inlined("no resources".to_owned()), "no resources");
    }
}
