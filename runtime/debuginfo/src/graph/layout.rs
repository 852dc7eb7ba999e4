//! The inside of one group, or of the picture itself: layers from top to bottom. Each box stands
//! below the boxes whose tensors it takes. A line that passes layers takes a place in each of them,
//! so it goes around boxes.
//!
//! Tensors from outside of a group come in by ports on its upper side, and leave it by ports on its
//! lower side. To this layout, a port is a box as narrow as a line.

use std::collections::BTreeMap;

use super::order::ordered;
use super::spread::{Place, spread};

/// The space between boxes of a layer, and between layers.
const BESIDE: f32 = 26.0;
const BETWEEN: f32 = 44.0;
/// The width that a passing line takes.
const LINE: f32 = 12.0;
/// The space between the ports of a group and its boxes.
const PORTS: f32 = 16.0;
/// At most so many places of passing lines; longer lines go straight through.
const MOST_PASSES: usize = 60_000;
/// How often boxes move towards their neighbours.
const ROUNDS: usize = 10;

/// The space around the boxes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Margins {
    pub(super) above: f32,
    pub(super) around: f32,
    /// It is at least as wide, which leaves room for a title.
    pub(super) least_width: f32,
}

/// Where a box may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    Free,
    /// Just above what takes its tensors.
    Above,
    /// In the last layer.
    Last,
    /// On the upper side.
    PortIn,
    /// On the lower side.
    PortOut,
}

/// A box. Each comes after those whose tensors it takes, if no tensor goes in a circle.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) stand: Stand,
    pub(super) width: f32,
    pub(super) height: f32,
    pub(super) x: f32,
    pub(super) y: f32,
}

impl Slot {
    pub(super) fn new(stand: Stand, width: f32, height: f32) -> Self {
        Self { stand, width, height, x: 0.0, y: 0.0 }
    }

    pub(super) fn port(stand: Stand) -> Self {
        Self::new(stand, LINE, 0.0)
    }
}

/// A line from a box to another.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Which of the tensors of a box it is: lines with the same number begin as one.
    pub(super) source: usize,
    /// Where on the sides of the boxes it begins and ends, from their middles.
    pub(super) from_at: f32,
    pub(super) to_at: f32,
    pub(super) is_back: bool,
    pub(super) points: Vec<[f32; 2]>,
}

impl Line {
    /// Whether it goes from a box to a later one.
    fn goes_down(&self) -> bool {
        !self.is_back && self.from < self.to
    }
}

/// What is inside of a group.
#[derive(Debug, Default)]
pub(super) struct Level {
    pub(super) slots: Vec<Slot>,
    pub(super) lines: Vec<Line>,
    pub(super) width: f32,
    pub(super) height: f32,
}

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

/// Gives all boxes and lines of a level their places.
pub(super) fn lay_out(level: &mut Level, margins: Margins) {
    if level.slots.is_empty() {
        return;
    }
    let of_slot = layers_of(level);
    let mut layers =
        Layers { count: of_slot.iter().max().map_or(0, |it| it + 1), ..Layers::default() };
    for (slot, layer) in of_slot.iter().enumerate() {
        layers.add(*layer, Some(slot));
    }
    let passes = joined(level, &of_slot, &mut layers);
    let rows = ordered(&layers);
    let centers = centers(level, &layers, &rows, margins);
    let spans = place(level, &layers, &rows, &centers, margins);
    route(level, &of_slot, (&layers, &spans), &centers, &passes);
    // What goes back does so on the right of what it passes.
    let back = level.lines.iter().flat_map(|it| &it.points).map(|it| it[0] + margins.around / 2.0);
    level.width = back.fold(level.width.max(margins.least_width), f32::max);
}

