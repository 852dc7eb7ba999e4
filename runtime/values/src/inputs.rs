//! Arguments from text: the meaning of `--input=`.
//!
//! ```text
//! 7  0x10  2.5                      a scalar
//! (null)  (ignored)                 null, or zero
//! 2x2xf32=[1 2][3 4]  4xi8=1  4xi8  a tensor: values, one for all, zeros
//! 2x2xf32=@x.bin  2x2xf32=+x.bin    a tensor with the bytes of a file; `+`: where the last ended
//! @x.npy  +x.npy                    the first array of a NumPy file, the next one
//! *x.npy                            all remaining arrays in it, one argument each
//! &2x2xf32  &2x2xf32=…              memory of that size, for functions that write results to it
//! ```
//!
//! The syntax is `iree-run-module`'s. Tensors become device memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use abi::cconv::{Signature, ValueType};
use abi::npy::{self, NpyError};
use abi::tensor::{Tensor, TensorError, TensorType, unquote};
use hal::{BufferView, Host};
use vm::{Ref, Status, Value};
use vmfb::FileBytes;

use crate::input_files::{InputFiles, Mark, NamedFile, named_file};

/// The most bytes of a tensor.
const LARGEST: usize = 16 << 30;

/// The most bytes of arrays that are read of a pipe or a device.
const MOST_OF_A_STREAM: usize = 1 << 30;

/// Why a text is not an argument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct InputError(Box<ErrorKind>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ErrorKind {
    #[error(transparent)]
    Scalar(vm::value_text::InputError),
    #[error("{reason}; parsing input `{text}`")]
    Tensor { text: String, reason: Reason },
}

/// The reasons. Each text begins with the name of a status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Reason {
    #[error("INVALID_ARGUMENT; no value specified for input")]
    Empty,
    #[error("INVALID_ARGUMENT; function expected fewer input values")]
    TooMany,
    #[error(
        "INVALID_ARGUMENT; function signature mismatch: the argument is a tensor, and the function takes {0}"
    )]
    NoReference(ValueType),
    #[error(
        "INVALID_ARGUMENT; invalid tensor specification, requires at least a shape/type (`4x2xf32=...`)"
    )]
    NoShape,
    #[error(
        "UNIMPLEMENTED; only numpy (.npy) files are supported without a shape and type before them \
         (`4x2xf32=@file.bin`)"
    )]
    NotNumpy,
    #[error("{}; {}", .0.status_name(), .0)]
    Tensor(#[from] TensorError),
    #[error("{}; {path}: {error}", error.status_name())]
    Npy { path: String, error: NpyError },
    #[error("OUT_OF_RANGE; {path}: end-of-file")]
    EndOfFile { path: String },
    #[error(
        "OUT_OF_RANGE; {path}: {tensor_type} takes {needed} bytes, and {available} are left in the file"
    )]
    Truncated { path: String, tensor_type: TensorType, needed: usize, available: usize },
    #[error("UNKNOWN; unable to open file `{path}`: {error}")]
    File { path: String, error: String },
    #[error("NOT_FOUND; the recording has no file `{path}`, and no others are read for it")]
    NotThere { path: String },
    #[error(transparent)]
    Memory(#[from] Status),
    #[error(transparent)]
    Scalar(#[from] vm::value_text::InputError),
}

/// A value from text.
#[derive(Clone, Debug)]
pub struct Input {
    /// The value.
    pub(crate) value: Value,
    /// Whether the text is `(ignored)`.
    pub(crate) is_ignored: bool,
}

/// Reads arguments for the first parameters of `signature`. Does not check that there are enough of
/// them; the call does.
///
/// # Errors
/// A text is not a value of its parameter's type, or there is one too many. The first such text is
/// reported.
pub fn parse_inputs<T: AsRef<str>>(
    host: &Host,
    signature: &Signature,
    texts: &[T],
) -> Result<Vec<Value>, InputError> {
    parse_inputs_from(host, signature, texts, &InputFiles::OnDisk)
}

/// Reads arguments as [`parse_inputs`] does, with files from these.
///
/// # Errors
/// As there, or a text names a file that is not one of these.
pub fn parse_inputs_from<T: AsRef<str>>(
    host: &Host,
    signature: &Signature,
    texts: &[T],
    files: &InputFiles,
) -> Result<Vec<Value>, InputError> {
    let inputs = parse_all(host, &signature.arguments, texts, files)?;
    Ok(inputs.into_iter().map(|input| input.value).collect())
}

/// Reads values of the given types; see [`parse_inputs`].
///
/// # Errors
/// A text is not a value of its type, or there is one too many. The first such text is reported.
pub fn parse_values<T: AsRef<str>>(
    host: &Host,
    types: &[ValueType],
    texts: &[T],
) -> Result<Vec<Input>, InputError> {
    parse_all(host, types, texts, &InputFiles::OnDisk)
}

fn parse_all<T: AsRef<str>>(
    host: &Host,
    types: &[ValueType],
    texts: &[T],
    files: &InputFiles,
) -> Result<Vec<Input>, InputError> {
    let files = Files { origin: files, open: HashMap::new() };
    let mut parser = Parser { host, types: types.iter(), files, inputs: Vec::new() };
    for text in texts {
        let text = text.as_ref().trim();
        parser.parse(text).map_err(|reason| {
            InputError(Box::new(match reason {
                Reason::Scalar(error) => ErrorKind::Scalar(error),
                reason => ErrorKind::Tensor { text: text.to_owned(), reason },
            }))
        })?;
    }
    Ok(parser.inputs)
}

struct Parser<'p> {
    host: &'p Host,
    types: std::slice::Iter<'p, ValueType>,
    files: Files<'p>,
    inputs: Vec<Input>,
}

