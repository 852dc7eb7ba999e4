//! The native modules of IREE's runtime: glue from VM signatures to the rest of this crate.
//!
//! [`Host`] makes all of them around one device. A folder or file a module; in it a function a
//! declaration, in the order of the calling convention's arguments.

pub(crate) mod arguments;
pub mod check;
mod hal;
mod hal_inline;
mod hal_loader;
pub mod io_parameters;
pub mod vmvx;

use std::collections::HashSet;
use std::sync::Arc;

use check::Expectations;
use vm::NativeModule;
use vmfb::Module;

use crate::allocator::Allocator;
use crate::device::{Device, DeviceKind};
use crate::executable::NativeCode;
use crate::parameters::Parameters;

/// What programs find around them.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The device they see.
    pub device: DeviceKind,
    /// Whether their machine code runs.
    pub native_code: NativeCode,
    /// The parameters that they can ask for.
    pub parameters: Arc<Parameters>,
}

/// The surroundings of one program: its device, its parameters, and what its tests expected in vain.
#[derive(Clone, Debug)]
pub struct Host {
    device: Arc<Device>,
    expectations: Expectations,
    parameters: Arc<Parameters>,
}

impl Host {
    /// Surroundings as configured.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let device = Device::new(config.device, config.native_code, Allocator::default());
        Self {
            device: Arc::new(device),
            expectations: Expectations::default(),
            parameters: config.parameters.clone(),
        }
    }

    /// The parameters that programs can ask for.
    #[must_use]
    pub fn parameters(&self) -> &Arc<Parameters> {
        &self.parameters
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What tests expected in vain.
    #[must_use]
    pub fn expectations(&self) -> &Expectations {
        &self.expectations
    }

    /// The names of the modules that [`Self::modules`] gives.
    #[must_use]
    pub fn module_names(&self) -> Vec<String> {
        self.modules().iter().map(|module| module.name().to_owned()).collect()
    }

    /// The native modules that a program imports from, to be registered before its own.
    #[must_use]
    pub fn modules_for<'a>(
        &self,
        program: impl IntoIterator<Item = &'a Module>,
    ) -> Vec<NativeModule> {
        let imports = program.into_iter().flat_map(Module::imports);
        let wanted: HashSet<&str> = imports.map(|import| import.split_name().0).collect();
        self.modules().into_iter().filter(|module| wanted.contains(module.name())).collect()
    }

    /// All native modules.
    #[must_use]
    pub fn modules(&self) -> Vec<NativeModule> {
        vec![
            hal::module(self),
            hal_inline::module(self),
            hal_loader::module(self),
            vmvx::module(),
            io_parameters::module(self),
            check::module(&self.expectations),
        ]
    }
}
