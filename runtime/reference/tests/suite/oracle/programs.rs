//! The functions in `tests/programs`: each is evaluated in its own text, compiled and run on both
//! back ends. Where the compiler makes one dispatch of a function, this one is evaluated too, on
//! the same arguments.

use std::path::Path;

use abi::tensor::{Tensor, TensorType};
use reference::{Argument, Dispatch, Elements, Module, Role, Settings};

use super::tools::{BACK_ENDS, Compiled, Random, check, flow};

#[test]
fn results_lie_within_their_bounds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    let mut dispatches = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        dispatches += program(&file.display().to_string(), &text);
    }
    assert!(dispatches >= 30, "only {dispatches} dispatches have been compared");
}

/// The programs that other tests of this repository run.
#[test]
fn dispatches_of_models_are_covered() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut all = reference::Coverage::default();
    for name in ["contractions", "dynamic", "elementwise", "half_floats", "narrow_types"] {
        let text = std::fs::read_to_string(tests.join(format!("models/{name}.mlir"))).unwrap();
        let coverage = Module::new(&flow(&text)).coverage();
        all.covered += coverage.covered;
        all.uncovered.extend(coverage.uncovered);
    }
    println!("{all}");
    assert!(all.covered >= 30 && all.share() >= 0.95, "{all}");
}

/// Values are the same without bounds, except that what overflows is not known to.
fn assert_same(plain: &Elements, bounded: &Elements, what: &str) {
    let (Elements::Floats(plain), Elements::Floats(bounded)) = (plain, bounded) else {
        return assert_eq!(plain, bounded, "{what}");
    };
    assert_eq!(plain.len(), bounded.len(), "{what}");
    for (plain, bounded) in plain.iter().zip(bounded) {
        let is_beyond = plain.abs() > f64::from(f32::MAX) && plain.signum() == bounded.signum();
        let is_overflow = bounded.is_infinite() && is_beyond;
        let is_same = plain.to_bits() == bounded.to_bits() || plain.is_nan() && bounded.is_nan();
        assert!(is_same || is_overflow, "{what}: {plain} and {bounded}");
    }
}

/// Checks all functions of a program; how many of their dispatches have been compared.
fn program(file: &str, text: &str) -> usize {
    let module = Module::new(text);
    let is_meant = |end: &&(&str, &str)| {
        text.lines().all(|line| !line.starts_with("// ONLY: ") || line.contains(end.0))
    };
    let compiled: Vec<_> = BACK_ENDS
        .iter()
        .filter(is_meant)
        .map(|end| (end.0, Compiled::new(text, *end).unwrap_or_else(|it| panic!("{file}: {it}"))))
        .collect();
    let flow = flow(text);
    let coverage = Module::new(&flow).coverage();
    assert!(coverage.uncovered.is_empty(), "{file}: {coverage}");
    let mut dispatches = 0;
    for name in module.names() {
        let what = format!("{file}: @{name}");
        let function = module.dispatch(name).unwrap_or_else(|it| panic!("{what}: {it}"));
        let inputs = inputs(text, name, &function);
        let arguments: Vec<_> = inputs.iter().cloned().map(Argument::Tensor).collect();
        let outputs = function.evaluate(&arguments, &Settings::default());
        let outputs = outputs.unwrap_or_else(|it| panic!("{what}: {it}"));
        let exact = Settings { with_bounds: false, ..Settings::default() };
        if let Ok(plain) = function.evaluate(&arguments, &exact) {
            for (plain, output) in plain.iter().zip(&outputs) {
                assert_same(&plain.values, &output.values, &what);
            }
        }
        let single = single_dispatch(&flow, name, &inputs);
        for (back_end, module) in &compiled {
            let results = module.run(name, &inputs, outputs.len());
            for (at, (output, bytes)) in outputs.iter().zip(&results).enumerate() {
                let what = format!("{what} on {back_end}, result {at}");
                let found = check(output, bytes);
                let (most, unstable) = found.unwrap_or_else(|it| panic!("{what}: {it}"));
                println!("{what}: {most:.3} of the bound, {unstable} unstable; {}", output.reason);
                assert!(unstable * 4 <= output.values.len(), "{what}: {unstable} unstable");
            }
            let Some(dispatch) = &single else { continue };
            let arguments: Vec<_> = arguments.clone();
            let found = dispatch.evaluate(&arguments, &Settings::default());
            let found = found.unwrap_or_else(|it| panic!("{what}, as a dispatch: {it}"));
            for (output, bytes) in found.iter().zip(&results) {
                let found = check(output, bytes);
                found.unwrap_or_else(|it| panic!("{what} on {back_end}, as a dispatch: {it}"));
            }
            dispatches += 1;
        }
    }
    dispatches
}

/// The only dispatch of a function, if it takes the function's own arguments.
fn single_dispatch(flow: &str, function: &str, inputs: &[Tensor]) -> Option<Dispatch> {
    let module = Module::new(flow);
    let is_its = |name: &&&str| name.starts_with(&format!("{function}_dispatch_"));
    let mut names = module.names().iter().filter(is_its);
    let (Some(name), None) = (names.next(), names.next()) else { return None };
    let body = flow.split_once(&format!("util.func public @{function}("))?.1;
    let body = &body[..body.find("util.return")?];
    let dispatch = module.dispatch(name).unwrap();
    let wanted = dispatch.parameters();
    let wanted: Vec<_> = wanted.iter().filter(|it| it.role != Role::Output).collect();
    let fits = wanted.len() == inputs.len()
        && wanted.iter().zip(inputs).all(|(wanted, input)| {
            let shape: Vec<_> = input.shape.iter().map(|size| Some(*size as usize)).collect();
            wanted.shape == shape && wanted.element_type == input.element_type
        });
    // Its operands are the arguments in their order, and its results those of the function.
    let call = body.lines().find(|line| line.contains("flow.dispatch "))?;
    let operands = call.split_once('(')?.1.split_once(')')?.0;
    let expected: Vec<_> = (0..inputs.len()).map(|at| format!("%{at}")).collect();
    let lines = body.lines().filter(|line| line.contains("flow.tensor")).count();
    (fits && operands == expected.join(", ") && lines == 0).then_some(dispatch)
}

/// The inputs that a comment gives, such as `// @f: 4xf32=1,2,3,4 4xi32`; others are random.
fn inputs(text: &str, name: &str, function: &Dispatch) -> Vec<Tensor> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ name.len() as u64);
    let prefix = format!("// @{name}: ");
    if let Some(line) = text.lines().find_map(|line| line.strip_prefix(&prefix)) {
        let one = |text: &str| match text.contains('=') {
            true => Tensor::parse(text, 1 << 20).unwrap(),
            false => random.tensor(text),
        };
        return line.split(' ').map(one).collect();
    }
    let parameters = function.parameters();
    let tensors = parameters.iter().map(|parameter| {
        let shape = parameter.shape.iter().map(|size| size.expect("a fixed shape") as u64);
        let type_ = TensorType { shape: shape.collect(), element_type: parameter.element_type };
        random.tensor(&type_.to_string())
    });
    tensors.collect()
}
