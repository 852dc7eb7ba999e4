//! One dispatch: which function, on which memory, over how many workgroups.

use std::sync::Arc;

use vm::Status;

use crate::memory::Binding;

/// One dispatch, with all buffers resolved.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Index into the exports of the executable.
    pub export: usize,
    /// How many workgroups in x, y and z.
    pub workgroup_count: [u32; 3],
    /// The size of a workgroup in x, y and z: 1 each, unless the executable was compiled for
    /// another.
    pub(crate) workgroup_size: [u32; 3],
    /// The push constants.
    pub constants: Arc<[u32]>,
    /// The memory that the dispatch works on.
    pub(crate) bindings: Vec<Binding>,
    /// Scratch memory that the dispatch asks for beyond what the export declares, in bytes.
    pub(crate) local_memory_bytes: usize,
}

impl Dispatch {
    /// How many workgroups there are.
    #[must_use]
    pub(crate) fn total_workgroups(&self) -> u64 {
        // The product may take 96 bits. Saturating at 64 is enough, as that many would never
        // finish.
        self.workgroup_count
            .iter()
            .fold(1, |total: u64, count| total.saturating_mul((*count).into()))
    }

    /// Adds the workgroup that failed and the name of the dispatch to a failure.
    #[must_use]
    pub(crate) fn explain(&self, name: &str, workgroup: u64, status: Status) -> Status {
        let [x, y, z] = self.workgroup(workgroup);
        let Status { code, message } = status;
        let text = format!("{message}; in workgroup ({x}, {y}, {z}) of dispatch @{name}");
        Status::new(code, text)
    }

    /// The coordinates x, y and z of workgroup number `index`, where x varies fastest.
    #[must_use]
    pub(crate) fn workgroup(&self, index: u64) -> [u32; 3] {
        workgroup_at(self.workgroup_count, index)
    }
}

/// The coordinates x, y and z of workgroup number `index` in a grid of `counts`, where x varies
/// fastest.
#[must_use]
pub fn workgroup_at(counts: [u32; 3], index: u64) -> [u32; 3] {
    let [x, y, _] = counts.map(|count| u64::from(count.max(1)));
    [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workgroups_are_counted_with_x_fastest() {
        let dispatch = Dispatch {
            export: 0,
            workgroup_count: [3, 2, 4],
            workgroup_size: [1; 3],
            constants: Arc::default(),
            bindings: Vec::new(),
            local_memory_bytes: 0,
        };
        assert_eq!(dispatch.total_workgroups(), 24);
        assert_eq!(dispatch.workgroup(0), [0, 0, 0]);
        assert_eq!(dispatch.workgroup(2), [2, 0, 0]);
        assert_eq!(dispatch.workgroup(3), [0, 1, 0]);
        assert_eq!(dispatch.workgroup(23), [2, 1, 3]);
    }
}
