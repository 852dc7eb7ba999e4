//! What iree-compile writes for the sources in `corpus/` and in debuginfo's `golden/`, on each back
//! end. A first line `// flags: …` in a source names further flags.
//!
//! Needs iree-compile: `pip install iree-base-compiler`, on `PATH`, in a `.venv` above, or named by
//! `IREE_COMPILE`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use compile::{Cancellation, CompileError, CompileOutput, CompileRequest, compile};
use debuginfo::{
    Companion, CompanionText, DebugFile, DebugFileError, DebugInfo, DispatchInterfaces, MapSource,
    RegisterSlot,
};
use vmfb::{BytecodeOffset, FileBytes, FunctionOrdinal, Module};

const VMVX: &[&str] = &[];
const LLVM_CPU: &[&str] = &[
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
];

/// Both variants of each dispatch.
const BOTH: [&str; 5] = [
    LLVM_CPU[0],
    LLVM_CPU[1],
    LLVM_CPU[2],
    "--iree-hal-local-target-device-backends=vmvx",
    "--iree-hal-link-executables=false",
];
const VMVX_LOCAL: [&str; 2] =
    ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn sources() -> Vec<PathBuf> {
    let mut sources: Vec<PathBuf> = ["corpus", "../../debuginfo/tests/golden"]
        .iter()
        .flat_map(|folder| {
            std::fs::read_dir(tests().join(folder)).expect("the folder of sources is there")
        })
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mlir"))
        .filter(|path| !path.to_string_lossy().ends_with(".companion.mlir"))
        .collect();
    sources.sort();
    sources
}

fn compiled(source: &Path, flags: &[&str], folder: &Path) -> CompileOutput {
    let mut flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    flags.push("--iree-input-demote-f64-to-f32=false".to_owned());
    let text = std::fs::read_to_string(source).expect("the source is readable");
    let own = text.lines().next().and_then(|line| line.strip_prefix("// flags: "));
    flags.extend(own.into_iter().flat_map(str::split_whitespace).map(str::to_owned));
    let request = CompileRequest {
        input: source.to_owned(),
        output: folder.join("module.vmfb"),
        flags,
        ..CompileRequest::default()
    };
    let mut said = String::new();
    compile(&request, &Cancellation::default(), &mut |line| said += line)
        .unwrap_or_else(|error| panic!("{}: {error}\n{said}", source.display()))
}

fn debug_file(output: &CompileOutput) -> DebugFile {
    let module = FileBytes::read(&output.module).expect("the module is there");
    let file = DebugFile::for_module(&output.module, &module, None);
    file.expect("it is of the module").expect("it is there")
}

fn companion_text(output: &CompileOutput) -> Vec<u8> {
    assert!(output.no_companion.is_none(), "{:?}", output.no_companion);
    let text = debug_file(output).companion().expect("it is whole").expect("it is there");
    assert!(memchr::memmem::find(&text, b"iree-dbg-compile").is_none(), "it names scratch files");
    text
}

fn companion_of(output: &CompileOutput) -> Companion {
    Companion::parse(&companion_text(output)).expect("it is well formed")
}

fn dispatches_of(output: &CompileOutput) -> DispatchInterfaces {
    let text = debug_file(output).dispatches().expect("whole");
    text.map(|text| DispatchInterfaces::parse(&text)).unwrap_or_default()
}

/// The registers that a slot covers; refs and numbers are separate banks.
fn cells(slot: RegisterSlot) -> impl Iterator<Item = (bool, u16)> {
    let count = if slot.is_pair() { 2 } else { 1 };
    (0..count).map(move |index| (slot.is_ref(), slot.ordinal() + index))
}

/// Checks a function's map against its bytecode: no two values share a register, and every register
/// that an instruction reads has a name.
fn check_function(module: &Module, info: &DebugInfo, function: FunctionOrdinal, context: &str) {
    for instruction in vmfb::instructions(module.function_bytecode(function)) {
        let instruction = instruction.expect("the compiler writes whole instructions");
        if instruction.op == vmfb::Op::Block {
            continue;
        }
        let context = format!("{context}, {function:?} at {}", instruction.offset);
        let mut alive = HashSet::new();
        for local in info.live_values(function, instruction.offset) {
            for cell in cells(local.register) {
                assert!(alive.insert(cell), "{context}: {} shares {}", local.name, local.register);
            }
        }
        for read in instruction.register_uses().filter(|usage| !usage.is_write) {
            let cell = (read.register.is_ref(), read.register.ordinal());
            assert!(
                alive.contains(&cell),
                "{context}: {} reads {cell:?}, unnamed",
                instruction.op.mnemonic()
            );
        }
    }
}