impl Parser<'_> {
    fn parse(&mut self, text: &str) -> Result<(), Reason> {
        let is_ignored = vm::value_text::is_ignored(text);
        if text.is_empty() {
            return Err(Reason::Empty);
        }
        if let Some(NamedFile { tensor: None, mark, path }) = named_file(text) {
            return self.arrays(mark, path);
        }
        if let Some(text) = text.strip_prefix('&') {
            let view = self.reference(|parser| parser.tensor(text))?;
            return self.push(Value::Ref(Ref::object(view.buffer().clone())));
        }
        let value_type = self.types.next().ok_or(Reason::TooMany)?;
        let value = match value_type {
            ValueType::Ref if !is_ignored => {
                if !text.contains(['=', 'x']) {
                    return Err(Reason::NoShape);
                }
                Value::Ref(Ref::object(self.tensor(text)?))
            }
            value_type => {
                let values =
                    vm::value_text::parse_values(std::slice::from_ref(value_type), &[text])?;
                values.into_iter().next().ok_or(Reason::Empty)?
            }
        };
        self.inputs.push(Input { value, is_ignored });
        Ok(())
    }

    fn push(&mut self, value: Value) -> Result<(), Reason> {
        self.inputs.push(Input { value, is_ignored: false });
        Ok(())
    }

    /// Makes a value for the next parameter, which must be a reference.
    fn reference<T>(
        &mut self,
        make: impl FnOnce(&mut Self) -> Result<T, Reason>,
    ) -> Result<T, Reason> {
        match self.types.next() {
            Some(ValueType::Ref) => make(self),
            Some(other) => Err(Reason::NoReference(other.clone())),
            None => Err(Reason::TooMany),
        }
    }

    /// A tensor with its shape and type in the text.
    fn tensor(&mut self, text: &str) -> Result<BufferView, Reason> {
        let Some(NamedFile { tensor: Some(tensor_type), mark, path }) = named_file(text) else {
            return self.values(text);
        };
        let tensor_type = TensorType::parse(unquote(tensor_type))?;
        let needed = tensor_type.byte_length(LARGEST)?;
        let file = self.files.open(path, mark == Mark::First)?;
        file.fill(path, needed)?;
        let rest = file.rest();
        let bytes = rest.get(..needed).ok_or_else(|| Reason::Truncated {
            path: path.to_owned(),
            tensor_type: tensor_type.clone(),
            needed,
            available: rest.len(),
        })?;
        let view = self.host.import_tensor(&tensor_type, bytes)?;
        file.position += needed;
        Ok(view)
    }

    /// A tensor with shape, type and values in the text.
    fn values(&self, text: &str) -> Result<BufferView, Reason> {
        let tensor = Tensor::parse(text, LARGEST)?;
        Ok(self.host.import_tensor(&tensor.tensor_type(), &tensor.bytes)?)
    }

    /// Reads one array of a NumPy file, or all remaining ones.
    fn arrays(&mut self, mark: Mark, path: &str) -> Result<(), Reason> {
        if !path.ends_with(".npy") {
            return Err(Reason::NotNumpy);
        }
        self.files.open(path, mark == Mark::First)?;
        let is_all = mark == Mark::All;
        loop {
            let file = self.files.open(path, false)?;
            file.fill(path, MOST_OF_A_STREAM)?;
            if file.rest().is_empty() && is_all {
                return Ok(());
            }
            let view = self.reference(|parser| parser.array(path))?;
            self.push(Value::Ref(Ref::object(view)))?;
            if !is_all {
                return Ok(());
            }
        }
    }

    fn array(&mut self, path: &str) -> Result<BufferView, Reason> {
        let file = self.files.open(path, false)?;
        file.fill(path, MOST_OF_A_STREAM)?;
        let rest = file.rest();
        if rest.is_empty() {
            return Err(Reason::EndOfFile { path: path.to_owned() });
        }
        let header = npy::Header::read(rest)
            .map_err(|error| Reason::Npy { path: path.to_owned(), error })?;
        let end = header.data.end;
        let view = self.host.import_tensor(&header.tensor_type, &rest[header.data])?;
        file.position += end;
        Ok(view)
    }
}

