//! The `check` module: expectations that compiled tests state with `check.*` operations.
//!
//! An expectation that does not hold is recorded in [`Expectations`], and the test continues, so
//! that one run reports all of them.
//!
//! The compiler marks these imports optional and skips a call if the import is missing. A signature
//! that this module lacked would make tests pass without checking anything. So every signature that
//! a compiler has written is declared, and [`unprovided`] names imports that are not.

use abi::c_float::{format_e, format_g};
use abi::cconv::Signature;
use abi::compare::{Tolerance, first_difference};
use abi::element_type::ElementType;
use vm::{NativeModule, Status};
use vmfb::Module;

use super::arguments::HalArguments;
use crate::expectations::Expectations;
use crate::memory::BufferView;

/// The name that programs import from.
pub const NAME: &str = "check";

/// The most elements of a tensor in a note.
const PRINTED_ELEMENTS: usize = 1024;

/// The tolerance of `expect_almost_eq` if the program gives none.
const DEFAULT_TOLERANCE: Tolerance = Tolerance { absolute: 1e-4, relative: 0.0 };

/// The module, which records failures in `expectations`.
#[must_use]
pub fn module(expectations: &Expectations) -> NativeModule {
    let (nonzero, zero) = (expectations.clone(), expectations.clone());
    let mut module = NativeModule::builder(NAME)
        .function("expect_true", "0i_v", move |call| {
            let operand = call.i32(0)?;
            nonzero.expect(operand != 0, || format!("Expected {operand} to be nonzero."));
            Ok(())
        })
        .function("expect_false", "0i_v", move |call| {
            let operand = call.i32(0)?;
            zero.expect(operand == 0, || format!("Expected {operand} to be zero."));
            Ok(())
        });
    // Compilers before October 2023 passed no device, those before 3.3 no tolerances.
    for (calling_convention, first) in [("0rr_v", 1), ("0r_v", 0)] {
        let expectations = expectations.clone();
        module = module.function("expect_all_true", calling_convention, move |call| {
            expectations.note(all_true(call.buffer_view(first)?)?);
            Ok(())
        });
    }
    for (calling_convention, first) in [("0rrr_v", 1), ("0rr_v", 0)] {
        let expectations = expectations.clone();
        module = module.function("expect_eq", calling_convention, move |call| {
            expectations.note(equal(call.buffer_view(first)?, call.buffer_view(first + 1)?)?);
            Ok(())
        });
    }
    for (calling_convention, first) in
        [("0rrrff_v", 1), ("0rrrf_v", 1), ("0rrr_v", 1), ("0rr_v", 0)]
    {
        let expectations = expectations.clone();
        let count = calling_convention.matches('f').count();
        module = module.function("expect_almost_eq", calling_convention, move |call| {
            let tolerance = Tolerance {
                absolute: if count > 0 { call.f32(3)?.into() } else { DEFAULT_TOLERANCE.absolute },
                relative: if count > 1 { call.f32(4)?.into() } else { DEFAULT_TOLERANCE.relative },
            };
            let (lhs, rhs) = (call.buffer_view(first)?, call.buffer_view(first + 1)?);
            expectations.note(almost_equal(lhs, rhs, tolerance)?);
            Ok(())
        });
    }
    module.build()
}

/// The failure, if an element is zero.
fn all_true(operand: &BufferView) -> Result<Option<String>, Status> {
    let element_type = element_type(operand)?;
    let bytes = operand.read()?;
    let is_zero = |index: usize| {
        let size = element_type.byte_count();
        let unpacked;
        let bytes = if element_type.is_packed() {
            unpacked = element_type.unpack(&bytes, index);
            &unpacked[..]
        } else {
            &bytes[index * size..(index + 1) * size]
        };
        match element_type.float_value(bytes) {
            Some(value) => value == 0.0,
            None => bytes.iter().all(|byte| *byte == 0),
        }
    };
    let count = operand.element_count().unwrap_or_default();
    let Some(index) = (0..count).find(|index| is_zero(*index)) else { return Ok(None) };
    Ok(Some(format!(
        "Expected all elements to be nonzero. The element at index {index} is zero.\n  operand:\n    {}",
        operand.text(PRINTED_ELEMENTS)?
    )))
}

