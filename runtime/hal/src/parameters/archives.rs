//! The archives of a program, by scope.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use vm::Status;

use super::index::{Contents, Entry, Index, Source};
use super::{gguf, irpa, raw, safetensors};

/// All parameters that a program can ask for, by scope.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    scopes: Vec<(String, Index)>,
    /// The scope and path of each archive, in the order of opening.
    opened: Vec<(String, PathBuf)>,
}

impl Parameters {
    /// Opens archives, each given as `[scope=]path`.
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

    /// Opens the same archives again, with their present contents.
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

    /// The scope and path of each archive, in the order of opening.
    pub fn opened(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.opened.iter().map(|(scope, path)| (&**scope, &**path))
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

    /// Whether a file is an archive of parameters, by its extension.
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
        add_archive(&mut self.scopes[at].1, path).map_err(|mut error| {
            let path = path.display().to_string();
            // Errors from opening a file already name it.
            if !error.message.contains(&path) {
                error.message = format!("{path}: {}", error.message);
            }
            error
        })
    }

    /// All scopes. The one without a name serves programs that name none.
    pub(crate) fn scopes(&self) -> impl ExactSizeIterator<Item = (&str, &Index)> {
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
                 --parameters={flag}FILE, in launch.json with \"parameters\": [\"{flag}FILE\"]"
            ))
        })
    }

    /// Whether an archive states the type of a parameter.
    #[must_use]
    pub fn has_types(&self) -> bool {
        let mut entries = self.scopes.iter().flat_map(|(_, index)| index.entries());
        entries.any(|entry| entry.stated_type().is_some())
    }

    /// The archives that entries come from, each once per run of consecutive entries.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        let mut last: Option<&Path> = None;
        let entries = self.scopes.iter().flat_map(|(_, index)| index.entries());
        entries.filter_map(move |entry| match &entry.contents {
            Contents::File { source, .. } if last.replace(source.path()) != Some(source.path()) => {
                Some(source)
            }
            _ => None,
        })
    }

    /// A table of all parameters, as `iree-dump-parameters` prints it.
    #[must_use]
    pub fn table(&self) -> String {
        self.scopes().map(|(scope, index)| table(scope, index)).collect()
    }
}

/// Adds the entries of the archive at `path`, whose extension gives the format.
fn add_archive(index: &mut Index, path: &Path) -> Result<(), Status> {
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
    parse(&Source::open(path)?, index)
}

fn table(scope: &str, index: &Index) -> String {
    let rule = "-".repeat(110);
    let name = if scope.is_empty() { "<global>".to_owned() } else { format!("`{scope}`") };
    let total: u128 = index.entries().map(|entry| u128::from(entry.length)).sum();
    let mut out = format!(
        "//==={rule}===//\n// Parameter scope {name} ({} entries, {total} total bytes)\n",
        index.entries().len()
    );
    let columns = |middle: &str| format!("{0}+{1}+{1}+{middle}", "-".repeat(12), "-".repeat(18));
    out += &format!("//==={}===//\n", columns(&"-".repeat(59)));
    out += "//         Start |              End |           Length | Key\n";
    out += &format!("//---{}//\n", columns(&"-".repeat(62)));
    for Entry { key, length, contents, .. } in index.entries() {
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
