use std::time::Instant;

use super::build::bytes_of;
use super::*;
use crate::dispatches::DispatchInterfaces;
use crate::tensors::{TensorProgram, TensorSources};

fn graph(flow: &str) -> DispatchGraph {
    let dispatches = DispatchInterfaces::default();
    let none = |_: &str| None;
    let sources = TensorSources { flow, input: None, dispatches: &dispatches, file: &none };
    DispatchGraph::of(&TensorProgram::parse(&sources), &|_, _| None)
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
    let [_, first, turn, last, _] = &function.nodes[..] else { panic!("{function:?}") };
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
