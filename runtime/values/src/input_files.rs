//! The files that inputs name. One place reads their names, so that what is checked of a name is
//! what is opened.

use std::collections::HashMap;
use std::path::Path;

use vmfb::FileBytes;

/// Where the files of inputs are.
#[derive(Clone, Debug, Default)]
pub enum InputFiles {
    /// In the file system.
    #[default]
    OnDisk,
    /// These, by their names. No others are read.
    InMemory(HashMap<String, FileBytes>),
}

/// A file, as an input names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NamedFile<'t> {
    /// Shape and type, with what stands before them; `None` if they are in the file.
    pub(crate) tensor: Option<&'t str>,
    pub(crate) mark: Mark,
    pub(crate) path: &'t str,
}

/// What is read of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    /// `@`: what it begins with.
    First,
    /// `+`: what follows.
    Next,
    /// `*`: all that follows.
    All,
}

impl Mark {
    fn split(text: &str) -> Option<(Self, &str)> {
        let mut rest = text.chars();
        let mark = match rest.next()? {
            '@' => Self::First,
            '+' => Self::Next,
            '*' => Self::All,
            _ => return None,
        };
        Some((mark, rest.as_str()))
    }
}

/// The file that an input names, if it does.
pub(crate) fn named_file(text: &str) -> Option<NamedFile<'_>> {
    let text = text.trim();
    if let Some((mark, path)) = Mark::split(text) {
        return Some(NamedFile { tensor: None, mark, path });
    }
    let (tensor, values) = text.split_once('=')?;
    let (mark, path) = Mark::split(values)?;
    let tensor = Some(tensor);
    (mark != Mark::All).then_some(NamedFile { tensor, mark, path })
}

/// The file that an argument names, and the text before its name: `2xf32=` and `@`, or `+` or `*`.
#[must_use]
pub fn file_of_input(text: &str) -> Option<(&str, &Path)> {
    let NamedFile { path, .. } = named_file(text)?;
    let text = text.trim();
    let before = text.len() - path.len();
    Some((&text[..before], Path::new(path)))
}

/// An input whose file has this name instead. `Err` with the name that would be read if the text
/// is understood in another way.
///
/// # Errors
/// The text before the name leads to another one.
pub fn input_of_file(before: &str, name: &str) -> Result<String, String> {
    let text = format!("{before}{name}");
    match named_file(&text) {
        Some(NamedFile { path, .. }) if path == name => Ok(text),
        Some(NamedFile { path, .. }) => Err(path.to_owned()),
        None => Err(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_arguments() {
        let cases = [
            ("4xf32=1,2,3,4", None),
            ("-2.5", None),
            ("4xf32=*x.npy", None),
            ("@in.npy", Some(("@", "in.npy"))),
            (" *all.npy ", Some(("*", "all.npy"))),
            ("2xi8=@a=b/in.bin", Some(("2xi8=@", "a=b/in.bin"))),
            ("2xi8=+in.bin", Some(("2xi8=+", "in.bin"))),
            ("&2xi8=@in.bin", Some(("&2xi8=@", "in.bin"))),
            ("@a=b/secret.npy", Some(("@", "a=b/secret.npy"))),
            ("+a=@b.npy", Some(("+", "a=@b.npy"))),
            ("*a=+b.npy", Some(("*", "a=+b.npy"))),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|(before, path)| (before, Path::new(path)));
            assert_eq!(file_of_input(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_before_a_name_cannot_lead_to_another_one() {
        assert_eq!(input_of_file("2xi8=@", "0/x.bin").as_deref(), Ok("2xi8=@0/x.bin"));
        assert_eq!(input_of_file("@a=", "0/x.npy"), Err("a=0/x.npy".to_owned()));
        assert_eq!(input_of_file("2xi8=", "0/x.npy"), Err(String::new()));
        assert_eq!(input_of_file("@", "0/x.npy "), Err("0/x.npy".to_owned()));
    }
}
