//! Damaged texts are refused, or have a value; they neither panic nor take for ever.

use std::path::Path;

use abi::tensor::{Tensor, TensorType};
use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};
use reference::{Argument, Dispatch, Elements, Module, Role, Settings};

/// All programs in `tests/programs` in one text.
fn programs() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// Evaluates every function of a text on zeros, with little work allowed.
fn evaluate_all(text: &str) -> usize {
    let module = Module::new(text);
    let mut evaluated = 0;
    for name in module.names() {
        let Ok(function) = module.dispatch(name) else { continue };
        let Some(arguments) = zeros(&function) else { continue };
        for with_bounds in [true, false] {
            let settings = Settings { with_bounds, most_operations: 3_000_000 };
            let Ok(outputs) = function.evaluate(&arguments, &settings) else { continue };
            evaluated += 1;
            for output in outputs {
                assert!(with_bounds || output.bounds.is_empty());
                assert!(!with_bounds || output.bounds.len() == output.values.len());
                assert_eq!(output.shape.iter().product::<usize>(), output.values.len());
                assert!(output.bounds.iter().all(|it| *it >= 0.0), "{name}: {:?}", output.bounds);
                if let Elements::Integers(values) = &output.values {
                    let bits = u32::from(output.element_type.bits);
                    let limit = 1_i128 << (bits - 1);
                    assert!(values.iter().all(|it| (-limit..limit).contains(&i128::from(*it))));
                }
            }
        }
    }
    evaluated
}

fn zeros(function: &Dispatch) -> Option<Vec<Argument>> {
    let mut arguments = Vec::new();
    for parameter in function.parameters() {
        if parameter.role == Role::Output {
            continue;
        }
        if parameter.role == Role::Scalar {
            arguments.push(Argument::Integer(1));
            continue;
        }
        let shape = parameter.shape.iter().map(|size| size.unwrap_or(2) as u64).collect();
        let type_ = TensorType { shape, element_type: parameter.element_type };
        let length = type_.byte_length(1 << 20).ok()?;
        let (shape, element_type) = (type_.shape, type_.element_type);
        arguments.push(Argument::Tensor(Tensor { shape, element_type, bytes: vec![0; length] }));
    }
    Some(arguments)
}

#[test]
fn undamaged_programs_are_evaluated() {
    assert!(evaluate_all(&programs()) > 60);
}

/// A change of a text: where, how much is removed, and what comes in its place.
#[derive(Clone, Debug)]
enum Change {
    Remove(usize, usize),
    Copy(usize, usize, usize),
    Insert(usize, String),
}

fn change() -> impl Strategy<Value = Change> {
    let words = prop::sample::select(vec![
        "0",
        "-1",
        "4294967295",
        "9223372036854775807",
        "%",
        "%r",
        "#map",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        "->",
        ":",
        ",",
        "?",
        "x",
        "i1",
        "i64",
        "f16",
        "f64",
        "index",
        "tensor<",
        "d0",
        " floordiv 0",
        "arith.divsi",
        "arith.shli",
        "math.powf",
        "scf.for",
        "\"",
        "\\",
        "\n",
        "é",
    ]);
    proptest::prop_oneof![
        (any::<usize>(), 1..40_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        (any::<usize>(), any::<usize>(), 1..60_usize)
            .prop_map(|(from, to, count)| Change::Copy(from, to, count)),
        (any::<usize>(), words).prop_map(|(at, word)| Change::Insert(at, word.to_owned())),
    ]
}

fn damage(text: &mut String, change: &Change) {
    let place = |text: &str, at: usize| {
        let mut at = at % (text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let end = |text: &str, from: usize, count: usize| place(text, (from + count).min(text.len()));
    match change {
        Change::Remove(at, count) => {
            let from = place(text, *at);
            let to = end(text, from, *count).max(from);
            text.replace_range(from..to, "");
        }
        Change::Copy(from, to, count) => {
            let from = place(text, *from);
            let part = text[from..end(text, from, *count).max(from)].to_owned();
            let to = place(text, *to);
            text.insert_str(to, &part);
        }
        Change::Insert(at, word) => text.insert_str(place(text, *at), word),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damaged_programs_do_not_panic(changes in prop::collection::vec(change(), 1..60)) {
        let mut text = programs();
        for change in &changes {
            damage(&mut text, change);
        }
        evaluate_all(&text);
    }
}

#[test]
fn a_map_without_brackets_is_refused() {
    let text = "func.func @f(%a: index) -> index {\n  %r = affine.apply affine_map}\n";
    assert!(Dispatch::parse(text, "f").is_err());
}

#[test]
fn what_nests_without_end_is_refused() {
    for (open, close) in [("(", ")"), ("[", "]"), ("-", "")] {
        let map = format!("{}d0{}", open.repeat(100_000), close.repeat(100_000));
        let text = format!(
            "func.func @f(%a: index) -> index {{\n  \
             %r = affine.apply affine_map<(d0) -> ({map})>(%a)\n  return %r : index\n}}\n"
        );
        assert!(Dispatch::parse(&text, "f").is_err());
    }
    let deep = "scf.if %c {\n".repeat(100_000);
    let text = format!("func.func @f(%c: i1) {{\n{deep}");
    assert!(Dispatch::parse(&text, "f").is_err());
    let dense = "[".repeat(100_000);
    let text = format!("func.func @f() {{\n%c = arith.constant dense<{dense}> : tensor<1xi8>\n");
    assert!(Dispatch::parse(&text, "f").is_err());
}

#[test]
fn more_work_than_allowed_is_refused_with_the_number() {
    let text = "func.func @f(%a: tensor<?xf32>, %n: index) -> tensor<?xf32> {\n  \
                %e = tensor.empty(%n) : tensor<?xf32>\n  return %e : tensor<?xf32>\n}\n";
    let function = Dispatch::parse(text, "f").unwrap();
    let tensor = Tensor::parse("1xf32=1", 100).unwrap();
    let arguments = [Argument::Tensor(tensor), Argument::Integer(1 << 60)];
    let refusal = function.evaluate(&arguments, &Settings::default()).unwrap_err();
    assert_eq!(refusal.kind, reference::RefusalKind::Limit);
    assert_eq!(refusal.line, 2);
    assert!(refusal.to_string().contains("are allowed"), "{refusal}");
}

#[test]
fn tensors_with_encodings_are_refused() {
    // Their bytes are laid out for a target, so that plain elements would be a wrong reading.
    let text = "func.func @f(%a: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x4xf32, #e>>) \
                {\n  return\n}\n";
    let refusal = Dispatch::parse(text, "f").unwrap_err();
    assert_eq!(refusal.kind, reference::RefusalKind::Unsupported, "{refusal}");
    assert!(refusal.reason.contains("encoding"), "{refusal}");
}

#[test]
fn what_is_not_evaluated_is_named() {
    for (line, name) in [
        ("%r = linalg.winograd_output_transform ins(%a)", "linalg.winograd_output_transform"),
        ("%r = arith.constant dense_resource<w> : tensor<2xf32>", "arith.constant"),
        ("%r = foreign.thing %a : f32", "foreign.thing"),
    ] {
        let text = format!("func.func @f(%a: f32) {{\n\n  {line}\n  return\n}}\n");
        let refusal = Dispatch::parse(&text, "f").unwrap_err();
        assert_eq!((refusal.operation.as_str(), refusal.line), (name, 3), "{refusal}");
        assert_eq!(refusal.kind, reference::RefusalKind::Unsupported, "{refusal}");
    }
}
