//! Judging a whole module: its tables, then each function.

use std::sync::Arc;

use super::defect::{Defect, MOST_DEFECTS};
use super::function::FunctionVerifier;
use super::signatures::{Signatures, signature_of};
use crate::module::Module;

/// A module whose bytecode has been verified. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct VerifiedModule(Arc<Module>);

impl VerifiedModule {
    /// The module.
    #[must_use]
    pub fn module(&self) -> &Arc<Module> {
        &self.0
    }
}

/// Judges a module's bytecode.
///
/// # Errors
/// The defects found: all of them, unless there are very many.
pub fn verify(module: Module) -> Result<VerifiedModule, Vec<Defect>> {
    let mut defects = Vec::new();
    verify_signatures(&module, &mut defects);
    let signatures = Signatures::of(&module);
    for (ordinal, function) in module.functions_with_ordinals() {
        FunctionVerifier {
            module: &module,
            signatures: &signatures,
            ordinal,
            function,
            at: None,
            defects: &mut defects,
        }
        .verify();
        if defects.len() >= MOST_DEFECTS {
            break;
        }
    }
    drop(signatures);
    if defects.is_empty() { Ok(VerifiedModule(Arc::new(module))) } else { Err(defects) }
}

/// Checks what calls need from the tables.
fn verify_signatures(module: &Module, defects: &mut Vec<Defect>) {
    let mut defect = |function, reason| defects.push(Defect { function, offset: None, reason });
    let unknown = module.requirements().unknown();
    if unknown != 0 {
        defect(None, format!("the module requires unknown features (bits {unknown:#x})"));
    }
    for import in module.imports() {
        if let Err(reason) = signature_of(&import.signature) {
            defect(None, format!("import {}: {reason}", import.full_name));
        }
    }
    for export in module.exports() {
        let function = module.function(export.function);
        if function.is_none_or(|it| it.signature.calling_convention.is_none()) {
            defect(
                Some(export.function),
                format!("it is exported as {:?} and has no calling convention", export.name),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The embedded example of the command line: functions `improve` (0) and `main` (1).
    const EXAMPLE: &[u8] = include_bytes!("../../../cli/example/newton.vmfb");

    fn defects_with(function: usize, offset: usize, patch: &[u8]) -> Vec<String> {
        let module = Module::from_bytes(EXAMPLE.to_vec()).unwrap();
        let start = module.functions()[function].bytecode.start;
        let base = module.bytecode_data().as_ptr() as usize
            - module.file_bytes().owned().as_ptr() as usize;
        let mut bytes = EXAMPLE.to_vec();
        let at = base + start + offset;
        bytes[at..at + patch.len()].copy_from_slice(patch);
        let defects = verify(Module::from_bytes(bytes).unwrap()).err().unwrap_or_default();
        defects.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_the_compiler_writes_verifies() {
        assert_eq!(defects_with(0, 0, &[]), [""; 0]);
    }

    #[test]
    fn each_rule_has_a_module_that_breaks_it() {
        let cases: &[(usize, usize, &[u8], &str)] = &[
            (
                0,
                0x1D,
                &[100, 0],
                "function 0 at 0000001B: it uses i32 register 100; the function has 8",
            ),
            (0, 0x1D, &[0, 0x80], "function 0 at 0000001B: register 0x8000 is not an i32 register"),
            (0, 0x34, &[5, 0], "function 0 at 00000033: register pair 5 begins at an odd register"),
            (
                0,
                0x15,
                &[0xFC, 0xFF, 0xFF, 0xFF],
                "function 0 at 00000014: it names global 4294967292; the module has 8 bytes of \
                 globals",
            ),
            (0, 0x41, &[0xDF], "function 0: at 00000041: unknown opcode DF"),
            (
                0,
                0x00,
                &[0x5E],
                "function 0: at 00000000: the instruction is cut short by the end of the function",
            ),
            (
                1,
                0x24,
                &[0x2F],
                "function 1 at 00000023: it branches to 0000002F, where no block begins",
            ),
            (1, 0x2E, &[0xDE], "function 1: at 0000002E: unknown opcode DE"),
            (1, 0x48, &[2], "function 1 at 00000047: it names function 2; the module has 2"),
            (
                1,
                0x48,
                &[0, 0, 0, 0x80],
                "function 1 at 00000047: it names import 0; the module has 0",
            ),
            (1, 0x16, &[99], "function 1 at 00000015: it names type 99; the module has 4"),
            (1, 0x1F, &[0, 0xC0], "function 1 at 0000001E: ref register 0 has a move bit here"),
            (
                1,
                0x82,
                &[0],
                "function 1 at 00000080: it returns 0 values where the signature has 1",
            ),
        ];
        for (function, offset, patch, expected) in cases {
            let defects = defects_with(*function, *offset, patch);
            assert!(
                defects.iter().any(|defect| defect.starts_with(expected)),
                "{expected}\nnot among {defects:#?}"
            );
        }
    }

    #[test]
    fn a_call_may_pass_more_than_its_callee_mentions() {
        let before = b"\x05\0\0\x000ff_f\0";
        let at = EXAMPLE.windows(before.len()).position(|it| it == before).unwrap();
        let mut bytes = EXAMPLE.to_vec();
        bytes[at..at + before.len()].copy_from_slice(b"\x04\0\0\x000f_f\0\0");
        let module = Module::from_bytes(bytes).unwrap();
        let signature = &module.functions()[0].signature;
        assert_eq!(signature.calling_convention.as_deref(), Some("0f_f"));
        assert!(verify(module).is_ok());
    }
}
