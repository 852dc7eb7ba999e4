//! `iree-dbg doctor`: what a file would do, as JSON; and `debug --inspect`, the same as text.
//! Nothing of the file runs, and no program is started.

use std::path::{Path, PathBuf};

use recording::{Inspection, Purpose, Recorded};
use serde::Serialize;
use vmfb::{FileBytes, Module};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A module, or the file of a recorded run
    #[arg(value_name = "MODULE.vmfb|RECORDING")]
    file: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let found = Checkup::of(&arguments.file)?;
    outln!("{}", serde_json::to_string_pretty(&found)?);
    Ok(found.status())
}

/// `debug --inspect`.
pub(crate) fn inspect(file: &Path) -> Result<ExitStatus, Failure> {
    let found = Checkup::of(file)?;
    out!("{}", found.text());
    Ok(found.status())
}

/// The version of the schema, `schemas/doctor.schema.json`.
const SCHEMA: u32 = 1;

/// What is known of a file.
#[derive(Serialize)]
struct Checkup {
    schema_version: u32,
    file: String,
    kind: Kind,
    bytes: u64,
    modules: Vec<CheckedModule>,
    /// If it is one.
    recording: Option<Inspection>,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Module,
    Recording,
}

/// A module, with what is wrong with it.
#[derive(Serialize)]
struct CheckedModule {
    name: String,
    bytes: usize,
    machine_code: MachineCode,
    exports: Vec<String>,
    imports: Vec<String>,
    /// Why it cannot be loaded, or the verifier refuses it. Such a module does not run.
    defects: Vec<String>,
}

/// Whether a module has code for a processor.
#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum MachineCode {
    /// It has, and would run it.
    Yes,
    /// It has shaders, which a device of Vulkan would run.
    Shaders,
    /// It has kernels, which a device of CUDA or HIP would run.
    Kernels,
    /// It loads executables, and none is machine code as far as is seen in its data.
    NotSeen,
    /// It loads no executables.
    No,
}

