//! The operations of the user's compiler: found when a session begins or its settings change, read
//! in the background, kept until another compiler is found.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ide::InstalledOperations;

use crate::programs;
use crate::session::Session;

/// What the user can do about a compiler that came with the workspace, if nothing else says whether
/// it is trusted.
pub(crate) fn waiting_for_trust(session: &Session) -> Option<String> {
    if session.settings().trusted.is_some() {
        return None;
    }
    let folder = session.workspace.folders().iter().find_map(|it| compile::waits_for_trust(it))?;
    let folder = folder.display();
    Some(format!(
        "iree-dbg does not run the iree-compile in {folder}: it came with the folder. If the folder \
         is yours, say `iree-dbg trust {folder}`, or name a compiler in IREE_COMPILE."
    ))
}

/// The folder that was read last.
static READ: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Finds and reads the operations of the compiler that checks files. In an untrusted workspace
/// nothing is read.
pub(crate) fn load(session: Arc<Session>) {
    tokio::task::spawn_blocking(move || {
        let settings = session.settings();
        if settings.trusted == Some(false) {
            return;
        }
        let folders = session.workspace.folders();
        let first = folders.first().map(PathBuf::as_path);
        // The compiler that the settings name comes before another one on the PATH.
        let programs = ["iree-opt", "iree-compile"];
        let programs = programs.map(|name| programs::tool(&settings, name, first));
        let configured = settings.check_command.first().map(PathBuf::from);
        let Some(folder) = configured
            .filter(|program| program.is_absolute())
            .into_iter()
            .chain(programs)
            .find_map(|program| ide::installed_dialects(&program.to_string_lossy(), &folders))
        else {
            return;
        };
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if read.as_ref() == Some(&folder) {
            return;
        }
        if let Some(operations) = InstalledOperations::read(&folder) {
            ide::use_installed_operations(Some(Arc::new(operations)));
            // What was said of the workspace's files may be different now.
            session.reports.lock().unwrap_or_else(PoisonError::into_inner).clear();
            *read = Some(folder);
        }
    });
}
