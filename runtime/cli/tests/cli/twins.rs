//! Stepping into machine code: the dispatch runs as bytecode that is compiled from its source, by
//! source line and with values, and the program's results stay those of the machine code.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use debuginfo::DebugFile;

use support::made_once;

use crate::program::{IREE_DBG, data, scratch};

const LAYERS: [&str; 4] =
    ["--function=layers", "--input=8x8xf32=0.25", "--input=8x8xf32=0.125", "--input=8x8xf32=0.5"];

const ATTENTION: [&str; 4] = [
    "--function=attention",
    "--input=8x8xf32=0.25",
    "--input=8x8xf32=0.125",
    "--input=8x8xf32=0.5",
];

const NO_COMPILER: [(&str, &str); 1] = [("IREE_COMPILE", "/nowhere/iree-compile")];

const GATHER: [&str; 3] =
    ["--function=gather", "--input=16xf32=0.25", "--input=4xi64=1,2,3,100000000000"];

fn module() -> PathBuf {
    let folder = made_once(scratch("twins"), |folder| {
        std::fs::copy(data("twins.mlir"), folder.join("twins.mlir")).expect("a copy");
        let flags = [
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "--iree-llvmcpu-target-cpu=generic",
        ];
        let module = IREE_DBG.compile(folder, "twins.mlir", "twins.vmfb", &flags);
        // Sessions add bytecode to the debug file; this one stays without.
        copied(&module, &folder.join("untouched.vmfb"));
    });
    folder.join("twins.vmfb")
}

/// Copies a module with its debug file.
fn copied(module: &Path, to: &Path) {
    let _ = std::fs::remove_file(to.with_extension("vmfb.debug"));
    std::fs::copy(module, to).expect("the module is copied");
    let debug_file = |path: &Path| path.with_extension("vmfb.debug");
    std::fs::copy(debug_file(module), debug_file(to)).expect("the debug file is copied");
}

/// A module whose debug file has no bytecode yet.
fn untouched(name: &str) -> PathBuf {
    let to = module().with_file_name(name);
    copied(&module().with_file_name("untouched.vmfb"), &to);
    to
}

/// The output of a session.
fn session(arguments: &[&str], commands: &[&str], environment: &[(&str, &str)]) -> String {
    session_of(&module(), arguments, commands, environment)
}

/// The output of a session with a module.
fn session_of(
    module: &Path,
    arguments: &[&str],
    commands: &[&str],
    environment: &[(&str, &str)],
) -> String {
    let folder = module.parent().expect("its folder");
    let arguments = arguments.iter().map(OsStr::new).chain([module.as_os_str()]);
    IREE_DBG.session(folder, arguments, &(commands.join("\n") + "\n"), environment)
}

/// What a command has printed: the text up to the next command. `number` counts from 0.
fn printed(text: &str, number: usize) -> &str {
    let part = text.split("(iree-dbg) ").nth(number + 1).unwrap_or_default();
    part.split_once('\n').map_or("", |(_, rest)| rest)
}

/// The results that a session has printed, of the program as it ran.
fn results(text: &str) -> &str {
    let (_, results) = text.split_once("result[0]").unwrap_or_else(|| panic!("no result: {text}"));
    results.lines().nth(1).unwrap_or_default()
}

#[test]
fn a_dispatch_of_machine_code_is_stepped_by_line_with_values() {
    let commands = [
        "break twins.mlir:18",
        "run",
        "step",
        "step",
        "continue",
        "bt",
        "print %s",
        "delete",
        "finish",
        "continue",
    ];
    let text = session(&LAYERS, &commands, &[]);
    assert!(printed(&text, 0).contains("the line is machine code"), "{text}");
    assert!(printed(&text, 1).contains("command 1: dispatch @layers_dispatch_0"), "{text}");
    assert!(printed(&text, 2).contains("workgroup (0,0,0) at twins.mlir:12:9"), "{text}");
    assert!(printed(&text, 3).starts_with("#0 layers_dispatch_0_matmul"), "{text}");
    // The line has bytecode now, and the breakpoint stops there too.
    assert!(printed(&text, 4).contains("twins.mlir:18:10\n18\t    %u = math.exp %s"), "{text}");
    assert!(printed(&text, 5).contains(", as bytecode at twins.mlir:12:9"), "{text}");
    assert!(printed(&text, 6).contains("%s = 0.125 : f32"), "{text}");
    assert!(printed(&text, 8).contains("@layers_dispatch_0_matmul_8x8x8_f32: bytecode"), "{text}");
    let plain = session(&LAYERS, &["run"], &[]);
    assert_eq!(results(&text), results(&plain), "{text}");
}

