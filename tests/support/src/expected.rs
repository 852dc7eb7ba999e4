//! Texts that are expected, in files. `UPDATE_EXPECT=1` writes them anew.

use std::path::Path;

/// Compares texts with files, and reports all that differ at its end.
#[derive(Default)]
#[must_use]
pub struct Expected {
    changed: Vec<String>,
}

impl Expected {
    /// Compares a text with the file, in which it is kept where that was asked for. A file that is
    /// not there expects no text.
    ///
    /// # Panics
    /// The file cannot be written.
    pub fn compare(&mut self, file: &Path, actual: &str) {
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(file, actual).expect("the expected text can be written");
        }
        let expected = std::fs::read_to_string(file).unwrap_or_default();
        if expected != actual {
            let file = file.display();
            self.changed.push(format!("{file}\n--- expected\n{expected}\n--- actual\n{actual}"));
        }
    }

    /// Fails the test if a text was another one.
    ///
    /// # Panics
    /// A text differs from its file.
    #[track_caller]
    pub fn finish(self) {
        assert!(self.changed.is_empty(), "{}", self.changed.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_differs_fails() {
        let scratch = tempfile::tempdir().unwrap();
        let (kept, missing) = (scratch.path().join("kept"), scratch.path().join("missing"));
        std::fs::write(&kept, "a\n").unwrap();
        let mut expected = Expected::default();
        expected.compare(&kept, "a\n");
        assert!(expected.changed.is_empty());
        if std::env::var_os("UPDATE_EXPECT").is_none() {
            expected.compare(&missing, "b\n");
            expected.compare(&kept, "c\n");
            assert_eq!(expected.changed.len(), 2);
            assert!(std::panic::catch_unwind(|| expected.finish()).is_err());
        }
    }
}
