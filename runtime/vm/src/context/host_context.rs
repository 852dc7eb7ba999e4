//! A context, as its activities see it.

use vmfb::verify::VerifiedModule;

use super::linked::{Context, ModuleKind};
use crate::errors::LinkError;
use crate::limits::ExecutionLimits;
use crate::native::{HostContext, NativeModule};
use crate::objects::Ref;
use crate::position::{FunctionId, ModuleIndex};

impl HostContext for Context {
    fn limits(&self) -> &ExecutionLimits {
        self.limits()
    }

    fn is_inspected(&self) -> bool {
        self.is_inspected()
    }

    fn has_breakpoints(&self, module: ModuleIndex) -> bool {
        self.has_breakpoints(module)
    }

    fn native_module(&self, name: &str) -> Option<ModuleIndex> {
        let is_native = |kind: &ModuleKind<'_>| matches!(kind, ModuleKind::Native(_));
        let mut modules = self.modules();
        let found = modules.find(|(_, other, kind)| *other == name && is_native(kind));
        found.map(|(index, _, _)| index)
    }

    fn export(&self, module: ModuleIndex, name: &str) -> Option<FunctionId> {
        let function = self.modules.get(module.index())?.export_named(name)?;
        Some(FunctionId { module, function })
    }

    fn attached_from(&self, origin: &Ref) -> Vec<ModuleIndex> {
        self.attached_from(origin).collect()
    }

    fn attach(
        &mut self,
        name: &str,
        module: &VerifiedModule,
        providers: &[ModuleIndex],
        origin: Ref,
    ) -> Result<ModuleIndex, LinkError> {
        self.attach(name, module, providers, origin)
    }

    fn attach_native(&mut self, module: NativeModule) -> ModuleIndex {
        self.attach_native(module)
    }
}
