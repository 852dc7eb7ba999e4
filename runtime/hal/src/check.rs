//! The `check` module: expectations that compiled tests state with `check.*` operations.
//!
//! An expectation that does not hold does not end the test; it is noted in [`Expectations`] and the
//! test goes on, so that one run tells of all of them.
//!
//! The compiler marks these imports optional and guards each call by whether it is there. A signature
//! that this module lacked would make tests pass without checking anything, so every signature that a
//! compiler has written is declared, and [`unprovided`] names what is not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abi::cconv::Signature;
use vm::{NativeModule, Status};
use vmfb::Module;

/// The name that programs import from.
pub const NAME: &str = "check";

/// Functions that compare buffer views, with every calling convention that they have had: compilers
/// before October 2023 passed no device, those before 3.3 no tolerances.
const OF_BUFFER_VIEWS: [(&str, &[&str]); 3] = [
    ("expect_all_true", &["0rr_v", "0r_v"]),
    ("expect_eq", &["0rrr_v", "0rr_v"]),
    ("expect_almost_eq", &["0rrrff_v", "0rrrf_v", "0rrr_v", "0rr_v"]),
];

/// Notes of the expectations that did not hold. Clones share the notes.
#[derive(Clone, Debug, Default)]
pub struct Expectations(Arc<Mutex<Vec<String>>>);

impl Expectations {
    /// The notes since the last time, in order; they are forgotten.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes())
    }

    fn expect(&self, holds: bool, note: impl FnOnce() -> String) {
        if !holds {
            self.notes().push(note());
        }
    }

    fn notes(&self) -> MutexGuard<'_, Vec<String>> {
        // A list of texts is whole at any time, so another thread's panic does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The module, which notes what does not hold in `expectations`.
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
    for (name, calling_conventions) in OF_BUFFER_VIEWS {
        for calling_convention in calling_conventions {
            module = module.function(name, calling_convention, move |_| needs_device(name));
        }
    }
    module.build()
}

/// Programs get buffer views from devices only.
fn needs_device(function: &str) -> Result<(), Status> {
    Err(Status::unimplemented(format!(
        "check.{function} compares buffer views, which come from devices; this build runs modules \
         without devices"
    )))
}

/// What `bytecode` imports from `check` that this module does not have: full names with calling
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
    use vm::{Context, Invocation, Outcome, Ref, Value};

    use super::*;

    /// What a call leaves: the notes, or the error.
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

    #[test]
    fn buffer_views_are_an_error_and_no_silent_success() {
        let error = call("expect_eq", vec![Value::Ref(Ref::Null); 3]).unwrap_err();
        assert!(
            error.starts_with("UNIMPLEMENTED; check.expect_eq compares buffer views"),
            "{error}"
        );
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
