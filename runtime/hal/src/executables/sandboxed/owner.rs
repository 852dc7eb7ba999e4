//! The child of a program: started when it is first needed, asked, and ended once it has failed.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use sandbox::{Child, Gone, Program, Rights};
use vm::{Access, RunControl, Status};

use super::messages::{DONE, HALTED, LOAD, LOADED, Load, Loaded, MORE, START, SentHalt, Start};
use super::{GpuApart, no_sandbox};
use crate::executables::dispatch::Dispatch;
use crate::executables::interface::Export;
use crate::memory::{Binding, Shared};

/// How long the driver of a graphics processor may take for what is no dispatch: making kernels.
const BESIDES_DISPATCHES: Duration = Duration::from_secs(600);

/// The program that can become a sandbox.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// What a child takes for itself, and for each of its threads, whose stacks it counts whole.
const OWN_MEMORY: u64 = 256 << 20;
const THREAD_MEMORY: u64 = 32 << 20;

/// Says which program becomes a sandbox: with [`sandbox::ARGUMENT`] as its only argument it calls
/// [`super::serve_sandbox`] before anything else.
pub fn offer_sandbox(program: PathBuf) {
    // It stays the one that was named first.
    let _ = PROGRAM.set(program);
}

/// Where the machine code of a program runs.
#[derive(Debug)]
pub(crate) struct Sandbox {
    shared: Shared,
    start: Start,
    rights: Rights,
    worker: Mutex<Option<Arc<Worker>>>,
    /// Copies of what the program cannot change, by address and length, with the originals.
    copies: Mutex<HashMap<(usize, usize), (Binding, Binding)>>,
}

/// A child, and what it has loaded.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    /// How long a dispatch may take that cannot be interrupted.
    patience: Option<Duration>,
    /// Held while a request and its messages are on their way.
    loaded: Mutex<HashSet<u64>>,
}

/// An executable that any child can load.
#[derive(Debug)]
pub(super) struct Loadable {
    pub(super) number: u64,
    pub(super) format: String,
    pub(super) constants: Vec<u32>,
    pub(super) data: Vec<u8>,
}

/// A dispatch whose memory the child has, and what was replaced for that.
#[derive(Clone, Debug)]
pub(super) struct Reachable<'d> {
    pub(super) dispatch: Cow<'d, Dispatch>,
    /// Original and copy of bindings.
    replaced: Vec<(Binding, Binding)>,
}

impl Reachable<'_> {
    /// The same for longer.
    pub(super) fn into_owned(self) -> Reachable<'static> {
        let Self { dispatch, replaced } = self;
        Reachable { dispatch: Cow::Owned(dispatch.into_owned()), replaced }
    }

    /// An address in a copy, or beside it, as an address of the original.
    pub(super) fn address_here(&self, address: usize) -> usize {
        let place = crate::executables::machine::BindingPlace::nearest(&self.dispatch, address);
        let nearest = place.and_then(|place| self.dispatch.bindings.get(place.binding));
        let replaced = nearest.and_then(|nearest| {
            self.replaced.iter().find(|(_, copy)| copy.address() == nearest.address())
        });
        replaced.map_or(address, |(original, copy)| {
            address.wrapping_sub(copy.address().addr()).wrapping_add(original.address().addr())
        })
    }
}

impl Sandbox {
    /// A sandbox for a program, with so many threads. The child may take so much memory for what
    /// machine code needs besides buffers.
    pub(crate) fn new(shared: Shared, threads: usize, memory: usize) -> Self {
        let own = OWN_MEMORY + threads as u64 * THREAD_MEMORY;
        let rights = Rights::Compute { memory: (memory as u64).saturating_add(own) };
        Self::with(shared, Start { threads, gpu: None }, rights)
    }

    /// Another process for a graphics processor. It can do whatever this one can.
    pub(crate) fn for_gpu(shared: Shared, gpu: GpuApart) -> Self {
        Self::with(shared, Start { threads: 1, gpu: Some(gpu) }, Rights::All)
    }

    fn with(shared: Shared, start: Start, rights: Rights) -> Self {
        Self { shared, start, rights, worker: Mutex::default(), copies: Mutex::default() }
    }

    /// The graphics processor that runs its dispatches, if one does.
    pub(super) fn gpu(&self) -> Option<&GpuApart> {
        self.start.gpu.as_ref()
    }

    /// The child that runs the next dispatch.
    pub(super) fn worker(&self) -> Result<Arc<Worker>, Status> {
        let mut worker = lock(&self.worker);
        match &*worker {
            Some(worker) => Ok(worker.clone()),
            None => Ok(worker.insert(Arc::new(self.start()?)).clone()),
        }
    }

    fn start(&self) -> Result<Worker, Status> {
        let file = PROGRAM.get().cloned().ok_or_else(|| {
            no_sandbox(&"the program iree-dbg has them, and libraries of it do not")
        })?;
        let program = Program { file, rights: self.rights };
        let message = serde_json::to_vec(&self.start).map_err(|error| no_sandbox(&error))?;
        let started = Child::start(&program, self.shared.memory()).and_then(|child| {
            child.send(START, &message)?;
            child.closed()
        });
        let child = started.map_err(|gone| match self.gpu() {
            Some(_) => Status::failed_precondition(format!("the process for the device: {gone}")),
            None => no_sandbox(&gone),
        })?;
        let patience = self.gpu().map(|gpu| gpu.patience);
        Ok(Worker { child, patience, loaded: Mutex::default() })
    }

    /// No dispatch gets this child any more.
    pub(super) fn retire(&self, failed: &Arc<Worker>) {
        let mut worker = lock(&self.worker);
        if worker.as_ref().is_some_and(|worker| Arc::ptr_eq(worker, failed)) {
            *worker = None;
        }
        failed.child.end();
    }

