//! Resolves the names of calls.
//!
//! | text | callee |
//! | --- | --- |
//! | `@module:3` | function 3 of the module |
//! | `@other.name` | the import with that name |
//! | `@module.name`, `@name` | the function with that name |
//!
//! One quirk of printed text has to be undone. Compilers since 3.11 store a debug database with one
//! entry: the name of the *last* function, at index 0 (see [`crate::debug_database`]). The printer
//! takes it for the name of function 0. So two functions may have that name in the text, and calls
//! of function 0 are printed with it even if its header has another name.

use std::collections::{HashMap, HashSet};

use abi::cconv::{Signature, ValueType};

use crate::diagnostic::{Diagnostic, Severity};
use crate::ordinals::{Callee, FunctionOrdinal, ImportOrdinal, Register};
use crate::parse::{InstructionLine, Item, Listing, Name};

/// Functions and imports by name.
pub(super) struct Callees<'l, 's> {
    listing: &'l Listing<'s>,
    module: &'s str,
    functions: HashMap<&'s str, FunctionOrdinal>,
    imports: HashMap<&'s str, ImportOrdinal>,
    function_signatures: Vec<Signature>,
    import_signatures: Vec<Signature>,
    /// Whether the text looks like the print of a module with a truncated debug database.
    is_cut_short: bool,
    /// Whether the text names functions that such a print could not name.
    is_whole: bool,
}

/// A callee, and what is dubious about it.
pub(super) struct Resolved {
    pub(super) callee: Callee,
    /// Whether the text is `@module.name`, which printing takes from the debug database.
    pub(super) is_internal_name: bool,
    pub(super) warning: Option<String>,
}

