//! What a command answers: text for people, and the same as data for scripts.

use std::fmt::{self, Write};

use serde_json::{Map, Value};

/// The columns that a source line gets where no terminal says how wide it is.
pub const DEFAULT_WIDTH: usize = 200;

/// An answer in the making.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) text: String,
    pub(crate) data: Map<String, Value>,
    /// The columns of a line of output.
    pub(crate) width: usize,
    /// See [`crate::Answer::is_coloured`].
    pub(crate) is_coloured: bool,
}

impl Output {
    pub(crate) fn new(width: usize) -> Self {
        Self { text: String::new(), data: Map::new(), width, is_coloured: false }
    }

    /// Adds a value for scripts. One that is added twice keeps the later value.
    pub(crate) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.data.insert(key.to_owned(), value.into());
    }
}

impl Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}
