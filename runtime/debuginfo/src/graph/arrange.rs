//! A picture of a program in which some groups are open. The inside of each open group is laid out
//! by itself, the innermost ones first; then it is a box of that size in the group around it. A
//! tensor between boxes of different groups has a line in each group that it goes through; these
//! lines meet at the groups' ports.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use super::build::empty;
use super::groups::Group;
use super::layout::{Level, Line, Margins, Slot, Stand, lay_out, straightened};
use super::{
    DispatchGraph, DispatchProgram, FunctionGraph, FunctionProgram, GRAPH_FORMAT, GraphEdge,
    GraphNode, GraphView, NodeKind, OpenGroups,
};

/// So many boxes can be read at once.
const READABLE: usize = 60;
/// With so many boxes or less, weights have some by default.
const FEW: usize = 40;

const PICTURE: Margins = Margins { above: 24.0, around: 24.0, least_width: 0.0 };
/// A frame has its title above its boxes.
const FRAME: Margins = Margins { above: 30.0, around: 14.0, least_width: 210.0 };

impl DispatchProgram {
    /// A picture of what is to be seen.
    #[must_use]
    pub fn arranged(&self, view: &GraphView) -> DispatchGraph {
        let functions = self.functions.iter().map(|it| it.arranged(view));
        DispatchGraph { version: GRAPH_FORMAT, functions: functions.collect() }
    }
}

impl FunctionProgram {
    fn arranged(&self, view: &GraphView) -> FunctionGraph {
        let groups = &self.groups.all;
        let mut nodes = self.nodes.clone();
        for (node, group) in nodes.iter_mut().zip(&self.groups.of_node) {
            node.group = group.map(|it| self.nodes.len() + it);
        }
        nodes.extend(self.group_nodes());
        let is_weight = |it: &&GraphNode| it.kind == NodeKind::Weight;
        let shows_weights = view.weights.unwrap_or(nodes.len() - groups.len() <= FEW)
            && nodes.iter().any(|it| is_weight(&it));
        for (index, is_open) in self.open(&view.open).into_iter().enumerate() {
            nodes[self.nodes.len() + index].is_open = is_open;
        }
        // A group comes after the one around it, but boxes come before their groups.
        for index in (self.nodes.len()..nodes.len()).chain(0..self.nodes.len()) {
            let around = nodes[index].group.and_then(|it| nodes.get(it));
            let is_covered = around.is_some_and(|it| it.is_hidden || !it.is_open);
            nodes[index].is_hidden = is_covered || (is_weight(&&nodes[index]) && !shows_weights);
        }
        let mut graph = FunctionGraph {
            name: self.name.clone(),
            grouped_by: self.groups.by.filter(|_| !groups.is_empty()),
            shows_weights,
            nodes,
            ..FunctionGraph::default()
        };
        Arranger::of(self, &mut graph).arrange();
        graph
    }

    /// The groups as boxes, with the sums of their dispatches.
    fn group_nodes(&self) -> Vec<GraphNode> {
        let mut nodes: Vec<GraphNode> =
            self.groups.all.iter().map(|it| self.group_node(it)).collect();
        let all = self.nodes.iter().zip(&self.groups.of_node);
        for (node, of) in all.filter(|(node, _)| node.kind == NodeKind::Dispatch) {
            for group in self.groups.around(*of) {
                let group = &mut nodes[group];
                group.dispatches = group.dispatches.map(|it| it + 1);
                group.bytes = group.bytes.zip(node.bytes).map(|(sum, own)| sum.saturating_add(own));
                let sum =
                    group.operations.zip(node.operations).map(|(sum, own)| sum.saturating_add(own));
                group.operations = sum.or(group.operations).or(node.operations);
            }
        }
        nodes
    }

    fn group_node(&self, group: &Group) -> GraphNode {
        let id = format!("g{}.{}", self.index, group.key);
        GraphNode {
            group: group.parent.map(|it| self.nodes.len() + it),
            dispatches: Some(0),
            bytes: Some(0),
            ..empty(id, NodeKind::Group, group.name.clone())
        }
    }