/// The files that arguments come from, each with the position of the next read.
struct Files<'p> {
    origin: &'p InputFiles,
    open: HashMap<String, OpenFile>,
}

struct OpenFile {
    bytes: FileBytes,
    position: usize,
    /// What is not read yet, of a pipe or a device, which may have no end.
    stream: Option<File>,
}

impl OpenFile {
    /// Reads what is missing of so many bytes after the position, as far as there are.
    fn fill(&mut self, path: &str, length: usize) -> Result<(), Reason> {
        let missing = length.saturating_sub(self.rest().len());
        let Some(stream) = self.stream.as_mut().filter(|_| missing > 0) else { return Ok(()) };
        let mut bytes = std::mem::replace(&mut self.bytes, Vec::new().into()).into_owned();
        let read = stream.take(missing as u64).read_to_end(&mut bytes);
        self.bytes = bytes.into();
        read.map_err(|error| Reason::File { path: path.to_owned(), error: error.to_string() })?;
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        self.bytes.owned().get(self.position..).unwrap_or_default()
    }
}

impl Files<'_> {
    /// The file at `path`, at its start or at its position.
    fn open(&mut self, path: &str, from_start: bool) -> Result<&mut OpenFile, Reason> {
        if !self.open.contains_key(path) {
            let (bytes, stream) = match self.origin {
                InputFiles::OnDisk => read(path)?,
                InputFiles::InMemory(files) => {
                    let not_there = || Reason::NotThere { path: path.to_owned() };
                    (files.get(path).ok_or_else(not_there)?.clone(), None)
                }
            };
            self.open.insert(path.to_owned(), OpenFile { bytes, position: 0, stream });
        }
        let file = self.open.get_mut(path).ok_or(Reason::Empty)?;
        if from_start {
            file.position = 0;
        }
        Ok(file)
    }
}

