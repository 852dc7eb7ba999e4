//! The crate `vulkan` on a device: memory, copies of memory that is not the device's, refusals.

use std::ffi::CStr;
use std::sync::Arc;

use gpu::{Gpu as _, GpuError, GpuName, GpuOptions, Span, Work};
use vulkan::{Abi, Gpu, Pipeline, PushConstants, Shader, Slot, SlotKind, Vulkan, VulkanOptions};

/// `add.spvasm` as `spirv-as --target-env vulkan1.0` makes it: each invocation adds the pushed
/// number to its element of binding 0, and leaves the sum in binding 1.
#[rustfmt::skip]
const ADD: &[u32] = &[
    0x7230203, 65536, 0x70000, 29, 0, 0x20011, 1, 0x3000E, 0, 1, 0x6000F, 5, 1, 0x6E69616D, 0, 2,
    0x60010, 1, 17, 1, 1, 1, 0x40047, 2, 11, 28, 0x40047, 3, 6, 4, 0x50048, 4, 0, 35, 0, 0x30047,
    4, 3, 0x40047, 5, 34, 0, 0x40047, 5, 33, 0, 0x40047, 6, 34, 0, 0x40047, 6, 33, 1, 0x50048, 7,
    0, 35, 0, 0x30047, 7, 2, 0x20013, 8, 0x30021, 9, 8, 0x40015, 10, 32, 0, 0x40017, 11, 10, 3,
    0x40020, 12, 1, 11, 0x40020, 13, 1, 10, 0x4003B, 12, 2, 1, 0x3001D, 3, 10, 0x3001E, 4, 3,
    0x40020, 14, 2, 4, 0x40020, 15, 2, 10, 0x4003B, 14, 5, 2, 0x4003B, 14, 6, 2, 0x3001E, 7, 10,
    0x40020, 16, 9, 7, 0x40020, 17, 9, 10, 0x4003B, 16, 18, 9, 0x4002B, 10, 19, 0, 0x50036, 8, 1,
    0, 9, 0x200F8, 20, 0x50041, 13, 21, 2, 19, 0x4003D, 10, 22, 21, 0x60041, 15, 23, 5, 19, 22,
    0x4003D, 10, 24, 23, 0x50041, 17, 25, 18, 19, 0x4003D, 10, 26, 25, 0x50080, 10, 27, 24, 26,
    0x60041, 15, 28, 6, 19, 22, 0x3003E, 28, 27, 65789, 65592,
];

const ENTRY_POINT: &CStr = c"main";

fn gpu() -> Arc<Gpu> {
    let vulkan = Vulkan::open(&VulkanOptions { validates: true, ..VulkanOptions::default() });
    let vulkan = vulkan.expect("Vulkan with its validation layers");
    Gpu::open(vulkan, GpuName::default(), GpuOptions::default()).expect("a device")
}

fn prepared(gpu: &Arc<Gpu>, code: &[u32]) -> Result<Pipeline, GpuError> {
    let slot = |binding| Slot { binding, kind: SlotKind::Storage, count: 1 };
    let shader = Shader {
        code,
        entry_point: ENTRY_POINT,
        sets: &[vec![slot(0), slot(1)]],
        push_constants: &[PushConstants { offset: 0, size: 4 }],
        subgroup_size: None,
        specialization: &[],
        abi: Abi::Descriptors,
    };
    // SAFETY: the code is what an assembler made of `add.spvasm`, which has these slots.
    unsafe { gpu.prepare(&shader) }
}

/// Adds a number to words.
fn add(gpu: &Arc<Gpu>, from: Span, to: Span, number: u32) -> Result<(), GpuError> {
    let pipeline = prepared(gpu, ADD)?;
    let workgroups = [from.length as u32 / 4, 1, 1];
    let (constants, bindings) = ([number], [from, to]);
    let work = Work { kernel: &pipeline, workgroups, constants: &constants, bindings: &bindings };
    // SAFETY: the spans are memory that the caller has alone.
    unsafe { gpu.run(&[work]) }.map(drop).map_err(|(_, error)| error)
}

fn span(words: &mut [u32]) -> Span {
    Span { address: words.as_mut_ptr().cast(), length: 4 * words.len() }
}

