//! `iree-dbg trust`: whose programs may run. A compiler that lies in a project's folder runs only
//! if the folder is trusted.

use std::path::PathBuf;

use compile::TrustedFolders;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder whose programs may run; without one, the folders that are trusted are listed
    folder: Option<PathBuf>,

    /// Trust it no longer
    #[arg(long, requires = "folder")]
    remove: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let mut trusted = TrustedFolders::of_user();
    match &arguments.folder {
        None => trusted.folders().iter().for_each(|folder| outln!("{}", folder.display())),
        Some(folder) if arguments.remove => {
            if !trusted.remove(folder)? {
                return Err(format!("{} was not trusted", folder.display()).into());
            }
        }
        Some(folder) => {
            let folder = trusted.add(folder)?;
            errln!("note: programs in {} may run now", folder.display());
        }
    }
    Ok(ExitStatus::Success)
}