#[test]
fn every_module_aligns_with_its_companion() {
    for source in &sources() {
        for flags in [VMVX, LLVM_CPU] {
            let folder = tempfile::tempdir().expect("a scratch folder");
            let output = compiled(source, flags, folder.path());
            let context = format!("{} {flags:?}", source.display());
            let module = Module::open(&output.module).expect("the module loads");
            let companion = companion_of(&output);
            assert_eq!(output.debug_file, DebugFile::path_beside(&output.module));
            let info = DebugInfo::load(&module, Some(&companion));
            assert_eq!(info.completeness().messages(), [""; 0], "{context}");
            for function in &info.completeness().functions {
                assert_eq!(function.source, MapSource::Companion, "{context}: {}", function.name);
                check_function(&module, &info, function.function, &context);
            }
            let (_, files) =
                info.match_file(&source.to_string_lossy()).expect("the source is in the module");
            assert!(info.lines_with_code(files[0], 1..=1000).count() > 3, "{context}");
            let file = debug_file(&output);
            // A program in the VM's own dialect has no tensors.
            let text = std::fs::read_to_string(source).expect("the source is readable");
            let has_tensors = !text.starts_with("// flags: --compile-from=vm");
            assert_eq!(file.flow().expect("whole").is_some(), has_tensors, "{context}");
            assert_eq!(file.input().expect("whole").is_some(), has_tensors, "{context}");
            let flow = file.flow().expect("whole").unwrap_or_default();
            let has_dispatches = flow.contains("flow.dispatch @");
            assert_eq!(file.dispatches().expect("whole").is_some(), has_dispatches, "{context}");
            let calls = dispatches_of(&output).calls().len();
            assert_eq!(calls, flow.matches("flow.dispatch @").count(), "{context}");
            let scratch = "iree-dbg-compile";
            assert!(!flow.contains(scratch), "{context}");
            let name = source.display().to_string();
            assert_eq!(file.source(&name), Some(text), "{context}");
            let left = folder.path().read_dir().expect("a folder").count();
            assert_eq!(left, 2, "scratch files stay: {context}");
        }
    }
}

/// What iree-compile alone makes of a source.
fn plain(source: &Path, flags: &[String], folder: &Path) -> Vec<u8> {
    let output = folder.join("plain.vmfb");
    let status = std::process::Command::new("iree-compile")
        .arg(source)
        .args(flags)
        .arg("-o")
        .arg(&output)
        .status();
    assert!(status.expect("iree-compile is on the PATH").success());
    std::fs::read(&output).expect("it is written")
}

/// Printing phases changes no byte of the module; so a debug file can be made of one that is there.
#[test]
fn a_module_is_the_one_of_a_plain_compilation() {
    let source = tests().join("corpus/device.mlir");
    let release = ["--iree-vm-bytecode-module-strip-source-map", "--iree-opt-level=O2"];
    for target in [LLVM_CPU, &BOTH, &VMVX_LOCAL] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let flags = target.iter().chain(&release).map(|&flag| flag.to_owned()).collect::<Vec<_>>();
        let shipped = plain(&source, &flags, folder.path());
        let mut request = CompileRequest {
            input: source.clone(),
            output: folder.path().join("plain.vmfb"),
            is_shipped: true,
            flags: flags.clone(),
            ..CompileRequest::default()
        };
        let made = compile(&request, &Cancellation::default(), &mut |_| {});
        let made = made.unwrap_or_else(|error| panic!("{flags:?}: {error}"));
        assert_eq!(std::fs::read(&made.module).expect("it is still there"), shipped);
        assert_eq!(debug_file(&made).manifest().flags, flags);
        let module = Module::open(&made.module).expect("the module loads");
        let info = DebugInfo::load(&module, Some(&companion_of(&made)));
        assert_eq!(info.completeness().messages(), [""; 0], "{flags:?}");
        // The debug file of a module that the flags do not make is not written.
        std::fs::remove_file(&made.debug_file).expect("it is there");
        request.flags.push("--iree-hal-memoization=false".to_owned());
        let error = compile(&request, &Cancellation::default(), &mut |_| {});
        let error = error.expect_err("the flags are others").to_string();
        assert!(error.contains("host's code differs"), "{error}");
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 1);
    }
}

