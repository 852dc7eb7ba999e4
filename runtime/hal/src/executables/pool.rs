//! The worker pool: runs the workgroups of one dispatch on all cores.
//!
//! ```text
//! caller   first workgroup, timed ──> enough left? ── no ──> the rest ────────────────────> done
//!                                          └─ yes ─> post job, take chunks ─> wait for workers ─^
//! worker   [looks for a moment, then sleeps] ─> job posted ─> take chunks ─> none left ─> [looks]
//! ```
//! Most dispatches of a model end before a sleeping thread would wake up, so the caller always
//! begins alone and asks for help only if the remaining work is worth it. Dispatches come in
//! bursts, so workers that just had work look for more for a moment before they sleep.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use vm::{RunControl, Status};

use super::dispatch::Dispatch;
use super::gpu;
use super::halt::Halt;
use super::interface::Executable;
use super::sandboxed;
use super::times::{DispatchTime, DispatchTimes};

/// Less work than this is not shared: it is about the cost of waking a thread.
const WORTH_SHARING: Duration = Duration::from_micros(40);

/// About how long a thread works on one chunk: short, so that all threads end together, but long
/// compared with the cost of taking a chunk.
const CHUNK: Duration = Duration::from_micros(40);

/// How long a worker looks for more work before it sleeps.
const PATIENCE: Duration = Duration::from_micros(50);

/// The threads that run workgroups. They are started when they are first needed, and end with the
/// pool.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    worker_count: usize,
    workers: OnceLock<Workers>,
    /// Whether the calling thread runs everything for now.
    is_alone: AtomicBool,
    /// The control of runs that nothing stops.
    free: RunControl,
    times: DispatchTimes,
}

impl WorkerPool {
    /// Everything runs on the calling thread (IREE's `local-sync`).
    #[must_use]
    pub(crate) fn calling_thread() -> Self {
        Self::with_threads(1)
    }

    /// Workgroups run on all cores (IREE's `local-task`).
    #[must_use]
    pub(crate) fn all_cores() -> Self {
        Self::with_threads(thread::available_parallelism().map_or(1, std::num::NonZero::get))
    }

    /// Workgroups run on this many threads, the calling one included.
    #[must_use]
    pub(crate) fn with_threads(count: usize) -> Self {
        Self {
            worker_count: count.saturating_sub(1),
            workers: OnceLock::new(),
            is_alone: AtomicBool::new(false),
            free: RunControl::default(),
            times: DispatchTimes::default(),
        }
    }

