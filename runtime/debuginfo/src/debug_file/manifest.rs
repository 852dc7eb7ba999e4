//! [`Manifest`]: what a debug file says of itself.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;
use vmfb::{FileBytes, archive};

/// The member of the archive that has it.
pub(super) const MANIFEST: &str = "manifest.json";

/// The format that is written, and the last one that is read.
pub(super) const FORMAT: u32 = 1;

/// How much is read at a time.
const CHUNK: usize = 1 << 20;

/// What tells a module from others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModuleIdentity {
    /// Its length in bytes.
    pub length: u64,
    /// Its digest ([`vmfb::archive::digest`]), in hexadecimal.
    pub xxh3: String,
}

impl ModuleIdentity {
    /// The identity of a module; `None` if its bytes can no longer be read.
    #[must_use]
    pub fn of(bytes: &FileBytes) -> Option<Self> {
        let xxh3 = format!("{:016x}", archive::digest(bytes)?);
        Some(Self { length: bytes.len() as u64, xxh3 })
    }
}

impl fmt::Display for ModuleIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The digest comes from a file that may be of any kind.
        let digest: String = self.xxh3.chars().filter(char::is_ascii_hexdigit).take(16).collect();
        write!(f, "{} bytes and digest {digest}", self.length)
    }
}

/// A source that the module was compiled from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptSource {
    /// Its name in the locations of the module.
    pub name: String,
    /// Its length in bytes.
    pub length: u64,
    /// The digest xxh3 of its text, in hexadecimal.
    pub xxh3: String,
    /// The member with its text, if it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

impl KeptSource {
    /// A source, given its text; `None` if it can no longer be read.
    #[must_use]
    pub fn of(name: String, text: &FileBytes, member: Option<String>) -> Option<Self> {
        Some(Self { name, length: text.len() as u64, xxh3: digest(text)?, member })
    }

    /// Whether a text is the one of this source.
    #[must_use]
    pub fn is_text(&self, text: &FileBytes) -> bool {
        self.length == text.len() as u64 && digest(text).is_none_or(|it| it == self.xxh3)
    }
}

/// The digest of a whole text.
fn digest(text: &FileBytes) -> Option<String> {
    let mut digest = XxHash3_64::new();
    for start in (0..text.len()).step_by(CHUNK) {
        digest.write(&text.get(start..text.len().min(start + CHUNK))?);
    }
    Some(format!("{:016x}", digest.finish()))
}

/// What a debug file says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the file.
    pub format: u32,
    /// The module that it is of.
    pub module: ModuleIdentity,
    /// The version of iree-dbg that made it.
    #[serde(default)]
    pub made_by: String,
    /// What `iree-compile --version` says, if it is known.
    #[serde(default)]
    pub compiler: Option<String>,
    /// The flags of the compiler, without those that only print.
    #[serde(default)]
    pub flags: Vec<String>,
    /// The source as it was named to the compiler.
    #[serde(default)]
    pub input: String,
    /// The ONNX model that the source was imported from, as it was named when that was compiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
    /// Constants with more elements are left out of the texts; `None` if all are there.
    #[serde(default)]
    pub elided_above: Option<u64>,
    /// The sources.
    #[serde(default)]
    pub sources: Vec<KeptSource>,
    /// Where the module has the bytes of constants that the texts leave out: offsets in its file
    /// by the names of the constants ([`crate::ElidedName`]).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, u64>,
}

impl Manifest {
    /// The manifest of a module's debug file, without compiler, flags and sources.
    #[must_use]
    pub fn new(module: ModuleIdentity) -> Self {
        Self {
            format: FORMAT,
            module,
            made_by: env!("CARGO_PKG_VERSION").to_owned(),
            compiler: None,
            flags: Vec::new(),
            input: String::new(),
            imported_from: None,
            elided_above: None,
            sources: Vec::new(),
            constants: BTreeMap::new(),
        }
    }
}
