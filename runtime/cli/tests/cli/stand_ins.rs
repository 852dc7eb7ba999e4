//! Modules for devices that are not here: all of their dispatches run as bytecode, by source line,
//! with the results that the same program has on the CPU.
//!
//! Needs iree-compile and iree-run-module: `pip install iree-base-compiler iree-base-runtime`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::{made_once, text};

use crate::program::{IREE_DBG, data, scratch};

/// The name of each device, and the flags that compile for it.
const DEVICES: [(&str, &[&str]); 6] = [
    ("vulkan", &["--iree-hal-target-device=vulkan"]),
    ("cuda", &["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"]),
    ("hip", &["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]),
    ("amdgpu", &["--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx1100"]),
    ("metal", &["--iree-hal-target-device=metal", "--iree-metal-compile-to-metallib=false"]),
    (
        "other-cpu",
        &[
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            OTHER_CPU,
        ],
    ),
];

#[cfg(target_arch = "aarch64")]
const OTHER_CPU: &str = "--iree-llvmcpu-target-triple=x86_64-unknown-linux-gnu";
#[cfg(not(target_arch = "aarch64"))]
const OTHER_CPU: &str = "--iree-llvmcpu-target-triple=aarch64-unknown-linux-gnu";

/// Functions with inputs.
const CALLS: [(&str, &[&str]); 5] = [
    ("blend", &["8x16xf32=@x.npy", "8x16xf32=0.5"]),
    ("twice", &["3x32xf32=0.25", "70x32xf32=0.5", "32x16xf32=0.125"]),
    ("twice", &["1x32xf32=0.25", "1x32xf32=0.5", "32x16xf32=0.125"]),
    ("convolved", &["2x8x8x4xf32=0.25", "3x8x8x4xf32=-0.5", "3x3x4x8xf32=0.125"]),
    ("halved", &["4xf32=0.9 0.5 0.25 0.75"]),
];

fn folder() -> PathBuf {
    made_once(scratch("stand-ins"), |folder| {
        std::fs::copy(data("stand_ins.mlir"), folder.join("stand_ins.mlir")).expect("a copy");
        let elements: Vec<u8> =
            (0..128_u16).flat_map(|n| (f32::from(n) / 16.0).to_le_bytes()).collect();
        std::fs::write(folder.join("x.bin"), elements).expect("the input is written");
    })
}

/// The program for Vulkan, which sessions share.
fn vulkan() -> PathBuf {
    let folder = made_once(scratch("stand-ins-vulkan"), |folder| {
        std::fs::copy(data("stand_ins.mlir"), folder.join("stand_ins.mlir")).expect("a copy");
        let module = IREE_DBG.compile(folder, "stand_ins.mlir", "debugged.vmfb", DEVICES[0].1);
        // Sessions add bytecode to the debug file; this one stays without.
        let untouched = folder.join("untouched.debug");
        std::fs::copy(module.with_extension("vmfb.debug"), untouched).expect("a copy");
    });
    folder.join("debugged.vmfb")
}

/// Compiles the programs with their debug file.
fn module(name: &str, flags: &[&str]) -> PathBuf {
    IREE_DBG.compile(folder(), "stand_ins.mlir", format!("{name}.vmfb"), flags)
}

/// A call by a command that takes IREE's flags.
fn called(mut command: Command, module: &Path, function: &str, inputs: &[&str]) -> Output {
    command.current_dir(folder()).arg(format!("--module={}", module.display()));
    command.arg(format!("--function={function}"));
    let inputs = inputs.iter().map(|it| it.replace("@x.npy", "@x.bin"));
    command.args(inputs.map(|input| format!("--input={input}"))).output().expect("it runs")
}

/// All numbers that are printed, and the text between them.
fn numbers(printed: &str) -> (Vec<f64>, String) {
    let is_number = |it: char| it.is_ascii_digit() || "+-.e".contains(it);
    let (mut numbers, mut rest) = (Vec::new(), String::new());
    for word in printed.split_inclusive(|it| !is_number(it)) {
        match word.trim_end_matches(|it| !is_number(it)).parse::<f64>() {
            Ok(number) => numbers.push(number),
            Err(_) => rest.push_str(word),
        }
    }
    (numbers, rest)
}

#[test]
fn each_device_has_the_results_of_the_cpu() {
    let flags = [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ];
    let machine = module("cpu", &flags);
    let expected = CALLS.map(|(function, inputs)| {
        let mut command = Command::new("iree-run-module");
        command.arg("--device=local-sync");
        let output = called(command, &machine, function, inputs);
        assert!(output.status.success(), "{}", text(&output.stderr));
        numbers(&text(&output.stdout))
    });
    for (device, flags) in DEVICES {
        let module = module(device, flags);
        for ((function, inputs), (expected, around)) in CALLS.iter().zip(&expected) {
            let mut command = IREE_DBG.command();
            command.arg("run");
            let output = called(command, &module, function, inputs);
            let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
            assert!(output.status.success(), "{device} @{function}: {stderr}");
            assert!(stderr.contains("its dispatches run as bytecode, on the CPU"), "{stderr}");
            let (found, found_around) = numbers(&stdout);
            assert_eq!(&found_around, around, "{device} @{function}");
            assert_eq!(found.len(), expected.len(), "{device} @{function}: {stdout}");
            for (found, expected) in found.iter().zip(expected) {
                let bound = 1e-4 * expected.abs().max(1.0);
                assert!((found - expected).abs() <= bound, "{device} @{function}: {stdout}");
            }
        }
    }
}

/// The output of a session with the module for Vulkan.
fn session(arguments: &[&str], commands: &[&str], environment: &[(&str, &str)]) -> String {
    let module = vulkan();
    let folder = module.parent().expect("its folder");
    let arguments = arguments.iter().map(OsStr::new).chain([module.as_os_str()]);
    IREE_DBG.session(folder, arguments, &(commands.join("\n") + "\n"), environment)
}

/// What a command has printed: the text up to the next command. `number` counts from 0.
fn printed(text: &str, number: usize) -> &str {
    let part = text.split("(iree-dbg) ").nth(number + 1).unwrap_or_default();
    part.split_once('\n').map_or("", |(_, rest)| rest)
}

const BLEND: [&str; 3] = ["--function=blend", "--input=8x16xf32=1", "--input=8x16xf32=0.5"];

#[test]
fn lines_in_dispatches_stop_with_values_and_names() {
    let commands = [
        "break stand_ins.mlir:16",
        "run",
        "print %s",
        "bt",
        "delete",
        "finish",
        "next",
        "next",
        "print %mixed",
        "continue",
    ];
    let text = session(&BLEND, &commands, &[]);
    assert!(
        text.starts_with("note: module is compiled to vulkan-spirv-fb, which does not"),
        "{text}"
    );
    assert!(!printed(&text, 0).contains("machine code"), "{text}");
    assert!(printed(&text, 1).contains("\n16\t    %h = arith.mulf %s, %half : f32"), "{text}");
    assert!(printed(&text, 2).contains("%s = 1.5 : f32"), "{text}");
    assert!(printed(&text, 3).contains(", as bytecode at stand_ins.mlir:"), "{text}");
    assert!(printed(&text, 8).contains("%mixed = [0.75, 0.75, "), "{text}");
    assert!(printed(&text, 9).contains("result[1]: hal.buffer_view\n8xf32=0.0625"), "{text}");
}

#[test]
fn a_dispatch_that_waits_for_its_shapes_is_stepped_too() {
    let inputs = ["--input=2x8x8x4xf32=0.25", "--input=3x8x8x4xf32=0.5", "--input=3x3x4x8xf32=1"];
    let arguments: Vec<&str> = ["--function=convolved"].into_iter().chain(inputs).collect();
    // The line of the maximum, in both calls.
    let commands = ["break stand_ins.mlir:73", "run", "bt", "step", "continue"];
    let text = session(&arguments, &commands, &[]);
    assert!(printed(&text, 1).contains("73\t    %u = arith.maximumf %a, %zero : f32"), "{text}");
    let stack = printed(&text, 2);
    assert!(stack.contains("\n#2 workgroup (0,0,0) at stand_ins.mlir:67:8"), "{text}");
    assert!(stack.contains("as bytecode [inlined] at stand_ins.mlir:67:8"), "{text}");
    assert!(printed(&text, 4).contains("stand_ins.mlir:73"), "{text}");
}

#[test]
fn what_is_missing_is_said() {
    // No debug file.
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().join("alone.vmfb");
    std::fs::copy(vulkan(), &module).expect("the module is copied");
    let mut command = IREE_DBG.command();
    command.arg("run");
    let output = called(command, &module, "halved", &["4xf32=0.25"]);
    let stderr = text(&output.stderr);
    assert!(!output.status.success(), "{stderr}");
    assert!(stderr.contains("`iree-dbg compile SOURCE --for=MODULE -- FLAGS`"), "{stderr}");
    // No compiler, and bytecode that no session has made yet.
    let alone = folder.path().join("alone.vmfb.debug");
    std::fs::copy(vulkan().with_file_name("untouched.debug"), &alone).expect("the file is copied");
    let halved = |compiler: Option<&str>| {
        let mut command = IREE_DBG.command();
        command.arg("run").envs(compiler.map(|it| ("IREE_COMPILE", it)));
        called(command, &module, "halved", &["4xf32=0.25"])
    };
    let nowhere = Some("/nowhere/iree-compile");
    let output = halved(nowhere);
    let stderr = text(&output.stderr);
    assert!(!output.status.success(), "{stderr}");
    assert!(stderr.contains("its dispatches have no bytecode"), "{stderr}");
    assert!(stderr.contains("pip install iree-base-compiler"), "{stderr}");
    // Once it was made, no compiler is needed.
    let made = halved(None);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let kept = halved(nowhere);
    std::fs::remove_file(alone).expect("the file is removed");
    assert!(kept.status.success(), "{}", text(&kept.stderr));
    assert_eq!(text(&kept.stdout), text(&made.stdout));
}
