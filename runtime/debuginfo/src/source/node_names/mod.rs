//! The names that a framework gave to tensors and nodes, beside the names of the text.
//!
//! - [`labels`]: the names that a text itself gives its operations, in their locations
//! - [`import`]: which value of an import is which tensor of the ONNX model beside it
//! - [`onnx`]: the parts of an ONNX model that this takes

mod import;
pub(super) mod labels;
mod mismatch;
mod onnx;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use prost::Message;

use super::SourceText;
pub(crate) use mismatch::Mismatch;

/// The framework's names of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeName {
    /// The name of the tensor.
    pub tensor: String,
    /// The name of the node that makes it, if it makes nothing else.
    pub node: Option<String>,
}

/// The framework's names of the values of a text.
#[derive(Debug)]
pub(crate) struct NodeNames {
    /// By the index of the function in its file, and the name in the text, with its `%`.
    names: HashMap<usize, HashMap<String, NodeName>>,
    /// Where the model has no more names for the text.
    parted: Option<Mismatch>,
}

/// What an ONNX model has that names tensors: its nodes, as a model without weights. `None` if the
/// bytes are none.
#[must_use]
pub fn model_nodes(model: &[u8]) -> Option<Vec<u8>> {
    let model = onnx::Model::decode(model).ok().filter(|it| it.graph.is_some())?;
    Some(model.encode_to_vec())
}

/// The path of the ONNX model of a text that was imported from it: `model.onnx` beside `model.mlir`
/// or `model.onnx.mlir`.
#[must_use]
pub fn model_beside(text: &Path) -> PathBuf {
    let path = text.with_extension("");
    if path.extension().is_some_and(|it| it == "onnx") {
        return path;
    }
    let mut name = path.into_os_string();
    name.push(".onnx");
    name.into()
}

impl NodeNames {
    /// The names in the ONNX model that a text was imported from, as far as they agree.
    ///
    /// # Errors
    /// The bytes are no such model, or the text was not made from it.
    pub(crate) fn of_import(text: &SourceText, model: &[u8]) -> Result<Self, Mismatch> {
        let model = onnx::Model::decode(model)?;
        let graph = model.graph.ok_or(Mismatch::NoGraph)?;
        let named = || Mismatch::NoFunction(graph.name.clone());
        let function = text.written().named(&graph.name).ok_or_else(named)?;
        let read = text.read_function(function).ok_or_else(named)?;
        let (names, parted) = import::names(&read, &graph)?;
        Ok(Self { names: HashMap::from([(function, names)]), parted })
    }

    /// Where the model and the text part, if they do.
    pub(crate) fn parted(&self) -> Option<&Mismatch> {
        self.parted.as_ref()
    }

    /// The names in a text's own locations; `None` if it has none.
    pub(crate) fn of_locations(text: &SourceText) -> Option<Self> {
        let names = if labels::are_in(text.text()) { labels::names(text) } else { HashMap::new() };
        (!names.is_empty()).then_some(Self { names, parted: None })
    }

    /// The framework's names of a value on a line: of `%3`, with its `%`.
    pub(crate) fn of(&self, text: &SourceText, line: u32, value: &str) -> Option<&NodeName> {
        self.names.get(&text.written().around(line)?)?.get(value)
    }
}
