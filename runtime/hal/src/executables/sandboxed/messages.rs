//! What owner and child say to each other. The owner reads what the child says as it reads a file
//! from outside.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trap::{Fault, Registers};
use vm::{Status, StatusCode};

use super::GpuApart;
use crate::executables::dispatch::Dispatch;
use crate::executables::interface::Export;
use crate::executables::machine::MachineState;

/// Kinds of messages to the child.
pub(super) const START: u8 = 1;
pub(super) const LOAD: u8 = 2;
pub(super) const FORGET: u8 = 3;

/// Kinds of messages of the child.
pub(super) const LOADED: u8 = 2;
pub(super) const HALTED: u8 = 3;

/// The answers to a request: all is done, or a message [`HALTED`] says what happened.
pub(super) const DONE: u64 = 1;
pub(super) const MORE: u64 = 2;

/// The first words of requests.
const RUN: u64 = 1;
const RESUME: u64 = 2;

/// A request of more words is divided.
pub(super) const MOST_WORDS: usize = sandbox::WORDS / 2;

/// A request to the child.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Request {
    /// Runs one after the other. Only if it is a single one, it can be interrupted.
    Run { is_watched: bool, is_alone: bool, all: Vec<Run> },
    /// Resumes a paused workgroup, by its number.
    Resume(u64),
}

/// Some workgroups of a dispatch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) executable: u64,
    pub(super) export: usize,
    pub(super) workgroup_count: [u32; 3],
    pub(super) workgroup_size: [u32; 3],
    pub(super) local_memory_bytes: usize,
    pub(super) range: Range<u64>,
    pub(super) constants: Arc<[u32]>,
    /// Address and length of each.
    pub(super) bindings: Vec<(usize, usize)>,
}

/// Writes some workgroups of a dispatch, as [`Run::read`] reads them.
pub(super) fn write_run(
    words: &mut Vec<u64>,
    executable: u64,
    dispatch: &Dispatch,
    range: &Range<u64>,
) {
    words.extend([executable, dispatch.export as u64]);
    let counts = dispatch.workgroup_count.iter().chain(&dispatch.workgroup_size);
    words.extend(counts.map(|it| u64::from(*it)));
    words.extend([dispatch.local_memory_bytes as u64, range.start, range.end]);
    words.push(dispatch.constants.len() as u64);
    words.extend(dispatch.constants.iter().map(|constant| u64::from(*constant)));
    words.push(dispatch.bindings.len() as u64);
    for binding in &dispatch.bindings {
        words.extend([binding.address().expose_provenance() as u64, binding.len() as u64]);
    }
}

/// How a request of `count` runs begins, which follow.
pub(super) fn run_head(is_watched: bool, is_alone: bool, count: usize) -> [u64; 4] {
    [RUN, is_watched.into(), is_alone.into(), count as u64]
}

/// A request to resume a paused workgroup, by its number.
pub(super) fn resume(number: u64) -> [u64; 2] {
    [RESUME, number]
}

impl Run {
    fn read(words: &mut impl Iterator<Item = u64>) -> Option<Self> {
        let (executable, export) = (words.next()?, words.next()? as usize);
        let mut three = || Some([words.next()? as u32, words.next()? as u32, words.next()? as u32]);
        let (workgroup_count, workgroup_size) = (three()?, three()?);
        let local_memory_bytes = words.next()? as usize;
        let range = words.next()?..words.next()?;
        let count = words.next()?;
        let constants = (0..count).map(|_| Some(words.next()? as u32)).collect::<Option<_>>()?;
        let count = words.next()?;
        let mut binding = || Some((words.next()? as usize, words.next()? as usize));
        let bindings = (0..count).map(|_| binding()).collect::<Option<_>>()?;
        Some(Self {
            executable,
            export,
            workgroup_count,
            workgroup_size,
            local_memory_bytes,
            range,
            constants,
            bindings,
        })
    }
}

