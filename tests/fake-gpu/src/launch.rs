//! All threads of a launch: one workgroup after another, in each one thread after another, as far
//! as each can go alone.

use crate::ptx::{Instruction, Kernel, Operand};
use crate::thread::{Fault, Position, Stop, Surroundings, Thread};

/// Threads that run together.
pub(crate) const WARP: usize = 32;

/// Runs a kernel.
pub(crate) fn run(
    kernel: &Kernel,
    workgroups: [u32; 3],
    threads: [u32; 3],
    shared_size: usize,
    parameters: &[u64],
) -> Result<(), Fault> {
    let mut shared = vec![0; kernel.shared_size + shared_size];
    for workgroup in places(workgroups) {
        shared.fill(0xAA);
        let all = places(threads).enumerate().map(|(index, thread)| Thread {
            position: Position {
                thread,
                threads,
                workgroup,
                workgroups,
                lane: (index % WARP) as u32,
            },
            registers: vec![0; kernel.register_count],
            counter: 0,
            has_ended: false,
        });
        let mut around = Surroundings { kernel, parameters, shared: &mut shared };
        run_workgroup(all.collect(), &mut around)?;
    }
    Ok(())
}

/// All places of a box, x first.
fn places([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |c| (0..y).flat_map(move |b| (0..x).map(move |a| [a, b, c])))
}

fn run_workgroup(mut threads: Vec<Thread>, around: &mut Surroundings<'_>) -> Result<(), Fault> {
    while threads.iter().any(|thread| !thread.has_ended) {
        for warp in threads.chunks_mut(WARP) {
            run_warp(warp, around)?;
        }
    }
    Ok(())
}

/// Runs the threads of a warp until each has ended or waits at a barrier.
fn run_warp(warp: &mut [Thread], around: &mut Surroundings<'_>) -> Result<(), Fault> {
    let mut waits: Vec<bool> = warp.iter().map(|thread| thread.has_ended).collect();
    while waits.iter().any(|waits| !waits) {
        let mut shuffling = vec![false; warp.len()];
        for (index, thread) in warp.iter_mut().enumerate() {
            if !waits[index] {
                match thread.run(around)? {
                    Stop::End | Stop::Barrier => waits[index] = true,
                    Stop::Shuffle => shuffling[index] = true,
                }
            }
        }
        shuffle(warp, &shuffling, around)?;
    }
    Ok(())
}

/// Lets threads exchange values: `shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1`.
fn shuffle(
    warp: &mut [Thread],
    shuffling: &[bool],
    around: &Surroundings<'_>,
) -> Result<(), Fault> {
    let mut results = Vec::new();
    for (lane, thread) in warp.iter().enumerate().filter(|(lane, _)| shuffling[*lane]) {
        let Instruction { words, operands, .. } = &around.kernel.instructions[thread.counter];
        let unknown = || Fault::Unknown(words.join("."));
        let has_flag = operands.len() == 6;
        let rest = &operands[if has_flag { 2 } else { 1 }..];
        let number =
            |index: usize| thread.get(&rest[index], around).map(|it| it as usize & (WARP - 1));
        let amount = number(1).ok_or_else(unknown)?;
        let other = match words.get(2).map(String::as_str) {
            Some("bfly") => lane ^ amount,
            Some("idx") => amount,
            Some("down") if lane + amount < WARP => lane + amount,
            Some("up") if lane >= amount => lane - amount,
            Some("down" | "up") => lane,
            _ => return Err(unknown()),
        };
        let other_thread = warp.get(other).filter(|_| shuffling[other]).unwrap_or(thread);
        let value = other_thread.get(&rest[0], around).ok_or_else(unknown)?;
        let flag = has_flag.then(|| operands[1].clone());
        results.push((lane, operands[0].clone(), flag, value));
    }
    for (lane, target, flag, value) in results {
        let thread = &mut warp[lane];
        thread.set(&target, value);
        flag.iter().for_each(|flag: &Operand| thread.set(flag, 1));
        thread.counter += 1;
    }
    Ok(())
}
