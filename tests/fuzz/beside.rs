//! Files beside a module: companions, texts of dispatches, debug files. Others may have written
//! them, so a damaged one may cost names and lines, but never the session.

use debug::{Debugger, Granularity, LaunchOptions, Level, ModuleSource, Resume, StepKind};
use debuginfo::{Companion, DebugFile, DebugInfo, DispatchInterfaces, Given};
use vmfb::{FileBytes, Module};

use crate::files;
use crate::random::Random;
use crate::samples::{Program, Samples};
use crate::text;

/// Asks every question about a module with a damaged companion.
pub(crate) fn companion(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let program = random.choose::<Program>(&samples.programs);
    let original = String::from_utf8_lossy(&program.companion);
    *kept = text::mutate(&original, random);
    let Ok(companion) = Companion::parse(kept) else { return false };
    let module = Module::from_bytes(program.module.clone()).expect("it was compiled");
    let info = DebugInfo::load(&module, Some(&companion));
    ask(&module, &info);
    debugged(program, kept.clone(), random);
    true
}

/// Reads a damaged text of dispatches.
pub(crate) fn dispatches(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let programs: Vec<&Program> =
        samples.programs.iter().filter(|program| !program.dispatches.is_empty()).collect();
    let program: &Program = random.choose::<&Program>(&programs);
    *kept = text::mutate(&program.dispatches, random);
    let interfaces = DispatchInterfaces::parse(&String::from_utf8_lossy(kept));
    for name in interfaces.names().map(str::to_owned).collect::<Vec<_>>() {
        let Some(interface) = interfaces.of(&name) else { continue };
        for constants in [&[][..], &[0], &[u32::MAX; 8]] {
            let _ = interface.operands(constants);
        }
        let _ = interface.position();
        let _ = interface.work().count();
    }
    for call in interfaces.calls() {
        let _ = format!("{call:?}");
    }
    for line in 0..20 {
        let _ = interfaces.on_line("perceptron.mlir", line).count();
    }
    !interfaces.is_empty()
}

/// Loads a module with a damaged debug database: bytes after its bytecode are changed.
pub(crate) fn debug_file(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let program = random.choose::<Program>(&samples.programs);
    *kept = files::damage(&program.module, random);
    // Half of the damage goes to the end of the module, where locations and names are.
    if random.chance(2) {
        let half = program.module.len() / 2;
        let tail = files::damage(&program.module[half..], random);
        *kept = [&program.module[..half], &tail].concat();
    }
    let Ok(module) = Module::from_bytes(kept.clone()) else { return false };
    let companion = Companion::parse(&program.companion).ok();
    ask(&module, &DebugInfo::load(&module, companion.as_ref()));
    true
}

/// Reads all of a damaged debug file.
pub(crate) fn debug_archive(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let program = random.choose::<Program>(&samples.programs);
    *kept = files::damage(&program.debug_file, random);
    let bytes = FileBytes::from(kept.clone());
    let Ok(file) = DebugFile::of(&program.path, bytes) else { return false };
    let names: Vec<String> = file.manifest().sources.iter().map(|it| it.name.clone()).collect();
    let _ = (file.flow(), file.input(), file.dispatches(), file.twin("x"));
    let constants = file.manifest().constants.keys();
    constants.for_each(|it| drop(file.constant(it)));
    let _ = file.model_nodes();
    let _ = file.python_map().map(|it| debuginfo::PythonMap::read(&it));
    let _ = names.iter().filter_map(|name| file.source(name)).count();
    file.companion().is_ok_and(|text| text.is_some_and(|text| Companion::parse(&text).is_ok()))
}

fn ask(module: &Module, info: &DebugInfo) {
    for (ordinal, _) in module.functions_with_ordinals() {
        for row in info.rows(ordinal).iter().take(200) {
            let _ = info.frames_at(ordinal, row.offset);
            let _ = info.live_values(ordinal, row.offset);
            let _ = info.position_at(ordinal, row.offset);
            let _ = info.scope_at(module, ordinal, row.offset, 0, Given::Program);
        }
    }
    let _ = info.match_file("euclid.mlir");
}

/// Steps through a session with a damaged companion, in each text.
fn debugged(program: &Program, companion: Vec<u8>, random: &mut Random) {
    let options = LaunchOptions {
        modules: vec![ModuleSource::memory("sample", program.module.clone(), Some(companion))],
        function: Some(program.function.to_owned()).filter(|name| !name.is_empty()),
        inputs: program.inputs.iter().map(|input| (*input).to_owned()).collect(),
        ..LaunchOptions::default()
    };
    let Ok(mut debugger) = Debugger::load(options) else { return };
    let level = *random.choose(&[Level::Source, Level::Vm, Level::Disassembly]);
    let _ = debugger.set_level(level);
    let mut resume = Resume::ToEntry;
    for _ in 0..12 {
        if debugger.resume(resume).is_final() {
            return;
        }
        resume = Resume::Step(StepKind::Into, Granularity::Statement);
        for frame in debugger.machine().frames_in(0..4) {
            for (_, node) in debugger.machine().scopes(frame.id()) {
                let _ = debugger.machine().children(&node, None);
            }
        }
    }
}
