//! Elements of a strided array, copied side by side: one copy for each innermost run.

/// Copies all elements in row-major order.
///
/// # Safety
/// Each element that sizes and strides (in elements) lead to from `source` can be read, all of them
/// can be written from `target` on, and the two do not overlap. An element has `width` bytes.
pub(super) unsafe fn gather(
    source: *const u8,
    sizes: &[i64],
    strides: &[i64],
    width: usize,
    target: *mut u8,
) {
    if sizes.contains(&0) {
        return;
    }
    let (dimensions, run) = outer_dimensions(sizes, strides);
    let (inner, outer) = match dimensions.split_last() {
        Some((inner, outer)) if run == 1 => (*inner, outer),
        _ => ((1, 0), &dimensions[..]),
    };
    let bytes = run * width;
    let mut index = vec![0_usize; outer.len()];
    let mut target = target;
    loop {
        let offset: isize =
            index.iter().zip(outer).map(|(at, (_, stride))| *at as isize * stride).sum();
        // SAFETY: the index is of an element, so is the start of its innermost run; `target` has
        // room for this run, as for all before it.
        unsafe {
            let start = source.offset(offset * width as isize);
            target = match (inner, width) {
                ((1, _), _) => copy_run(start, bytes, target),
                (_, 1) => copy_elements::<1>(start, inner, target),
                (_, 2) => copy_elements::<2>(start, inner, target),
                (_, 4) => copy_elements::<4>(start, inner, target),
                (_, 8) => copy_elements::<8>(start, inner, target),
                (_, 16) => copy_elements::<16>(start, inner, target),
                _ => copy_any(start, inner, width, target),
            };
        }
        // The next index, as an odometer counts.
        let turned = (0..outer.len()).rev().find(|at| index[*at] + 1 < outer[*at].0);
        let Some(turned) = turned else { return };
        index[turned] += 1;
        index[turned + 1..].fill(0);
    }
}

/// Copies all elements from row-major order to where they belong: the opposite of [`gather`].
///
/// # Safety
/// As for [`gather`], with the roles exchanged.
pub(super) unsafe fn scatter(
    source: *const u8,
    target: *mut u8,
    sizes: &[i64],
    strides: &[i64],
    width: usize,
) {
    if sizes.contains(&0) {
        return;
    }
    let (dimensions, run) = outer_dimensions(sizes, strides);
    let bytes = run * width;
    let mut index = vec![0_usize; dimensions.len()];
    let mut source = source;
    loop {
        let offset: isize =
            index.iter().zip(&dimensions).map(|(at, (_, stride))| *at as isize * stride).sum();
        // SAFETY: the index is of an element, so is the start of its innermost run; `source` has
        // the elements of this run, as those of all before it.
        unsafe {
            let start = target.offset(offset * width as isize);
            std::ptr::copy_nonoverlapping(source, start, bytes);
            source = source.add(bytes);
        }
        let turned = (0..dimensions.len()).rev().find(|at| index[*at] + 1 < dimensions[*at].0);
        let Some(turned) = turned else { return };
        index[turned] += 1;
        index[turned + 1..].fill(0);
    }
}

/// Whether each element surely has memory of its own.
pub(super) fn is_spread_out(sizes: &[i64], strides: &[i64]) -> bool {
    let mut dimensions: Vec<(i64, i64)> = sizes
        .iter()
        .zip(strides)
        .filter(|(size, _)| **size > 1)
        .map(|(size, stride)| (stride.saturating_abs(), *size))
        .collect();
    dimensions.sort_unstable();
    // From the narrowest dimension on, each steps over all that those before it reach.
    let mut reach = 0_i64;
    dimensions.into_iter().all(|(stride, size)| {
        let is_over = stride > reach;
        reach = reach.saturating_add(stride.saturating_mul(size - 1));
        is_over
    })
}

/// The dimensions outside of the innermost run, as sizes and strides, and the elements of the run.
/// Dimensions of one element are left out; neighbours that are as one become one.
fn outer_dimensions(sizes: &[i64], strides: &[i64]) -> (Vec<(usize, isize)>, usize) {
    let mut dimensions: Vec<(usize, isize)> = Vec::new();
    for (size, stride) in sizes.iter().zip(strides).filter(|(size, _)| **size != 1) {
        let (size, stride) = (*size as usize, *stride as isize);
        match dimensions.last_mut() {
            Some((before, outer)) if *outer == stride * size as isize => {
                (*before, *outer) = (*before * size, stride);
            }
            _ => dimensions.push((size, stride)),
        }
    }
    match dimensions.pop_if(|(_, stride)| *stride == 1) {
        Some((run, _)) => (dimensions, run),
        None => (dimensions, 1),
    }
}

