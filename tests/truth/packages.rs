//! Models from public packages, which are downloaded when the test runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::tools::{finish, repository};

/// Models: a package, and part of the file's path in it.
pub(crate) const MODELS: [(&str, &str, &str); 4] = [
    ("magika", "magika", ".onnx"),
    ("ocr-cls", "rapidocr-onnxruntime", "cls"),
    ("ocr-det", "rapidocr-onnxruntime", "det"),
    ("ocr-rec", "rapidocr-onnxruntime", "rec"),
];

fn run(command: &mut Command) -> Result<(), String> {
    let finished = finish(command)?;
    match finished.status {
        Some(0) => Ok(()),
        _ => Err(format!("{command:?} failed:\n{}", finished.stderr)),
    }
}

/// The path of the model as MLIR.
pub(crate) fn model(package: &str, part: &str) -> Result<PathBuf, String> {
    let folder = repository().join("target/truth-models").join(package);
    if !folder.is_dir() {
        let wheels = folder.with_extension("wheels");
        let python = environment()?;
        let mut download = Command::new(&python);
        download.args(["-m", "pip", "download", "--quiet", "--no-deps", package, "--dest"]);
        run(download.arg(&wheels))?;
        for wheel in files(&wheels, ".whl") {
            run(Command::new(&python).args(["-m", "zipfile", "-e"]).arg(wheel).arg(&folder))?;
        }
    }
    let found = files(&folder, ".onnx");
    let found = found.into_iter().find(|path| path.to_string_lossy().contains(part));
    let onnx = found.ok_or_else(|| format!("{package} has no model {part}"))?;
    let output = onnx.with_extension("mlir");
    if !output.is_file() {
        let importer = environment()?.with_file_name("iree-import-onnx");
        let mut import = Command::new(importer);
        run(import.arg(&onnx).args(["--opset-version", "17", "-o"]).arg(&output))?;
    }
    Ok(output)
}

/// A Python environment with the importer.
fn environment() -> Result<PathBuf, String> {
    let folder = repository().join("target/compilers/onnx");
    let python = folder.join("bin/python");
    if folder.join("bin/iree-import-onnx").is_file() {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let package = "iree-base-compiler[onnx]==3.13.0";
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", package]))?;
    Ok(python)
}

/// The files with this ending, including those in subfolders, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<PathBuf> = entries
        .flat_map(|entry| {
            let path = entry.path();
            if path.is_dir() { files(&path, ending) } else { vec![path] }
        })
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    found.sort();
    found
}
