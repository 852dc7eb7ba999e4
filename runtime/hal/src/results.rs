//! What dispatches have left, kept in the place of running them: a recording can have the results
//! of a run, and then the run is walked without its machine code, on any processor.
//!
//! ```text
//!   recording:  dispatch runs ──> what has changed in its bindings ──> [`ResultSink`]
//!   walking:    [`ResultSource`] ──> those bytes into its bindings; nothing runs
//! ```
//!
//! A program also asks its device what it is, and chooses by the answers; so these are kept too,
//! and so are the exports of executables, which only their code knows. Bytecode runs anywhere: it
//! is run where a user watches it, and what it leaves is then compared with what the recording has.

use std::fmt::Debug;
use std::hash::Hasher;
use std::sync::Arc;

use twox_hash::{XxHash3_64, XxHash3_128};
use vm::{Position, Status};

use crate::executables::{Dispatch, Executable, Export};
use crate::memory::{Binding, WrittenBytes};

/// Memory is compared in parts of this size.
const PART: usize = 1 << 14;

/// What a dispatch has left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchResult {
    /// A digest of what was dispatched: see `identity`.
    pub identity: u64,
    /// How it has failed, if it has.
    pub failure: Option<Status>,
    /// What has changed in its bindings.
    pub written: Vec<WrittenBytes>,
}

/// Takes what a run leaves.
pub trait ResultSink: Send + Sync {
    /// An executable of machine code was loaded: its format, a digest of its data, its functions.
    fn loaded(&self, format: &str, digest: u128, exports: &[Export]);

    /// A device has answered a question of the program.
    fn answered(&self, device: &str, category: &str, key: &str, answer: Option<i64>);

    /// The dispatch of this number among all commands has run, or failed.
    fn ran(&self, number: u64, result: DispatchResult);
}

/// Has what a run has left.
pub trait ResultSource: Debug + Send + Sync {
    /// Whether the run had executables of a format, whose code does not run.
    fn has_format(&self, format: &str) -> bool;

    /// The functions of an executable with such data.
    fn exports(&self, format: &str, digest: u128) -> Option<Vec<Export>>;

    /// What a device has answered; `None`: it was not asked.
    fn answer(&self, device: &str, category: &str, key: &str) -> Option<Option<i64>>;

    /// What the dispatch of this number has left in bindings of these lengths; `None`: the run
    /// does not go so far.
    ///
    /// # Errors
    /// It cannot be read, or does not fit the bindings.
    fn result(&self, number: u64, bindings: &[usize]) -> Result<Option<DispatchResult>, Status>;
}

/// A digest of the data of an executable.
pub(crate) fn digest_of(data: &vm::Buffer) -> u128 {
    XxHash3_128::oneshot(&data.read(0, data.len()))
}

/// A digest of what is dispatched: what records it, its function, and how it is called, but not
/// what is in its memory.
pub(crate) fn identity(
    recorded_at: Position,
    name: &str,
    constants: &[u32],
    workgroup_count: [u32; 3],
    bindings: impl Iterator<Item = (usize, usize)>,
) -> u64 {
    let mut hasher = XxHash3_64::new();
    let Position { function, offset } = recorded_at;
    for number in [function.module.0, function.function.0, offset.0] {
        hasher.write(&number.to_le_bytes());
    }
    hasher.write(&(name.len() as u64).to_le_bytes());
    hasher.write(name.as_bytes());
    hasher.write(&(constants.len() as u64).to_le_bytes());
    constants.iter().chain(&workgroup_count).for_each(|it| hasher.write(&it.to_le_bytes()));
    for (offset, length) in bindings {
        hasher.write(&(offset as u64).to_le_bytes());
        hasher.write(&(length as u64).to_le_bytes());
    }
    hasher.finish()
}

/// The results of a dispatch that is next.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    source: Arc<dyn ResultSource>,
    number: u64,
    identity: u64,
}

impl Recorded {
    pub(crate) fn new(source: Arc<dyn ResultSource>, number: u64, identity: u64) -> Self {
        Self { source, number, identity }
    }

    /// The number of the dispatch among all commands.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Puts into memory what the dispatch has left in the recorded run. Returns whether that is
    /// known; bytecode can run where it is not.
    ///
    /// # Errors
    /// The dispatch has failed there, or there is nothing that could be put.
    pub(crate) fn put(
        &self,
        executable: &dyn Executable,
        dispatch: &Dispatch,
    ) -> Result<bool, Status> {
        let is_bytecode = executable.bytecode().is_some();
        match self.find(dispatch)? {
            Some(found) if found.identity == self.identity => {
                if is_bytecode && found.failure.is_some() {
                    return Ok(false);
                }
                write(&found.written, dispatch)?;
                found.failure.map_or(Ok(true), Err)
            }
            _ if is_bytecode => Ok(false),
            Some(_) => Err(Status::failed_precondition(format!(
                "command {} is another one than in the recording, which has the results of one run \
                 only, and no machine code runs: debug it with --without-results \
                 (\"withoutResults\": true in a launch) to run the code",
                self.number
            ))),
            None => Err(Status::failed_precondition(format!(
                "the recording ends before command {}, so it does not have its results, and no \
                 machine code runs: debug it with --without-results (\"withoutResults\": true in a \
                 launch) to run the code",
                self.number
            ))),
        }
    }

    /// Bytecode has run: puts what the recording has where that is something else. Returns whether
    /// it was.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub(crate) fn put_over(&self, dispatch: &Dispatch) -> Result<bool, Status> {
        let found = self.find(dispatch)?.filter(|it| it.identity == self.identity);
        let Some(found) = found.filter(|it| it.failure.is_none()) else { return Ok(false) };
        // What the recording has not written was not changed, and the digest of the dispatch tells.
        let mut is_other = false;
        for written in &found.written {
            let memory = binding_of(written, dispatch)?.view()?;
            is_other |= !holds(&memory, written);
        }
        if is_other {
            write(&found.written, dispatch)?;
        }
        Ok(is_other)
    }

    fn find(&self, dispatch: &Dispatch) -> Result<Option<DispatchResult>, Status> {
        let lengths: Vec<usize> = dispatch.bindings.iter().map(Binding::len).collect();
        self.source.result(self.number, &lengths)
    }
}

fn binding_of<'a>(written: &WrittenBytes, dispatch: &'a Dispatch) -> Result<&'a Binding, Status> {
    let found = dispatch.bindings.get(written.binding);
    found.ok_or_else(|| Status::internal("the recording names a binding that is not there"))
}

fn write(written: &[WrittenBytes], dispatch: &Dispatch) -> Result<(), Status> {
    for part in written {
        binding_of(part, dispatch)?.view()?.write(part.offset, &part.bytes)?;
    }
    Ok(())
}

fn holds(memory: &vm::Buffer, written: &WrittenBytes) -> bool {
    let mut now = [0; PART];
    written.bytes.chunks(PART).enumerate().all(|(index, expected)| {
        let now = &mut now[..expected.len()];
        memory.read_to(written.offset + index * PART, now) && now == expected
    })
}
