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

/// Whose machine code runs in a sandbox, as the user chooses it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SandboxChoice {
    /// That of every program.
    On,
    /// That of none: it runs with all rights of the user.
    Off,
    /// That of programs that others have sent.
    #[default]
    Auto,
}

impl SandboxChoice {
    /// What this means for a program.
    #[must_use]
    pub fn native_code(self, is_sent: bool) -> NativeCode {
        match self {
            Self::On => NativeCode::Sandboxed,
            Self::Auto if is_sent => NativeCode::Sandboxed,
            Self::Off | Self::Auto => NativeCode::Allowed,
        }
    }
}

/// A text that is no [`SandboxChoice`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is none of on, off and auto")]
pub struct NoSandboxChoice(String);

impl std::str::FromStr for SandboxChoice {
    type Err = NoSandboxChoice;

    fn from_str(text: &str) -> Result<Self, NoSandboxChoice> {
        match text {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            "auto" => Ok(Self::Auto),
            other => Err(NoSandboxChoice(other.to_owned())),
        }
    }
}

impl std::fmt::Display for SandboxChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Auto => "auto",
        })
    }
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
