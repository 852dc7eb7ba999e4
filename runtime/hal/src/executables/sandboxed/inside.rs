//! The child: it loads executables, runs their dispatches, and keeps paused workgroups.
//!
//! # Soundness
//!
//! The owner passes addresses of memory that both have, and vouches that the buffers there live
//! until it has its answer, or until it forgets a paused workgroup. Whatever machine code does to
//! this process stays in it: see the crate `sandbox`.

use std::collections::HashMap;
use std::process;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use gpu::{Api, GpuOptions};
use sandbox::{Inside, Message, Requests};
use vm::{Access, Busy, RunControl, Status};
use vulkan::VulkanOptions;

use super::GpuApart;
use super::messages::{
    DONE, FORGET, HALTED, LOAD, LOADED, Load, Loaded, MORE, Request, Run, START, SentHalt,
    SentState, Start,
};
use crate::executables::dispatch::Dispatch;
use crate::executables::gpu::OpenGpu;
use crate::executables::halt::{Halt, Interrupted, PausedWorkgroup};
use crate::executables::interface::Executable;
use crate::executables::native::{self, NativeCode, NativeExecutable, Plugins};
use crate::executables::pool::WorkerPool;
use crate::memory::Binding;

/// What the threads of the child share.
struct State {
    inside: Arc<Inside>,
    pool: WorkerPool,
    /// The device that runs dispatches, if the processor does not.
    gpu: Option<OpenGpu>,
    memory: Memory,
    executables: Mutex<HashMap<u64, Arc<dyn Executable>>>,
    paused: Mutex<HashMap<u64, Box<dyn PausedWorkgroup>>>,
    /// The control of what nothing interrupts.
    free: RunControl,
    /// The request that is served, and its control.
    served: Mutex<Option<(u32, RunControl)>>,
}

/// Serves as a sandbox until the owner ends, if the process was started as one.
pub fn serve_sandbox() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|it| it != sandbox::ARGUMENT) || arguments.next().is_some() {
        return;
    }
    let code = if serve().is_ok() { 0 } else { 1 };
    process::exit(code);
}

fn serve() -> Result<(), Box<dyn std::error::Error>> {
    // The limits of buffers are read from files, which are gone later.
    let _ = vm::default_memory();
    let inside = Inside::enter()?;
    let state = State::new(&inside).inspect_err(|error| inside.refuse(&error.to_string()))?;
    // All threads are there now.
    inside.close()?;
    loop {
        match inside.receive()? {
            Message::Interrupt(number) => state.interrupt(number),
            Message::Other(LOAD, bytes) => {
                let loaded = state.load(&bytes).map_err(Into::into);
                inside.send(LOADED, &serde_json::to_vec::<Loaded>(&loaded)?)?;
            }
            Message::Other(FORGET, bytes) => {
                let number = bytes.first_chunk().copied().map_or(0, u64::from_le_bytes);
                drop(lock(&state.paused).remove(&number));
            }
            Message::Other(..) => {}
        }
    }
}

impl State {
    /// Makes all threads that the child will have.
    fn new(inside: &Arc<Inside>) -> Result<Arc<Self>, Box<dyn std::error::Error>> {
        let Message::Other(START, bytes) = inside.receive()? else {
            return Err("the owner does not say what this process is for".into());
        };
        let Start { threads, gpu } = serde_json::from_slice(&bytes)?;
        let gpu = gpu.map(opened).transpose()?;
        native::prepare_thread()?;
        let state = Arc::new(Self {
            inside: inside.clone(),
            pool: WorkerPool::with_threads(threads),
            gpu,
            memory: Memory::of(inside)?,
            executables: Mutex::default(),
            paused: Mutex::default(),
            free: RunControl::default(),
            served: Mutex::default(),
        });
        state.pool.start();
        let (requests, serving) = (inside.requests(), state.clone());
        let thread = thread::Builder::new().name("requests".to_owned());
        thread.spawn(move || serving.serve(requests))?;
        Ok(state)
    }

