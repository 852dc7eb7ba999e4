//! `iree-dbg diff` on random programs: of sound modules no dispatch is accused, whatever they are
//! compiled for, and a fault in the text is found, whatever masks, types and sizes are beside it.
//!
//! A program has a function for each kind below, with sizes, types and constants that are drawn. In
//! its faulty text each has one fault. That this is one, iree-run-module says. `BOUNDS_COUNT` draws
//! more programs, `BOUNDS_SEED` others. Needs IREE's tools: `pip install iree-base-compiler
//! iree-base-runtime`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::program::{IREE_DBG, scratch};

/// Numbers without a pattern (Knuth's generator).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// From -1 to 1.
    fn unit(&mut self) -> f64 {
        self.next() as f64 / f64::from(1_u32 << 31) * 2.0 - 1.0
    }
}

/// A function, its inputs, and the text that is replaced in the faulty program.
struct Function {
    name: String,
    body: String,
    inputs: Vec<(String, f64)>,
    fault: (String, String),
    is_half: bool,
}

/// `n` dimensions, all of which are loops of one kind.
fn same(n: usize, kind: &str) -> String {
    let all = vec![format!("\"{kind}\""); n];
    format!("iterator_types = [{}]", all.join(", "))
}

/// Scores with a scale and a mask, and a softmax of them.
fn attention(draw: &mut Draw, name: &str) -> Function {
    let (n, k) = (draw.of(&[8, 16]), draw.of(&[8, 32]));
    // For a generic processor IREE has no maximum of f16.
    let t = draw.of(&["f32", "bf16"]);
    let masked = draw.of(&["-1.0e+04", "-3.0e+04"]);
    let body = format!(
        "func.func @{name}(%q: tensor<{n}x{k}x{t}>, %k: tensor<{n}x{k}x{t}>,
    %m: tensor<{n}x{n}x{t}>) -> tensor<{n}x{n}x{t}> {{
  %c0 = arith.constant 0.0 : {t}
  %scale = arith.constant 0.25 : {t}
  %neg = arith.constant {masked} : {t}
  %e = tensor.empty() : tensor<{n}x{n}x{t}>
  %z = linalg.fill ins(%c0 : {t}) outs(%e : tensor<{n}x{n}x{t}>) -> tensor<{n}x{n}x{t}>
  %s = linalg.generic {{indexing_maps = [affine_map<(i, j, r) -> (i, r)>,
      affine_map<(i, j, r) -> (j, r)>, affine_map<(i, j, r) -> (i, j)>],
      iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}}
      ins(%q, %k : tensor<{n}x{k}x{t}>, tensor<{n}x{k}x{t}>) outs(%z : tensor<{n}x{n}x{t}>) {{
  ^bb0(%a: {t}, %b: {t}, %o: {t}):
    %p = arith.mulf %a, %b : {t}
    %r = arith.addf %p, %o : {t}
    linalg.yield %r : {t}
  }} -> tensor<{n}x{n}x{t}>
  %w = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], {kinds}}}
      ins(%s, %m : tensor<{n}x{n}x{t}>, tensor<{n}x{n}x{t}>) outs(%e : tensor<{n}x{n}x{t}>) {{
  ^bb0(%a: {t}, %b: {t}, %o: {t}):
    %p = arith.mulf %a, %scale : {t}
    %is = arith.cmpf ogt, %b, %c0 : {t}
    %r = arith.select %is, %p, %neg : {t}
    linalg.yield %r : {t}
  }} -> tensor<{n}x{n}x{t}>
  %y = linalg.softmax dimension(1) ins(%w : tensor<{n}x{n}x{t}>)
      outs(%e : tensor<{n}x{n}x{t}>) -> tensor<{n}x{n}x{t}>
  return %y : tensor<{n}x{n}x{t}>
}}
",
        kinds = same(2, "parallel"),
    );
    let given = |shape: String, scale| (format!("{shape}x{t}"), scale);
    let inputs = vec![
        given(format!("{n}x{k}"), 2.0),
        given(format!("{n}x{k}"), 2.0),
        given(format!("{n}x{n}"), 1.0),
    ];
    // A product becomes a sum, or no score is masked.
    let faults = [
        (format!("arith.mulf %a, %scale : {t}"), format!("arith.addf %a, %scale : {t}")),
        ("arith.select %is, %p, %neg".to_owned(), "arith.select %is, %p, %p".to_owned()),
    ];
    let [sum, unmasked] = faults;
    let fault = if draw.below(2) == 0 { sum } else { unmasked };
    Function { name: name.to_owned(), body, inputs, fault, is_half: t != "f32" }
}

