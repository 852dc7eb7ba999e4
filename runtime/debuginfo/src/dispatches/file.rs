//! [`DispatchInterfaces`]: the dispatches of a module and the calls of them, read from the text
//! that the debug file keeps.

use std::collections::HashMap;

use super::calls::{self, DispatchCall};
use super::interface::DispatchInterface;
use super::layouts::Layouts;
use super::statements::{statements, symbol};
use crate::mlir_text::{LocationReader, NamedPosition};

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

    /// The sources of dispatches, as iree-compile prints them, after the calls of them. `outlined`
    /// is the compiler's text after [`DispatchInterfaces::OUTLINING_PASS`], or empty. `None` if
    /// there is no dispatch.
    #[must_use]
    pub fn with_calls(sources: &str, outlined: &str) -> Option<String> {
        let interfaces = Self::parse(sources);
        if interfaces.is_empty() {
            return None;
        }
        let calls = calls::written(outlined, interfaces.names());
        Some(format!("{calls}{sources}"))
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
        let layouts = Layouts::of(text);
        interfaces.values_mut().for_each(|interface| interface.resolve(&layouts));
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
