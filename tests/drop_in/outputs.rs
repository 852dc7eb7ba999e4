//! Command lines that both run: the same on standard output, and the same success.

use super::{folder, ours, theirs};
use vmfb::build::{ModuleImage, RodataImage};

/// Each row: a tool and its arguments.
const ROWS: &[(&str, &[&str])] = &[
    ("iree-run-module", &["--module=program.vmfb", "--function=doubled"]),
    ("iree-run-module", &["--module=program.vmfb", "--function=same", "--input=5"]),
    // The last of several counts.
    ("iree-run-module", &["--module=program.vmfb", "--function=a", "--function=constant"]),
    ("iree-run-module", &["--module=program.vmfb", "--function=same"]),
    ("iree-run-module", &["--module=fenced.vmfb", "--function=doubled", "--device=local-task"]),
    (
        "iree-run-module",
        &["--module=program.vmfb", "--function=negated", "--input=2xf32=1 2", "--output=@n.npy"],
    ),
    ("iree-run-module", &["--module=program.vmfb", "--function=doubled", "--print_statistics=1"]),
    (
        "iree-run-module",
        &["--module=program.vmfb", "--function=doubled", "--device_allocator=debug"],
    ),
    (
        "iree-run-module",
        &["--module=program.vmfb", "--function=doubled", "--device_allocator=caching"],
    ),
    (
        "iree-run-module",
        &[
            "--module=program.vmfb",
            "--function=doubled",
            "--device=local-task",
            "--task_topology_max_group_count=2",
            "--task_topology_cpu_ids=0",
            "--equality_mode=exact",
            "--expected_output=4xf32=2 4 6 8",
        ],
    ),
    (
        "iree-run-module",
        &["--module=program.vmfb", "--function=doubled", "--instrument_file=instruments.bin"],
    ),
    ("iree-run-module", &["--list_devices"]),
    ("iree-run-module", &["--list_devices=local-sync"]),
    ("iree-run-module", &["--list_devices=vulkan"]),
    ("iree-run-module", &["--list_devices=local-task"]),
    ("iree-run-module", &["--dump_devices=local-task"]),
    ("iree-benchmark-module", &["--module=program.vmfb", "--benchmark_list_tests"]),
    ("iree-benchmark-module", &["--module=fenced.vmfb", "--benchmark_list_tests=true"]),
    (
        "iree-benchmark-module",
        &["--module=program.vmfb", "--benchmark_list_tests", "--benchmark_filter=-constant"],
    ),
    ("iree-benchmark-module", &["--module=program.vmfb", "--benchmark_filter=nothing_like_it"]),
    ("iree-dump-module", &["program.vmfb"]),
    ("iree-dump-module", &["--output=metadata", "program.vmfb"]),
    ("iree-dump-module", &["--output=disassembly", "--bytecode_offsets", "program.vmfb"]),
    ("iree-dump-module", &["--output=disassembly", "--function=doubled", "program.vmfb"]),
    ("iree-dump-module", &["--output=flatbuffer-json", "program.vmfb"]),
    ("iree-dump-module", &["--output=flatbuffer-json", "--pretty", "program.vmfb"]),
    ("iree-dump-module", &["--output=flatbuffer-json", "--pretty=true", "fenced.vmfb"]),
    ("iree-dump-module", &["--output=flatbuffer-binary", "program.vmfb"]),
];

#[test]
fn both_print_the_same() {
    for (tool, arguments) in ROWS {
        let (ours, theirs) = (ours(tool, arguments), theirs(tool, arguments));
        assert_eq!(ours.ok, theirs.ok, "{tool} {arguments:?}: {}{}", ours.errors, theirs.errors);
        assert_eq!(ours.out, theirs.out, "{tool} {arguments:?}");
    }
}

/// Parts that compilers leave out: segments of uninitialised memory, and the statement that data is
/// not compressed.
#[test]
fn rare_parts_of_a_module_are_printed() {
    let path = folder().join("rare.vmfb");
    let bytes = std::fs::read(folder().join("program.vmfb")).expect("a module");
    let module = vmfb::Module::from_bytes(bytes).expect("a module");
    let mut image = ModuleImage::from_module(&module);
    image.rwdata = vec![128, 0, 7];
    let said = RodataImage { says_uncompressed: true, ..RodataImage::new(b"said".as_slice()) };
    image.rodata.insert(0, said);
    std::fs::write(&path, image.to_bytes().expect("bytes")).expect("a file");
    for flags in [&["--output=metadata"][..], &["--output=flatbuffer-json"]] {
        let arguments = [flags, &["rare.vmfb"]].concat();
        let tool = "iree-dump-module";
        let (ours, theirs) = (ours(tool, &arguments), theirs(tool, &arguments));
        assert!(theirs.ok && theirs.out.contains("128"), "{}", theirs.errors);
        assert_eq!(ours.out, theirs.out, "{flags:?}");
    }
}

/// Flags of iree-compile stand anywhere, and under its own name the program is iree-compile.
#[test]
fn compile_takes_the_compilers_flags() {
    let source = folder().join("source.mlir");
    std::fs::write(
        &source,
        "func.func @f() -> i32 {\n%c = arith.constant 1 : i32\nreturn %c : i32\n}",
    )
    .expect("a source");
    let flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];
    let phase = [&flags[..], &["source.mlir", "--compile-to=flow"]].concat();
    let ours_is_theirs = |arguments: &[&str]| {
        let (ours, theirs) = (ours("iree-compile", arguments), theirs("iree-compile", arguments));
        assert_eq!((ours.ok, ours.out), (theirs.ok, theirs.out), "{arguments:?}");
    };
    ours_is_theirs(&phase);
    ours_is_theirs(&["source.mlir", "--no-such-flag"]);
    ours_is_theirs(&["--version"]);
    let program = conformance::tools::iree_dbg().expect("our program");
    let answer = super::answer(std::process::Command::new(program).args([
        "compile",
        flags[0],
        "source.mlir",
        "-o",
        "out.vmfb",
        flags[1],
    ]));
    assert!(answer.ok && answer.out.contains("out.vmfb.debug"), "{}", answer.errors);
}

/// Tests of a module: there is no iree-check-module in IREE's wheels, so each expected text is
/// known.
#[test]
fn check_expects_failures() {
    let text = "vm.module @m version 0\nvm.type i32\nvm.export @good\nvm.func @good() -> () {\n\
                ^bb0:\n  vm.return\n}\nvm.export @bad\nvm.func @bad() -> () {\n^bb0:\n  \
                %i0 = vm.const.i32 3\n  vm.fail %i0, \"\"\n}\n";
    let program = conformance::tools::iree_dbg().expect("our program");
    std::fs::write(folder().join("tests.vmasm"), text).expect("a source");
    let made = super::answer(std::process::Command::new(program).args([
        "asm",
        "tests.vmasm",
        "--output=tests.vmfb",
    ]));
    assert!(made.ok, "{}", made.errors);
    let check =
        |flags: &[&str]| ours("iree-check-module", &[&["--module=tests.vmfb"], flags].concat());
    assert!(!check(&[]).ok);
    let expected = check(&["--expect_failure"]);
    assert!(expected.ok && expected.out.ends_with("Test failed as expected\n"), "{}", expected.out);
    assert!(check(&["--gtest_filter=good"]).ok);
    let missing = check(&["--gtest_filter=m.g*", "--expect_failure=true"]);
    assert!(!missing.ok && missing.out.ends_with("Test passed but expected failure\n"));
    assert_eq!(check(&["--gtest_list_tests"]).out, "m.\n  good\n  bad\n");
}