/// Copies bytes that lie side by side; returns where they end.
///
/// # Safety
/// As above, for one run.
unsafe fn copy_run(start: *const u8, bytes: usize, target: *mut u8) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe {
        std::ptr::copy_nonoverlapping(start, target, bytes);
        target.add(bytes)
    }
}

/// Copies elements of `N` bytes that lie a stride apart; returns where they end.
///
/// # Safety
/// As above, for one dimension.
unsafe fn copy_elements<const N: usize>(
    start: *const u8,
    (count, stride): (usize, isize),
    target: *mut u8,
) -> *mut u8 {
    let target = target.cast::<[u8; N]>();
    for at in 0..count {
        // SAFETY: as the caller promises.
        unsafe {
            let element = start.offset(at as isize * stride * N as isize).cast::<[u8; N]>();
            target.add(at).write(element.read());
        }
    }
    // SAFETY: as the caller promises.
    unsafe { target.add(count) }.cast()
}

/// The same for elements of any width.
///
/// # Safety
/// As above.
unsafe fn copy_any(
    start: *const u8,
    (count, stride): (usize, isize),
    width: usize,
    mut target: *mut u8,
) -> *mut u8 {
    for at in 0..count {
        // SAFETY: as the caller promises.
        target =
            unsafe { copy_run(start.offset(at as isize * stride * width as isize), width, target) };
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(sizes: &[i64], strides: &[i64], first: usize, source: &[u16]) -> Vec<u16> {
        let count: i64 = sizes.iter().product();
        let mut target = vec![0_u16; count as usize];
        // SAFETY: the tests have only elements of the source.
        unsafe {
            let start = source.as_ptr().add(first).cast();
            gather(start, sizes, strides, 2, target.as_mut_ptr().cast());
        }
        target
    }

    #[test]
    fn scattered_elements_are_gathered_again() {
        let cases: [(&[i64], &[i64], usize); 6] = [
            (&[2, 3], &[3, 1], 0),
            (&[3, 2], &[1, 3], 0),
            (&[2, 2], &[12, 1], 5),
            (&[3], &[-2], 4),
            (&[], &[], 3),
            (&[2, 0], &[1, 1], 0),
        ];
        for (sizes, strides, first) in cases {
            let count = sizes.iter().product::<i64>() as u16;
            let elements: Vec<u16> = (100..100 + count).collect();
            let mut memory = vec![0_u16; 24];
            // SAFETY: the memory has all of these elements.
            unsafe {
                let start = memory.as_mut_ptr().add(first).cast();
                scatter(elements.as_ptr().cast(), start, sizes, strides, 2);
            }
            assert_eq!(gathered(sizes, strides, first, &memory), elements, "{sizes:?}");
            assert_eq!(memory.iter().filter(|it| **it != 0).count(), elements.len());
        }
    }

    #[test]
    fn elements_that_share_memory_are_noticed() {
        for (sizes, strides, expected) in [
            ([2, 3], [3, 1], true),
            ([3, 2], [1, 3], true),
            ([2, 3], [-3, -1], true),
            ([2, 3], [0, 1], false),
            ([1, 3], [0, 1], true),
            ([2, 3], [2, 1], false),
            ([2, 3], [1, 1], false),
        ] {
            assert_eq!(is_spread_out(&sizes, &strides), expected, "{sizes:?} {strides:?}");
        }
    }

    #[test]
    fn runs_are_as_long_as_they_can_be() {
        assert_eq!(outer_dimensions(&[2, 3, 4], &[12, 4, 1]), (vec![], 24));
        assert_eq!(outer_dimensions(&[2, 3, 4], &[24, 4, 1]), (vec![(2, 24)], 12));
        assert_eq!(outer_dimensions(&[2, 1, 4], &[9, 77, 2]), (vec![(2, 9), (4, 2)], 1));
        assert_eq!(outer_dimensions(&[], &[]), (vec![], 1));
    }

    #[test]
    fn elements_come_in_row_major_order() {
        let source: Vec<u16> = (0..24).collect();
        assert_eq!(gathered(&[2, 3], &[3, 1], 0, &source), [0, 1, 2, 3, 4, 5]);
        assert_eq!(gathered(&[3, 2], &[1, 3], 0, &source), [0, 3, 1, 4, 2, 5]);
        assert_eq!(gathered(&[2, 2], &[12, 1], 5, &source), [5, 6, 17, 18]);
        assert_eq!(gathered(&[3], &[-2], 4, &source), [4, 2, 0]);
        assert_eq!(gathered(&[2, 2], &[0, 1], 7, &source), [7, 8, 7, 8]);
        assert_eq!(gathered(&[], &[], 3, &source), [3]);
        assert_eq!(gathered(&[2, 0], &[1, 1], 0, &source), [0_u16; 0]);
    }
}
