use super::super::SourceText;
use super::super::constants::WrittenTensor;

/// The tensor that the last operation of a function gives, as text; `none` if it is not folded.
fn folded(operations: &str) -> String {
    let text = format!(
        "func.func @f(%x: !torch.vtensor<[2,?],f32>) -> tensor<2xf32> {{\n{operations}\n  return\n}}\n"
    );
    let source = SourceText::new(text);
    let lines = u32::try_from(operations.lines().count()).expect("few lines");
    let name = format!("%{}", lines - 1);
    match source.written_tensor((lines + 2, 3), &name) {
        Some(WrittenTensor::Tensor(tensor)) => tensor.format(64),
        None => "none".to_owned(),
        Some(other) => format!("{other:?}"),
    }
}

/// Operations of ONNX: `kind(operands) attributes : types -> type`, numbered from `%0`.
fn program(lines: &[&str]) -> String {
    let operation = |(number, line): (usize, &&str)| match line.split_once(" = ") {
        Some((element_type, elements)) if !line.contains("->") => {
            let torch = element_type.replace('x', ",");
            let torch = torch.rsplit_once(',').map_or_else(
                || format!("[],{}", torch.replace('i', "si")),
                |(sizes, element)| format!("[{sizes}],{}", element.replace('i', "si")),
            );
            format!(
                "  %{number} = torch.operator \"onnx.Constant\"() {{torch.onnx.value = \
                 dense<{elements}> : tensor<{element_type}>}} : () -> !torch.vtensor<{torch}>"
            )
        }
        _ => {
            let (kind, rest) = line.split_once('(').expect("operands");
            format!("  %{number} = torch.operator \"onnx.{kind}\"({rest}")
        }
    };
    lines.iter().enumerate().map(operation).collect::<Vec<_>>().join("\n")
}

fn of(lines: &[&str]) -> String {
    folded(&program(lines))
}

const TABLE: &str = "2x3xi64 = [[1, 2, 3], [4, 5, 6]]";

#[test]
fn elements_move() {
    let cases: [(&[&str], &str); 12] = [
        (
            &[
                TABLE,
                "Transpose(%0) {torch.onnx.perm = [1 : si64, 0 : si64]} : (!torch.vtensor<[2,3],si64>) -> !torch.vtensor<[3,2],si64>",
            ],
            "3x2xi64=[1 4][2 5][3 6]",
        ),
        (
            &[
                TABLE,
                "2xi64 = [-1, 2]",
                "Reshape(%0, %1) : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[?,?],si64>",
            ],
            "3x2xi64=[1 2][3 4][5 6]",
        ),
        (
            &[
                TABLE,
                "2xi64 = [0, -1]",
                "Reshape(%0, %1) {torch.onnx.allowzero = 0 : si64} : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[?,?],si64>",
            ],
            "2x3xi64=[1 2 3][4 5 6]",
        ),
        (
            &[
                "3x1xi64 = [[1], [2], [3]]",
                "3xi64 = [2, 1, 2]",
                "Expand(%0, %1) : (!torch.vtensor<[3,1],si64>, !torch.vtensor<[3],si64>) -> !torch.vtensor<[?,?,?],si64>",
            ],
            "2x3x2xi64=[[1 1][2 2][3 3]][[1 1][2 2][3 3]]",
        ),
        (
            &[
                TABLE,
                "2xi64 = [-1, 0]",
                "Gather(%0, %1) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[2,2],si64>",
            ],
            "2x2xi64=[3 1][6 4]",
        ),
        (
            &[
                TABLE,
                "i64 = 1",
                "Gather(%0, %1) : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[],si64>) -> !torch.vtensor<[3],si64>",
            ],
            "3xi64=4 5 6",
        ),
        (
            &[
                TABLE,
                "1xi64 = [-1]",
                "1xi64 = [-9]",
                "1xi64 = [1]",
                "1xi64 = [-2]",
                "Slice(%0, %1, %2, %3, %4) : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[2,2],si64>",
            ],
            "2x2xi64=[3 1][6 4]",
        ),
        (
            &[
                TABLE,
                "1xi64 = [1]",
                "1xi64 = [9223372036854775807]",
                "Slice(%0, %1, %2) : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[1],si64>) -> !torch.vtensor<[1,3],si64>",
            ],
            "1x3xi64=[4 5 6]",
        ),
        (
            &[
                TABLE,
                "2x1xi64 = [[7], [8]]",
                "Concat(%0, %1) {torch.onnx.axis = -1 : si64} : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[2,1],si64>) -> !torch.vtensor<[2,4],si64>",
            ],
            "2x4xi64=[1 2 3 7][4 5 6 8]",
        ),
        (
            &[
                "3xi64 = [1, 2, 3]",
                "2xi64 = [0, -1]",
                "Unsqueeze(%0, %1) : (!torch.vtensor<[3],si64>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[?,?,?],si64>",
            ],
            "1x3x1xi64=[[1][2][3]]",
        ),
        (
            &[
                "2xi64 = [2, 2]",
                "ConstantOfShape(%0) {torch.onnx.value = dense<2.5> : tensor<1xf32>} : (!torch.vtensor<[2],si64>) -> !torch.vtensor<[2,2],f32>",
            ],
            "2x2xf32=[2.5 2.5][2.5 2.5]",
        ),
        (
            &[
                "Shape(%x) {torch.onnx.end = 1 : si64} : (!torch.vtensor<[2,?],f32>) -> !torch.vtensor<[1],si64>",
            ],
            "none",
        ),
    ];
    for (lines, expected) in cases {
        assert_eq!(of(lines), expected, "{lines:?}");
    }
}

