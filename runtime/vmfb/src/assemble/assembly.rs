//! The assembly of a whole module.

use std::borrow::Cow;

use super::symbols::Symbols;
use super::{body, requirements};
use crate::build::{ModuleImage, RodataImage};
use crate::diagnostic::{Diagnostic, Severity};
use crate::module::{Features, Function, FunctionSignature, Import, Module, ModuleState};
use crate::ordinals::{BytecodeOffset, FunctionOrdinal};
use crate::parse::{self, Listing, Span};
use crate::versions::BytecodeVersion;

/// Functions begin at multiples of this in the bytecode.
const FUNCTION_ALIGNMENT: usize = 8;
/// The bytes of a file that show whether it is text.
const PROBED: usize = 1024;

/// A module made from text.
#[derive(Debug)]
pub struct Assembly {
    /// The module.
    pub image: ModuleImage<'static>,
    /// The warnings, in the order of the text.
    pub warnings: Vec<Diagnostic>,
    /// Where each function's header is, and each of its instructions, by ascending offset.
    pub(super) functions: Vec<(Span, Vec<(BytecodeOffset, Span)>)>,
}

/// Makes a module from text.
///
/// # Errors
/// Everything that is wrong, in the order of the text.
pub fn assemble(source: &[u8]) -> Result<Assembly, Vec<Diagnostic>> {
    if let Some(at) = source.iter().take(PROBED).position(|byte| *byte == 0) {
        let message = "expected text; this is a binary file".to_owned();
        let diagnostic = Diagnostic { severity: Severity::Error, span: at..at + 1, message };
        return Err(vec![diagnostic]);
    }
    let mut diagnostics = Vec::new();
    let listing = parse::parse(source, &mut diagnostics);
    let assembly = Assembler { listing: &listing, diagnostics: &mut diagnostics }.module();
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    match assembly {
        Some(assembly) if diagnostics.iter().all(|it| it.severity == Severity::Warning) => {
            Ok(Assembly { warnings: diagnostics, ..assembly })
        }
        _ => Err(diagnostics),
    }
}

impl Assembly {
    /// The defects that the verifier finds in the module, at their places in the text. `module` is
    /// the assembled module, loaded.
    #[must_use]
    pub fn verify(&self, module: Module) -> Vec<Diagnostic> {
        let Err(defects) = crate::verify::verify(module) else { return Vec::new() };
        let diagnostics = defects.into_iter().map(|defect| Diagnostic {
            severity: Severity::Warning,
            span: self.place(defect.function, defect.offset),
            message: format!("this will not run: {}", defect.reason),
        });
        diagnostics.collect()
    }

    /// Where in the text an instruction is, or its function, or the beginning.
    fn place(&self, function: Option<FunctionOrdinal>, offset: Option<BytecodeOffset>) -> Span {
        let Some((header, instructions)) =
            function.and_then(|function| self.functions.get(function.index()))
        else {
            return 0..0;
        };
        let index = offset
            .and_then(|offset| instructions.binary_search_by_key(&offset, |entry| entry.0).ok());
        index.map_or_else(|| header.clone(), |index| instructions[index].1.clone())
    }
}

struct Assembler<'l, 's> {
    listing: &'l Listing<'s>,
    diagnostics: &'l mut Vec<Diagnostic>,
}

impl Assembler<'_, '_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        let message = message.into();
        self.diagnostics.push(Diagnostic { severity: Severity::Error, span, message });
    }

    fn module(&mut self) -> Option<Assembly> {
        let listing = self.listing;
        let Some((name, version)) = &listing.module else {
            self.error(0..0, "expected `vm.module @name` at the beginning");
            return None;
        };
        if listing.functions.is_empty() {
            self.error(name.span.clone(), "the module has no function; expected vm.func");
        }
        let mut symbols = Symbols::new(listing, self.diagnostics);
        let mut bytecode = Vec::new();
        let mut functions = Vec::new();
        let mut places = Vec::new();
        let mut needs = Vec::new();
        for lines in &listing.functions {
            let body = body::assemble(lines, &mut symbols, self.diagnostics);
            let start = bytecode.len();
            bytecode.extend_from_slice(&body.code);
            functions.push(Function {
                bytecode: start..bytecode.len(),
                requirements: Features::default(),
                block_count: body.block_count,
                i32_register_count: body.registers.i32_count(),
                ref_register_count: body.registers.ref_count(),
                signature: FunctionSignature {
                    calling_convention: Some(lines.signature.to_cconv()),
                    attributes: Vec::new(),
                },
            });
            bytecode.resize(bytecode.len().next_multiple_of(FUNCTION_ALIGNMENT), 0);
            places.push((lines.name.span.clone(), body.places));
            needs.push(body.needs);
        }
        let mut module_requirements = Features::default();
        for (function, features) in functions.iter_mut().zip(requirements::features(&needs)) {
            function.requirements = features;
            module_requirements = module_requirements | features;
        }
        let exports = symbols.exports(self.diagnostics);
        let image = ModuleImage {
            name: name.text.to_owned(),
            version: *version,
            bytecode_version: BytecodeVersion::NEWEST,
            requirements: module_requirements,
            attributes: Vec::new(),
            dependencies: Vec::new(),
            imports: imports(listing),
            debug_database: symbols.debug_database(&exports),
            exports,
            functions,
            bytecode: Cow::Owned(bytecode),
            rodata: listing.rodata.iter().map(|bytes| RodataImage::new(bytes.clone())).collect(),
            rwdata: Vec::new(),
            state: ModuleState {
                global_bytes: symbols.globals.bytes,
                global_refs: symbols.globals.refs,
            },
            types: symbols.into_types(),
        };
        Some(Assembly { image, warnings: Vec::new(), functions: places })
    }
}

fn imports(listing: &Listing<'_>) -> Vec<Import> {
    let imports = listing.imports.iter().map(|line| Import {
        full_name: line.name.text.to_owned(),
        signature: FunctionSignature {
            // An import without a signature is printed with an empty one.
            calling_convention: Some(line.calling_convention.text.to_owned())
                .filter(|text| !text.is_empty()),
            attributes: Vec::new(),
        },
        is_optional: line.is_optional,
    });
    imports.collect()
}
