//! Symbol names, as MLIR writes them and without quotes.

/// The name of a symbol: without its sigil, and without the quotes and escapes that MLIR writes
/// around unusual names.
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

/// A name in quotes, as [`bare_symbol`] reads it.
#[must_use]
pub(crate) fn quoted_name(name: &str) -> String {
    let mut text = String::from('"');
    for character in name.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            control if control.is_ascii_control() => text += &format!("\\{:02X}", control as u8),
            other => text.push(other),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn quoted_names_are_read_again() {
        for name in ["", "/layer 1/Conv:0", "a \"b\\ c\\22\n\t\u{7f}é"] {
            let quoted = quoted_name(name);
            assert!(quoted.chars().all(|it| !it.is_ascii_control()), "{quoted}");
            assert_eq!(bare_symbol(&quoted), name, "{quoted}");
        }
        assert_eq!(quoted_name("a \"b\""), "\"a \\\"b\\\"\"");
    }
}