    /// The dispatch with memory that the child has.
    ///
    /// # Errors
    /// It writes memory that the child cannot have.
    pub(super) fn reachable<'d>(&self, dispatch: &'d Dispatch) -> Result<Reachable<'d>, Status> {
        let is_there = |binding: &Binding| {
            binding.len() == 0 || self.shared.contains(binding.address().addr())
        };
        let mut reachable = Reachable { dispatch: Cow::Borrowed(dispatch), replaced: Vec::new() };
        if dispatch.bindings.iter().all(is_there) {
            return Ok(reachable);
        }
        for (index, binding) in reachable.dispatch.to_mut().bindings.iter_mut().enumerate() {
            if !is_there(binding) {
                let copy = self.copy(index, binding)?;
                reachable.replaced.push((std::mem::replace(binding, copy.clone()), copy));
            }
        }
        Ok(reachable)
    }

    /// A copy of memory that nothing changes.
    fn copy(&self, index: usize, original: &Binding) -> Result<Binding, Status> {
        if original.view()?.access() == Access::ReadWrite {
            return Err(Status::failed_precondition(format!(
                "binding[{index}] is memory of another library, which machine code in a sandbox \
                 cannot reach; --sandbox=off runs it with all your rights"
            )));
        }
        let key = (original.address().addr(), original.len());
        let mut copies = lock(&self.copies);
        if let Some((_, copy)) = copies.get(&key) {
            return Ok(copy.clone());
        }
        let limits = vm::ExecutionLimits {
            memory: vm::MemoryLimit::new(usize::MAX).from_source(Arc::new(self.shared.clone())),
            ..vm::ExecutionLimits::default()
        };
        let copy = original.view()?.private_copy(&limits)?;
        let copy = Binding::new(Arc::new(copy), 0, original.len())?;
        // The original lives as long as its copy, so its address stays its own.
        copies.insert(key, (original.clone(), copy.clone()));
        Ok(copy)
    }
}

/// How a request ended.
pub(super) enum Answer {
    Done,
    Halted(SentHalt),
}

impl Worker {
    /// Has an executable loaded, unless it is, and returns its exports if it was not.
    pub(super) fn load(&self, executable: &Loadable) -> Result<Option<Vec<Export>>, Failed> {
        self.load_into(&mut lock(&self.loaded), executable)
    }

    fn load_into(
        &self,
        loaded: &mut HashSet<u64>,
        executable: &Loadable,
    ) -> Result<Option<Vec<Export>>, Failed> {
        if loaded.contains(&executable.number) {
            return Ok(None);
        }
        let load = Load {
            executable: executable.number,
            format: executable.format.clone(),
            constants: executable.constants.clone(),
            length: executable.data.len(),
        };
        let mut message = serde_json::to_vec(&load).map_err(|_| Failed::Gone(Gone::Nonsense))?;
        message.push(b'\n');
        message.extend(&executable.data);
        self.child.send(LOAD, &message)?;
        let exports =
            self.receive::<Loaded>(LOADED)?.map_err(|sent| Failed::Status(sent.into()))?;
        loaded.insert(executable.number);
        Ok(Some(exports))
    }

    /// Asks the child to run something of these executables that begins with a workgroup.
    pub(super) fn ask(
        &self,
        request: &[u64],
        executables: &[&Loadable],
        control: &RunControl,
        workgroup: u64,
    ) -> Result<Answer, Failed> {
        let mut loaded = lock(&self.loaded);
        for executable in executables {
            self.load_into(&mut loaded, executable)?;
        }
        self.child.set_progress(workgroup);
        control.interrupt.at_workgroup(workgroup);
        let began = Instant::now();
        let mut is_stopping = || {
            // A graphics processor ends what it has begun. It is told to stop only once it should
            // have given up by itself: then it is its driver that hangs.
            if let Some(patience) = self.patience {
                return began.elapsed() > patience.saturating_add(BESIDES_DISPATCHES);
            }
            control.interrupt.at_workgroup(self.child.progress());
            control.is_interrupted() || control.budget.time_left().is_some_and(|it| it.is_zero())
        };
        match self.child.call(request, &mut is_stopping)?[..] {
            [DONE] => Ok(Answer::Done),
            [MORE] => self.receive(HALTED).map(Answer::Halted),
            _ => Err(Failed::Gone(Gone::Nonsense)),
        }
    }

    fn receive<T: serde::de::DeserializeOwned>(&self, expected: u8) -> Result<T, Failed> {
        /// How long the child may take to load an executable: it runs its initialisers.
        const LOADING: std::time::Duration = std::time::Duration::from_secs(60);
        let began = std::time::Instant::now();
        let (kind, bytes) = self.child.receive(&mut || began.elapsed() > LOADING)?;
        let read = (kind == expected).then(|| serde_json::from_slice(&bytes).ok()).flatten();
        read.ok_or(Failed::Gone(Gone::Nonsense))
    }

    /// Tells the child that a paused workgroup is not resumed.
    pub(super) fn forget(&self, number: u64) {
        // Without a child there is nothing to forget.
        let _ = self.child.send(super::messages::FORGET, &number.to_le_bytes());
    }
}

/// Why the child has not done what it was asked to.
#[derive(Debug)]
pub(super) enum Failed {
    /// It says so.
    Status(Status),
    /// It does not answer.
    Gone(Gone),
}

impl From<Gone> for Failed {
    fn from(gone: Gone) -> Self {
        Self::Gone(gone)
    }
}

impl From<Failed> for Status {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Status(status) => status,
            Failed::Gone(gone) => {
                Self::new(vm::StatusCode::Aborted, format!("the sandbox of machine code: {gone}"))
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is under these locks is whole at any time.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
