//! Parameters: a model whose weights are in archives of every format, and listings of the archives.
//! IREE's tools are the oracle: texts must be equal.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use conformance::corpus::{Source, Variant};
use conformance::runner::{self, Case};
use conformance::tools::{finish, iree, iree_dbg, repository};
use support::text;

/// The weights: name, and dimensions of 32-bit elements.
const TENSORS: [(&str, &[u64]); 4] =
    [("weights", &[64, 64]), ("scale", &[64]), ("shift", &[64]), ("counter", &[4])];

/// The calls of the model's functions.
const CALLS: [&[&str]; 2] = [&["--function=main", "--input=2x64xf32=1.5"], &["--function=count"]];

fn main() -> ExitCode {
    match Setup::new() {
        Ok(setup) => runner::run(&cases(&Arc::new(setup))),
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn cases(setup: &Arc<Setup>) -> Vec<Case> {
    let mut cases = Vec::new();
    for backend in ["vmvx", "llvm-cpu"] {
        for archive in ["model.safetensors", "model.gguf", "model.irpa", "splats.irpa"] {
            for call in CALLS {
                let setup = setup.clone();
                cases.push(Case::new(format!("{backend} {archive} {}", call[0]), move || {
                    setup.run_same(backend, &[archive], &[archive], call)
                }));
            }
        }
        // Files with a single parameter are our own addition.
        let setup = setup.clone();
        cases.push(Case::new(format!("{backend} raw files"), move || {
            let files = ["weights.bin", "scale.raw", "shift.bin", "counter.npy"];
            setup.run_same(backend, &["model.irpa"], &files, CALLS[0])
        }));
    }
    for archive in ["model.safetensors", "model.gguf", "model.irpa", "splats.irpa"] {
        let setup = setup.clone();
        cases.push(Case::new(format!("table of {archive}"), move || setup.table_same(archive)));
    }
    for (archive, message) in [
        ("missing.irpa", "missing.irpa"),
        ("cut.irpa", "cut short"),
        ("cut.gguf", "cut short"),
        ("cut.safetensors", "cut short"),
        ("global.irpa", "no parameter found in index with key 'weights'"),
    ] {
        let setup = setup.clone();
        cases.push(Case::new(format!("fails: {archive}"), move || setup.fails(archive, message)));
    }
    cases
}

/// A folder with the archives, and the model for both back ends.
struct Setup {
    folder: tempfile::TempDir,
    model: Source,
}

impl Setup {
    fn new() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        write_archives(folder.path()).map_err(|error| error.to_string())?;
        let path = |name: &str| folder.path().join(name).display().to_string();
        let convert = [
            format!("--parameters={}", path("model.safetensors")),
            format!("--output={}", path("model.irpa")),
        ];
        succeed("iree-convert-parameters", &convert)?;
        let splats = TENSORS.map(|(name, dimensions)| {
            let shape: String = dimensions.iter().map(|length| format!("{length}x")).collect();
            format!("--splat={name}={shape}f32=0.25")
        });
        let splats = [&splats[..], &[format!("--output={}", path("splats.irpa"))]].concat();
        succeed("iree-create-parameters", &splats)?;
        let global =
            ["--data=bytes=16xi8=7".to_owned(), format!("--output={}", path("global.irpa"))];
        succeed("iree-create-parameters", &global)?;
        for name in ["irpa", "gguf", "safetensors"] {
            let bytes = std::fs::read(path(&format!("model.{name}"))).map_err(|e| e.to_string())?;
            std::fs::write(path(&format!("cut.{name}")), &bytes[..bytes.len() / 3])
                .map_err(|error| error.to_string())?;
        }
        let model = Source::read(&repository().join("tests/parameters/model.mlir"))?;
        Ok(Self { folder, model })
    }

    fn flags(&self, module: &Path, archives: &[&str], call: &[&str]) -> Vec<String> {
        let mut flags = vec![format!("--module={}", module.display())];
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        flags.extend(archives.iter().map(|name| format!("--parameters=model={}", path(name))));
        flags.push(format!("--parameters={}", path("global.irpa")));
        flags.extend(call.iter().map(|flag| (*flag).to_owned()));
        flags
    }

    fn module(&self, backend: &'static str) -> Result<PathBuf, String> {
        self.model.module(Variant::Compiled { backend, is_zip: true })
    }

    fn run_same(
        &self,
        backend: &'static str,
        their_archives: &[&str],
        our_archives: &[&str],
        call: &[&str],
    ) -> Result<(), String> {
        let module = self.module(backend)?;
        let theirs = succeed("iree-run-module", &self.flags(&module, their_archives, call))?;
        let flags = self.flags(&module, our_archives, call);
        let ours = finish(Command::new(iree_dbg()?).arg("run").args(flags))?;
        same(&theirs, &text(&ours.stdout), &ours.stderr)
    }

    fn table_same(&self, archive: &str) -> Result<(), String> {
        let path = self.folder.path().join(archive).display().to_string();
        let theirs = succeed("iree-dump-parameters", &[format!("--parameters={path}")])?;
        let ours = finish(Command::new(iree_dbg()?).arg("dump").arg(path))?;
        same(&theirs, &text(&ours.stdout), &ours.stderr)
    }

    fn fails(&self, archive: &str, message: &str) -> Result<(), String> {
        let flags = self.flags(&self.module("vmvx")?, &[archive], CALLS[0]);
        let ours = finish(Command::new(iree_dbg()?).arg("run").args(flags))?;
        if ours.status == Some(1) && ours.stderr.contains(message) {
            return Ok(());
        }
        Err(format!("exit status {:?}, expected 1; {}", ours.status, ours.stderr))
    }
}

fn same(theirs: &str, ours: &str, errors: &str) -> Result<(), String> {
    if theirs == ours {
        return Ok(());
    }
    Err(format!("theirs:\n{theirs}\nours:\n{ours}\n{errors}"))
}

/// The output of an IREE tool.
fn succeed(tool: &str, flags: &[String]) -> Result<String, String> {
    let finished = finish(Command::new(iree(tool)?).args(flags))?;
    if finished.status == Some(0) {
        return Ok(text(&finished.stdout));
    }
    Err(format!("{tool} {}: {}", flags.join(" "), finished.stderr))
}

/// The data of a tensor, with no two rows alike.
fn data(index: usize) -> Vec<u8> {
    let count: u64 = TENSORS[index].1.iter().product();
    let value = |at: u64| ((at * 37 + index as u64 * 11) % 64) as f32 / 16.0 - 1.5;
    (0..count).flat_map(|at| value(at).to_le_bytes()).collect()
}

fn write_archives(folder: &Path) -> std::io::Result<()> {
    std::fs::write(folder.join("model.safetensors"), safetensors())?;
    std::fs::write(folder.join("model.gguf"), gguf())?;
    for (index, name) in ["weights.bin", "scale.raw", "shift.bin"].into_iter().enumerate() {
        std::fs::write(folder.join(name), data(index))?;
    }
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }";
    let mut array = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    array.extend(format!("{header:<117}\n").as_bytes());
    array.extend(data(3));
    std::fs::write(folder.join("counter.npy"), array)
}

