//! Parameters: named bytes outside of modules, in archives. Large ones are mapped and never read as
//! a whole.
//!
//! ```text
//! Parameters   scope → Index          --parameters=[scope=]file, several files to a scope
//! Index        key → Entry            in the order of the files; the first of a key counts
//! Entry        length, and a range of a mapped file or a pattern to repeat
//! ```
//!
//! | file | format |
//! | --- | --- |
//! | `irpa` | IREE's own archive, the only one with splats |
//! | `gguf` | llama.cpp |
//! | `safetensors` | Hugging Face |
//! | `raw` | one parameter a file: `.npy`, `.bin`, `.raw` |
//! | `reader` | checked access to the tables of untrusted files |
//!
//! `modules::io_parameters` hands them to programs.

mod gguf;
mod irpa;
mod raw;
mod reader;
mod safetensors;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vm::{Buffer, Status};
use vmfb::FileBytes;

/// An archive from which entries come.
#[derive(Clone, Debug)]
pub struct Source {
    bytes: FileBytes,
    path: Arc<Path>,
}

impl Source {
    fn open(path: &Path) -> Result<Self, Status> {
        let bytes = FileBytes::open(path).map_err(|error| Status::not_found(error.to_string()))?;
        Ok(Self { bytes, path: Arc::from(path) })
    }

    #[cfg(test)]
    fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes: FileBytes::from(bytes), path: Arc::from(Path::new("test")) }
    }

    /// The archive.
    #[must_use]
    pub fn bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// Where the archive is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A pattern that fills a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Splat {
    bytes: [u8; 16],
    length: u8,
}

impl Splat {
    /// The pattern, if it has a length that patterns have, which divides that of the parameter.
    fn new(pattern: &[u8], parameter_length: u64) -> Option<Self> {
        if !matches!(pattern.len(), 1 | 2 | 4 | 8 | 16)
            || !parameter_length.is_multiple_of(pattern.len() as u64)
        {
            return None;
        }
        let mut bytes = [0; 16];
        bytes[..pattern.len()].copy_from_slice(pattern);
        Some(Self { bytes, length: pattern.len() as u8 })
    }

