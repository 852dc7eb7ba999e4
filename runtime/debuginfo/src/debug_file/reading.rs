//! [`DebugFile`]: an open debug file. It is held in memory, so it may change on disk meanwhile.

use std::collections::HashMap;
use std::fmt;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use vmfb::{FileBytes, LoadError};
use zip::ZipArchive;
use zip::result::ZipError;

use crate::elided_name::ElidedName;

use super::budget::Budget;
use super::error::{Damage, DebugFileError};
use super::manifest::{FORMAT, MANIFEST, Manifest, ModuleIdentity};

pub(super) const TWINS: &str = "twins/";
const SOURCES: &str = "sources/";
/// The member that has the nodes of the ONNX model.
pub const MODEL_NODES: &str = "nodes.onnx";
/// The member that has the map of the Python that made the source.
pub const PYTHON_MAP: &str = "python-map.json";
const CONSTANTS: &str = "constants/";

/// Larger files are not read.
pub(super) const MAX_FILE: u64 = 1 << 30;

/// How many bytes of memory a byte of a member takes at most when it is read, as measured with
/// texts of the shortest operations and lines.
fn growth(member: &str) -> u64 {
    match member {
        "flow.mlir" => 96,
        "input.mlir" => 64,
        PYTHON_MAP => 32,
        _ if member.starts_with(SOURCES) => 32,
        _ if member.starts_with(CONSTANTS) => 2,
        _ => 16,
    }
}

/// Larger members are not unpacked.
const MAX_MEMBER: u64 = 512 << 20;

/// A longer manifest is not read.
const MAX_MANIFEST: u64 = 16 << 20;

/// A debug file: what is kept of a module for debugging.
#[derive(Clone)]
pub struct DebugFile {
    path: PathBuf,
    bytes: FileBytes,
    archive: ZipArchive<Cursor<Owned>>,
    manifest: Arc<Manifest>,
    /// The bytes of the module that it was opened for.
    module: Option<FileBytes>,
    budget: Budget,
    /// Where twins are added, if the file is only in memory.
    added: Option<Added>,
}

/// Twins that were added to a debug file in memory.
type Added = Arc<Mutex<HashMap<String, Vec<u8>>>>;

/// A debug file that is in memory, and not open yet. Clones share what is added to it.
#[derive(Clone, Debug)]
pub struct PackedDebugFile {
    name: PathBuf,
    bytes: FileBytes,
    budget: Budget,
    added: Added,
}

impl PackedDebugFile {
    /// A debug file with this name in messages. What it unpacks to is charged to a budget.
    #[must_use]
    pub fn new(name: PathBuf, bytes: FileBytes, budget: Budget) -> Self {
        Self { name, bytes, budget, added: Added::default() }
    }

    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// Opens it for a module.
    ///
    /// # Errors
    /// It is damaged, of a later format, or of another module.
    pub fn open_for(&self, module: &str, bytes: &FileBytes) -> Result<DebugFile, DebugFileError> {
        let file = DebugFile::within(&self.name, self.bytes.clone(), self.budget.clone())?;
        match ModuleIdentity::of(bytes) {
            Some(expected) if file.manifest.module != expected => {
                Err(file.other_module(Path::new(module), expected))
            }
            _ => {
                let (added, module) = (Some(self.added.clone()), Some(bytes.clone()));
                Ok(DebugFile { added, module, ..file })
            }
        }
    }
}

/// The bytes of the file, all of which are owned.
#[derive(Clone)]
struct Owned(FileBytes);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        self.0.owned()
    }
}

impl DebugFile {
    /// The path of a module's debug file: the module's with `.debug` appended.
    #[must_use]
    pub fn path_beside(module: &Path) -> PathBuf {
        let mut name = module.as_os_str().to_owned();
        name.push(".debug");
        PathBuf::from(name)
    }

    /// The path of a module's debug file in a directory of such files.
    #[must_use]
    pub fn path_in(directory: &Path, module: &Path) -> PathBuf {
        let beside = Self::path_beside(module);
        beside.file_name().map_or_else(|| beside.clone(), |name| directory.join(name))
    }

    /// Opens a debug file.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or is of a later format.
    pub fn open(path: &Path) -> Result<Self, DebugFileError> {
        let io = |source| DebugFileError::Unreadable { path: path.to_owned(), source };
        let length = std::fs::metadata(path).map_err(io)?.len();
        if length > MAX_FILE {
            let text = format!("it has {length} bytes, and at most {MAX_FILE} are read");
            return Err(io(std::io::Error::other(text)));
        }
        let bytes = FileBytes::read(path).map_err(|error| match error {
            LoadError::Io { source, .. } => io(source),
            other => io(std::io::Error::other(other)),
        })?;
        Self::of(path, bytes)
    }

