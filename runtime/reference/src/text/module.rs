//! [`ModuleText`]: the functions and aliases of a text, found in one walk over its lines.

use std::collections::HashMap;

use crate::refusal::{Refusal, RefusalKind, Result};
use crate::text::cursor::Cursor;
use mlir::Map;

/// Where the functions of a text are, and what its aliases stand for.
pub(crate) struct ModuleText<'t> {
    text: &'t str,
    /// By name: where it begins, and in which line.
    functions: HashMap<&'t str, (usize, usize)>,
    /// Names in the order of the text.
    order: Vec<&'t str>,
    /// The texts of aliases, by name.
    aliases: HashMap<&'t str, &'t str>,
}

impl<'t> ModuleText<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut it =
            Self { text, functions: HashMap::new(), order: Vec::new(), aliases: HashMap::new() };
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let trimmed = line.trim_start();
            if let Some(alias) = trimmed.strip_prefix('#') {
                if let Some((name, value)) = alias.split_once(" = ")
                    && !name.starts_with("loc")
                {
                    it.aliases.insert(name, value.trim());
                }
            } else if let Some(rest) = function_head(trimmed) {
                let name = name_of(rest);
                let at = start + (line.len() - trimmed.len());
                if it.functions.insert(name, (at, number + 1)).is_none() {
                    it.order.push(name);
                }
            }
            start += line.len();
        }
        it
    }

    /// The names of all functions, in their order.
    pub(crate) fn names(&self) -> &[&'t str] {
        &self.order
    }

    /// A cursor at `func.func @name`.
    pub(crate) fn function(&self, name: &str) -> Result<Cursor<'t>> {
        let Some((at, line)) = self.functions.get(name) else {
            let reason = format!("the text has no function `{name}`");
            return Err(Refusal::new(RefusalKind::Arguments, 0, reason));
        };
        Ok(Cursor::new(&self.text[*at..], *line))
    }

    /// Whether a function's head has tensors that it is bound to.
    pub(crate) fn is_dispatch(&self, name: &str) -> bool {
        let Some((at, _)) = self.functions.get(name) else { return false };
        let head = self.text[*at..].lines().next().unwrap_or_default();
        head.contains("dispatch.tensor<")
    }

    /// The affine map with this alias.
    pub(crate) fn map(&self, alias: &str, line: usize) -> Result<Map> {
        let text = self.aliases.get(alias).copied().unwrap_or_default();
        if !text.starts_with("affine_map<") {
            return Err(Refusal::malformed(line, format!("`#{alias}` is no affine map")));
        }
        map_of(text, line)
    }
}

/// The affine map with this text.
pub(crate) fn map_of(text: &str, line: usize) -> Result<Map> {
    Map::parse(text).map_err(|error| Refusal::malformed(line, error.to_string()))
}

/// What follows `func.func`, if a line begins with it.
fn function_head(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("func.func ").or_else(|| line.strip_prefix("util.func "))?;
    let rest = rest.trim_start_matches(|it: char| it.is_ascii_lowercase() || it == ' ');
    rest.strip_prefix('@')
}

fn name_of(rest: &str) -> &str {
    if let Some(quoted) = rest.strip_prefix('"') {
        return quoted.split('"').next().unwrap_or_default();
    }
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '$' | '-');
    let end = rest.find(|it| !is_name(it)).unwrap_or(rest.len());
    &rest[..end]
}