#[test]
fn the_cause_of_a_difference_is_said() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("twice.mlir");
    std::fs::write(&source, DYNAMIC).expect("the source is written");
    let flags: Vec<String> = LLVM_CPU.iter().map(|&flag| flag.to_owned()).collect();
    plain(&source, &flags, folder.path());
    let error_of = |text: &str, input: &Path, flags: &[&str]| {
        std::fs::write(input, text).expect("the source is written");
        let request = CompileRequest {
            input: input.to_owned(),
            output: folder.path().join("plain.vmfb"),
            is_shipped: true,
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
            ..CompileRequest::default()
        };
        let error = compile(&request, &Cancellation::default(), &mut |_| {});
        error.expect_err("it is another module").to_string()
    };
    let renamed = DYNAMIC.replace("@twice", "@thrice");
    let error = error_of(&renamed, &source, LLVM_CPU);
    assert!(error.contains("the source has changed"), "{error}");
    let error = error_of(DYNAMIC, &folder.path().join("other.mlir"), LLVM_CPU);
    assert!(error.contains("twice.mlir, and now") && error.contains("other.mlir"), "{error}");
    let native = [LLVM_CPU[0], LLVM_CPU[1], "--iree-llvmcpu-target-cpu=x86-64-v3"];
    let error = error_of(DYNAMIC, &source, &native);
    assert!(error.contains("target CPU"), "{error}");
    let stripped = [LLVM_CPU, &["--iree-vm-bytecode-module-strip-source-map"]].concat();
    let error = error_of(DYNAMIC, &source, &stripped);
    assert!(error.contains("compiled without --iree-vm-bytecode"), "{error}");
}

/// A program whose dispatches are passed dimensions and offsets as numbers.
const DYNAMIC: &str = "
func.func @twice(%a: tensor<?x4xf32>, %b: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x4xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %once = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<4x4xf32>)
                        outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  %twice = linalg.matmul ins(%once, %b : tensor<?x4xf32>, tensor<4x4xf32>)
                         outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %twice : tensor<?x4xf32>
}
";

#[test]
fn dispatches_say_which_tensors_they_read_and_write() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("twice.mlir");
    std::fs::write(&source, DYNAMIC).expect("the source is written");
    let output = compiled(&source, VMVX, folder.path());
    let interfaces = dispatches_of(&output);
    let module = std::fs::read(&output.module).expect("the module is readable");
    let text = String::from_utf8_lossy(&module);
    // Exports are named after their kernel, and the module has that name too.
    let mut found = Vec::new();
    for index in 0..4 {
        let name = format!("twice_dispatch_{index}_matmul_Dx4x4_f32");
        if let Some(interface) = interfaces.of(&name) {
            assert!(text.contains(&name), "{name}");
            found.push(interface.operands(&[6, 0, 0, 0, 0, 0]));
        }
    }
    assert!(!found.is_empty(), "{interfaces:?}");
    for operands in found {
        let mut shown: Vec<String> =
            operands.iter().map(|it| format!("{} {:?}", it.tensor_type, it.access)).collect();
        shown.sort();
        assert_eq!(shown, ["4x4xf32 Read", "6x4xf32 Read", "6x4xf32 Write"]);
    }
    // The debug file of another module at the same path is not taken for this one's.
    let other = FileBytes::from(module[..module.len() - 1].to_vec());
    let error = DebugFile::for_module(&output.module, &other, None);
    assert!(matches!(error, Err(DebugFileError::OtherModule { .. })), "{error:?}");
}

