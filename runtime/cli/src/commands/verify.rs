//! `iree-dbg verify`: whether a module's bytecode can be executed; one line a defect.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module
    #[arg(value_name = "MODULE.vmfb")]
    module: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match vmfb::verify::verify(crate::modules::open(&arguments.module)?) {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(defects) => {
            for defect in defects {
                println!("{defect}");
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
