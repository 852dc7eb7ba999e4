//! What commands other than dispatches have written: fills, updates and copies.

use std::ops::Range;

use hal::{Span, Work};

use crate::machine::Machine;

/// A command that wrote memory and is no dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The addresses that it has read, if it is a copy.
    pub source: Option<Range<usize>>,
    /// The addresses that it has written.
    pub target: Range<usize>,
}

impl Machine {
    /// The transfers that ran after a command, in order, and the number of the last command that
    /// ran. Those whose memory was released are left out: nothing can read there any more.
    #[must_use]
    pub fn transfers_after(&self, number: u64) -> (u64, Vec<Transfer>) {
        let history = self.program.host().device().history();
        let records = history.records_after(number);
        let transfers = records.iter().filter_map(|record| {
            let (source, target) = match &record.work {
                Work::Fill(target) | Work::Update(target) => (None, target),
                Work::Copy(source, target) => (Some(source), target),
                Work::Dispatch(_) => return None,
            };
            let source = match source {
                Some(source) => Some(addresses(source)?),
                None => None,
            };
            Some(Transfer { source, target: addresses(target)? })
        });
        (history.total(), transfers.collect())
    }
}

fn addresses(span: &Span) -> Option<Range<usize>> {
    let bytes = span.bytes()?;
    let start = bytes.address() as usize;
    Some(start..start + bytes.len())
}
