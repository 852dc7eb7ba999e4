//! The `hal_loader` module: executables for programs that dispatch them without a device
//! (`--iree-execution-model=inline-dynamic`). A dispatch is a call that returns when all workgroups
//! have run. If it may be interrupted or limited, it is an activity.

use std::sync::Arc;

use vm::{Activity, IntoResults, NativeCall, NativeModule, NativeReturn, Next, Status, Value};

use super::arguments::HalArguments;
use super::hal::executable::{create, lookup_function};
use crate::activities::Dispatching;
use crate::device::Device;
use crate::executables::NativeCode;
use crate::executables::{self, Dispatch};
use crate::host::Host;
use crate::memory::Binding;

/// The name that programs import from.
pub(super) const NAME: &str = "hal_loader";

/// The module. Dispatches run on the pool of the host's device.
pub(super) fn module(host: &Host) -> NativeModule {
    let machine_code = host.device().machine_code().clone();
    let runs_machine_code = machine_code.allowed != NativeCode::Refused;
    let (by_id, by_ordinal) = (host.clone(), host.clone());
    // The version that compilers of 3.13 request.
    NativeModule::builder(NAME)
        .version(1)
        .function("executable.query_support", "0r_i", move |call| {
            Ok(i32::from(executables::runs_format(&call.text(0)?, runs_machine_code)))
        })
        .function("executable.load", "0rrr_r", move |call| create(&call, 0, &machine_code))
        .function("executable.lookup.function", "0rr_I", |call| lookup_function(&call))
        .function("executable.dispatch", "0rIiiiCiDCrIID_v", move |call| {
            dispatch(&by_id, &call, call.u64(1)?)
        })
        // Compilers before 3.13 pass the number of the function.
        .function("executable.dispatch", "0riiiiCiDCrIID_v", move |call| {
            dispatch(&by_ordinal, &call, call.u32(1)?.into())
        })
        .build()
}

fn dispatch(host: &Host, call: &NativeCall<'_>, function: u64) -> Result<NativeReturn, Status> {
    let executable = call.executable(0)?;
    let count = executable.exports().len();
    let export = usize::try_from(function).ok().filter(|export| *export < count);
    let export = export.ok_or_else(|| {
        Status::out_of_range(format!("function id {function} out of range (count: {count})"))
    })?;
    let constants = call.span(5)?.map(|tuple| tuple.u32(0)).collect::<Result<_, _>>()?;
    let bindings = call.span(6)?.map(|tuple| {
        let (offset, length) = (tuple.u64(1)? as usize, tuple.u64(2)? as usize);
        Binding::new(tuple.bytes(0)?.clone(), offset, length)
    });
    let dispatch = Dispatch {
        export,
        workgroup_count: [call.u32(2)?, call.u32(3)?, call.u32(4)?],
        workgroup_size: [1; 3],
        constants,
        bindings: bindings.collect::<Result<_, Status>>()?,
        local_memory_bytes: 0,
    };
    let device = host.device();
    if call.is_left_alone() {
        return device.pool().run(executable, &dispatch).map(IntoResults::into_results);
    }
    let [x, y, z] = dispatch.workgroup_count;
    let text = format!("dispatch @{} [{x},{y},{z}]", executable.name_of(export));
    let dispatching = Dispatching::new(executable.clone(), dispatch);
    let activity = LoaderDispatch { text, dispatching, device: device.clone() };
    Ok(NativeReturn::Activity(Box::new(activity)))
}

/// A dispatch that may be interrupted or limited.
#[derive(Debug)]
struct LoaderDispatch {
    text: String,
    dispatching: Dispatching,
    device: Arc<Device>,
}

impl Activity for LoaderDispatch {
    fn resume(&mut self, host: &mut vm::Host<'_>, _results: Vec<Value>) -> Result<Next, Status> {
        let next = self.dispatching.resume(host, &self.device)?;
        Ok(next.unwrap_or_else(|| Next::Return(Vec::new())))
    }

    fn explain(&self, status: Status) -> Status {
        self.dispatching.explain(status)
    }

    fn parts(&self) -> Vec<String> {
        let workgroup = self.dispatching.workgroup();
        let workgroup = workgroup.map(|[x, y, z]| format!("workgroup ({x},{y},{z})"));
        [self.text.clone()].into_iter().chain(workgroup).collect()
    }
}
