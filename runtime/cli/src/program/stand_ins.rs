//! Bytecode for programs whose device is not here: what the debugger does when it loads a program,
//! for the commands that run one without it.

use std::sync::Arc;

use debug::{Announcer, Candidate, DeviceStandIns, StandInOptions};
use hal::{Config, StandIns};

use crate::failure::Failure;
use crate::modules::LoadedModules;

/// What is compiled before a program runs shows on a terminal, as that takes its time.
pub(super) fn announcer() -> Announcer {
    if crate::printing::errors().is_terminal() {
        Announcer::new(|text| errln!("{text}"))
    } else {
        Announcer::default()
    }
}

/// Adds bytecode for the modules' dispatches to a configuration, if these are for a device that is
/// not here and the modules have debug files. Returns what the user should know.
///
/// # Errors
/// The dispatches cannot be compiled.
pub(crate) fn stand_in(
    modules: &LoadedModules,
    config: &mut Config,
) -> Result<Option<String>, Failure> {
    let files: Vec<_> = modules.iter().map(|module| modules.debug_file(module)).collect();
    let candidates = modules.iter().zip(&files).map(|(module, debug_file)| Candidate {
        path: modules.path(module),
        module,
        debug_file: debug_file.as_ref(),
    });
    let options = StandInOptions { announcer: announcer(), ..StandInOptions::default() };
    let made = DeviceStandIns::for_program(candidates, &options, config, &|| false)?;
    let note = made.as_ref().map(|made| made.note());
    config.stand_ins = made.map(|made| made as Arc<dyn StandIns>);
    Ok(note)
}
