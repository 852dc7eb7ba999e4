//! Names of guarded values: `nan_to_num`, clamps, masks, least divisors and padding are the
//! identity for almost every number. With the numbers at which they act, each name that is shown
//! has its own value, in functions, in dispatches of bytecode, and in machine code that is stepped
//! by line.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use support::made_once;

use crate::program::{IREE_DBG, data, scratch};

const VMVX: &[&str] = &["--iree-hal-target-backends=vmvx"];
const MACHINE_CODE: &[&str] =
    &["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];

fn scalars() -> PathBuf {
    compiled("scalars", "scalars", VMVX)
}

fn tensors() -> PathBuf {
    compiled("tensors", "bytecode", VMVX)
}

fn machine() -> PathBuf {
    compiled("tensors", "machine", MACHINE_CODE)
}

fn source(name: &str) -> PathBuf {
    data(&format!("guards/{name}.mlir"))
}

/// A program, compiled once for the tests that share a folder.
fn compiled(name: &str, folder: &str, flags: &[&str]) -> PathBuf {
    let folder = made_once(scratch("guards").join(folder), |folder| {
        let file = format!("{name}.mlir");
        std::fs::copy(source(name), folder.join(&file)).expect("the source is copied");
        IREE_DBG.compile(folder, &file, "module.vmfb", flags);
    });
    folder.join("module.vmfb")
}

fn session(module: &Path, function: &str, inputs: &[&str], commands: &[String]) -> String {
    let mut arguments = vec![format!("--function={function}")];
    arguments.extend(inputs.iter().map(|input| format!("--input={input}")));
    arguments.push("module.vmfb".to_owned());
    let folder = module.parent().expect("its folder");
    IREE_DBG.session(folder, &arguments, &(commands.join("\n") + "\n"), &[])
}

/// The lines of a function, from 1.
fn lines_of(name: &str, function: &str) -> (usize, usize) {
    let text = std::fs::read_to_string(source(name)).expect("the source is there");
    let head = format!("func.func @{function}(");
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| line.starts_with(&head)).expect("the function");
    let rest = lines[first..].iter().position(|line| *line == "}").expect("its end");
    (first + 2, first + rest)
}

/// The names of each stop, as text: `%x = 1 : f32` is ("%x", "1"). Names without a value are not
/// among them.
fn shown(text: &str) -> Vec<Vec<(&str, &str)>> {
    let stops = text.split("(iree-dbg) locals").skip(1);
    let of_stop = |stop| {
        let lines = str::lines(stop).skip(1).take_while(|line| !line.starts_with("(iree-dbg)"));
        let values = lines.filter_map(|line| {
            let (name, rest) = line.split_once(" = ")?;
            let (value, _) = rest.rsplit_once(" : ")?;
            (name.starts_with('%') && !value.starts_with('<')).then_some((name, value))
        });
        values.collect()
    };
    stops.map(of_stop).collect()
}

/// What is shown at every line of a function of `scalars.mlir`.
fn at_every_line(function: &str, inputs: &[&str]) -> String {
    let (first, last) = lines_of("scalars", function);
    let mut commands: Vec<String> =
        (first..=last).map(|line| format!("break scalars.mlir:{line}")).collect();
    commands.push("run".to_owned());
    for _ in 0..2 * (last - first) + 10 {
        commands.extend(["locals".to_owned(), "continue".to_owned()]);
    }
    session(&scalars(), function, inputs, &commands)
}

/// Checks that names have these values wherever they are shown, and that each is shown somewhere.
#[track_caller]
fn check(function: &str, inputs: &[&str], expected: &[(&str, &str)]) {
    let text = at_every_line(function, inputs);
    let mut seen = BTreeSet::new();
    for (name, value) in shown(&text).into_iter().flatten() {
        if let Some((_, truth)) = expected.iter().find(|(of, _)| *of == name) {
            assert_eq!(value, *truth, "{name} in @{function} of {inputs:?}\n{text}");
            seen.insert(name);
        }
    }
    for (name, _) in expected {
        assert!(seen.contains(name), "{name} in @{function} of {inputs:?} is never shown\n{text}");
    }
}