/// The failure, if the tensors differ.
fn equal(lhs: &BufferView, rhs: &BufferView) -> Result<Option<String>, Status> {
    let contents_match = lhs.read()? == rhs.read()?;
    let problems = problems_of_type(lhs, rhs);
    if contents_match && problems.is_empty() {
        return Ok(None);
    }
    let contents = if contents_match { "" } else { " Contents does not match." };
    let problems = format!("Expected equality of these values.{problems}{contents}");
    note_of_both(&problems, lhs, rhs).map(Some)
}

/// The failure, if the tensors differ in type, or in an element by more than the tolerance.
fn almost_equal(
    lhs: &BufferView,
    rhs: &BufferView,
    tolerance: Tolerance,
) -> Result<Option<String>, Status> {
    let problems = problems_of_type(lhs, rhs);
    let (lhs_bytes, rhs_bytes) = (lhs.read()?, rhs.read()?);
    let mut contents = String::new();
    if problems.is_empty() {
        let element_type = element_type(lhs)?;
        if element_type.float_value(&[0; 8]).is_none() {
            return Err(Status::invalid_argument(format!(
                "unsupported element type {element_type}"
            )));
        }
        let Some(index) = first_difference(element_type, &lhs_bytes, &rhs_bytes, Some(tolerance))
        else {
            return Ok(None);
        };
        let value = |bytes: &[u8]| {
            let size = element_type.byte_count();
            element_type.float_value(&bytes[index * size..(index + 1) * size]).unwrap_or(f64::NAN)
        };
        let (lhs, rhs) = (value(&lhs_bytes), value(&rhs_bytes));
        contents = format!(
            " Contents does not match to tolerance parameters atol={}, rtol={}. The first failure occurs at \
             index {index} as the lhs value {} differs from the rhs value {} by {}.",
            format_g(tolerance.absolute, 6),
            format_g(tolerance.relative, 6),
            format_g(lhs, 6),
            format_g(rhs, 6),
            format_e(rhs - lhs, 3),
        );
    }
    let problems = format!("Expected near equality of these values.{problems}{contents}");
    note_of_both(&problems, lhs, rhs).map(Some)
}

/// The differences in type and shape, as sentences, each after a space.
fn problems_of_type(lhs: &BufferView, rhs: &BufferView) -> String {
    let mut problems = String::new();
    if lhs.element_code() != rhs.element_code() {
        problems.push_str(" Element types do not match.");
    }
    if lhs.shape() != rhs.shape() {
        problems.push_str(" Shapes do not match.");
    }
    problems
}

fn note_of_both(problems: &str, lhs: &BufferView, rhs: &BufferView) -> Result<String, Status> {
    Ok(format!(
        "{problems}\n  lhs:\n    {}\n  rhs:\n    {}",
        lhs.text(PRINTED_ELEMENTS)?,
        rhs.text(PRINTED_ELEMENTS)?
    ))
}

fn element_type(view: &BufferView) -> Result<ElementType, Status> {
    view.element_type().map_err(|error| Status::invalid_argument(error.to_string()))
}

/// Whether `bytecode` imports any expectation.
#[must_use]
pub fn is_imported(bytecode: &Module) -> bool {
    bytecode.imports().iter().any(|import| import.split_name().0 == NAME)
}

