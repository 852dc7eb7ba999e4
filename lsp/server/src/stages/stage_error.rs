//! [`StageError`]: why a stage cannot be had from the cache.

use std::io;
use std::path::PathBuf;

use tower_lsp::lsp_types::Url;

use crate::settings::NotTrusted;

/// Why a stage, or its text, cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    #[error(transparent)]
    NotTrusted(#[from] NotTrusted),
    #[error("there is no folder for caches: the setting cacheFolder can name one")]
    NoFolder,
    #[error(
        "cannot make {}: {source}; the setting cacheFolder can name another one",
        folder.display()
    )]
    FolderNotMade { folder: PathBuf, source: io::Error },
    /// A newer compilation took its place in the cache.
    #[error("this {what} is no longer in the cache: ask again from the source")]
    Gone { what: &'static str },
    /// A file of the cache is not as it was written.
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
    #[error(transparent)]
    NotRead(#[from] io::Error),
    #[error("its {megabytes} MB are too many to show; it is {}", path.display())]
    TooLong { megabytes: u64, path: PathBuf },
    #[error("{0} names no stage")]
    NamesNone(Url),
    #[error("there is no stage {0}")]
    Missing(String),
    #[error("this document is not open")]
    NotOpen,
}
