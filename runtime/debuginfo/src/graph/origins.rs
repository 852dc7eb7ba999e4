//! Where operations came from, as paths from the outermost to the innermost part of a model. There
//! are three sources, each complete in itself: what Python called when it made the program, the
//! names of nodes or operations (`/encoder/layer.0/MatMul`), and the calls in their locations.
//! What none of them tells is not made up. [`groups`](super::groups) chooses the one that tells
//! most.

use std::collections::HashMap;

use crate::debug_info::DebugInfo;
use crate::locations::{FileId, SourcePosition, is_python};
use crate::mlir_text::NamedPosition;
use crate::tensors::{TensorFunction, TensorOperation, TensorValueId};

/// A part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Tells it from others with the same path before it.
    pub(super) key: String,
    pub(super) name: String,
}

/// From the outermost to the innermost.
pub(super) type Path = Vec<Segment>;

/// What is known of where operations came from.
pub(super) struct Origins<'i> {
    info: Option<&'i DebugInfo>,
    files: HashMap<&'i str, FileId>,
}

impl<'i> Origins<'i> {
    pub(super) fn of(info: Option<&'i DebugInfo>) -> Self {
        let files = info.into_iter().flat_map(DebugInfo::files);
        Self { info, files: files.map(|(id, name)| (name, id)).collect() }
    }

    /// The framework's name of a value beside its own: `logits = %12`.
    pub(super) fn label(&self, function: &TensorFunction, value: TensorValueId) -> Option<String> {
        let info = self.info?;
        function.value(value).names.iter().find_map(|name| {
            let file = *self.files.get(name.at.file.as_str())?;
            let node = info.node_name(file, name.at.line, &name.name)?;
            (!node.tensor.is_empty()).then(|| format!("{} = {}", node.tensor, name.name))
        })
    }

    /// The name of the operation in the model: that in its location, or that of its ONNX node.
    pub(super) fn full_name(&self, operation: &TensorOperation) -> Option<String> {
        let is_path = |name: &String| name.contains('/');
        let own = operation.location_names.operation.clone().filter(is_path);
        own.or_else(|| operation.chains.iter().find_map(|it| self.node_at(it.first()?)))
    }

    fn node_at(&self, at: &NamedPosition) -> Option<String> {
        let file = *self.files.get(at.file.as_str())?;
        let info = self.info?;
        let results = info.source(file)?.result_names(at.line, at.column);
        results.iter().find_map(|name| info.node_name(file, at.line, name)?.node.clone())
    }

    /// The calls of Python that made an operation.
    pub(super) fn python(&self, operation: &TensorOperation) -> Option<Path> {
        let info = self.info.filter(|it| it.has_python())?;
        let frames = operation.chains.iter().find_map(|chain| {
            let path: Vec<SourcePosition> =
                chain.iter().rev().filter_map(|at| self.position(at)).collect();
            Some(info.python_frames(&path)).filter(|it| !it.is_empty())
        })?;
        let mut called_at = None;
        let path = frames.into_iter().map(|frame| {
            let call = frame.call.map_or(called_at, |it| Some((0, it.index())));
            let name = frame.layer.unwrap_or_else(|| frame.function.clone());
            let place = call.map(|(file, line)| format!("@{file}.{line}")).unwrap_or_default();
            called_at = Some((1 + frame.position.file.0, frame.position.line));
            Segment { key: format!("{name}{place}"), name: name.to_string() }
        });
        Some(path.collect())
    }

    /// The place of an operation, unless it is that of a function as a whole.
    fn position(&self, at: &NamedPosition) -> Option<SourcePosition> {
        let file = *self.files.get(at.file.as_str())?;
        let source = self.info?.source(file);
        let is_function = source.is_some_and(|it| it.is_function(at.line, at.column));
        let NamedPosition { line, column, .. } = *at;
        (!is_function).then_some(SourcePosition { file, line, column })
    }

    /// The functions whose calls the location of an operation has.
    pub(super) fn calls(&self, operation: &TensorOperation) -> Option<Path> {
        let chain = operation.chains.first()?;
        let is_function = |at: &NamedPosition| {
            let source = self.files.get(at.file.as_str()).and_then(|it| self.info?.source(*it));
            source.is_some_and(|it| it.is_function(at.line, at.column))
        };
        let mut called_at: Option<&NamedPosition> = None;
        let frames = chain.iter().rev().filter(|at| !is_function(at)).map(|at| {
            let name = self.function_at(operation, at).or_else(|| called_at.map(short_place));
            let name = name.unwrap_or_else(|| at.file.clone());
            let place = called_at.map(|at| format!("@{}:{}:{}", at.file, at.line, at.column));
            called_at = Some(at);
            Segment { key: format!("{name}{}", place.unwrap_or_default()), name }
        });
        Some(frames.collect())
    }

    /// What the function is called that a position is in.
    fn function_at(&self, operation: &TensorOperation, at: &NamedPosition) -> Option<String> {
        let source = self.files.get(at.file.as_str()).and_then(|it| self.info?.source(*it));
        let mut named = operation.location_names.functions.iter();
        let read = source.and_then(|it| it.function_around(at.line));
        // A name in a location of MLIR may be any name, and the text is at hand.
        let written = named.find(|(known, _)| known == at && is_python(&at.file));
        read.map(str::to_owned).or_else(|| written.map(|(_, name)| name.clone()))
    }
}

fn short_place(at: &NamedPosition) -> String {
    let file = at.file.rsplit(['/', '\\']).next().unwrap_or(&at.file);
    format!("{file}:{}", at.line)
}

/// The path in a name: `/encoder/layer.0/MatMul` is in `encoder` and there in `layer.0`. What is in
/// brackets, as in `jit(a/b)/add`, is one part.
pub(super) fn path_in(name: &str) -> Path {
    let mut parts = vec![String::new()];
    let mut open = 0_usize;
    for letter in name.chars() {
        match letter {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        match (letter, parts.last_mut()) {
            ('/', _) if open == 0 => parts.push(String::new()),
            (letter, Some(last)) => last.push(letter),
            (_, None) => {}
        }
    }
    // The last part is the operation itself.
    parts.pop();
    let parts = parts.into_iter().filter(|it| !it.is_empty());
    parts.map(|name| Segment { key: name.clone(), name }).collect()
}
