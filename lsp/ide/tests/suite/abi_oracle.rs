//! The calling convention that a hover expects of an export, and the one that it has learnt from
//! iree-compile, against the one in the module that iree-compile makes of the same text, for types
//! of every kind. Needs iree-compile on the `PATH`, or named by `IREE_COMPILE`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ide::{AbiInquiry, Document, Language, Modules, hover};

/// Types that can be passed and returned.
const TYPES: &[&str] = &[
    "i1",
    "i2",
    "i4",
    "i7",
    "i8",
    "i16",
    "i17",
    "i24",
    "i31",
    "i32",
    "i64",
    "si8",
    "si16",
    "ui1",
    "ui8",
    "ui16",
    "index",
    "f16",
    "bf16",
    "tf32",
    "f32",
    "f64",
    "f8E4M3FN",
    "f8E5M2",
    "f8E4M3FNUZ",
    "f6E2M3FN",
    "f4E2M1FN",
    "vector<4xf32>",
    "vector<2x3xi8>",
    "vector<4xf64>",
    "tensor<f32>",
    "tensor<4xf32>",
    "tensor<?xi1>",
    "tensor<2x?xf64>",
    "tensor<4xi64>",
    "tensor<4xf16>",
    "tensor<4xi17>",
    "tensor<4xindex>",
    "tensor<4xui8>",
    "tensor<4xcomplex<f32>>",
    "!hal.buffer_view",
    "!hal.buffer",
    "!hal.fence",
    "!util.buffer",
    "!util.list<?>",
    "!vm.list<i32>",
    "!iree_input.buffer_view",
    "!number",
    "!matrix",
];

/// Types that can be passed; returned as they came, the compiler refuses them.
const ARGUMENTS: &[&str] = &["si32", "ui32", "si64", "ui64"];

/// What PyTorch's importer passes, and types beside it.
const TORCH: &[&str] = &[
    "!torch.vtensor<[4],f32>",
    "!torch.vtensor<[?,4],si64>",
    "!torch.vtensor<[2],f64>",
    "!torch.vtensor<[],f32>",
    "!torch.vtensor<[4],i1>",
    "!torch.int",
    "!torch.bool",
    "!torch.float",
];

/// Types that the compiler exports no function with.
const REFUSED: &[&str] = &["i33", "i65", "f128", "complex<f32>", "tensor<*xf32>"];

const ALIASES: &str = "!number = i17\n!matrix = tensor<4x?xf64>\n";

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn function(name: &str, parameters: &[&str], results: &[usize]) -> String {
    let list: Vec<_> =
        parameters.iter().enumerate().map(|(index, ty)| format!("%a{index}: {ty}")).collect();
    let types: Vec<_> = results.iter().map(|&index| parameters[index]).collect();
    let names: Vec<_> = results.iter().map(|index| format!("%a{index}")).collect();
    let returned = if results.is_empty() {
        "return".to_owned()
    } else {
        format!("return {} : {}", names.join(", "), types.join(", "))
    };
    format!(
        "func.func @{name}({}) -> ({}) {{\n  {returned}\n}}\n",
        list.join(", "),
        types.join(", ")
    )
}

/// A function of each type, then functions of a few types each.
fn program(types: &[&str], arguments: &[&str], count: usize) -> String {
    let mut text = String::new();
    let mut random = Random(7);
    for (index, ty) in types.iter().enumerate() {
        text += &function(&format!("one{index}"), &[ty], &[0]);
    }
    for index in types.len()..count {
        let mut parameters: Vec<&str> =
            (0..1 + random.below(5)).map(|_| types[random.below(types.len())]).collect();
        let own = parameters.len();
        let results: Vec<usize> = (0..random.below(4)).map(|_| random.below(own)).collect();
        for _ in 0..random.below(3) {
            parameters.extend(arguments.get(random.below(arguments.len().max(1))));
        }
        text += &function(&format!("some{index}"), &parameters, &results);
    }
    text
}

fn compiler() -> Command {
    Command::new(std::env::var("IREE_COMPILE").unwrap_or_else(|_| "iree-compile".into()))
}

fn compiled(text: &str, folder: &Path) -> Result<HashMap<String, String>, String> {
    let (source, module) = (folder.join("x.mlir"), folder.join("y.vmfb"));
    std::fs::write(&source, text).unwrap();
    let output = compiler()
        .arg(&source)
        .arg("-o")
        .arg(&module)
        .args(["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"])
        .output()
        .expect("iree-compile: install it with `pip install iree-base-compiler`");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let module = vmfb::Module::open(&module).unwrap();
    let exports = module.exports().iter().map(|export| {
        let signature = &module.function(export.function).unwrap().signature;
        (export.name.clone(), signature.calling_convention.clone().unwrap_or_default())
    });
    Ok(exports.collect())
}

fn document(text: &str) -> Document {
    Document::new(Language::Mlir, None, Arc::new(text.to_owned()))
}

/// Asks iree-compile about all exports of a text. Returns how often it was run.
fn ask(text: &str, modules: &Modules) -> usize {
    modules.ask_compiler("the compiler", "of the test");
    let document = document(text);
    let mut inquiry = AbiInquiry::new(0);
    let mut runs = 0;
    while let Some((run, text)) = inquiry.next_run(&document, modules) {
        runs += 1;
        let pipe = Stdio::piped;
        let mut command = compiler();
        command.args(run.flags()).args(["-", "-o", "-"]);
        let child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn();
        let mut child = child.expect("iree-compile");
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let is_right = output.status.success();
        inquiry.answer(modules, if is_right { Ok(output.stdout) } else { Err(output.stderr) });
    }
    runs
}

