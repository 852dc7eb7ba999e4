//! A call of a native library as a program that can be debugged: a module of one function, which
//! imports the library's and calls it.
//!
//! ```text
//! vm.import @mathlib.add cconv "0ii_i"
//! vm.export @add
//! vm.func @add(%i0: i32, %i1: i32) -> (i32) {
//! ^bb0:
//!   %i2 = vm.call @mathlib.add(%i0, %i1)
//!   vm.return %i2
//! }
//! ```

use std::fmt::Write;

use abi::cconv::{Signature, ValueType};
use vmfb::assemble::{assemble, render};

use super::error::ModuleError;

/// The registers of a function, in the notation of `.vmasm`.
#[derive(Default)]
struct Registers {
    i32: usize,
    references: usize,
}

impl Registers {
    /// A register for a value: with its second half, and as an operand.
    fn next(&mut self, ty: &ValueType) -> Option<(String, String, &'static str)> {
        let name = match ty {
            ValueType::I32 => "i32",
            ValueType::I64 => "i64",
            ValueType::F32 => "f32",
            ValueType::F64 => "f64",
            ValueType::Ref => "!vm.ref<?>",
            ValueType::Span(_) => return None,
        };
        if *ty == ValueType::Ref {
            let register = format!("%r{}", self.references);
            self.references += 1;
            return Some((register.clone(), register, name));
        }
        if matches!(ty, ValueType::I64 | ValueType::F64) {
            // A pair begins at an even register.
            self.i32 = self.i32.next_multiple_of(2);
            let register = format!("%i{}", self.i32);
            let pair = format!("{register}:{}", self.i32 + 1);
            self.i32 += 2;
            return Some((pair, register, name));
        }
        let register = format!("%i{}", self.i32);
        self.i32 += 1;
        Some((register.clone(), register, name))
    }
}

/// The text of a module that calls `@library.function`.
fn text(library: &str, function: &str, signature: &Signature) -> Option<String> {
    let mut registers = Registers::default();
    let mut all = |types: &[ValueType]| -> Option<Vec<(String, String, &'static str)>> {
        types.iter().map(|ty| registers.next(ty)).collect()
    };
    let (arguments, results) = (all(&signature.arguments)?, all(&signature.results)?);
    let joined = |texts: Vec<String>| texts.join(", ");
    let declared = joined(arguments.iter().map(|(pair, _, ty)| format!("{pair}: {ty}")).collect());
    let passed = joined(arguments.iter().map(|(_, register, _)| register.clone()).collect());
    let types = joined(results.iter().map(|(.., ty)| (*ty).to_owned()).collect());
    let returned = joined(results.iter().map(|(_, register, _)| register.clone()).collect());
    let assigned = if results.is_empty() { String::new() } else { format!("{returned} = ") };
    let mut text = String::from("vm.module @call version 0\n");
    let written = write!(
        text,
        "vm.import @{library}.{function} cconv \"{}\"\nvm.export @{function}\n\
         vm.func @{function}({declared}) -> ({types}) {{\n^bb0:\n  \
         {assigned}vm.call @{library}.{function}({passed})\n  vm.return {returned}\n}}\n",
        signature.to_cconv()
    );
    debug_assert!(written.is_ok(), "writing to a String does not fail");
    Some(text)
}

/// The bytes of a module whose only function calls `@library.function`.
///
/// # Errors
/// The call cannot be written as a function of the VM.
pub(crate) fn calling_module(
    library: &str,
    function: &str,
    signature: &Signature,
) -> Result<Vec<u8>, ModuleError> {
    let text = text(library, function, signature)
        .ok_or_else(|| ModuleError::Spans(function.to_owned()))?;
    let assembly = assemble(text.as_bytes())
        .map_err(|faults| render(&faults, text.as_bytes(), &format!("call of @{function}")))
        .map_err(ModuleError::NotAssembled)?;
    Ok(assembly.image.to_bytes()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_passed() {
        for convention in ["0v_v", "0i_i", "0iIfFr_rFfIi", "0IrI_v", "0v_F", "0rr_rr"] {
            let signature = Signature::parse(convention).unwrap();
            let bytes = calling_module("lib", "name", &signature).unwrap();
            let module = vmfb::Module::from_bytes(bytes).unwrap();
            let verified = vmfb::verify::verify(module).unwrap();
            let function = &verified.module().functions()[0];
            let expected = signature.to_cconv();
            assert_eq!(function.signature.calling_convention.as_deref(), Some(&*expected));
        }
    }
}
