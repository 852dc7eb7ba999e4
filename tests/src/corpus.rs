//! The corpus: sources in `tests/corpus`, each compiled to one or more modules.
//!
//! Comments in a source say how it is tested, one per line:
//!
//! | comment | meaning |
//! | --- | --- |
//! | `// RUN-WITH: --function=f --input=1` | call a function; the text must equal the reference's |
//! | `// COMPILE-WITH: --flag` | more flags for iree-compile |
//! | `// NEEDS: other.vmasm` | a source of the corpus whose module is loaded before this one |
//! | `// DISASSEMBLY-DIFFERS: why` | the reference's disassembly is wrong for this file |
//!
//! Compiled modules stay in the target folder, under a hash of everything that determines them.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use vmfb::Module;
use vmfb::verify::{VerifiedModule, verify};

use crate::tools::{finish, iree, repository};

/// How a source becomes a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Variant {
    /// By iree-as-module.
    Assembled,
    /// By iree-compile for a back end, as a polyglot zip or a flat file.
    Compiled {
        /// `vmvx` or `llvm-cpu`.
        backend: &'static str,
        /// Whether the file is also a zip archive.
        is_zip: bool,
    },
    /// By iree-compile, in an execution model.
    Model {
        /// `vmvx`, `vmvx-inline` or `llvm-cpu`.
        backend: &'static str,
        /// The execution model, such as `async-external`.
        execution: &'static str,
    },
}

impl Variant {
    /// The name of the variant in the names of cases.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Assembled => "assembled".to_owned(),
            Self::Compiled { backend, is_zip } => {
                format!("{backend} {}", if is_zip { "zip" } else { "flat" })
            }
            Self::Model { backend, execution } => format!("{backend} {execution}"),
        }
    }
}

/// A source file and the requests in its comments.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path.
    pub path: PathBuf,
    /// Arguments of each run.
    pub runs: Vec<Vec<String>>,
    /// Whether the reference prints a wrong disassembly.
    pub disassembly_differs: bool,
    flags: Vec<String>,
    needs: Vec<String>,
    text: String,
}

/// All sources of the corpus, by name.
///
/// # Errors
/// The corpus cannot be read.
pub fn sources() -> Result<Vec<Source>, String> {
    let folder = repository().join("tests/corpus");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{folder:?}: {error}"))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_assembly(path) || has_extension(path, "mlir"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Source::read(path)).collect()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn is_assembly(path: &Path) -> bool {
    has_extension(path, "vmasm")
}

fn comments(text: &str, mark: &str) -> Vec<String> {
    let mark = format!("// {mark}: ");
    text.lines().filter_map(|line| line.trim().strip_prefix(&mark)).map(str::to_owned).collect()
}