#[test]
fn a_listing_is_a_second_level() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let listing = folder.path().join("demo.vm.mlir");
    let flag = format!("--iree-vm-bytecode-source-listing={}", listing.display());
    let output =
        compiled(&tests().join("../../debuginfo/tests/golden/demo.mlir"), &[&flag], folder.path());
    let module = Module::open(&output.module).expect("the module loads");
    let companion = companion_of(&output);
    for companion in [Some(&companion), None] {
        let info = DebugInfo::load(&module, companion);
        let mut both = 0;
        for function in &info.completeness().functions {
            for row in info.rows(function.function) {
                let level = info.listing_position_at(function.function, row.offset);
                let (Some(user), Some(level)) = (row.position, level) else { continue };
                assert!(info.locations().file(user.file).ends_with("demo.mlir"));
                assert!(info.locations().file(level.file).ends_with("demo.vm.mlir"));
                both += 1;
            }
        }
        assert!(both > 5, "{both} instructions have both levels");
    }
}

/// The listing made of a companion equals the compiler's, line by line. Only large constants
/// differ: each side shortens them in its own way.
#[test]
fn a_companion_makes_the_compilers_listing() {
    for source in sources() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("written.vm.mlir");
        let flag = format!("--iree-vm-bytecode-source-listing={}", path.display());
        let with_listing = compiled(&source, &[&flag], folder.path());
        let module = Module::open(&with_listing.module).expect("the module loads");
        let companion = FileBytes::from(companion_text(&with_listing));
        let read = Companion::parse(companion.owned()).expect("it is well formed");
        let text = CompanionText::new(companion);
        let at = |info: &DebugInfo, function: FunctionOrdinal, offset: BytecodeOffset| {
            let position = info.listing_position_at(function, offset).expect("all is listed");
            (info.locations().file(position.file).to_owned(), position)
        };
        let named = DebugInfo::load(&module, Some(&read));
        let functions = &named.completeness().functions;
        let places: Vec<(FunctionOrdinal, BytecodeOffset)> = functions
            .iter()
            .flat_map(|it| named.rows(it.function).iter().map(|row| (it.function, row.offset)))
            .collect();
        let by_name: Vec<_> = places.iter().map(|(it, offset)| at(&named, *it, *offset)).collect();
        let written = std::fs::read_to_string(&path).expect("the listing was written");
        std::fs::remove_file(&path).expect("it can go");
        let made = DebugInfo::load(&module, Some(&read)).with_companion_text(text, "made.vm.mlir");
        let compared = places.len();
        for ((function, offset), (file, named_at)) in places.into_iter().zip(by_name) {
            assert_eq!(file, path.to_string_lossy());
            let (file, made_at) = at(&made, function, offset);
            assert_eq!(file, "made.vm.mlir");
            assert_eq!((named_at.line, named_at.column), (made_at.line, made_at.column));
            let listing = made.source(made_at.file).expect("a listing");
            let line = listing.line(made_at.line).expect("the line is in the listing");
            assert_eq!(Some(line), written.lines().nth(made_at.line as usize - 1));
        }
        assert!(compared > 0, "{}", source.display());
    }
}

#[test]
fn nested_executables_align_with_the_text_inside() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let output = compiled(&tests().join("corpus/device.mlir"), VMVX, folder.path());
    let module = Module::open(&output.module).expect("the module loads");
    let text = companion_text(&output);
    let companion = Companion::parse(&text).expect("it is well formed");
    assert!(!companion.nested.is_empty());
    for nested in &companion.nested {
        let executable =
            module.rodata_bytes(nested.rodata).expect("the executable is in the module").to_vec();
        let executable = Module::from_bytes(executable).expect("a VMVX executable is a module");
        let companion = Companion::parse(&Companion::nested_text(&text, nested))
            .expect("nested text is VM text");
        let info = DebugInfo::load(&executable, Some(&companion));
        assert_eq!(info.completeness().messages(), [""; 0], "{}", nested.name);
        for function in &info.completeness().functions {
            check_function(&executable, &info, function.function, &nested.name);
        }
    }
}