/// A batch of products with weights, one of which is stale.
fn batch(draw: &mut Draw, name: &str) -> Function {
    let (b, m, k, n) = (draw.of(&[2, 24]), 4, draw.of(&[8, 16]), draw.of(&[4, 8]));
    let mut weights: Vec<f64> = (0..b * k * n).map(|_| draw.unit()).collect();
    let text = |weights: &[f64]| {
        let bytes = weights.iter().flat_map(|it| (*it as f32).to_le_bytes());
        let hexadecimal: String = bytes.map(|it| format!("{it:02X}")).collect();
        format!("dense<\"0x{hexadecimal}\">")
    };
    let right = text(&weights);
    let stale = draw.below((b * k * n) as u64) as usize;
    weights[stale] += 1e-4;
    let wrong = text(&weights);
    let body = format!(
        "func.func @{name}(%a: tensor<{b}x{m}x{k}xf32>) -> tensor<{b}x{m}x{n}xf32> {{
  %c0 = arith.constant 0.0 : f32
  %b = arith.constant {right} : tensor<{b}x{k}x{n}xf32>
  %e = tensor.empty() : tensor<{b}x{m}x{n}xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<{b}x{m}x{n}xf32>) -> tensor<{b}x{m}x{n}xf32>
  %y = linalg.batch_matmul ins(%a, %b : tensor<{b}x{m}x{k}xf32>, tensor<{b}x{k}x{n}xf32>)
      outs(%z : tensor<{b}x{m}x{n}xf32>) -> tensor<{b}x{m}x{n}xf32>
  return %y : tensor<{b}x{m}x{n}xf32>
}}
"
    );
    let inputs = vec![(format!("{b}x{m}x{k}xf32"), 1.0)];
    Function { name: name.to_owned(), body, inputs, fault: (right, wrong), is_half: false }
}

/// A layer normalisation, with another epsilon or a difference that is a sum.
fn normalised(draw: &mut Draw, name: &str) -> Function {
    let (m, n) = (draw.of(&[3, 8]), draw.of(&[16, 64]));
    let scale = 1.0 / n as f64;
    let body = format!(
        "func.func @{name}(%x: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %c0 = arith.constant 0.0 : f32
  %n = arith.constant {scale:?} : f32
  %eps = arith.constant 1.0e-05 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %v = tensor.empty() : tensor<{m}xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%v : tensor<{m}xf32>) -> tensor<{m}xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]}}
      ins(%x : tensor<{m}x{n}xf32>) outs(%z : tensor<{m}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  }} -> tensor<{m}xf32>
  %q = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = [\"parallel\", \"reduction\"]}}
      ins(%x, %s : tensor<{m}x{n}xf32>, tensor<{m}xf32>) outs(%z : tensor<{m}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %mean = arith.mulf %b, %n : f32
    %d = arith.subf %a, %mean : f32
    %p = arith.mulf %d, %d : f32
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  }} -> tensor<{m}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      {kinds}}} ins(%x, %s, %q : tensor<{m}x{n}xf32>, tensor<{m}xf32>, tensor<{m}xf32>)
      outs(%e : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %mean = arith.mulf %b, %n : f32
    %d = arith.subf %a, %mean : f32
    %var = arith.mulf %c, %n : f32
    %plus = arith.addf %var, %eps : f32
    %root = math.rsqrt %plus : f32
    %r = arith.mulf %d, %root : f32
    linalg.yield %r : f32
  }} -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}