#[test]
fn a_shared_dispatch_has_the_lines_of_its_call() {
    let text = session(&LAYERS, &["break 28", "run", "step", "step", "continue", "bt"], &[]);
    assert!(printed(&text, 1).contains("twins.mlir:22:9\n"), "{text}");
    assert!(printed(&text, 4).contains("28\t    %v = math.exp %t : f32"), "{text}");
    assert!(printed(&text, 5).contains("at twins.mlir:22:9"), "{text}");
}

/// The lines of each dispatch of `attention`, its own first: of what it computes, and of what it
/// fills a tensor with for that.
const ATTENTION_LINES: [&[u32]; 6] = [
    &[61, 59, 60],
    &[63, 59],
    &[65, 59, 60, 67, 70, 71],
    &[73, 59, 60],
    &[75, 59],
    &[77, 59, 60, 79, 82, 83],
];

/// Steps in a dispatch stay on the lines of its own operations, not of what has made its operands,
/// nor of another layer that shares its code; and what it writes is not there yet.
fn steps_stay_in_each_dispatch(module: &Path) {
    let each = std::iter::repeat_n("step", 9).chain(["dispatch", "continue"]);
    let mut commands = vec!["break dispatch *", "run"];
    commands.extend(std::iter::repeat_n(each, ATTENTION_LINES.len()).flatten());
    let text = session_of(module, &ATTENTION, &commands, &[]);
    let (mut current, mut met) = (None, BTreeSet::new());
    for line in text.lines() {
        let at = line.strip_prefix('#').and_then(|it| it.split_once("twins.mlir:"));
        let at = at.and_then(|(_, at)| at.split(':').next()?.trim().parse::<u32>().ok());
        if let (true, Some(at)) = (line.contains("dispatch @"), at) {
            current = ATTENTION_LINES.iter().find(|lines| lines[0] == at);
            assert!(current.is_some(), "{line}");
            met.insert(at);
        } else if let (Some(at), Some(lines), false) = (at, current, line.contains(":85:")) {
            assert!(lines.contains(&at), "{line} in {lines:?}: {text}");
        } else if line.contains(" (written, ") {
            let unwritten = ["<being computed>", "<not yet computed>"];
            assert!(unwritten.iter().any(|it| line.contains(it)), "{line}: {text}");
        }
    }
    assert_eq!(met.len(), ATTENTION_LINES.len(), "{text}");
}

#[test]
fn steps_in_machine_code_stay_on_the_lines_of_the_dispatch() {
    steps_stay_in_each_dispatch(&module());
}

#[test]
fn steps_in_bytecode_stay_on_the_lines_of_the_dispatch() {
    let module = module();
    let folder = module.parent().expect("its folder");
    let bytecode = IREE_DBG.compile(folder, "twins.mlir", "bytecode.vmfb", &[]);
    steps_stay_in_each_dispatch(&bytecode);
}

#[test]
fn shapes_of_the_call_decide_how_many_workgroups_there_are() {
    for rows in [1, 64, 150] {
        let input = format!("--input={rows}x32xf32=0.5");
        let arguments = ["--function=rows", &input];
        let commands = ["break dispatch *", "run", "step", "dispatch", "finish", "continue"];
        let text = session(&arguments, &commands, &[]);
        let count = (rows + 63) / 64;
        let shown = format!("workgroup_count = ({count}, 1, 1)");
        assert!(printed(&text, 3).contains(&shown), "{text}");
        assert!(text.contains("left the same bytes") || text.contains("differ in"), "{text}");
        let plain = session(&arguments, &["run"], &[]);
        assert_eq!(results(&text), results(&plain), "{text}");
    }
}

#[test]
fn what_the_user_changes_is_not_undone() {
    let commands =
        ["break 18", "run", "step", "delete", "set var operand[0][0,0] = 100", "continue"];
    let text = session(&LAYERS, &commands, &[]);
    assert!(printed(&text, 5).contains("you have changed values"), "{text}");
    let plain = session(&LAYERS, &["run"], &[]);
    assert_ne!(results(&text), results(&plain), "{text}");
}

#[test]
fn a_fault_of_machine_code_is_found_in_its_bytecode() {
    let commands = ["break dispatch *", "run", "step", "continue"];
    let text = session(&GATHER, &commands, &[]);
    assert!(
        printed(&text, 3).contains("The program failed: OUT_OF_RANGE; out-of-bounds"),
        "{text}"
    );
    assert!(printed(&text, 3).contains("\t    %v = tensor.extract %table[%k]"), "{text}");
}

