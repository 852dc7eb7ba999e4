//! The control-flow graph of a function as a picture (SVG).
//!
//! Blocks stand below each other in the order of the text. An edge to the next block goes straight
//! down. Forward edges that skip blocks pass them on the right, backward edges on the left, each in
//! a lane that no other edge uses at that height.

use std::fmt::Write as _;

use debuginfo::{ControlBlock, SourceText};
use syntax::{Language, OpClass};

use crate::Document;
use crate::resolve::symbol_at;
use crate::text::function_range;

/// A longer function has no picture.
const LONGEST: usize = 1 << 20;
/// More blocks have none either: no one could follow the lines.
const MOST_BLOCKS: usize = 500;
/// The most lines of a block that are shown, and the most characters of a line.
const LINES: usize = 12;
const COLUMNS: usize = 72;

// All in pixels.
const CHARACTER: f64 = 7.3;
const LINE: f64 = 17.0;
const PADDING: f64 = 10.0;
const GAP: f64 = 36.0;
const LANE: f64 = 14.0;
/// Between a block and the first lane, where labels are.
const LABEL: f64 = 44.0;

/// The picture of the function whose head is at `offset`; `None` if it has one block only.
pub fn control_flow(document: &Document, offset: usize) -> Option<String> {
    blocks_at(document, offset).map(|blocks| drawn(&blocks))
}

/// Whether [`control_flow`] has a picture of the function whose head is at `offset`.
pub fn has_control_flow(document: &Document, offset: usize) -> bool {
    blocks_at(document, offset).is_some()
}

fn blocks_at(document: &Document, offset: usize) -> Option<Vec<ControlBlock>> {
    if document.language() != Language::Mlir {
        return None;
    }
    let found = symbol_at(document, offset).filter(|it| it.symbol.class == OpClass::Function)?;
    let range = function_range(document, &found.placed);
    if range.len() > LONGEST {
        return None;
    }
    let text = document.text().slice(range);
    if !text.contains('^') {
        return None;
    }
    let blocks = SourceText::new(text.into_owned()).control_flow(1)?;
    (2..=MOST_BLOCKS).contains(&blocks.len()).then_some(blocks)
}

/// A block on the picture.
struct Drawn {
    lines: Vec<String>,
    top: f64,
    height: f64,
}

/// An edge that goes around blocks.
struct Detour {
    from: usize,
    to: usize,
    lane: usize,
    label: &'static str,
}

fn drawn(blocks: &[ControlBlock]) -> String {
    let mut top = PADDING;
    let boxes: Vec<Drawn> = blocks
        .iter()
        .map(|block| {
            let lines = lines_of(block);
            let height = lines.len() as f64 * LINE + PADDING;
            let it = Drawn { lines, top, height };
            top += height + GAP;
            it
        })
        .collect();
    let longest = boxes.iter().flat_map(|it| &it.lines).map(|it| it.chars().count()).max();
    let width = longest.unwrap_or(0).max(8) as f64 * CHARACTER + 2.0 * PADDING;
    let (mut straight, mut onward, mut back) = (Vec::new(), Vec::new(), Vec::new());
    for (from, block) in blocks.iter().enumerate() {
        for (way, to) in block.successors.iter().enumerate() {
            let label = match (block.successors.len(), way) {
                (2, 0) if is_conditional(block) => "true",
                (2, _) if is_conditional(block) => "false",
                _ => "",
            };
            let detour = Detour { from, to: *to, lane: 0, label };
            match *to {
                to if to == from + 1 => straight.push(detour),
                to if to > from => onward.push(detour),
                _ => back.push(detour),
            }
        }
    }
    let (lanes_left, lanes_right) = (in_lanes(&mut back), in_lanes(&mut onward));
    let left = PADDING + side_width(lanes_left);
    let (right, center) = (left + width, left + width / 2.0);
    let (total_width, total_height) = (right + side_width(lanes_right) + PADDING, top);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total_width:.0}\" \
         height=\"{total_height:.0}\" viewBox=\"0 0 {total_width:.0} {total_height:.0}\" \
         font-family=\"monospace\" font-size=\"12\">\n{STYLE}"
    );
    for it in &boxes {
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.0}\" y=\"{:.0}\" width=\"{width:.0}\" height=\"{:.0}\" rx=\"4\"/>",
            it.top, it.height
        );
        for (number, line) in it.lines.iter().enumerate() {
            let (x, y) = (left + PADDING, it.top + (number as f64 + 1.0) * LINE);
            let line = escaped(line);
            let _ = writeln!(svg, "<text x=\"{x:.0}\" y=\"{y:.0}\">{line}</text>");
        }
    }
    let bottom = |at: usize| boxes[at].top + boxes[at].height;
    for it in &straight {
        let (from, to) = (bottom(it.from), boxes[it.to].top);
        edge(&mut svg, &format!("M{center:.0} {from:.0} V{to:.0}"));
        label(&mut svg, center + 6.0, from + 15.0, it.label);
    }
    let sides = [(&onward, right, 1.0), (&back, left, -1.0)];
    for (it, side, way) in
        sides.iter().flat_map(|(all, side, way)| all.iter().map(|it| (it, *side, *way)))
    {
        let lane = side + way * (LABEL + it.lane as f64 * LANE);
        let (from, to) = (bottom(it.from) - 8.0, boxes[it.to].top + 8.0);
        edge(&mut svg, &format!("M{side:.0} {from:.0} H{lane:.0} V{to:.0} H{side:.0}"));
        let at =
            if way > 0.0 { side + 4.0 } else { side - 4.0 - it.label.len() as f64 * CHARACTER };
        label(&mut svg, at, from - 4.0, it.label);
    }
    svg + "</svg>\n"
}