impl Request {
    /// A request of these words; `None` if they are none.
    pub(super) fn read(words: &[u64]) -> Option<Self> {
        let mut words = words.iter().copied();
        match words.next()? {
            RESUME => Some(Self::Resume(words.next()?)),
            RUN => {
                let (is_watched, is_alone) = (words.next()? != 0, words.next()? != 0);
                let count = words.next()?;
                let all = (0..count).map(|_| Run::read(&mut words)).collect::<Option<_>>()?;
                Some(Self::Run { is_watched, is_alone, all })
            }
            _ => None,
        }
    }
}

/// What the child is started for.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Start {
    /// How many threads run dispatches.
    pub(super) threads: usize,
    /// The graphics processor that runs them instead, if one does.
    pub(super) gpu: Option<GpuApart>,
}

/// An executable that the child is to load.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Load {
    pub(super) executable: u64,
    pub(super) format: String,
    pub(super) constants: Vec<u32>,
    /// How many bytes of its file come after this.
    pub(super) length: usize,
}

/// What the child says of a loaded executable.
pub(super) type Loaded = Result<Vec<Export>, SentStatus>;

/// A status.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct SentStatus {
    code: u32,
    message: String,
}

impl From<Status> for SentStatus {
    fn from(status: Status) -> Self {
        Self { code: status.code as u32, message: status.message }
    }
}

impl From<SentStatus> for Status {
    fn from(sent: SentStatus) -> Self {
        let code = StatusCode::from_number(sent.code).unwrap_or(StatusCode::Unknown);
        Self::new(code, sent.message)
    }
}

/// How a run halted: see [`crate::executables::Halt`].
#[derive(Serialize, Deserialize, Debug)]
pub(super) enum SentHalt {
    Failed(SentStatus),
    FailedInside(SentStatus, SentState),
    Interrupted { inside: Vec<SentState>, rest: Vec<Range<u64>> },
}

/// Where a workgroup stands.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct SentState {
    /// The number by which it is resumed.
    pub(super) number: u64,
    workgroup: u64,
    fault: Option<Fault>,
    /// In the order in which debuggers list them.
    registers: Vec<u64>,
    code_offset: Option<usize>,
}

impl SentState {
    pub(super) fn of(number: u64, machine: &MachineState) -> Self {
        Self {
            number,
            workgroup: machine.workgroup,
            fault: machine.fault,
            registers: machine.registers.general.iter().map(|(_, value)| *value).collect(),
            code_offset: machine.code_offset,
        }
    }

    pub(super) fn machine(&self) -> MachineState {
        MachineState {
            workgroup: self.workgroup,
            fault: self.fault,
            registers: Registers::in_order(self.registers.iter().copied()),
            code_offset: self.code_offset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Binding;

    #[test]
    fn requests_are_words_and_back() {
        let memory = Arc::new(vm::Buffer::from_bytes(&[0; 64]).unwrap());
        let dispatch = Dispatch {
            export: 1,
            workgroup_count: [4, 5, 6],
            workgroup_size: [1, 2, 1],
            constants: [u32::MAX, 0, 9].into(),
            bindings: vec![Binding::new(memory, 16, 32).unwrap()],
            local_memory_bytes: 4096,
        };
        let address = dispatch.bindings[0].address().addr();
        let run = Run {
            executable: 3,
            export: 1,
            workgroup_count: [4, 5, 6],
            workgroup_size: [1, 2, 1],
            local_memory_bytes: 4096,
            range: 7..119,
            constants: [u32::MAX, 0, 9].into(),
            bindings: vec![(address, 32)],
        };
        let mut words = run_head(true, false, 2).to_vec();
        write_run(&mut words, 3, &dispatch, &(7..119));
        write_run(&mut words, 3, &dispatch, &(7..119));
        let all = vec![run.clone(), run];
        let run = Request::Run { is_watched: true, is_alone: false, all };
        for (words, request) in [(words, run), (resume(9).to_vec(), Request::Resume(9))] {
            assert_eq!(Request::read(&words).as_ref(), Some(&request));
            for length in 0..words.len() {
                assert_eq!(Request::read(&words[..length]), None, "cut at {length}");
            }
        }
        assert_eq!(Request::read(&[0, 0]), None);
    }
}