/// The imports of `bytecode` from `check` that this module does not have: full names with calling
/// conventions.
#[must_use]
pub fn unprovided(bytecode: &Module) -> Vec<String> {
    let provided = module(&Expectations::default());
    let is_provided = |name: &str, wanted: &str| {
        let Ok(wanted) = Signature::parse(wanted) else { return false };
        provided.functions().any(|(found, calling_convention)| {
            found == name && Signature::parse(calling_convention).is_ok_and(|found| found == wanted)
        })
    };
    let imports = bytecode.imports().iter().filter_map(|import| {
        let (provider, name) = import.split_name();
        let wanted = import.signature.calling_convention.as_deref().unwrap_or_default();
        (provider == NAME && !is_provided(name, wanted))
            .then(|| format!("{} ({wanted})", import.full_name))
    });
    imports.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use vm::{Context, Invocation, Outcome, Ref, Value};

    use super::*;
    use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
    use crate::memory::{Buffer, BufferParameters, Encoding};
    use abi::tensor::Tensor;

    /// The notes of a call, or its error.
    fn call(name: &str, arguments: Vec<Value>) -> Result<Vec<String>, String> {
        let expectations = Expectations::default();
        let mut context = Context::builder()
            .add_native(module(&expectations))
            .link()
            .map_err(|e| e.to_string())?;
        let function = context.lookup(&format!("check.{name}")).ok_or("no such function")?;
        let mut invocation =
            Invocation::new(&context, function, arguments).map_err(|status| status.to_string())?;
        match invocation.run(&mut context) {
            Outcome::Completed(_) => Ok(expectations.take()),
            Outcome::Failed(failure) => Err(failure.to_string()),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn truth_is_anything_but_zero() {
        for (name, operand, note) in [
            ("expect_true", 1, None),
            ("expect_true", -7, None),
            ("expect_true", 0, Some("Expected 0 to be nonzero.")),
            ("expect_false", 0, None),
            ("expect_false", 1, Some("Expected 1 to be zero.")),
            ("expect_false", 42, Some("Expected 42 to be zero.")),
        ] {
            let notes = call(name, vec![Value::I32(operand)]).unwrap();
            assert_eq!(notes, Vec::from_iter(note), "{name} {operand}");
        }
    }

    /// A ref to a tensor.
    fn view(text: &str) -> Value {
        let tensor = Tensor::parse(text, 1 << 16).unwrap();
        let storage = Arc::new(vm::Buffer::from_bytes(&tensor.bytes).unwrap());
        let buffer = Buffer::new(
            storage,
            BufferParameters {
                memory_type: MemoryType::HOST_LOCAL,
                usage: BufferUsage::DEFAULT,
                access: MemoryAccess::ALL,
            },
        );
        let code = tensor.element_type.code();
        Value::Ref(Ref::object(BufferView::new(
            buffer,
            tensor.shape,
            code,
            Encoding::DENSE_ROW_MAJOR,
        )))
    }

    #[test]
    fn tensors_are_compared() {
        for (name, texts, note) in [
            ("expect_all_true", &["3xi8=1 -1 2"][..], ""),
            ("expect_all_true", &["2xi1=01 00"], "The element at index 1 is zero"),
            ("expect_all_true", &["3xf32=1 nan -0"], "The element at index 2 is zero"),
            ("expect_all_true", &["4xi4=1 2 0 3"], "The element at index 2 is zero"),
            ("expect_eq", &["2xf32=1 2", "2xf32=1 2"], ""),
            (
                "expect_eq",
                &["2xf32=1 2", "2xf32=1 3"],
                "Expected equality of these values. Contents does not match.\n  lhs:\n    2xf32=1 2\n  \
                 rhs:\n    2xf32=1 3",
            ),
            ("expect_eq", &["2xi32=1", "2xui32=1"], "Element types do not match.\n"),
            ("expect_eq", &["2xi32=1", "1x2xi32=1"], "Shapes do not match.\n"),
            ("expect_eq", &["2xi32=1", "3xi32=1"], "Shapes do not match. Contents does not match."),
            ("expect_almost_eq", &["2xf32=1 nan", "2xf32=1.00005 nan"], ""),
            (
                "expect_almost_eq",
                &["2xf16=1 2", "2xf16=1 3"],
                "Expected near equality of these values. Contents does not match to tolerance \
                 parameters atol=0.0001, rtol=0. The first failure occurs at index 1 as the lhs \
                 value 2 differs from the rhs value 3 by 1.000e+00.\n",
            ),
            ("expect_almost_eq", &["f32=1", "f64=1"], "Element types do not match.\n"),
        ] {
            let mut arguments = vec![Value::Ref(Ref::Null)];
            arguments.extend(texts.iter().map(|text| view(text)));
            if name == "expect_almost_eq" {
                arguments.extend([Value::F32(1e-4), Value::F32(0.0)]);
            }
            let notes = call(name, arguments).unwrap();
            match notes.as_slice() {
                [] => assert_eq!(note, "", "{name} {texts:?}"),
                [found] => assert!(!note.is_empty() && found.contains(note), "{texts:?}: {found}"),
                _ => panic!("{notes:?}"),
            }
        }
        let integers = vec![
            Value::Ref(Ref::Null),
            view("i32=1"),
            view("i32=1"),
            Value::F32(0.0),
            Value::F32(0.0),
        ];
        let error = call("expect_almost_eq", integers).unwrap_err();
        assert_eq!(error, "INVALID_ARGUMENT; unsupported element type i32");
    }

    #[test]
    fn taking_the_notes_empties_them() {
        let expectations = Expectations::default();
        expectations.expect(false, || "first".to_owned());
        expectations.clone().expect(false, || "second".to_owned());
        expectations.expect(true, || "held".to_owned());
        assert_eq!(expectations.take(), ["first", "second"]);
        assert!(expectations.take().is_empty());
    }
}
