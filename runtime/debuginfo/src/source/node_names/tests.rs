//! Imports as iree-import-onnx writes them, with models that fit and models that do not.

use prost::Message;

use super::onnx::{Attribute, Graph, Model, Node, Tensor, ValueInfo};
use super::{NodeNames, SourceText};

const TEXT: &str = r#"module {
  func.func @"my graph"(%arg0: !torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,3],f32> {
    %0 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<_w> : tensor<4x3xf32>} : () -> !torch.vtensor<[4,3],f32>
    %none = torch.constant.none
    %1 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<2.0> : tensor<1xf32>} : () -> !torch.vtensor<[1],f32>
    %2 = torch.operator "onnx.MatMul"(%arg0, %0) : (!torch.vtensor<[1,4],f32>, !torch.vtensor<[4,3],f32>) -> !torch.vtensor<[1,3],f32>
    %3 = torch.operator "onnx.Clip"(%2, %none, %1) : (!torch.vtensor<[1,3],f32>, !torch.none, !torch.vtensor<[1],f32>) -> !torch.vtensor<[1,3],f32>
    %4:2 = torch.operator "onnx.Split"(%3) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[1,3],f32>) -> (!torch.vtensor<[1,2],f32>, !torch.vtensor<[1,1],f32>)
    %5 = torch.operator "onnx.Mul"(%3, %1) : (!torch.vtensor<[1,3],f32>, !torch.vtensor<[1],f32>) -> !torch.vtensor<[1,3],f32>
    return %5 : !torch.vtensor<[1,3],f32>
  }
}
"#;

fn node(op_type: &str, name: &str, input: &[&str], output: &[&str]) -> Node {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let (input, output) = (owned(input), owned(output));
    let (op_type, name) = (op_type.to_owned(), name.to_owned());
    Node { input, output, name, op_type, attribute: Vec::new() }
}

fn graph() -> Graph {
    let constant = Attribute {
        name: "value".to_owned(),
        tensor: Some(Tensor { dims: vec![1], name: String::new() }),
    };
    let value = |name: &str| ValueInfo { name: name.to_owned() };
    Graph {
        node: vec![
            Node { attribute: vec![constant], ..node("Constant", "c", &[], &["c \"q\""]) },
            node("MatMul", "/l1/MatMul", &["in put/0", "l1.weight"], &["/l1/MatMul_output_0"]),
            node("Clip", "/l1/Clip", &["/l1/MatMul_output_0", "", "c \"q\""], &["/l1/Clip_0"]),
            node("Split", "split", &["/l1/Clip_0"], &["s0", "s1"]),
            node("Mul", "", &["/l1/Clip_0", "c \"q\""], &["out:0"]),
        ],
        name: "my graph".to_owned(),
        initializer: vec![Tensor { dims: vec![4, 3], name: "l1.weight".to_owned() }],
        // Old models list constants among the inputs.
        input: vec![value("in put/0"), value("l1.weight")],
        output: vec![value("out:0")],
    }
}

fn names(graph: Graph) -> Result<NodeNames, String> {
    let bytes = Model { graph: Some(graph) }.encode_to_vec();
    NodeNames::of_import(&SourceText::new(TEXT.to_owned()), &bytes)
}

#[test]
fn values_have_the_names_of_tensors_and_nodes() {
    let names = names(graph()).expect("the model fits");
    let text = SourceText::new(TEXT.to_owned());
    let of = |value: &str| {
        let known = names.of(&text, 4, value)?;
        Some((known.tensor.as_str(), known.node.as_deref()))
    };
    assert_eq!(of("%arg0"), Some(("in put/0", None)));
    assert_eq!(of("%0"), Some(("l1.weight", None)));
    assert_eq!(of("%1"), Some(("c \"q\"", None)));
    assert_eq!(of("%2"), Some(("/l1/MatMul_output_0", Some("/l1/MatMul"))));
    assert_eq!(of("%3"), Some(("/l1/Clip_0", Some("/l1/Clip"))));
    assert_eq!(of("%4#1"), Some(("s1", None)));
    assert_eq!(of("%5"), Some(("out:0", None)));
    assert_eq!(of("%none"), None);
    assert!(names.of(&text, 1, "%5").is_none(), "that line is in no function");
}

/// The model had its bound as an attribute, which a newer version of the format has as an operand.
#[test]
fn constants_may_have_been_added() {
    let mut older = graph();
    older.node.remove(0);
    older.node[1].input.truncate(2);
    let names = names(older);
    assert!(names.is_err(), "the last node has an operand that is not the model's");
    let mut older = graph();
    older.node.remove(0);
    older.node[1].input.truncate(2);
    older.node[3].input.truncate(1);
    let names = self::names(older).expect("the model fits");
    let text = SourceText::new(TEXT.to_owned());
    assert_eq!(names.of(&text, 4, "%3").map(|it| it.tensor.as_str()), Some("/l1/Clip_0"));
    assert_eq!(names.of(&text, 4, "%1"), None);
}

#[test]
fn another_model_gives_no_names() {
    let refused = |change: &dyn Fn(&mut Graph)| {
        let mut changed = graph();
        change(&mut changed);
        names(changed).err().unwrap_or_default()
    };
    let text = refused(&|it| it.node.swap(1, 2));
    assert_eq!(text, "its node \"/l1/Clip\" (Clip) is not what line 6 has");
    let text = refused(&|it| it.node[4].input.reverse());
    assert!(text.contains("is not what line 9 has"), "{text}");
    let text = refused(&|it| it.initializer[0].dims = vec![3, 4]);
    assert_eq!(text, "its constant \"l1.weight\" is not what line 3 has");
    let text = refused(&|it| drop(it.node.pop()));
    assert_eq!(text, "it ends before line 9");
    let text = refused(&|it| it.node.extend(it.node.clone()));
    assert_eq!(text, "the text ends before its node \"c\" (Constant)");
    let text = refused(&|it| it.node[2].op_type = "Relu".to_owned());
    assert!(text.contains("is not what line 7 has"), "{text}");
    assert_eq!(refused(&|it| it.output[0].name = "s0".to_owned()), "it has other results");
    assert!(refused(&|it| drop(it.input.remove(0))).contains("0 inputs"));
    assert!(refused(&|it| it.name = "other".to_owned()).contains("no function \"other\""));
    assert!(NodeNames::of_import(&SourceText::new(TEXT.to_owned()), b"\xff\xff\xff").is_err());
    assert!(NodeNames::of_import(&SourceText::new(TEXT.to_owned()), b"").is_err());
}