fn safetensors() -> Vec<u8> {
    let mut offset = 0;
    let mut all = Vec::new();
    let entries = TENSORS.iter().enumerate().map(|(index, (name, dimensions))| {
        let bytes = data(index);
        let start = offset;
        offset += bytes.len();
        all.extend(bytes);
        format!("\"{name}\":{{\"dtype\":\"F32\",\"shape\":{dimensions:?},\"data_offsets\":[{start},{offset}]}}")
    });
    let entries: Vec<String> = entries.collect();
    let header = format!("{{\"__metadata__\":{{\"format\":\"pt\"}},{}}}", entries.join(","));
    let header = format!("{header:<0$}", header.len().next_multiple_of(8));
    [(header.len() as u64).to_le_bytes().as_slice(), header.as_bytes(), &all].concat()
}

fn gguf() -> Vec<u8> {
    let string = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    bytes.extend((TENSORS.len() as u64).to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    string(&mut bytes, "general.architecture");
    bytes.extend(8_u32.to_le_bytes());
    string(&mut bytes, "test");
    let mut all = Vec::new();
    for (index, (name, dimensions)) in TENSORS.iter().enumerate() {
        string(&mut bytes, name);
        bytes.extend((dimensions.len() as u32).to_le_bytes());
        bytes.extend(dimensions.iter().flat_map(|length| length.to_le_bytes()));
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend((all.len() as u64).to_le_bytes());
        all.extend(data(index));
        all.resize(all.len().next_multiple_of(32), 0);
    }
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes.extend(all);
    bytes
}