#[test]
fn memory_of_others_is_copied_there_and_back() {
    let gpu = gpu();
    let (mut from, mut to) = (vec![1, 2, 3, u32::MAX], vec![7; 6]);
    add(&gpu, span(&mut from), span(&mut to[1..5]), 10).expect("it runs");
    assert_eq!(to, [7, 11, 12, 13, 9, 7]);
    assert_eq!(from, [1, 2, 3, u32::MAX]);
    // In place, and from a range to one that overlaps it.
    let both = span(&mut from);
    add(&gpu, both, both, 1).expect("it runs");
    assert_eq!(from, [2, 3, 4, 0]);
}

#[test]
fn blocks_are_aligned_zeroed_and_given_back() {
    let gpu = gpu();
    for alignment in [1, 64, 256, 4096, 65536] {
        let blocks: Vec<_> =
            (0..9).map(|index| gpu.allocate(100 * index, alignment).expect("memory")).collect();
        for (index, block) in blocks.iter().enumerate() {
            assert!(block.address().addr().get().is_multiple_of(alignment));
            // SAFETY: the block has that many bytes, and nothing else uses them.
            unsafe {
                let bytes = std::slice::from_raw_parts_mut(block.address().as_ptr(), 100 * index);
                assert!(bytes.iter().all(|byte| *byte == 0));
                bytes.fill(0xAA);
            }
        }
    }
    // More than one piece has, and it is gone afterwards.
    for _ in 0..4 {
        drop(gpu.allocate(200 << 20, 64).expect("memory"));
    }
    assert!(matches!(gpu.allocate(usize::MAX, 1), Err(GpuError::OutOfMemory { .. })));
    assert!(matches!(gpu.allocate(1 << 50, 1), Err(GpuError::OutOfMemory { .. })));
}

#[test]
fn what_begins_anywhere_in_a_block_is_copied_and_overlaps_are_refused() {
    let gpu = gpu();
    let block = gpu.allocate(4096, 64).expect("memory");
    let at = |offset: usize, length| Span {
        address: block.address().as_ptr().wrapping_add(offset),
        length,
    };
    add(&gpu, at(0, 16), at(1028, 16), 5).expect("it runs");
    // SAFETY: the block has these bytes, and nothing else uses them now.
    let words: &[u32] =
        unsafe { std::slice::from_raw_parts(block.address().as_ptr().cast(), 1024) };
    assert_eq!(words[256..263], [0, 5, 5, 5, 5, 0, 0]);
    // One of both would be a copy that does not see what is written to the other.
    let refused = add(&gpu, at(0, 64), at(4, 64), 1);
    assert!(
        matches!(&refused, Err(GpuError::Limit { what, .. }) if what.contains("overlaps")),
        "{refused:?}"
    );
}

#[test]
fn what_does_not_fit_is_refused_before_it_runs() {
    let gpu = gpu();
    let mut words = vec![0; 4];
    let pipeline = prepared(&gpu, ADD).expect("a pipeline");
    let run = |workgroups, bindings: &[Span]| {
        let work = Work { kernel: &pipeline, workgroups, constants: &[1], bindings };
        // SAFETY: the spans are memory that this test has alone.
        unsafe { gpu.run(&[work]) }.expect_err("it does not fit")
    };
    let one = span(&mut words);
    assert!(matches!(run([4, 1, 1], &[one]), (Some(0), GpuError::Limit { .. })));
    assert!(matches!(run([u32::MAX, 1, 1], &[one, one]), (Some(0), GpuError::Limit { .. })));
    // BFloat16TypeKHR, which no device has here.
    let mut code = ADD.to_vec();
    code.splice(5..5, [17 | 2 << 16, 5116]);
    assert!(matches!(
        prepared(&gpu, &code),
        Err(GpuError::Missing { missing, .. }) if missing == ["shaderBFloat16Type"]
    ));
}

#[test]
fn many_dispatches_see_what_those_before_them_left() {
    let gpu = gpu();
    let pipeline = prepared(&gpu, ADD).expect("a pipeline");
    let block = gpu.allocate(400, 64).expect("memory");
    let bindings = [Span { address: block.address().as_ptr(), length: 400 }; 2];
    let works: Vec<Work<'_, Pipeline>> = (0..1000)
        .map(|_| Work {
            kernel: &pipeline,
            workgroups: [100, 1, 1],
            constants: &[3],
            bindings: &bindings,
        })
        .collect();
    // SAFETY: the block is this test's alone.
    let finished = unsafe { gpu.run(&works) }.expect("they run");
    assert_eq!(finished.len(), 1000);
    // SAFETY: as above.
    let words = unsafe { std::slice::from_raw_parts(block.address().as_ptr().cast::<u32>(), 100) };
    assert_eq!(words, [3000; 100]);
}
