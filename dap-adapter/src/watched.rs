//! The names by which a client comes back for data that it wants to watch.

use debug::WatchTarget;

/// The most that is kept: a client asks for each value that its user points at.
const MOST: usize = 4096;

/// Data that a client has asked about, by numbers that it takes for names.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    targets: Vec<WatchTarget>,
    /// How many were forgotten before the first.
    forgotten: usize,
}

impl Watched {
    /// Names data; the same data has the same name.
    pub(crate) fn name(&mut self, target: WatchTarget) -> String {
        let index = self.targets.iter().position(|known| *known == target).unwrap_or_else(|| {
            if self.targets.len() >= MOST {
                self.targets.drain(..MOST / 2);
                self.forgotten += MOST / 2;
            }
            self.targets.push(target);
            self.targets.len() - 1
        });
        (self.forgotten + index).to_string()
    }

    /// The data of a name.
    pub(crate) fn target(&self, name: &str) -> Option<WatchTarget> {
        let number: usize = name.parse().ok()?;
        self.targets.get(number.checked_sub(self.forgotten)?).cloned()
    }
}
