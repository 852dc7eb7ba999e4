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
}
