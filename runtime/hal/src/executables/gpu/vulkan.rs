//! Executables for Vulkan: what IREE's compiler writes, `VKE1`, as data.
//!
//! The fields are those of `vulkan_executable_def.fbs` of IREE 3.13; older compilers write the
//! first of them.

use std::ffi::CString;

use gpu::GpuError;
use vm::Status;
use vulkan::{Abi, Gpu, Pipeline, PushConstants, Shader, Slot, SlotKind};

use super::executable::Definition;
use super::file::{SourceFiles, described, flatbuffer, missing};
use super::flat::{Budget, Table};
use crate::executables::interface::Export;

/// The identifier of the format.
const IDENTIFIER: &[u8; 4] = b"VKE1";

/// The first word of SPIR-V.
const SPIRV: u32 = 0x0723_0203;

/// An executable as data. All indices are in range.
#[derive(Debug)]
pub(super) struct Shaders {
    pipelines: Vec<PipelineDefinition>,
    shaders: Vec<Vec<u32>>,
}

/// A function of an executable.
#[derive(Debug)]
struct PipelineDefinition {
    export: Export,
    /// Index into the shaders.
    shader: usize,
    entry_point: CString,
    sets: Vec<Vec<Slot>>,
    push_constants: Vec<PushConstants>,
    subgroup_size: Option<u32>,
    abi: Abi,
}

impl Definition for Shaders {
    type Gpu = Gpu;

    // Vulkan has no buffers without bytes, and IREE's runtime says so.
    const REFUSES_EMPTY: Option<&'static str> = Some("Vulkan");

    fn read(data: &[u8]) -> Result<Self, Status> {
        let budget = Budget::of(data.len());
        let root = Table::root(flatbuffer(data, IDENTIFIER)?, &budget)?;
        let sets = root.tables(1)?.iter().map(slots).collect::<Result<Vec<_>, _>>()?;
        let layouts = root.tables(2)?;
        let shaders = root.tables(3)?.iter().map(shader).collect::<Result<Vec<_>, _>>()?;
        let sources = SourceFiles::of(&root, 4)?;
        let pipelines = root.tables(0)?;
        let known = Known { layouts: &layouts, sets: &sets, shaders: &shaders, sources: &sources };
        let pipelines = pipelines.iter().map(|it| pipeline(it, &known, &budget));
        Ok(Self { pipelines: pipelines.collect::<Result<_, _>>()?, shaders })
    }

    fn exports(&self) -> Vec<Export> {
        self.pipelines.iter().map(|it| it.export.clone()).collect()
    }

    unsafe fn prepare(
        &self,
        gpu: &Gpu,
        export: usize,
        constants: &[u32],
    ) -> Result<Pipeline, GpuError> {
        let it = &self.pipelines[export];
        let shader = Shader {
            code: &self.shaders[it.shader],
            entry_point: &it.entry_point,
            sets: &it.sets,
            push_constants: &it.push_constants,
            subgroup_size: it.subgroup_size,
            specialization: constants,
            abi: it.abi,
        };
        // SAFETY: by the contract.
        unsafe { gpu.prepare(&shader) }
    }
}

fn slots(set: &Table<'_>) -> Result<Vec<Slot>, Status> {
    let bindings = set.tables(0)?;
    let slots = bindings.iter().map(|binding| {
        let kind = match binding.number(1, 0)? {
            6 => SlotKind::Uniform,
            7 => SlotKind::Storage,
            other => {
                return Err(Status::unimplemented(format!(
                    "a binding of the executable is a descriptor of kind {other}; buffers are of \
                     kind 6 or 7"
                )));
            }
        };
        let count = binding.number(2, 0)?;
        // No executable comes near this, and each takes memory.
        if count == 0 || count > 4096 {
            return Err(Status::invalid_argument(format!(
                "a binding of the executable has {count} descriptors"
            )));
        }
        Ok(Slot { binding: binding.number(0, 0)?, kind, count })
    });
    slots.collect()
}

fn shader(module: &Table<'_>) -> Result<Vec<u32>, Status> {
    let code = module.numbers(0)?;
    if code.first() == Some(&SPIRV) {
        return Ok(code);
    }
    Err(Status::invalid_argument("a shader of the executable is not SPIR-V"))
}

/// What the functions of an executable refer to.
struct Known<'a> {
    layouts: &'a [Table<'a>],
    sets: &'a [Vec<Slot>],
    shaders: &'a [Vec<u32>],
    sources: &'a SourceFiles,
}

fn pipeline(
    pipeline: &Table<'_>,
    known: &Known<'_>,
    budget: &Budget,
) -> Result<PipelineDefinition, Status> {
    let Known { layouts, sets, shaders, sources } = known;
    let shader = pipeline.number(0, 0)?;
    shaders.get(shader as usize).ok_or_else(|| missing("shader", shader))?;
    let entry_point = CString::new(pipeline.bytes(1)?)
        .map_err(|_| Status::invalid_argument("the name of an entry point has a zero byte"))?;
    let layout = pipeline.number(2, 0)?;
    let layout = layouts.get(layout as usize).ok_or_else(|| missing("layout", layout))?;
    let own_sets = layout.numbers(0)?.into_iter().map(|index| {
        let slots = sets.get(index as usize).ok_or_else(|| missing("descriptor set", index))?;
        budget.spend(size_of_val(slots.as_slice()))?;
        Ok(slots.clone())
    });
    let own_sets = own_sets.collect::<Result<Vec<Vec<Slot>>, Status>>()?;
    let push_constants: Vec<PushConstants> = layout
        .words(1, 3)?
        .as_chunks()
        .0
        .iter()
        .map(|[_stages, offset, size]| PushConstants { offset: *offset, size: *size })
        .collect();
    let addresses = match pipeline.byte(5)? {
        0 => None,
        1 => Some(pipeline.table(6)?.ok_or_else(|| missing("layout of addresses", 0))?),
        other => {
            return Err(Status::unimplemented(format!(
                "a dispatch of the executable is called in way {other}; descriptors (0) and \
                 addresses (1) are known"
            )));
        }
    };
    let (abi, constant_count, binding_count) = match addresses {
        None => {
            let bytes = push_constants.iter().map(|it| it.offset.saturating_add(it.size)).max();
            let bindings = own_sets.iter().flatten().map(|slot| slot.count as usize).sum();
            (Abi::Descriptors, bytes.unwrap_or_default() as usize / 4, bindings)
        }
        Some(layout) => {
            if (layout.number(0, 1)?, layout.byte(5)?) != (1, 0) {
                return Err(Status::unimplemented(
                    "the executable has a table of addresses of another version",
                ));
            }
            let (root_offset, constants_offset) = (layout.number(1, 0)?, layout.number(3, 32)?);
            let abi = Abi::Addresses { root_offset, constants_offset };
            (abi, layout.number(4, 0)? as usize, layout.number(6, 0)? as usize)
        }
    };
    let debug = pipeline.table(4)?;
    Ok(PipelineDefinition {
        export: Export {
            constant_count: Some(constant_count),
            binding_count: Some(binding_count),
            ..described(debug.as_ref(), pipeline.text(1)?, sources, budget)?
        },
        shader: shader as usize,
        entry_point,
        sets: own_sets,
        push_constants,
        subgroup_size: Some(pipeline.number(3, 0)?).filter(|size| *size != 0),
        abi,
    })
}