",
        kinds = same(2, "parallel"),
    );
    let faults = [
        ("1.0e-05 : f32", "1.0e-02 : f32"),
        ("arith.addf %var, %eps", "arith.subf %var, %eps"),
        ("math.rsqrt %plus", "math.sqrt %plus"),
    ];
    let (from, to) = draw.of(&faults);
    let inputs = vec![(format!("{m}x{n}xf32"), draw.of(&[0.01, 1.0]))];
    let fault = (from.to_owned(), to.to_owned());
    Function { name: name.to_owned(), body, inputs, fault, is_half: false }
}

/// A convolution with a clamp.
fn convolution(draw: &mut Draw, name: &str) -> Function {
    let (h, c, f) = (draw.of(&[6, 9]), draw.of(&[2, 4]), draw.of(&[3, 8]));
    let o = h - 2;
    let body = format!(
        "func.func @{name}(%x: tensor<1x{h}x{h}x{c}xf32>, %w: tensor<3x3x{c}x{f}xf32>)
    -> tensor<1x{o}x{o}x{f}xf32> {{
  %c0 = arith.constant 0.0 : f32
  %bias = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<1x{o}x{o}x{f}xf32>
  %z = linalg.fill ins(%bias : f32) outs(%e : tensor<1x{o}x{o}x{f}xf32>)
      -> tensor<1x{o}x{o}x{f}xf32>
  %s = linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : tensor<2xi64>,
      strides = dense<1> : tensor<2xi64>}}
      ins(%x, %w : tensor<1x{h}x{h}x{c}xf32>, tensor<3x3x{c}x{f}xf32>)
      outs(%z : tensor<1x{o}x{o}x{f}xf32>) -> tensor<1x{o}x{o}x{f}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
      affine_map<(a, b, c, d) -> (a, b, c, d)>], {kinds}}}
      ins(%s : tensor<1x{o}x{o}x{f}xf32>) outs(%e : tensor<1x{o}x{o}x{f}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %c0 : f32
    linalg.yield %r : f32
  }} -> tensor<1x{o}x{o}x{f}xf32>
  return %y : tensor<1x{o}x{o}x{f}xf32>
}}
",
        kinds = same(4, "parallel"),
    );
    let faults = [("0.125 : f32", "0.1251 : f32"), ("arith.maximumf", "arith.minimumf")];
    let (from, to) = draw.of(&faults);
    let inputs = vec![(format!("1x{h}x{h}x{c}xf32"), 1.0), (format!("3x3x{c}x{f}xf32"), 1.0)];
    let fault = (from.to_owned(), to.to_owned());
    Function { name: name.to_owned(), body, inputs, fault, is_half: false }
}

/// Floats rounded to small integers.
fn quantised(draw: &mut Draw, name: &str) -> Function {
    let n = draw.of(&[128, 640]);
    let body = format!(
        "func.func @{name}(%x: tensor<{n}xf32>) -> tensor<{n}xi8> {{
  %scale = arith.constant 31.75 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %e = tensor.empty() : tensor<{n}xi8>
  %y = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      {kinds}}} ins(%x : tensor<{n}xf32>) outs(%e : tensor<{n}xi8>) {{
  ^bb0(%a: f32, %o: i8):
    %m = arith.mulf %a, %scale : f32
    %t = math.exp %m : f32
    %l = math.log %t : f32
    %r = math.roundeven %l : f32
    %c = arith.maximumf %r, %low : f32
    %d = arith.minimumf %c, %high : f32
    %i = arith.fptosi %d : f32 to i8
    linalg.yield %i : i8
  }} -> tensor<{n}xi8>
  return %y : tensor<{n}xi8>
}}
",
        kinds = same(1, "parallel"),
    );
    let fault = ("31.75 : f32".to_owned(), "31.85 : f32".to_owned());
    let inputs = vec![(format!("{n}xf32"), 2.0)];
    Function { name: name.to_owned(), body, inputs, fault, is_half: false }
}

