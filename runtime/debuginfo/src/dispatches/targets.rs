//! What dispatches were compiled for, read from the sources of them that the debug file keeps.

use std::collections::{BTreeSet, HashMap};

use super::statements::statements;

/// What the dispatches of a module were compiled for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DispatchTargets {
    /// The names of the devices.
    pub devices: Vec<String>,
    /// The formats of the variants of each executable.
    pub executables: Vec<BTreeSet<String>>,
}

/// The attribute of a target.
const TARGET: &str = "#hal.executable.target<";

/// The attribute of a device.
const DEVICE: &str = "#hal.device.target<";

impl DispatchTargets {
    /// Reads the text that iree-compile prints with `--compile-to=executable-sources`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut devices = BTreeSet::new();
        let mut aliases: HashMap<&str, String> = HashMap::new();
        for line in text.lines() {
            let named = line.split(DEVICE).skip(1).filter_map(|rest| quoted(rest, 0));
            devices.extend(named);
            if let Some((name, value)) = line.split_once(" = ")
                && name.starts_with('#')
                && let Some(format) = value.strip_prefix(TARGET).and_then(|it| quoted(it, 1))
            {
                aliases.insert(name, format);
            }
        }
        let mut executables: Vec<BTreeSet<String>> = Vec::new();
        for statement in statements(text) {
            if statement.text.starts_with("hal.executable private ")
                || statement.text.starts_with("hal.executable public ")
            {
                executables.push(BTreeSet::new());
            } else if statement.text.starts_with("hal.executable.variant ")
                && let Some((_, target)) = statement.text.split_once(" target(")
            {
                let spelled = target.strip_prefix(TARGET).or_else(|| target.strip_prefix('<'));
                let alias = || aliases.get(target.split_once(')')?.0).cloned();
                let format = spelled.and_then(|it| quoted(it, 1)).or_else(alias);
                executables.last_mut().into_iter().for_each(|it| it.extend(format.clone()));
            }
        }
        Self { devices: devices.into_iter().collect(), executables }
    }
}

/// The text in the quotes that come after `skipped` other ones.
fn quoted(text: &str, skipped: usize) -> Option<String> {
    text.split('"').nth(2 * skipped + 1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
#executable_target_vulkan_spirv_fb = #hal.executable.target<\"vulkan-spirv\", \"vulkan-spirv-fb\">
#device_target_vulkan = #hal.device.target<\"vulkan\", [#executable_target_vulkan_spirv_fb]> : !d
module {
  hal.executable private @a {
    hal.executable.variant public @v target(#executable_target_vulkan_spirv_fb) {
    }
    hal.executable.variant public @w target(<\"llvm-cpu\", \"embedded-elf-x86_64\", {cpu = \"\"}>) {
    }
  }
  hal.executable private @b {
    hal.executable.variant public @v target(#hal.executable.target<\"cuda\", \"cuda-nvptx-fb\">) {
    }
  }
}
";

    #[test]
    fn targets_are_read_with_and_without_aliases() {
        let targets = DispatchTargets::parse(TEXT);
        assert_eq!(targets.devices, ["vulkan"]);
        let formats: Vec<Vec<&str>> = targets
            .executables
            .iter()
            .map(|formats| formats.iter().map(String::as_str).collect())
            .collect();
        let first = vec!["embedded-elf-x86_64", "vulkan-spirv-fb"];
        assert_eq!(formats, [first, vec!["cuda-nvptx-fb"]]);
    }
}
