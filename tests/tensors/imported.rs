//! A model as iree-import-onnx writes it: the dialect `torch`, sizes that are only known when the
//! program runs, weights in the source, paddings, strides, a mean over what the compiler joins,
//! and softmax. Each layer has as many channels as the others.

use std::fmt::Write;

use crate::models::{Model, argument};

/// The type of most tensors.
const IMAGE: &str = "!torch.vtensor<[?,8,?,?],f32>";
/// The type after the mean.
const CHANNELS: &str = "!torch.vtensor<[?,8,1,1],f32>";
const LINE: &str = "!torch.vtensor<[?,8],f32>";

/// The model, and its argument.
pub(crate) fn classifier() -> Model {
    let mut text = format!(
        "module {{\n  func.func @main(%x: {IMAGE}) -> {LINE} attributes \
         {{torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64}} {{\n"
    );
    let mut add = |name: &str, operation: &str| {
        let _ = writeln!(text, "    %{name} = {operation}");
    };
    let mut seed = 100;
    for (name, sizes) in [
        ("w1", "8,8,3,3"),
        ("w2", "8,8,1,1"),
        ("w3", "8,1,3,3"),
        ("w4", "8,8,1,1"),
        ("w5", "8,8,3,3"),
        ("w6", "8,8"),
        ("scale", "8"),
        ("shift", "8"),
        ("mean", "8"),
        ("bias", "8"),
    ] {
        seed += 1;
        add(name, &weights(sizes, seed, 0.0));
    }
    // A variance is not negative.
    add("variance", &weights("8", 7, 2.0));
    convolved(&mut add, "a", ("x", "w1"), (1, 1, [2, 2]));
    normed(&mut add, "an", "a");
    add("ar", &format!("torch.operator \"onnx.Relu\"(%an) : ({IMAGE}) -> {IMAGE}"));
    convolved(&mut add, "b", ("ar", "w2"), (1, 0, [1, 1]));
    normed(&mut add, "bn", "b");
    add("br", &format!("torch.operator \"onnx.Relu\"(%bn) : ({IMAGE}) -> {IMAGE}"));
    convolved(&mut add, "c", ("br", "w3"), (8, 1, [2, 1]));
    normed(&mut add, "cn", "c");
    add("cr", &format!("torch.operator \"onnx.Relu\"(%cn) : ({IMAGE}) -> {IMAGE}"));
    add("m", &format!("torch.operator \"onnx.GlobalAveragePool\"(%cr) : ({IMAGE}) -> {CHANNELS}"));
    let (one, types) =
        ("1 : si64, 1 : si64", format!("({CHANNELS}, !torch.vtensor<[8,8,1,1],f32>)"));
    add(
        "e",
        &format!(
            "torch.operator \"onnx.Conv\"(%m, %w4) {{torch.onnx.group = 1 : si64, \
             torch.onnx.kernel_shape = [{one}], torch.onnx.strides = [{one}]}} : {types} -> {CHANNELS}"
        ),
    );
    add(
        "g",
        &format!(
            "torch.operator \"onnx.HardSigmoid\"(%e) {{torch.onnx.alpha = 2.000000e-01 : f32, \
             torch.onnx.beta = 5.000000e-01 : f32}} : ({CHANNELS}) -> {CHANNELS}"
        ),
    );
    let both = format!("({IMAGE}, {CHANNELS}) -> {IMAGE}");
    add("h", &format!("torch.operator \"onnx.Mul\"(%cr, %g) : {both}"));
    convolved(&mut add, "k", ("h", "w5"), (1, 1, [1, 1]));
    let both = format!("({IMAGE}, {IMAGE}) -> {IMAGE}");
    add("s", &format!("torch.operator \"onnx.Add\"(%k, %cr) : {both}"));
    add("p", &format!("torch.operator \"onnx.GlobalAveragePool\"(%s) : ({IMAGE}) -> {CHANNELS}"));
    add(
        "f",
        &format!(
            "torch.operator \"onnx.Flatten\"(%p) {{torch.onnx.axis = 1 : si64}} : ({CHANNELS}) -> \
             {LINE}"
        ),
    );
    let gemm = format!("({LINE}, !torch.vtensor<[8,8],f32>, !torch.vtensor<[8],f32>) -> {LINE}");
    add("l", &format!("torch.operator \"onnx.Gemm\"(%f, %w6, %bias) : {gemm}"));
    add(
        "y",
        &format!(
            "torch.operator \"onnx.Softmax\"(%l) {{torch.onnx.axis = 1 : si64}} : ({LINE}) -> {LINE}"
        ),
    );
    let _ = write!(text, "    return %y : {LINE}\n  }}\n}}\n");
    // Stack memory of a size that is only known when the program runs is too much for VMVX.
    let inputs = vec![argument("2x8x9x11xf32", 5)];
    Model { name: "classifier", text, inputs, trap: false, has_bytecode: false }
}

/// Numbers as a constant of the source.
fn weights(sizes: &str, seed: u64, above: f32) -> String {
    let shape = format!("{}xf32", sizes.replace(',', "x"));
    let numbers = argument(&shape, seed);
    let (_, numbers) = numbers.split_once('=').unwrap_or_default();
    let sizes: Vec<usize> = sizes.split(',').filter_map(|it| it.parse().ok()).collect();
    let mut numbers = numbers.split(',').filter_map(|it| Some(it.parse::<f32>().ok()? + above));
    let mut text = String::new();
    nested(&sizes, &mut numbers, &mut text);
    let list = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    format!("torch.vtensor.literal(dense<{text}> : tensor<{shape}>) : !torch.vtensor<[{list}],f32>")
}

fn nested(sizes: &[usize], numbers: &mut dyn Iterator<Item = f32>, text: &mut String) {
    let Some((count, inner)) = sizes.split_first() else {
        let _ = write!(text, "{:.4}", numbers.next().unwrap_or_default());
        return;
    };
    text.push('[');
    for at in 0..*count {
        text.push_str(if at > 0 { ", " } else { "" });
        nested(inner, numbers, text);
    }
    text.push(']');
}

/// A convolution with groups, padding and strides.
fn convolved(
    add: &mut impl FnMut(&str, &str),
    name: &str,
    (of, with): (&str, &str),
    (groups, padding, strides): (usize, usize, [usize; 2]),
) {
    let kernel = if padding == 1 { 3 } else { 1 };
    let (inner, list) = (8 / groups, |it: usize| format!("{it} : si64"));
    let pads = [list(padding), list(padding), list(padding), list(padding)].join(", ");
    add(
        name,
        &format!(
            "torch.operator \"onnx.Conv\"(%{of}, %{with}) {{torch.onnx.dilations = [1 : si64, 1 : \
             si64], torch.onnx.group = {groups} : si64, torch.onnx.kernel_shape = [{kernel} : \
             si64, {kernel} : si64], torch.onnx.pads = [{pads}], torch.onnx.strides = [{} : si64, \
             {} : si64]}} : ({IMAGE}, !torch.vtensor<[8,{inner},{kernel},{kernel}],f32>) -> {IMAGE}",
            strides[0], strides[1]
        ),
    );
}

fn normed(add: &mut impl FnMut(&str, &str), name: &str, of: &str) {
    let vector = "!torch.vtensor<[8],f32>";
    add(
        name,
        &format!(
            "torch.operator \"onnx.BatchNormalization\"(%{of}, %scale, %shift, %mean, %variance) \
             {{torch.onnx.epsilon = 9.99999974E-6 : f32}} : ({IMAGE}, {vector}, {vector}, \
             {vector}, {vector}) -> {IMAGE}"
        ),
    );
}