    /// The pattern's bytes.
    #[must_use]
    pub fn pattern(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// What a parameter is made of.
#[derive(Clone, Debug)]
pub enum Contents {
    /// A range of an archive, inside of it.
    File {
        /// The archive.
        source: Source,
        /// Where the bytes begin.
        offset: u64,
    },
    /// A repeated pattern.
    Splat(Splat),
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name in the scope.
    pub key: String,
    /// How many bytes it has.
    pub length: u64,
    /// Where they come from.
    pub contents: Contents,
}

impl Entry {
    /// Whether the parameter has the range.
    ///
    /// # Errors
    /// It has not.
    pub fn check_range(&self, offset: u64, length: u64) -> Result<(), Status> {
        if offset <= self.length && length <= self.length - offset {
            return Ok(());
        }
        Err(Status::out_of_range(format!(
            "parameter `{}` range out of bounds (offset={offset}, length={length}, size={})",
            self.key, self.length
        )))
    }

    /// A range as a read-only buffer over the archive's mapping; `None` for a splat, which has no
    /// bytes of its own.
    ///
    /// # Errors
    /// The parameter does not have the range.
    pub fn mapped(&self, offset: u64, length: u64) -> Result<Option<Buffer>, Status> {
        self.check_range(offset, length)?;
        let Contents::File { source, offset: start } = &self.contents else { return Ok(None) };
        // The archive has the range, as `Index::add_data` saw.
        let start = (start + offset) as usize;
        Ok(Buffer::of_file(source.bytes.clone(), start..start + length as usize))
    }

    /// A copy of a range.
    ///
    /// # Errors
    /// The parameter does not have the range.
    pub fn bytes(&self, offset: u64, length: u64) -> Result<Vec<u8>, Status> {
        if let Some(buffer) = self.mapped(offset, length)? {
            return Ok(buffer.read(0, buffer.len()));
        }
        let Contents::Splat(splat) = &self.contents else { return Ok(Vec::new()) };
        let pattern = splat.pattern();
        let skipped = (offset % pattern.len() as u64) as usize;
        Ok(pattern.iter().copied().cycle().skip(skipped).take(length as usize).collect())
    }
}

/// The parameters of a scope.
#[derive(Clone, Debug, Default)]
pub struct Index {
    entries: Vec<Entry>,
    by_key: HashMap<String, usize>,
}

impl Index {
    /// All parameters in the order of their archives.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The parameter with the key.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, key: &str) -> Result<&Entry, Status> {
        self.by_key.get(key).map(|at| &self.entries[*at]).ok_or_else(|| {
            Status::not_found(format!("no parameter found in index with key '{key}'"))
        })
    }

    /// Adds the entries of the archive at `path`; its format is told by the extension.
    fn add_file(&mut self, path: &Path) -> Result<(), Status> {
        let extension = path.extension().or(path.file_name()).unwrap_or_default();
        let parse = match extension.to_ascii_lowercase().to_str() {
            Some("irpa") => irpa::parse,
            Some("gguf") => gguf::parse,
            Some("safetensors") => safetensors::parse,
            Some("npy") => raw::parse_npy,
            Some("bin" | "raw") => raw::parse,
            _ => {
                return Err(Status::unimplemented(format!(
                    "unsupported file format `{}`; ensure the extension matches one of the supported \
                     formats: [.irpa, .gguf, .safetensors, .npy, .bin, .raw]",
                    extension.display()
                )));
            }
        };
        parse(&Source::open(path)?, self)
    }

    fn add_splat(&mut self, key: &str, length: u64, splat: Splat) {
        self.add(Entry { key: key.to_owned(), length, contents: Contents::Splat(splat) });
    }

    /// Adds a range of an archive, if the archive has it.
    fn add_data(
        &mut self,
        key: &str,
        source: &Source,
        offset: u64,
        length: u64,
    ) -> Result<(), Status> {
        reader::range_within(&source.bytes, offset, length, &format!("the data of `{key}`"))?;
        let contents = Contents::File { source: source.clone(), offset };
        self.add(Entry { key: key.to_owned(), length, contents });
        Ok(())
    }

    fn add(&mut self, entry: Entry) {
        self.by_key.entry(entry.key.clone()).or_insert(self.entries.len());
        self.entries.push(entry);
    }
}

/// All parameters that programs can ask for, by scope.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    scopes: Vec<(String, Index)>,
    /// The archives, with their scopes, in the order in which they were named.
    opened: Vec<(String, PathBuf)>,
}

impl Parameters {
    /// Opens the archives of `[scope=]path` texts.
    ///
    /// # Errors
    /// An archive cannot be opened or is not what its extension says.
    pub fn open<T: AsRef<str>>(specs: &[T]) -> Result<Self, Status> {
        let mut parameters = Self::default();
        for spec in specs {
            let (scope, path) = spec.as_ref().split_once('=').unwrap_or(("", spec.as_ref()));
            parameters.add_file(scope, Path::new(path))?;
        }
        Ok(parameters)
    }