    /// A debug file that is in memory.
    ///
    /// # Errors
    /// The bytes are damaged, or of a later format.
    pub fn of(path: &Path, bytes: FileBytes) -> Result<Self, DebugFileError> {
        let budget = Budget::for_length(bytes.len() as u64);
        Self::within(path, bytes, budget)
    }

    /// A debug file in memory that unpacks to no more than a budget allows.
    fn within(path: &Path, bytes: FileBytes, budget: Budget) -> Result<Self, DebugFileError> {
        let damaged = |reason| DebugFileError::Damaged { path: path.to_owned(), reason };
        let archive = ZipArchive::new(Cursor::new(Owned(bytes.clone())))
            .map_err(|error| damaged(Damage::NoArchive(error)))?;
        let text = unpack(&archive, MANIFEST, MAX_MANIFEST).map_err(damaged)?;
        let text = text.ok_or_else(|| damaged(Damage::NoManifest))?;
        let in_manifest = |error| damaged(Damage::Manifest(error));
        // Later formats may have other fields.
        let format: Format = serde_json::from_slice(&text).map_err(in_manifest)?;
        if format.format > FORMAT {
            let (path, format) = (path.to_owned(), format.format);
            return Err(DebugFileError::NewerFormat { path, format });
        }
        let manifest: Manifest = serde_json::from_slice(&text).map_err(in_manifest)?;
        let (path, manifest) = (path.to_owned(), Arc::new(manifest));
        Ok(Self { path, bytes, archive, manifest, module: None, budget, added: None })
    }

    /// The error of a file that is of another module.
    fn other_module(&self, module: &Path, expected: ModuleIdentity) -> DebugFileError {
        let (path, module) = (self.path.clone(), module.to_owned());
        DebugFileError::OtherModule { path, module, found: self.manifest.module.clone(), expected }
    }

    /// Opens the debug file of a module: in the directory of debug files, if one is named and has
    /// it, else beside the module. `None` if there is none.
    ///
    /// # Errors
    /// There is one, but it cannot be used.
    pub fn for_module(
        module: &Path,
        bytes: &FileBytes,
        directory: Option<&Path>,
    ) -> Result<Option<Self>, DebugFileError> {
        let expected = || ModuleIdentity::of(bytes);
        let mut refused = None;
        let named = directory.map(|directory| Self::path_in(directory, module));
        for path in named.into_iter().chain([Self::path_beside(module)]) {
            match Self::open(&path) {
                Ok(file) => match expected() {
                    Some(expected) if file.manifest.module == expected => {
                        return Ok(Some(Self { module: Some(bytes.clone()), ..file }));
                    }
                    Some(expected) => {
                        refused.get_or_insert(file.other_module(module, expected));
                    }
                    // The module has changed since; that is reported elsewhere.
                    None => {}
                },
                Err(DebugFileError::Unreadable { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    refused.get_or_insert(error);
                }
            }
        }
        refused.map_or(Ok(None), Err)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes, as they were read.
    #[must_use]
    pub fn bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// What it says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The text of the companion.
    ///
    /// # Errors
    /// It is damaged.
    pub fn companion(&self) -> Result<Option<Vec<u8>>, DebugFileError> {
        self.member("companion.mlir")
    }

    /// The sources of dispatches with the account of their calls
    /// ([`crate::DispatchInterfaces::parse`]); as iree-compile can go on with them.
    ///
    /// # Errors
    /// It is damaged or too large.
    pub fn dispatches(&self) -> Result<Option<String>, DebugFileError> {
        self.text("dispatches.mlir")
    }

    /// How many workgroups the bytecode in the module has that stands beside other variants of its
    /// dispatches ([`crate::bytecode_counts`]).
    #[must_use]
    pub fn bytecode_counts(&self) -> Option<String> {
        self.text("counts.mlir").ok().flatten()
    }

    /// The program of tensors: iree-compile's phase `flow`, with locations.
    ///
    /// # Errors
    /// It is damaged or too large.
    pub fn flow(&self) -> Result<Option<String>, DebugFileError> {
        self.text("flow.mlir")
    }

    /// The source as the compiler has read it: its phase `input`, with locations.
    ///
    /// # Errors
    /// It is damaged or too large.
    pub fn input(&self) -> Result<Option<String>, DebugFileError> {
        self.text("input.mlir")
    }

    /// The nodes of the ONNX model that the source was imported from ([`crate::model_nodes`]).
    #[must_use]
    pub fn model_nodes(&self) -> Option<Vec<u8>> {
        self.member(MODEL_NODES).ok().flatten()
    }

    /// The map of the Python that made the source ([`crate::PythonMap`]).
    #[must_use]
    pub fn python_map(&self) -> Option<Vec<u8>> {
        self.member(PYTHON_MAP).ok().flatten()
    }

    /// A source, by its name in the locations of the module, if it is kept.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<String> {
        let kept = self.manifest.sources.iter().find(|kept| kept.name == name)?;
        self.text(kept.member.as_deref()?).ok().flatten()
    }

    /// The bytes of a constant that the texts leave out, by its name there: the module has them, or
    /// the file itself. `None` if neither has.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<Vec<u8>> {
        let length = ElidedName::byte_length(name)?;
        let in_module = || {
            let start = usize::try_from(*self.manifest.constants.get(name)?).ok()?;
            let bytes = self.module.as_ref()?.get(start..start.checked_add(length)?)?;
            Some(bytes.into_owned())
        };
        let found = in_module().or_else(|| self.member(&constant_member(name)).ok().flatten());
        // The name tells its bytes from all others, whatever the file says.
        found.filter(|bytes| ElidedName::is_of(name, bytes))
    }

