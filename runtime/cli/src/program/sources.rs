//! Programs that are named by their source, or by an ONNX model: they are compiled first, into a
//! folder that lasts as long as the command.

use std::cell::OnceCell;
use std::path::PathBuf;

use compile::{Cancellation, CompileRequest, Scratch, compile, for_device, is_source};
use hal::DeviceKind;

use crate::failure::Failure;

/// The flags for sources, and what was made of them.
#[derive(clap::Args)]
pub(crate) struct SourceArguments {
    /// Bring an ONNX model to this version of ONNX before it is imported: 17 is one that IREE knows
    #[arg(long = "opset-version", alias = "opset_version", value_name = "NUMBER")]
    opset: Option<u32>,

    #[arg(skip)]
    scratch: OnceCell<Scratch>,
}

impl SourceArguments {
    /// The path of a module. A source is compiled first, for the device that it is to run on;
    /// `on_line` gets what the compiler says.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub(crate) fn module(
        &self,
        path: PathBuf,
        device: DeviceKind,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<PathBuf, Failure> {
        if !is_source(&path) {
            return Ok(path);
        }
        let folder = match self.scratch.get() {
            Some(folder) => folder,
            None => {
                let made = Scratch::new("iree-dbg-")?;
                self.scratch.get_or_init(|| made)
            }
        };
        let name = path.file_name().unwrap_or_default();
        let output = folder.path().join(name).with_extension("vmfb");
        let request = CompileRequest {
            input: path,
            output,
            opset: self.opset,
            flags: for_device(device.name(), Vec::new()),
            ..CompileRequest::default()
        };
        Ok(compile(&request, &Cancellation::default(), on_line)?.module)
    }
}
