use std::time::Instant;

use super::build::bytes_of;
use super::*;
use crate::dispatches::DispatchInterfaces;
use crate::tensors::{TensorProgram, TensorSources};

fn program(flow: &str) -> DispatchProgram {
    let dispatches = DispatchInterfaces::default();
    let none = |_: &str| None;
    let sources = TensorSources { flow, input: None, dispatches: &dispatches, file: &none };
    DispatchProgram::of(&TensorProgram::parse(&sources), None)
}

fn graph(flow: &str) -> DispatchGraph {
    program(flow).arranged(&GraphView { weights: Some(false), ..GraphView::default() })
}

fn ends(function: &FunctionGraph) -> Vec<(&str, &str, bool)> {
    let title = |at: usize| function.nodes[at].title.as_str();
    function.edges.iter().map(|it| (title(it.from), title(it.to), it.is_back)).collect()
}

#[test]
fn tensors_lead_through_reshapes_loops_and_branches() {
    let graph = graph(
        "\
module {
  util.func public @f(%arg0: !hal.buffer_view, %c: i1) -> !hal.buffer_view {
    %x = hal.tensor.import %arg0 \"x\" : !hal.buffer_view -> tensor<4xf32>
    %w = flow.tensor.constant #flow.parameter.named<\"model\"::\"w\"> : tensor<4x2xf16>
    %0 = flow.dispatch @e::@f_dispatch_0_first(%x, %w)
        : (tensor<4xf32>, tensor<4x2xf16>) -> tensor<4xf32>
    %1 = flow.tensor.reshape %0 : tensor<4xf32> -> tensor<2x2xf32>
    %2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %1) -> (tensor<2x2xf32>) {
      %3 = flow.dispatch @e::@f_dispatch_1_turn(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
      scf.yield %3 : tensor<2x2xf32>
    }
    %4 = flow.dispatch @e::@f_dispatch_2_last(%2) : (tensor<2x2xf32>) -> tensor<?xf32>{%c4}
    %5 = hal.tensor.export %4 \"y\" : tensor<?xf32>{%c4} -> !hal.buffer_view
    util.return %5 : !hal.buffer_view
  }
}
",
    );
    let [function] = &graph.functions[..] else { panic!("{graph:?}") };
    assert_eq!(
        ends(function),
        [
            ("argument 0", "first", false),
            ("first", "turn", false),
            ("turn", "turn", true),
            ("turn", "last", false),
            ("last", "result", false),
        ]
    );
    let [_, _, first, turn, last, _] = &function.nodes[..] else { panic!("{function:?}") };
    assert_eq!(first.inputs[1].origin.as_deref(), Some("parameter model::w"));
    assert_eq!((first.bytes, last.bytes), (Some(16 + 16 + 16), None));
    assert_eq!((first.loops, turn.loops), (0, 1));
}

#[test]
fn the_bytes_of_a_type() {
    let known = ["f32", "1x16xf32", "3xi1", "5xi4", "0x8xbf16"].map(bytes_of);
    assert_eq!(known, [Some(4), Some(64), Some(3), Some(3), Some(0)]);
    assert_eq!(["?x4xf32", "4xnone", "99999999999x99999999999xf32"].map(bytes_of), [None; 3]);
}

/// A network of blocks with connections past them, as transformers have.
fn synthetic(blocks: usize) -> FunctionGraph {
    use std::fmt::Write;
    let mut flow = "module {\n  util.func public @f(%start: tensor<8x8xf32>, %mask: tensor<8x8xf32>) -> tensor<8x8xf32> {\n".to_owned();
    let mut last = "%start".to_owned();
    for block in 0..blocks {
        for (name, of) in [("q", &last), ("k", &last), ("v", &last)] {
            let _ = writeln!(
                flow,
                "    %{name}{block} = flow.dispatch @e::@{name}{block}({of}) : (tensor<8x8xf32>) -> tensor<8x8xf32>"
            );
        }
        let _ = writeln!(
            flow,
            "    %s{block} = flow.dispatch @e::@s{block}(%q{block}, %k{block}, %mask) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>"
        );
        let _ = writeln!(
            flow,
            "    %o{block} = flow.dispatch @e::@o{block}(%s{block}, %v{block}, {last}) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>"
        );
        last = format!("%o{block}");
    }
    let _ = writeln!(flow, "    util.return {last} : tensor<8x8xf32>\n  }}\n}}");
    let started = Instant::now();
    let mut graph = graph(&flow);
    println!("{blocks} blocks: {:?}", started.elapsed());
    graph.functions.remove(0)
}

