//! Names of the constants that the phase `flow` keeps in globals: so that a constant which the
//! compiler has only moved is known to be one of the source, and not merely taken for it.
//!
//! ```text
//! util.global private @__constant_tensor_257x80xf32 = dense_resource<__elided__> : …
//!                                                   → dense<"__elided__164480_8248…"> : …
//! ```
//!
//! Printed phases leave long constants out, all of them without a name. The phase is printed once
//! more with its constants, which are read by the names of their globals as the text streams by.

use std::collections::HashMap;
use std::io::{self, Read};

use crate::elide_constants::copy_with_all_names;
use crate::resources::inlined;

/// What begins the definition of a global.
const GLOBAL: &str = "util.global ";
/// How printed phases write a constant that they leave out.
const LEFT_OUT: [&str; 2] = ["dense_resource<__elided__>", "dense<\"__elided__\">"];

/// Constants by the names of their globals: `dense<"__elided__164480_8248…">`.
pub(crate) type Constants = HashMap<String, String>;

/// Whether a text has a global whose constant is left out.
pub(crate) fn leaves_out(text: &str) -> bool {
    text.lines().any(|line| symbol(line).is_some() && left_out(line).is_some())
}

/// The constants of globals, by names in the place of their digits, out of a text that has these.
pub(crate) fn read_constants(from: impl Read) -> io::Result<Constants> {
    let mut text = Vec::new();
    copy_with_all_names(from, &mut text)?;
    let text = inlined(String::from_utf8(text).map_err(io::Error::other)?);
    let constants = text.lines().filter_map(|line| {
        let (_, value) = line.split_once(" = dense<\"__elided__")?;
        let (name, _) = value.split_once("\">")?;
        Some((symbol(line)?.to_owned(), format!("dense<\"__elided__{name}\">")))
    });
    Ok(constants.collect())
}

/// The text with the constants of its globals by these names.
pub(crate) fn with_constants(text: &str, constants: &Constants) -> String {
    let mut written = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let found = symbol(line).and_then(|it| constants.get(it));
        match (found, left_out(line)) {
            (Some(constant), Some(mark)) => written += &line.replacen(mark, constant, 1),
            _ => written += line,
        }
    }
    written
}

/// The mark that a line has in the place of a constant.
fn left_out(line: &str) -> Option<&'static str> {
    LEFT_OUT.into_iter().find(|it| line.contains(it))
}

/// The name of the global that a line defines, as it is written.
fn symbol(line: &str) -> Option<&str> {
    let (_, rest) = line.trim_start().strip_prefix(GLOBAL)?.split_once('@')?;
    let end = match rest.strip_prefix('"') {
        Some(quoted) => quoted.find('"')? + "\"\"".len(),
        None => rest.find(|it: char| !(it.is_ascii_alphanumeric() || "_$.-".contains(it)))?,
    };
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_globals_have_names() {
        let left_out = "\
  util.global private @w <inlining_policy = #x> = dense_resource<__elided__> : tensor<64xf32>
  util.global private @\"a b\" = dense_resource<__elided__> : tensor<64xf32> loc(#loc)
  util.global private @unknown = dense_resource<__elided__> : tensor<64xf32>
  util.global private @device = #device
  %0 = arith.constant dense_resource<__elided__> : tensor<64xf32>
";
        let digits = ["AB", "CD"].map(|it| it.repeat(256));
        let whole = format!(
            "  util.global private @w = dense<\"0x{0}\"> : tensor<64xf32>\n  \
             util.global private @\"a b\" = dense_resource<r> : tensor<64xf32>\n  \
             %0 = arith.constant dense<\"0x{0}\"> : tensor<64xf32>\n\
             {{-#\n      r: \"0x04000000{1}\"\n#-}}\n",
            digits[0], digits[1]
        );
        assert!(leaves_out(left_out) && !leaves_out(&whole));
        let constants = read_constants(whole.as_bytes()).unwrap();
        let [one, other] = digits.map(|it| {
            let mut name = debuginfo::ElidedName::default();
            name.add(it.as_bytes());
            name.finish()
        });
        let found = with_constants(left_out, &constants);
        let expected = left_out
            .replacen("dense_resource<__elided__>", &format!("dense<\"{one}\">"), 1)
            .replacen("dense_resource<__elided__>", &format!("dense<\"{other}\">"), 1);
        assert_eq!(found, expected);
    }
}
