//! The conventions of a function in a hover: the one that its types let expect, the one that
//! iree-compile makes, which is the truth, and the table of all others.

use std::fmt::Write;
use std::sync::Arc;

use abi::cconv::Signature;
use abi::explain::{Row, RowOrigin};
use syntax::Symbol;

use crate::Document;
use crate::calling::{self, CallingConvention, NoConvention, SignatureOrigin, is_exported};
use crate::modules::{Answer, CompiledFunction};

/// How much of a function's ABI is described.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// What the text and the modules state.
    Stated,
    /// All conventions that follow from it, too.
    All,
}

/// What is known of a function's convention.
pub(super) struct Known {
    /// From the text.
    expected: Result<CallingConvention, NoConvention>,
    /// From iree-compile, by its name.
    compiled: Option<(Arc<str>, Compiled)>,
}

/// What iree-compile makes of a function.
enum Compiled {
    /// An export with this signature; the declaration that it attaches; its twin.
    Export(Signature, Option<String>, Option<Signature>),
    /// Nothing, for this reason.
    Fault(String),
}

impl Known {
    pub(super) fn of(
        symbol: &Symbol,
        expected: Result<CallingConvention, NoConvention>,
        answer: Option<(Arc<str>, Arc<Answer>)>,
    ) -> Self {
        let compiled = answer.and_then(|(compiler, answer)| {
            let compiled = match &*answer {
                Answer::Fault(fault) => Compiled::Fault(fault.clone()),
                Answer::Exports(exports) => {
                    let named = |is_it: &dyn Fn(&str) -> bool| {
                        exports.iter().find(|export| is_it(&export.name))
                    };
                    let signature = |export: &CompiledFunction| {
                        Signature::parse(export.calling_convention.as_deref()?).ok()
                    };
                    let export = named(&|name| name == symbol.name)?;
                    let declared = export
                        .attributes
                        .iter()
                        .find(|(key, _)| key == "iree.abi.declaration")
                        .map(|(_, value)| value.clone());
                    let twin = named(&|name| name != symbol.name).and_then(signature);
                    Compiled::Export(signature(export)?, declared, twin)
                }
            };
            Some((compiler, compiled))
        });
        Self { expected, compiled }
    }

    /// The signature of the function, or of its twin: the compiler's, else the expected one.
    pub(super) fn signature(&self, of_twin: bool) -> Option<Signature> {
        match (&self.compiled, &self.expected) {
            (Some((_, Compiled::Export(_, _, twin))), _) if of_twin => twin.clone(),
            (Some((_, Compiled::Export(signature, ..))), _) => Some(signature.clone()),
            (_, Ok(expected)) if of_twin => expected.async_twin.clone(),
            (_, Ok(expected)) => Some(expected.signature.clone()),
            (_, Err(_)) => None,
        }
    }

    /// Writes the convention, and the table of the others. Returns whether some are left out.
    pub(super) fn describe(
        &self,
        out: &mut String,
        document: &Document,
        symbol: &Symbol,
        depth: Depth,
    ) -> bool {
        match &self.compiled {
            Some((compiler, Compiled::Export(signature, _, twin))) => {
                self.describe_export(out, symbol, compiler, signature, twin.as_ref());
            }
            Some((compiler, Compiled::Fault(fault))) => {
                describe_expected(out, symbol, &self.expected);
                let _ = writeln!(
                    out,
                    "*{compiler} compiles no function with this signature:* {}\n",
                    code(fault)
                );
            }
            None => describe_expected(out, symbol, &self.expected),
        }
        self.describe_others(out, document, symbol, depth)
    }

    fn describe_export(
        &self,
        out: &mut String,
        symbol: &Symbol,
        compiler: &str,
        signature: &Signature,
        twin: Option<&Signature>,
    ) {
        describe_signature(out, signature);
        let _ = writeln!(out, "*As compiled: what {compiler} makes of this signature.*\n");
        describe_twin(out, symbol, twin);
        match &self.expected {
            Ok(expected) if expected.signature != *signature => {
                let _ = writeln!(
                    out,
                    "⚠ *By the types alone, `{}` was expected. The compiler's options, or what else the file contains, decide otherwise.*\n",
                    expected.signature.to_cconv()
                );
            }
            Ok(expected) if expected.async_twin.as_ref() != twin => {
                let _ = writeln!(
                    out,
                    "⚠ *By the types alone, {} twin was expected.*\n",
                    if twin.is_some() { "no" } else { "a" }
                );
            }
            Ok(expected) => describe_notes(out, &expected.notes),
            Err(NoConvention::Type(ty)) => {
                let _ = writeln!(
                    out,
                    "⚠ *By the types alone, no export was expected, because of `{ty}`.*\n"
                );
            }
            Err(_) => {}
        }
    }