#[test]
fn boxes_do_not_overlap_and_lines_lead_down() {
    let function = synthetic(300);
    assert_eq!(function.nodes.len(), 1503);
    let mut rows: std::collections::BTreeMap<i64, Vec<&GraphNode>> = Default::default();
    for node in &function.nodes {
        let middle = (node.y + node.height / 2.0) as i64;
        rows.entry(middle).or_default().push(node);
        assert!(node.x >= 0.0 && node.x + node.width <= function.width, "{node:?}");
        assert!(node.y >= 0.0 && node.y + node.height <= function.height, "{node:?}");
    }
    // The blocks have three layers each.
    assert_eq!(rows.len(), 3 * 300 + 2);
    for row in rows.values_mut() {
        row.sort_by(|one, other| one.x.total_cmp(&other.x));
        for pair in row.windows(2) {
            assert!(pair[0].x + pair[0].width <= pair[1].x, "{pair:?}");
        }
    }
    for edge in &function.edges {
        assert!(edge.points.windows(2).all(|it| it[0][1] < it[1][1]), "{edge:?}");
    }
    // The main line is straight: the picture is not wider than its widest row needs.
    assert!(function.width < 2400.0, "{}", function.width);
}

/// A network whose operations have the names of nodes: `blocks` layers of two parts, and a head.
fn named(blocks: usize) -> DispatchProgram {
    use std::fmt::Write;
    let mut flow =
        "module {\n  util.func public @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n    \
         %w = flow.tensor.constant #flow.parameter.named<\"model\"::\"w\"> : tensor<8x8xf32>\n    \
         %b = flow.tensor.constant #flow.parameter.named<\"model\"::\"b\"> : tensor<8x8xf32>\n"
            .to_owned();
    let mut last = "%x".to_owned();
    let mut dispatch = |result: String, operands: &[&str], name: String| {
        let types = vec!["tensor<8x8xf32>"; operands.len()].join(", ");
        let _ = writeln!(
            flow,
            "    {result} = flow.dispatch @e::@{}({}) : ({types}) -> tensor<8x8xf32> loc(\"{name}\")",
            &result[1..],
            operands.join(", ")
        );
    };
    for block in 0..blocks {
        let [q, s, o, f] = ["q", "s", "o", "f"].map(|it| format!("%{it}{block}"));
        let name = |part: &str| format!("/encoder/layer.{block}/{part}");
        dispatch(q.clone(), &[&last, "%w"], name("attention/MatMul"));
        dispatch(s.clone(), &[&q, &last], name("attention/Softmax"));
        dispatch(o.clone(), &[&s, &last], name("output/Add"));
        dispatch(f.clone(), &[&o, "%w"], name("output/Relu"));
        last = f;
    }
    dispatch("%h".to_owned(), &[&last, "%b"], "/head/Gemm".to_owned());
    let _ = writeln!(flow, "    util.return %h : tensor<8x8xf32>\n  }}\n}}");
    program(&flow)
}

fn seen(function: &FunctionGraph) -> Vec<&str> {
    let seen = function.nodes.iter().filter(|it| !it.is_hidden && !it.is_open);
    seen.map(|it| it.title.as_str()).collect()
}

fn with_open(program: &DispatchProgram, open: &[&str]) -> FunctionGraph {
    let open = OpenGroups::These(open.iter().map(|it| (*it).to_owned()).collect());
    let view = GraphView { open, weights: Some(false) };
    program.arranged(&view).functions.remove(0)
}

