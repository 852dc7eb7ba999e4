//! Flags that print a list and end: `--list_drivers`, `--list_devices`, `--dump_devices`,
//! `--dump_task_topologies` and `--agents_md`, as IREE's tools have them. They need no command and
//! no module, so they are handled before clap reads the command line.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use hal::{DeviceKind, GpuApi, GpuName, ListedGpu, list_gpus};

/// The drivers: graphics processors, and the CPU under its two names and what IREE calls them.
const DRIVERS: [(DeviceKind, &str); 5] = [
    (gpu(GpuApi::Cuda), "Devices of CUDA, one dispatch after another"),
    (gpu(GpuApi::Hip), "Devices of HIP, one dispatch after another"),
    (DeviceKind::LocalSync, "Local execution using a lightweight inline synchronous queue"),
    (DeviceKind::LocalTask, "Local execution using the IREE multithreading task system"),
    (gpu(GpuApi::Vulkan), "Devices of Vulkan, one dispatch after another"),
];

const fn gpu(api: GpuApi) -> DeviceKind {
    DeviceKind::Gpu(api, GpuName::Index(0))
}

const RULE: &str =
    "# ============================================================================\n";

/// The list that the command line asks for. `--list_devices` and `--dump_devices` take the name of
/// a driver.
pub(crate) fn listing(arguments: &[OsString]) -> Option<String> {
    // Arguments after `--` are for another program.
    let ours = arguments.iter().take_while(|argument| *argument != "--");
    ours.filter_map(|argument| argument.to_str()).find_map(|argument| {
        let (flag, value) = argument.split_once('=').unwrap_or((argument, ""));
        let is_off = matches!(value, "false" | "0");
        match flag {
            "--list_drivers" => Some(drivers()),
            "--list_devices" => Some(devices(value)),
            "--dump_devices" => Some(device_details(value)),
            "--dump_task_topologies" => Some(topology()),
            "--agents_md" if !is_off => Some(AGENTS.to_owned()),
            _ => None,
        }
    })
}

fn drivers() -> String {
    let mut text = format!(
        "{RULE}# Available HAL drivers\n{RULE}# Use --list_devices={{driver name}} to enumerate \
         available devices.\n\n"
    );
    for (driver, description) in DRIVERS {
        let _ = writeln!(text, "{:>16}: {description}", driver.name());
    }
    text + "\n"
}

/// The drivers that a flag asks for.
fn named(driver: &str) -> impl Iterator<Item = DeviceKind> {
    let all = DRIVERS.iter().map(|(device, _)| *device);
    all.filter(move |device| driver.is_empty() || device.name() == driver)
}

fn devices(driver: &str) -> String {
    let uris = named(driver).flat_map(|driver| match driver {
        DeviceKind::Gpu(api, _) => {
            list_gpus(api).unwrap_or_default().into_iter().map(|gpu| gpu.uri).collect()
        }
        cpu => vec![format!("{cpu}://")],
    });
    uris.map(|uri| uri + "\n").collect()
}

fn device_details(driver: &str) -> String {
    const BORDER: &str =
        "# ===----------------------------------------------------------------------===\n";
    let details = named(driver).map(|driver| {
        let name = driver.name();
        let head = format!("{RULE}# Enumerated devices for driver '{name}'\n{RULE}\n");
        let devices = match driver {
            DeviceKind::Gpu(api, _) => list_gpus(api).map_or_else(
                |error| format!("# none: {error}\n"),
                |gpus| {
                    let all = gpus.into_iter().map(|ListedGpu { uri, title, details }| {
                        format!("{BORDER}# --device={uri}\n#   {title}\n{BORDER}{details}")
                    });
                    all.collect()
                },
            ),
            cpu => format!("{BORDER}# --device={cpu}://\n#   default\n{BORDER}"),
        };
        head + &devices
    });
    details.collect::<Vec<String>>().join("\n")
}

/// The threads that run dispatches of a `local-task` device. They are not pinned to processors.
fn topology() -> String {
    const BORDER: &str =
        "# ===------------------------------------------------------------------------===\n";
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut text =
        format!("{BORDER}# topology[0]: {threads} worker groups, on any processor\n{BORDER}#\n");
    for thread in 0..threads {
        let name = if thread == 0 { "the calling thread" } else { "a worker" };
        let _ = writeln!(text, "# group[{thread}]: {name}");
        let caches = caches(Path::new("/sys/devices/system/cpu/cpu0/cache"));
        if !caches.is_empty() {
            let _ = writeln!(text, "#  caches: {}", caches.join(", "));
        }
        text.push_str("#\n");
    }
    text + "\n"
}

/// The data caches of a processor, where the system tells.
fn caches(directory: &Path) -> Vec<String> {
    let read = |index: usize, name: &str| {
        let path = directory.join(format!("index{index}")).join(name);
        std::fs::read_to_string(path).map(|text| text.trim().to_owned())
    };
    (0..8)
        .filter_map(|index| {
            let (level, size) = (read(index, "level").ok()?, read(index, "size").ok()?);
            let is_data = read(index, "type").ok()? != "Instruction";
            is_data.then(|| format!("l{level}d={size}"))
        })
        .collect()
}

/// What a program that writes programs should know about these commands.
const AGENTS: &str = "\
# iree-dbg in the place of IREE's tools

`iree-dbg run`, `bench`, `check` and `dump` take the flags of iree-run-module,
iree-benchmark-module, iree-check-module and iree-dump-module and print what these print.

- A failure has a stack with source lines. `run --error_format=json` prints it as one object.
- `iree-dbg debug --json-lines --batch -x SCRIPT MODULE.vmfb` performs the debugger's commands and
  prints each answer and stop as one object a line.
- `iree-dbg tensors --format=json MODULE.vmfb` prints each tensor of a run as one object a line.
- `iree-dbg compile IN.mlir -o OUT.vmfb` keeps names and lines for all of these.
- Replays (`--device_replay_output`) are written by IREE's own tools only.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Option<String> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        listing(&arguments)
    }

    #[test]
    fn devices_are_listed_when_asked_for() {
        // Graphics processors are the machine's.
        let all = asked(&["run", "--list_devices"]).unwrap();
        let gpus = ["cuda", "hip", "vulkan"].map(|driver| format!("{driver}://GPU-"));
        let is_gpu = |line: &&str| gpus.iter().any(|gpu| line.starts_with(gpu));
        let rest: Vec<&str> = all.lines().filter(|line| !is_gpu(line)).collect();
        assert_eq!(rest, ["local-sync://", "local-task://"]);
        assert_eq!(asked(&["--list_devices=local-task"]).unwrap(), "local-task://\n");
        assert_eq!(asked(&["--list_devices=metal"]).unwrap(), "");
        assert_eq!(asked(&["run", "--list_devices_of_mine", "--device=local-task"]), None);
        assert_eq!(asked(&["compile", "a.mlir", "--", "--list_devices"]), None);
    }

    #[test]
    fn other_lists() {
        assert!(
            asked(&["--dump_devices=local-sync"]).unwrap().contains("# --device=local-sync://")
        );
        assert!(!asked(&["--dump_devices=local-sync"]).unwrap().contains("local-task"));
        assert!(asked(&["--dump_task_topologies"]).unwrap().contains("group[0]"));
        assert_eq!(asked(&["--agents_md=false"]), None);
    }
}
