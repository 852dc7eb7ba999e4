//! The protocol's `dataId`s: names for data that a client may want to watch.

use debug::WatchTarget;

/// The most entries that are kept: a client asks about each value that its user points at.
const MAX_KEPT: usize = 4096;

/// The data that the client has asked about. Its name is a number as text.
#[derive(Debug, Default)]
pub(crate) struct DataIds {
    targets: Vec<WatchTarget>,
    /// How many older targets were dropped: the number of the first target.
    forgotten: usize,
}

impl DataIds {
    /// The name of some data; the same data keeps its name.
    pub(crate) fn id(&mut self, target: WatchTarget) -> String {
        let index = self.targets.iter().position(|known| *known == target).unwrap_or_else(|| {
            if self.targets.len() >= MAX_KEPT {
                self.targets.drain(..MAX_KEPT / 2);
                self.forgotten += MAX_KEPT / 2;
            }
            self.targets.push(target);
            self.targets.len() - 1
        });
        (self.forgotten + index).to_string()
    }

    /// The data of a name, unless it was dropped.
    pub(crate) fn target(&self, id: &str) -> Option<WatchTarget> {
        let number: usize = id.parse().ok()?;
        self.targets.get(number.checked_sub(self.forgotten)?).cloned()
    }
}