/// Boxes are within the frames around them, and have no part in common with what is beside them.
fn check_places(function: &FunctionGraph) {
    let all = function.nodes.iter().filter(|it| !it.is_hidden);
    let all: Vec<&GraphNode> = all.collect();
    let sides = |it: &GraphNode| (it.x, it.y, it.x + it.width, it.y + it.height);
    for one in &all {
        let (left, top, right, bottom) = sides(one);
        let around = one.group.map(|it| sides(&function.nodes[it]));
        let (outer, least) =
            around.map_or(((0.0, 0.0, function.width, function.height), 0.0), |it| (it, 10.0));
        assert!(left >= outer.0 + least && top >= outer.1 + least, "{one:?} in {outer:?}");
        assert!(right <= outer.2 - least && bottom <= outer.3 - least, "{one:?} in {outer:?}");
        for other in all.iter().filter(|it| it.group == one.group && it.id != one.id) {
            let its = sides(other);
            let is_apart = right <= its.0 || its.2 <= left || bottom <= its.1 || its.3 <= top;
            assert!(is_apart, "{one:?} and {other:?}");
        }
    }
    for edge in &function.edges {
        let (from, to) = (&function.nodes[edge.from], &function.nodes[edge.to]);
        assert!(!from.is_hidden && !to.is_hidden && !from.is_open && !to.is_open, "{edge:?}");
        let ends = [edge.points[0], *edge.points.last().unwrap()];
        let wanted =
            [[from.x + from.width / 2.0, from.y + from.height], [to.x + to.width / 2.0, to.y]];
        for (end, wanted) in ends.iter().flatten().zip(wanted.iter().flatten()) {
            assert!((end - wanted).abs() < 1.5, "{edge:?} leads to {ends:?}, not {wanted:?}");
        }
        // A line has no gap where it goes into a group: it is within a box or between two layers.
        assert!(edge.points.windows(2).all(|it| it[0] != it[1]), "{edge:?}");
    }
}

#[test]
fn names_of_nodes_make_groups_that_open_and_collapse() {
    let program = named(2);
    let shown = with_open(&program, &[]);
    assert_eq!(shown.grouped_by, Some(GroupedBy::Names));
    // The head is one dispatch only, and the encoder has no part beside its layers.
    assert_eq!(seen(&shown), ["argument", "h", "result", "encoder"]);
    let encoder = shown.nodes.iter().find(|it| it.title == "encoder").unwrap();
    assert_eq!((&*encoder.id, encoder.dispatches), ("g0.encoder", Some(8)));
    // Four of three tensors of 256 bytes each, for each layer.
    assert_eq!(encoder.bytes, Some(2 * 4 * 3 * 256));
    check_places(&shown);
    let shown = with_open(&program, &["g0.encoder"]);
    assert_eq!(seen(&shown), ["argument", "h", "result", "layer.0", "layer.1"]);
    check_places(&shown);
    let shown = with_open(&program, &["g0.encoder", "g0.encoder/layer.1"]);
    assert_eq!(
        seen(&shown),
        ["argument", "h", "result", "layer.0", "attention", "output"],
        "{shown:?}"
    );
    check_places(&shown);
    // An open group in a collapsed one is not seen, and stays open.
    let shown = with_open(&program, &["g0.encoder/layer.1"]);
    assert_eq!(seen(&shown), ["argument", "h", "result", "encoder"]);
    assert!(shown.nodes.iter().any(|it| it.is_open && it.is_hidden));
    // Wherever it is, a box has the same index.
    let ids = |it: &FunctionGraph| it.nodes.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&shown), ids(&with_open(&program, &[])));
    assert_eq!(
        ends(&with_open(&program, &["g0.encoder"])),
        [
            ("argument", "layer.0", false),
            ("layer.0", "layer.1", false),
            ("layer.1", "h", false),
            ("h", "result", false),
        ]
    );
}

#[test]
fn a_large_graph_opens_with_as_many_levels_as_can_be_read() {
    let by_default = |blocks| {
        let mut graph = named(blocks).arranged(&GraphView::default());
        graph.functions.remove(0)
    };
    let small = by_default(2);
    assert!(small.nodes.iter().all(|it| it.kind != NodeKind::Group || it.is_open), "{small:?}");
    assert!(small.shows_weights);
    let large = by_default(40);
    assert!(!large.shows_weights);
    // All layers are seen, and what is in them is not.
    assert_eq!(seen(&large).len(), 43);
    check_places(&large);
    let started = Instant::now();
    let program = named(84);
    let read = started.elapsed();
    let whole = program.arranged(&GraphView { open: OpenGroups::All, weights: Some(true) });
    println!("337 dispatches: {read:?}, then {:?}", started.elapsed() - read);
    let whole = &whole.functions[0];
    assert_eq!(seen(whole).len(), 337 + 2 + 2);
    check_places(whole);
    let again = program.arranged(&GraphView { open: OpenGroups::All, weights: Some(true) });
    assert_eq!(serde_json::to_string(whole).ok(), serde_json::to_string(&again.functions[0]).ok());
}

