//! The texts of the phases that one compilation has printed.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::elide_constants::{LeftOut, copy_with_names};
use crate::resources::{Values, inlined, inlined_with_values};

/// The phase from which executables in bytecode are written anew: their text is then annotated.
pub(crate) const TARGETS: &str = "executable-targets";

/// The last phase. What machine code became is not printed anew from there.
pub(crate) const VM: &str = "vm";

/// Names the format of executables in bytecode in the phases' text.
const BYTECODE: &[u8] = b"vmvx-bytecode-fb";

/// A variant of an executable, as opposed to the description of a target.
const VARIANT: &[u8] = b"hal.executable.variant";

/// A directory with the printed phases: `NAME.6.flow.mlir`.
pub(crate) struct Phases<'d> {
    directory: &'d Path,
}

/// The text of a phase with names in the place of long constants.
pub(crate) struct NamedText {
    pub(crate) text: String,
    /// The resources that it lists.
    pub(crate) values: Values,
    /// The constants, and the file that has them.
    pub(crate) left_out: Option<(PathBuf, Vec<LeftOut>)>,
}

impl NamedText {
    /// A text that is as it was printed.
    pub(crate) fn plain(text: String) -> Self {
        Self { text, values: Values::new(), left_out: None }
    }
}

impl<'d> Phases<'d> {
    pub(crate) fn in_directory(directory: &'d Path) -> Self {
        Self { directory }
    }

    /// The file of a phase.
    pub(crate) fn path(&self, phase: &str) -> Option<PathBuf> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        let ending = format!(".{phase}.mlir");
        let entries = std::fs::read_dir(self.directory).ok()?.flatten();
        entries.map(|entry| entry.path()).find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let before = name.strip_suffix(&ending).and_then(|it| it.rsplit('.').next());
            before.is_some_and(is_number)
        })
    }

    /// The text of a phase.
    pub(crate) fn text(&self, phase: &str) -> Option<String> {
        std::fs::read_to_string(self.path(phase)?).ok().map(inlined)
    }

    /// The same with names in the place of long constants, by which the source has them; and the
    /// resources, by which other phases have them.
    pub(crate) fn text_with_names(&self, phase: &str) -> Option<NamedText> {
        let (path, mut text) = (self.path(phase)?, Vec::new());
        let left_out = copy_with_names(File::open(&path).ok()?, &mut text).ok()?;
        let (text, values) = inlined_with_values(String::from_utf8(text).ok()?);
        Some(NamedText { text, values, left_out: Some((path, left_out)) })
    }

    /// The phase from which the companion is made at least cost, and its file.
    pub(crate) fn for_companion(&self) -> Option<(&'static str, PathBuf)> {
        let targets = self.path(TARGETS);
        let text = targets.as_ref().and_then(|path| std::fs::read(path).ok());
        let has = |text: &[u8], part| memchr::memmem::find(text, part).is_some();
        // The text of an executable in bytecode is in the companion, too.
        match targets.filter(|_| text.is_some_and(|it| has(&it, BYTECODE) && has(&it, VARIANT))) {
            Some(path) => Some((TARGETS, path)),
            None => Some((VM, self.path(VM)?)),
        }
    }
}

/// The text that the compiler has printed after a pass for the whole program. Below it are the
/// texts for functions that it has evaluated on the way.
pub(crate) fn printed_after_pass(directory: &Path) -> Option<String> {
    let mut level = vec![directory.to_owned()];
    while !level.is_empty() {
        let entries = level.iter().filter_map(|folder| std::fs::read_dir(folder).ok());
        let mut paths: Vec<PathBuf> = entries.flatten().flatten().map(|it| it.path()).collect();
        paths.sort();
        let mut texts = paths.iter().filter(|path| path.is_file());
        if let Some(path) = texts.next_back() {
            return std::fs::read_to_string(path).ok().map(inlined);
        }
        level = paths;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn phases_are_found_by_their_number() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a.flow.12.vm.mlir"), "vm");
        let phases = Phases::in_directory(folder.path());
        assert_eq!((phases.text("vm").as_deref(), phases.text("flow")), (Some("vm"), None));
        assert_eq!(phases.for_companion().unwrap().0, VM);
        let targets = folder.path().join("a.flow.10.executable-targets.mlir");
        write(&targets, "hal.executable.variant public @x target(<\"llvm-cpu\">)");
        assert_eq!(phases.for_companion().unwrap().0, VM);
        write(
            &targets,
            "hal.executable.variant public @x target(<\"vmvx\", \"vmvx-bytecode-fb\">)",
        );
        assert_eq!(phases.for_companion().unwrap().0, TARGETS);
    }

    #[test]
    fn the_programs_own_text_is_the_upper_one() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(printed_after_pass(folder.path()), None);
        write(&folder.path().join("module/inner/0_pass.mlir"), "inner");
        assert_eq!(printed_after_pass(folder.path()).as_deref(), Some("inner"));
        write(&folder.path().join("module/1_pass.mlir"), "whole");
        assert_eq!(printed_after_pass(folder.path()).as_deref(), Some("whole"));
    }
}