#[test]
fn arithmetic_without_rounding_is_folded() {
    let binary = |kind: &str, element: &str, left: &str, right: &str| {
        let torch = element.replace('i', "si");
        let operation = format!(
            "{kind}(%0, %1) : (!torch.vtensor<[],{torch}>, !torch.vtensor<[2],{torch}>) -> !torch.vtensor<[2],{torch}>"
        );
        of(&[&format!("{element} = {left}"), &format!("2x{element} = {right}"), &operation])
    };
    assert_eq!(binary("Add", "i64", "3", "[4, -5]"), "2xi64=7 -2");
    assert_eq!(binary("Sub", "f32", "0.5", "[0.25, 4.0]"), "2xf32=0.25 -3.5");
    assert_eq!(binary("Mul", "f32", "3.0", "[0.5, -8.0]"), "2xf32=1.5 -24");
    assert_eq!(binary("Div", "i64", "7", "[2, 8]"), "2xi64=3 0");
    for (kind, element, left, right, why) in [
        ("Add", "f32", "1.0", "[1.0e-9, 0.0]", "the sum is rounded"),
        ("Mul", "f32", "0.1", "[0.1, 0.0]", "the product is rounded"),
        ("Div", "f32", "1.0", "[3.0, 1.0]", "the quotient is rounded"),
        ("Div", "i64", "-7", "[2, 2]", "two ways to round"),
        ("Div", "i64", "7", "[0, 2]", "no quotient"),
        ("Mul", "i64", "9223372036854775807", "[2, 1]", "too large"),
    ] {
        assert_eq!(binary(kind, element, left, right), "none", "{why}");
    }
}

#[test]
fn ranges_and_casts_are_folded() {
    let range = |element: &str, of_range: [&str; 3]| {
        let torch = element.replace('i', "si");
        let numbers = of_range.map(|it| format!("{element} = {it}"));
        let operation = format!(
            "Range(%0, %1, %2) : (!torch.vtensor<[],{torch}>) -> !torch.vtensor<[?],{torch}>"
        );
        of(&[&numbers[0], &numbers[1], &numbers[2], &operation])
    };
    assert_eq!(range("f32", ["0.0", "3.0", "1.0"]), "3xf32=0 1 2");
    assert_eq!(range("i64", ["5", "0", "-2"]), "3xi64=5 3 1");
    assert_eq!(range("i64", ["5", "0", "2"]), "0xi64=");
    assert_eq!(range("f32", ["0.0", "0.3", "0.1"]), "none", "its end is a question of rounding");
    assert_eq!(range("i64", ["0", "9000000000000000000", "1"]), "none", "too long");
    let cast = |from: &str, torch: &str, to: &str| {
        of(&[
            from,
            &format!(
                "Cast(%0) {{torch.onnx.to = 1 : si64}} : (!torch.vtensor<[1],{torch}>) -> !torch.vtensor<[1],{to}>"
            ),
        ])
    };
    assert_eq!(cast("1xi64 = [20]", "si64", "f32"), "1xf32=20");
    assert_eq!(cast("1xi64 = [16777217]", "si64", "f32"), "none", "f32 does not have it");
    assert_eq!(cast("1xf32 = [3.0]", "f32", "si32"), "1xi32=3");
    assert_eq!(cast("1xf32 = [3.5]", "f32", "si32"), "none");
}

#[test]
fn what_the_types_contradict_is_refused() {
    assert_eq!(
        of(&[
            TABLE,
            "2xi64 = [3, 2]",
            "Reshape(%0, %1) : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[2,2],si64>"
        ]),
        "none"
    );
    assert_eq!(
        of(&[
            "1xi64 = [4000000000]",
            "ConstantOfShape(%0) : (!torch.vtensor<[1],si64>) -> !torch.vtensor<[?],f32>"
        ]),
        "none",
        "no memory is taken on a number's word"
    );
    assert_eq!(
        of(&[
            "2xi64 = [1, 2]",
            "Add(%x, %0) : (!torch.vtensor<[2,?],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[2,2],f32>"
        ]),
        "none",
        "an argument is not known"
    );
}
