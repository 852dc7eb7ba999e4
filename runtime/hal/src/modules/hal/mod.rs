//! The `hal` module: devices, their memory and their queues, for programs.
//!
//! Signatures have changed between compilers, and an import is matched by its calling convention.
//! So each variant is declared, beside the others of its name: the one that compilers from 3.4 on
//! import comes first, the one of 3.1 to 3.3 after it. Functions and variants that only earlier
//! compilers import are in `descriptor_sets`.

mod allocator;
pub(super) mod buffer;
pub(super) mod buffer_view;
mod channel;
mod command_buffer;
mod descriptor_sets;
mod device;
pub(super) mod executable;
mod fence;
mod queue;

use vm::{NativeModule, NativeModuleBuilder};

use crate::host::Host;

/// The newest version that programs may request.
const VERSION: u32 = 7;

/// The module, for the devices of the host.
pub(crate) fn module(host: &Host) -> NativeModule {
    let declare: [fn(NativeModuleBuilder, &Host) -> NativeModuleBuilder; 10] = [
        allocator::declare,
        buffer::declare,
        buffer_view::declare,
        channel::declare,
        command_buffer::declare,
        device::declare,
        executable::declare,
        fence::declare,
        queue::declare,
        descriptor_sets::declare,
    ];
    let module = NativeModule::builder("hal").version(VERSION);
    declare.into_iter().fold(module, |module, declare| declare(module, host)).build()
}
