//! What a compiled module has, at a glance: what it offers and needs, where its bytes are, and what
//! it was made from. Its dispatches as a graph are in `graph`.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use debuginfo::{
    DebugFile, DispatchInterfaces, DispatchProgram, KeptSource, ModuleWeight, TensorProgram,
    TensorSources, module_weights,
};
use serde::Serialize;
use vmfb::{FileBytes, LoadError, Module, RodataOrdinal};

/// The format of [`ModuleOverview`] as JSON.
pub const OVERVIEW_FORMAT: u32 = 1;

/// A module at a glance.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModuleOverview {
    /// [`OVERVIEW_FORMAT`].
    pub version: u32,
    /// The file.
    pub path: PathBuf,
    /// The module's own name.
    pub name: String,
    /// The length of the file.
    pub bytes: u64,
    /// When it was written, in milliseconds since 1970.
    pub modified: Option<u64>,
    /// `17.0`.
    pub bytecode_version: String,
    /// The functions that can be called.
    pub exports: Vec<OfferedFunction>,
    /// The functions that it calls in other modules.
    pub imports: Vec<NeededFunction>,
    /// The modules that it needs.
    pub dependencies: Vec<NeededModule>,
    /// Where its bytes are, and those of its parameters.
    pub sizes: Vec<SizePart>,
    /// Its debug file, if there is one that fits.
    pub debug_file: Option<PathBuf>,
    /// Why its debug file cannot be used.
    pub debug_file_problem: Option<String>,
    /// What `iree-compile --version` said.
    pub compiler: Option<String>,
    /// The flags of the compiler.
    pub flags: Vec<String>,
    /// The sources, the first one first.
    pub sources: Vec<SourceState>,
    /// Whether the graph of its dispatches has something to show.
    pub has_graph: bool,
}

/// A function that can be called.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferedFunction {
    /// Its name.
    pub name: String,
    /// Its arguments: name and type.
    pub arguments: Vec<NamedType>,
    /// The types of its results.
    pub results: Vec<NamedType>,
    /// The calling convention that it states.
    pub calling_convention: Option<String>,
    /// What the compiler says of it.
    pub declaration: Option<String>,
    /// Whether it is the twin for callers with fences of another export.
    pub is_async_twin: bool,
}

/// An argument or a result.
#[derive(Clone, Debug, Serialize)]
pub struct NamedType {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
}

/// A function of another module.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NeededFunction {
    /// The module.
    pub module: String,
    /// Its name there.
    pub name: String,
    /// The calling convention that is expected.
    pub calling_convention: Option<String>,
    /// Whether the module also runs without it.
    pub is_optional: bool,
}

/// Another module.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NeededModule {
    /// Its name.
    pub name: String,
    /// The oldest version of it that will do.
    pub minimum_version: u32,
    /// Whether the module also runs without it.
    pub is_optional: bool,
}

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PartKind {
    /// Code of devices.
    Executable,
    /// Constants of the program.
    Constant,
    /// Texts of the program.
    Text,
    /// Instructions of the virtual machine.
    Bytecode,
    /// Tables of functions, signatures and locations.
    Tables,
    /// A parameter, in another file.
    Parameter,
}

/// Some bytes.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SizePart {
    /// What they are.
    pub kind: PartKind,
    /// Their name.
    pub name: String,
    /// Their number; nothing if it is only known when the program runs.
    pub bytes: Option<u64>,
    /// The type of a constant of the source that is here: `64x64xf32`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
}

impl SizePart {
    fn new(kind: PartKind, name: String, bytes: Option<u64>) -> Self {
        Self { kind, name, bytes, ty: None }
    }
}

/// A source, now.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceState {
    /// Its name, as the compiler was told.
    pub name: String,
    /// Where it is now.
    pub path: Option<PathBuf>,
    /// `unchanged` or `changed` since the module was compiled, or `missing`.
    pub state: &'static str,
    /// When it was written, in milliseconds since 1970.
    pub modified: Option<u64>,
}

/// At most so many bytes are a text.
const LONGEST_TEXT: usize = 256;

/// At most so many bytes are looked at to know what they are.
const LONGEST_READ: usize = 64 << 20;

