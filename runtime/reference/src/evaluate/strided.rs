//! Elements of a tensor at equal distances, as lanes of a loop reach them. `generic` has checked
//! all places against the shape.

/// The place of a lane.
pub(super) fn place(from: i64, step: i64, lane: usize) -> usize {
    from.wrapping_add(step.wrapping_mul(lane as i64)) as usize
}

/// Reads elements.
pub(super) fn copy<T: Copy>(to: &mut [T], values: &[T], from: i64, step: i64) {
    match step {
        0 => to.fill(values[from as usize]),
        1 => to.copy_from_slice(&values[from as usize..from as usize + to.len()]),
        _ => to.iter_mut().enumerate().for_each(|(lane, it)| *it = values[place(from, step, lane)]),
    }
}

/// Writes elements.
pub(super) fn put<T: Copy>(values: &mut [T], lanes: &[T], from: i64, step: i64) {
    if step == 1 {
        values[from as usize..from as usize + lanes.len()].copy_from_slice(lanes);
        return;
    }
    lanes.iter().enumerate().for_each(|(lane, it)| values[place(from, step, lane)] = *it);
}
