//! Inputs that are more than a module: a program with its debug file,
//! machine code, archives of parameters, sources.

use std::path::{Path, PathBuf};

use compile::{Cancellation, CompileRequest, compile};
use conformance::tools::repository;
use debug::{LaunchOptions, ModuleSource};

use crate::recordings::{self, Has};

/// A program and the files beside it.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) module: Vec<u8>,
    pub(crate) companion: Vec<u8>,
    pub(crate) dispatches: String,
    pub(crate) debug_file: Vec<u8>,
    /// The function to call.
    pub(crate) function: &'static str,
    pub(crate) inputs: &'static [&'static str],
}

impl Program {
    /// Its call.
    fn launch_options(&self) -> LaunchOptions {
        LaunchOptions {
            modules: vec![ModuleSource::Path(self.path.clone())],
            function: Some(self.function.to_owned()),
            inputs: self.inputs.iter().map(|input| (*input).to_owned()).collect(),
            ..LaunchOptions::default()
        }
    }
}

#[derive(Debug)]
pub(crate) struct Samples {
    pub(crate) programs: Vec<Program>,
    /// Files of runs of these programs.
    pub(crate) recordings: Vec<Vec<u8>>,
    /// Shared objects for this machine, from a module's executables.
    pub(crate) elf: Vec<Vec<u8>>,
    /// Executables for graphics processors: of Vulkan and of CUDA.
    pub(crate) gpu_code: [Vec<u8>; 2],
    /// Pairs of extension and contents.
    pub(crate) archives: Vec<(&'static str, Vec<u8>)>,
    /// Texts in MLIR.
    pub(crate) sources: Vec<String>,
    /// The folder for damaged files.
    pub(crate) folder: tempfile::TempDir,
}

const PROGRAMS: [(&str, &str, &[&str]); 3] = [
    ("tests/vscode/workspace/euclid.mlir", "lcm", &["48", "36"]),
    ("runtime/cli/tests/device/perceptron.mlir", "perceptron", &["4x8xf32=1"]),
    ("tests/corpus/control_flow.mlir", "", &[]),
];

impl Samples {
    pub(crate) fn read() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut programs = Vec::new();
        for (source, function, inputs) in PROGRAMS {
            let path = compiled(&repository().join(source), folder.path(), &[])?;
            let read = |path: &Path| std::fs::read(path).unwrap_or_default();
            let file = debuginfo::DebugFile::open(&debuginfo::DebugFile::path_beside(&path));
            let file = file.map_err(|error| error.to_string())?;
            let companion = file.companion().map_err(|error| error.to_string())?;
            programs.push(Program {
                module: read(&path),
                companion: companion.unwrap_or_default(),
                dispatches: file.dispatches().ok().flatten().unwrap_or_default(),
                debug_file: file.bytes().owned().to_vec(),
                path,
                function,
                inputs,
            });
        }
        let native = folder.path().join("native");
        std::fs::create_dir(&native).map_err(|error| error.to_string())?;
        let flags = ["--iree-hal-local-target-device-backends=llvm-cpu"];
        let native = compiled(&repository().join(PROGRAMS[1].0), &native, &flags)?;
        let bytes = std::fs::read(&native).map_err(|error| error.to_string())?;
        let runs = programs.iter().filter(|program| !program.function.is_empty());
        let sample = |options, has| recordings::sample(options, folder.path(), has);
        let mut recordings = Vec::new();
        for program in runs {
            recordings.push(sample(program.launch_options(), Has::Digests)?);
            recordings.push(sample(program.launch_options(), Has::Results)?);
        }
        let machine_code = LaunchOptions {
            modules: vec![ModuleSource::Path(native.clone())],
            ..programs[1].launch_options()
        };
        recordings.push(sample(machine_code, Has::Results)?);
        Ok(Self {
            recordings,
            programs,
            elf: shared_objects(&bytes),
            gpu_code: [
                gpu_code(folder.path(), "vulkan", b"VKE1")?,
                gpu_code(folder.path(), "cuda", b"CDA1")?,
            ],
            archives: archives(),
            sources: sources()?,
            folder,
        })
    }
}

fn compiled(source: &Path, folder: &Path, flags: &[&str]) -> Result<PathBuf, String> {
    let request = CompileRequest {
        input: source.to_owned(),
        output: folder.join(source.with_extension("vmfb").file_name().unwrap_or_default()),
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        ..CompileRequest::default()
    };
    let made = compile(&request, &Cancellation::default(), &mut |_| {});
    Ok(made.map_err(|error| error.to_string())?.module)
}