/// Describes a module.
///
/// # Errors
/// [`LoadError`]: why the file is not a module.
pub fn module_overview(path: &Path) -> Result<ModuleOverview, LoadError> {
    let module = Module::open(path)?;
    let (debug_file, debug_file_problem) =
        match DebugFile::for_module(path, module.file_bytes(), None) {
            Ok(file) => (file, None),
            Err(error) => (None, Some(error.to_string())),
        };
    let manifest = debug_file.as_ref().map(DebugFile::manifest);
    let flow = debug_file.as_ref().and_then(|file| file.flow().ok().flatten());
    let program = flow.as_deref().map(plain_program);
    let folder = path.parent().unwrap_or(Path::new(""));
    let weights = debug_file.as_ref().map(|file| module_weights(folder, file)).unwrap_or_default();
    let mut sizes = parts(&module, &weights);
    let parameters = program.as_ref().map(DispatchProgram::parameters).unwrap_or_default();
    let parameter = |(name, bytes)| SizePart::new(PartKind::Parameter, name, bytes);
    sizes.extend(parameters.into_iter().map(parameter));
    let sources = manifest.into_iter().flat_map(|it| &it.sources);
    Ok(ModuleOverview {
        version: OVERVIEW_FORMAT,
        path: path.to_owned(),
        name: module.name().to_owned(),
        bytes: module.file_bytes().len() as u64,
        modified: modified(path),
        bytecode_version: module.bytecode_version().to_string(),
        exports: exports(&module),
        imports: imports(&module),
        dependencies: module
            .dependencies()
            .iter()
            .map(|it| NeededModule {
                name: it.name.clone(),
                minimum_version: it.minimum_version,
                is_optional: it.is_optional,
            })
            .collect(),
        sizes,
        compiler: manifest.and_then(|it| it.compiler.clone()),
        flags: manifest.map(|it| it.flags.clone()).unwrap_or_default(),
        sources: sources.map(|it| source_state(folder, it)).collect(),
        has_graph: program.is_some_and(|it| it.dispatches().next().is_some()),
        debug_file: debug_file.map(|it| it.path().to_owned()),
        debug_file_problem,
    })
}

/// The times of a profile, by function.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileTimes {
    /// [`OVERVIEW_FORMAT`].
    pub version: u32,
    /// The device that was measured.
    pub device: String,
    /// The functions that ran.
    pub functions: Vec<FunctionTime>,
}

/// How long the runs of an exported dispatch took.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionTime {
    /// The exported name.
    pub name: String,
    /// How often it ran.
    pub count: u64,
    /// All of its time, in nanoseconds.
    pub total: u64,
    /// Its longest run, in nanoseconds.
    pub longest: u64,
}

