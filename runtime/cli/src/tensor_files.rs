//! Tensors of a run as files that NumPy reads: one `.npz`, or a directory of `.npy`, each with a
//! list of what is in it, `tensors.json`. The list is written as it grows: a run may leave more
//! tensors than memory has room for their names.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use debug::TensorEntry;
use serde_json::Value;
use vmfb::WholeFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The list of what is there.
const LIST: &str = "tensors.json";

/// Where tensors are written.
pub(crate) struct TensorFiles {
    place: TensorStore,
    list: List,
}

/// One archive, or a directory.
enum TensorStore {
    Archive(Box<ZipWriter<BufWriter<WholeFile>>>),
    Directory(PathBuf),
}

/// The list while it grows: a JSON array without its end.
struct List {
    file: BufWriter<File>,
    count: usize,
}

impl List {
    fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), count: 0 }
    }

    fn push(&mut self, row: &Value) -> io::Result<()> {
        self.file.write_all(if self.count == 0 { b"[\n" } else { b",\n" })?;
        self.count += 1;
        serde_json::to_writer_pretty(&mut self.file, row).map_err(io::Error::other)
    }

    fn finish(mut self) -> io::Result<File> {
        self.file.write_all(if self.count == 0 { b"[]\n" } else { b"\n]\n" })?;
        self.file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl TensorFiles {
    /// One archive, which replaces a file at the path.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn archive(path: &Path) -> io::Result<Self> {
        let file = WholeFile::create(path)?;
        let place = TensorStore::Archive(Box::new(ZipWriter::new(BufWriter::new(file))));
        Ok(Self { place, list: List::new(tempfile::tempfile()?) })
    }

    /// A directory, which is made if it is not there.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn directory(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        let list = List::new(tempfile::tempfile()?);
        Ok(Self { place: TensorStore::Directory(path.to_owned()), list })
    }

    /// Writes a tensor; `data` describes it. One that NumPy has no type for is only listed, with
    /// the reason.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn add(&mut self, entry: &TensorEntry, mut data: Value) -> io::Result<()> {
        let own = entry.names.first().cloned();
        let own = own.unwrap_or_else(|| format!("@{}", entry.dispatch));
        let key = format!("{:06}.{own}", self.list.count);
        let contents = match &entry.value {
            Ok(tensor) => tensor.npy().map_err(|error| error.to_string()),
            Err(reason) => Err(reason.to_string()),
        };
        match contents {
            Ok(contents) => {
                let name = self.write(&key, &contents)?;
                data["npy"] = name.into();
            }
            Err(reason) => data["missing"] = reason.into(),
        }
        data["key"] = key.into();
        self.list.push(&data)
    }

    /// Writes the list. Without it, an archive is not complete.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn finish(self) -> io::Result<()> {
        let mut list = self.list.finish()?;
        let length = list.seek(SeekFrom::End(0))?;
        list.seek(SeekFrom::Start(0))?;
        let mut archive = match self.place {
            TensorStore::Archive(archive) => archive,
            TensorStore::Directory(path) => {
                let mut file = WholeFile::create(&path.join(LIST))?;
                io::copy(&mut list, &mut file)?;
                return file.finish();
            }
        };
        archive.start_file(LIST, options(length))?;
        io::copy(&mut list, &mut archive)?;
        let file = archive.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.finish()
    }

    /// Writes a member; returns its name.
    fn write(&mut self, key: &str, contents: &[u8]) -> io::Result<String> {
        match &mut self.place {
            TensorStore::Archive(archive) => {
                let name = format!("{key}.npy");
                put(archive, &name, contents)?;
                Ok(name)
            }
            TensorStore::Directory(path) => {
                // Names may hold anything; those of files may not.
                let plain = |it: char| it.is_alphanumeric() || "._-$@%#".contains(it);
                let name: String =
                    key.chars().map(|it| if plain(it) { it } else { '_' }).take(128).collect();
                let name = name + ".npy";
                WholeFile::write(&path.join(&name), contents)?;
                Ok(name)
            }
        }
    }
}

/// How a member of so many bytes is kept.
fn options(length: u64) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(length >= u64::from(u32::MAX))
}

fn put(
    archive: &mut ZipWriter<BufWriter<WholeFile>>,
    name: &str,
    contents: &[u8],
) -> io::Result<()> {
    archive.start_file(name, options(contents.len() as u64))?;
    archive.write_all(contents)
}
