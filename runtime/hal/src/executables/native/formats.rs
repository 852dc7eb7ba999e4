//! Which formats of machine code this processor runs, and whether any may run.

use vm::Status;

/// The formats that this machine runs. They hold ELF files, with the calling convention of Linux
/// and macOS; files for the system's own loader are ELF on Linux only.
pub(crate) const FORMATS: &[&str] =
    if cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) {
        &[]
    } else if cfg!(target_os = "linux") {
        &[EMBEDDED, SYSTEM]
    } else if cfg!(unix) {
        &[EMBEDDED]
    } else {
        &[]
    };

#[cfg(not(target_arch = "aarch64"))]
pub(crate) const EMBEDDED: &str = "embedded-elf-x86_64";
#[cfg(target_arch = "aarch64")]
pub(crate) const EMBEDDED: &str = "embedded-elf-arm_64";
#[cfg(not(target_arch = "aarch64"))]
pub(super) const SYSTEM: &str = "system-elf-x86_64";
#[cfg(target_arch = "aarch64")]
pub(super) const SYSTEM: &str = "system-elf-arm_64";

/// Whether machine code may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NativeCode {
    /// Machine code runs: the user launched the program, so it is as trusted as any other program
    /// they launch.
    #[default]
    Allowed,
    /// Machine code runs in a process of its own that can only compute: see the crate `sandbox`.
    Sandboxed,
    /// Only bytecode runs.
    Refused,
}

pub(super) fn refused(format: &str) -> Status {
    Status::permission_denied(refusal(format))
}

/// Why machine code does not run, with advice.
pub(crate) fn refusal(format: &str) -> String {
    format!(
        "the program has machine code ('{format}'), and --no-native refuses to run any; compile \
         with --iree-hal-local-target-device-backends=vmvx for bytecode that runs anywhere, or \
         leave out --no-native if you trust the program"
    )
}
