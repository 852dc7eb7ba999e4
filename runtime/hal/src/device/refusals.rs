//! The questions that a device answered with no, and so the advice for a program for other devices.
//!
//! A program looks for a device before anything else: it asks for a name (`vulkan*`), then for
//! formats of executables. If no answer suits it, it fails with the compiler's message, which lists
//! the devices that the program was made for, but not what to do. The questions tell that.

use std::sync::{Mutex, PoisonError};

use vm::{Status, StatusCode};

use super::cpu::DeviceKind;
use crate::executables::{NATIVE_FORMATS, NativeCode, RECOMPILE, is_for_gpus, refusal};

/// How to run a program for another device here.
const STAND_INS: &str = "or make its debug file with `iree-dbg compile SOURCE --for=MODULE -- \
    FLAGS`: with it, dispatches run as bytecode here";

/// How to run a program for the processor.
const USE_PROCESSOR: &str = "run it without a --device, or with --device=local-sync";

/// What a sandbox does not hold.
const NO_SHADERS: &str = "its code runs on the device, as the driver lets it, and neither \
    --no-native nor --sandbox=on allows that; --sandbox=off does, for a program that you trust";

/// The last questions that were answered with no.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    device: Option<String>,
    format: Option<String>,
}

impl Refusals {
    /// Records that the device does not have the name that a program asked for.
    pub(crate) fn device(&self, pattern: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).device = Some(pattern.to_owned());
    }

    /// Records that executables of a format do not run.
    pub(crate) fn format(&self, format: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).format = Some(format.to_owned());
    }

    /// Adds advice to the error of a program that found no device.
    pub(crate) fn explain(&self, status: Status, native_code: NativeCode) -> Status {
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Programs ask for formats only after a device suits them.
        let advice = match (&asked.format, &asked.device) {
            _ if status.code != StatusCode::Incompatible => return status,
            (Some(format), _) => for_format(format, native_code),
            (None, Some(device)) => for_device(device),
            (None, None) => return status,
        };
        Status::new(status.code, format!("{}; {advice}", status.message))
    }
}

fn for_format(format: &str, native_code: NativeCode) -> String {
    if native_code == NativeCode::Refused && NATIVE_FORMATS.contains(&format) {
        return refusal(format);
    }
    if native_code != NativeCode::Allowed && is_for_gpus(format) {
        return format!(
            "the program was compiled to executables of format '{format}': {NO_SHADERS}"
        );
    }
    format!(
        "the program was compiled to executables of format '{format}', which this machine does not \
         run; {RECOMPILE}; {STAND_INS}"
    )
}

fn for_device(pattern: &str) -> String {
    let name = pattern.trim_end_matches('*');
    if name == "local" {
        return format!("the program was compiled for the processor: {USE_PROCESSOR}");
    }
    if let Ok(kind @ DeviceKind::Gpu(..)) = name.parse::<DeviceKind>() {
        let driver = kind.name();
        return format!(
            "the program was compiled for a device '{name}': run it with --device={driver}, where \
             there is one (`--list_devices={driver}` lists those of this machine); or \
             {RECOMPILE}; {STAND_INS}"
        );
    }
    format!(
        "the program was compiled for a device '{name}', and here is only the CPU; {RECOMPILE}; \
         {STAND_INS}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(refusals: &Refusals, code: StatusCode, native_code: NativeCode) -> String {
        refusals.explain(Status::new(code, "no device"), native_code).message
    }

    #[test]
    fn refused_questions_become_advice() {
        let refusals = Refusals::default();
        let (code, allowed) = (StatusCode::Incompatible, NativeCode::Allowed);
        assert_eq!(explained(&refusals, code, allowed), "no device");
        refusals.device("vulkan*");
        let text = explained(&refusals, code, allowed);
        assert!(text.contains("for a device 'vulkan': run it with --device=vulkan"), "{text}");
        refusals.device("webgpu*");
        let text = explained(&refusals, code, allowed);
        assert!(
            text.contains("for a device 'webgpu'")
                && text.contains(RECOMPILE)
                && text.ends_with(STAND_INS),
            "{text}"
        );
        assert_eq!(explained(&refusals, StatusCode::Internal, allowed), "no device");
        refusals.format("embedded-elf-of-another");
        let text = explained(&refusals, code, allowed);
        assert!(
            text.contains("'embedded-elf-of-another'")
                && text.contains(RECOMPILE)
                && text.ends_with(STAND_INS),
            "{text}"
        );
    }

    #[test]
    fn shaders_of_strangers_are_refused() {
        let refusals = Refusals::default();
        refusals.format("vulkan-spirv-fb");
        for native_code in [NativeCode::Sandboxed, NativeCode::Refused] {
            let text = explained(&refusals, StatusCode::Incompatible, native_code);
            assert!(text.ends_with(NO_SHADERS), "{text}");
        }
    }

    #[test]
    fn refused_machine_code_is_named() {
        let refusals = Refusals::default();
        for format in NATIVE_FORMATS.iter().copied() {
            refusals.format(format);
            let text = explained(&refusals, StatusCode::Incompatible, NativeCode::Refused);
            assert!(text.contains(format) && text.contains("--no-native"), "{text}");
        }
    }
}