    /// Starts the threads, in a process that can start none later.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(crate) fn start(&self) {
        self.workers.get_or_init(|| Workers::spawn(self.worker_count));
    }

    /// Makes the calling thread run all workgroups in their order, or all threads again.
    pub(crate) fn set_alone(&self, is_alone: bool) {
        self.is_alone.store(is_alone, Ordering::Relaxed);
    }

    /// Measures dispatches from now on.
    pub(crate) fn time_dispatches(&self) {
        self.times.begin();
    }

    /// How long dispatches took since this was last asked.
    pub(crate) fn take_dispatch_times(&self) -> Vec<DispatchTime> {
        self.times.take()
    }

    /// How many workgroups may run at the same time.
    #[must_use]
    pub(crate) fn concurrency(&self) -> usize {
        self.worker_count + 1
    }

    /// Runs all workgroups of a dispatch and waits for them, without a budget or requests to stop.
    ///
    /// # Errors
    /// A workgroup failed; others may or may not have run.
    pub(crate) fn run(
        &self,
        executable: &Arc<dyn Executable>,
        dispatch: &Dispatch,
    ) -> Result<(), Status> {
        let all = 0..dispatch.total_workgroups();
        self.run_range(executable, dispatch, all, &self.free).map_err(|halt| match halt {
            Halt::Failed(status) | Halt::FailedInside(status, _) => status,
            Halt::Interrupted(_) => Status::internal("a dispatch stopped without being asked to"),
        })
    }

    /// Whether dispatches of an executable can be run by [`Self::run_together`].
    #[must_use]
    pub(crate) fn runs_together(&self, executable: &Arc<dyn Executable>) -> bool {
        let gains = executable.sandboxed().is_some() || executable.whole().is_some();
        gains && !self.times.is_on()
    }

    /// Runs dispatches in their order, and waits for them, without a budget or requests to stop.
    ///
    /// # Errors
    /// A workgroup failed; later dispatches have not run.
    pub(crate) fn run_together(
        &self,
        dispatches: &[(Arc<dyn Executable>, Dispatch)],
    ) -> Result<(), Status> {
        let is_alone = self.is_alone.load(Ordering::Relaxed);
        let in_sandbox = || sandboxed::run_together(dispatches, is_alone);
        if let Some(result) = gpu::run_together(dispatches).or_else(in_sandbox) {
            return result;
        }
        dispatches.iter().try_for_each(|(executable, dispatch)| self.run(executable, dispatch))
    }

    /// Runs some workgroups of a dispatch and waits for them.
    ///
    /// # Errors
    /// A workgroup failed; others may or may not have run. Or a stop was requested; then no thread
    /// is in a workgroup any more, and the halt lists the remaining ones.
    pub(crate) fn run_range(
        &self,
        executable: &Arc<dyn Executable>,
        dispatch: &Dispatch,
        range: Range<u64>,
        control: &RunControl,
    ) -> Result<(), Halt> {
        let count = range.end.saturating_sub(range.start);
        let Some(began) = self.times.start() else {
            return self.run_untimed(executable, dispatch, range, control);
        };
        let result = self.run_untimed(executable, dispatch, range, control);
        let took = executable.device_time().unwrap_or_else(|| began.elapsed());
        self.times.add(&executable.name_of(dispatch.export), took, count);
        result
    }

    /// The same for a run that the program does not know of: it does not count where dispatches are
    /// measured.
    ///
    /// # Errors
    /// As [`Self::run_range`].
    pub(crate) fn run_untimed(
        &self,
        executable: &Arc<dyn Executable>,
        dispatch: &Dispatch,
        range: Range<u64>,
        control: &RunControl,
    ) -> Result<(), Halt> {
        let is_alone = self.is_alone.load(Ordering::Relaxed);
        if let Some(sandboxed) = sandboxed::of(&**executable) {
            return sandboxed.run_with(dispatch, range, control, is_alone);
        }
        let count = range.end.saturating_sub(range.start);
        if self.worker_count == 0 || count <= 1 || is_alone || executable.whole().is_some() {
            return executable.run(dispatch, range, control);
        }
        let (second, end) = (range.start + 1, range.end);
        let start = Instant::now();
        if let Err(halt) = executable.run(dispatch, range.start..second, control) {
            return Err(halt.and_not_begun(second..end));
        }
        let each = start.elapsed().max(Duration::from_nanos(1));
        let left = u32::try_from(count - 1).unwrap_or(u32::MAX);
        if each.saturating_mul(left) < WORTH_SHARING {
            return executable.run(dispatch, second..end, control);
        }
        let fair = (count / (2 * self.concurrency() as u64)).max(1);
        let chunk = (CHUNK.as_nanos() / each.as_nanos()) as u64;
        let job = Arc::new(Job {
            executable: executable.clone(),
            dispatch: dispatch.clone(),
            control: control.clone(),
            end,
            chunk: chunk.clamp(1, fair),
            next: AtomicU64::new(second),
            runners: AtomicUsize::new(0),
            halt: Mutex::default(),
        });
        let workers = self.workers.get_or_init(|| Workers::spawn(self.worker_count));
        workers.board.post(job.clone());
        job.take_part();
        job.wait();
        workers.board.clear();
        lock(&job.halt).take().map_or(Ok(()), Err)
    }
}

/// A dispatch that several threads run.
#[derive(Debug)]
struct Job {
    executable: Arc<dyn Executable>,
    dispatch: Dispatch,
    control: RunControl,
    /// The end of the range of workgroups.
    end: u64,
    /// How many workgroups a thread takes at once.
    chunk: u64,
    /// The first workgroup that no thread has taken.
    next: AtomicU64,
    /// How many threads may be running workgroups.
    runners: AtomicUsize,
    /// How it ended early, if it did: the halts of all threads as one.
    halt: Mutex<Option<Halt>>,
}