#[test]
fn weights_are_where_those_are_that_take_them() {
    let program = named(2);
    let view = GraphView { open: OpenGroups::All, weights: Some(true) };
    let shown = program.arranged(&view).functions.remove(0);
    let weights: Vec<&GraphNode> =
        shown.nodes.iter().filter(|it| it.kind == NodeKind::Weight).collect();
    let [w, b] = weights[..] else { panic!("{weights:?}") };
    assert_eq!(w.outputs[0].origin.as_deref(), Some("parameter model::w"));
    // Both layers take one, and the head the other.
    assert_eq!(w.group.map(|it| &*shown.nodes[it].title), Some("encoder"));
    assert_eq!((b.group, b.is_hidden), (None, false));
    check_places(&shown);
    assert!(shown.edges.iter().any(|it| shown.nodes[it.from].id == b.id));
}

#[test]
fn groups_that_take_tensors_of_each_other_have_places() {
    // `a` and `c` are of one group, `b` between them of another, with `d` after both.
    let line = |result: &str, from: &str, name: &str| {
        format!(
            "    %{result} = flow.dispatch @e::@{result}(%{from}) : (tensor<4xf32>) -> \
             tensor<4xf32> loc(\"{name}\")\n"
        )
    };
    let lines = [
        line("a", "x", "one/a"),
        line("b", "a", "two/b"),
        line("c", "b", "one/c"),
        line("d", "c", "two/d"),
    ];
    let program = program(&format!(
        "module {{\n  util.func public @f(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{}    \
         util.return %d : tensor<4xf32>\n  }}\n}}\n",
        lines.concat()
    ));
    let shown = with_open(&program, &[]);
    assert_eq!(seen(&shown), ["argument", "result", "one", "two"]);
    check_places(&shown);
    for open in [&["g0.one"][..], &["g0.one", "g0.two"]] {
        check_places(&with_open(&program, open));
    }
}

#[test]
fn without_names_or_calls_there_are_no_groups() {
    let function = synthetic(3);
    assert_eq!(function.grouped_by, None);
    assert!(function.nodes.iter().all(|it| it.kind != NodeKind::Group));
}

#[test]
fn calls_in_locations_make_groups() {
    let callsite = |line: u32| {
        format!(
            "callsite(\"add\"(\"m.py\":2:4) at callsite(\"attention\"(\"m.py\":5:4) at \
             \"model\"(\"m.py\":{line}:4)))"
        )
    };
    let lines =
        [("a", "x", 8), ("b", "a", 8), ("c", "b", 9), ("d", "c", 9)].map(|(result, from, line)| {
            format!(
                "    %{result} = flow.dispatch @e::@{result}(%{from}) : (tensor<4xf32>) -> \
             tensor<4xf32> loc(\"jit(model)/add\"({}))\n",
                callsite(line)
            )
        });
    let program = program(&format!(
        "module {{\n  util.func public @f(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{}    \
         util.return %d : tensor<4xf32>\n  }}\n}}\n",
        lines.concat()
    ));
    let shown = with_open(&program, &[]);
    assert_eq!(shown.grouped_by, Some(GroupedBy::Calls));
    // Two calls of one function, from different lines.
    assert_eq!(seen(&shown), ["argument", "result", "attention › add", "attention › add (2)"]);
}

#[test]
fn names_split_at_slashes_outside_of_brackets() {
    let parts = |name: &str| -> Vec<String> {
        super::origins::path_in(name).into_iter().map(|it| it.name).collect()
    };
    assert_eq!(parts("/encoder/layer.0/attention/MatMul"), ["encoder", "layer.0", "attention"]);
    assert_eq!(parts("jit(f)/jit(a/b)/dot_general"), ["jit(f)", "jit(a/b)"]);
    assert!(parts("Conv@6").is_empty());
}

#[test]
fn identities_of_boxes_are_read_back() {
    let id = TensorOperationId { function: 3, index: 14 };
    assert_eq!(operation_of_node(&node_id(id)), Some(id));
    assert_eq!(["g0.a", "d1", "d1.x", ""].map(operation_of_node), [None; 4]);
}
