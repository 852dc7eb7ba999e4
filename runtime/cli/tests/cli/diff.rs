//! `iree-dbg diff`: sound models have no false alarm, and planted faults are named.
//!
//! Each file of `diff` is a model, with its inputs, and with faults: a text that is replaced by
//! another, and the first tensor that is wrong then. That a fault is one, and that a sound model is
//! sound, iree-run-module says. Needs IREE's tools: `pip install iree-base-compiler
//! iree-base-runtime`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use support::text;

use crate::program::{IREE_DBG, data};

/// A model of the folder.
struct Model {
    test: &'static str,
    name: String,
    text: String,
    inputs: Vec<(String, String)>,
    faults: Vec<Fault>,
    /// Whether the compiler can make bytecode of it.
    has_bytecode: bool,
}

/// A text of the model that is replaced, and what is wrong then.
struct Fault {
    name: String,
    tensor: String,
    from: String,
    to: String,
}

/// All models, for a test with a folder of its own.
fn models(test: &'static str) -> Vec<Model> {
    let folder = data("diff");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the models").map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| model(path, test)).collect()
}

fn model(path: &Path, test: &'static str) -> Model {
    let text = std::fs::read_to_string(path).expect("a model");
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let (mut inputs, mut faults) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if let Some(input) = line.strip_prefix("// input: ") {
            let (ty, scale) = input.split_once(' ').expect("a type and a scale");
            inputs.push((ty.to_owned(), scale.to_owned()));
        } else if let Some(fault) = line.strip_prefix("// fault ") {
            let (head, texts) = fault.split_once(": `").expect("a fault");
            let (name, tensor) = head.split_once(" of ").expect("its name and its tensor");
            let (from, to) = texts.split_once("` -> `").expect("two texts");
            let to = to.strip_suffix('`').expect("a text").to_owned();
            let (name, tensor, from) = (name.to_owned(), tensor.to_owned(), from.to_owned());
            faults.push(Fault { name, tensor, from, to });
        }
    }
    let has_bytecode = !text.contains("// no bytecode");
    Model { test, name, text, inputs, faults, has_bytecode }
}

impl Model {
    /// Its folder, with its inputs.
    fn folder(&self) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.test).join(&self.name);
        std::fs::create_dir_all(&folder).expect("a folder");
        for (index, (ty, scale)) in self.inputs.iter().enumerate() {
            let bytes = abi::npy::write(&random(ty, scale, index as u64)).expect("NumPy has it");
            std::fs::write(folder.join(format!("{index}.npy")), bytes).expect("it is written");
        }
        folder
    }

    fn input_flags(&self) -> Vec<String> {
        (0..self.inputs.len()).map(|index| format!("--input=@{index}.npy")).collect()
    }

    /// Compiles a text; returns the module.
    fn compiled(&self, program: &str, name: &str, flags: &[&str]) -> String {
        let folder = self.folder();
        std::fs::write(folder.join(format!("{name}.mlir")), program).expect("it is written");
        let (source, module) = (format!("{name}.mlir"), format!("{name}.vmfb"));
        let arguments = ["compile", &source, "-o", &module, "--"];
        let output = IREE_DBG.run(&folder, &[&arguments[..], flags].concat());
        assert!(output.status.success(), "{}: {}", self.name, text(&output.stderr));
        module
    }

    fn diff(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let inputs = self.input_flags();
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let all = [&["diff", "--json"], arguments, &inputs].concat();
        let output = IREE_DBG.run(&self.folder(), &all);
        let json = serde_json::from_slice(&output.stdout);
        let json = json.unwrap_or_else(|error| {
            panic!("{} {arguments:?}: {error}: {}", self.name, text(&output.stderr))
        });
        (output.status.code(), json)
    }

    /// What iree-run-module returns.
    fn oracle(&self, module: &str) -> Vec<u8> {
        let result = self.folder().join("oracle.npy");
        let _ = std::fs::remove_file(&result);
        let output = Command::new("iree-run-module")
            .current_dir(self.folder())
            .args([&format!("--module={module}"), "--device=local-sync", "--function=main"])
            .args(self.input_flags())
            .arg("--output=@oracle.npy")
            .output()
            .expect("iree-run-module starts");
        assert!(output.status.success(), "{}: {}", self.name, text(&output.stderr));
        std::fs::read(result).expect("a result")
    }
}

