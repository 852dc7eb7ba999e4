//! Boxes of a layer as near as possible to where they want to be, without overlap and without a
//! change of their order. The sum of the squared distances is the least there is: boxes that would
//! overlap form a block, which stands where they want to be together.

/// A box of a layer.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Where its middle wants to be.
    pub(super) wanted: f32,
    /// Half of its width.
    pub(super) half: f32,
    /// How much its wish counts.
    pub(super) weight: f32,
}

struct Block {
    count: usize,
    sum: f64,
    weight: f64,
}

impl Block {
    fn at(&self) -> f64 {
        self.sum / self.weight
    }
}

/// The middles of boxes, which are `space` apart.
pub(super) fn spread(places: &[Place], space: f32) -> Vec<f32> {
    // Without the widths, the boxes are points whose order must not change.
    let mut offsets = Vec::with_capacity(places.len());
    let mut offset = 0.0_f64;
    let mut blocks: Vec<Block> = Vec::new();
    for (index, place) in places.iter().enumerate() {
        if let Some(before) = index.checked_sub(1).and_then(|at| places.get(at)) {
            offset += f64::from(before.half + place.half + space);
        }
        offsets.push(offset);
        let weight = f64::from(place.weight);
        let mut block =
            Block { count: 1, sum: (f64::from(place.wanted) - offset) * weight, weight };
        while let Some(last) = blocks.pop_if(|last| last.at() > block.at()) {
            block.count += last.count;
            block.sum += last.sum;
            block.weight += last.weight;
        }
        blocks.push(block);
    }
    let points = blocks.iter().flat_map(|it| std::iter::repeat_n(it.at(), it.count));
    points.zip(offsets).map(|(point, offset)| (point + offset) as f32).collect()
}
