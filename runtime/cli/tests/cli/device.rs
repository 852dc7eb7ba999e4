//! Golden sessions of the terminal debugger on compiled programs: a model that a device executes, a
//! program with inlined functions, one with several operations on a line, and others.
//!
//! They need iree-compile. A case is a script beside the program, with its expected output. To
//! accept new output, run with `UPDATE_EXPECT=1` and read the difference.

use std::path::{Path, PathBuf};

use support::{Expected, printed};

use crate::program::{IREE_DBG, scratch};

/// Compiles a program of a directory. Returns the path of its module.
fn compile(directory: &Path, program: &str, flags: &[&str]) -> PathBuf {
    let module = scratch(&format!("{program}.vmfb"));
    compile_to(&module, directory, program, flags);
    module
}

pub(crate) fn compile_to(module: &Path, directory: &Path, program: &str, flags: &[&str]) {
    IREE_DBG.compile(directory, format!("{program}.mlir"), module, flags);
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Runs scripts on a program of a directory.
fn check(directory: &str, program: &str, inputs: &[&str], scripts: &[&str]) {
    let directory = tests().join(directory);
    let module = compile(&directory, program, &[]);
    check_on(&module, &directory, &directory, inputs, scripts);
}

/// Runs the scripts of one directory in another.
pub(crate) fn check_on(
    module: &Path,
    scripts_in: &Path,
    run_in: &Path,
    inputs: &[&str],
    scripts: &[&str],
) {
    let mut expected = Expected::default();
    for name in scripts {
        let output = IREE_DBG
            .command()
            .current_dir(run_in)
            .args(["debug", "--batch"])
            .args(inputs.iter().map(|input| match input.starts_with("--function=") {
                true => (*input).to_owned(),
                false => format!("--input={input}"),
            }))
            .arg("-x")
            .arg(scripts_in.join(format!("{name}.script")))
            .arg(module)
            .output()
            .expect("the debugger starts");
        expected.compare(&scripts_in.join(format!("{name}.expected")), &printed(&output));
    }
    expected.finish();
}

#[test]
fn dispatches_are_debugged() {
    let scripts =
        ["dispatches", "lines", "counts", "values", "whole", "calls", "ranges", "pictures", "back"];
    check("device", "perceptron", &["4x8xf32=1"], &scripts);
}

/// Tensors are saved, read again, hashed and named by their dispatch.
#[test]
fn tensors_go_to_files_and_come_back() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let module = scratch.path().join("perceptron.vmfb");
    compile_to(&module, &tests().join("device"), "perceptron", &[]);
    check_on(&module, &tests().join("device"), scratch.path(), &["4x8xf32=1"], &["tensors"]);
}

