//! [`DispatchInterfaces`]: the file beside a module that holds the sources of its dispatches and
//! the calls of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;
use vmfb::{FileBytes, archive};

use super::calls::{self, DispatchCall};
use super::interface::DispatchInterface;
use super::positions::{LocationReader, NamedPosition};
use super::statements::{statements, symbol};

/// The dispatches of a module, and their calls.
#[derive(Clone, Debug, Default)]
pub struct DispatchInterfaces {
    /// By exported name.
    interfaces: HashMap<String, DispatchInterface>,
    /// The calls, in the order of the program.
    calls: Vec<DispatchCall>,
}

impl DispatchInterfaces {
    /// The compiler's pass after which each call has a dispatch of its own.
    pub const OUTLINING_PASS: &str = calls::OUTLINING_PASS;

    /// The file's path: the module's with `.dispatches.mlir` appended.
    #[must_use]
    pub fn path_beside(module: &Path) -> PathBuf {
        let mut name = module.as_os_str().to_owned();
        name.push(".dispatches.mlir");
        PathBuf::from(name)
    }

    /// Reads the sources beside a module. Empty if there are none, or if they belong to another
    /// module, such as one that was compiled to the same path before.
    #[must_use]
    pub fn beside(module: &Path) -> Self {
        let bytes = archive::open(module).ok();
        let read = bytes.and_then(|bytes| Self::read_beside(module, &bytes));
        read.map(|(interfaces, _)| interfaces).unwrap_or_default()
    }

    /// Reads the sources beside a module, and their file, if they are there and belong to these
    /// bytes.
    #[must_use]
    pub fn read_beside(module: &Path, bytes: &FileBytes) -> Option<(Self, FileBytes)> {
        let file = FileBytes::read(&Self::path_beside(module)).ok()?;
        let (heading, sources) = std::str::from_utf8(file.owned()).ok()?.split_once('\n')?;
        let is_of_module = Self::heading(bytes).as_deref() == Some(heading)
            || Self::former_heading(bytes).as_deref() == Some(heading);
        is_of_module.then(|| (Self::parse(sources), file.clone()))
    }

    /// The text to write to [`DispatchInterfaces::path_beside`]: a heading that identifies the
    /// module, the calls of its dispatches, and their sources as iree-compile prints them.
    /// `outlined` is the compiler's text after [`DispatchInterfaces::OUTLINING_PASS`], or empty.
    /// `None` without any dispatch.
    #[must_use]
    pub fn text_beside(module: &FileBytes, sources: &str, outlined: &str) -> Option<String> {
        let interfaces = Self::parse(sources);
        if interfaces.is_empty() {
            return None;
        }
        let calls = calls::written(outlined, interfaces.names());
        Some(format!("{}\n{calls}{sources}", Self::heading(module)?))
    }

    /// The first line of the file, which identifies the module.
    pub(super) fn heading(module: &FileBytes) -> Option<String> {
        let digest = archive::digest(module)?;
        let length = module.len();
        Some(format!("// dispatches of a module of {length} bytes, xxh3 {digest:016x}"))
    }

    /// The first line that earlier versions wrote. Its digest only covers the module's first 4 KiB,
    /// which is enough to identify archives, as they contain checksums.
    pub(super) fn former_heading(module: &FileBytes) -> Option<String> {
        let length = module.len();
        let digest = XxHash3_64::oneshot(&module.get(0..length.min(4096))?);
        Some(format!(
            "// dispatches of a module of {length} bytes, the first of them xxh3 {digest:016x}"
        ))
    }

    /// Reads the text that iree-compile prints. Other lines are skipped.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut interfaces = HashMap::new();
        let mut current: Option<(String, DispatchInterface)> = None;
        let mut places = LocationReader::of(text);
        for statement in statements(text) {
            if let Some(rest) = statement.text.strip_prefix("func.func ") {
                interfaces.extend(current.take());
                current = symbol(rest).map(|(name, _)| (name, DispatchInterface::default()));
            } else if statement.text.starts_with("return") {
                // The lines that follow close brackets and have other operations' locations.
                interfaces.extend(current.take());
            } else if let Some((_, interface)) = &mut current {
                interface.add(&statement, &mut places);
            }
        }
        interfaces.extend(current);
        interfaces.retain(|_, interface| interface.has_operands());
        Self { interfaces, calls: DispatchCall::parse(text) }
    }

    /// The calls of dispatches; empty if they are unknown.
    #[must_use]
    pub fn calls(&self) -> &[DispatchCall] {
        &self.calls
    }

    /// The call of a dispatch at a call chain, if it is unambiguous.
    #[must_use]
    pub fn call(&self, export: &str, path: &[NamedPosition]) -> Option<&DispatchCall> {
        let mut found = self.calls.iter().filter(|it| it.export == export && it.path == path);
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }

    /// The dispatches that have an operation of a line.
    pub fn on_line(&self, file: &str, line: u32) -> impl Iterator<Item = &str> {
        let is_here = move |at: &NamedPosition| at.line == line && at.file == file;
        let here = self.interfaces.iter().filter(move |(_, it)| it.work().any(is_here));
        here.map(|(name, _)| name.as_str())
    }

    /// Whether there are no dispatches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.interfaces.is_empty()
    }

    /// The exported names of dispatches, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.interfaces.keys().map(String::as_str)
    }

    /// The interface of a dispatch, by its exported name.
    #[must_use]
    pub fn of(&self, export: &str) -> Option<&DispatchInterface> {
        self.interfaces.get(export)
    }
}
