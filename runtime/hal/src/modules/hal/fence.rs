//! `hal.fence.*`: creating, signalling and awaiting fences.

use std::sync::Arc;
use std::time::{Duration, Instant};

use vm::{Arguments, NativeModuleBuilder, NativeReturn, Ref, Status, StatusCode, Value};

use crate::device::Device;
use crate::host::Host;
use crate::modules::arguments::HalArguments;
use crate::scheduling::Fence;

pub(super) fn declare(mut module: NativeModuleBuilder, host: &Host) -> NativeModuleBuilder {
    for calling_convention in ["0rI_r", "0ri_r"] {
        module = module.function("fence.create", calling_convention, |call| {
            call.device(0)?;
            Ok(Ref::object(Fence::new()))
        });
    }
    for (calling_convention, fences) in [("0ICrD_r", 1), ("0CrD_r", 0)] {
        module = module.function("fence.join", calling_convention, move |call| {
            let joined = join(&call, fences)?;
            Ok(if joined.points().is_empty() { Ref::Null } else { Ref::object(joined) })
        });
    }
    for (calling_convention, fences) in [("0iICrD_i", 2), ("0iCrD_i", 1)] {
        let device = host.device().clone();
        module = module.function("fence.await", calling_convention, move |call| {
            let fence = join(&call, fences)?;
            if fence.is_reached()? {
                return Ok(code(0));
            }
            let deadline = match call.u32(0)? {
                u32::MAX => None,
                milliseconds => Some(Instant::now() + Duration::from_millis(milliseconds.into())),
            };
            Wait { device: device.clone(), fence, deadline, looks: 0 }.look()
        });
    }
    let (signalled, failed) = (host.device().clone(), host.device().clone());
    module
        .function("fence.query", "0r_i", |call| {
            let fence: &Fence = call.native(0, "hal.fence")?;
            Ok(match fence.is_reached() {
                Ok(true) => 0,
                Ok(false) => StatusCode::Deferred as i32,
                Err(status) => status.code as i32,
            })
        })
        .function("fence.signal", "0r_v", move |call| {
            call.native::<Fence>(0, "hal.fence")?.signal()?;
            signalled.pump()
        })
        .function("fence.fail", "0ri_v", move |call| {
            let code = StatusCode::from_number(call.u32(1)? & 0x1F);
            let status = Status::new(code.unwrap_or(StatusCode::Unknown), "");
            call.native::<Fence>(0, "hal.fence")?.fail(&status);
            // Submissions that waited for it fail in turn; awaiting their fences reports it.
            let _ = failed.pump();
            Ok(())
        })
}

/// All fences of a span as one; null fences are reached.
fn join(call: &Arguments<'_>, index: usize) -> Result<Fence, Status> {
    let mut joined = Fence::default();
    for tuple in call.span(index)? {
        if let Some(fence) = tuple.optional(0, "hal.fence")? {
            joined.extend(fence);
        }
    }
    Ok(joined)
}

/// A program that waits for a fence.
struct Wait {
    device: Arc<Device>,
    fence: Fence,
    deadline: Option<Instant>,
    looks: u32,
}

impl Wait {
    /// Returns if the fence is reached, has failed or is late; waits otherwise.
    fn look(mut self) -> Result<NativeReturn, Status> {
        if self.fence.is_reached()? {
            return Ok(code(0));
        }
        // No other result of a program depends on a clock, and this one only on whether something
        // signals the fence at all: a program that runs again is as late as it was.
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => {
                return Ok(code(StatusCode::DeadlineExceeded as i32));
            }
            // The queue has run all submissions that were ready, and the host has had a chance to
            // signal.
            None if self.looks > 0 => {
                return Err(Status::failed_precondition(format!(
                    "deadlock: the program waits for a fence that nothing it has submitted will \
                     signal ({} submissions wait for fences themselves)",
                    self.device.queue().waiting_count()
                )));
            }
            _ => {}
        }
        self.looks += 1;
        let mut waiting = Some(self);
        Ok(NativeReturn::Pending(Box::new(move || match waiting.take() {
            Some(wait) => wait.look(),
            None => Err(Status::internal("a wait was resumed after its end")),
        })))
    }
}

fn code(code: i32) -> NativeReturn {
    NativeReturn::Result(Value::I32(code))
}
