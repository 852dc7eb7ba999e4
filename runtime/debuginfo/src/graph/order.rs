//! The order of the items within each layer, so that few lines cross: each layer is sorted by the
//! middle of its neighbours, downwards and upwards in turn, and the best result counts.

use super::layout::Layers;

/// How often all layers are sorted.
const SWEEPS: usize = 12;

/// The items of each layer from left to right.
pub(super) fn ordered(layers: &Layers) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); layers.count];
    for (index, item) in layers.items.iter().enumerate() {
        rows[item.layer].push(index);
    }
    let mut best = rows.clone();
    let mut fewest = crossings(layers, &rows);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let mut places = places(layers, &rows);
        let mut indices: Vec<usize> = (0..rows.len()).collect();
        let downwards = sweep % 2 == 0;
        if !downwards {
            indices.reverse();
        }
        for index in indices {
            let near = if downwards { &layers.above } else { &layers.below };
            let row = &mut rows[index];
            let mut keyed: Vec<(f64, usize)> = row
                .iter()
                .map(|item| {
                    let near = &near[*item];
                    let sum: usize = near.iter().map(|it| places[*it]).sum();
                    let own = places[*item] as f64;
                    (if near.is_empty() { own } else { sum as f64 / near.len() as f64 }, *item)
                })
                .collect();
            keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
            *row = keyed.into_iter().map(|(_, item)| item).collect();
            row.iter().enumerate().for_each(|(place, item)| places[*item] = place);
        }
        let count = crossings(layers, &rows);
        if count < fewest {
            fewest = count;
            best.clone_from(&rows);
        }
    }
    best
}

fn places(layers: &Layers, rows: &[Vec<usize>]) -> Vec<usize> {
    let mut places = vec![0; layers.items.len()];
    for row in rows {
        row.iter().enumerate().for_each(|(place, item)| places[*item] = place);
    }
    places
}

/// How many pairs of lines cross.
pub(super) fn crossings(layers: &Layers, rows: &[Vec<usize>]) -> u64 {
    let places = places(layers, rows);
    let mut total = 0;
    for (index, row) in rows.iter().enumerate() {
        let width = rows.get(index + 1).map_or(0, Vec::len);
        // A tree of sums over the lower ends that were met so far.
        let mut sums = vec![0_u64; width + 1];
        let mut met = 0;
        for item in row {
            let mut ends: Vec<usize> = layers.below[*item].iter().map(|it| places[*it]).collect();
            ends.sort_unstable();
            for end in &ends {
                let (mut at, mut before) = (end + 1, 0);
                while at > 0 {
                    before += sums[at];
                    at &= at - 1;
                }
                total += met - before;
            }
            for end in ends {
                let mut at = end + 1;
                while at <= width {
                    sums[at] += 1;
                    at += at & at.wrapping_neg();
                }
                met += 1;
            }
        }
    }
    total
}
