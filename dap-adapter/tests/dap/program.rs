//! The programs that the tests debug, from sources beside this file. Each is compiled once.

use std::path::{Path, PathBuf};

use compile::{Cancellation, CompileRequest, compile};
use debuginfo::DebugFile;
use serde_json::{Value, json};
use support::written_once;

const MACHINE_CODE: [&str; 2] =
    ["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];

fn compiled(name: &str) -> PathBuf {
    compiled_for(name, name, &[])
}

/// A program that is compiled with flags, into a module of a name of its own.
fn compiled_for(name: &str, module: &str, flags: &[&str]) -> PathBuf {
    written_once(folder().join(format!("{module}.vmfb")), |module| {
        compile_with(&source_of(name), module, flags);
    })
}

fn dispatches_of_machine_code() -> PathBuf {
    let flags = [&["--iree-hal-target-device=local"][..], &MACHINE_CODE].concat();
    compiled_for("dispatches", "dispatches-machine", &flags)
}

fn twins() -> PathBuf {
    compiled_for("twins", "twins", &MACHINE_CODE)
}

fn twins_for_vulkan() -> PathBuf {
    compiled_for("twins", "twins-vulkan", &["--iree-hal-target-device=vulkan"])
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dap");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compiles a source with its debug file.
pub(crate) fn compile_to(input: &Path, output: &Path) -> PathBuf {
    compile_with(input, output, &[])
}

fn compile_with(input: &Path, output: &Path, flags: &[&str]) -> PathBuf {
    let (input, output) = (input.to_owned(), output.to_owned());
    let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
    let request = CompileRequest { input, output, flags, ..CompileRequest::default() };
    let mut printed = String::new();
    let output = compile(&request, &Cancellation::default(), &mut |line| {
        printed.push_str(line);
        printed.push('\n');
    });
    output.unwrap_or_else(|error| panic!("{error}\n{printed}")).module
}

/// The source.
pub(crate) fn source() -> PathBuf {
    source_of("program")
}

/// The source of one of the programs.
pub(crate) fn source_of(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    match name {
        // Tests of the terminal debugger use these too.
        "perceptron" => of_terminal("device/perceptron.mlir"),
        "inlined" => of_terminal("inlined/inlined.mlir"),
        "twins" => of_terminal("twins.mlir"),
        "difference" => of_terminal("difference.mlir"),
        "columns" => of_terminal("columns/columns.mlir"),
        "several" => of_terminal("levels/several.mlir"),
        "scalars" => of_terminal("stops/scalars.mlir"),
        "integers" => of_terminal("stops/integers.mlir"),
        "dispatches" => of_terminal("limits/dispatches.mlir"),
        _ => root.join(format!("tests/dap/{name}.mlir")),
    }
}

fn of_terminal(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/cli/tests");
    std::path::absolute(tests.join(name)).unwrap_or_default()
}

/// The source of a program whose functions are inlined.
pub(crate) fn inlined_source() -> PathBuf {
    source_of("inlined").canonicalize().unwrap()
}

/// The arguments that launch it.
pub(crate) fn inlined() -> Value {
    json!({"program": compiled("inlined"), "function": "main", "inputs": ["7", "3"]})
}

/// The arguments that launch a program with NaN, overflows and data that changes or ends.
pub(crate) fn scalars() -> Value {
    json!({"program": compiled("scalars"), "function": "main", "inputs": ["2", "5"]})
}

/// Its source.
pub(crate) fn scalars_source() -> PathBuf {
    source_of("scalars").canonicalize().unwrap()
}

/// The arguments that launch a program with several operations on a line.
pub(crate) fn several() -> Value {
    json!({"program": compiled("several"), "function": "main", "inputs": ["3"]})
}

/// The source of a program for breakpoints on columns.
pub(crate) fn columns_source() -> PathBuf {
    source_of("columns").canonicalize().unwrap()
}

/// The arguments that launch it.
pub(crate) fn columns() -> Value {
    json!({"program": compiled("columns"), "function": "main", "inputs": ["7", "3"]})
}

/// The source of a model that a device executes.
pub(crate) fn perceptron_source() -> PathBuf {
    source_of("perceptron").canonicalize().unwrap()
}

/// The arguments that launch it.
pub(crate) fn perceptron() -> Value {
    json!({"program": compiled("perceptron"), "function": "perceptron", "inputs": ["4x8xf32=1"]})
}

/// The arguments that launch a dispatch whose workgroup never ends.
pub(crate) fn endless_dispatch(device: &str) -> Value {
    json!({
        "program": compiled("dispatches"), "function": "endless", "inputs": ["4xi32=1,2,3,4"],
        "device": device,
    })
}

/// The arguments that launch two layers of machine code, which share a dispatch.
pub(crate) fn machine_layers() -> Value {
    let inputs = ["8x8xf32=0.25", "8x8xf32=0.125", "8x8xf32=0.5"];
    json!({"program": twins(), "function": "layers", "inputs": inputs})
}

/// The same layers for a device that is not here.
pub(crate) fn vulkan_layers() -> Value {
    let mut arguments = machine_layers();
    arguments["program"] = json!(twins_for_vulkan());
    arguments
}

/// The same in machine code.
pub(crate) fn endless_machine_code(device: &str) -> Value {
    json!({
        "program": dispatches_of_machine_code(), "function": "endless", "inputs": ["4xi32=1,2,3,4"],
        "device": device,
    })
}

/// The arguments that launch a dispatch that adds bytes.
pub(crate) fn bytes() -> Value {
    json!({"program": compiled("integers"), "function": "bytes", "inputs": ["8xi8=1,2,3,100,-100,63,64,65"]})
}

/// The arguments that launch a function of tensors.
pub(crate) fn tensors(inputs: &[String]) -> Value {
    json!({"program": compiled("tensors"), "function": "look", "inputs": inputs})
}

/// The arguments that launch a chain of dispatches.
pub(crate) fn chain(inputs: &[String]) -> Value {
    json!({"program": compiled("evaluated"), "function": "chain", "inputs": inputs})
}

/// The arguments that launch two dispatches, of which the compiler makes wrong code of the second.
pub(crate) fn wrong_layers() -> Value {
    let inputs =
        ["2x4xf32=1,2,3,4,5,6,7,8", "4x4xf32=0.25,0.5,0,1,1,0,0.5,0.25,0.125,1,1,0,0,0.5,0.25,1"];
    json!({"program": compiled("difference"), "function": "layers", "inputs": inputs})
}

/// The arguments that launch a product with a number, and the text of whose dispatch has another
/// number than its code.
pub(crate) fn scaled(folder: &Path, inputs: &[&str]) -> Value {
    let module = folder.join("scaled.vmfb");
    std::fs::copy(compiled("evaluated"), &module).unwrap();
    let file = DebugFile::open(&DebugFile::path_beside(&compiled("evaluated"))).unwrap();
    let member = |name| file.member(name).unwrap().unwrap_or_default().to_vec();
    let flow = String::from_utf8(member("flow.mlir")).unwrap();
    assert!(flow.contains(" 1.250000e-01 "), "{flow}");
    let other = flow.replace(" 1.250000e-01 ", " 1.260000e-01 ").into_bytes();
    let kept = ["companion.mlir", "dispatches.mlir", "input.mlir"].map(|it| (it, member(it)));
    let members = kept.iter().map(|(name, bytes)| (*name, &bytes[..]));
    let members = members.chain([("flow.mlir", &other[..])]);
    let mut written = std::io::Cursor::new(Vec::new());
    debuginfo::write_debug_file(&mut written, file.manifest(), members).unwrap();
    std::fs::write(DebugFile::path_beside(&module), written.into_inner()).unwrap();
    json!({"program": module, "function": "scaled", "inputs": inputs})
}

/// The arguments that launch a model whose dispatches leave NaN, of bytecode or of machine code.
pub(crate) fn nans(is_machine_code: bool) -> Value {
    let program =
        if is_machine_code { nans_of_machine_code("nans-machine") } else { compiled("nans") };
    json!({"program": program, "function": "main", "inputs": ["16x16xf32=0.3", "3"]})
}

/// Compiles that model to machine code whose bytecode is not known yet.
pub(crate) fn nans_of_machine_code(name: &str) -> PathBuf {
    compiled_for("nans", name, &MACHINE_CODE)
}

/// The module that calls a slow native function.
pub(crate) fn slow() -> PathBuf {
    compiled("slow")
}

/// The compiled test program, with its debug file beside it.
pub(crate) fn module() -> PathBuf {
    compiled("program")
}

/// The line that ends with a comment.
pub(crate) fn line(comment: &str) -> u32 {
    line_of("program", comment)
}

/// The line of one of the programs that ends with a comment.
pub(crate) fn line_of(name: &str, comment: &str) -> u32 {
    let text = std::fs::read_to_string(source_of(name)).unwrap();
    let ending = format!("// {comment}");
    let index = text.lines().position(|line| line.ends_with(&ending));
    u32::try_from(index.unwrap_or_else(|| panic!("no line ends with {ending}")) + 1).unwrap()
}

/// The arguments that launch a function of it.
pub(crate) fn call(function: &str, inputs: &[&str]) -> Value {
    json!({"program": module(), "function": function, "inputs": inputs})
}

/// The arguments that launch a function of one module that calls into another.
pub(crate) fn call_across_modules(input: &str) -> Value {
    json!({"program": compiled("caller"), "modules": [compiled("provider")], "function": "main", "inputs": [input]})
}
