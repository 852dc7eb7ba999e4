//! `iree-dbg verify`: whether a module's bytecode can be executed. Prints one line per defect.

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
    match vmfb::verify::verify(crate::modules::open(&arguments.module)?) {
        Ok(_) => Ok(ExitStatus::Success),
        Err(defects) => {
            for defect in defects {
                println!("{defect}");
            }
            Ok(ExitStatus::Failure)
        }
    }
}
