//! What memory held at an earlier time, or why that is not known.

/// Why it is not known what memory held at an earlier time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, thiserror::Error)]
pub enum PastLost {
    /// Nothing was kept then.
    #[default]
    #[error("nothing was recorded then")]
    NotKept,
    /// It was forgotten, as what was overwritten later took too much memory.
    #[error("forgotten for lack of memory")]
    NoRoom,
    /// A dispatch has overwritten it that overwrites more than is kept.
    #[error("not kept, as its dispatch overwrites too much at once; `record` keeps it")]
    LargeDispatch,
    /// What has changed it is not known for certain.
    #[error("whether something else had changed it before is not known; `record` tells")]
    Uncertain,
    /// Memory was changed since by other means than the program's.
    #[error("forgotten when values were changed, or another call began")]
    Changed,
    /// It is a constant of the program, of which writes are not kept.
    #[error("large constants are not kept")]
    Constant,
    /// Something outside of the program may write it.
    #[error("something outside of the program may have written it")]
    Shared,
    /// The memory was released.
    #[error("its memory was released")]
    Released,
    /// What was kept went to a file that cannot be read.
    #[error("the temporary file with it cannot be read")]
    Unread,
}

/// What memory held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Past {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether that is certain. It is not where a dispatch has run since of which only is known
    /// what its text says that it writes.
    pub is_certain: bool,
}