    /// Which groups are open.
    fn open(&self, wanted: &OpenGroups) -> Vec<bool> {
        let count = self.groups.all.len();
        match wanted {
            OpenGroups::All => vec![true; count],
            OpenGroups::These(ids) => {
                let id = |it: &Group| format!("g{}.{}", self.index, it.key);
                self.groups.all.iter().map(|it| ids.contains(&id(it))).collect()
            }
            OpenGroups::Readable => {
                let depth = |group| self.groups.around(group).count();
                let depths: Vec<usize> = (0..count).map(|it| depth(Some(it))).collect();
                let deepest = depths.iter().copied().max().unwrap_or_default();
                let of_nodes = self.groups.of_node.iter().zip(&self.nodes);
                let of_nodes = of_nodes.filter(|(_, node)| node.kind != NodeKind::Weight);
                let of_nodes: Vec<usize> = of_nodes.map(|(group, _)| depth(*group)).collect();
                // With so many levels open, the boxes in them are seen, and the groups of the next.
                let seen = |levels: usize| {
                    of_nodes.iter().filter(|it| **it <= levels).count()
                        + depths.iter().filter(|it| **it == levels + 1).count()
                };
                let levels = (0..=deepest).rev().find(|it| seen(*it) <= READABLE);
                depths.iter().map(|it| *it <= levels.unwrap_or_default()).collect()
            }
        }
    }
}

/// A box in a level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Inside {
    /// A box, or a group.
    Node(usize),
    /// Where the tensors of a box come in, or leave.
    In(usize),
    Out(usize),
}

/// The inside of a group, to be laid out.
#[derive(Default)]
struct Frame {
    /// In an order in which tensors go down.
    inside: Vec<Inside>,
    /// Where each is among them.
    index: HashMap<Inside, usize>,
    level: Level,
    /// By what a line leads from and to, and whose tensor it is, its index.
    known: HashMap<Piece, usize>,
    pieces: Vec<Piece>,
}

/// A line within one group: from a box to a box, with the box whose tensors they are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Piece {
    from: Inside,
    to: Inside,
    source: usize,
    is_back: bool,
}

struct Arranger<'g> {
    graph: &'g mut FunctionGraph,
    /// By the index of an open group; the last one is the picture itself.
    frames: BTreeMap<usize, Frame>,
    /// For each edge, its pieces, from its beginning to its end.
    routes: Vec<Vec<(usize, usize)>>,
}

impl<'g> Arranger<'g> {
    /// The key of the picture itself among frames.
    const PICTURE: usize = usize::MAX;

    fn of(program: &FunctionProgram, graph: &'g mut FunctionGraph) -> Self {
        let mut arranger = Self { graph, frames: BTreeMap::new(), routes: Vec::new() };
        arranger.frames.insert(Self::PICTURE, Frame::default());
        for (index, node) in arranger.graph.nodes.iter().enumerate() {
            if node.is_open && !node.is_hidden {
                arranger.frames.insert(index, Frame::default());
            }
        }
        let mut known = HashSet::new();
        for edge in &program.edges {
            let ends = (arranger.seen(edge.from), arranger.seen(edge.to));
            let (Some(from), Some(to)) = ends else { continue };
            // What stays within a collapsed group is not seen.
            if from == to && edge.from != from || !known.insert((from, to, edge.from, edge.value)) {
                continue;
            }
            let route = arranger.route(from, to, edge.is_back);
            arranger.routes.push(route);
            arranger.graph.edges.push(GraphEdge {
                from,
                to,
                tensor: edge.tensor.clone(),
                is_back: edge.is_back,
                points: Vec::new(),
            });
        }
        arranger
    }

    /// The box, or the outermost collapsed group that has it. Nothing for weights that are not
    /// shown.
    fn seen(&self, node: usize) -> Option<usize> {
        let nodes = &self.graph.nodes;
        // A weight in a collapsed group only leads to boxes of that group.
        if nodes[node].kind == NodeKind::Weight && nodes[node].is_hidden {
            return None;
        }
        std::iter::successors(Some(node), |it| nodes[*it].group).find(|it| !nodes[*it].is_hidden)
    }

    /// The open groups around a box, the innermost first, and at last the picture itself.
    fn around(&self, node: usize) -> Vec<usize> {
        let groups =
            std::iter::successors(self.graph.nodes[node].group, |it| self.graph.nodes[*it].group);
        groups.chain([Self::PICTURE]).collect()
    }

