//! Imports as iree-import-onnx writes them, with models that fit and models that do not.

use prost::Message;

use super::onnx::{Attribute, Graph, Model, Node, Tensor, ValueInfo};
use super::{Mismatch, NodeNames, SourceText};

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

fn names(graph: Graph) -> Result<NodeNames, Mismatch> {
    names_of(TEXT, graph)
}

fn names_of(text: &str, graph: Graph) -> Result<NodeNames, Mismatch> {
    let bytes = Model { graph: Some(graph) }.encode_to_vec();
    NodeNames::of_import(&SourceText::new(text.to_owned()), &bytes)
}

/// What the framework calls a value of the text.
fn tensor(names: &NodeNames, value: &str) -> Option<String> {
    let text = SourceText::new(TEXT.to_owned());
    names.of(&text, 4, value).map(|known| known.tensor.clone())
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
    let names = names(older).expect("most of it fits");
    assert_eq!(tensor(&names, "%3").as_deref(), Some("/l1/Clip_0"));
    assert_eq!(tensor(&names, "%5"), None, "it has an operand that is not the model's");
    assert!(names.parted().is_some());
    let mut older = graph();
    older.node.remove(0);
    older.node[1].input.truncate(2);
    older.node[3].input.truncate(1);
    let names = self::names(older).expect("the model fits");
    let text = SourceText::new(TEXT.to_owned());
    assert_eq!(names.of(&text, 4, "%3").map(|it| it.tensor.as_str()), Some("/l1/Clip_0"));
    assert_eq!(names.of(&text, 4, "%1"), None);
}

/// Where text and model part, and what has a name all the same.
#[test]
fn what_agrees_has_names() {
    let parted = |change: &dyn Fn(&mut Graph)| {
        let mut changed = graph();
        change(&mut changed);
        let names = names(changed).expect("some of it fits");
        let reason = names.parted().map(ToString::to_string).unwrap_or_default();
        let named = ["%2", "%3", "%4#0", "%5"].map(|it| tensor(&names, it).is_some());
        (reason, named)
    };
    let (text, named) = parted(&|it| it.node[2].op_type = "Relu".to_owned());
    assert_eq!(text, "its node \"/l1/Clip\" (Relu) is not what line 7 has");
    assert_eq!(named, [true, false, false, false], "the others depend on it");
    let (text, named) = parted(&|it| it.node[3].op_type = "Relu".to_owned());
    assert_eq!(text, "its node \"split\" (Relu) is not what line 8 has");
    assert_eq!(named, [true, true, false, true], "the last one does not depend on it");
    let (text, named) = parted(&|it| it.node.swap(1, 2));
    assert_eq!(text, "its node \"/l1/Clip\" (Clip) is not what line 6 has");
    assert_eq!(named, [true, false, false, false], "the others are in another order");
    let (text, named) = parted(&|it| it.node[4].input.reverse());
    assert!(text.contains("is not what line 9 has"), "{text}");
    assert_eq!(named, [true, true, true, false]);
    let (text, named) = parted(&|it| drop(it.node.pop()));
    assert_eq!((text.as_str(), named), ("it ends before line 9", [true, true, true, false]));
    let (text, named) = parted(&|it| it.node.extend(it.node.clone()));
    assert_eq!(text, "the text ends before its node \"c\" (Constant)");
    assert_eq!(named, [true; 4]);
    let (text, named) = parted(&|it| it.output[0].name = "s0".to_owned());
    assert_eq!((text.as_str(), named), ("it has other results", [true; 4]));
}

/// A Softmax as the importer writes it for a model of version 12 or earlier.
const REWRITTEN: &str = r#"module {
  func.func @"my graph"(%arg0: !torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32> {
    %none = torch.constant.none
    %0 = torch.operator "onnx.Relu"(%arg0) : (!torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32>
    %1 = torch.operator "onnx.Shape"(%0) : (!torch.vtensor<[1,4],f32>) -> !torch.vtensor<[2],si64>
    %2 = torch.operator "onnx.Flatten"(%0) : (!torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32>
    %3 = torch.operator "onnx.Softmax"(%2) : (!torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32>
    %4 = torch.operator "onnx.Reshape"(%3, %1) : (!torch.vtensor<[1,4],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[1,4],f32>
    %5 = torch.operator "onnx.Add"(%4, %arg0) : (!torch.vtensor<[1,4],f32>, !torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32>
    return %5 : !torch.vtensor<[1,4],f32>
  }
}
"#;

#[test]
fn several_operations_may_stand_for_a_node() {
    let value = |name: &str| ValueInfo { name: name.to_owned() };
    let graph = |kind: &str, of: &str| Graph {
        node: vec![
            node("Relu", "relu", &["x"], &["relu_0"]),
            node(kind, "soft", &[of], &["soft_0"]),
            node("Add", "add", &["soft_0", "x"], &["sum"]),
        ],
        name: "my graph".to_owned(),
        initializer: Vec::new(),
        input: vec![value("x")],
        output: vec![value("sum")],
    };
    let named = |graph: Graph, text: &str| {
        let names = names_of(text, graph).expect("some of it fits");
        let source = SourceText::new(text.to_owned());
        let of = |it: &str| names.of(&source, 4, it).map(|known| known.tensor.clone());
        let all = ["%0", "%1", "%2", "%3", "%4", "%5"].map(|it| of(it).unwrap_or_default());
        (all, names.parted().map(ToString::to_string))
    };
    let (all, parted) = named(graph("Softmax", "relu_0"), REWRITTEN);
    assert_eq!(all, ["relu_0", "", "", "", "soft_0", "sum"]);
    assert_eq!(parted, None);
    // Another function is not it, nor one of something else, nor one of which more is used.
    let wrong = [
        (graph("Sigmoid", "relu_0"), REWRITTEN.to_owned()),
        (graph("Softmax", "x"), REWRITTEN.to_owned()),
        (graph("Softmax", "relu_0"), REWRITTEN.replace("\"(%4, %arg0)", "\"(%4, %2)")),
    ];
    for (graph, text) in wrong {
        let (all, parted) = named(graph, &text);
        assert_eq!(all, ["relu_0", "", "", "", "", ""], "{text}");
        assert!(parted.is_some_and(|it| it.contains("\"soft\"")), "{text}");
    }
}

#[test]
fn another_model_gives_no_names() {
    let refused = |change: &dyn Fn(&mut Graph)| {
        let mut changed = graph();
        change(&mut changed);
        names(changed).map_or_else(|error| error.to_string(), |_| String::new())
    };
    let text = refused(&|it| it.initializer[0].dims = vec![3, 4]);
    assert_eq!(text, "its constant \"l1.weight\" is not what line 3 has");
    assert!(refused(&|it| drop(it.input.remove(0))).contains("0 inputs"));
    assert!(refused(&|it| it.name = "other".to_owned()).contains("no function \"other\""));
    assert!(NodeNames::of_import(&SourceText::new(TEXT.to_owned()), b"\xff\xff\xff").is_err());
    assert!(NodeNames::of_import(&SourceText::new(TEXT.to_owned()), b"").is_err());
}
