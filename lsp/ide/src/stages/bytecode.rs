//! The last stage: the module's instructions with their bytes, and those of the bytecode modules
//! inside it, which dispatches run. The module's debug information says where each comes from.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use debuginfo::{Companion, CompanionText, DebugFile, DebugInfo, PhaseText};
use vmfb::print::{self, DisassemblyOptions, Rodata};
use vmfb::{LoadError, Module};

use super::stage::{Instruction, Stage};

/// More bytes of an instruction are not shown beside it.
const SHOWN: usize = 24;

/// The module at `path`, and the modules in its executables.
///
/// # Errors
/// [`LoadError`]: why the file is not a module.
pub fn bytecode_stages(path: &Path) -> Result<Vec<Stage>, LoadError> {
    let module = Module::open(path)?;
    let debug_file = DebugFile::for_module(path, module.file_bytes(), None).ok().flatten();
    let text = debug_file.and_then(|file| file.companion().ok().flatten());
    let companion = text.as_deref().and_then(|text| Companion::parse(text).ok());
    let info = DebugInfo::load(&module, companion.as_ref());
    let mut stages = vec![stage("bytecode", &module, &info)];
    let Some((text, companion)) = text.zip(companion) else { return Ok(stages) };
    let text = CompanionText::new(text.into());
    for nested in &companion.nested {
        let bytes = module.rodata_bytes(nested.rodata);
        let Some(inner) = bytes.and_then(|bytes| Module::from_bytes(bytes.into_owned()).ok())
        else {
            continue;
        };
        let printed = text.of_nested(nested);
        let companion = Companion::parse(&printed.printed()).ok();
        let info = DebugInfo::load(&inner, companion.as_ref());
        stages.push(stage(&format!("bytecode-{}", nested.name), &inner, &info));
    }
    Ok(stages)
}

fn stage(name: &str, module: &Module, info: &DebugInfo) -> Stage {
    let options =
        DisassemblyOptions { bytecode_offsets: true, function: None, rodata: Rodata::Elide };
    let disassembly = print::disassemble(module, &options);
    let mut phase = PhaseText { locations: info.locations().clone(), ..PhaseText::default() };
    let mut instructions = HashMap::new();
    let mut names: HashMap<u32, Arc<str>> = HashMap::new();
    let mut ends = HashMap::new();
    for (ordinal, _) in module.functions_with_ordinals() {
        let code = module.function_bytecode(ordinal);
        for instruction in vmfb::instructions(code).map_while(Result::ok) {
            ends.insert((ordinal, instruction.offset), instruction.end);
        }
    }
    for (number, line) in disassembly.text.lines().enumerate() {
        phase.text.push_str(line);
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let mut location = None;
        if let Some(origin) = disassembly.at_line(number)
            && let Some(end) = ends.get(&(origin.function, origin.offset))
        {
            let code = module.function_bytecode(origin.function);
            let bytes = code.get(origin.offset.index()..end.index()).unwrap_or_default();
            phase.text += &format!("  // {}", hexadecimal(bytes));
            let rows = info.rows(origin.function);
            // Block markers are no operations.
            let row = rows.binary_search_by_key(&origin.offset, |row| row.offset).ok();
            location = row.and_then(|row| rows.get(row)?.location);
            let name = || info.function_name(origin.function).unwrap_or_default().into();
            let ordinal = u32::try_from(origin.function.index()).unwrap_or(u32::MAX);
            let function = names.entry(ordinal).or_insert_with(name).clone();
            let offset = origin.offset.0;
            instructions.insert(number, Instruction { function, offset, bytes: bytes.into() });
        }
        phase.text.push('\n');
        phase.lines.push(location);
    }
    let mut stage = Stage::of(name, phase);
    stage.instructions = instructions;
    stage
}

fn hexadecimal(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02X}")).collect();
    let more = if bytes.len() > SHOWN { " …" } else { "" };
    shown.join(" ") + more
}