impl Job {
    /// Runs workgroups until all are taken.
    fn take_part(&self) {
        self.runners.fetch_add(1, Ordering::SeqCst);
        let _leave = Leave(self);
        while let Some(range) = self.take() {
            if let Err(halt) = self.executable.run(&self.dispatch, range, &self.control) {
                self.halt(halt);
            }
        }
    }

    fn take(&self) -> Option<Range<u64>> {
        // Checked before the addition, so that the counter does not grow without bound.
        if self.next.load(Ordering::SeqCst) >= self.end {
            return None;
        }
        let start = self.next.fetch_add(self.chunk, Ordering::SeqCst);
        (start < self.end).then(|| start..self.end.min(start.saturating_add(self.chunk)))
    }

    /// Records that a thread has halted: no thread takes further workgroups, and those not taken
    /// remain.
    fn halt(&self, halt: Halt) {
        let untaken = self.next.swap(self.end, Ordering::SeqCst).min(self.end)..self.end;
        let halt = halt.and_not_begun(untaken);
        let mut known = lock(&self.halt);
        *known = Some(match known.take() {
            Some(known) => known.and(halt),
            None => halt,
        });
    }

    /// Waits until no thread runs workgroups. All are taken, so a thread that comes late finds
    /// none.
    fn wait(&self) {
        let mut rounds = 0_u32;
        while self.runners.load(Ordering::SeqCst) > 0 {
            rounds += 1;
            match rounds {
                0..1000 => std::hint::spin_loop(),
                1000..10_000 => thread::yield_now(),
                _ => thread::sleep(Duration::from_micros(50)),
            }
        }
    }
}

/// Records that a thread is done with a job, even if it panicked.
struct Leave<'a>(&'a Job);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let status = Status::internal("a worker thread panicked while it ran a workgroup");
            self.0.halt(Halt::Failed(status));
        }
        self.0.runners.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Threads that take jobs from a board.
#[derive(Debug)]
struct Workers {
    board: Arc<Board>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Workers {
    /// Starts up to `count` threads, as many as the system allows. Without any, the caller does all
    /// the work.
    fn spawn(count: usize) -> Self {
        let board = Arc::new(Board::default());
        let threads = (0..count).map_while(|index| {
            let board = board.clone();
            let name = format!("worker {index}");
            thread::Builder::new().name(name).spawn(move || board.work()).ok()
        });
        Self { threads: threads.collect(), board }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.board.close();
        for thread in self.threads.drain(..) {
            // A panic was reported with its job.
            let _ = thread.join();
        }
    }
}

/// Where jobs are posted.
#[derive(Debug, Default)]
struct Board {
    state: Mutex<BoardState>,
    changed: Condvar,
    /// How many jobs were posted: what a worker looks at before it sleeps.
    posted: AtomicU64,
}

#[derive(Debug, Default)]
struct BoardState {
    job: Option<Arc<Job>>,
    is_closed: bool,
}

impl Board {
    fn post(&self, job: Arc<Job>) {
        let mut state = lock(&self.state);
        state.job = Some(job);
        self.posted.fetch_add(1, Ordering::SeqCst);
        drop(state);
        self.changed.notify_all();
    }

    fn close(&self) {
        lock(&self.state).is_closed = true;
        self.posted.fetch_add(1, Ordering::SeqCst);
        self.changed.notify_all();
    }

    /// The main loop of a worker.
    fn work(&self) {
        let mut seen = 0;
        while let Some(job) = self.next_job(&mut seen) {
            job.take_part();
        }
    }