    /// The twin that was added under a name ([`DebugFile::add_twin`]).
    #[must_use]
    pub fn twin(&self, name: &str) -> Option<Vec<u8>> {
        let added = self.added.as_ref().and_then(|it| lock(it).get(name).cloned());
        added.or_else(|| self.member(&twin_member(name)).ok().flatten())
    }

    /// Keeps a twin for other sessions, or if the file is in memory, for those that share it.
    ///
    /// # Errors
    /// As for [`DebugFile::add_twin`].
    pub fn keep_twin(&self, name: &str, bytes: Vec<u8>) -> Result<(), DebugFileError> {
        match &self.added {
            Some(added) => {
                lock(added).insert(name.to_owned(), bytes);
                Ok(())
            }
            None => Self::add_twin(&self.path, &self.manifest.module, name, &bytes),
        }
    }

    /// The names of its members.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let names = self.archive.file_names();
        names.flatten().map(std::borrow::Cow::into_owned).collect()
    }

    /// A member as text. `None` also if it is none.
    fn text(&self, name: &str) -> Result<Option<String>, DebugFileError> {
        Ok(self.member(name)?.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// A member by its name; `None` if there is none.
    ///
    /// # Errors
    /// It is damaged or too large.
    pub fn member(&self, name: &str) -> Result<Option<Vec<u8>>, DebugFileError> {
        self.unpacked(name)
            .map_err(|reason| DebugFileError::Damaged { path: self.path.clone(), reason })
    }

    /// A member, as far as the budget goes.
    fn unpacked(&self, name: &str) -> Result<Option<Vec<u8>>, Damage> {
        let part = format!("{} of {}", name, self.path.display());
        let allowed = self.budget.allowed(&part);
        let bytes = match unpack(&self.archive, name, MAX_MEMBER.min(allowed)) {
            Err(Damage::TooLarge { .. }) if allowed < MAX_MEMBER => {
                return Err(self.budget.exceeded(&part).into());
            }
            unpacked => unpacked?,
        };
        if let Some(bytes) = &bytes {
            let length = bytes.len() as u64;
            self.budget.charge(&part, length)?;
            self.budget.charge_memory(&part, length.saturating_mul(growth(name)))?;
        }
        Ok(bytes)
    }
}

impl fmt::Debug for DebugFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DebugFile").field("path", &self.path).finish_non_exhaustive()
    }
}

fn lock(added: &Added) -> MutexGuard<'_, HashMap<String, Vec<u8>>> {
    // A twin is added whole, so a panic in another thread does not spoil the others.
    added.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// The member that has the bytes of a constant, by its name in the texts.
#[must_use]
pub fn constant_member(name: &str) -> String {
    format!("{CONSTANTS}{name}")
}

/// The member of a twin. Names of dispatches are free text, and those of members should not be.
pub(super) fn twin_member(name: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || "._-".contains(it) { it } else { '_' };
    let shown: String = name.chars().take(64).map(plain).collect();
    let digest = twox_hash::XxHash3_64::oneshot(name.as_bytes());
    format!("{TWINS}{digest:016x}-{shown}")
}

/// Unpacks a member. What its header claims is not believed: memory grows with the bytes that come.
fn unpack(
    archive: &ZipArchive<Cursor<Owned>>,
    name: &str,
    limit: u64,
) -> Result<Option<Vec<u8>>, Damage> {
    let mut archive = archive.clone();
    let member = match archive.by_name(name) {
        Ok(member) => member,
        Err(ZipError::FileNotFound) => return Ok(None),
        Err(source) => return Err(Damage::Member { name: name.to_owned(), source }),
    };
    let mut bytes = Vec::new();
    let mut limited = member.take(limit + 1);
    let read = limited.read_to_end(&mut bytes);
    read.map_err(|source| Damage::Content { name: name.to_owned(), source })?;
    if bytes.len() as u64 > limit {
        return Err(Damage::TooLarge { name: name.to_owned(), limit });
    }
    Ok(Some(bytes))
}
