//! `--list_devices`: the devices that `--device=` takes, as IREE's tools list them. The flag needs
//! no command and no module, so it is handled before clap reads the command line.

use std::ffi::OsString;

use hal::DeviceKind;

const FLAG: &str = "--list_devices";

/// The list, if the command line asks for it: all devices, or those of a driver
/// (`--list_devices=local-sync`).
pub(crate) fn device_list(arguments: &[OsString]) -> Option<String> {
    // Arguments after `--` are for another program.
    let ours = arguments.iter().take_while(|argument| *argument != "--");
    let flags = ours.filter_map(|argument| argument.to_str());
    let driver = flags.filter_map(|flag| flag.strip_prefix(FLAG)).find_map(|rest| match rest {
        "" => Some(""),
        rest => rest.strip_prefix('='),
    })?;
    let devices = [DeviceKind::LocalSync, DeviceKind::LocalTask];
    let named = devices.iter().filter(|device| driver.is_empty() || device.name() == driver);
    Some(named.map(|device| format!("{device}://\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_listed_when_asked_for() {
        let asked = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            device_list(&arguments)
        };
        assert_eq!(asked(&["run", "--list_devices"]).unwrap(), "local-sync://\nlocal-task://\n");
        assert_eq!(asked(&["--list_devices=local-task"]).unwrap(), "local-task://\n");
        assert_eq!(asked(&["--list_devices=vulkan"]).unwrap(), "");
        assert_eq!(asked(&["run", "--list_devices_of_mine", "--device=local-task"]), None);
        assert_eq!(asked(&["compile", "a.mlir", "--", "--list_devices"]), None);
    }
}
