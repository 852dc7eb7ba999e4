//! Patterns for names: `*` stands for any text, `?` for any character, everything else for itself.

/// Whether a name fits a pattern as a whole.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Where the last star was, and how much of the name it has taken so far: the only thing that
    // ever needs to be tried again.
    let (mut at, mut in_name, mut star) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(expected) if *expected == '?' || *expected == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                (at, in_name) = (star_at + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

/// The name that a symbol has: without its sigil, and without the quotes and escapes that MLIR
/// writes around names with blanks and the like.
#[must_use]
pub fn bare_symbol(text: &str) -> String {
    let text = text.strip_prefix('@').unwrap_or(text);
    let Some(quoted) = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut name = Vec::new();
    let mut rest = quoted.bytes().peekable();
    let digit = |byte: u8| (byte as char).to_digit(16).and_then(|it| u8::try_from(it).ok());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            name.push(byte);
            continue;
        }
        let Some(escaped) = rest.next() else { break };
        match (digit(escaped), rest.peek().copied().and_then(digit)) {
            (Some(high), Some(low)) => {
                name.push(high << 4 | low);
                rest.next();
            }
            _ => name.push(match escaped {
                b'n' => b'\n',
                b't' => b'\t',
                other => other,
            }),
        }
    }
    String::from_utf8_lossy(&name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_take_as_much_as_it_needs() {
        let cases = [
            ("mlp_*", "mlp_dispatch_0_matmul_4x16x8_f32", true),
            ("*matmul*", "mlp_dispatch_0_matmul_4x16x8_f32", true),
            ("*_f32", "mlp_f32_f32", true),
            ("*dispatch_?_*", "mlp_dispatch_1_x", true),
            ("*dispatch_?_*", "mlp_dispatch_10_x", false),
            ("mlp", "mlp_dispatch", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("?", "é", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn symbols_without_their_quotes() {
        for (symbol, name) in [
            ("main", "main"),
            ("@main", "main"),
            ("@\"my-model\"", "my-model"),
            ("\"Model from X.\"", "Model from X."),
            ("@\"a \\\"b\\\\ c\\C3\\A9\"", "a \"b\\ cé"),
            ("@\"open", "\"open"),
            ("@", ""),
        ] {
            assert_eq!(bare_symbol(symbol), name, "{symbol}");
        }
    }
}