#[test]
fn lines_of_machine_code_are_before_their_dispatches() {
    let directory = tests().join("device");
    let module = scratch("machine.vmfb");
    let flags =
        ["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];
    compile_to(&module, &directory, "perceptron", &flags);
    check_on(&module, &directory, &directory, &["4x8xf32=1"], &["machine"]);
}

#[test]
fn models_are_stepped_by_operation_and_their_tensors_have_names() {
    check(
        "model",
        "steps",
        &["4x4xf32=0.5", "4x4xf32=0.3"],
        &["tensors", "levels", "results", "numbers"],
    );
    check("model", "moves", &["4x8xf32=0.5", "4x8xf32=3"], &["copies"]);
    check("model", "sized", &["3x4xf32=0.5", "4xf32=2"], &["sized"]);
}

#[test]
fn tensors_and_counters_of_a_loop_are_those_of_this_turn() {
    let inputs = ["1x8xf32=1 2 -1 0.5 0.25 1 -2 1", "8x8xf32=0.1", "8x8xf32=0.2", "5"];
    check("model", "decoder", &inputs, &["decoder"]);
}

#[test]
fn an_argument_that_was_overwritten_in_place_is_shown_as_it_was() {
    check("model", "inplace", &["3x4xf32=2", "4x2xf32=3", "3x2xf32=1"], &["inplace"]);
}

#[test]
fn integers_have_a_sign_if_the_source_says_so() {
    let inputs = ["4xi32=1,-1,3,-2147483648", "4xi32=2,-2,7,-1"];
    check("model", "unsigned", &inputs, &["unsigned"]);
}

/// What `info dispatch` calls a tensor is what the name means, in calls that share a dispatch, and
/// whose arguments have the names of other tensors around them.
#[test]
fn tensors_of_a_dispatch_have_the_names_that_it_is_shown_with() {
    let inputs = ["2x2xf32=1,2,3,4", "2x2xf32=0.5", "2x2xf32=0.25"];
    check_names_on_back_ends("layers", &inputs, &["operands", "inside"]);
}

/// The scripts of a source in `names` say the same on each back end.
fn check_names_on_back_ends(source: &str, inputs: &[&str], scripts: &[&str]) {
    let directory = tests().join("names");
    for back_end in ["vmvx", "llvm-cpu"] {
        let module = scratch(&format!("names_{source}_{back_end}.vmfb"));
        let flag = format!("--iree-hal-local-target-device-backends={back_end}");
        compile_to(&module, &directory, source, &[&flag]);
        check_on(&module, &directory, &directory, inputs, scripts);
    }
}

/// What a dispatch leaves in the middle of an operation is called by the tensor that it is there
/// for, and a concatenation by its own name, though the compiler makes it part by part.
#[test]
fn what_lies_in_the_middle_of_an_operation_says_of_which_tensor() {
    let directory = tests().join("names");
    let inputs = ["4x64xf32=1", "64xf32=1", "64xf32=0.5", "96x8xf32=0.1", "1x1x6x6xf32=1"];
    let inputs = [&inputs[..], &["1x1x3x3xf32=1"]].concat();
    let module = scratch("middle.vmfb");
    compile_to(&module, &directory, "middle", &["--iree-hal-local-target-device-backends=vmvx"]);
    check_on(&module, &directory, &directory, &inputs, &["middle"]);
}

/// A sum before its bias, what stands there twice, truth values, and one tensor in two orders.
#[test]
fn tensors_of_gates_and_masks_have_names() {
    let inputs = ["1x8x6x6xf32=0.5", "6xi1=00 01 00 01 00 01"];
    check_names_on_back_ends("gates", &inputs, &["gates"]);
}

/// The counter is clamped to where it is anyhow, and the compiler has inlined the functions.
#[test]
fn what_a_loop_over_layers_carries_is_known_in_each_turn() {
    let x = "4x4xf32=1,-2,3,-4,0.5,0.25,-1,1,-0.5,2,1,0.75,0,1,-2,0.5";
    check_names_on_back_ends("scanned", &[x, "3x4x4xf32=0.25"], &["scanned"]);
}

/// As PyTorch exports them: `scaled_dot_product_attention`, `triu`, `adaptive_avg_pool2d`.
#[test]
fn tensors_of_attention_and_of_causal_masks_have_names() {
    let directory = tests().join("names");
    let module = scratch("attended.vmfb");
    let flag = "--iree-hal-local-target-device-backends=llvm-cpu";
    compile_to(&module, &directory, "attended", &[flag]);
    check_on(&module, &directory, &directory, &["2x2x6x16xf32=0.1"], &["attended"]);
}

/// Tensors that are computed again from numbers that the function is called with.
#[test]
fn numbers_that_a_function_is_called_with_are_known() {
    check_names_on_back_ends("numbers", &["3xf32=0.5 1 -1", "3", "1", "100", "0.5"], &["numbers"]);
}

#[test]
fn inlined_calls_are_frames() {
    check("inlined", "inlined", &["7", "3"], &["inlined", "places", "values"]);
}

/// Frameworks write locations of the Python files that a program was made from.
#[test]
fn programs_made_from_python_have_its_lines_frames_and_variables() {
    check("python", "layers", &["4x4xf32=0.5", "4x4xf32=0.25"], &["lines"]);
}

/// `iree_dbg.jax` writes a map of the run of Python that has made a program. `noted.mlir` and its
/// map are what it makes of `noted.py`, with two layers of 4x4.
#[test]
fn programs_with_a_map_of_their_python_have_all_its_variables() {
    let x = "4x4xf32=1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15,-16";
    let w = "4x4xf32=0.5,0.25,-1,1,-0.5,2,1,0.75,0,1,-2,0.5,1,-1,0.25,1.5";
    let inputs = [x, "4xf32=0.5", w, "4xf32=1,-1,0.5,2", w];
    check("python", "noted", &inputs, &["noted"]);
}

#[test]
fn python_is_stepped_line_by_line() {
    let directory = tests().join("python");
    let x = "4x4xf32=1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15,-16";
    let w = "4x4xf32=0.5,0.25,-1,1,-0.5,2,1,0.75,0,1,-2,0.5,1,-1,0.25,1.5";
    for (back_end, script) in [("vmvx", "steps"), ("llvm-cpu", "calls")] {
        let module = scratch(&format!("python_steps_{back_end}.vmfb"));
        let flag = format!("--iree-hal-local-target-device-backends={back_end}");
        compile_to(&module, &directory, "noted", &[&flag]);
        let inputs = [x, "4xf32=0.5", w, "4xf32=1,-1,0.5,2", w];
        check_on(&module, &directory, &directory, &inputs, &[script]);
    }
}

#[test]
fn operations_are_stepped_one_by_one() {
    check("levels", "several", &["3"], &["statements", "levels"]);
}

/// The compiler gives a fused multiply-add the locations of what has made its operands.
#[test]
fn products_and_sums_in_one_instruction_are_on_the_line_of_the_sum() {
    check("levels", "products", &["--function=main", "3", "4", "9"], &["products"]);
    check("levels", "products", &["--function=arguments", "3", "4", "9"], &["arguments"]);
    check("levels", "products", &["--function=collatz", "3"], &["turns"]);
}

#[test]
fn names_mean_what_they_mean_in_the_text_that_is_shown() {
    check("levels", "numbered", &["3"], &["names"]);
}

/// The compiler writes a listing beside the module, and the module says so.
#[test]
fn a_listing_is_shown_where_a_module_has_one() {
    let scratch = scratch("listed");
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    let source = tests().join("device/perceptron.mlir");
    std::fs::copy(source, scratch.join("perceptron.mlir")).expect("the source is copied");
    let module = scratch.join("perceptron.vmfb");
    let flag = "--iree-vm-bytecode-source-listing=perceptron.vm.mlir";
    compile_to(&module, &scratch, "perceptron", &[flag]);
    check_on(&module, &tests().join("levels"), &scratch, &["4x8xf32=1"], &["listed"]);

    // Without its debug file, the module's database still has the lines of one function.
    std::fs::rename(scratch.join("perceptron.vmfb.debug"), scratch.join("away"))
        .expect("the debug file is there");
    check_on(&module, &tests().join("levels"), &scratch, &["4x8xf32=1"], &["database"]);
    std::fs::remove_file(scratch.join("perceptron.vm.mlir")).expect("the listing was written");
    check_on(&module, &tests().join("levels"), &scratch, &["4x8xf32=1"], &["missing"]);
}

#[test]
fn a_program_without_another_text_says_so() {
    let module = tests().join("levels/bare.vmasm");
    let made = scratch("bare.vmfb");
    let output = IREE_DBG
        .command()
        .arg("asm")
        .arg(format!("--output={}", made.display()))
        .arg(module)
        .output()
        .expect("the assembler starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    check_on(&made, &tests().join("levels"), &tests(), &["3"], &["bare"]);
}

#[test]
fn operations_of_a_line_take_breakpoints() {
    check("columns", "columns", &["7", "3"], &["columns"]);
}

#[test]
fn a_line_that_was_moved_about_stops_once() {
    let directory = tests().join("moved");
    let module = compile(&directory, "moved", &["--compile-mode=vm"]);
    check_on(&module, &directory, &directory, &["3", "4"], &["moved"]);
}

#[test]
fn stops_say_why() {
    check("stops", "scalars", &["2", "5"], &["floats", "data", "conditions"]);
    check("stops", "norm", &["4x8xf32=3", "4x8xf32=4"], &["bytecode"]);
}

#[test]
fn integers_that_overflow_stop() {
    let directory = tests().join("stops");
    let module = compile(&directory, "integers", &[]);
    let check = |call: &[&str], script| check_on(&module, &directory, &directory, call, &[script]);
    let (most, least) = ("2147483647", "-2147483648");
    check(&["--function=scalars", most, "9223372036854775807"], "overflow");
    check(&["--function=quotient", least, "-1"], "quotient");
    check(&["--function=bytes", "8xi8=1,2,3,100,-100,63,64,65"], "bytes");
    check(&["--function=squares", "8xi32=20000"], "squares");
}

#[test]
fn machine_code_is_watched_dispatch_by_dispatch() {
    let directory = tests().join("stops");
    let module = scratch("norm-machine.vmfb");
    let flags =
        ["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];
    compile_to(&module, &directory, "norm", &flags);
    check_on(&module, &directory, &directory, &["4x8xf32=3", "4x8xf32=4"], &["machine"]);
}

/// 8 elements of 0.5 times 2.
#[test]
fn conditions_on_lines_of_machine_code_take_what_the_dispatch_will_compute() {
    let directory = tests().join("stops");
    let module = scratch("ahead.vmfb");
    let flags =
        ["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];
    compile_to(&module, &directory, "ahead", &flags);
    check_on(&module, &directory, &directory, &["4x8xf32=0.5", "8x8xf32=2"], &["ahead"]);
}
