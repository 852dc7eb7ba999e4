//! `iree-dbg asm`: VM assembly text to a module.
//!
//! Diagnostics go to standard error. The module is written in spite of warnings.

use std::io::Read;
use std::path::{Path, PathBuf};

use vmfb::assemble::{self, Assembly, Diagnostic};
use vmfb::{FileBytes, Module};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::modules;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module to write
    #[arg(short, long, value_name = "MODULE.vmfb")]
    output: PathBuf,

    /// The module that the text was printed from: the parts that text cannot hold (attributes,
    /// dependencies, source locations) are taken from it
    #[arg(long, value_name = "MODULE.vmfb")]
    original: Option<PathBuf>,

    /// The text; `-` for standard input
    #[arg(value_name = "TEXT.vmasm")]
    input: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let source = read(&arguments.input)?;
    let show = |diagnostics: &[Diagnostic]| {
        let path = arguments.input.display().to_string();
        err!("{}", assemble::render(diagnostics, &source, &path));
    };
    let mut assembly = match assemble::assemble(&source) {
        Ok(assembly) => assembly,
        Err(diagnostics) => {
            show(&diagnostics);
            return Ok(ExitStatus::Failure);
        }
    };
    show(&assembly.warnings);
    if let Some(path) = &arguments.original {
        complete(&mut assembly, path)?;
    }
    let bytes = FileBytes::from(assembly.image.to_bytes()?);
    vmfb::WholeFile::write(&arguments.output, bytes.owned())
        .map_err(|error| format!("cannot write {}: {error}", arguments.output.display()))?;
    show(&defects(&assembly, bytes)?);
    Ok(ExitStatus::Success)
}

fn complete(assembly: &mut Assembly, path: &Path) -> Result<(), Failure> {
    let original = modules::open(path)?;
    for ordinal in assembly.complete_from(&original) {
        errln!(
            "warning: function {} has lost its source locations: its bytecode differs from that \
             in {}",
            ordinal.index(),
            path.display()
        );
    }
    Ok(())
}

/// The defects for which the module will not run.
fn defects(assembly: &Assembly, bytes: FileBytes) -> Result<Vec<Diagnostic>, Failure> {
    let module = Module::from_bytes(bytes)
        .map_err(|error| format!("the module was written, but cannot be loaded: {error}"))?;
    Ok(assembly.verify(module))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut source = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut source).map(|_| ())
    } else {
        vmfb::read_to_its_end(path).map(|bytes| source = bytes)
    };
    read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(source)
}