    /// The pieces of an edge.
    fn route(&mut self, from: usize, to: usize, is_back: bool) -> Vec<(usize, usize)> {
        let (above, below) = (self.around(from), self.around(to));
        let common = above.iter().copied().find(|it| below.contains(it));
        let common = common.unwrap_or(Self::PICTURE);
        let mut route = Vec::new();
        let mut at = Inside::Node(from);
        for group in above.into_iter().take_while(|it| *it != common) {
            let piece = Piece { from: at, to: Inside::Out(from), source: from, is_back: false };
            route.push((group, self.piece(group, piece)));
            at = Inside::Node(group);
        }
        let inner: Vec<usize> = below.into_iter().take_while(|it| *it != common).collect();
        let first = inner.last().copied().unwrap_or(to);
        let piece = Piece { from: at, to: Inside::Node(first), source: from, is_back };
        route.push((common, self.piece(common, piece)));
        for (depth, group) in inner.iter().enumerate().rev() {
            let to = depth.checked_sub(1).and_then(|it| inner.get(it)).copied().unwrap_or(to);
            let piece = Piece {
                from: Inside::In(from),
                to: Inside::Node(to),
                source: from,
                is_back: false,
            };
            route.push((*group, self.piece(*group, piece)));
        }
        route
    }

    fn piece(&mut self, group: usize, piece: Piece) -> usize {
        let frame = self.frames.entry(group).or_default();
        let next = frame.pieces.len();
        let index = *frame.known.entry(piece).or_insert(next);
        if index == next {
            frame.pieces.push(piece);
        }
        index
    }

    fn arrange(mut self) {
        let nodes = &self.graph.nodes;
        for (index, node) in nodes.iter().enumerate().filter(|(_, it)| !it.is_hidden) {
            let group = node.group.unwrap_or(Self::PICTURE);
            if let Some(frame) = self.frames.get_mut(&group) {
                frame.inside.push(Inside::Node(index));
            }
        }
        // Groups come after those around them, so the last ones are the innermost.
        let mut order: Vec<usize> =
            self.frames.keys().copied().filter(|it| *it != Self::PICTURE).collect();
        order.reverse();
        order.push(Self::PICTURE);
        let first = self.first_boxes();
        for group in &order {
            let Some(mut frame) = self.frames.remove(group) else { continue };
            self.lay_out(&mut frame, &first, *group == Self::PICTURE);
            if let Some(node) = self.graph.nodes.get_mut(*group) {
                (node.width, node.height) = (frame.level.width, frame.level.height);
            }
            self.frames.insert(*group, frame);
        }
        order.reverse();
        self.place(&order);
    }

    /// For each box and group, the first box in it.
    fn first_boxes(&self) -> Vec<usize> {
        let nodes = &self.graph.nodes;
        let is_group = |it: &usize| nodes[*it].kind == NodeKind::Group;
        let own = |it| if is_group(&it) { usize::MAX } else { it };
        let mut first: Vec<usize> = (0..nodes.len()).map(own).collect();
        // What is inside comes before what is around it.
        let (groups, boxes): (Vec<usize>, Vec<usize>) = (0..nodes.len()).partition(is_group);
        let boxes = boxes.into_iter().filter(|it| nodes[*it].kind != NodeKind::Weight);
        for index in boxes.chain(groups.into_iter().rev()) {
            if let Some(group) = nodes[index].group {
                first[group] = first[group].min(first[index]);
            }
        }
        first
    }

    fn lay_out(&self, frame: &mut Frame, first: &[usize], is_picture: bool) {
        let nodes = &self.graph.nodes;
        let ports = frame.pieces.iter().flat_map(|it| [it.from, it.to]);
        let ports: BTreeSet<Inside> = ports.filter(|it| !matches!(it, Inside::Node(_))).collect();
        let boxes = in_order(&frame.inside, &frame.pieces, first);
        let of_kind = |is_in: bool| {
            ports.iter().copied().filter(move |it| matches!(it, Inside::In(_)) == is_in)
        };
        frame.inside = of_kind(true).chain(boxes).chain(of_kind(false)).collect();
        frame.index = frame.inside.iter().enumerate().map(|(index, it)| (*it, index)).collect();
        let index = &frame.index;
        let slots = frame.inside.iter().map(|it| match it {
            Inside::In(_) => Slot::port(Stand::PortIn),
            Inside::Out(_) => Slot::port(Stand::PortOut),
            Inside::Node(node) => {
                let GraphNode { kind, width, height, .. } = nodes[*node];
                let stand = match kind {
                    NodeKind::Argument | NodeKind::Weight => Stand::Above,
                    NodeKind::Result => Stand::Last,
                    _ => Stand::Free,
                };
                Slot::new(stand, width, height)
            }
        });
        frame.level.slots = slots.collect();
        let lines = frame.pieces.iter().map(|piece| Line {
            from: index.get(&piece.from).copied().unwrap_or_default(),
            to: index.get(&piece.to).copied().unwrap_or_default(),
            source: piece.source,
            from_at: self.port_at(piece.from, Inside::Out(piece.source)),
            to_at: self.port_at(piece.to, Inside::In(piece.source)),
            is_back: piece.is_back,
            points: Vec::new(),
        });
        frame.level.lines = lines.collect();
        lay_out(&mut frame.level, if is_picture { PICTURE } else { FRAME });
    }

