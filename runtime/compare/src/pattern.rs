//! Where the elements of a tensor lie that differ, and how: one sentence, only if it is so for all
//! of them.

/// What is gathered of the elements that differ, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    shape: Vec<usize>,
    count: usize,
    /// The smallest and the largest index along each axis.
    bounds: Vec<(usize, usize)>,
    /// The greatest common divisor of the distances to the first, along each axis.
    steps: Vec<usize>,
    first: Vec<usize>,
    /// The value of each side, while it is the same for all.
    same: [Option<f64>; 2],
    /// `b / a` and `b - a`, while they are the same for all.
    ratio: Option<f64>,
    offset: Option<f64>,
}

impl Gathered {
    /// Nothing so far.
    pub(crate) fn new(shape: &[u64]) -> Self {
        let shape: Vec<usize> =
            shape.iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX)).collect();
        Self {
            bounds: vec![(usize::MAX, 0); shape.len()],
            steps: vec![0; shape.len()],
            first: Vec::new(),
            shape,
            count: 0,
            same: [None; 2],
            ratio: None,
            offset: None,
        }
    }

    /// Another element that differs, by its number in order.
    pub(crate) fn add(&mut self, number: usize, a: f64, b: f64) {
        let mut rest = number;
        let mut indices = vec![0; self.shape.len()];
        for (axis, size) in self.shape.iter().enumerate().rev() {
            indices[axis] = rest % (*size).max(1);
            rest /= (*size).max(1);
        }
        let is_first = self.count == 0;
        self.count += 1;
        if is_first {
            self.first.clone_from(&indices);
            (self.same, self.ratio, self.offset) = ([Some(a), Some(b)], Some(b / a), Some(b - a));
        }
        for (axis, index) in indices.iter().enumerate() {
            let (low, high) = &mut self.bounds[axis];
            (*low, *high) = ((*low).min(*index), (*high).max(*index));
            self.steps[axis] = divisor(self.steps[axis], index.abs_diff(self.first[axis]));
        }
        for (same, value) in self.same.iter_mut().zip([a, b]) {
            if same.is_some_and(|known| known.to_bits() != value.to_bits()) {
                *same = None;
            }
        }
        let stays = |known: Option<f64>, now: f64| {
            known.filter(|known| known.is_finite() && (now - known).abs() <= known.abs() * 1e-3)
        };
        self.ratio = stays(self.ratio, b / a);
        self.offset = stays(self.offset, b - a);
    }

    /// What is so for all of them.
    pub(crate) fn sentence(&self) -> Option<String> {
        if self.count == 0 {
            return None;
        }
        let parts: Vec<String> = self.place().into_iter().chain(self.values()).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Where they lie.
    fn place(&self) -> Option<String> {
        let total: usize = self.shape.iter().product();
        if self.count < 2 || self.count == total {
            return None;
        }
        let size = |axis: usize| {
            let (low, high) = self.bounds[axis];
            high - low + 1
        };
        let strided: Vec<usize> =
            (0..self.shape.len()).filter(|axis| self.steps[*axis] > 1 && size(*axis) > 2).collect();
        if let [axis] = strided[..] {
            let (step, first) = (self.steps[axis], self.bounds[axis].0);
            if size(axis) > 2 * step {
                return Some(format!(
                    "all at every {} index of axis {axis}, from {first}",
                    ordinal(step)
                ));
            }
        }
        let partial: Vec<usize> =
            (0..self.shape.len()).filter(|axis| size(*axis) < self.shape[*axis]).collect();
        let volume: usize = (0..self.shape.len()).map(size).product();
        let filled = if self.count == volume { "exactly" } else { "all in" };
        match partial[..] {
            [] => None,
            [axis] => {
                let (low, high) = self.bounds[axis];
                let is_last = high + 1 == self.shape[axis];
                Some(match (low == high, is_last) {
                    (true, true) => format!("{filled} the last index of axis {axis}, {low}"),
                    (true, false) => format!("{filled} index {low} of axis {axis}"),
                    (false, true) => {
                        format!("{filled} the last {} indices of axis {axis}", high - low + 1)
                    }
                    (false, false) => format!("{filled} indices {low} to {high} of axis {axis}"),
                })
            }
            _ => {
                let ranges: Vec<String> = self
                    .bounds
                    .iter()
                    .map(|(low, high)| match low == high {
                        true => low.to_string(),
                        false => format!("{low}:{}", high + 1),
                    })
                    .collect();
                Some(format!("{filled} the tile [{}]", ranges.join(", ")))
            }
        }
    }

    /// What their values are.
    fn values(&self) -> Option<String> {
        if self.count < 2 {
            return None;
        }
        for (side, same) in ["A", "B"].iter().zip(self.same) {
            if let Some(value) = same {
                // Shorter than its value as a wider float.
                let narrow = value as f32;
                let is_narrow = f64::from(narrow).to_bits() == value.to_bits();
                let text = if is_narrow { narrow.to_string() } else { value.to_string() };
                return Some(format!("{side} is {text} at all of them"));
            }
        }
        let short = |value: f64| format!("{value:.4}").trim_end_matches('0').to_owned();
        if let Some(ratio) = self.ratio.filter(|ratio| *ratio != 0.0 && (ratio - 1.0).abs() > 0.01)
        {
            let ratio = short(ratio);
            return Some(format!("B is {} times A", ratio.trim_end_matches('.')));
        }
        let offset = self.offset.filter(|offset| *offset != 0.0)?;
        Some(format!("B is A {} {:e}", if offset < 0.0 { "-" } else { "+" }, offset.abs()))
    }
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn ordinal(number: usize) -> String {
    match number {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        number => format!("{number}th"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(shape: &[u64], differing: impl Fn(usize, usize) -> Option<(f64, f64)>) -> String {
        let mut gathered = Gathered::new(shape);
        for row in 0..shape[0] as usize {
            for column in 0..shape[1] as usize {
                if let Some((a, b)) = differing(row, column) {
                    gathered.add(row * shape[1] as usize + column, a, b);
                }
            }
        }
        gathered.sentence().unwrap_or_default()
    }

    /// Two values that have no relation from one place to another.
    fn pair(row: usize, column: usize) -> Option<(f64, f64)> {
        let at = (row * 31 + column * 17) % 23;
        Some((at as f64 * 0.37, ((at * at) % 19) as f64 * 1.91 + 0.1))
    }

    #[test]
    fn places_have_names() {
        let of = |fits: fn(usize, usize) -> bool| {
            sentence(&[8, 16], |row, column| pair(row, column).filter(|_| fits(row, column)))
        };
        assert_eq!(of(|_, column| column == 15), "exactly the last index of axis 1, 15");
        assert_eq!(of(|row, _| row == 3), "exactly index 3 of axis 0");
        assert_eq!(of(|row, _| row > 5), "exactly the last 2 indices of axis 0");
        assert_eq!(of(|row, column| row < 4 && column >= 8), "exactly the tile [0:4, 8:16]");
        assert_eq!(
            of(|row, column| row + 1 < 4 && (8..11).contains(&column) && row != column),
            "exactly the tile [0:3, 8:11]"
        );
        assert_eq!(of(|_, column| column % 4 == 1), "all at every 4th index of axis 1, from 1");
        assert_eq!(of(|_, _| true), "");
        assert_eq!(of(|row, column| (row + column) % 2 == 0), "");
    }

    #[test]
    fn values_have_relations() {
        let all = |of: fn(f64) -> (f64, f64)| {
            sentence(&[4, 4], |row, column| Some(of((row * 4 + column + 1) as f64)))
        };
        assert_eq!(all(|value| (value, 0.0)), "B is 0 at all of them");
        assert_eq!(all(|value| (7.0, value)), "A is 7 at all of them");
        assert_eq!(all(|value| (value, value * 2.0)), "B is 2 times A");
        assert_eq!(all(|value| (value, value + 0.5)), "B is A + 5e-1");
        assert_eq!(all(|value| (value, value * value)), "");
    }
}
