//! Lines of Python, by the lines of the program that they have made.

use std::collections::BTreeSet;

use debuginfo::FileId;

use super::functions::Wanted;
use super::module::LoadedModule;
use super::program::Program;
use super::resolve::Resolution;

impl Program {
    /// Whether a file is of the Python that made the program.
    pub(crate) fn is_python(&self, file: &str) -> bool {
        self.python_files(file).next().is_some()
    }

    /// The places of a line of Python: those of all operations that it has made. `None` if the file
    /// is none of the program's Python.
    pub(super) fn on_python_line(&self, file: &str, line: u32) -> Option<Resolution> {
        let mut files = self.python_files(file).peekable();
        files.peek()?;
        let mut found = Resolution { line: Some(line), ..Resolution::default() };
        for (module, id) in files {
            for (source, made) in module.info.made_by_python(id, line).unwrap_or_default() {
                found.extend(self.on_line(module.info.locations().file(source), made));
            }
        }
        Some(found)
    }

    /// The places where calls of a function of Python begin: the first operation of each that has
    /// code. `None` if no function is called so.
    pub(super) fn in_python_function(&self, name: &str) -> Option<Resolution> {
        let wanted = Wanted::new(name);
        let fits = |name: &str| wanted.fits_python(name);
        let modules = self.modules.iter().filter(|it| !it.is_nested && it.info.has_python());
        let mut found = None;
        for module in modules {
            for call in module.info.calls_in_python(&fits) {
                let found: &mut Resolution = found.get_or_insert_default();
                let files = module.info.locations();
                let mut places =
                    call.iter().map(|(file, line)| self.on_line(files.file(*file), *line));
                let mut first = places.find(Resolution::is_anywhere).unwrap_or_default();
                if first.locations.is_empty() {
                    // An operation may be several dispatches: the call begins before the first.
                    first.commands.truncate(1);
                }
                found.extend(first);
            }
        }
        if let Some(found) = &mut found
            && !found.is_anywhere()
        {
            found.message = Some(format!("the program has no code of {name}"));
        }
        found
    }

    /// The lines of a file of Python that have made operations.
    pub(super) fn lines_of_python(&self, file: &str) -> BTreeSet<u32> {
        let lines = self.python_files(file).filter_map(|(module, id)| module.info.python_lines(id));
        lines.flatten().collect()
    }

    /// The modules that a file of Python has made, and what they call it.
    fn python_files<'p>(
        &'p self,
        file: &'p str,
    ) -> impl Iterator<Item = (&'p LoadedModule, FileId)> {
        let modules = self.modules.iter().filter(|it| !it.is_nested && it.info.has_python());
        modules.flat_map(move |module| {
            module.python_files(file).into_iter().map(move |id| (module, id))
        })
    }
}

impl LoadedModule {
    /// The files of Python that a name means here.
    pub(crate) fn python_files(&self, name: &str) -> Vec<FileId> {
        let files = self.info.match_file(name).map(|(_, files)| files).unwrap_or_default();
        files.into_iter().filter(|id| self.info.is_of_python(*id)).collect()
    }
}