    /// Opens the same archives again, as they are now.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn reopen(&self) -> Result<Self, Status> {
        let mut parameters = Self::default();
        for (scope, path) in &self.opened {
            parameters.add_file(scope, path)?;
        }
        Ok(parameters)
    }

    /// Opens one archive, for the scope without a name.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn open_file(path: &Path) -> Result<Self, Status> {
        let mut parameters = Self::default();
        parameters.add_file("", path)?;
        Ok(parameters)
    }

    /// Whether the name of a file is that of an archive of parameters.
    #[must_use]
    pub fn is_archive(path: &Path) -> bool {
        let extension = path.extension().unwrap_or_default();
        ["irpa", "gguf", "safetensors"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    }

    fn add_file(&mut self, scope: &str, path: &Path) -> Result<(), Status> {
        self.opened.push((scope.to_owned(), path.to_owned()));
        let at = self.scopes.iter().position(|(name, _)| name == scope).unwrap_or_else(|| {
            self.scopes.push((scope.to_owned(), Index::default()));
            self.scopes.len() - 1
        });
        self.scopes[at].1.add_file(path).map_err(|mut error| {
            let path = path.display().to_string();
            // Errors of opening a file name it already.
            if !error.message.contains(&path) {
                error.message = format!("{path}: {}", error.message);
            }
            error
        })
    }

    /// All scopes; the one without a name is for programs that name none.
    pub fn scopes(&self) -> impl ExactSizeIterator<Item = (&str, &Index)> {
        self.scopes.iter().map(|(scope, index)| (scope.as_str(), index))
    }

    /// The parameters of a scope.
    ///
    /// # Errors
    /// No archive was given for it.
    pub fn scope(&self, scope: &str) -> Result<&Index, Status> {
        self.scopes().find(|(name, _)| *name == scope).map(|(_, index)| index).ok_or_else(|| {
            let flag = if scope.is_empty() { String::new() } else { format!("{scope}=") };
            Status::not_found(format!(
                "no provider registered that handles scopes like '{scope}'; name its archive with \
                 --parameters={flag}FILE"
            ))
        })
    }

    /// The archives that entries come from.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        let mut last: Option<&Path> = None;
        let entries = self.scopes.iter().flat_map(|(_, index)| &index.entries);
        entries.filter_map(move |entry| match &entry.contents {
            Contents::File { source, .. } if last.replace(source.path()) != Some(source.path()) => {
                Some(source)
            }
            _ => None,
        })
    }

    /// Where the archives are that entries come from.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.sources().map(|source| source.path().to_owned()).collect()
    }

    /// A table of all parameters, as `iree-dump-parameters` prints it.
    #[must_use]
    pub fn table(&self) -> String {
        self.scopes().map(|(scope, index)| table(scope, index)).collect()
    }
}

fn table(scope: &str, index: &Index) -> String {
    let rule = "-".repeat(110);
    let name = if scope.is_empty() { "<global>".to_owned() } else { format!("`{scope}`") };
    let total: u128 = index.entries.iter().map(|entry| u128::from(entry.length)).sum();
    let mut out = format!(
        "//==={rule}===//\n// Parameter scope {name} ({} entries, {total} total bytes)\n",
        index.entries.len()
    );
    let columns = |middle: &str| format!("{0}+{1}+{1}+{middle}", "-".repeat(12), "-".repeat(18));
    out += &format!("//==={}===//\n", columns(&"-".repeat(59)));
    out += "//         Start |              End |           Length | Key\n";
    out += &format!("//---{}//\n", columns(&"-".repeat(62)));
    for Entry { key, length, contents } in &index.entries {
        let (start, end) = match contents {
            Contents::File { offset, .. } => (offset.to_string(), (offset + length).to_string()),
            Contents::Splat(_) => ("-".to_owned(), "-".to_owned()),
        };
        let written = writeln!(out, "{start:>16} | {end:>16} | {length:>16} | `{key}`");
        debug_assert!(written.is_ok(), "writing to a String does not fail");
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_collect_files_and_the_first_of_a_key_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path.display().to_string()
        };
        let (first, second) = (write("a.bin", &[1, 2, 3]), write("b.raw", &[4]));
        let other = folder.path().join("c");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("a.bin"), [9]).unwrap();
        let shadowed = other.join("a.bin").display().to_string();
        let parameters = Parameters::open(&[
            first.clone(),
            format!("model={second}"),
            shadowed,
            format!("model={first}"),
        ])
        .unwrap();
        assert_eq!(
            parameters.scope("").unwrap().find("a").unwrap().bytes(0, 3).unwrap(),
            [1, 2, 3]
        );
        assert_eq!(parameters.scope("model").unwrap().entries().count(), 2);
        let error = parameters.scope("other").unwrap_err().to_string();
        assert!(error.contains("--parameters=other=FILE"), "{error}");
        let entry = parameters.scope("model").unwrap().find("b").unwrap();
        let error = entry.mapped(1, 1).unwrap_err().to_string();
        assert_eq!(
            error,
            "OUT_OF_RANGE; parameter `b` range out of bounds (offset=1, length=1, size=1)"
        );
    }

    #[test]
    fn errors_name_the_file_once() {
        for (spec, message) in [
            ("x=missing.irpa", "missing.irpa"),
            ("model.safetensors2", "model.safetensors2: unsupported file format `safetensors2`"),
        ] {
            let error = Parameters::open(&[spec]).unwrap_err().to_string();
            assert_eq!(error.matches("m").count().min(1), 1);
            assert!(error.contains(message), "{error}");
        }
    }
}
