//! Nested modules in the program's own context, for those who want to look into dispatches.
//!
//! A VMVX executable runs in contexts of its own, on any thread. Where somebody looks at the
//! program ([`vm::Context::is_inspected`]), its module is attached to the program's context too:
//! then a dispatch that is watched runs there, on the program's stack, with breakpoints, steps and
//! registers as everywhere else ([`crate::submission`] decides). Which module of the context an
//! executable is, the device remembers.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use vm::{
    Activity, Context, Host, LinkError, ModuleIndex, ModuleKind, Next, Ref, Status, StatusCode,
    Value,
};
use vmfb::verify::VerifiedModule;
use vmfb::{FileBytes, Module};

use crate::device::Device;
use crate::executable::vmvx::{SET_CONSTANTS, words};
use crate::executable::{Executable, ExecutableRef};
use crate::modules::vmvx;

/// What a module begins with: the archive's header, or the size of its FlatBuffer and this.
const ARCHIVE: &[u8] = b"PK\x03\x04";
const FLATBUFFER: (usize, &[u8]) = (8, b"IREE");

/// Which modules of a context executables are, by the address of the executable. An executable that
/// is gone stays known by a weak reference, which keeps its address from becoming that of another
/// one.
#[derive(Default)]
pub struct NestedModules(Mutex<HashMap<usize, Known>>);

struct Known {
    executable: Weak<dyn Executable>,
    module: ModuleIndex,
}

impl NestedModules {
    /// The module that an executable is in the program's context, if it was attached.
    #[must_use]
    pub fn module_of(&self, executable: &Arc<dyn Executable>) -> Option<ModuleIndex> {
        self.lock().get(&address(executable)).map(|known| known.module)
    }

    /// Notes which module an executable is. Modules of executables that are gone can be those of
    /// others.
    fn enter(&self, executable: &Arc<dyn Executable>, module: ModuleIndex) {
        let known = Known { executable: Arc::downgrade(executable), module };
        self.lock().insert(address(executable), known);
    }

    /// Whether an executable that is still there is the module.
    fn is_taken(&self, module: ModuleIndex) -> bool {
        let mut known = self.lock();
        known.retain(|_, known| known.executable.strong_count() > 0);
        known.values().any(|known| known.module == module)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Known>> {
        // The map is whole at any time, so another thread's panic does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for NestedModules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().values().map(|known| known.module)).finish()
    }
}

fn address(executable: &Arc<dyn Executable>) -> usize {
    Arc::as_ptr(executable).cast::<u8>() as usize
}

/// Attaches the nested modules that lie in the rodata of a module, before the program runs: so that
/// they can be looked at, and breakpoints set in them, from the start. Data that is no such module,
/// or a damaged one, is left alone; creating the executable will say what is wrong.
pub fn attach_all(context: &mut Context, module: ModuleIndex) {
    for segment in context.rodata(module).to_vec() {
        let Ref::Buffer(buffer) = &segment else { continue };
        if !looks_like_module(buffer) {
            continue;
        }
        let loaded = Module::from_bytes(FileBytes::from(buffer.read(0, buffer.len())));
        let verified = loaded.ok().and_then(|module| vmfb::verify::verify(module).ok());
        if let Some(verified) = verified {
            // One that does not link cannot be executed either.
            let _ = attach(context, &verified, segment);
        }
    }
}

fn looks_like_module(buffer: &vm::Buffer) -> bool {
    let (at, identifier) = FLATBUFFER;
    buffer.read(0, ARCHIVE.len()) == ARCHIVE || buffer.read(at, identifier.len()) == identifier
}

/// Attaches a nested module, which sees the `vmvx` module and nothing else.
fn attach(
    context: &mut Context,
    module: &VerifiedModule,
    origin: Ref,
) -> Result<ModuleIndex, LinkError> {
    let is_native = |kind: &ModuleKind<'_>| matches!(kind, ModuleKind::Native(_));
    let known = context
        .modules()
        .find(|(_, name, kind)| *name == vmvx::NAME && is_native(kind))
        .map(|(index, _, _)| index);
    let provider = known.unwrap_or_else(|| context.attach_native(vmvx::module()));
    context.attach(module.module().name(), module, &[provider], origin)
}

/// Creating an executable that is a nested module: attaches it if somebody looks, initialises it,
/// and returns the executable.
#[derive(Debug)]
pub struct CreateExecutable {
    device: Arc<Device>,
    executable: Arc<dyn Executable>,
    constants: Vec<u32>,
    /// The buffer that it was loaded from.
    origin: Ref,
    stage: Stage,
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Attach,
    Constants(ModuleIndex),
    Return,
}

impl CreateExecutable {
    /// Creates an executable that was loaded from `origin`.
    #[must_use]
    pub fn new(
        device: Arc<Device>,
        executable: Arc<dyn Executable>,
        constants: Vec<u32>,
        origin: Ref,
    ) -> Self {
        Self { device, executable, constants, origin, stage: Stage::Attach }
    }

    /// The module in the context: one that was attached before and that no other executable is, or
    /// a new one.
    fn attach(&self, context: &mut Context) -> Result<Option<ModuleIndex>, Status> {
        let Some(bytecode) = self.executable.bytecode() else { return Ok(None) };
        let known = self.device.nested_modules();
        let found = context.attached_from(&self.origin).find(|module| !known.is_taken(*module));
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

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::executable::{Dispatch, Export, Halt};

    /// As large as an executable, so that it gets an address like one.
    #[derive(Debug)]
    struct Something([u64; 10]);

    impl Executable for Something {
        fn format(&self) -> &str {
            if self.0[0] == 0 { "something" } else { "else" }
        }

        fn exports(&self) -> &[Export] {
            &[]
        }

        fn run(&self, _: &Dispatch, _: Range<u64>, _: &vm::RunControl) -> Result<(), Halt> {
            Ok(())
        }
    }

    #[test]
    fn a_new_executable_is_not_taken_for_one_that_was_at_its_address() {
        let known = NestedModules::default();
        for round in 0..100 {
            let executable: Arc<dyn Executable> = Arc::new(Something([0; 10]));
            assert_eq!(known.module_of(&executable), None, "round {round}");
            known.enter(&executable, ModuleIndex(round));
            assert_eq!(known.module_of(&executable), Some(ModuleIndex(round)));
            assert!(known.is_taken(ModuleIndex(round)));
            drop(executable);
        }
        assert!(!known.is_taken(ModuleIndex(99)), "its executable is gone");
    }
}
