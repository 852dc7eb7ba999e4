//! Small modules do not take much memory: whatever their tables share, the result is a small
//! multiple of the file.

mod bombs;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use vmfb::print::{self, DisassemblyOptions};
use vmfb::{Module, verify};

/// An allocator that counts bytes.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grow(size: usize) {
    let used = USED.fetch_add(size, Ordering::Relaxed) + size;
    PEAK.fetch_max(used, Ordering::Relaxed);
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most memory per byte of the file, in addition to [`LEAST`]. Text takes the most.
const FACTOR: usize = 40;

/// Memory that any module may take.
const LEAST: usize = 24 << 20;

/// Longer than any case takes in a debug build on a loaded machine.
const HANG: Duration = Duration::from_secs(60);

struct Nowhere;

impl std::io::Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Everything that this crate does with a module.
fn exercise(bytes: Vec<u8>) -> Result<(), String> {
    let module = Module::from_bytes(bytes).map_err(|error| error.to_string())?;
    let _ = module.debug_database();
    let _ = print::metadata(&module);
    let _ = print::disassemble(&module, &DisassemblyOptions::default());
    print::model_json(&module, Nowhere).map_err(|error| error.to_string())?;
    print::flatbuffer_json(&module, &mut Nowhere).map_err(|error| error.to_string())?;
    let _ = verify::verify(module);
    Ok(())
}

#[test]
fn shared_parts_do_not_multiply() {
    let mut report = Vec::new();
    for (name, bytes) in bombs::all() {
        let length = bytes.len();
        let before = USED.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let start = Instant::now();
        let outcome = exercise(bytes);
        let (elapsed, peak) = (start.elapsed(), PEAK.load(Ordering::Relaxed) - before);
        let mut outcome = outcome.err().unwrap_or_default();
        outcome.truncate(120);
        report.push(format!("{name}: {length} bytes, peak {peak}, {elapsed:.1?}: {outcome}"));
        assert!(peak < LEAST + length * FACTOR, "{}", report.join("\n"));
        assert!(elapsed < HANG, "{}", report.join("\n"));
    }
    println!("{}", report.join("\n"));
}