impl Source {
    /// Reads a source and its comments.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path:?}: {error}"))?;
        let comments = |mark: &str| comments(&text, mark);
        let words = |line: &String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        Ok(Self {
            path: path.to_owned(),
            runs: comments("RUN-WITH").iter().map(words).collect(),
            disassembly_differs: !comments("DISASSEMBLY-DIFFERS").is_empty(),
            flags: comments("COMPILE-WITH").iter().flat_map(words).collect(),
            needs: comments("NEEDS"),
            text,
        })
    }

    /// The values of the comments with a mark.
    #[must_use]
    pub fn comments(&self, mark: &str) -> Vec<String> {
        comments(&self.text, mark)
    }

    /// The file's name.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The ways to compile it.
    #[must_use]
    pub fn variants(&self) -> Vec<Variant> {
        if is_assembly(&self.path) {
            return vec![Variant::Assembled];
        }
        let backends = ["vmvx", "llvm-cpu"].into_iter();
        backends
            .flat_map(|backend| [true, false].map(|is_zip| Variant::Compiled { backend, is_zip }))
            .collect()
    }

    /// The modules that its runs load. Its own module is the last.
    ///
    /// # Errors
    /// One of them does not compile.
    pub fn modules(&self, variant: Variant) -> Result<Vec<PathBuf>, String> {
        let mut modules = Vec::new();
        for name in &self.needs {
            let needed = Source::read(&self.path.with_file_name(name))?;
            modules.push(needed.module(needed.variants()[0])?);
        }
        modules.push(self.module(variant)?);
        Ok(modules)
    }

    /// Compiles the source, unless the module exists already.
    ///
    /// # Errors
    /// It does not compile.
    pub fn module(&self, variant: Variant) -> Result<PathBuf, String> {
        let (tool, flags) = match variant {
            Variant::Assembled => (iree("iree-as-module")?, Vec::new()),
            Variant::Compiled { backend, .. } | Variant::Model { backend, .. } => {
                let last = match variant {
                    Variant::Compiled { is_zip, .. } => {
                        format!("--iree-vm-emit-polyglot-zip={is_zip}")
                    }
                    Variant::Model { execution, .. } => {
                        format!("--iree-execution-model={execution}")
                    }
                    Variant::Assembled => String::new(),
                };
                let mut flags = vec![
                    "--iree-hal-target-device=local".to_owned(),
                    format!("--iree-hal-local-target-device-backends={backend}"),
                    "--iree-llvmcpu-target-cpu=generic".to_owned(),
                    last,
                ];
                flags.extend(self.flags.iter().cloned());
                (iree("iree-compile")?, flags)
            }
        };
        let key = (&self.text, &flags, &tool, self.name());
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        made(&stem, &key, |output| {
            let mut command = Command::new(&tool);
            command.current_dir(self.path.parent().unwrap_or(repository())).args(&flags);
            command.arg(self.name());
            match variant {
                Variant::Assembled => command.arg(format!("--output={}", output.display())),
                _ => command.arg("-o").arg(output),
            };
            command
        })
    }
}

/// Assembles text by iree-as-module, unless the module exists already.
///
/// # Errors
/// It does not assemble.
pub fn assemble(name: &str, text: &str) -> Result<PathBuf, String> {
    let tool = iree("iree-as-module")?;
    let source = tempfile::Builder::new().suffix(".vmasm").tempfile();
    let source = source.map_err(|error| format!("a scratch file: {error}"))?;
    std::fs::write(source.path(), text).map_err(|error| format!("{:?}: {error}", source.path()))?;
    made(name, &(text, &tool), |output| {
        let mut command = Command::new(&tool);
        command.arg(source.path()).arg(format!("--output={}", output.display()));
        command
    })
}

/// Assembles text by iree-as-module and verifies the module.
///
/// # Errors
/// It does not assemble, or the verifier refuses it.
pub fn assemble_verified(name: &str, text: &str) -> Result<VerifiedModule, String> {
    let path = assemble(name, text)?;
    let bytes = std::fs::read(&path).map_err(|error| format!("{path:?}: {error}"))?;
    let module = Module::from_bytes(bytes).map_err(|error| format!("{path:?}: {error}"))?;
    verify(module).map_err(|errors| format!("{path:?}: {errors:?}"))
}

/// The module that a command makes, kept in the target folder under a hash of `key`.
fn made(
    stem: &str,
    key: &impl Hash,
    command: impl FnOnce(&Path) -> Command,
) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let folder = repository().join("target/conformance");
    let output = folder.join(format!("{stem}-{:016x}.vmfb", hasher.finish()));
    if output.is_file() {
        return Ok(output);
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{folder:?}: {error}"))?;
    // Written to a scratch file and renamed, so no other test sees half of it.
    let scratch = tempfile::Builder::new().suffix(".vmfb").tempfile_in(&folder);
    let scratch = scratch.map_err(|error| format!("{folder:?}: {error}"))?.into_temp_path();
    let mut command = command(&scratch);
    let finished = finish(&mut command)?;
    if finished.status != Some(0) {
        return Err(format!("{command:?} failed:\n{}", finished.stderr));
    }
    scratch.persist(&output).map_err(|error| format!("{output:?}: {error}"))?;
    Ok(output)
}