/// The hover of each function, by name.
fn hovers(text: &str, modules: &Modules) -> HashMap<String, String> {
    let document = document(text);
    let starts = text.match_indices("func.func @").map(|(at, found)| at + found.len());
    let shown = starts.map(|at| {
        let name = text[at..].split('(').next().unwrap().to_owned();
        (name, hover(&document, modules, at).unwrap().markdown)
    });
    shown.collect()
}

/// All conventions that hovers of a text show, by export.
fn shown(text: &str, modules: &Modules) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for (name, hover) in hovers(text, modules) {
        let code = |start: &str| {
            let (_, rest) = hover.split_once(start)?;
            Some(rest.split('`').next()?.to_owned())
        };
        let twin = format!("{name}$async");
        found.extend(code(&format!("`{twin}` `")).map(|code| (twin, code)));
        let code = code("**VM calling convention** `").unwrap_or_else(|| panic!("{name}: {hover}"));
        found.insert(name, code);
    }
    found
}

/// The number of exports, and where a hover differs: as expected, or as compiled.
fn differences(text: &str) -> (usize, String) {
    let folder = tempfile::tempdir().unwrap();
    let real = compiled(text, folder.path()).unwrap();
    let modules = Modules::default();
    let expected = shown(text, &modules);
    ask(text, &modules);
    for (name, hover) in hovers(text, &modules) {
        assert!(hover.contains("*As compiled: what the compiler makes"), "{name}: {hover}");
        assert!(!hover.contains("By the types alone"), "{name}: {hover}");
    }
    let mut out = String::new();
    for (kind, shown) in [("expected", expected), ("as compiled", shown(text, &modules))] {
        for (name, real) in &real {
            if shown.get(name) != Some(real) {
                let _ = writeln!(out, "{name}: {real}, and {kind} {:?}", shown.get(name));
            }
        }
        for name in shown.keys().filter(|name| !real.contains_key(*name)) {
            let _ = writeln!(out, "{name}: is not exported, and {kind}");
        }
    }
    (real.len(), out)
}

#[test]
fn one_that_is_refused_does_not_hide_the_others() {
    let text = "func.func @a(%a: i33) {\n  return\n}\nfunc.func @b(%a: i32) {\n  oops\n}\nfunc.func @c(%a: complex<f32>) {\n  return\n}\n";
    let modules = Modules::default();
    ask(text, &modules);
    let hovers = hovers(text, &modules);
    for refused in ["a", "c"] {
        let hover = &hovers[refused];
        assert!(hover.contains("*the compiler compiles no function with this"), "{hover}");
    }
    let hover = &hovers["b"];
    assert!(hover.contains("As compiled") && hover.contains("`0i_v`"), "{hover}");
    // All is known now, also after an edit of a body, and of one head a single function is not.
    assert_eq!(ask(text, &modules), 0);
    assert_eq!(ask(&text.replace("oops", "%0 = "), &modules), 0);
    assert_eq!(ask(&text.replace("i32", "i64"), &modules), 2);
}

#[test]
fn the_compiler_knows_more_than_the_types() {
    // StableHLO's importer takes tuples apart.
    let text = "func.func @f(%a: tensor<f32>, %b: tensor<f32>) -> tuple<tensor<f32>, tensor<f32>> {\n  %0 = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<f32>>\n  return %0 : tuple<tensor<f32>, tensor<f32>>\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let real = compiled(text, folder.path()).unwrap();
    assert_eq!(real["f"], "0rr_rr");
    let modules = Modules::default();
    ask(text, &modules);
    let hover = &hovers(text, &modules)["f"];
    assert!(hover.contains("**VM calling convention** `0rr_rr`"), "{hover}");
    assert!(hover.contains("By the types alone, `0rr_r` was expected"), "{hover}");
}

#[test]
fn two_hundred_exports_of_every_type() {
    let text = format!("{ALIASES}{}", program(TYPES, ARGUMENTS, 200));
    assert_eq!(differences(&text), (200, String::new()));
}

#[test]
fn exports_of_pytorch_programs_have_twins() {
    // Beside PyTorch's types, its importer takes few others.
    let types: Vec<&str> = TORCH
        .iter()
        .copied()
        .chain(["i32", "i64", "index", "f32", "f16", "tensor<4xf32>"])
        .collect();
    let text = program(&types, &[], 60);
    assert_eq!(differences(&text), (120, String::new()));
}

#[test]
fn refused_types_are_refused() {
    for ty in REFUSED {
        let text = function("f", &[ty], &[]);
        let folder = tempfile::tempdir().unwrap();
        assert!(compiled(&text, folder.path()).is_err(), "{ty}");
        let hover = &hovers(&text, &Modules::default())["f"];
        assert!(hover.contains("iree-compile exports no function"), "{ty}: {hover}");
    }
}

#[test]
fn types_of_other_dialects_are_unknown() {
    let hover = &hovers(
        "func.func @f(%a: !mine.thing, %b: i32) {\n  return\n}\n",
        &Modules::default(),
    )["f"];
    assert!(hover.contains("unknown before compiling"), "{hover}");
    assert!(!hover.contains("| iree.abi"), "{hover}");
}

#[test]
fn every_row_knows_what_the_compiler_demotes() {
    let text =
        "func.func @f(%a: f64, %b: tensor<4xf64>, %c: !torch.vtensor<[2],f64>) {\n  return\n}\n";
    let hover = &hovers(text, &Modules::default())["f"];
    let (_, rows) = hover.split_once("| ABI |").unwrap();
    assert!(!rows.contains("f64") && rows.contains("f32"), "{rows}");
    assert!(rows.contains("| iree.abi |") && rows.contains("| raw (f) |"), "{rows}");
}
