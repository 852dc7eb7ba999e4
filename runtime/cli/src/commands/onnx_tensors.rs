//! The tensors of an ONNX model as ONNX Runtime computes them, as files for `iree-dbg diff`.
//!
//! ONNX Runtime is a package of Python, so a file of our package runs there as a script.

use std::path::Path;
use std::process::{Command, Stdio};

use abi::cconv::{Signature, ValueType};
use debug::LaunchOptions;
use tempfile::TempDir;

use crate::failure::Failure;

const SCRIPT: &str = include_str!("../../../python/iree_dbg/_onnx_tensors.py");

/// Runs a model on the inputs of a program. The folder has a `.npy` file for each tensor by its
/// name, and `result0.npy` for the first result.
///
/// # Errors
/// There is no Python with ONNX Runtime, an input cannot be read, or what the script says.
pub(super) fn computed(model: &Path, options: &LaunchOptions) -> Result<TempDir, Failure> {
    let model = model.canonicalize().map_err(|error| format!("{}: {error}", model.display()))?;
    let (given, left, empty) = (tempfile::tempdir()?, tempfile::tempdir()?, tempfile::tempdir()?);
    let modules = ["onnx", "onnxruntime", "numpy"];
    let here = std::env::current_dir().ok();
    let python = compile::find_python(&modules, here.as_deref(), empty.path())?;
    let host = hal::Host::new(&options.host);
    let arguments = vec![ValueType::Ref; options.inputs.len()];
    let signature = Signature { arguments, ..Signature::default() };
    let inputs = values::parse_inputs(&host, &signature, &options.inputs)?;
    for (index, input) in inputs.iter().enumerate() {
        let path = given.path().join(format!("{index}.npy"));
        values::write_output(input, &format!("@{}", path.display()))?;
    }
    let mut command = Command::new(&python);
    command.args(["-c", SCRIPT]).arg(&model).arg(given.path()).arg(left.path());
    command.current_dir(empty.path()).stdin(Stdio::null());
    let ran = command.output().map_err(|error| format!("{}: {error}", python.display()))?;
    if ran.status.success() {
        return Ok(left);
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    let last = said.trim().lines().last().unwrap_or("it says nothing");
    Err(format!("ONNX Runtime cannot run {}: {last}", model.display()).into())
}
