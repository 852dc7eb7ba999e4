//! Creating an executable of bytecode, as an activity: its initialiser runs on the program's stack.
//!
//! If the program is inspected, the executable's module is attached to the program's context first:
//! see [`super::attach`].

use std::sync::Arc;

use vm::{Activity, Host, HostContext, ModuleIndex, Next, Ref, Status, StatusCode, Value};

use super::attach::attach;
use crate::device::Device;
use crate::executables::{Executable, ExecutableRef, SET_CONSTANTS, words};

/// Creates an executable that is a nested module: if the program is inspected, attaches and
/// initialises the module; then returns the executable.
#[derive(Debug)]
pub(crate) struct CreateExecutable {
    device: Arc<Device>,
    executable: Arc<dyn Executable>,
    constants: Vec<u32>,
    /// The buffer that it was loaded from.
    origin: Ref,
    stage: Stage,
}

/// What to do next.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Attach,
    Constants(ModuleIndex),
    Return,
}

impl CreateExecutable {
    /// Creates an executable that was loaded from `origin`.
    #[must_use]
    pub(crate) fn new(
        device: Arc<Device>,
        executable: Arc<dyn Executable>,
        constants: Vec<u32>,
        origin: Ref,
    ) -> Self {
        Self { device, executable, constants, origin, stage: Stage::Attach }
    }

    /// The module in the context: one that was attached before for the same data and belongs to no
    /// other executable, or a new one.
    fn attach(&self, context: &mut dyn HostContext) -> Result<Option<ModuleIndex>, Status> {
        let Some(bytecode) = self.executable.bytecode() else { return Ok(None) };
        let known = self.device.nested_modules();
        let mut attached = context.attached_from(&self.origin).into_iter();
        let found = attached.find(|module| !known.is_taken(*module));
        let module = match found {
            Some(module) => module,
            None => attach(context, &bytecode.module, self.origin.clone())
                .map_err(|error| Status::new(StatusCode::NotFound, error.to_string()))?,
        };
        known.enter(&self.executable, module);
        Ok(Some(module))
    }
}

impl Activity for CreateExecutable {
    fn resume(&mut self, host: &mut Host<'_>, _results: Vec<Value>) -> Result<Next, Status> {
        match self.stage {
            Stage::Attach => {
                self.stage = Stage::Return;
                if !host.is_inspected() {
                    return Ok(Next::Again);
                }
                let Some(module) = self.attach(host.context())? else { return Ok(Next::Again) };
                self.stage = Stage::Constants(module);
                Ok(match host.initializer(module) {
                    Some(function) => Next::Call { function, arguments: Vec::new() },
                    None => Next::Again,
                })
            }
            Stage::Constants(module) => {
                self.stage = Stage::Return;
                Ok(match host.export(module, SET_CONSTANTS) {
                    Some(function) => {
                        Next::Call { function, arguments: vec![Value::Ref(words(&self.constants))] }
                    }
                    None => Next::Again,
                })
            }
            Stage::Return => {
                let executable = Ref::object(ExecutableRef(self.executable.clone()));
                Ok(Next::Return(vec![Value::Ref(executable)]))
            }
        }
    }
}
