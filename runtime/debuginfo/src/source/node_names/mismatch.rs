//! Where a text and an ONNX model part.

/// Why names of a model are not those of a text, or not all of them.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Mismatch {
    #[error("{0}")]
    Unreadable(String),
    #[error(transparent)]
    NotAModel(#[from] prost::DecodeError),
    #[error("it has no graph")]
    NoGraph,
    #[error("the text has no function {0:?}")]
    NoFunction(String),
    #[error("the function is empty")]
    Empty,
    #[error("two of its constants have one name")]
    TwoOfOneName,
    #[error("it has {theirs} inputs, the function {ours} arguments")]
    Inputs { theirs: usize, ours: usize },
    #[error("the text ends before {origin}")]
    TextEnds { origin: String },
    #[error("it ends before line {line}")]
    ModelEnds { line: u32 },
    #[error("{origin} is not what line {line} has")]
    Differs { origin: String, line: u32 },
    #[error("it has other results")]
    OtherResults,
}
