//! `hal.channel.*`: collective operations, which are not supported on a single CPU.

use vm::{NativeModuleBuilder, Ref, Status, Value};

use crate::host::Host;

pub(super) fn declare(module: NativeModuleBuilder, _host: &Host) -> NativeModuleBuilder {
    let mut module = module;
    for calling_convention in ["0rIIrrii_r", "0rIirrii_r"] {
        module =
            module.function("channel.create", calling_convention, |_| Err::<Ref, _>(collectives()));
    }
    for calling_convention in ["0riiI_r", "0riii_r"] {
        module =
            module.function("channel.split", calling_convention, |_| Err::<Ref, _>(collectives()));
    }
    module.function("channel.rank_and_count", "0r_ii", |_| Err::<Vec<Value>, _>(collectives()))
}

/// The error for programs with collective operations.
pub(super) fn collectives() -> Status {
    Status::unimplemented(
        "collectives not yet implemented on CPU; this program exchanges data between devices, and \
         here there is one: compile it without sharding (mesh, collective ops) to run it",
    )
}
