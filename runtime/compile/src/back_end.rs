//! The back ends of this machine: which one flags name, and flags that name another one instead.

use gpu::Api;

use crate::flags::{is_flag, name_of};

/// A back end whose dispatches run on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BackEnd {
    /// Machine code for this processor.
    LlvmCpu,
    /// Bytecode that runs anywhere.
    Vmvx,
}

/// Flags that name a device or a back end.
const NAMES: [&str; 4] = [
    "--iree-hal-target-device",
    "--iree-hal-target-backends",
    "--iree-hal-local-target-device-backends",
    "--iree-hal-default-device",
];

/// Those that name back ends.
const BACK_ENDS: [&str; 2] = [NAMES[1], NAMES[2]];

/// The flags of a back end on this machine.
const LOCAL: &str = "--iree-hal-target-device=local";

impl BackEnd {
    /// Its name in the compiler's flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LlvmCpu => "llvm-cpu",
            Self::Vmvx => "vmvx",
        }
    }

    /// A user's flags with this back end in the place of those that they name.
    #[must_use]
    pub fn instead(self, user: &[String]) -> Vec<String> {
        let mut flags = vec![
            LOCAL.to_owned(),
            format!("--iree-hal-local-target-device-backends={}", self.name()),
        ];
        let is_processor = |flag: &str| name_of(flag).ends_with("-iree-llvmcpu-target-cpu");
        if self == Self::LlvmCpu && !user.iter().any(|flag| is_processor(flag)) {
            flags.push("--iree-llvmcpu-target-cpu=host".to_owned());
        }
        let mut user = user.iter().peekable();
        while let Some(flag) = user.next() {
            if !names_target(flag) {
                flags.push(flag.clone());
            } else if !flag.contains('=') {
                // Its value stands alone.
                user.next_if(|value| !value.starts_with('-'));
            }
        }
        flags
    }
}

fn names_target(flag: &str) -> bool {
    NAMES.iter().any(|name| is_flag(flag, name))
}

/// Whether flags name a device or a back end.
#[must_use]
pub fn have_target(flags: &[String]) -> bool {
    flags.iter().any(|flag| names_target(flag))
}

/// Flags for a program that is to run on a device, named as for IREE's tools (`vulkan://1`): they
/// have its target if they name none and it is not the default.
#[must_use]
pub fn for_device(device: &str, mut flags: Vec<String>) -> Vec<String> {
    let driver = device.split("://").next().unwrap_or_default();
    if Api::of_driver(driver).is_some() && !have_target(&flags) {
        flags.push(format!("{}={driver}", NAMES[0]));
    }
    flags
}

/// The back ends that flags name, as they name them: `llvm-cpu`, `vulkan-spirv`.
#[must_use]
pub fn named_back_ends(flags: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (index, flag) in flags.iter().enumerate() {
        if !BACK_ENDS.iter().any(|name| is_flag(flag, name)) {
            continue;
        }
        let apart = || flags.get(index + 1).map(String::as_str);
        let value = flag.split_once('=').map(|(_, value)| value).or_else(apart);
        found.extend(value.into_iter().flat_map(|it| it.split(',')).map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_its_target_unless_flags_name_one() {
        let flag = |text: &str| vec![text.to_owned()];
        for (device, target) in [("vulkan", "vulkan"), ("vulkan://1", "vulkan"), ("cuda", "cuda")] {
            let expected = format!("--iree-hal-target-device={target}");
            assert_eq!(for_device(device, Vec::new()), [expected]);
        }
        let other = flag("--iree-hal-target-backends=vmvx");
        assert_eq!(for_device("vulkan", other.clone()), other);
        assert_eq!(for_device("local-task", flag("-O3")), ["-O3"]);
    }

    fn flags(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_back_end_replaces_another() {
        for (user, back_end, expected) in [
            ("", BackEnd::Vmvx, ""),
            ("--iree-opt-level=O2 -iree-hal-target-backends=vmvx", BackEnd::Vmvx, "O2"),
            (
                "--iree-hal-target-device local --iree-hal-local-target-device-backends=llvm-cpu \
                 --iree-opt-level=O2",
                BackEnd::Vmvx,
                "O2",
            ),
            ("--iree-hal-target-backends=vmvx", BackEnd::LlvmCpu, "cpu"),
            ("-iree-llvmcpu-target-cpu=generic", BackEnd::LlvmCpu, "generic"),
        ] {
            let local = "--iree-hal-target-device=local --iree-hal-local-target-device-backends=";
            let rest = match expected {
                "" => "",
                "O2" => " --iree-opt-level=O2",
                "cpu" => " --iree-llvmcpu-target-cpu=host",
                _ => " -iree-llvmcpu-target-cpu=generic",
            };
            let expected = format!("{local}{}{rest}", back_end.name());
            assert_eq!(back_end.instead(&flags(user)).join(" "), expected, "{user}");
        }
    }

    #[test]
    fn flags_name_back_ends() {
        for (user, names, is_there) in [
            ("--iree-opt-level=O2", "", false),
            ("--iree-hal-target-device=hip", "", true),
            ("-iree-hal-target-backends=llvm-cpu,vmvx", "llvm-cpu vmvx", true),
            ("--iree-hal-local-target-device-backends vmvx", "vmvx", true),
        ] {
            assert_eq!(named_back_ends(&flags(user)).join(" "), names, "{user}");
            assert_eq!(have_target(&flags(user)), is_there, "{user}");
        }
    }
}
