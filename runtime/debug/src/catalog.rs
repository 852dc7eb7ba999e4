//! What a program is made of, for lists of it: modules, source files, lines that have code.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use debuginfo::MapSource;
use vm::ModuleIndex;

use crate::address::LinearAddress;
use crate::breakpoint::BreakpointSpec;
use crate::debugger::Debugger;
use crate::program::{LoadedModule, Program};

/// A module, and how much is known of where its code came from.
#[derive(Clone, Debug)]
pub struct ModuleDetails {
    /// Its place in the program.
    pub index: ModuleIndex,
    /// Its name.
    pub name: String,
    /// Its file, if it was loaded from one.
    pub path: Option<PathBuf>,
    /// Whether it came out of another module, as code for a device.
    pub is_nested: bool,
    /// How many functions it has.
    pub functions: usize,
    /// How many of them have a source map.
    pub mapped: usize,
    /// Whether a debug companion was found.
    pub has_companion: bool,
}

/// A source file that code came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// As the compiler was given it.
    pub file: String,
    /// Where it is on this machine, if it was found.
    pub path: Option<PathBuf>,
}

/// An operation of a source file that has code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CodeSite {
    /// From 1.
    pub line: u32,
    /// That of its name, from 1.
    pub column: u32,
    /// The one behind it, as far as it is on the line.
    pub end_column: u32,
}

impl Program {
    /// The modules of the program, those for devices included as far as they are loaded.
    #[must_use]
    pub fn catalog(&self) -> Vec<ModuleDetails> {
        self.modules.iter().map(details).collect()
    }

    /// Where a module's bytecode lies: its first address, and the one behind its last.
    #[must_use]
    pub fn address_range(&self, module: ModuleIndex) -> Option<(LinearAddress, LinearAddress)> {
        let functions = self.module(module)?.module.functions_with_ordinals();
        let end = functions.map(|(_, function)| function.bytecode.end).max()?;
        Some((LinearAddress::at(module, 0), LinearAddress::at(module, end)))
    }

    /// The source files that code came from, each once.
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

    /// The operations of a file, in a range of lines, that have code; in order, each once.
    #[must_use]
    pub fn code_sites(&self, file: &str, lines: &RangeInclusive<u32>) -> Vec<CodeSite> {
        let mut found = BTreeSet::new();
        for module in &self.modules {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                found.extend(module.info.lines_with_code(id, lines.clone()));
            }
        }
        let sites = found.into_iter().flat_map(|line| {
            self.operations_on(file, line).into_iter().map(move |(_, operation)| CodeSite {
                line,
                column: operation.column,
                end_column: operation.extent.end,
            })
        });
        let mut sites: Vec<CodeSite> = sites.collect();
        for line in self.lines_of_commands(file, lines) {
            if sites.iter().all(|site| site.line != line) {
                sites.extend(self.command_site(file, line));
            }
        }
        sites.sort_unstable();
        sites.dedup_by_key(|site| (site.line, site.column));
        sites
    }
}

impl Program {
    /// The operation of a line that is what a command does.
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

/// The most lines of a disassembly that are looked at for one question. Views ask for a few.
const MAX_LISTING_LINES: u32 = 10_000;

impl Debugger {
    /// The lines of a module's disassembly, in a range, that a breakpoint can be on.
    #[must_use]
    pub fn listing_sites(&self, module: ModuleIndex, lines: &RangeInclusive<u32>) -> Vec<u32> {
        let last = lines.start().saturating_add(MAX_LISTING_LINES);
        let lines = *lines.start()..=last.min(*lines.end());
        let is_code = |line: &u32| {
            let spec = BreakpointSpec::ListingLine { module, line: *line };
            self.program.resolve(&spec).line == Some(*line)
        };
        lines.filter(is_code).collect()
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
    }
}
