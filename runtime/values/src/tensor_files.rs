//! Files of tensors: `.npy`, archives of parameters, and plain bytes. They are mapped, not read: a
//! file of any size opens at once. And the constants of programs: of a `.mlir` those that are
//! written as digits, of a `.vmfb` those that its debug file finds in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abi::npy::{self, NpyError};
use abi::tensor::TensorType;
use debuginfo::{DebugFile, DebugFileError, LongConstant, long_constants, module_weights};
use hal::{Entry, Parameters};
use vm::Buffer;
use vmfb::FileBytes;

/// The largest buffer that is made for a parameter that is a repeated pattern.
const LARGEST_SPLAT: u64 = 1 << 30;

/// Why a file gives no tensor.
#[derive(Debug, thiserror::Error)]
pub enum TensorFileError {
    /// The system does not open it.
    #[error(transparent)]
    Load(#[from] vmfb::LoadError),
    /// It is no `.npy` file.
    #[error("{}: {source}", path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// Why it is none.
        source: NpyError,
    },
    /// It is no archive of parameters, or its memory cannot be had.
    #[error("{}", .0.message)]
    Parameters(#[from] vm::Status),
    /// It is a text, and not in UTF-8.
    #[error("{} is no text in UTF-8", .0.display())]
    Text(PathBuf),
    /// The debug file of a module cannot be used.
    #[error(transparent)]
    DebugFile(#[from] DebugFileError),
    /// A module is alone.
    #[error(
        "{0} has no debug file beside it, which says where its constants are; \
             `iree-dbg compile` writes one"
    )]
    NoDebugFile(String),
    /// A file of a program has changed since it was opened.
    #[error("{0} is no longer there: its file has changed since it was opened")]
    Changed(String),
    /// It has no tensors.
    #[error("the file has no tensors")]
    Empty,
    /// It has several, and none of them was named.
    #[error("the file has {0} tensors; name one of them")]
    Several(usize),
    /// It has no tensor of that name.
    #[error("the file has no tensor {0:?}")]
    Missing(String),
    /// Neither the file nor the user says what type it has.
    #[error("{name} states no type; it has {length} bytes: give its type, such as 4x8xf32")]
    Untyped {
        /// The tensor.
        name: String,
        /// Its size in bytes.
        length: u64,
    },
    /// Its type is none whose elements are numbers.
    #[error("{0} is no type of a tensor whose elements are numbers")]
    NotNumbers(String),
    /// It is too large for this machine.
    #[error(transparent)]
    TooLarge(#[from] std::num::TryFromIntError),
    /// A type has no size here.
    #[error(transparent)]
    Size(#[from] abi::tensor::TensorError),
    /// It has another size than its type.
    #[error("{ty} takes {needed} bytes, and {name} has {length}")]
    OtherSize {
        /// The type.
        ty: String,
        /// How many bytes that takes.
        needed: usize,
        /// The tensor.
        name: String,
        /// How many it has.
        length: usize,
    },
    /// It is a pattern that would fill too much memory.
    #[error("{0} cannot be mapped")]
    NotMapped(String),
}

/// A file of tensors.
#[derive(Debug)]
pub struct TensorFile {
    tensors: Vec<FileTensor>,
}

/// A tensor of a file.
#[derive(Debug)]
pub struct FileTensor {
    /// Its name in the file; a file of one tensor has the file's name.
    pub name: String,
    /// Its type as the file states it: `4x8xf32`, or a format of blocks such as `32x64xQ4_0`. An
    /// `.irpa` and plain bytes state none.
    pub stated_type: Option<String>,
    /// How many bytes it has.
    pub length: u64,
    /// The line of a source that writes it, from 1.
    pub line: Option<u32>,
    data: Data,
}

#[derive(Debug)]
enum Data {
    Mapped(FileBytes, std::ops::Range<usize>),
    Parameter(Entry),
    /// Digits of a text.
    Written(Arc<String>, LongConstant),
    /// A constant that a debug file finds in its module, by the name that it has there.
    OfModule(DebugFile, String),
}

impl TensorFile {
    /// Opens a file; its extension says what it is.
    ///
    /// # Errors
    /// [`TensorFileError`]: it cannot be read, or is not what its extension says.
    pub fn open(path: &Path) -> Result<Self, TensorFileError> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("npy") => Self::of_numpy(path),
            Some("mlir") => Self::of_source(path),
            Some("vmfb") => Self::of_module(path),
            _ => Self::of_parameters(path),
        }
    }

    fn of_parameters(path: &Path) -> Result<Self, TensorFileError> {
        let parameters = Parameters::open_file(path)?;
        let index = parameters.scope("")?;
        let tensors = index.entries().map(|entry| FileTensor {
            name: entry.key().to_owned(),
            stated_type: entry.stated_type().map(str::to_owned),
            length: entry.length,
            line: None,
            data: Data::Parameter(entry.clone()),
        });
        Ok(Self { tensors: tensors.collect() })
    }