#[test]
fn not_a_number_becomes_a_number() {
    let own = [("%given", "NaN"), ("%is_bad", "1"), ("%number", "0"), ("%bounded", "1000000")];
    check("not_a_number", &["nan", "5000000"], &own);
    check("not_a_number", &["inf", "inf"], &[("%number", "inf"), ("%bounded", "1000000")]);
    check("not_a_number", &["-0.0", "1000001"], &[("%number", "-0"), ("%bounded", "1000000")]);
    check("branch", &["nan"], &[("%given", "NaN"), ("%number", "0")]);
    check("branch", &["-inf"], &[("%given", "-inf"), ("%number", "-inf")]);
}

#[test]
fn a_row_that_is_all_masked_is_shifted_by_nothing() {
    let own = [("%most", "-inf"), ("%is_masked", "1"), ("%shift", "0")];
    check("masked_row", &["-inf"], &own);
    check("masked_row", &["-3.4e38"], &[("%is_masked", "0"), ("%shift", "-3.4e38")]);
}

#[test]
fn a_clamped_number_is_not_the_number() {
    for large in ["100000.0", "1e30", "inf"] {
        check("half_range", &[large], &[("%within", "65504")]);
        let negative = format!("-{large}");
        check("half_range", &[&negative], &[("%above", "-65504"), ("%within", "-65504")]);
    }
    check("half_range", &["65503.5"], &[("%above", "65503.5"), ("%within", "65503.5")]);
    for small in ["0.0", "1e-20", "1e-45"] {
        let size = if small == "0.0" { "0" } else { small };
        let own = [("%size", size), ("%divisor", "1e-12"), ("%positive", "1e-12")];
        check("smallest", &[small], &own);
        let negative = format!("-{small}");
        check("smallest", &[&negative], &own);
    }
}

#[test]
fn a_rare_number_is_told_from_the_others() {
    for given in ["59", "-59"] {
        let own = [("%given", given), ("%replaced", "5"), ("%sum", "12")];
        check("rare_number", &[given, "7"], &own);
    }
    check("rare_number", &["58", "7"], &[("%replaced", "58"), ("%sum", "65")]);
    check("rare_flags", &["37"], &[("%flag", "1"), ("%flag_too", "1")]);
    check("rare_flags", &["-37"], &[("%flag", "0"), ("%flag_too", "1")]);
    check("tokens", &["50256"], &[("%token", "50256"), ("%kept", "0")]);
    check("tokens", &["50257"], &[("%token", "50257"), ("%kept", "50257")]);
    let own = [("%next", "-2147483648"), ("%safe", "2147483647"), ("%wraps", "1")];
    check("wrapped", &["2147483647"], &own);
}

/// Where the compiled program departs from what MLIR says, the program's value is shown.
#[test]
fn zeros_and_nan_are_those_of_the_program() {
    check("zeros", &["-0.0", "0.0"], &[("%given", "-0"), ("%plus", "-0"), ("%chosen", "-0")]);
    check("zeros", &["1.0", "nan"], &[("%lesser", "1"), ("%chosen", "1")]);
    check("zeros", &["nan", "1.0"], &[("%lesser", "NaN"), ("%chosen", "NaN")]);
}

/// Two values that a loop carries stay apart once one of them has met its rare number.
#[test]
fn carried_values_are_told_from_each_other() {
    let text = at_every_line("carried", &["4", "57"]);
    let plain = ["57", "58", "59", "60"];
    let jumps = ["57", "58", "59", "7000"];
    let mut stops = 0;
    for stop in shown(&text) {
        let value = |name: &str| stop.iter().find(|(of, _)| *of == name).map(|(_, value)| *value);
        let Some(turn) = value("%at").and_then(|turn| turn.parse::<usize>().ok()) else { continue };
        for (name, truth) in [("%plain", plain), ("%jumps", jumps)] {
            let Some(value) = value(name) else { continue };
            assert_eq!(value, truth[turn], "{name} in turn {turn}\n{text}");
            stops += 1;
        }
    }
    assert!(stops >= 16, "{stops}: {text}");
    check("carried", &["4", "57"], &[("%ends#0", "61"), ("%ends#1", "7001")]);
}

