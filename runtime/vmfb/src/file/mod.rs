//! The bytes of files, which may change on disk while they are held. Knows no format; uses
//! `load_error` only.

mod file_bytes;
mod mapping;

pub use file_bytes::{FileBytes, FileChange};
pub use mapping::PrivateMapping;

pub(crate) use file_bytes::ZIP_LOCAL_HEADER;