/// Sums of half precision or of large numbers.
fn sums(draw: &mut Draw, name: &str) -> Function {
    let (m, n) = (draw.of(&[4, 5]), draw.of(&[32, 200]));
    let t = draw.of(&["f32", "f16", "bf16"]);
    let scale = if t == "f32" { draw.of(&[1.0, 1e7]) } else { 1.0 };
    let body = format!(
        "func.func @{name}(%x: tensor<{m}x{n}x{t}>) -> tensor<{m}x{t}> {{
  %c0 = arith.constant 0.0 : {t}
  %v = tensor.empty() : tensor<{m}x{t}>
  %z = linalg.fill ins(%c0 : {t}) outs(%v : tensor<{m}x{t}>) -> tensor<{m}x{t}>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]}}
      ins(%x : tensor<{m}x{n}x{t}>) outs(%z : tensor<{m}x{t}>) {{
  ^bb0(%a: {t}, %o: {t}):
    %p = math.absf %a : {t}
    %r = arith.addf %p, %o : {t}
    linalg.yield %r : {t}
  }} -> tensor<{m}x{t}>
  return %y : tensor<{m}x{t}>
}}
"
    );
    // The sum of magnitudes becomes one of both signs.
    let fault = (format!("math.absf %a : {t}"), format!("arith.negf %a : {t}"));
    let inputs = vec![(format!("{m}x{n}x{t}"), scale)];
    Function { name: name.to_owned(), body, inputs, fault, is_half: t != "f32" }
}

const KINDS: [fn(&mut Draw, &str) -> Function; 6] =
    [attention, batch, normalised, convolution, quantised, sums];

/// What a program is compiled for.
const TARGETS: [(&str, &[&str]); 3] = [
    ("host", &["llvm-cpu", "--iree-llvmcpu-target-cpu=host"]),
    ("generic", &["llvm-cpu", "--iree-llvmcpu-target-cpu=generic"]),
    ("vmvx", &["vmvx"]),
];

fn command(folder: &Path, program: &str, arguments: &[String]) -> Output {
    Command::new(program).current_dir(folder).args(arguments).output().expect("it starts")
}