    fn of_numpy(path: &Path) -> Result<Self, TensorFileError> {
        let bytes = FileBytes::open(path)?;
        let header = npy::Header::read_first(bytes.owned(), bytes.len());
        let header =
            header.map_err(|source| TensorFileError::Npy { path: path.to_owned(), source })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let tensor = FileTensor {
            name,
            stated_type: Some(header.tensor_type.to_string()),
            length: header.data.len() as u64,
            line: None,
            data: Data::Mapped(bytes, header.data),
        };
        Ok(Self { tensors: vec![tensor] })
    }

    fn of_source(path: &Path) -> Result<Self, TensorFileError> {
        let text = String::from_utf8(FileBytes::read(path)?.into_owned());
        let text = Arc::new(text.map_err(|_| TensorFileError::Text(path.to_owned()))?);
        let tensors = long_constants(&text).into_iter().map(|constant| FileTensor {
            name: constant.name.clone(),
            stated_type: Some(constant.tensor_type.to_string()),
            length: constant.length() as u64,
            line: Some(constant.line),
            data: Data::Written(Arc::clone(&text), constant),
        });
        Ok(Self { tensors: tensors.collect() })
    }

    fn of_module(path: &Path) -> Result<Self, TensorFileError> {
        let file = DebugFile::for_module(path, &FileBytes::open(path)?, None)?;
        let file = file.ok_or_else(|| TensorFileError::NoDebugFile(path.display().to_string()))?;
        let weights = module_weights(path.parent().unwrap_or(Path::new("")), &file);
        let tensors = weights.into_iter().map(|weight| FileTensor {
            name: weight.name,
            stated_type: Some(weight.tensor_type.to_string()),
            length: weight.range.end - weight.range.start,
            line: None,
            data: Data::OfModule(file.clone(), weight.elided),
        });
        Ok(Self { tensors: tensors.collect() })
    }

    /// Its tensors, in the order of the file.
    #[must_use]
    pub fn tensors(&self) -> &[FileTensor] {
        &self.tensors
    }

    /// The tensor with a name; of a file with one tensor, without a name that one.
    ///
    /// # Errors
    /// [`TensorFileError`]: there is none.
    pub fn tensor(&self, name: Option<&str>) -> Result<&FileTensor, TensorFileError> {
        match (name, self.tensors.as_slice()) {
            (None, [only]) => Ok(only),
            (None, []) => Err(TensorFileError::Empty),
            (None, all) => Err(TensorFileError::Several(all.len())),
            (Some(name), all) => {
                let found = all.iter().find(|it| it.name == name);
                found.ok_or_else(|| TensorFileError::Missing(name.to_owned()))
            }
        }
    }
}

impl FileTensor {
    /// Its memory and its type, which is `declared` if the file states none.
    ///
    /// # Errors
    /// [`TensorFileError`]: the type is not known, has no numbers, or does not fit the bytes.
    pub fn load(
        &self,
        declared: Option<&str>,
    ) -> Result<(Arc<Buffer>, TensorType), TensorFileError> {
        let text = declared.or(self.stated_type.as_deref());
        let text = text.ok_or_else(|| TensorFileError::Untyped {
            name: self.name.clone(),
            length: self.length,
        })?;
        let tensor_type = TensorType::parse(text.trim())
            .map_err(|_| TensorFileError::NotNumbers(text.to_owned()))?;
        let length = usize::try_from(self.length)?;
        let needed = tensor_type.byte_length(usize::MAX)?;
        if needed != length {
            let (ty, name) = (text.to_owned(), self.name.clone());
            return Err(TensorFileError::OtherSize { ty, needed, name, length });
        }
        Ok((Arc::new(self.memory()?), tensor_type))
    }

    fn memory(&self) -> Result<Buffer, TensorFileError> {
        let owned = |bytes: Option<Vec<u8>>| {
            let bytes = bytes.ok_or_else(|| TensorFileError::Changed(self.name.clone()))?;
            Ok(Buffer::from_bytes(&bytes)?)
        };
        let mapped = match &self.data {
            Data::Mapped(bytes, range) => Buffer::of_file(bytes.clone(), range.clone()),
            Data::Written(text, constant) => return owned(constant.bytes(text)),
            Data::OfModule(file, elided) => return owned(file.constant(elided)),
            Data::Parameter(entry) => match entry.mapped(0, self.length)? {
                None if self.length <= LARGEST_SPLAT => {
                    Some(Buffer::from_bytes(&entry.bytes(0, self.length)?)?)
                }
                mapped => mapped,
            },
        };
        mapped.ok_or_else(|| TensorFileError::NotMapped(self.name.clone()))
    }
}