/// Reads a file. Of a pipe or a device nothing is read yet.
fn read(path: &str) -> Result<(FileBytes, Option<File>), Reason> {
    let failed = |error: String| Reason::File { path: path.to_owned(), error };
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| failed(error.to_string()))?;
    if !metadata.is_file() {
        return Ok((Vec::new().into(), Some(file)));
    }
    let bytes = FileBytes::read(Path::new(path)).map_err(|error| failed(error.to_string()))?;
    Ok((bytes, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal::Config;

    fn parse(signature: &str, texts: &[&str]) -> Result<String, String> {
        let host = Host::new(&Config::default());
        let signature = Signature::parse(signature).unwrap();
        let values = parse_inputs(&host, &signature, texts).map_err(|error| error.to_string())?;
        Ok(vm::value_text::format_values("input", &values))
    }

    #[test]
    fn values_of_every_form() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let arrays: Vec<u8> = ["2xf32=1 2", "3xui8=3 4 5", "si64=6"]
            .into_iter()
            .flat_map(|text| npy::write(&Tensor::parse(text, 64).unwrap()).unwrap())
            .collect();
        std::fs::write(path("x.npy"), arrays).unwrap();
        std::fs::write(path("x.bin"), [1, 0, 2, 0, 3, 0]).unwrap();
        let (npy, bin) = (path("x.npy"), path("x.bin"));
        let text = parse(
            "0irrrrrrrr_v",
            &[
                "7",
                "2xi4=1",
                &format!("*{npy}"),
                &format!("@{npy}"),
                &format!("+{npy}"),
                &format!("2xi16=@{bin}"),
                &format!("&1xi16=+{bin}"),
            ],
        );
        assert_eq!(
            text.unwrap(),
            "input[0]: i32=7\ninput[1]: hal.buffer_view\n2xi4=1 1\ninput[2]: hal.buffer_view\n2xf32=1 2\n\
             input[3]: hal.buffer_view\n3xui8=3 4 5\ninput[4]: hal.buffer_view\nsi64=6\n\
             input[5]: hal.buffer_view\n2xf32=1 2\ninput[6]: hal.buffer_view\n3xui8=3 4 5\n\
             input[7]: hal.buffer_view\n2xi16=1 2\ninput[8]: hal.buffer\n(no printer)\n"
        );
        let error = parse("0r_v", &[&format!("4xi16=@{bin}")]).unwrap_err();
        assert!(error.contains("4xi16 takes 8 bytes, and 6 are left"), "{error}");
        let error = parse("0rrr_v", &[&format!("*{npy}"), &format!("+{npy}")]).unwrap_err();
        assert!(error.contains("end-of-file") || error.contains("fewer input values"), "{error}");
        let error = parse("0rr_v", &[&format!("*{npy}")]).unwrap_err();
        assert!(error.contains("fewer input values"), "{error}");
    }

    #[test]
    fn files_in_memory_are_the_only_ones() {
        let host = Host::new(&Config::default());
        let signature = Signature::parse("0r_v").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("a=b.npy").display().to_string();
        std::fs::write(&outside, npy::write(&Tensor::parse("f32=4242", 64).unwrap()).unwrap())
            .unwrap();
        let files = HashMap::from([("0/x.bin".to_owned(), FileBytes::from(vec![1, 2]))]);
        let files = InputFiles::InMemory(files);
        let parsed = |text: &str| {
            parse_inputs_from(&host, &signature, &[text], &files)
                .map(|values| vm::value_text::format_values("input", &values))
                .map_err(|error| error.to_string())
        };
        assert!(parsed("2xi8=@0/x.bin").unwrap().contains("2xi8=1 2"));
        for mark in ["@", "+", "*", "f32=@", "&f32=+"] {
            assert!(parse_inputs(&host, &signature, &[format!("{mark}{outside}")]).is_ok());
            let error = parsed(&format!("{mark}{outside}")).unwrap_err();
            assert!(error.contains("the recording has no file"), "{error}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (signature, text, message) in [
            ("0r_v", "", "no value specified for input"),
            ("0_v", "1", "function expected fewer input values"),
            ("0i_v", "@x.npy", "unable to open file `x.npy`"),
            ("0r_v", "@x.txt", "only numpy"),
            ("0i_v", "&4xf32", "the argument is a tensor, and the function takes i32"),
            ("0r_v", "5", "requires at least a shape/type"),
            ("0r_v", "4xf32=1 2", "OUT_OF_RANGE; 2 values for 4 elements"),
            ("0r_v", "99999999999999xf32", "RESOURCE_EXHAUSTED; "),
            ("0i_v", "abc", "INVALID_ARGUMENT; parsing value `abc` as i32"),
        ] {
            let error = parse(signature, &[text]).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
            assert!(error.ends_with(&format!("; parsing input `{text}`")), "{error}");
        }
    }
}