#[test]
fn conditions_and_expressions_have_the_guarded_value() {
    let (_, last) = lines_of("scalars", "not_a_number");
    let stops = |condition: &str| {
        let commands =
            [format!("break scalars.mlir:{} if {condition}", last - 2), "run".to_owned()];
        let text = session(&scalars(), "not_a_number", &["nan", "5000000"], &commands);
        text.contains("Breakpoint 1\n#0")
    };
    assert!(stops("%given != %given") && stops("%number == 0") && stops("%bounded == 1000000"));
    assert!(!stops("%number != %number") && !stops("%bounded > 1000000"));
    let commands = [
        format!("break scalars.mlir:{}", last - 3),
        "run".to_owned(),
        "p %number + 1".to_owned(),
        "p %bounded".to_owned(),
    ];
    let text = session(&scalars(), "not_a_number", &["nan", "5000000"], &commands);
    assert!(text.contains("%number + 1 = 1 "), "{text}");
    assert!(text.contains("%bounded = 1000000 "), "{text}");
}

/// Checks every stop in a dispatch, given what belongs to each element.
#[track_caller]
fn check_elements(text: &str, names: &[&str], expected: &[&[&str]]) {
    let mut seen = BTreeSet::new();
    for stop in shown(text) {
        let value = |name: &str| stop.iter().find(|(of, _)| *of == name).map(|(_, value)| *value);
        let Some(element) = value("%element") else { continue };
        let row = expected.iter().find(|row| row[0] == element);
        let row = row.unwrap_or_else(|| panic!("%element = {element}\n{text}"));
        for (name, truth) in names.iter().zip(*row) {
            if let Some(value) = value(name) {
                assert_eq!(value, *truth, "{name} where %element = {element}\n{text}");
                seen.insert((*name, element.to_owned()));
            }
        }
    }
    assert_eq!(seen.len(), names.len() * expected.len(), "{seen:?}\n{text}");
}

fn in_dispatches(module: &Path, function: &str, input: &str, is_machine_code: bool) -> String {
    let (first, last) = lines_of("tensors", function);
    let body = first + 6..last - 1;
    let mut commands: Vec<String> = body.map(|line| format!("break tensors.mlir:{line}")).collect();
    commands.push("run".to_owned());
    if is_machine_code {
        commands.extend(["step".to_owned(), "step".to_owned()]);
    }
    for _ in 0..24 {
        commands.extend(["locals".to_owned(), "continue".to_owned()]);
    }
    session(module, function, &[input], &commands)
}

#[test]
fn guards_in_dispatches() {
    let names = ["%element", "%is_bad", "%number", "%bounded"];
    let guarded: [&[&str]; 4] = [
        &["NaN", "1", "0", "0"],
        &["inf", "0", "inf", "1000000"],
        &["5000000", "0", "5000000", "1000000"],
        &["-2", "0", "-2", "-2"],
    ];
    let masked_names = ["%element", "%is_masked", "%shift", "%size", "%divisor"];
    let masked: [&[&str]; 4] = [
        &["-inf", "1", "0", "0", "1e-12"],
        &["1e-20", "0", "1e-20", "1e-20", "1e-12"],
        &["NaN", "0", "NaN", "NaN", "NaN"],
        &["-3", "0", "-3", "3", "3"],
    ];
    for (module, is_machine_code) in [(&tensors(), false), (&machine(), true)] {
        let text = in_dispatches(module, "guarded", "4xf32=nan,inf,5e6,-2", is_machine_code);
        check_elements(&text, &names, &guarded);
        let text = in_dispatches(module, "masked", "4xf32=-inf,1e-20,nan,-3", is_machine_code);
        check_elements(&text, &masked_names, &masked);
    }
}
