//! Layers from top to bottom: each box stands below the boxes whose tensors it takes. A line that
//! passes layers takes a place in each of them, so it goes around boxes.

use super::order::ordered;
use super::spread::{Place, spread};
use super::{FunctionGraph, GraphEdge, NodeKind};

/// The space between boxes of a layer, and between layers.
const BESIDE: f32 = 26.0;
const BETWEEN: f32 = 44.0;
/// The width that a passing line takes.
const LINE: f32 = 12.0;
/// The space around the picture.
const MARGIN: f32 = 24.0;
/// At most so many places of passing lines; longer lines go straight through.
const MOST_PASSES: usize = 60_000;
/// How often boxes move towards their neighbours.
const ROUNDS: usize = 10;

/// A box, or the place where a line passes a layer.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) layer: usize,
    /// The box; `None` where a line passes.
    pub(super) node: Option<usize>,
}

/// Boxes and passing lines, and which of them are joined: each upper one with a lower one.
#[derive(Default)]
pub(super) struct Layers {
    pub(super) items: Vec<Item>,
    pub(super) above: Vec<Vec<usize>>,
    pub(super) below: Vec<Vec<usize>>,
    pub(super) count: usize,
}

impl Layers {
    fn add(&mut self, layer: usize, node: Option<usize>) -> usize {
        self.items.push(Item { layer, node });
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        self.items.len() - 1
    }

    fn join(&mut self, upper: usize, lower: usize) {
        self.below[upper].push(lower);
        self.above[lower].push(upper);
    }
}

/// Gives all boxes and edges of a graph their places.
pub(super) fn lay_out(graph: &mut FunctionGraph) {
    if graph.nodes.is_empty() {
        return;
    }
    let of_node = layers_of(graph);
    let mut layers =
        Layers { count: of_node.iter().max().map_or(0, |it| it + 1), ..Layers::default() };
    for (node, layer) in of_node.iter().enumerate() {
        layers.add(*layer, Some(node));
    }
    let passes = joined(graph, &of_node, &mut layers);
    let rows = ordered(&layers);
    let centers = centers(graph, &layers, &rows);
    place(graph, &layers, &rows, &centers);
    route(graph, &layers, &centers, &passes);
}

/// The layer of each box: below all that it takes, and arguments just above what takes them.
fn layers_of(graph: &FunctionGraph) -> Vec<usize> {
    let mut layers = vec![0_usize; graph.nodes.len()];
    let mut down: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for edge in graph.edges.iter().filter(|it| !it.is_back) {
        down[edge.from].push(edge.to);
    }
    // Each box comes after those whose tensors it takes.
    for from in 0..graph.nodes.len() {
        for to in &down[from] {
            layers[*to] = layers[*to].max(layers[from] + 1);
        }
    }
    for (index, (node, below)) in graph.nodes.iter().zip(&down).enumerate().rev() {
        let nearest = below.iter().map(|to| layers[*to]).min();
        if let (NodeKind::Argument, Some(nearest)) = (node.kind, nearest) {
            layers[index] = nearest.saturating_sub(1);
        }
    }
    let last = layers.iter().copied().max().unwrap_or_default();
    for (index, node) in graph.nodes.iter().enumerate() {
        if node.kind == NodeKind::Result {
            layers[index] = last;
        }
    }
    layers
}

/// Joins boxes by edges; returns the items that each edge passes. All lines of a box that pass a
/// layer share a place there.
fn joined(graph: &FunctionGraph, of_node: &[usize], layers: &mut Layers) -> Vec<Vec<usize>> {
    let goes_down = |edge: &GraphEdge| !edge.is_back && of_node[edge.to] > of_node[edge.from];
    let mut down: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (index, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| goes_down(edge)) {
        down[edge.from].push(index);
    }
    let length = |node: usize| {
        let ends = down[node].iter().map(|index| of_node[graph.edges[*index].to]);
        ends.max().unwrap_or_default().saturating_sub(of_node[node])
    };
    let mut nodes: Vec<usize> = (0..graph.nodes.len()).collect();
    // Short ones first: there are places for a limited number.
    nodes.sort_by_key(|node| length(*node));
    let mut passes = vec![Vec::new(); graph.edges.len()];
    let mut passing = 0;
    for from in nodes {
        let mut line: Vec<usize> = Vec::new();
        let mut edges = down[from].clone();
        edges.sort_by_key(|index| of_node[graph.edges[*index].to]);
        for index in edges {
            let to = graph.edges[index].to;
            let between = of_node[to] - of_node[from] - 1;
            while line.len() < between && passing < MOST_PASSES {
                let item = layers.add(of_node[from] + 1 + line.len(), None);
                layers.join(line.last().copied().unwrap_or(from), item);
                line.push(item);
                passing += 1;
            }
            if let Some(passed) = line.get(..between) {
                passes[index] = passed.to_vec();
                layers.join(passed.last().copied().unwrap_or(from), to);
            }
        }
    }
    passes
}

fn width(graph: &FunctionGraph, item: &Item) -> f32 {
    item.node.map_or(LINE, |node| graph.nodes[node].width)
}