fn compiled(folder: &Path, text: &str, name: &str, flags: &[&str]) -> String {
    std::fs::write(folder.join(format!("{name}.mlir")), text).expect("it is written");
    let module = format!("{name}.vmfb");
    let mut arguments: Vec<String> =
        ["compile", &format!("{name}.mlir"), "-o", &module, "--"].map(str::to_owned).into();
    arguments.push("--iree-hal-target-device=local".to_owned());
    arguments.push(format!("--iree-hal-local-target-device-backends={}", flags[0]));
    arguments.extend(flags[1..].iter().map(|it| (*it).to_owned()));
    let output = command(folder, IREE_DBG.path(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    module
}

/// Writes the inputs of a function; returns the flags that name them.
fn inputs(folder: &Path, function: &Function, draw: &mut Draw) -> Vec<String> {
    let mut flags = Vec::new();
    for (index, (ty, scale)) in function.inputs.iter().enumerate() {
        let tensor_type = abi::tensor::TensorType::parse(ty).expect("a type");
        let count = tensor_type.element_count().expect("not too many");
        let values: Vec<String> =
            (0..count).map(|_| format!("{:.6}", draw.unit() * scale)).collect();
        let tensor = abi::tensor::Tensor::parse(&format!("{ty}={}", values.join(",")), 1 << 24);
        let name = format!("{}-{index}.bin", function.name);
        std::fs::write(folder.join(&name), tensor.expect("a tensor").bytes).expect("written");
        flags.push(format!("--input={ty}=@{name}"));
    }
    flags
}

fn diff(folder: &Path, sides: &[&str], name: &str, inputs: &[String]) -> (Option<i32>, Value) {
    let mut arguments: Vec<String> = ["diff", "--json"].map(str::to_owned).into();
    arguments.extend(sides.iter().map(|it| (*it).to_owned()));
    arguments.push(format!("--function={name}"));
    arguments.extend(inputs.iter().cloned());
    let output = command(folder, IREE_DBG.path(), &arguments);
    let json = serde_json::from_slice(&output.stdout);
    let json = json.unwrap_or_else(|error| {
        panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(&output.stderr))
    });
    (output.status.code(), json)
}

/// The bytes that iree-run-module returns.
fn oracle(folder: &Path, module: &str, name: &str, inputs: &[String]) -> Vec<u8> {
    let mut arguments = vec![format!("--module={module}"), format!("--function={name}")];
    arguments.push("--device=local-sync".to_owned());
    arguments.extend(inputs.iter().cloned());
    arguments.push("--output=@oracle.bin".to_owned());
    let output = command(folder, "iree-run-module", &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(folder.join("oracle.bin")).expect("a result")
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|it| it.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn no_sound_program_is_accused_and_faults_are_found() {
    let (seed, count) = (number("BOUNDS_SEED", 1), number("BOUNDS_COUNT", 2));
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for number in 0..count {
        let mut draw = Draw(seed.wrapping_add(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let folder: PathBuf = scratch(&format!("bounds-{number}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let functions: Vec<Function> = KINDS
            .iter()
            .enumerate()
            .map(|(index, kind)| kind(&mut draw, &format!("f{index}")))
            .collect();
        let text = |of: &dyn Fn(&&Function) -> bool| -> String {
            functions.iter().filter(of).map(|it| it.body.as_str()).collect()
        };
        let faulty: String = functions
            .iter()
            .map(|it| {
                assert!(it.body.contains(&it.fault.0), "{}: {}", it.name, it.fault.0);
                it.body.replacen(&it.fault.0, &it.fault.1, 1)
            })
            .collect();
        // VMVX has no arithmetic of half precision.
        let modules = TARGETS.map(|(name, flags)| {
            let is_meant = |it: &&Function| name != "vmvx" || !it.is_half;
            compiled(&folder, &text(&is_meant), name, flags)
        });
        let faulty = compiled(&folder, &faulty, "faulty", TARGETS[0].1);
        for function in &functions {
            let inputs = inputs(&folder, function, &mut draw);
            let mut pairs = vec![(0, 1), (1, 0)];
            if !function.is_half {
                pairs.extend([(0, 2), (2, 1)]);
            }
            for (a, b) in pairs {
                let sides = [modules[a].as_str(), &modules[b]];
                let (status, found) = diff(&folder, &sides, &function.name, &inputs);
                if status != Some(0) {
                    wrong.push(format!("{number}: {sides:?} {}: {found}", function.body));
                }
                compared += 1;
            }
            // The program with itself, and each dispatch with its text.
            for sides in [&[modules[0].as_str(), &modules[0]][..], &[&modules[0], "--reference"]] {
                let (status, found) = diff(&folder, sides, &function.name, &inputs);
                if status != Some(0) {
                    wrong.push(format!("{number}: {sides:?} {}: {found}", function.body));
                }
            }
            let right = oracle(&folder, &modules[0], &function.name, &inputs);
            if oracle(&folder, &faulty, &function.name, &inputs) == right {
                continue;
            }
            let (status, found) = diff(&folder, &[&modules[0], &faulty], &function.name, &inputs);
            if status != Some(1) {
                let (from, to) = &function.fault;
                let fault = if from.len() > 99 { "a weight" } else { &format!("{from} -> {to}") };
                wrong.push(format!("{number}: missed {fault} in {}: {found}", function.body));
            }
        }
    }
    println!("{compared} pairs of sound functions were compared");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}