    /// How far from the middle of an open group its port is. Other boxes have none.
    fn port_at(&self, of: Inside, port: Inside) -> f32 {
        let Inside::Node(group) = of else { return 0.0 };
        let Some(frame) = self.frames.get(&group) else { return 0.0 };
        let slot = frame.index.get(&port).and_then(|it| frame.level.slots.get(*it));
        slot.map_or(0.0, |it| it.x + it.width / 2.0 - frame.level.width / 2.0)
    }

    /// Gives boxes their places in the picture, from the outermost groups to the innermost, and
    /// edges their points.
    fn place(self, order: &[usize]) {
        let Self { graph, frames, routes } = self;
        for group in order {
            let Some(frame) = frames.get(group) else { continue };
            let (left, top) = graph.nodes.get(*group).map_or((0.0, 0.0), |it| (it.x, it.y));
            for (inside, slot) in frame.inside.iter().zip(&frame.level.slots) {
                if let Inside::Node(node) = inside {
                    let node = &mut graph.nodes[*node];
                    (node.x, node.y) = (left + slot.x, top + slot.y);
                }
            }
        }
        for (edge, route) in graph.edges.iter_mut().zip(routes) {
            let mut points: Vec<[f32; 2]> = Vec::new();
            for (group, piece) in route {
                let (left, top) = graph.nodes.get(group).map_or((0.0, 0.0), |it| (it.x, it.y));
                let line = frames.get(&group).and_then(|it| it.level.lines.get(piece));
                let line = line.into_iter().flat_map(|it| &it.points);
                points.extend(line.map(|[x, y]| [left + x, top + y]));
            }
            edge.points = straightened(&points);
        }
        if let Some(picture) = frames.get(&Self::PICTURE) {
            (graph.width, graph.height) = (picture.level.width, picture.level.height);
        }
    }
}

/// Boxes in an order in which tensors go down, as far as they do not go in circles: collapsed
/// groups may take tensors from each other. Otherwise they are in the order of the program.
fn in_order(boxes: &[Inside], pieces: &[Piece], first: &[usize]) -> Vec<Inside> {
    let key = |it: &Inside| match it {
        Inside::Node(node) => (first.get(*node).copied().unwrap_or(*node), *node),
        Inside::In(node) | Inside::Out(node) => (*node, *node),
    };
    let mut wait: HashMap<Inside, usize> = boxes.iter().map(|it| (*it, 0)).collect();
    let mut down: HashMap<Inside, Vec<Inside>> = HashMap::new();
    for piece in pieces.iter().filter(|it| !it.is_back && it.from != it.to) {
        if wait.contains_key(&piece.from)
            && let Some(count) = wait.get_mut(&piece.to)
        {
            *count += 1;
            down.entry(piece.from).or_default().push(piece.to);
        }
    }
    let mut left: BTreeSet<((usize, usize), Inside)> =
        boxes.iter().map(|it| (key(it), *it)).collect();
    let is_free = |wait: &HashMap<Inside, usize>, it: &Inside| wait.get(it) == Some(&0);
    let mut free: BinaryHeap<Reverse<((usize, usize), Inside)>> =
        left.iter().filter(|(_, it)| is_free(&wait, it)).copied().map(Reverse).collect();
    let mut order = Vec::with_capacity(boxes.len());
    while let Some(next) = free.pop().map(|it| it.0).or_else(|| left.first().copied()) {
        if !left.remove(&next) {
            continue;
        }
        order.push(next.1);
        for to in down.remove(&next.1).unwrap_or_default() {
            if let Some(count) = wait.get_mut(&to) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    free.push(Reverse((key(&to), to)));
                }
            }
        }
    }
    order
}
