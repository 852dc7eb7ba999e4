//! `iree-dbg verify`: whether a module's bytecode can be executed. Prints one line per defect.
//! Signatures that contradict each other are warnings on standard error: the bytecode can run.

use std::path::PathBuf;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module
    #[arg(value_name = "MODULE.vmfb")]
    module: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let module = crate::modules::open(&arguments.module)?;
    for export in module.exports() {
        let signature = module.function(export.function).map(|function| &function.signature);
        let Some(signature) = signature else { continue };
        let cconv = signature.calling_convention.as_deref();
        for disagreement in abi::explain::explain(cconv, &signature.pairs()).disagreements {
            errln!("warning: @{}: {disagreement}", export.name);
        }
    }
    match vmfb::verify::verify(module) {
        Ok(_) => Ok(ExitStatus::Success),
        Err(defects) => {
            for defect in defects {
                outln!("{defect}");
            }
            Ok(ExitStatus::Failure)
        }
    }
}
