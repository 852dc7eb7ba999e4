//! A model of identical layers. Its layers share executables, its batch is dynamic, and its name is
//! quoted.

use std::fmt::Write;

/// The text of a model with this many layers.
pub(crate) fn text(layers: usize) -> String {
    let mut text = String::from(
        r#"#whole = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
module @transformer {
  func.func @"my-transformer"(%query: tensor<?x16xf32>, %weights: tensor<16x16xf32>, %bias: tensor<16xf32>) -> tensor<?x16xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %batch = tensor.dim %query, %c0 : tensor<?x16xf32>
"#,
    );
    let mut input = "%query".to_owned();
    // The types of `%query` and `%weights`.
    let (q, w) = ("tensor<?x16xf32>", "tensor<16x16xf32>");
    for layer in 0..layers {
        let l = format!("%l{layer}");
        let _ = write!(
            text,
            r#"    {l}_empty = tensor.empty(%batch) : {q}
    {l}_zeros = linalg.fill ins(%zero : f32) outs({l}_empty : {q}) -> {q}
    {l}_product = linalg.matmul ins({input}, %weights : {q}, {w}) outs({l}_zeros : {q}) -> {q}
    {l}_scores = linalg.softmax dimension(1) ins({l}_product : {q}) outs({l}_empty : {q}) -> {q}
    {l}_out = linalg.generic {{indexing_maps = [#whole, #whole, #columns, #whole], iterator_types = ["parallel", "parallel"]}} ins({l}_scores, {input}, %bias : {q}, {q}, tensor<16xf32>) outs({l}_empty : {q}) {{
    ^bb0(%score: f32, %residual: f32, %b: f32, %unused: f32):
      %sum = arith.addf %score, %residual : f32
      %act = arith.maximumf %sum, %zero : f32
      %moved = arith.addf %act, %b : f32
      linalg.yield %moved : f32
    }} -> {q}
"#
        );
        input = format!("{l}_out");
    }
    let _ = write!(text, "    return {input} : tensor<?x16xf32>\n  }}\n}}\n");
    text
}

/// Arguments for the model.
pub(crate) fn inputs() -> Vec<String> {
    let numbers = (0..32).map(|at| ((at * 7) % 11) as f32 / 4.0 - 1.0).map(|it| it.to_string());
    let query = format!("2x16xf32={}", numbers.collect::<Vec<_>>().join(","));
    vec![query, "16x16xf32=0.125".to_owned(), "16xf32=0.5".to_owned()]
}