    /// Serves requests, on a thread of their own.
    fn serve(&self, mut requests: Requests) {
        let mut next_number = 1;
        while let Ok((number, words)) = requests.wait() {
            let result = self.perform(number, &words);
            let Err(halt) = result else {
                requests.answer(&[DONE]);
                continue;
            };
            let halt = self.sent(halt, &mut next_number);
            requests.answer(&[MORE]);
            let sent = serde_json::to_vec(&halt).map(|bytes| self.inside.send(HALTED, &bytes));
            if !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
    }

    fn interrupt(&self, number: u32) {
        if let Some((served, control)) = &*lock(&self.served)
            && *served == number
        {
            control.interrupt.request();
            if let Some(Busy::Dispatch(_, workgroup)) = control.interrupt.busy() {
                self.inside.set_progress(workgroup);
            }
        }
    }

    fn load(&self, message: &[u8]) -> Result<Vec<crate::executables::Export>, Status> {
        let damaged = || Status::internal("a message of the owner makes no sense");
        let end = message.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        let load: Load = serde_json::from_slice(&message[..end]).map_err(|_| damaged())?;
        let data = message.get(end + 1..).filter(|it| it.len() == load.length);
        let data = vm::Buffer::from_bytes(data.ok_or_else(damaged)?)?;
        let (allowed, plugins) = (NativeCode::Allowed, Plugins::default());
        let Load { format, constants, .. } = &load;
        let executable: Arc<dyn Executable> = match &self.gpu {
            Some(gpu) => gpu.load(format, &data, constants)?,
            None => Arc::new(NativeExecutable::load(format, &data, constants, allowed, &plugins)?),
        };
        let exports = executable.exports().to_vec();
        lock(&self.executables).insert(load.executable, executable);
        Ok(exports)
    }

    fn perform(&self, number: u32, words: &[u64]) -> Result<(), Halt> {
        let request = Request::read(words);
        match request.ok_or_else(|| Status::internal("a request makes no sense"))? {
            Request::Run { is_watched, is_alone, all } => {
                self.pool.set_alone(is_alone);
                if is_watched {
                    return self.watched(number, |control| self.run_all(&all, control));
                }
                self.run_all(&all, &self.free)
            }
            Request::Resume(workgroup) => {
                let paused = lock(&self.paused).remove(&workgroup);
                let gone = || Status::internal("a workgroup is not there any more");
                let paused = paused.ok_or_else(gone)?;
                self.watched(number, |control| paused.resume(control))
            }
        }
    }

    /// Does what a request asks for, until the owner interrupts it.
    fn watched(
        &self,
        number: u32,
        work: impl FnOnce(&RunControl) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let control = RunControl::watched();
        *lock(&self.served) = Some((number, control.clone()));
        let result = work(&control);
        *lock(&self.served) = None;
        result
    }

    fn run_all(&self, all: &[Run], control: &RunControl) -> Result<(), Halt> {
        if self.gpu.is_none() {
            return all.iter().try_for_each(|run| self.run(run, control));
        }
        let dispatches = all.iter().map(|run| self.dispatch(run)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.pool.run_together(&dispatches)?)
    }

    /// What a request names.
    fn dispatch(&self, run: &Run) -> Result<(Arc<dyn Executable>, Dispatch), Status> {
        let executable = lock(&self.executables).get(&run.executable).cloned();
        let executable = executable.ok_or_else(|| Status::internal("no such executable"))?;
        let bindings = run.bindings.iter();
        let bindings = bindings.map(|(address, length)| self.memory.binding(*address, *length));
        let dispatch = Dispatch {
            export: run.export,
            workgroup_count: run.workgroup_count,
            workgroup_size: run.workgroup_size,
            constants: run.constants.clone(),
            bindings: bindings.collect::<Result<_, _>>()?,
            local_memory_bytes: run.local_memory_bytes,
        };
        Ok((executable, dispatch))
    }

    fn run(&self, run: &Run, control: &RunControl) -> Result<(), Halt> {
        let (executable, dispatch) = self.dispatch(run)?;
        let _noted = control.interrupt.at_dispatch("", run.workgroup_count);
        self.pool.run_untimed(&executable, &dispatch, run.range.clone(), control)
    }

    /// A halt as it is sent. Workgroups that can resume stay here.
    fn sent(&self, halt: Halt, next_number: &mut u64) -> SentHalt {
        match halt {
            Halt::Failed(status) => SentHalt::Failed(status.into()),
            Halt::FailedInside(status, paused) => match paused.machine_state() {
                Some(machine) => SentHalt::FailedInside(status.into(), SentState::of(0, machine)),
                None => SentHalt::Failed(status.into()),
            },
            Halt::Interrupted(Interrupted { inside, rest }) => {
                let mut states = Vec::new();
                for paused in inside {
                    let Some(machine) = paused.machine_state() else { continue };
                    states.push(SentState::of(*next_number, machine));
                    lock(&self.paused).insert(*next_number, paused);
                    *next_number += 1;
                }
                SentHalt::Interrupted { inside: states, rest }
            }
        }
    }
}

/// Opens the device that the owner wants.
fn opened(gpu: GpuApart) -> Result<OpenGpu, Box<dyn std::error::Error>> {
    let GpuApart { driver, name, library, validates, patience } = gpu;
    let api = Api::of_driver(&driver).ok_or("there is no such driver")?;
    let (vulkan, options) = (VulkanOptions { library, validates }, GpuOptions { patience });
    Ok(OpenGpu::open(api, name.parse()?, &vulkan, options)?)
}

/// The memory that the owner has, too.
struct Memory {
    start: usize,
    whole: Arc<vm::Buffer>,
    empty: Arc<vm::Buffer>,
}

impl Memory {
    fn of(inside: &Inside) -> Result<Self, Status> {
        let (start, length) = inside.memory();
        let data = NonNull::new(std::ptr::with_exposed_provenance_mut::<u8>(start));
        let data = data.ok_or_else(|| Status::internal("there is no memory"))?;
        // SAFETY: the mapping lasts as long as this process. Only bindings access it, and the owner
        // keeps their bytes until it has its answer: see the top of the file.
        let whole = unsafe { vm::Buffer::foreign(data, length, Access::ReadWrite, Box::new(())) };
        Ok(Self { start, whole: Arc::new(whole), empty: Arc::new(vm::Buffer::from_bytes(&[])?) })
    }

    /// A part of it, by its address.
    fn binding(&self, address: usize, length: usize) -> Result<Binding, Status> {
        match length {
            0 => Binding::new(self.empty.clone(), 0, 0),
            _ => Binding::new(self.whole.clone(), address.wrapping_sub(self.start), length),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is under these locks is whole at any time.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