/// The layer of each box: below all that it takes, and some just above what takes them.
fn layers_of(level: &Level) -> Vec<usize> {
    let slots = &level.slots;
    let has_ports = slots.iter().any(|it| it.stand == Stand::PortIn);
    let first = |it: &Slot| usize::from(has_ports && it.stand != Stand::PortIn);
    let mut layers: Vec<usize> = slots.iter().map(first).collect();
    let mut down: Vec<Vec<usize>> = vec![Vec::new(); slots.len()];
    for line in level.lines.iter().filter(|it| it.goes_down()) {
        down[line.from].push(line.to);
    }
    // Each box comes after those whose tensors it takes.
    for from in 0..slots.len() {
        for to in &down[from] {
            layers[*to] = layers[*to].max(layers[from] + 1);
        }
    }
    for (index, (slot, below)) in slots.iter().zip(&down).enumerate().rev() {
        let nearest = below.iter().map(|to| layers[*to]).min();
        if let (Stand::Above, Some(nearest)) = (slot.stand, nearest) {
            layers[index] = nearest.saturating_sub(1).max(first(slot));
        }
    }
    let is_inside = |it: &&Slot| it.stand != Stand::PortOut;
    let last_of = |layers: &[usize], is_counted: &dyn Fn(&&Slot) -> bool| {
        let counted = slots.iter().zip(layers).filter(|(slot, _)| is_counted(slot));
        counted.map(|(_, layer)| *layer).max().unwrap_or_default()
    };
    let last = last_of(&layers, &is_inside);
    for (index, slot) in slots.iter().enumerate() {
        match slot.stand {
            Stand::Last => layers[index] = last,
            Stand::PortOut => layers[index] = last + 1,
            _ => {}
        }
    }
    layers
}