fn shared_objects(module: &[u8]) -> Vec<Vec<u8>> {
    let starts = module.windows(4).enumerate().filter(|(_, window)| window == b"\x7fELF");
    starts.map(|(at, _)| module[at..].to_vec()).collect()
}

/// An executable as the compiler makes it for a graphics processor, with its identifier. What comes
/// after it in the module is cut off, by the length that its header says.
fn gpu_code(folder: &Path, device: &str, identifier: &[u8; 4]) -> Result<Vec<u8>, String> {
    const HEADER: usize = 64;
    let folder = folder.join(device);
    std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
    let source = repository().join(PROGRAMS[1].0);
    let module = compiled(&source, &folder, &[&format!("--iree-hal-target-device={device}")])?;
    let bytes = std::fs::read(&module).map_err(|error| error.to_string())?;
    let at = bytes.windows(4).position(|window| window == identifier).ok_or("no such code")?;
    let length = bytes.get(at + 8..at + 12).and_then(|it| it.first_chunk()).ok_or("no header")?;
    let end = at + HEADER + u32::from_le_bytes(*length) as usize;
    let executable = bytes.get(at..end).ok_or("no whole executable")?.to_vec();
    hal::examine_gpu_code(&executable).map_err(|error| error.to_string())?;
    Ok(executable)
}

fn sources() -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    for folder in ["tests/corpus", "tests/models", "lsp/ide/tests"] {
        let entries = std::fs::read_dir(repository().join(folder));
        let entries = entries.map_err(|error| format!("{folder}: {error}"))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|it| it == "mlir")) {
            texts.push(std::fs::read_to_string(path).map_err(|error| error.to_string())?);
        }
    }
    Ok(texts)
}

/// Small archives of each kind.
fn archives() -> Vec<(&'static str, Vec<u8>)> {
    vec![("safetensors", safetensors()), ("gguf", gguf()), ("irpa", irpa()), ("npy", npy())]
}

fn safetensors() -> Vec<u8> {
    let header = br#"{"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"b":{"dtype":"I8","shape":[4],"data_offsets":[16,20]},"__metadata__":{"k":"v"}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend_from_slice(&[7; 20]);
    bytes
}

fn gguf() -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3_u32.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes()); // tensors
    bytes.extend(2_u64.to_le_bytes()); // pairs
    bytes.extend([text("general.name"), 8_u32.to_le_bytes().to_vec(), text("x")].concat());
    // An array of three 32-bit numbers.
    bytes.extend([text("a"), 9_u32.to_le_bytes().to_vec(), 4_u32.to_le_bytes().to_vec()].concat());
    bytes.extend(3_u64.to_le_bytes());
    bytes.extend([1_u32, 2, 3].into_iter().flat_map(u32::to_le_bytes));
    bytes.extend(text("w"));
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend([2_u64, 2].into_iter().flat_map(u64::to_le_bytes));
    bytes.extend(0_u32.to_le_bytes()); // f32
    bytes.extend(0_u64.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes.extend([0; 16]);
    bytes
}

/// A header, a table with a splat and a range of the data, their names, the data.
fn irpa() -> Vec<u8> {
    let words = |words: &[u64]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    let entry = |size: u64, sort: u32, name: u64| {
        let rest = words(&[0, name, 1, 0, 0, 16]);
        [words(&[size]), sort.to_le_bytes().to_vec(), rest].concat()
    };
    let mut bytes =
        [b"IRPA\0\0\0\0".to_vec(), words(&[88, 0, 0, 2, 96, 172, 272, 2, 320, 16])].concat();
    bytes.resize(96, 0);
    bytes.extend([entry(85, 1, 0), words(&[16, 0x3F80_0000, 0]), vec![4]].concat());
    bytes.resize(192, 0);
    bytes.extend([entry(76, 2, 1), words(&[0, 16])].concat());
    bytes.resize(272, 0);
    bytes.extend(b"wb");
    bytes.resize(336, 7);
    bytes
}

fn npy() -> Vec<u8> {
    let tensor = abi::tensor::Tensor::parse("2x3xf32=1 2 3 4 5 6", 64).expect("it is a tensor");
    abi::npy::write(&tensor).expect("it has a type of NumPy")
}