/// What lanes beside the blocks take.
fn side_width(lanes: usize) -> f64 {
    if lanes == 0 { 0.0 } else { LABEL + lanes as f64 * LANE }
}

const STYLE: &str = "<style>\
    svg { background: #ffffff } rect { fill: #f6f8fa; stroke: #57606a } \
    text { fill: #1f2328; white-space: pre } \
    path { fill: none; stroke: #0969da; stroke-width: 1.4 } .way { fill: #0969da } \
    marker path { fill: #0969da } \
    @media (prefers-color-scheme: dark) { svg { background: #1e1e1e } \
    rect { fill: #252526; stroke: #8b949e } text { fill: #d4d4d4 } \
    path { stroke: #58a6ff } .way, marker path { fill: #58a6ff } }\
    </style>\n<defs><marker id=\"end\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" \
    orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n";

fn edge(svg: &mut String, path: &str) {
    let _ = writeln!(svg, "<path d=\"{path}\" marker-end=\"url(#end)\"/>");
}

fn label(svg: &mut String, x: f64, y: f64, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(svg, "<text class=\"way\" x=\"{x:.0}\" y=\"{y:.0}\">{text}</text>");
    }
}

/// Gives each detour the innermost lane that is free beside all that it passes. Returns how many
/// lanes there are.
fn in_lanes(detours: &mut [Detour]) -> usize {
    detours.sort_by_key(|it| it.from.abs_diff(it.to));
    let mut lanes: Vec<Vec<(usize, usize)>> = Vec::new();
    for it in detours {
        let (low, high) = (it.from.min(it.to), it.from.max(it.to));
        let is_free =
            |lane: &Vec<(usize, usize)>| lane.iter().all(|used| high < used.0 || used.1 < low);
        it.lane = lanes.iter().position(is_free).unwrap_or(lanes.len());
        match lanes.get_mut(it.lane) {
            Some(lane) => lane.push((low, high)),
            None => lanes.push(vec![(low, high)]),
        }
    }
    lanes.len()
}

/// Whether the first way of a block is taken if its condition holds.
fn is_conditional(block: &ControlBlock) -> bool {
    block.lines.last().is_some_and(|it| it.contains("cond_br"))
}

/// The lines that are shown of a block: its label, its first operations, and the last one.
fn lines_of(block: &ControlBlock) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    lines.extend((!block.label.is_empty()).then(|| cut(&block.label)));
    let own = &block.lines;
    if own.len() <= LINES {
        lines.extend(own.iter().map(|it| cut(it)));
    } else {
        lines.extend(own[..LINES - 2].iter().map(|it| cut(it)));
        lines.push(format!("… {} more", own.len() - (LINES - 1)));
        lines.extend(own.last().map(|it| cut(it)));
    }
    lines
}

fn cut(line: &str) -> String {
    if line.chars().count() <= COLUMNS {
        return line.to_owned();
    }
    let kept: String = line.chars().take(COLUMNS - 1).collect();
    kept + "…"
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // XML has no other control characters.
    text.replace(|it: char| it.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const TEXT: &str = "func.func @f(%n: i32, %t: tensor<4xf32>) -> i32 {
  %c = arith.constant 0 : i32
  cf.br ^head(%c : i32)
^head(%i: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %i, %n : i32
  cf.br ^head(%next : i32)
^end:
  return %i : i32
}
func.func @g() {
  return
}
";

    #[test]
    fn blocks_and_edges_are_drawn() {
        let document = Document::new(Language::Mlir, None, Arc::new(TEXT.to_owned()));
        let svg = control_flow(&document, TEXT.find("@f").unwrap()).unwrap();
        assert_eq!((svg.matches("<rect ").count(), svg.matches("marker-end").count()), (4, 4));
        for part in ["^head(%i: i32):", "cf.cond_br %more, ^body, ^end", ">true<", ">false<"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!(control_flow(&document, TEXT.find("@g").unwrap()), None);
        assert_eq!(escaped("a<b>&\u{1}"), "a&lt;b&gt;&amp; ");
    }

    #[test]
    fn lanes_are_shared_where_edges_do_not_meet() {
        let detour = |from, to| Detour { from, to, lane: 9, label: "" };
        let mut all = [detour(0, 9), detour(1, 3), detour(5, 7), detour(2, 6)];
        assert_eq!(in_lanes(&mut all), 3);
        let lanes: Vec<_> = all.iter().map(|it| (it.from, it.lane)).collect();
        assert_eq!(lanes, [(1, 0), (5, 0), (2, 1), (0, 2)]);
    }
}