impl Checkup {
    fn of(file: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::metadata(file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?
            .len();
        let name = file.display().to_string();
        if recording::is_recording(file) {
            let recorded = Recorded::open(file)?;
            let inspection = recorded.inspect()?;
            let modules = recorded.modules()?.into_iter();
            let modules = modules.map(|(name, bytes)| checked(name, bytes)).collect();
            let (kind, recording) = (Kind::Recording, Some(inspection));
            return Ok(Self {
                schema_version: SCHEMA,
                file: name,
                kind,
                bytes,
                modules,
                recording,
            });
        }
        let contents = vmfb::archive::open(file)?;
        let modules = vec![checked(name.clone(), contents)];
        Ok(Self {
            schema_version: SCHEMA,
            file: name,
            kind: Kind::Module,
            bytes,
            modules,
            recording: None,
        })
    }

    fn status(&self) -> ExitStatus {
        match self.modules.iter().all(|module| module.defects.is_empty()) {
            true => ExitStatus::Success,
            false => ExitStatus::Failure,
        }
    }

    fn text(&self) -> String {
        let mut lines = Vec::new();
        match &self.recording {
            None => lines.push(format!("{}: a module, {}", self.file, bytes(self.bytes))),
            Some(it) => {
                lines.push(format!("{}: a recording, {}", self.file, bytes(self.bytes)));
                lines.extend(it.run.iter().map(|line| format!("  {line}")));
                let function = it.function.as_deref().unwrap_or("(the only export)");
                lines.push(format!("calls {function} on {}", it.devices.join(", ")));
                let inputs = it.inputs.iter().map(|input| format!("  --input={input}"));
                lines.extend(inputs);
                lines.push(format!("takes from the file, up to {} unpacked:", bytes(it.budget)));
                lines.extend(it.files.iter().map(|file| {
                    let purpose = match file.purpose {
                        Purpose::Module => "module",
                        Purpose::DebugFile => "debug file",
                        Purpose::Input => "input",
                        Purpose::Source => "source",
                    };
                    format!("  {purpose} {}, {}", file.name, bytes(file.bytes))
                }));
                lines.extend(it.parameters.iter().map(|archive| {
                    let here = if archive.is_here { "is here" } else { "is not here" };
                    let size = bytes(archive.bytes);
                    format!("wants parameters from {}, {size}: it {here}", archive.path)
                }));
                let libraries = it.libraries.iter();
                lines.extend(libraries.map(|it| format!("called the library {it}: not loaded")));
            }
        }
        for module in &self.modules {
            let code = match module.machine_code {
                MachineCode::Yes if self.kind == Kind::Recording => {
                    "has machine code, which runs in a sandbox, unless --sandbox=off"
                }
                MachineCode::Yes => "has machine code, which runs as you, unless --sandbox=on",
                MachineCode::Shaders => {
                    "has shaders, which run on a device of Vulkan, through its driver, as you"
                }
                MachineCode::Kernels => {
                    "has kernels, which run on a device of CUDA or HIP, through its driver, as you"
                }
                MachineCode::NotSeen => {
                    "loads executables; no machine code is seen in it, and --no-native refuses any"
                }
                MachineCode::No => "has no machine code: it loads no executables",
            };
            lines.push(format!("module {}: {code}", module.name));
            let defects = module.defects.iter().map(|defect| format!("  does not run: {defect}"));
            lines.extend(defects);
        }
        lines.push("Nothing was run.".to_owned());
        lines.join("\n") + "\n"
    }
}

fn checked(name: String, bytes: FileBytes) -> CheckedModule {
    let length = bytes.len();
    let module = match Module::from_bytes(bytes) {
        Ok(module) => module,
        Err(error) => {
            return CheckedModule {
                name,
                bytes: length,
                machine_code: MachineCode::No,
                exports: Vec::new(),
                imports: Vec::new(),
                defects: vec![error.to_string()],
            };
        }
    };
    let machine_code = machine_code(&module);
    let exports = module.exports().iter().map(|it| it.name.clone()).collect();
    let imports = module.imports().iter().map(|it| it.full_name.clone()).collect();
    let verified = vmfb::verify::verify(module);
    let defects = verified.err().into_iter().flatten().map(|it| it.to_string()).collect();
    CheckedModule { name, bytes: length, machine_code, exports, imports, defects }
}

/// How libraries and programs of all systems begin: ELF, Mach-O of two sizes, with several
/// processors, and PE.
const BEGINS: [&[u8]; 5] =
    [b"\x7fELF", b"\xCF\xFA\xED\xFE", b"\xCE\xFA\xED\xFE", b"\xCA\xFE\xBA\xBE", b"MZ"];

/// The identifiers of executables of shaders, which stand at their beginning or, in older ones,
/// after an offset.
const SHADERS: [&[u8]; 2] = [b"VKE1", b"SPVE"];

/// The same for kernels of CUDA and HIP.
const KERNELS: [&[u8]; 2] = [b"CDA1", b"HIP1"];

fn machine_code(module: &Module) -> MachineCode {
    let loads = |name: &str| {
        matches!(name, "hal.executable.create" | "hal_loader.executable.load")
            || name.ends_with(".executable.create")
    };
    if !module.imports().iter().any(|import| loads(&import.full_name)) {
        return MachineCode::No;
    }
    let begins = |range: &std::ops::Range<usize>| {
        let end = range.end.min(range.start.saturating_add(8));
        module.file_bytes().get(range.start..end)
    };
    let is_code = |bytes: &[u8]| BEGINS.iter().any(|begin| bytes.starts_with(begin));
    let is_one = |identifiers: [&[u8]; 2], bytes: &[u8]| {
        identifiers.iter().any(|it| bytes.starts_with(it) || bytes.ends_with(it))
    };
    let has = |is_wanted: &dyn Fn(&[u8]) -> bool| {
        let mut segments = module.rodata().iter();
        segments.any(|it| begins(&it.range).is_some_and(|bytes| is_wanted(&bytes)))
    };
    if has(&is_code) {
        MachineCode::Yes
    } else if has(&|bytes| is_one(SHADERS, bytes)) {
        MachineCode::Shaders
    } else if has(&|bytes| is_one(KERNELS, bytes)) {
        MachineCode::Kernels
    } else {
        MachineCode::NotSeen
    }
}

/// A size for people.
fn bytes(count: u64) -> String {
    match count {
        0..10_240 => format!("{count} bytes"),
        10_240..10_485_760 => format!("{} KiB", count >> 10),
        _ => format!("{} MiB", count >> 20),
    }
}
