//! The text of a signature from the command line, and errors with their place in it.

use abi::SyntaxError;
use abi::convention::Convention;

use crate::failure::Failure;

/// A text from the command line, and the text for the parser. They differ for JSON that was copied
/// from an MLIR file, which writes quotes as `\22`.
pub(super) struct Text {
    given: String,
    pub(super) plain: String,
    /// For each byte of `plain` and for its end the offset in `given`, if the texts differ.
    places: Option<Vec<usize>>,
}

impl Text {
    /// The text of an argument of the command line, or of standard input.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub(super) fn read(convention: Convention, argument: &str) -> Result<Self, Failure> {
        let given = given(argument)?;
        let is_escaped =
            matches!(convention, Convention::Iree | Convention::Tvm) && given.contains("\\22");
        if !is_escaped {
            return Ok(Self { plain: given.clone(), given, places: None });
        }
        let (mut plain, mut places, mut at) = (Vec::new(), Vec::new(), 0);
        let bytes = given.as_bytes();
        while let Some(&byte) = bytes.get(at) {
            let hex = given.get(at + 1..at + 3).filter(|_| byte == b'\\');
            let escaped = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
            places.push(at);
            plain.push(escaped.unwrap_or(byte));
            at += if escaped.is_some() { 3 } else { 1 };
        }
        places.push(given.len());
        let plain = String::from_utf8_lossy(&plain).into_owned();
        Ok(Self { given, plain, places: Some(places) })
    }

    /// The text of an error, with the place of the fault.
    pub(super) fn fail(&self, error: &SyntaxError) -> String {
        let position = match &self.places {
            Some(places) => places.get(error.position).copied().unwrap_or(self.given.len()),
            None => error.position,
        };
        let message = format!("{} (byte {position})", error.message);
        with_caret(&self.given, position, &message)
    }
}

/// An argument of the command line; for `-`, what standard input has, without its last line end.
///
/// # Errors
/// Standard input cannot be read.
pub(super) fn given(argument: &str) -> Result<String, Failure> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let text = std::io::read_to_string(std::io::stdin())?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// The message, and below it the line with the fault and a caret.
pub(super) fn with_caret(text: &str, position: usize, message: &str) -> String {
    let before = text.get(..position).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    let column = before[line_start..].chars().count();
    format!("{message}\n  {line}\n  {:column$}^", "")
}