/// A tensor of numbers that have no pattern: from -scale to scale; from 0, if the scale has a `+`.
pub(crate) fn random(ty: &str, scale: &str, seed: u64) -> abi::tensor::Tensor {
    let tensor_type = abi::tensor::TensorType::parse(ty).expect("a type");
    let is_positive = scale.starts_with('+');
    let scale: f64 = scale.parse().expect("a number");
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed + 1);
    let mut texts = Vec::new();
    for _ in 0..tensor_type.element_count().expect("not too many") {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let value = if is_positive { unit * scale } else { (unit * 2.0 - 1.0) * scale };
        let is_integer = ty.contains("xi");
        texts.push(if is_integer { format!("{value:.0}") } else { format!("{value:.5}") });
    }
    let text = format!("{ty}={}", texts.join(",")).replace("=-0,", "=0,").replace(",-0,", ",0,");
    abi::tensor::Tensor::parse(&text, 1 << 24).expect("a tensor")
}

const CPU: [&str; 3] = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
];

const VMVX: [&str; 2] =
    ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];

/// What is not equal or within tolerance.
fn alarms(found: &Value) -> Vec<String> {
    let dispatches = found["dispatches"].as_array().expect("dispatches").iter();
    let bad = dispatches.filter(|it| it["verdict"] == "differs");
    bad.map(Value::to_string).collect()
}

/// How many dispatches were compared.
fn compared(found: &Value) -> usize {
    let dispatches = found["dispatches"].as_array().expect("dispatches").iter();
    dispatches.filter(|it| it["verdict"] != "not_compared").count()
}