    /// Waits for a job that was posted after the first `seen` ones; `None` when the board is
    /// closed.
    fn next_job(&self, seen: &mut u64) -> Option<Arc<Job>> {
        let start = Instant::now();
        while self.posted.load(Ordering::SeqCst) == *seen && start.elapsed() < PATIENCE {
            std::hint::spin_loop();
        }
        let mut state = lock(&self.state);
        loop {
            if state.is_closed {
                return None;
            }
            let posted = self.posted.load(Ordering::SeqCst);
            if std::mem::replace(seen, posted) != posted
                && let Some(job) = &state.job
            {
                return Some(job.clone());
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Removes the job, which would keep its memory alive.
    fn clear(&self) {
        lock(&self.state).job = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data under these locks is consistent at any time, so a panic in another thread does not
    // spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::interface::Export;
    use super::*;

    /// Counts how often each workgroup ran; one of them can be made to fail.
    #[derive(Debug)]
    struct Counting {
        counts: Vec<AtomicU64>,
        failing: Option<u64>,
        /// The workgroup in which a stop is requested.
        interrupting: Option<u64>,
        pause: Duration,
    }

    impl Executable for Counting {
        fn format(&self) -> &str {
            "test"
        }

        fn exports(&self) -> &[Export] {
            &[]
        }

        fn run(&self, _: &Dispatch, range: Range<u64>, control: &RunControl) -> Result<(), Halt> {
            for index in range.clone() {
                if control.is_interrupted() {
                    return Err(Halt::before(index..range.end));
                }
                if self.failing == Some(index) {
                    return Err(Status::internal("told to fail").into());
                }
                if self.interrupting == Some(index) {
                    control.interrupt.request();
                }
                thread::sleep(self.pause);
                self.counts[index as usize].fetch_add(1, Ordering::SeqCst);
            }
            Ok(())
        }
    }

    impl Counting {
        fn new(total: u32, pause: u64) -> Self {
            Self {
                counts: (0..total).map(|_| AtomicU64::new(0)).collect(),
                failing: None,
                interrupting: None,
                pause: Duration::from_micros(pause),
            }
        }

        fn counts(&self) -> Vec<u64> {
            self.counts.iter().map(|count| count.load(Ordering::SeqCst)).collect()
        }
    }

    fn dispatch(total: u32) -> Dispatch {
        Dispatch {
            export: 0,
            workgroup_count: [total, 1, 1],
            workgroup_size: [1; 3],
            constants: Arc::default(),
            bindings: Vec::new(),
            local_memory_bytes: 0,
        }
    }

    fn run(pool: &WorkerPool, total: u32, failing: Option<u64>, pause: u64) -> (Vec<u64>, bool) {
        let counting = Arc::new(Counting { failing, ..Counting::new(total, pause) });
        let executable: Arc<dyn Executable> = counting.clone();
        let is_ok = pool.run(&executable, &dispatch(total)).is_ok();
        (counting.counts(), is_ok)
    }

    #[test]
    fn every_workgroup_runs_once() {
        for threads in [1, 2, 5] {
            let pool = WorkerPool::with_threads(threads);
            for total in [0, 1, 2, 3, 17, 100] {
                for pause in [0, 50] {
                    let expected = vec![1; total as usize];
                    assert_eq!(run(&pool, total, None, pause), (expected, true));
                }
            }
        }
    }

    #[test]
    fn a_failure_is_told_and_the_pool_goes_on() {
        let pool = WorkerPool::with_threads(3);
        for failing in [0, 1, 13, 49] {
            let (counts, is_ok) = run(&pool, 50, Some(failing), 20);
            assert!(!is_ok);
            assert_eq!(counts[failing as usize], 0);
        }
        assert_eq!(run(&pool, 50, None, 20), (vec![1; 50], true));
    }

    #[test]
    fn an_interrupted_run_says_what_is_left() {
        for threads in [1, 3] {
            let pool = WorkerPool::with_threads(threads);
            for interrupting in [0, 1, 2, 30, 98, 99] {
                let interrupting = Some(interrupting);
                let counting = Arc::new(Counting { interrupting, ..Counting::new(100, 50) });
                let executable: Arc<dyn Executable> = counting.clone();
                let control = RunControl::default();
                let mut left: Vec<Range<u64>> = std::iter::once(0..100).collect();
                while let Some(range) = left.pop() {
                    match pool.run_range(&executable, &dispatch(100), range, &control) {
                        Ok(()) => {}
                        Err(Halt::Failed(status) | Halt::FailedInside(status, _)) => {
                            panic!("{status}")
                        }
                        Err(Halt::Interrupted(interrupted)) => {
                            assert!(control.interrupt.clear());
                            left.extend(interrupted.rest);
                        }
                    }
                }
                assert_eq!(counting.counts(), vec![1; 100], "{interrupting:?}");
            }
        }
    }
}
