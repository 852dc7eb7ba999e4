//! A compiled module as a document: its disassembly, with source lines beside instructions where
//! the module or its debug file has them, and its metadata in comments.
//!
//! Line for line, this is the output of `iree-dbg dump --output=disassembly --bytecode_offsets`,
//! because debuggers count lines. Additions stand at the ends of lines or after the last line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use debuginfo::{Companion, DebugInfo};
use vmfb::LoadError;
use vmfb::print::{self, Disassembly, DisassemblyOptions, Rodata};

/// The text of a module and the origins of its lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleText {
    /// The text: `.vmasm` with comments.
    pub text: String,
    /// For each source file, pairs of a line in it (from 1) and a line of the text that it became
    /// (from 0).
    pub lines: HashMap<PathBuf, Vec<(u32, u32)>>,
    /// For each line of the text, the file, line and column that an instruction comes from.
    pub places: Vec<Option<(PathBuf, u32, u32)>>,
}

/// Reads a module as text.
///
/// # Errors
/// [`LoadError`]: why the file is not a module.
pub fn module_text(path: &Path) -> Result<ModuleText, LoadError> {
    let module = vmfb::Module::open(path)?;
    // An unusable debug file counts as none; the text says what is missing.
    let companion = Companion::of_module(path, module.file_bytes(), None).ok().flatten();
    let info = DebugInfo::load(&module, companion.as_ref());
    let options =
        DisassemblyOptions { bytecode_offsets: true, function: None, rodata: Rodata::Elide };
    let disassembly = print::disassemble(&module, &options);
    let mut made = ModuleText::default();
    body(&mut made, path, &disassembly, &info);
    made.push("");
    for line in print::metadata(&module).lines() {
        // Headings are comments already, and empty lines need no mark.
        match line {
            "" => made.push("//"),
            _ if line.starts_with("//") => made.push(line),
            _ => made.push(&format!("// {line}")),
        }
    }
    for message in info.completeness().messages() {
        made.push(&format!("// {message}"));
    }
    Ok(made)
}

impl ModuleText {
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.places.push(None);
    }

    /// The lines of the text that a line of a source became, all counted from 0.
    pub fn lines_of_source(&self, source: &Path, line: u32) -> Vec<u32> {
        let name = source.file_name();
        let file = self.lines.iter().find(|(path, _)| path.as_path() == source).or_else(|| {
            // The module has file names as the compiler was given them.
            self.lines.iter().find(|(path, _)| path.file_name() == name)
        });
        let Some((_, lines)) = file else { return Vec::new() };
        lines.iter().filter(|(from, _)| *from == line + 1).map(|(_, to)| *to).collect()
    }
}

fn body(made: &mut ModuleText, path: &Path, disassembly: &Disassembly, info: &DebugInfo) {
    let mut last = None;
    for (number, line) in disassembly.text.lines().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let position = disassembly
            .at_line(number)
            .and_then(|origin| info.position_at(origin.function, origin.offset))
            .filter(debuginfo::SourcePosition::is_written);
        let Some(position) = position else {
            // Each function names its place again.
            last = last.filter(|_| !line.starts_with("vm.func"));
            made.push(line);
            continue;
        };
        let file = info
            .source_path(position.file)
            .unwrap_or_else(|| beside(path, info.locations().file(position.file)));
        made.lines.entry(file.clone()).or_default().push((position.line, number));
        // A place is written once per run of its instructions.
        let place = (position.file, position.line, position.column);
        if last.replace(place) == Some(place) {
            made.push(line);
        } else {
            let name = info.locations().file(position.file);
            made.push(&format!("{line}  // {name}:{}:{}", position.line, position.column));
        }
        if let Some(known) = made.places.last_mut() {
            *known = Some((file, position.line, position.column));
        }
    }
}

fn beside(path: &Path, name: &str) -> PathBuf {
    path.parent().map_or_else(|| PathBuf::from(name), |folder| folder.join(name))
}
