//! The names of a text (types, globals, imports, functions and exports) and their ordinals.

use std::collections::{HashMap, HashSet};

use super::callees::Callees;
use crate::debug_database::{DebugDatabase, FunctionSourceMap};
use crate::diagnostic::{Diagnostic, Severity};
use crate::module::{Export, TypeDef};
use crate::ordinals::{FunctionOrdinal, TypeOrdinal};
use crate::parse::{Global, Listing, Name};

/// All names of a text.
pub(super) struct Symbols<'l, 's> {
    listing: &'l Listing<'s>,
    types: Vec<&'s str>,
    type_ordinals: HashMap<&'s str, u32>,
    pub(super) globals: Globals<'s>,
    pub(super) callees: Callees<'l, 's>,
    /// Functions as calls name them.
    internal: HashMap<FunctionOrdinal, &'s str>,
}

impl<'l, 's> Symbols<'l, 's> {
    pub(super) fn new(listing: &'l Listing<'s>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut names = Self {
            listing,
            types: Vec::new(),
            type_ordinals: HashMap::new(),
            globals: Globals::new(listing, diagnostics),
            callees: Callees::new(listing, diagnostics),
            internal: HashMap::new(),
        };
        for name in &listing.types {
            names.declare_type(name.text);
        }
        names
    }

    /// The first of two types with one name has the name.
    fn declare_type(&mut self, name: &'s str) -> u32 {
        let ordinal = u32::try_from(self.types.len()).unwrap_or(u32::MAX);
        self.types.push(name);
        *self.type_ordinals.entry(name).or_insert(ordinal)
    }

    /// The type with this name; one that is not declared is added, as the reference does.
    pub(super) fn type_ordinal(
        &mut self,
        name: &Name<'s>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> TypeOrdinal {
        let text = name.text;
        if let Some(ordinal) = self.type_ordinals.get(text) {
            return TypeOrdinal(*ordinal);
        }
        if let Some(ordinal) = self.type_ordinals.get(format!("!{text}").as_str()) {
            return TypeOrdinal(*ordinal);
        }
        if text.contains(char::is_control) {
            // It could be printed, but not be read again.
            let message = "a type has no control characters".to_owned();
            let span = name.span.clone();
            diagnostics.push(Diagnostic { severity: Severity::Error, span, message });
        } else if !self.listing.types.is_empty() {
            let message = format!("type {text} is not declared; expected a line `vm.type {text}`");
            let span = name.span.clone();
            diagnostics.push(Diagnostic { severity: Severity::Warning, span, message });
        }
        TypeOrdinal(self.declare_type(text))
    }

    /// The module's ref type, if it has only one.
    pub(super) fn only_ref_type(&self) -> Option<TypeOrdinal> {
        let mut refs = self.types.iter().enumerate().filter(|(_, name)| name.starts_with('!'));
        let (index, _) = refs.next()?;
        refs.next().is_none().then(|| TypeOrdinal::from_index(index))
    }

    /// Remembers that a call has a name for the function that exports do not tell.
    pub(super) fn note_internal_name(&mut self, function: FunctionOrdinal, name: &Name<'s>) {
        if let Some(local) = self.callees.local(name.text) {
            self.internal.entry(function).or_insert(local);
        }
    }

    /// A debug database with the names that the printer takes from it, up to the last one; its maps
    /// are empty. An exported function is printed with its first export's name, so a name of its
    /// own would only hinder reading the print again.
    pub(super) fn debug_database(&self, exports: &[Export]) -> Option<DebugDatabase> {
        let mut functions = Vec::new();
        let mut named = 0;
        for (index, lines) in self.listing.functions.iter().enumerate() {
            let ordinal = FunctionOrdinal::from_index(index);
            let header = lines.name.text;
            let printed = exports.iter().find(|export| export.function == ordinal);
            let called = self.internal.get(&ordinal).copied();
            let name = match printed {
                None => called.or(Some(header).filter(|name| *name != format!("fn{index}"))),
                Some(export) => called.filter(|name| export.name == *name || *name != header),
            };
            if name.is_some() {
                named = index + 1;
            }
            let local_name = name.unwrap_or_default().to_owned();
            functions.push(FunctionSourceMap { local_name, locations: Vec::new() });
        }
        functions.truncate(named);
        (named > 0).then_some(DebugDatabase { locations: Vec::new(), functions })
    }