impl<'l, 's> Callees<'l, 's> {
    pub(super) fn new(listing: &'l Listing<'s>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let (import_signatures, function_signatures) = signatures(listing);
        let mut callees = Self {
            listing,
            module: listing.module.as_ref().map_or("", |(name, _)| name.text),
            functions: HashMap::new(),
            imports: HashMap::new(),
            function_signatures,
            import_signatures,
            is_cut_short: false,
            is_whole: false,
        };
        callees.is_cut_short = callees.looks_cut_short();
        callees.is_whole = callees.looks_whole();
        let mut twice = |what: &str, name: &Name<'_>| {
            let message = format!("{what} @{} is declared twice", name.text);
            let span = name.span.clone();
            diagnostics.push(Diagnostic { severity: Severity::Error, span, message });
        };
        let last = listing.functions.len().wrapping_sub(1);
        for (index, lines) in listing.functions.iter().enumerate() {
            let ordinal = FunctionOrdinal::from_index(index);
            let first = *callees.functions.entry(lines.name.text).or_insert(ordinal);
            let is_misnamed = first == FunctionOrdinal(0) && index == last;
            if first != ordinal && !is_misnamed {
                twice("function", &lines.name);
            }
        }
        for (index, line) in listing.imports.iter().enumerate() {
            let ordinal = ImportOrdinal::from_index(index);
            if callees.imports.insert(line.name.text, ordinal).is_some() {
                twice("import", &line.name);
            }
        }
        callees
    }

    /// Calls by ordinal, and functions called `fn3` for lack of a name, are printed where the debug
    /// database has no name; a whole database leads to neither.
    fn looks_cut_short(&self) -> bool {
        let mut functions = self.listing.functions.iter().enumerate();
        functions.any(|(index, lines)| {
            let mut callees = lines.items.iter().filter_map(|item| match item {
                Item::Instruction(instruction) => instruction.callee(),
                Item::Block(_) => None,
            });
            lines.name.text == format!("fn{index}")
                || callees.any(|name| self.ordinal(name.text).is_some())
        })
    }

    /// Functions that are not exported have their names from the debug database. A truncated one
    /// has no names for them, or the name of the last function for function 0.
    fn looks_whole(&self) -> bool {
        let functions = &self.listing.functions;
        let Some(last) = functions.last() else { return true };
        let exported: HashSet<usize> =
            self.listing.exports.iter().map(|export| export.before).collect();
        functions.iter().enumerate().any(|(index, lines)| {
            let is_misnamed = index == 0 && lines.name.text == last.name.text;
            !exported.contains(&index) && !is_misnamed && lines.name.text != format!("fn{index}")
        })
    }

    pub(super) fn function_named(&self, name: &str) -> Option<FunctionOrdinal> {
        self.functions.get(name).copied()
    }

    /// The signature of a callee that exists.
    pub(super) fn signature(&self, callee: Callee) -> Option<&Signature> {
        match callee {
            Callee::Internal(ordinal) => self.function_signatures.get(ordinal.index()),
            Callee::Import(ordinal) => self.import_signatures.get(ordinal.index()),
        }
    }

    /// `module:3`. Listings have the low 16 bits of an ordinal, so a greater one would be another
    /// function when it is printed.
    fn ordinal(&self, text: &str) -> Option<FunctionOrdinal> {
        let digits = text.strip_prefix(self.module)?.strip_prefix(':')?;
        digits.parse::<u16>().ok().map(|ordinal| FunctionOrdinal(ordinal.into()))
    }

    /// `name` of `module.name`.
    pub(super) fn local<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.strip_prefix(self.module)?.strip_prefix('.')
    }

    /// The intended reading: the one with the comment, if an import or a function has the name that
    /// it calls.
    pub(super) fn chosen<'i>(&self, line: &'i InstructionLine<'s>) -> &'i InstructionLine<'s> {
        let is_declared = |name: &Name<'_>| {
            let local = self.local(name.text).and_then(|local| self.function_named(local));
            local.is_some() || self.imports.contains_key(name.text)
        };
        let longer = line.with_comment.as_deref();
        longer.filter(|line| line.callee().is_some_and(is_declared)).unwrap_or(line)
    }

    /// The callee of a call of `text` with these registers, if there is one.
    pub(super) fn resolve(
        &self,
        text: &str,
        arguments: &[Register],
        results: &[Register],
    ) -> Option<Resolved> {
        let sure = |callee| Some(Resolved { callee, is_internal_name: false, warning: None });
        if let Some(ordinal) = self.ordinal(text) {
            return sure(Callee::Internal(ordinal));
        }
        if let Some(ordinal) = self.imports.get(text) {
            return sure(Callee::Import(*ordinal));
        }
        let local = self.local(text);
        let sure =
            |callee| Some(Resolved { callee, is_internal_name: local.is_some(), warning: None });
        let named = self.function_named(local.unwrap_or(text)).or(self.function_named(text));
        let first = Callee::Internal(FunctionOrdinal(0));
        let fits = |callee| {
            self.signature(callee).is_some_and(|signature| fits(signature, arguments, results))
        };
        let Some(local_name) = local.filter(|_| fits(first)) else {
            return sure(Callee::Internal(named?));
        };
        let is_first = match named {
            // The quirk names function 0 after the last function only.
            Some(ordinal) if ordinal.index() + 1 != self.listing.functions.len() => false,
            Some(FunctionOrdinal(0)) => false,
            Some(_) if self.is_whole => false,
            Some(ordinal) => {
                self.is_cut_short || local_name == "__init" || !fits(Callee::Internal(ordinal))
            }
            // A name that no header has, because the last function has none.
            None => {
                let index = self.listing.functions.len().wrapping_sub(1);
                let last = self.listing.functions.last();
                last.is_some_and(|lines| lines.name.text == format!("fn{index}"))
            }
        };
        if !is_first {
            return sure(Callee::Internal(named?));
        }
        let header = self.listing.functions.first().map_or("", |lines| lines.name.text);
        let warning = format!(
            "taken for a call of function 0, @{header}: printing a module of compilers since 3.11 \
             gives function 0 the name of the last function; write @{}:{} to call @{local_name}",
            self.module,
            self.listing.functions.len().saturating_sub(1),
        );
        Some(Resolved { callee: first, is_internal_name: true, warning: Some(warning) })
    }
}

/// Whether a call with these registers could be of a function with this signature.
fn fits(signature: &Signature, arguments: &[Register], results: &[Register]) -> bool {
    let fits = |types: &[ValueType], registers: &[Register]| {
        let is_ref = |value_type: &ValueType| *value_type == ValueType::Ref;
        types.len() == registers.len()
            && types.iter().zip(registers).all(|(it, register)| is_ref(it) == register.is_ref())
    };
    fits(&signature.arguments, arguments) && fits(&signature.results, results)
}

/// The signatures of functions and imports are read once.
fn signatures(listing: &Listing<'_>) -> (Vec<Signature>, Vec<Signature>) {
    let imports = listing.imports.iter().map(|line| {
        // The parser accepted it.
        Signature::parse(line.calling_convention.text).unwrap_or_default()
    });
    let functions = listing.functions.iter().map(|lines| lines.signature.clone());
    (imports.collect(), functions.collect())
}
