//! Executables for Vulkan: what IREE's compiler writes, `VKE1`, as data.
//!
//! Compilers of 3.13 write 64 bytes before the FlatBuffer: the identifier, a version, and the
//! length of what follows; without them, the identifier is that of the FlatBuffer itself.
//! The fields are those of `vulkan_executable_def.fbs` and
//! `executable_debug_info.fbs` of IREE 3.13; older compilers write the first of them.

use std::ffi::CString;

use vm::Status;
use vulkan::{Abi, PushConstants, Slot, SlotKind};

use super::flat::{Budget, Table};
use crate::executables::interface::{Export, SourceLocation};

/// The identifier of the format.
const IDENTIFIER: &[u8] = b"VKE1";

/// The length of the header, where there is one.
const HEADER: usize = 64;

/// The first word of SPIR-V.
const SPIRV: u32 = 0x0723_0203;

/// An executable as data. All indices are in range.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) pipelines: Vec<PipelineDefinition>,
    pub(super) shaders: Vec<Vec<u32>>,
}

/// A function of an executable.
#[derive(Debug)]
pub(super) struct PipelineDefinition {
    pub(super) export: Export,
    /// Index into the shaders.
    pub(super) shader: usize,
    pub(super) entry_point: CString,
    pub(super) sets: Vec<Vec<Slot>>,
    pub(super) push_constants: Vec<PushConstants>,
    pub(super) subgroup_size: Option<u32>,
    pub(super) abi: Abi,
}

impl Definition {
    /// Reads an executable.
    ///
    /// # Errors
    /// It is damaged, or has what no dispatch can be given.
    pub(super) fn read(data: &[u8]) -> Result<Self, Status> {
        let budget = Budget::of(data.len());
        let root = Table::root(flatbuffer(data)?, &budget)?;
        let sets = root.tables(1)?.iter().map(slots).collect::<Result<Vec<_>, _>>()?;
        let layouts = root.tables(2)?;
        let shaders = root.tables(3)?.iter().map(shader).collect::<Result<Vec<_>, _>>()?;
        let sources = root.tables(4)?;
        let sources = sources.iter().map(|it| Ok((it.text(0)?, it.text(1)?)));
        let sources = sources.collect::<Result<Vec<_>, Status>>()?;
        let pipelines = root.tables(0)?;
        let known = Known { layouts: &layouts, sets: &sets, shaders: &shaders, sources: &sources };
        let pipelines = pipelines.iter().map(|it| pipeline(it, &known, &budget));
        Ok(Self { pipelines: pipelines.collect::<Result<_, _>>()?, shaders })
    }
}

/// The FlatBuffer, without the header.
fn flatbuffer(data: &[u8]) -> Result<&[u8], Status> {
    if data.starts_with(IDENTIFIER) {
        return data.get(HEADER..).ok_or_else(|| super::flat::damaged(0));
    }
    if data.get(4..8) == Some(IDENTIFIER) {
        return Ok(data);
    }
    Err(Status::invalid_argument(
        "the executable is not of the format VKE1, which compilers from 3.0 on write for Vulkan",
    ))
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
    /// The path and the text of each source.
    sources: &'a [(String, String)],
}

fn pipeline(
    pipeline: &Table<'_>,
    known: &Known<'_>,
    budget: &Budget,
) -> Result<PipelineDefinition, Status> {
    let Known { layouts, sets, shaders, sources } = known;
    let missing = |what: &str, index: u32| {
        Status::out_of_range(format!("the executable has no {what} {index}"))
    };
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

/// The name of an export and where it comes from.
fn described(
    debug: Option<&Table<'_>>,
    entry_point: String,
    sources: &[(String, String)],
    budget: &Budget,
) -> Result<Export, Status> {
    let Some(debug) = debug else { return Ok(Export { name: entry_point, ..Export::default() }) };
    let location = |table: Option<Table<'_>>| -> Result<Option<SourceLocation>, Status> {
        let Some(table) = table else { return Ok(None) };
        Ok(Some(SourceLocation { file: table.text(0)?, line: table.number(1, 0)? }))
    };
    let mut embedded_sources = Vec::new();
    for stage in debug.tables(2)? {
        let file = location(stage.table(1)?)?.map(|location| location.file);
        if let Some((_, text)) = sources.iter().find(|(path, _)| Some(path) == file.as_ref())
            && budget.spend(text.len()).is_ok()
        {
            embedded_sources.push((stage.text(0)?, text.clone()));
        }
    }
    let name = Some(debug.text(0)?).filter(|name| !name.is_empty()).unwrap_or(entry_point);
    let source = location(debug.table(1)?)?;
    Ok(Export { name, source, embedded_sources, ..Export::default() })
}
