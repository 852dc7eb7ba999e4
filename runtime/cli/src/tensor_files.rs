//! Tensors of a run as files that NumPy reads: one `.npz`, or a directory of `.npy`, each with a
//! list of what is in it, `tensors.json`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use abi::npy;
use debug::TensorEntry;
use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The list of what is there.
const LIST: &str = "tensors.json";

/// Where tensors are written.
pub(crate) enum TensorFiles {
    /// One archive.
    Archive(Box<ZipWriter<BufWriter<File>>>, Vec<Value>),
    /// A directory.
    Directory(PathBuf, Vec<Value>),
}

impl TensorFiles {
    /// One archive, which replaces a file at the path.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn archive(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        Ok(Self::Archive(Box::new(ZipWriter::new(BufWriter::new(file))), Vec::new()))
    }

    /// A directory, which is made if it is not there.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn directory(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        Ok(Self::Directory(path.to_owned(), Vec::new()))
    }

    /// Writes a tensor; `data` describes it. One that NumPy has no type for is only listed, with
    /// the reason.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn add(&mut self, entry: &TensorEntry, mut data: Value) -> io::Result<()> {
        let own = entry.names.first().cloned();
        let own = own.unwrap_or_else(|| format!("@{}", entry.dispatch));
        let key = format!("{:06}.{own}", self.list().len());
        let contents = match &entry.value {
            Ok(tensor) => match tensor.tensor().map(|tensor| npy::write(&tensor)) {
                Some(written) => written.map_err(|error| error.to_string()),
                None => Err("its elements do not lie whole bytes apart".to_owned()),
            },
            Err(reason) => Err(reason.clone()),
        };
        match contents {
            Ok(contents) => {
                let name = self.write(&key, &contents)?;
                data["npy"] = name.into();
            }
            Err(reason) => data["missing"] = reason.into(),
        }
        data["key"] = key.into();
        self.list().push(data);
        Ok(())
    }

    /// Writes the list. Without it, an archive is not complete.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Archive(mut archive, list) => {
                put(&mut archive, LIST, &text(&list)?)?;
                archive.finish()?.flush()
            }
            Self::Directory(path, list) => std::fs::write(path.join(LIST), text(&list)?),
        }
    }

    fn list(&mut self) -> &mut Vec<Value> {
        match self {
            Self::Archive(_, list) | Self::Directory(_, list) => list,
        }
    }

    /// Writes a member; returns its name.
    fn write(&mut self, key: &str, contents: &[u8]) -> io::Result<String> {
        match self {
            Self::Archive(archive, _) => {
                let name = format!("{key}.npy");
                put(archive, &name, contents)?;
                Ok(name)
            }
            Self::Directory(path, _) => {
                // Names may hold anything; those of files may not.
                let plain = |it: char| it.is_alphanumeric() || "._-$@%#".contains(it);
                let name: String =
                    key.chars().map(|it| if plain(it) { it } else { '_' }).take(128).collect();
                let name = name + ".npy";
                std::fs::write(path.join(&name), contents)?;
                Ok(name)
            }
        }
    }
}

fn text(list: &[Value]) -> io::Result<Vec<u8>> {
    serde_json::to_vec_pretty(list).map_err(io::Error::other)
}

fn put(archive: &mut ZipWriter<BufWriter<File>>, name: &str, contents: &[u8]) -> io::Result<()> {
    let is_large = contents.len() as u64 >= u64::from(u32::MAX);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(is_large);
    archive.start_file(name, options)?;
    archive.write_all(contents)
}