/// A compiler that cannot print its phases compiles three times, and the user reads why.
#[cfg(unix)]
#[test]
fn an_old_compiler_compiles_three_times() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a scratch folder");
    let compiler = folder.path().join("old-compiler");
    let script = "#!/bin/sh\nfor flag; do case \"$flag\" in --dump-compilation-phases-to*)\n\
                  echo \"x: Unknown command line argument '$flag'.  Try: 'x --help'\" >&2\n\
                  echo \"x: Did you mean '--x'?\" >&2\nexit 1;; esac; done\n\
                  exec iree-compile \"$@\"\n";
    std::fs::write(&compiler, script).expect("a scratch file");
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755))
        .expect("a scratch file");
    let source = tests().join("corpus/device.mlir");
    let request = CompileRequest {
        input: source.clone(),
        output: folder.path().join("old.vmfb"),
        compiler: Some(compiler),
        ..CompileRequest::default()
    };
    let mut lines = Vec::new();
    let output =
        compile(&request, &Cancellation::default(), &mut |line| lines.push(line.to_owned()))
            .unwrap_or_else(|error| panic!("{error}: {lines:?}"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("does not know --dump-compilation-phases-to"), "{lines:?}");
    assert!(lines[0].contains("three times"), "{lines:?}");
    let module = Module::open(&output.module).expect("the module loads");
    let info = DebugInfo::load(&module, Some(&companion_of(&output)));
    assert_eq!(info.completeness().messages(), [""; 0]);
    assert!(!dispatches_of(&output).is_empty());
    assert_eq!(debug_file(&output).flow().expect("whole"), None);
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 3);
}

/// A compiler that crashes once while it prints the companion is started again; one that always
/// crashes is said to.
#[cfg(unix)]
#[test]
fn a_crash_of_the_compiler_is_not_the_last_word() {
    use std::os::unix::fs::PermissionsExt;
    let source = tests().join("corpus/device.mlir");
    for (times, expected) in [(1, None), (2, Some("it crashed, twice"))] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let compiler = folder.path().join("compiler");
        let crashes = folder.path().join("crashes");
        let script = format!(
            "#!/bin/sh\nfor flag; do case \"$flag\" in --compile-from=*)\n\
             touch {0}; [ \"$(wc -l <{0})\" -ge {times} ] || {{ echo >>{0}; kill -SEGV $$; }}\n\
             esac; done\nexec iree-compile \"$@\"\n",
            crashes.display()
        );
        std::fs::write(&compiler, script).expect("a scratch file");
        std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755))
            .expect("a scratch file");
        let request = CompileRequest {
            input: source.clone(),
            output: folder.path().join("crash.vmfb"),
            compiler: Some(compiler),
            ..CompileRequest::default()
        };
        let result = compile(&request, &Cancellation::default(), &mut |_| {});
        let crashed = std::fs::read_to_string(&crashes).unwrap_or_default();
        assert_eq!(crashed.lines().count(), times);
        let reason = result.expect("the module is made").no_companion;
        let is_said = expected
            .is_none_or(|text| reason.as_ref().is_some_and(|it| it.to_string().contains(text)));
        assert!(is_said && expected.is_some() == reason.is_some(), "{reason:?}");
    }
}

/// The companion that is made of a phase is the one that a whole compilation prints, with all of
/// its locations; only large constants differ.
#[test]
fn a_companion_is_the_one_of_a_whole_compilation() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = tests().join("../../cli/tests/stops/integers.mlir");
    let device = tests().join("corpus/device.mlir");
    for (source, target) in [(&source, VMVX), (&source, LLVM_CPU), (&device, VMVX)] {
        let output = compiled(source, target, folder.path());
        let flags = debug_file(&output).manifest().flags.clone();
        let printed = std::process::Command::new("iree-compile")
            .arg(source)
            .args(flags)
            .arg("--iree-vm-bytecode-module-output-format=annotated-mlir-text")
            .args(["--mlir-print-debuginfo", "-o", "-"])
            .output()
            .expect("iree-compile is on the PATH");
        let whole = String::from_utf8(printed.stdout).expect("text");
        let made = String::from_utf8(companion_text(&output)).expect("text");
        assert_eq!(made.lines().count(), whole.lines().count());
        for (made, whole) in made.lines().zip(whole.lines()) {
            assert!(made == whole || made.contains("__elided__"), "{made}\n{whole}");
        }
    }
}

