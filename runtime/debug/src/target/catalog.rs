//! Lists of a program's parts: modules, source files, lines with code.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use debuginfo::MapSource;
use vm::ModuleIndex;

use super::module::LoadedModule;
use super::operations::{Operation, lone_statement};
use super::program::Program;
use crate::view::address::LinearAddress;

/// A module, and how much of its origin is known.
#[derive(Clone, Debug)]
pub struct ModuleDetails {
    /// Its index in the program.
    pub index: ModuleIndex,
    /// Its name.
    pub name: String,
    /// Its file, if it was loaded from one.
    pub path: Option<PathBuf>,
    /// Whether it is code for a device, from inside another module.
    pub is_nested: bool,
    /// The number of its functions.
    pub functions: usize,
    /// The number of functions with a source map.
    pub mapped: usize,
    /// Whether a debug companion was found.
    pub has_companion: bool,
    /// Its debug file, if there is one.
    pub debug_file: Option<PathBuf>,
}

/// A source file of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// The name that the compiler was given.
    pub file: String,
    /// Where the file is on this machine, if it was found.
    pub path: Option<PathBuf>,
}

/// An operation of a source file that has code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CodeSite {
    /// Counted from 1.
    pub line: u32,
    /// The column of its name, counted from 1.
    pub column: u32,
    /// The column after its end, if it ends on this line; else the column after the end of the
    /// line.
    pub end_column: u32,
}

impl Program {
    /// The modules of the program, including modules for devices that were loaded.
    #[must_use]
    pub fn catalog(&self) -> Vec<ModuleDetails> {
        self.modules.iter().map(details).collect()
    }

    /// The addresses of a module's bytecode: the first, and the one after the last.
    #[must_use]
    pub fn address_range(&self, module: ModuleIndex) -> Option<(LinearAddress, LinearAddress)> {
        let functions = self.module(module)?.module.functions_with_ordinals();
        let end = functions.map(|(_, function)| function.bytecode.end).max()?;
        Some((LinearAddress::at(module, 0), LinearAddress::at(module, end)))
    }

    /// The source files of the program, each once.
    #[must_use]
    pub fn source_files(&self) -> Vec<SourceFile> {
        let mut found: Vec<SourceFile> = Vec::new();
        for module in &self.modules {
            for (id, file) in module.info.files() {
                if found.iter().all(|known| known.file != file) {
                    let path = module.info.source_path(id);
                    let path = path.map(|path| std::path::absolute(&path).unwrap_or(path));
                    found.push(SourceFile { file: file.to_owned(), path });
                }
            }
        }
        found
    }

    /// The operations in a range of lines that have code; in order, each once.
    #[must_use]
    pub fn code_sites(&self, file: &str, lines: &RangeInclusive<u32>) -> Vec<CodeSite> {
        let mut found = BTreeSet::new();
        for module in &self.modules {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                found.extend(module.info.lines_with_code(id, lines.clone()));
            }
        }
        let sites = found.into_iter().flat_map(|line| {
            let operations = self.operations_on(file, line);
            let site = |(_, operation): &(bool, Operation)| CodeSite {
                line,
                column: lone_statement(&operations, operation.column).unwrap_or(operation.column),
                end_column: operation.extent.end,
            };
            operations.iter().map(site).collect::<Vec<_>>()
        });
        let mut sites: Vec<CodeSite> = sites.collect();
        let mut computed = self.lines_of_commands(file, lines);
        computed.extend(self.lines_of_python(file).range(lines.clone()));
        for line in computed {
            if sites.iter().all(|site| site.line != line) {
                sites.extend(self.command_site(file, line));
            }
        }
        sites.sort_unstable();
        sites.dedup_by_key(|site| (site.line, site.column));
        sites
    }

    /// The text of a source file, by its name in the modules.
    #[must_use]
    pub fn source_text(&self, file: &str) -> Option<String> {
        let mut named = self.files_named(file);
        named.find_map(|(info, id)| info.source(id).map(|source| source.text().to_owned()))
    }

    /// A line of a source file; lines are counted from 1.
    #[must_use]
    pub fn line_of_source(&self, file: &str, line: u32) -> Option<String> {
        let mut named = self.files_named(file);
        named.find_map(|(info, id)| info.line_text(id, line).map(str::to_owned))
    }

    /// Whether the text of a source file can be read.
    #[must_use]
    pub fn has_source(&self, file: &str) -> bool {
        self.files_named(file).any(|(info, id)| info.has_source(id))
    }
}

impl Program {
    /// The operation of a line that a command executes.
    fn command_site(&self, file: &str, line: u32) -> Option<CodeSite> {
        self.modules.iter().find_map(|module| {
            let (_, files) = module.info.match_file(file)?;
            let text = module.info.line_text(*files.first()?, line)?;
            let column = text.len() - text.trim_start().len() + 1;
            let (column, end) = (u32::try_from(column).ok()?, u32::try_from(text.len() + 1).ok()?);
            Some(CodeSite { line, column, end_column: end })
        })
    }
}

fn details(module: &LoadedModule) -> ModuleDetails {
    let completeness = module.info.completeness();
    let functions = completeness.functions.len();
    ModuleDetails {
        index: module.index,
        name: module.module.name().to_owned(),
        path: module.path.clone(),
        is_nested: module.is_nested,
        functions,
        mapped: functions - completeness.count(MapSource::Nothing),
        has_companion: completeness.has_companion,
        debug_file: module.debug_file.as_ref().map(|file| file.path().to_owned()),
    }
}
