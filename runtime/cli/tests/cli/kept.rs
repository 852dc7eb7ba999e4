//! `iree-dbg diff --keep`: both sides of what is not equal, as files; and which box of the graph
//! each dispatch is. The program is `kept.mlir`, and the figures of the report are checked against
//! the files. Needs IREE's tools: `pip install iree-base-compiler iree-base-runtime`.

use std::path::Path;

use debuginfo::{DebugFile, DispatchInterfaces, TensorProgram, TensorSources, node_id};
use serde_json::Value;

use support::text;

use crate::program::IREE_DBG;

const CPU: [&str; 3] = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
];

/// A folder with the program, and with another one whose constant is other.
fn programs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept.mlir");
    let program = std::fs::read_to_string(path).expect("the program");
    let other = program.replace("dense<0.25>", "dense<0.2501>");
    assert_ne!(program, other);
    for (name, program) in [("a", program), ("b", other)] {
        let source = format!("{name}.mlir");
        std::fs::write(folder.path().join(&source), program).expect("it is written");
        let module = format!("{name}.vmfb");
        let arguments = [&["compile", &source, "-o", &module, "--"][..], &CPU].concat();
        let output = IREE_DBG.run(folder.path(), &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    for (name, ty) in [("x", "4x16xf32"), ("w", "16x16xf32")] {
        let tensor = super::diff::random(ty, "0.5", 7);
        let bytes = abi::npy::write(&tensor).expect("NumPy has it");
        std::fs::write(folder.path().join(format!("{name}.npy")), bytes).expect("it is written");
    }
    folder
}

/// The status, the report, and what was said.
fn diff(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let inputs = ["--input=@x.npy", "--input=@w.npy", "--json"];
    let output = IREE_DBG.run(folder, &[&["diff"], arguments, &inputs].concat());
    let found = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), found, text(&output.stderr).to_string())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let names = entries.map(|it| it.expect("a file").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn floats(path: &Path) -> Vec<f32> {
    let (tensor, _) = abi::npy::read(&std::fs::read(path).expect("a file")).expect("an array");
    let chunks = tensor.bytes.chunks(4).map(|it| f32::from_le_bytes(it.try_into().unwrap()));
    chunks.collect()
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

#[test]
fn both_sides_of_what_is_not_equal_are_files_with_the_figures_of_the_report() {
    let folder = programs();
    let folder = folder.path();
    let (status, found, said) = diff(folder, &["a.vmfb", "b.vmfb", "--keep=kept"]);
    assert_eq!(status, Some(1), "{found} {said}");
    let kept = folder.join("kept");
    let (mut count, mut listed) = (0, vec!["diff.json".to_owned()]);
    for tensor in array(&found["dispatches"]).iter().flat_map(|it| array(&it["tensors"])) {
        if tensor["verdict"] == "equal" {
            assert_eq!(tensor["kept"], Value::Null, "{tensor}");
            continue;
        }
        count += 1;
        let [a, b] = ["a", "b"].map(|side| tensor["kept"][side].as_str().expect("a name"));
        listed.extend([a.to_owned(), b.to_owned()]);
        let [a, b] = [a, b].map(|name| floats(&kept.join(name)));
        let apart = |at: usize| f64::from(a[at]) - f64::from(b[at]);
        let most = (0..a.len()).map(|at| apart(at).abs()).fold(0.0, f64::max);
        let ulps = a.iter().zip(&b).map(|(a, b)| a.to_bits().abs_diff(b.to_bits())).max();
        let (largest, worst) = (&tensor["differences"]["largest"], &tensor["differences"]["worst"]);
        assert_eq!(largest["absolute"]["value"].as_f64(), Some(most), "{tensor}");
        assert_eq!(largest["ulps"]["value"].as_f64(), ulps.map(f64::from), "{tensor}");
        let at = worst["index"].as_array().map(|it| it[0].as_u64().unwrap() as usize);
        let at = at.expect("one axis");
        assert_eq!(worst["difference"].as_f64(), Some(apart(at).abs()), "{tensor}");
        let allowed = worst["allowed"].as_f64().expect("a number");
        assert_eq!(tensor["verdict"] == "differs", apart(at).abs() > allowed, "{tensor}");
    }
    assert!(count >= 3, "the loop runs three times: {found}");
    listed.sort();
    assert_eq!(names(&kept), listed);
    let report = std::fs::read(kept.join("diff.json")).expect("the report");
    assert_eq!(serde_json::from_slice::<Value>(&report).expect("JSON"), found);
    // It takes the place of an earlier one, of which nothing stays.
    let (status, found, said) = diff(folder, &["a.vmfb", "a.vmfb", "--keep=kept"]);
    assert_eq!((status, said.as_str()), (Some(0), ""), "{found}");
    assert_eq!(names(&kept), ["diff.json"]);
    assert_eq!(names(folder).iter().filter(|it| it.starts_with('.')).count(), 0);
}

#[test]
fn what_is_left_out_says_so_and_the_first_difference_is_always_kept() {
    let folder = programs();
    let folder = folder.path();
    let (_, found, _) = diff(folder, &["a.vmfb", "b.vmfb", "--keep=kept", "--keep-bytes=600"]);
    let tensors = array(&found["dispatches"]).iter().flat_map(|it| array(&it["tensors"]));
    let kept: Vec<&Value> = tensors.map(|it| &it["kept"]).filter(|it| !it.is_null()).collect();
    assert!(kept[0]["a"].is_string(), "{kept:?}");
    let why = kept[1]["left_out"].as_str().expect("a reason");
    assert_eq!(why, "512 bytes are more than what is left of 600 to be kept");
    assert_eq!(found["kept"]["left_out"], kept.len() - 1, "{found}");
    assert_eq!(names(&folder.join("kept")).len(), 3);
}

#[test]
fn a_folder_with_anything_else_is_refused_before_the_run() {
    let folder = programs();
    let folder = folder.path();
    let refused = |keep: &str, more: &[&str], why: &str| {
        let keep = format!("--keep={keep}");
        let (status, found, said) = diff(folder, &[&["a.vmfb", "b.vmfb", &keep], more].concat());
        assert_eq!((status, found), (Some(2), Value::Null), "{said}");
        assert!(said.contains(why), "{said}");
    };
    let other = "has files that no `iree-dbg diff --keep` has written";
    std::fs::create_dir(folder.join("mine")).expect("a folder");
    std::fs::write(folder.join("mine/x.a.npy"), "mine").expect("written");
    refused("mine", &[], other);
    // A report of ours, and a file beside it that is not.
    diff(folder, &["a.vmfb", "b.vmfb", "--keep=kept"]);
    std::fs::write(folder.join("kept/notes.txt"), "mine").expect("written");
    let before = names(&folder.join("kept"));
    refused("kept", &[], other);
    assert_eq!(names(&folder.join("kept")), before);
    refused("x.npy", &[], "is a file");
    refused("new", &["--mode=bisect"], "compares no tensors");
    assert!(!folder.join("new").exists());
}

/// The program of tensors of a module's debug file, as the graph of its dispatches has it.
fn program_of(module: &Path) -> TensorProgram {
    let file = DebugFile::open(&DebugFile::path_beside(module)).expect("its debug file");
    let member = |name| String::from_utf8(file.member(name).unwrap().expect("a member")).unwrap();
    let [flow, dispatches] = ["flow.mlir", "dispatches.mlir"].map(member);
    TensorProgram::parse(&TensorSources {
        flow: &flow,
        input: None,
        dispatches: &DispatchInterfaces::parse(&dispatches),
        file: &|_| None,
    })
}

#[test]
fn each_run_of_a_dispatch_names_its_box_of_the_graph() {
    let folder = programs();
    let folder = folder.path();
    let program = program_of(&folder.join("a.vmfb"));
    let boxes: Vec<(String, &str)> = program
        .dispatches()
        .map(|(id, it)| (node_id(id), it.export().expect("a dispatch")))
        .collect();
    for flags in [&["a.vmfb"][..], &["a.vmfb", "--bytecode"], &["a.vmfb", "b.vmfb"]] {
        let (_, found, said) = diff(folder, flags);
        let runs = array(&found["dispatches"]);
        let mut named = Vec::new();
        for run in runs {
            let node = run["node"].as_str().unwrap_or_else(|| panic!("{run} {said}"));
            let (_, export) = boxes.iter().find(|(id, _)| id == node).expect("a box");
            assert_eq!(&run["name"], export, "{run}");
            named.push(node);
        }
        // The loop's two boxes run by turns, and the one before it runs once.
        assert_eq!(named.len(), 7, "{found}");
        assert_eq!(named[1..3], named[3..5], "{found}");
        assert!(!named[1..].contains(&named[0]) && named[1] != named[2], "{named:?}");
    }
}