    pub(super) fn into_types(self) -> Vec<TypeDef> {
        self.types.into_iter().map(|name| TypeDef { full_name: name.to_owned() }).collect()
    }

    pub(super) fn exports(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<Export> {
        let mut error = |name: &Name<'_>, message: String| {
            let span = name.span.clone();
            diagnostics.push(Diagnostic { severity: Severity::Error, span, message });
        };
        let mut exports = Vec::new();
        let mut seen = HashSet::new();
        for line in &self.listing.exports {
            let text = line.text.text;
            let with_comment = line.with_comment.as_ref();
            let printed = with_comment.and_then(|it| self.printed_export(it.text, line.before));
            let (name, function) = printed.map_or_else(
                || self.export(text, line.before),
                |name| (name, Some(FunctionOrdinal::from_index(line.before))),
            );
            let Some(function) = function else {
                error(&line.text, format!("there is no function for the export {text}"));
                continue;
            };
            if !seen.insert(name) {
                error(&line.text, format!("@{name} is exported twice"));
            }
            exports.push(Export { name: name.to_owned(), function });
        }
        exports
    }

    /// The export's name if the text is `name` or `alias = @name` with the name of the next
    /// function, as in printed text. Names are free text, so nothing else tells where one ends.
    fn printed_export<'t>(&self, text: &'t str, before: usize) -> Option<&'t str> {
        let next = self.listing.functions.get(before)?.name.text;
        if text == next {
            return Some(text);
        }
        let alias = text.strip_suffix(next)?.strip_suffix('@')?;
        alias.trim_end().strip_suffix('=').map(str::trim_end)
    }

    /// `name` or `name = @function`.
    fn export<'t>(&self, text: &'t str, before: usize) -> (&'t str, Option<FunctionOrdinal>) {
        if let Some(name) = self.printed_export(text, before) {
            return (name, Some(FunctionOrdinal::from_index(before)));
        }
        match text.split_once('=') {
            Some((alias, function)) => {
                let function = function.trim().strip_prefix('@');
                let ordinal = function.and_then(|name| self.callees.function_named(name));
                (alias.trim(), ordinal)
            }
            None => (text, self.callees.function_named(text)),
        }
    }
}

/// Where globals are.
pub(super) struct Globals<'s> {
    places: HashMap<&'s str, (u32, u32)>,
    /// Bytes that the globals take so far.
    pub(super) bytes: u32,
    /// Ref globals so far.
    pub(super) refs: u32,
}

/// Why a global cannot be used.
pub(super) enum GlobalError {
    Unknown,
    /// It holds this many bytes.
    Size(u32),
    TooFar,
}

impl<'s> Globals<'s> {
    /// Refs are numbered in order; 32-bit globals come before 64-bit ones.
    fn new(listing: &Listing<'s>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut globals = Self { places: HashMap::new(), bytes: 0, refs: 0 };
        for size in [0, 4, 8] {
            for line in listing.globals.iter().filter(|line| line.size == size) {
                let end = if size == 0 { &mut globals.refs } else { &mut globals.bytes };
                let start = end.next_multiple_of(size.max(1));
                *end = start + size.max(1);
                let name = line.name.text;
                if globals.places.insert(name, (start, size)).is_some() {
                    diagnostics.push(Diagnostic {
                        severity: Severity::Error,
                        span: line.name.span.clone(),
                        message: format!("global @{name} is declared twice"),
                    });
                }
            }
        }
        globals
    }

    /// The place of a global that an instruction accesses with `size` bytes, 0 for a ref.
    pub(super) fn place(&mut self, global: &Global<'s>, size: u32) -> Result<u32, GlobalError> {
        match global {
            Global::Named(name) => match self.places.get(name.text) {
                Some((place, has)) if *has == size => Ok(*place),
                Some((_, has)) => Err(GlobalError::Size(*has)),
                None => Err(GlobalError::Unknown),
            },
            Global::At(place) => {
                let end = place.checked_add(size.max(1)).filter(|end| i32::try_from(*end).is_ok());
                let end = end.ok_or(GlobalError::TooFar)?;
                let limit = if size == 0 { &mut self.refs } else { &mut self.bytes };
                *limit = end.max(*limit);
                Ok(*place)
            }
        }
    }
}
