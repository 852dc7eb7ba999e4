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
mod yieldable_test;

use std::collections::HashSet;
use std::sync::Arc;

use check::Expectations;
use vm::{Context, ContextBuilder, ExecutionLimits, NativeModule};
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
    /// Further ones, for programs that are spread over several.
    pub more_devices: Vec<DeviceKind>,
    /// How many threads run dispatches where they run on many; 0 is one for each core.
    pub threads: usize,
    /// Whether their machine code runs.
    pub native_code: NativeCode,
    /// The parameters that they can ask for.
    pub parameters: Arc<Parameters>,
    /// Native libraries that they can import from.
    pub libraries: Vec<Arc<dyn NativeLibrary>>,
    /// How much they may use.
    pub limits: ExecutionLimits,
    /// Whether calls within modules pass as little as on runtimes up to 3.12: see
    /// [`vm::narrow_calls`].
    pub imitates_narrow_calls: bool,
    /// Whether device memory is guarded: see [`crate::guard`].
    pub is_guarded: bool,
}

/// A library of the user's whose functions satisfy imports. How they are called is its own
/// business.
pub trait NativeLibrary: std::fmt::Debug + Send + Sync {
    /// The name that programs import from.
    fn name(&self) -> &str;

    /// The library as a module. `imports` are the functions that the program asks of it, each with
    /// its calling convention.
    fn module(&self, host: &Host, imports: &[(&str, &str)]) -> NativeModule;

    /// The functions that it has but that cannot be called, and why.
    fn unusable(&self) -> &[(String, String)] {
        &[]
    }
}

/// The surroundings of one program: its device, its parameters, and what its tests expected in
/// vain.
#[derive(Clone, Debug)]
pub struct Host {
    device: Arc<Device>,
    more_devices: Vec<Arc<Device>>,
    expectations: Expectations,
    parameters: Arc<Parameters>,
    libraries: Vec<Arc<dyn NativeLibrary>>,
    limits: ExecutionLimits,
    imitates_narrow_calls: bool,
}

impl Host {
    /// Surroundings as configured.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let pool = config.device.pool(config.threads);
        let allocator =
            if config.is_guarded { Allocator::guarding() } else { Allocator::default() };
        let device = Device::new(config.device, pool, config.native_code, allocator);
        let more_devices = config.more_devices.iter().map(|kind| Arc::new(device.another(*kind)));
        Self {
            more_devices: more_devices.collect(),
            device: Arc::new(device),
            expectations: Expectations::default(),
            parameters: config.parameters.clone(),
            libraries: config.libraries.clone(),
            limits: config.limits.clone(),
            imitates_narrow_calls: config.imitates_narrow_calls,
        }
    }

    /// Whether calls within modules pass as little as on runtimes up to 3.12: see
    /// [`vm::narrow_calls`].
    #[must_use]
    pub fn imitates_narrow_calls(&self) -> bool {
        self.imitates_narrow_calls
    }

    /// A context to be linked, with what programs may use.
    #[must_use]
    pub fn context(&self) -> ContextBuilder {
        let builder = Context::builder().limits(self.limits.clone());
        if self.imitates_narrow_calls { builder.imitate_narrow_calls() } else { builder }
    }

    /// How much programs may use.
    #[must_use]
    pub fn limits(&self) -> &ExecutionLimits {
        &self.limits
    }

    /// The parameters that programs can ask for.
    #[must_use]
    pub fn parameters(&self) -> &Arc<Parameters> {
        &self.parameters
    }

    /// All devices.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<Device>> {
        std::iter::once(&self.device).chain(&self.more_devices)
    }

    /// The device, the first if there are several.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What tests expected in vain.
    #[must_use]
    pub fn expectations(&self) -> &Expectations {
        &self.expectations
    }

    /// The native libraries that programs can import from.
    #[must_use]
    pub fn libraries(&self) -> &[Arc<dyn NativeLibrary>] {
        &self.libraries
    }

    /// The native modules that a program imports from, to be registered before its own.
    #[must_use]
    pub fn modules_for<'a>(
        &self,
        program: impl IntoIterator<Item = &'a Module>,
    ) -> Vec<NativeModule> {
        let imports: Vec<_> = program.into_iter().flat_map(Module::imports).collect();
        let wanted: HashSet<&str> = imports.iter().map(|import| import.split_name().0).collect();
        let libraries = self.libraries.iter().map(|library| {
            let of_library =
                imports.iter().filter(|import| import.split_name().0 == library.name());
            let asked: Vec<(&str, &str)> = of_library
                .map(|import| {
                    let convention = import.signature.calling_convention.as_deref();
                    (import.split_name().1, convention.unwrap_or_default())
                })
                .collect();
            library.module(self, &asked)
        });
        let modules = self.modules().into_iter().filter(|module| wanted.contains(module.name()));
        modules.chain(libraries).collect()
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
            yieldable_test::module(),
        ]
    }
}