#[test]
fn without_a_compiler_a_step_goes_over_the_dispatch_and_says_why() {
    let commands = ["break 18", "run", "step", "step"];
    let module = untouched("no-compiler.vmfb");
    let text = session_of(&module, &LAYERS, &commands, &NO_COMPILER);
    let said = "@layers_dispatch_0_matmul_8x8x8_f32 is machine code and cannot be stepped into";
    assert!(printed(&text, 2).contains(said), "{text}");
    assert!(printed(&text, 2).contains("pip install iree-base-compiler"), "{text}");
    assert!(!text.contains("as bytecode"), "{text}");
}

#[test]
fn bytecode_is_kept_in_the_debug_file() {
    let commands = ["break 18", "run", "step", "info line", "continue", "print %s"];
    let module = untouched("kept.vmfb");
    let first = session_of(&module, &LAYERS, &commands, &[]);
    assert!(printed(&first, 5).contains("%s = 0.125 : f32"), "{first}");
    assert!(!first.contains("has changed"), "{first}");
    let second = session_of(&module, &LAYERS, &commands, &NO_COMPILER);
    assert_eq!(first, second);
    // Bytecode that is damaged is made again.
    let debug_file = module.with_extension("vmfb.debug");
    let file = DebugFile::open(&debug_file).expect("it is whole");
    let names = file.names();
    let kept = names.iter().find(|name| name.starts_with("twins/")).expect("it has bytecode");
    DebugFile::put(&debug_file, &file.manifest().module, kept, b"no bytecode").expect("it is put");
    let third = session_of(&module, &LAYERS, &commands, &[]);
    assert_eq!(first, third);
    // What is kept of another source is not taken for that of this one.
    let other = DebugFile::open(&debug_file).expect("it is whole");
    let sources = other
        .dispatches()
        .expect("it is whole")
        .expect("it has sources")
        .replace("math.exp", "math.sin");
    let put = |name: &str, bytes: &[u8]| {
        DebugFile::put(&debug_file, &other.manifest().module, name, bytes)
    };
    put("dispatches.mlir", sources.as_bytes()).expect("it is put");
    let text = session_of(&module, &LAYERS, &commands, &NO_COMPILER);
    assert!(text.contains("cannot be stepped into"), "{text}");
}

#[test]
fn bytecode_that_the_module_has_itself_is_stepped_without_a_compiler() {
    let flags = [
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-hal-local-target-device-backends=vmvx",
        "--iree-hal-link-executables=false",
        "--iree-llvmcpu-target-cpu=generic",
    ];
    let twins = module();
    let folder = twins.parent().expect("a folder");
    let module = IREE_DBG.compile(folder, "twins.mlir", "both.vmfb", &flags);
    let commands = ["break 18", "run", "step", "continue", "print %s", "delete", "continue"];
    let text = session_of(&module, &LAYERS, &commands, &NO_COMPILER);
    assert!(printed(&text, 1).contains("command 1: dispatch @layers_dispatch_0"), "{text}");
    assert!(printed(&text, 3).contains("twins.mlir:18:10\n18\t    %u = math.exp %s"), "{text}");
    assert!(printed(&text, 4).contains("%s = 0.125 : f32"), "{text}");
    assert!(text.contains("@layers_dispatch_0_matmul_8x8x8_f32: bytecode and machine"), "{text}");
    // The count of workgroups is that of the bytecode, for the shapes of the call.
    for rows in [1, 64, 150] {
        let input = format!("--input={rows}x32xf32=0.5");
        let arguments = ["--function=rows", &input];
        let commands = ["break dispatch *", "run", "step", "dispatch", "finish", "continue"];
        let text = session_of(&module, &arguments, &commands, &NO_COMPILER);
        let shown = format!("workgroup_count = ({}, 1, 1)", (rows + 63) / 64);
        assert!(printed(&text, 3).contains(&shown), "{text}");
        assert!(text.contains("left the same bytes") || text.contains("differ in"), "{text}");
    }
}

#[test]
fn the_comparison_can_be_turned_off() {
    let commands = ["set compare off", "break 18", "run", "step", "delete", "finish", "continue"];
    let text = session(&LAYERS, &commands, &[]);
    assert!(printed(&text, 3).contains("workgroup (0,0,0)"), "{text}");
    assert!(!text.contains("bytecode and machine code"), "{text}");
    let plain = session(&LAYERS, &["run"], &[]);
    assert_eq!(results(&text), results(&plain), "{text}");
    let wrong = session(&LAYERS, &["set compare maybe"], &[]);
    assert!(printed(&wrong, 0).contains("`set compare on` or `set compare off`"), "{wrong}");
}