/// The middle of each item.
fn centers(graph: &FunctionGraph, layers: &Layers, rows: &[Vec<usize>]) -> Vec<f32> {
    let mut centers = vec![0.0; layers.items.len()];
    for row in rows {
        let mut left = 0.0;
        for item in row {
            let width = width(graph, &layers.items[*item]);
            centers[*item] = left + width / 2.0;
            left += width + BESIDE;
        }
        // Rows begin in the middle, and move from there.
        row.iter().for_each(|item| centers[*item] -= left / 2.0);
    }
    for round in 0..ROUNDS {
        let mut indices: Vec<usize> = (0..rows.len()).collect();
        if round % 2 == 1 {
            indices.reverse();
        }
        for index in indices {
            let row = &rows[index];
            let wish = |item: &usize| {
                // Looking at one side only, a picture of many layers would lean to one side.
                let (above, below) = (&layers.above[*item], &layers.below[*item]);
                let wanted = match (mean(above, &centers), mean(below, &centers)) {
                    (Some(above), Some(below)) => (above + below) / 2.0,
                    (one, other) => one.or(other).unwrap_or(centers[*item]),
                };
                let own = &layers.items[*item];
                // Long lines are to be straight.
                let is_passing = |it: &usize| layers.items[*it].node.is_none();
                let is_line = own.node.is_none() && above.iter().chain(below).all(is_passing);
                let weight = if is_line { 4.0 } else { 1.0 };
                Place { wanted, half: width(graph, own) / 2.0, weight }
            };
            let places: Vec<Place> = row.iter().map(wish).collect();
            let found = spread(&places, BESIDE);
            row.iter().zip(found).for_each(|(item, center)| centers[*item] = center);
        }
    }
    let left = layers.items.iter().zip(&centers);
    let left = left.map(|(item, center)| center - width(graph, item) / 2.0);
    let left = left.fold(f32::INFINITY, f32::min);
    centers.iter_mut().for_each(|center| *center += MARGIN - left);
    centers
}

/// The middle of some items.
fn mean(items: &[usize], centers: &[f32]) -> Option<f32> {
    let sum: f32 = items.iter().map(|it| centers[*it]).sum();
    (!items.is_empty()).then(|| sum / items.len() as f32)
}

fn place(graph: &mut FunctionGraph, layers: &Layers, rows: &[Vec<usize>], centers: &[f32]) {
    let mut top = MARGIN;
    for row in rows {
        let nodes = || row.iter().filter_map(|item| Some((*item, layers.items[*item].node?)));
        let highest = nodes().map(|(_, node)| graph.nodes[node].height).fold(0.0, f32::max);
        let placed: Vec<(usize, usize)> = nodes().collect();
        for (item, node) in placed {
            let node = &mut graph.nodes[node];
            node.x = centers[item] - node.width / 2.0;
            node.y = top + (highest - node.height) / 2.0;
            graph.width = graph.width.max(node.x + node.width + MARGIN);
        }
        top += highest + BETWEEN;
    }
    graph.height = top - BETWEEN + MARGIN;
}

/// Points without those in the middle of a straight line, which long lines have many of.
fn straightened(points: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let is_above = |one: &[f32; 2], other: &[f32; 2]| (one[0] - other[0]).abs() < 1.0;
    let mut kept: Vec<[f32; 2]> = Vec::with_capacity(points.len().min(8));
    for (index, point) in points.iter().enumerate() {
        let is_inside = kept.len() > 1
            && kept.last().is_some_and(|last| is_above(last, point))
            && points.get(index + 1).is_some_and(|next| is_above(point, next));
        if !is_inside {
            kept.push(*point);
        }
    }
    kept
}

/// The line of each edge: from the lower side of a box to the upper side of another.
fn route(graph: &mut FunctionGraph, layers: &Layers, centers: &[f32], passes: &[Vec<usize>]) {
    let mut middle = vec![0.0; layers.count];
    for node in layers.items.iter().filter_map(|it| Some((it.layer, it.node?))) {
        let known = &graph.nodes[node.1];
        middle[node.0] = known.y + known.height / 2.0;
    }
    let mut right = graph.width;
    for (edge, passed) in graph.edges.iter_mut().zip(passes) {
        let (from, to) = (&graph.nodes[edge.from], &graph.nodes[edge.to]);
        let start = [from.x + from.width / 2.0, from.y + from.height];
        let end = [to.x + to.width / 2.0, to.y];
        edge.points = if edge.is_back {
            // Back to the head of the loop, on the right of both.
            let side = (from.x + from.width).max(to.x + to.width) + BESIDE / 2.0;
            right = right.max(side + MARGIN);
            vec![start, [side, start[1] + 8.0], [side, end[1] - 8.0], end]
        } else {
            let between = passed.iter().map(|item| {
                [centers[*item], middle.get(layers.items[*item].layer).copied().unwrap_or(end[1])]
            });
            straightened(&std::iter::once(start).chain(between).chain([end]).collect::<Vec<_>>())
        };
    }
    graph.width = right;
}
