//! `iree-dbg diff --reference` judges operations that MLIR's common dialects lack: transforms of
//! Fourier, complex numbers, tiles, and operands that lie in tiles. Of the programs in `evaluated`,
//! no sound dispatch is accused and none is left out, and numbers that are planted in their machine
//! code are found. Needs IREE's tools: `pip install iree-base-compiler iree-base-runtime`.

use std::path::Path;

use serde_json::Value;

use support::text;

use crate::diff::{planted, random};
use crate::program::{IREE_DBG, data};

/// The status, and the report.
fn diff(folder: &Path, inputs: &[String]) -> (Option<i32>, Value) {
    let mut arguments = vec!["diff", "--json", "--reference", "m.vmfb"];
    arguments.extend(inputs.iter().map(String::as_str));
    let output = IREE_DBG.run(folder, &arguments);
    let found = serde_json::from_slice(&output.stdout);
    let found = found.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    (output.status.code(), found)
}

/// Numbers of the program and what is planted in their place.
fn faults(program: &str) -> Vec<(f32, f32)> {
    let lines = program.lines().filter_map(|line| line.strip_prefix("// planted: "));
    let number = |text: &str| text.parse::<f32>().expect("a number");
    lines.map(|it| it.split_once(' ').map(|(a, b)| (number(a), number(b))).expect("two")).collect()
}

/// Checks a program as it is compiled with some flags; how many faults were found.
fn judged(program: &str, flags: &[&str]) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("m.mlir"), program).expect("it is written");
    let mut inputs = Vec::new();
    for line in program.lines().filter_map(|line| line.strip_prefix("// input: ")) {
        let (ty, scale) = line.split_once(' ').expect("a type and a scale");
        let bytes = abi::npy::write(&random(ty, scale, inputs.len() as u64)).expect("an array");
        std::fs::write(folder.join(format!("{}.npy", inputs.len())), bytes).expect("written");
        inputs.push(format!("--input=@{}.npy", inputs.len()));
    }
    let compile = || {
        let arguments = [&["compile", "m.mlir", "-o", "m.vmfb", "--"][..], flags].concat();
        let output = IREE_DBG.run(folder, &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    compile();
    let (status, found) = diff(folder, &inputs);
    assert_eq!(status, Some(0), "{found}");
    for dispatch in found["dispatches"].as_array().expect("dispatches") {
        assert_ne!(dispatch["verdict"], "not_compared", "{dispatch}");
    }
    let faults = faults(program);
    for (from, to) in &faults {
        compile();
        let places = planted(&folder.join("m.vmfb"), *from, *to);
        assert!(places > 0, "{from} is there");
        let (status, found) = diff(folder, &inputs);
        assert_eq!(status, Some(1), "{from} -> {to}: {found}");
        // One dispatch is wrong; those after it are judged on what it has left.
        let all = found["dispatches"].as_array().expect("dispatches").iter();
        let wrong: Vec<&Value> = all.filter(|it| it["verdict"] == "differs").collect();
        assert_eq!(wrong.len(), 1, "{from} -> {to}: {found}");
    }
    faults.len()
}

const CPU: [&str; 3] = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
];

fn program(name: &str) -> String {
    std::fs::read_to_string(data("evaluated").join(name)).expect("the program")
}

#[test]
fn complex_numbers_and_transforms_are_judged() {
    assert_eq!(judged(&program("fourier.mlir"), &CPU), 2);
}

#[test]
fn tiles_are_judged() {
    assert_eq!(judged(&program("tiles.mlir"), &CPU), 1);
}

#[test]
fn products_of_tiles_are_judged_where_they_lie() {
    let product = program("product.mlir");
    let tiled = "--iree-opt-data-tiling";
    assert_eq!(judged(&product, &[&CPU[..], &[tiled]].concat()), 1);
    let vmvx = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];
    assert_eq!(judged(&product, &[&vmvx[..], &[tiled]].concat()), 1);
}
