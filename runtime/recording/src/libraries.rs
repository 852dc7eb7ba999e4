//! Native libraries of a recorded program. They are not needed: what they have returned is in the
//! recording, and is given before these functions are asked.

use std::sync::Arc;

use hal::{Host, NativeLibrary};
use vm::{NativeModule, NativeReturn, Status};

/// A library by its name.
#[derive(Debug)]
struct RecordedLibrary(String);

pub(crate) fn recorded_library(name: &str) -> Arc<dyn NativeLibrary> {
    Arc::new(RecordedLibrary(name.to_owned()))
}

impl NativeLibrary for RecordedLibrary {
    fn name(&self) -> &str {
        &self.0
    }

    fn module(&self, _host: &Host, imports: &[(&str, &str)]) -> NativeModule {
        let mut module = NativeModule::builder(&self.0);
        for (name, convention) in imports {
            let text = format!("the recording has no further call of @{}.{name}", self.0);
            let status = Status::failed_precondition(text);
            module =
                module.function(name, convention, move |_| Err::<NativeReturn, _>(status.clone()));
        }
        module.build()
    }
}