/// Joins boxes by lines; returns the items that each line passes. All lines of a tensor that pass a
/// layer share a place there.
fn joined(level: &Level, of_slot: &[usize], layers: &mut Layers) -> Vec<Vec<usize>> {
    let goes_down = |it: &Line| it.goes_down() && of_slot[it.to] > of_slot[it.from];
    let mut down: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (index, line) in level.lines.iter().enumerate().filter(|(_, line)| goes_down(line)) {
        down.entry((line.from, line.source)).or_default().push(index);
    }
    let length = |(from, _): &(usize, usize), lines: &[usize]| {
        let ends = lines.iter().map(|index| of_slot[level.lines[*index].to]);
        ends.max().unwrap_or_default().saturating_sub(of_slot[*from])
    };
    let mut tensors: Vec<_> = down.into_iter().collect();
    // Short ones first: there are places for a limited number.
    tensors.sort_by_key(|(tensor, lines)| length(tensor, lines));
    let mut passes = vec![Vec::new(); level.lines.len()];
    let mut passing = 0;
    for ((from, _), mut lines) in tensors {
        let mut line: Vec<usize> = Vec::new();
        lines.sort_by_key(|index| of_slot[level.lines[*index].to]);
        for index in lines {
            let to = level.lines[index].to;
            let between = of_slot[to] - of_slot[from] - 1;
            while line.len() < between && passing < MOST_PASSES {
                let item = layers.add(of_slot[from] + 1 + line.len(), None);
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

fn width(level: &Level, item: &Item) -> f32 {
    item.node.map_or(LINE, |slot| level.slots[slot].width)
}

/// The middle of each item.
fn centers(level: &Level, layers: &Layers, rows: &[Vec<usize>], margins: Margins) -> Vec<f32> {
    let mut centers = vec![0.0; layers.items.len()];
    for row in rows {
        let mut left = 0.0;
        for item in row {
            let width = width(level, &layers.items[*item]);
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
                Place { wanted, half: width(level, own) / 2.0, weight }
            };
            let places: Vec<Place> = row.iter().map(wish).collect();
            let found = spread(&places, BESIDE);
            row.iter().zip(found).for_each(|(item, center)| centers[*item] = center);
        }
    }
    let (mut left, mut right) = (f32::INFINITY, f32::NEG_INFINITY);
    for (item, center) in layers.items.iter().zip(&centers) {
        let half = width(level, item) / 2.0;
        (left, right) = (left.min(center - half), right.max(center + half));
    }
    // What is less wide than its title is in the middle.
    let spare = (margins.least_width - (right - left) - 2.0 * margins.around).max(0.0);
    let by = margins.around + spare / 2.0 - left;
    centers.iter_mut().for_each(|center| *center += by);
    centers
}

/// The middle of some items.
fn mean(items: &[usize], centers: &[f32]) -> Option<f32> {
    let sum: f32 = items.iter().map(|it| centers[*it]).sum();
    (!items.is_empty()).then(|| sum / items.len() as f32)
}

/// Gives boxes their places; returns the upper and the lower side of each layer.
fn place(
    level: &mut Level,
    layers: &Layers,
    rows: &[Vec<usize>],
    centers: &[f32],
    margins: Margins,
) -> Vec<(f32, f32)> {
    let mut top = margins.above;
    let mut spans = Vec::with_capacity(rows.len());
    let mut end = top;
    for (index, row) in rows.iter().enumerate() {
        let slots = row.iter().filter_map(|item| Some((*item, layers.items[*item].node?)));
        let slots: Vec<(usize, usize)> = slots.collect();
        let is_port = |stand| slots.iter().any(|(_, slot)| level.slots[*slot].stand == stand);
        let (is_first, is_last) = (is_port(Stand::PortIn), is_port(Stand::PortOut));
        if is_last && index > 0 {
            top += PORTS - BETWEEN;
        }
        let highest = slots.iter().map(|(_, slot)| level.slots[*slot].height).fold(0.0, f32::max);
        for (item, slot) in slots {
            let slot = &mut level.slots[slot];
            slot.x = centers[item] - slot.width / 2.0;
            slot.y = top + (highest - slot.height) / 2.0;
            level.width = level.width.max(slot.x + slot.width + margins.around);
        }
        let passing = row.iter().filter(|item| layers.items[**item].node.is_none());
        let passing = passing.map(|item| centers[*item] + LINE / 2.0 + margins.around);
        level.width = passing.fold(level.width, f32::max);
        spans.push((top, top + highest));
        end = top + highest;
        top = end + if is_first { PORTS } else { BETWEEN };
    }
    level.height = end + margins.around;
    // Ports are on the sides.
    for slot in &mut level.slots {
        match slot.stand {
            Stand::PortIn => slot.y = 0.0,
            Stand::PortOut => slot.y = level.height,
            _ => {}
        }
    }
    spans
}

/// Points without those in the middle of a straight line, which long lines have many of.
pub(super) fn straightened(points: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let is_above = |one: &[f32; 2], other: &[f32; 2]| (one[0] - other[0]).abs() < 1.0;
    let mut kept: Vec<[f32; 2]> = Vec::with_capacity(points.len().min(8));
    for (index, point) in points.iter().enumerate() {
        let is_inside = kept.len() > 1
            && kept.last().is_some_and(|last| is_above(last, point))
            && points.get(index + 1).is_some_and(|next| is_above(point, next));
        let is_same = |last: &[f32; 2]| is_above(last, point) && (last[1] - point[1]).abs() < 0.01;
        if !is_inside && !kept.last().is_some_and(is_same) {
            kept.push(*point);
        }
    }
    kept
}

/// The points of each line: from the lower side of a box to the upper side of another. A line bends
/// between layers only, as boxes of a layer may be of any height.
fn route(
    level: &mut Level,
    of_slot: &[usize],
    (layers, spans): (&Layers, &[(f32, f32)]),
    centers: &[f32],
    passes: &[Vec<usize>],
) {
    let span = |layer: usize| spans.get(layer).copied().unwrap_or_default();
    let mut rights = vec![f32::NEG_INFINITY; spans.len()];
    for (slot, layer) in level.slots.iter().zip(of_slot) {
        rights[*layer] = rights[*layer].max(slot.x + slot.width);
    }
    for (line, passed) in level.lines.iter_mut().zip(passes) {
        let (from, to) = (&level.slots[line.from], &level.slots[line.to]);
        let start = [from.x + from.width / 2.0 + line.from_at, from.y + from.height];
        let end = [to.x + to.width / 2.0 + line.to_at, to.y];
        let (first, last) = (of_slot[line.from], of_slot[line.to]);
        line.points = if line.goes_down() && last > first {
            let mut points = vec![start, [start[0], span(first).1.max(start[1])]];
            for item in passed {
                let (upper, lower) = span(layers.items[*item].layer);
                points.extend([[centers[*item], upper], [centers[*item], lower]]);
            }
            points.extend([[end[0], span(last).0.min(end[1])], end]);
            straightened(&points)
        } else {
            // Up again, on the right of all that is between.
            let between = rights.get(last.min(first)..=last.max(first)).unwrap_or_default();
            let side = between.iter().copied().fold(start[0].max(end[0]), f32::max) + BESIDE / 2.0;
            let (bottom, top) = (span(first).1.max(start[1]), span(last).0.min(end[1]));
            straightened(&[
                start,
                [start[0], bottom],
                [side, bottom + 8.0],
                [side, top - 8.0],
                [end[0], top],
                end,
            ])
        };
    }
}
