//! Files of tensors: `.npy`, archives of parameters, and plain bytes. They are mapped, not read: a
//! file of any size opens at once.

use std::path::Path;
use std::sync::Arc;

use abi::npy;
use abi::tensor::TensorType;
use hal::{Entry, Parameters};
use vm::Buffer;
use vmfb::FileBytes;

/// The largest buffer that is made for a parameter that is a repeated pattern.
const LARGEST_SPLAT: u64 = 1 << 30;

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
    data: Data,
}

#[derive(Debug)]
enum Data {
    Mapped(FileBytes, std::ops::Range<usize>),
    Parameter(Entry),
}

impl TensorFile {
    /// Opens a file; its extension says what it is.
    ///
    /// # Errors
    /// It cannot be read, or is not what its extension says.
    pub fn open(path: &Path) -> Result<Self, String> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        if extension != "npy" {
            let parameters = Parameters::open_file(path).map_err(|status| status.message)?;
            let index = parameters.scope("").map_err(|status| status.message)?;
            let tensors = index.entries().map(|entry| FileTensor {
                name: entry.key().to_owned(),
                stated_type: entry.stated_type().map(str::to_owned),
                length: entry.length,
                data: Data::Parameter(entry.clone()),
            });
            return Ok(Self { tensors: tensors.collect() });
        }
        let bytes = FileBytes::open(path).map_err(|error| error.to_string())?;
        let header = npy::Header::read_first(bytes.owned(), bytes.len());
        let header = header.map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let tensor = FileTensor {
            name,
            stated_type: Some(header.tensor_type.to_string()),
            length: header.data.len() as u64,
            data: Data::Mapped(bytes, header.data),
        };
        Ok(Self { tensors: vec![tensor] })
    }

    /// Its tensors, in the order of the file.
    #[must_use]
    pub fn tensors(&self) -> &[FileTensor] {
        &self.tensors
    }

    /// The tensor with a name; of a file with one tensor, without a name that one.
    ///
    /// # Errors
    /// There is none.
    pub fn tensor(&self, name: Option<&str>) -> Result<&FileTensor, String> {
        match (name, self.tensors.as_slice()) {
            (None, [only]) => Ok(only),
            (None, []) => Err("the file has no tensors".to_owned()),
            (None, all) => Err(format!("the file has {} tensors; name one of them", all.len())),
            (Some(name), all) => {
                let found = all.iter().find(|it| it.name == name);
                found.ok_or_else(|| format!("the file has no tensor {name:?}"))
            }
        }
    }
}

impl FileTensor {
    /// Its memory and its type, which is `declared` if the file states none.
    ///
    /// # Errors
    /// The type is not known, has no numbers, or does not fit the bytes.
    pub fn load(&self, declared: Option<&str>) -> Result<(Arc<Buffer>, TensorType), String> {
        let text = declared.or(self.stated_type.as_deref());
        let text = text.ok_or_else(|| {
            format!(
                "{} states no type; it has {} bytes: give its type, such as 4x8xf32",
                self.name, self.length
            )
        })?;
        let tensor_type = TensorType::parse(text.trim())
            .map_err(|_| format!("{text} is no type of a tensor whose elements are numbers"))?;
        let length = usize::try_from(self.length).map_err(|error| error.to_string())?;
        let needed = tensor_type.byte_length(usize::MAX).map_err(|error| error.to_string())?;
        if needed != length {
            return Err(format!("{text} takes {needed} bytes, and {} has {length}", self.name));
        }
        let told = |status: vm::Status| status.message;
        let buffer = match &self.data {
            Data::Mapped(bytes, range) => Buffer::of_file(bytes.clone(), range.clone()),
            Data::Parameter(entry) => entry.mapped(0, self.length).map_err(told)?,
        };
        let buffer = match (buffer, &self.data) {
            (Some(buffer), _) => buffer,
            (None, Data::Parameter(entry)) if self.length <= LARGEST_SPLAT => {
                let bytes = entry.bytes(0, self.length).map_err(told)?;
                Buffer::from_bytes(&bytes).map_err(told)?
            }
            (None, _) => return Err(format!("{} cannot be mapped", self.name)),
        };
        Ok((Arc::new(buffer), tensor_type))
    }
}
