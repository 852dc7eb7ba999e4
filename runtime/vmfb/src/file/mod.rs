//! The bytes of files, which may change on disk while they are held, and files that are written
//! whole. Knows no format; uses
//! `load_error` only.

mod file_bytes;
mod mapping;
mod whole_file;

pub use file_bytes::{FileBytes, FileChange};
pub use mapping::PrivateMapping;
pub use whole_file::{WholeFile, read_to_its_end, read_up_to};

pub(crate) use file_bytes::ZIP_LOCAL_HEADER;
