//! The `hal` module: devices, their memory and their queues, for programs.
//!
//! Functions have changed their signatures between compilers, and an import finds the one of its
//! calling convention. So each variant is declared: those that compilers from 3.4 on import come
//! first, those of 3.1 to 3.3 behind them; what only compilers before those import is apart.

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

/// The newest version that programs may ask for.
const VERSION: u32 = 7;

/// The module, around the host's device.
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