#[test]
fn constants_are_left_out() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("big.mlir");
    let values: Vec<String> = (0..4000).map(|value| value.to_string()).collect();
    let text = format!(
        "func.func @f(%x: tensor<4000xi32>) -> tensor<4000xi32> {{\n  %c = arith.constant dense<[{}]> : tensor<4000xi32>\n  \
         %r = arith.addi %x, %c : tensor<4000xi32>\n  return %r : tensor<4000xi32>\n}}\n",
        values.join(",")
    );
    std::fs::write(&source, text).expect("a scratch file");
    let output = compiled(&source, LLVM_CPU, folder.path());
    let companion = String::from_utf8(companion_text(&output)).expect("text");
    assert!(companion.len() < 100_000, "{} bytes", companion.len());
    assert!(companion.contains("dense_resource<__elided__>"));
    for text in
        [debug_file(&output).flow().expect("whole"), debug_file(&output).input().expect("whole")]
    {
        assert!(text.is_some_and(|text| text.len() < 10_000));
    }
}

#[test]
fn the_users_mistakes_are_reported_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("wrong.mlir");
    std::fs::write(&source, "func.func @f( {\n}\n").expect("a scratch file");
    let output = folder.path().join("out.vmfb");
    std::fs::write(&output, "what was there").expect("a scratch file");
    let request =
        CompileRequest { input: source, output: output.clone(), ..CompileRequest::default() };
    let mut lines = Vec::new();
    let error =
        compile(&request, &Cancellation::default(), &mut |line| lines.push(line.to_owned()))
            .expect_err("this is no MLIR");
    assert!(
        error.to_string().contains("wrong.mlir:1:") && error.to_string().contains("error:"),
        "{error}"
    );
    assert!(lines.iter().any(|line| line.contains("error:")), "{lines:?}");
    assert_eq!(std::fs::read_to_string(&output).expect("it is still there"), "what was there");
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 2);
}

#[test]
fn a_missing_compiler_is_named() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let compiler = folder.path().join("no-such-compiler");
    let request = CompileRequest {
        input: "a.mlir".into(),
        output: folder.path().join("a.vmfb"),
        compiler: Some(compiler),
        ..CompileRequest::default()
    };
    let error =
        compile(&request, &Cancellation::default(), &mut |_| {}).expect_err("there is none");
    assert!(error.to_string().contains("no-such-compiler"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_compilation_can_be_cancelled() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a scratch folder");
    let compiler = folder.path().join("slow-compiler");
    std::fs::write(&compiler, "#!/bin/sh\necho started >&2\nexec sleep 600\n")
        .expect("a scratch file");
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755))
        .expect("a scratch file");
    let request = CompileRequest {
        input: "a.mlir".into(),
        output: folder.path().join("a.vmfb"),
        compiler: Some(compiler),
        ..CompileRequest::default()
    };
    let cancellation = Cancellation::default();
    let by_callback = cancellation.clone();
    let result = compile(&request, &cancellation, &mut |_| by_callback.cancel());
    assert!(matches!(result, Err(CompileError::Cancelled)));
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 1);
}

/// Locations have the names of files. A folder whose name is no text does no harm where the source
/// and the module are named without it.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_refused_with_a_reason() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join(OsStr::from_bytes(b"odd \xFF\n folder"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::copy(&sources()[0], odd.join("source.mlir")).unwrap();
    let compile_to = |input: &Path, output: PathBuf| {
        let (input, directory) = (input.to_owned(), Some(odd.clone()));
        let request = CompileRequest { input, output, directory, ..CompileRequest::default() };
        compile(&request, &Cancellation::default(), &mut |_| ())
    };
    for output in [odd.join("out.vmfb"), PathBuf::from("out.vmfb")] {
        let error = compile_to(Path::new("source.mlir"), output).unwrap_err();
        assert!(error.to_string().contains("is not UTF-8"), "{error}");
    }
    let error = compile_to(&odd.join("source.mlir"), folder.path().join("out.vmfb")).unwrap_err();
    assert!(error.to_string().contains("is not UTF-8"), "{error}");
    compile_to(Path::new("source.mlir"), folder.path().join("out.vmfb")).unwrap();
}
