//! Kernels that are known by their names: those of HIP that tests dispatch.

use crate::memory;
use crate::thread::Fault;

/// Runs `NAME_elementwise_N_f32` as a sum of its first two buffers in the third one, in workgroups
/// of that many threads.
pub(crate) fn run(
    name: &str,
    workgroups: [u32; 3],
    threads: [u32; 3],
    parameters: &[u64],
) -> Result<(), Fault> {
    let unknown = || Fault::Unknown(name.to_owned());
    let (_, shape) = name.split_once("_elementwise_").ok_or_else(unknown)?;
    let count = shape.strip_suffix("_f32").ok_or_else(unknown)?;
    let count = count.split('x').map(|it| it.parse::<u64>().ok());
    let count: u64 = count.collect::<Option<Vec<_>>>().ok_or_else(unknown)?.iter().product();
    let &[a, b, c] = parameters else { return Err(unknown()) };
    let all: u64 = workgroups.iter().chain(&threads).map(|it| u64::from(*it)).product();
    // Each thread has up to four elements.
    for element in 0..count.min(4 * all) {
        let float = |at: u64| memory::read(at + 4 * element, 4).map(|it| f32::from_bits(it as u32));
        memory::write(c + 4 * element, 4, (float(a)? + float(b)?).to_bits().into())?;
    }
    Ok(())
}