#[test]
fn sound_models_have_no_false_alarm() {
    let mut wrong = Vec::new();
    for model in models("diff-sound") {
        let cpu = model.compiled(&model.text, "cpu", &CPU);
        let has_bytecode = model.has_bytecode;
        let other = if has_bytecode { &VMVX[..] } else { &CPU[..] };
        let vmvx = model.compiled(&model.text, "vmvx", other);
        let [slow, fast] = ["O0", "O3"].map(|level| {
            let level_flag = format!("--iree-opt-level={level}");
            let flags = [&CPU[..], &[level_flag.as_str()]].concat();
            model.compiled(&model.text, level, &flags)
        });
        for sides in [
            &[cpu.as_str(), &vmvx][..],
            &[&vmvx, &cpu],
            &[&slow, &fast],
            &[&slow, &fast, "--mode=accumulated"],
            &[&cpu, "--b-device=local-task"],
        ] {
            // Different levels fuse differently, so that little of them is the same.
            let (status, found) = model.diff(&[sides, &["--require-compared=0%"]].concat());
            if status != Some(0) {
                let alarms = alarms(&found);
                wrong.push(format!("{} {sides:?}: {status:?} {alarms:#?} {}", model.name, found));
            }
        }
        // Each of its dispatches lies within the bound of its own text, on both back ends.
        for module in [&cpu, &vmvx] {
            let (status, found) = model.diff(&[module, "--reference"]);
            let all = found["dispatches"].as_array().expect("dispatches").len();
            if (status, compared(&found)) != (Some(0), all) {
                wrong.push(format!("{} {module} --reference: {status:?} {found}", model.name));
            }
        }
        // Its own dispatches are all compared with bytecode, or else none is, and nothing is equal.
        let (status, found) = model.diff(&[&cpu, "--bytecode"]);
        let all = found["dispatches"].as_array().expect("dispatches").len();
        let wanted = if has_bytecode { (Some(0), all) } else { (Some(3), 0) };
        if (status, compared(&found)) != wanted {
            wrong.push(format!("{}: {status:?}, not {wanted:?}: {found}", model.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn planted_faults_are_named() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for model in models("diff-faults") {
        let sound = model.compiled(&model.text, "sound", &CPU);
        let right = model.oracle(&sound);
        for fault in &model.faults {
            count += 1;
            let head = model.text.find("func.func").expect("a function");
            let (head, body) = model.text.split_at(head);
            assert!(body.contains(&fault.from), "{}: {}", model.name, fault.from);
            let text = format!("{head}{}", body.replacen(&fault.from, &fault.to, 1));
            let faulty = model.compiled(&text, &fault.name, &CPU);
            assert_ne!(model.oracle(&faulty), right, "{} {} is a fault", model.name, fault.name);
            let (status, found) = model.diff(&[&sound, &faulty]);
            let named = named(&found);
            if status != Some(1) || named != fault.tensor {
                wrong.push(format!("{} {}: {status:?}, {named}: {found}", model.name, fault.name));
            }
        }
    }
    assert!(count >= 12, "only {count} faults");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Puts other bytes in the place of a number, in a compiled module, and makes its debug file one of
/// the changed module. Returns how often it was there.
pub(crate) fn planted(module: &Path, from: f32, to: f32) -> usize {
    let mut bytes = std::fs::read(module).expect("a module");
    let places = |bytes: &[u8]| {
        let windows = bytes.windows(4).enumerate();
        windows.filter(|(_, it)| **it == from.to_le_bytes()).map(|(at, _)| at).collect::<Vec<_>>()
    };
    let places = places(&bytes);
    places.iter().for_each(|at| bytes[*at..at + 4].copy_from_slice(&to.to_le_bytes()));
    std::fs::write(module, &bytes).expect("it is written");
    let path = debuginfo::DebugFile::path_beside(module);
    let file = debuginfo::DebugFile::open(&path).expect("its debug file");
    let identity = debuginfo::ModuleIdentity::of(&vmfb::FileBytes::from(bytes)).expect("bytes");
    let manifest = debuginfo::Manifest { module: identity, ..file.manifest().clone() };
    let names = ["companion.mlir", "dispatches.mlir", "flow.mlir", "input.mlir"];
    let kept = names.map(|name| (name, file.member(name).expect("no damage").unwrap_or_default()));
    let mut written = std::io::Cursor::new(Vec::new());
    let members = kept.iter().map(|(name, bytes)| (*name, &bytes[..]));
    debuginfo::write_debug_file(&mut written, &manifest, members).expect("it is written");
    std::fs::write(path, written.into_inner()).expect("it is written");
    places.len()
}

#[test]
fn faults_of_machine_code_and_bytecode_lie_outside_of_the_bound() {
    let models = models("diff-reference");
    for (name, from, to, tensor) in
        [("quantised", 2.5e-4, 2.6e-4, "%scaled"), ("convolution", -0.25, -0.251, "%cut")]
    {
        let model = models.iter().find(|it| it.name == name).expect("it is there");
        for (back_end, flags) in [("cpu", &CPU[..]), ("vmvx", &VMVX[..])] {
            let module = model.compiled(&model.text, back_end, flags);
            let right = model.oracle(&module);
            let count = planted(&model.folder().join(&module), from, to);
            assert!(count > 0, "{name} {back_end} has {from}");
            assert_ne!(model.oracle(&module), right, "{name} {back_end}: it is a fault");
            let (status, found) = model.diff(&[&module, "--reference"]);
            assert_eq!((status, named(&found).as_str()), (Some(1), tensor), "{back_end} {found}");
        }
    }
    // What is more work than allowed is not compared, and says so.
    let model = models.iter().find(|it| it.name == "transformer").expect("it is there");
    let module = model.compiled(&model.text, "cpu", &CPU);
    let (status, found) = model.diff(&[&module, "--reference", "--reference-operations=10"]);
    assert_eq!((status, &found["verdict"]), (Some(3), &"not_compared".into()), "{found}");
    let reason = found["dispatches"][0]["reason"].to_string();
    assert!(reason.contains("scalar operations") && reason.contains("10 are allowed"), "{reason}");
}

#[test]
fn what_copies_move_keeps_its_bound() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/copies.mlir");
    let model = model(&path, "diff-copies");
    let cpu = model.compiled(&model.text, "cpu", &CPU);
    let vmvx = model.compiled(&model.text, "vmvx", &VMVX);
    let (status, found) = model.diff(&[&vmvx, &cpu, "--mode=accumulated"]);
    assert_eq!(status, Some(0), "{found}");
    // What was copied is no tensor of the program's own, though no dispatch has written there.
    assert_eq!(found["own"].as_array().map(Vec::len), Some(0), "{found}");
    // The results differ, the copied one too, and by no more than what was copied.
    let results = found["results"].as_array().expect("results").iter();
    let verdicts: Vec<&Value> = results.map(|it| &it["verdict"]).collect();
    assert_eq!(verdicts, ["within"; 3], "{found}");
    let away = |it: &Value| it["differences"]["worst"]["difference"].as_f64().expect("a number");
    let copied = &found["results"][0];
    assert_eq!(away(copied), away(&found["dispatches"][0]["tensors"][0]), "{found}");
    assert_eq!(copied["tolerance"]["absolute"], away(copied), "{found}");
}

#[test]
fn a_run_is_compared_with_files() {
    let models = models("diff-golden");
    let model = models.iter().find(|it| it.name == "transformer").expect("it is there");
    let module = model.compiled(&model.text, "sound", &CPU);
    let golden = model.folder().join("golden");
    let _ = std::fs::remove_dir_all(&golden);
    std::fs::create_dir_all(&golden).expect("a folder");
    // What IREE itself returns.
    let right = model.oracle(&module);
    std::fs::write(golden.join("result0.npy"), &right).expect("it is written");
    let (status, found) = model.diff(&[&module, "--golden=golden"]);
    assert_eq!((status, &found["verdict"]), (Some(0), &"equal".into()), "{found}");

    // One element that is wrong, in a tensor by its name, and a file of no tensor.
    let (mut tensor, _) = abi::npy::read(&right).expect("an array");
    tensor.bytes[403] ^= 0x40;
    std::fs::write(golden.join("out.npy"), abi::npy::write(&tensor).expect("f32"))
        .expect("written");
    std::fs::write(golden.join("nothing.npy"), &right).expect("written");
    let (status, found) = model.diff(&[&module, "--golden=golden"]);
    assert_eq!((status, named(&found).as_str()), (Some(1), "%out"), "{found}");
    let bad = &found["dispatches"][0]["tensors"][0]["differences"];
    assert_eq!((&bad["beyond"], &bad["worst"]["index"]), (&1.into(), &vec![1, 36].into()));
    assert!(found["notes"].to_string().contains("has the name of nothing.npy"), "{found}");

    // As the source may have it: with other axes, in the same order. Files of no tensor are one
    // note.
    let (mut tensor, _) = abi::npy::read(&right).expect("an array");
    tensor.shape = vec![4, 4, 1, 64];
    std::fs::write(golden.join("out.npy"), abi::npy::write(&tensor).expect("f32"))
        .expect("written");
    for number in 0..20 {
        std::fs::write(golden.join(format!("none{number}.npy")), &right).expect("written");
    }
    let (status, found) = model.diff(&[&module, "--golden=golden"]);
    assert_eq!((status, &found["verdict"]), (Some(0), &"equal".into()), "{found}");
    assert_eq!(found["dispatches"][0]["verdict"], "equal", "{found}");
    let notes = found["notes"].as_array().expect("notes");
    assert_eq!(notes.len(), 1, "{found}");
    assert!(notes[0].to_string().contains("the name of 21 files: "), "{found}");

    // What another program has rounded otherwise is allowed.
    tensor.shape = vec![16, 64];
    for element in tensor.bytes.chunks_exact_mut(4).step_by(3) {
        element[0] ^= 1;
    }
    std::fs::write(golden.join("out.npy"), abi::npy::write(&tensor).expect("f32"))
        .expect("written");
    let (status, found) = model.diff(&[&module, "--golden=golden"]);
    assert_eq!((status, &found["verdict"]), (Some(0), &"within".into()), "{found}");

    // Another shape is no difference of numbers, and the result is compared nevertheless.
    let other = random("3x4xf32", "1.0", 1);
    std::fs::write(golden.join("out.npy"), abi::npy::write(&other).expect("f32")).expect("written");
    let (status, found) = model.diff(&[&module, "--golden=golden"]);
    assert_eq!((status, &found["verdict"]), (Some(3), &"equal".into()), "{found}");
    let reason = found["dispatches"][0]["reason"].to_string();
    assert!(reason.contains("has 3x4xf32, and the tensor is 16x64xf32"), "{reason}");
}

#[test]
fn what_cannot_be_compared_is_said() {
    let models = models("diff-refused");
    let model = models.iter().find(|it| it.name == "dynamic").expect("it is there");
    let module = model.compiled(&model.text, "sound", &CPU);
    let other = model.text.replace("@main", "@other");
    let other = model.compiled(&other, "other", &CPU);
    let refused = |arguments: &[&str]| {
        let inputs = model.input_flags();
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let output = IREE_DBG.run(&model.folder(), &[&["diff"], arguments, &inputs].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
        text(&output.stderr)
    };
    assert!(refused(&[&module, &other]).contains("side A calls @main, and side B @other"));
    let missing = refused(&[&module, &other, "--function=main"]);
    assert!(missing.contains("side B: there is no function \"main\""), "{missing}");
    assert!(refused(&[&module, "nowhere.vmfb"]).contains("nowhere.vmfb"));
    assert!(refused(&[&module, "--golden=nowhere"]).contains("nowhere"));
    assert!(refused(&[&module, "--mode=accumulated"]).contains("second side"));
    assert!(refused(&[&module, &module, "--reference"]).contains("--reference is side B"));
    assert!(refused(&[&module, "--reference", "--mode=bisect"]).contains("each dispatch alone"));
}

#[test]
fn a_page_loads_nothing_and_has_the_fault() {
    let models = models("diff-page");
    let model = models.iter().find(|it| it.name == "convolution").expect("it is there");
    let fault = model.faults.iter().find(|it| it.name == "stale").expect("it is there");
    let sound = model.compiled(&model.text, "sound", &CPU);
    let head = model.text.find("func.func").expect("a function");
    let text = model.text[..head].to_owned() + &model.text[head..].replace(&fault.from, &fault.to);
    let faulty = model.compiled(&text, "faulty", &CPU);
    let (status, found) = model.diff(&[&sound, &faulty, "--html=page.html"]);
    assert_eq!(status, Some(1), "{found}");
    // One channel of four has the stale weight.
    let pattern = &found["dispatches"][1]["tensors"][0]["differences"]["pattern"];
    assert!(pattern.to_string().contains("the last index of axis 2, 3"), "{pattern}");
    let page = std::fs::read_to_string(model.folder().join("page.html")).expect("the page");
    for part in ["<svg", "%cut", "DIFFERS", "prefers-color-scheme: dark", "sound.mlir:"] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["<script", "http:", "https:", "src=", "url("] {
        assert!(!page.contains(part), "{part}");
    }
}

/// A loop that one side runs once more.
const LOOP: &str = "
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %turns = util.optimization_barrier %n : index
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %end = scf.for %i = %c0 to %turns step %c1 iter_args(%a = %x) -> tensor<8x8xf32> {
    %next = linalg.matmul ins(%a, %x : tensor<8x8xf32>, tensor<8x8xf32>)
        outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  %last = linalg.matmul ins(%x, %end : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %last : tensor<8x8xf32>
}
";

#[test]
fn sides_that_go_apart_are_compared_as_far_as_they_are_the_same() {
    let model = Model {
        test: "diff-loop",
        name: "loop".to_owned(),
        text: LOOP.to_owned(),
        inputs: vec![("8x8xf32".to_owned(), "1.0".to_owned())],
        faults: Vec::new(),
        has_bytecode: true,
    };
    let sound = model.compiled(LOOP, "sound", &CPU);
    let longer = LOOP.replace("constant 3 : index", "constant 4 : index");
    let longer = model.compiled(&longer, "longer", &CPU);
    let (status, found) = model.diff(&[&sound, &sound]);
    assert_eq!(status, Some(0), "{found}");
    let (status, found) = model.diff(&[&sound, &longer]);
    assert!(found["notes"].to_string().contains("the sides go apart at command 7"), "{found}");
    let turns = found["dispatches"].as_array().expect("dispatches").iter().take(3);
    assert!({ turns }.all(|it| it["verdict"] == "equal"), "{found}");
    assert_eq!(status, Some(1), "{found}");
}

/// The first tensor that differs.
fn named(found: &Value) -> String {
    let Some(first) = found["first_bad"].as_u64() else {
        let results = found["results"].as_array().expect("results").iter();
        let is_bad = results.filter(|it| it["verdict"] == "differs").count() > 0;
        return if is_bad { "result".to_owned() } else { "nothing".to_owned() };
    };
    let mut dispatches = found["dispatches"].as_array().expect("dispatches").iter();
    let bad = dispatches.find(|it| it["number"] == first).expect("a dispatch");
    let tensors = bad["tensors"].as_array().expect("tensors");
    let bad = tensors.iter().find(|it| it["verdict"] == "differs").expect("a tensor");
    bad["names"][0].as_str().expect("a name").to_owned()
}