    /// Writes the other conventions of a function that is called from outside. Returns whether some
    /// are left out.
    fn describe_others(
        &self,
        out: &mut String,
        document: &Document,
        symbol: &Symbol,
        depth: Depth,
    ) -> bool {
        if matches!(self.expected, Err(NoConvention::Private)) {
            return false;
        }
        let by_types = || calling::declaration(document, symbol);
        let declared = match (&self.compiled, &self.expected) {
            (Some((_, Compiled::Export(_, Some(declared), _))), _) => Some(declared.clone()),
            // The types are those of the text only where these let expect what is so.
            (Some((_, Compiled::Export(signature, ..))), Ok(expected))
                if expected.signature != *signature =>
            {
                None
            }
            (_, Ok(_)) => by_types(),
            (_, Err(_)) => None,
        };
        let cconv = self.signature(false).map(|signature| signature.to_cconv());
        let Some(explanation) =
            calling::explanation(document, symbol, cconv.as_deref(), declared.as_deref())
        else {
            return false;
        };
        let attributes = calling::string_attributes(document, symbol);
        let declares = attributes.iter().any(|attribute| attribute.key == "iree.abi.declaration");
        // The head above shows the types, and the line above the VM convention.
        let skip: &[&str] = if declares { &["cconv"] } else { &["cconv", "iree.abi.declaration"] };
        let is_stated = |row: &&Row| matches!(row.origin, RowOrigin::Stated | RowOrigin::Malformed);
        let (stated, others): (Vec<_>, Vec<_>) = explanation.rows.iter().partition(is_stated);
        let shown = if depth == Depth::All { others.as_slice() } else { &[] };
        out.push_str(&calling::abi_table(stated.iter().chain(shown).copied(), skip));
        out.push('\n');
        depth == Depth::Stated && others.iter().any(|row| !skip.contains(&row.name))
    }
}

fn describe_signature(out: &mut String, signature: &Signature) {
    let code = signature.to_cconv();
    let _ = writeln!(out, "**VM calling convention** `{code}` = `{signature}`\n");
}

fn describe_twin(out: &mut String, symbol: &Symbol, twin: Option<&Signature>) {
    if let Some(twin) = twin {
        let _ = writeln!(
            out,
            "Beside it, `{}$async` `{}` with a wait fence and a signal fence.\n",
            symbol.name,
            twin.to_cconv()
        );
    }
}

fn describe_notes(out: &mut String, notes: &[String]) {
    for note in notes {
        let _ = writeln!(out, "- {note}");
    }
    if !notes.is_empty() {
        out.push('\n');
    }
}

fn describe_expected(
    out: &mut String,
    symbol: &Symbol,
    expected: &Result<CallingConvention, NoConvention>,
) {
    match expected {
        Ok(CallingConvention { signature, origin, async_twin, notes }) => {
            describe_signature(out, signature);
            if *origin == SignatureOrigin::Derived {
                let _ = writeln!(
                    out,
                    "*Expected from the types: the export that iree-compile makes by default.*\n"
                );
            }
            describe_twin(out, symbol, async_twin.as_ref());
            describe_notes(out, notes);
        }
        Err(NoConvention::Private) => {
            out.push_str(
                "*Not exported: private, so it has no VM calling convention of its own.*\n\n",
            );
        }
        Err(NoConvention::Type(ty)) if is_exported(symbol) => {
            let _ = writeln!(
                out,
                "*No VM calling convention: iree-compile exports no function with `{ty}`.*\n"
            );
        }
        Err(NoConvention::Unknown(ty)) if is_exported(symbol) => {
            let _ = writeln!(
                out,
                "**VM calling convention**: unknown before compiling, because only the compiler knows what `{ty}` becomes.\n"
            );
        }
        Err(NoConvention::Malformed(error)) => {
            let _ = writeln!(out, "**The calling convention is wrong:** {error}\n");
        }
        Err(NoConvention::Type(_) | NoConvention::Unknown(_) | NoConvention::NoFunction) => {}
    }
}

/// A compiler's message as code.
fn code(message: &str) -> String {
    let cut: String = message.chars().take(300).collect();
    if cut.contains('`') { cut } else { format!("`{cut}`") }
}
