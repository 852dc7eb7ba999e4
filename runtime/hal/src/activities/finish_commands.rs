//! Finishing a command buffer with dispatches for a device that is not here, as an activity: they
//! get bytecode, which may have to be compiled, and whose initialiser runs on the program's stack.
//!
//! If the program is inspected, the module of the bytecode is attached to the program's context
//! before the dispatch can run: see [`super::attach`].

use std::collections::VecDeque;
use std::sync::Arc;

use vm::{Activity, Host, Next, Ref, Status, StatusCode, Value};

use super::attach::attach;
use crate::commands::{CommandBuffer, StandInCommand};
use crate::device::Device;
use crate::executables::{Executable, NoStandIn, StandIn};

/// Ends the recording of a command buffer.
#[derive(Debug)]
pub(crate) struct FinishCommands {
    device: Arc<Device>,
    command_buffer: Ref,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The dispatches have no bytecode yet.
    Compile,
    /// These modules are attached next, or were just attached.
    Attach { bytecode: VecDeque<(Arc<dyn Executable>, Ref)>, commands: Vec<StandInCommand> },
}

impl FinishCommands {
    /// Ends the recording of `command_buffer`, which has dispatches for a device that is not here.
    #[must_use]
    pub(crate) fn new(device: Arc<Device>, command_buffer: Ref) -> Self {
        Self { device, command_buffer, stage: Stage::Compile }
    }

    /// Finds bytecode for all dispatches. `None` if that was cancelled.
    fn compile(&self, commands: &CommandBuffer, host: &Host<'_>) -> Result<Option<Stage>, Status> {
        let mut bytecode: VecDeque<(Arc<dyn Executable>, Ref)> = VecDeque::new();
        let (Some(stand_ins), calls) = (self.device.stand_ins(), commands.foreign_calls()) else {
            return Err(Status::internal("nothing stands in for the device of a dispatch"));
        };
        let control = host.control();
        let Some(found) = stand_ins.bytecode(&calls, &|| control.is_interrupted()) else {
            return Ok(None);
        };
        let mut load = |found: Result<StandIn, NoStandIn>| -> StandInCommand {
            let StandIn { bytecode: module, workgroup_count } = found?;
            let executable = module.load(host.limits())?;
            let is_known =
                |(known, _): &(Arc<dyn Executable>, Ref)| Arc::ptr_eq(known, &executable);
            if !bytecode.iter().any(is_known) {
                bytecode.push_back((executable.clone(), Ref::Buffer(module.data().clone())));
            }
            Ok((executable, workgroup_count))
        };
        let commands = found.into_iter().map(&mut load).collect();
        Ok(Some(Stage::Attach { bytecode, commands }))
    }

    /// Attaches a module of bytecode, unless it was before. Returns what runs next in it.
    fn attach(
        &self,
        host: &mut Host<'_>,
        executable: &Arc<dyn Executable>,
        origin: &Ref,
    ) -> Result<Option<Next>, Status> {
        let known = self.device.nested_modules();
        let Some(bytecode) = executable.bytecode() else { return Ok(None) };
        if known.module_of(executable).is_some() {
            return Ok(None);
        }
        let attached = host.context().attached_from(origin).into_iter().next();
        let module = match attached {
            Some(module) => module,
            None => attach(host.context(), &bytecode.module, origin.clone())
                .map_err(|error| Status::new(StatusCode::NotFound, error.to_string()))?,
        };
        known.enter(executable, module);
        let initializer = host.initializer(module);
        Ok(initializer.map(|function| Next::Call { function, arguments: Vec::new() }))
    }
}

impl Activity for FinishCommands {
    fn resume(&mut self, host: &mut Host<'_>, _results: Vec<Value>) -> Result<Next, Status> {
        let command_buffer = self.command_buffer.clone();
        let commands: &CommandBuffer = command_buffer
            .downcast()
            .ok_or_else(|| Status::invalid_argument("argument 0 is no !hal.command_buffer"))?;
        loop {
            match std::mem::replace(&mut self.stage, Stage::Compile) {
                Stage::Compile => match self.compile(commands, host)? {
                    Some(stage) => self.stage = stage,
                    // It begins anew when the program goes on.
                    None => return Ok(Next::Again),
                },
                Stage::Attach { mut bytecode, commands: stand_ins } => {
                    let next = bytecode.pop_front().filter(|_| host.is_inspected());
                    let Some((executable, origin)) = next else {
                        commands.finish_with(stand_ins)?;
                        return Ok(Next::Return(Vec::new()));
                    };
                    self.stage = Stage::Attach { bytecode, commands: stand_ins };
                    if let Some(next) = self.attach(host, &executable, &origin)? {
                        return Ok(next);
                    }
                }
            }
        }
    }
}
