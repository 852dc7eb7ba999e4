//! What the driver is asked to remember: images, kernels, and whether a kernel has ended
//! everything.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::ptx::{self, Image};
use crate::thread::Fault;
use crate::{known, launch};

pub(crate) const SUCCESS: i32 = 0;
pub(crate) const INVALID_VALUE: i32 = 1;
pub(crate) const OUT_OF_MEMORY: i32 = 2;
pub(crate) const INVALID_IMAGE: i32 = 200;
pub(crate) const INVALID_PTX: i32 = 218;
pub(crate) const NOT_FOUND: i32 = 500;
pub(crate) const NOT_READY: i32 = 600;
pub(crate) const ILLEGAL_ADDRESS: i32 = 700;
pub(crate) const NOT_SUPPORTED: i32 = 801;

/// Names and texts of results, each with a zero byte.
pub(crate) fn error(code: i32) -> (&'static [u8], &'static [u8]) {
    match code {
        SUCCESS => (b"SUCCESS\0", b"no error\0"),
        INVALID_VALUE => (b"INVALID_VALUE\0", b"invalid argument\0"),
        OUT_OF_MEMORY => (b"OUT_OF_MEMORY\0", b"out of memory\0"),
        INVALID_IMAGE => (b"INVALID_IMAGE\0", b"device kernel image is invalid\0"),
        INVALID_PTX => (b"INVALID_PTX\0", b"a PTX JIT compilation failed\0"),
        NOT_FOUND => (b"NOT_FOUND\0", b"named symbol not found\0"),
        NOT_READY => (b"NOT_READY\0", b"device not ready\0"),
        ILLEGAL_ADDRESS => (b"ILLEGAL_ADDRESS\0", b"an illegal memory access was encountered\0"),
        _ => (b"NOT_SUPPORTED\0", b"operation not supported\0"),
    }
}

/// The error of a kernel that has ended everything; 0 before that.
static BROKEN: AtomicI32 = AtomicI32::new(SUCCESS);

/// What every function returns since then.
pub(crate) fn broken() -> i32 {
    BROKEN.load(Ordering::Relaxed)
}

/// A loaded image.
#[derive(Debug)]
pub(crate) enum Module {
    Ptx(Image),
    /// Machine code for another processor.
    CodeObject(Vec<u8>),
}

/// A kernel of an image.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) module: &'static Module,
    pub(crate) name: String,
}

/// Reads PTX.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn ptx(text: &str) -> Result<Module, String> {
    ptx::parse(text).map(Module::Ptx)
}

impl Module {
    /// Whether it has a kernel.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::Ptx(image) => image.kernels.contains_key(name),
            // The descriptor of a kernel has its name and `.kd`.
            Self::CodeObject(bytes) => {
                let wanted = format!("{name}.kd\0");
                bytes.windows(wanted.len()).any(|it| it == wanted.as_bytes())
            }
        }
    }
}

impl Function {
    /// How many bytes each parameter has.
    pub(crate) fn parameter_sizes(&self) -> Vec<usize> {
        match self.module {
            Module::Ptx(image) => {
                image.kernels[&self.name].parameters.iter().map(|(size, _)| *size).collect()
            }
            Module::CodeObject(_) => vec![8; 3],
        }
    }

    /// Runs it.
    pub(crate) fn launch(
        &self,
        workgroups: [u32; 3],
        threads: [u32; 3],
        shared: usize,
        parameters: &[u64],
    ) -> i32 {
        let name = &self.name;
        log(|| {
            let mut text = format!("{name} {workgroups:?} {threads:?} {shared}");
            // Addresses are others in each process.
            for (value, size) in parameters.iter().zip(self.parameter_sizes()) {
                let _ = if size == 8 { write!(text, " &") } else { write!(text, " {value}") };
            }
            text
        });
        let done = match self.module {
            Module::Ptx(image) => {
                launch::run(&image.kernels[name], workgroups, threads, shared, parameters)
            }
            Module::CodeObject(_) => known::run(name, workgroups, threads, parameters),
        };
        match done {
            Ok(()) => SUCCESS,
            // The launch succeeds: the kernel fails afterwards.
            Err(Fault::IllegalAddress) => {
                BROKEN.store(ILLEGAL_ADDRESS, Ordering::Relaxed);
                SUCCESS
            }
            Err(Fault::Unknown(what)) => {
                log(|| format!("unknown: {what}"));
                NOT_SUPPORTED
            }
        }
    }
}

/// Writes a line to the log, if one is wanted.
fn log(line: impl FnOnce() -> String) {
    let Some(path) = std::env::var_os("FAKE_GPU_LOG") else { return };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    if let Ok(mut file) = file {
        let _ = writeln!(file, "{}", line());
    }
}

/// Ends the process, as a driver with a fault would.
pub(crate) fn crash_if_wanted() {
    if std::env::var_os("FAKE_GPU_CRASHES").is_some() {
        std::process::abort();
    }
}

/// Whether no kernel ever ends.
pub(crate) fn hangs() -> bool {
    std::env::var_os("FAKE_GPU_HANGS").is_some()
}

/// How many devices there are.
pub(crate) fn device_count() -> i32 {
    let wanted = std::env::var("FAKE_GPU_DEVICES").ok();
    wanted.and_then(|it| it.parse().ok()).unwrap_or(2)
}