/// Why a file is no profile.
#[derive(Debug, thiserror::Error)]
pub enum NoProfile {
    /// The system does not read it.
    #[error(transparent)]
    Read(#[from] LoadError),
    /// Its bytes are none.
    #[error(transparent)]
    Bytes(#[from] profile::ProfileError),
}

/// Reads a profile of IREE's (`.ireeprof`).
///
/// # Errors
/// [`NoProfile`]: why the file is none.
pub fn profile_times(path: &Path) -> Result<ProfileTimes, NoProfile> {
    let bytes = FileBytes::read(path)?;
    let profile = profile::Profile::parse(bytes.owned())?;
    let functions = profile.times().into_iter().map(|(name, times)| FunctionTime {
        name: name.to_owned(),
        count: times.count,
        total: times.total,
        longest: times.longest,
    });
    let functions = functions.collect();
    Ok(ProfileTimes { version: OVERVIEW_FORMAT, device: profile.device.clone(), functions })
}

/// The program of tensors, without names of the source.
fn plain_program(flow: &str) -> TensorProgram {
    let (dispatches, none) = (DispatchInterfaces::default(), |_: &str| None);
    let sources = TensorSources { flow, input: None, dispatches: &dispatches, file: &none };
    TensorProgram::parse(&sources)
}

fn modified(path: &Path) -> Option<u64> {
    let written: SystemTime = path.metadata().ok()?.modified().ok()?;
    u64::try_from(written.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

fn source_state(folder: &Path, kept: &KeptSource) -> SourceState {
    let path = folder.join(&kept.name);
    let state = match FileBytes::read(&path) {
        Ok(text) if kept.is_text(&text) => "unchanged",
        Ok(_) => "changed",
        Err(_) => "missing",
    };
    SourceState {
        name: kept.name.clone(),
        modified: modified(&path),
        path: (state != "missing").then_some(path),
        state,
    }
}

fn exports(module: &Module) -> Vec<OfferedFunction> {
    let exports = module.exports().iter().filter_map(|export| {
        let signature = &module.function(export.function)?.signature;
        let attributes: Vec<(&str, &str)> =
            signature.attributes.iter().map(|it| (it.key.as_str(), it.value.as_str())).collect();
        let cconv = signature.calling_convention.as_deref();
        let arguments = abi::explain::argument_names(cconv, &attributes).into_iter();
        let results = abi::explain::explain(cconv, &attributes).function.results;
        let declaration = attributes.iter().find(|(key, _)| *key == "iree.abi.declaration");
        let twin_of = export.name.strip_suffix("$async");
        Some(OfferedFunction {
            name: export.name.clone(),
            arguments: arguments
                .map(|it| NamedType { name: Some(it.name), ty: it.type_name })
                .collect(),
            results: results
                .into_iter()
                .map(|it| NamedType { name: it.name.clone(), ty: it.ty.to_string() })
                .collect(),
            calling_convention: signature.calling_convention.clone(),
            declaration: declaration.map(|(_, text)| (*text).to_owned()),
            is_async_twin: twin_of
                .is_some_and(|name| module.exports().iter().any(|it| it.name == name)),
        })
    });
    exports.collect()
}

fn imports(module: &Module) -> Vec<NeededFunction> {
    let imports = module.imports().iter().map(|import| {
        let (of, name) = import.split_name();
        NeededFunction {
            module: of.to_owned(),
            name: name.to_owned(),
            calling_convention: import.signature.calling_convention.clone(),
            is_optional: import.is_optional,
        }
    });
    imports.collect()
}

fn parts(module: &Module, weights: &[ModuleWeight]) -> Vec<SizePart> {
    let mut parts = Vec::new();
    let mut inside = 0;
    for (index, segment) in module.rodata().iter().enumerate() {
        let length = segment.range.len();
        if !segment.is_external {
            inside += length;
        }
        // Longer ones are constants, and are not read.
        let is_read = length <= LONGEST_READ;
        let bytes = is_read.then(|| module.rodata_bytes(RodataOrdinal::from_index(index)));
        let bytes = bytes.flatten();
        let (kind, name) = content(bytes.as_deref().unwrap_or_default());
        let name = name.unwrap_or_else(|| format!("rodata[{index}]"));
        let range = segment.range.start as u64..segment.range.end as u64;
        let here = weights.iter().filter(|it| range.start <= it.range.start);
        let named = here.filter(|it| kind == PartKind::Constant && it.range.end <= range.end);
        let (mut rest, mut end) = (length as u64, 0);
        for weight in named {
            if weight.range.start < end {
                continue; // A part of the one before has the same bytes.
            }
            end = weight.range.end;
            let bytes = weight.range.end - weight.range.start;
            rest -= bytes;
            parts.push(SizePart {
                ty: Some(weight.tensor_type.to_string()),
                ..SizePart::new(kind, weight.name.clone(), Some(bytes))
            });
        }
        let name = if rest < length as u64 { format!("rest of {name}") } else { name };
        if rest > 0 || length == 0 {
            parts.push(SizePart::new(kind, name, Some(rest)));
        }
    }
    let bytecode = module.bytecode_data().len();
    let tables = module.flatbuffer_bytes().len().saturating_sub(inside + bytecode);
    for (kind, name, bytes) in [
        (PartKind::Bytecode, "VM bytecode", bytecode),
        (PartKind::Tables, "tables and locations", tables),
    ] {
        parts.push(SizePart::new(kind, name.to_owned(), Some(bytes as u64)));
    }
    parts
}

/// What the bytes of a segment are, as far as they say so.
fn content(bytes: &[u8]) -> (PartKind, Option<String>) {
    let identifier = |at: usize| bytes.get(at..at + 4).unwrap_or_default();
    let known = [&b"CDA1"[..], b"CUDA", b"HIP1", b"CDL1", b"VKE1", b"SPVE", b"MTLE", b"WGSL"];
    if bytes.starts_with(b"\x7fELF") {
        return (PartKind::Executable, Some("machine code (ELF)".to_owned()));
    }
    if [0, 4, 8].iter().any(|at| known.contains(&identifier(*at))) {
        return (PartKind::Executable, Some("code of a device".to_owned()));
    }
    if bytes.starts_with(b"PK") || identifier(4) == b"IREE" || identifier(8) == b"IREE" {
        let nested = Module::from_bytes(FileBytes::from(bytes.to_vec())).ok();
        let name = nested.map(|nested| {
            let exports: Vec<&str> = nested.exports().iter().map(|it| it.name.as_str()).collect();
            let exports: Vec<&str> =
                exports.into_iter().filter(|it| !it.starts_with("__")).collect();
            match exports.as_slice() {
                [] => nested.name().to_owned(),
                [only] => (*only).to_owned(),
                [first, rest @ ..] => format!("{first} and {} more", rest.len()),
            }
        });
        return (PartKind::Executable, name);
    }
    let text = std::str::from_utf8(bytes).ok().filter(|it| !it.is_empty());
    let text = text.filter(|it| it.len() <= LONGEST_TEXT && it.chars().all(|it| !it.is_control()));
    match text {
        Some(text) => (PartKind::Text, Some(format!("\"{text}\""))),
        None => (PartKind::Constant, None),
    }
}
