//! Assembling: the disassembly that IREE prints of a module must give that module again, and a
//! source of ours must give the module that iree-as-module makes.
//!
//! The text does not contain everything: dependencies, attributes, locations, and the place of
//! rodata are compared only with the original module at hand. iree-as-module knows neither `YIELD`
//! nor `UNWIND`, and does not count registers that appear only in a header or a signature.

use std::path::Path;
use std::process::Command;

use conformance::corpus::{Source, Variant};
use conformance::tools::{finish, iree, iree_dbg};
use vmfb::Module;
use vmfb::build::ModuleImage;
use vmfb::{Features, Function};

use crate::print::{same_lines, text};

pub(crate) fn check(source: &Source, variant: Variant, module: &Path) -> Result<(), String> {
    let is_assembled = variant == Variant::Assembled;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    if is_assembled {
        let ours = assemble(&source.path, &scratch.path().join("source.vmfb"))?;
        same_module(&load(module)?, &ours, true)
            .map_err(|difference| format!("asm {}: {difference}", source.name()))?;
    }
    for flags in [&[][..], &["--bytecode_offsets"]] {
        if source.disassembly_differs {
            break;
        }
        let printed = disassembly(module, flags)?;
        let path = scratch.path().join("printed.vmasm");
        std::fs::write(&path, &printed).map_err(|error| error.to_string())?;
        let again = scratch.path().join("printed.vmfb");
        let ours = assemble_with(&path, &again, Some(module))?;
        same_rest(&load(module)?, &ours)?;
        let ours = assemble(&path, &again)?;
        same_module(&load(module)?, &ours, is_assembled)
            .map_err(|difference| format!("asm of the disassembly: {difference}"))?;
        same_lines(&printed, &disassembly(&again, flags)?)
            .map_err(|difference| format!("disassembly of asm of the disassembly: {difference}"))?;
    }
    Ok(())
}

fn disassembly(module: &Path, flags: &[&str]) -> Result<Vec<u8>, String> {
    let mut command = Command::new(iree("iree-dump-module")?);
    text(command.arg("--output=disassembly").args(flags).arg(module))
}

/// Runs our assembler. Warnings about names are allowed, doubts whether the module runs are not.
fn assemble(source: &Path, output: &Path) -> Result<Module, String> {
    assemble_with(source, output, None)
}

fn assemble_with(source: &Path, output: &Path, original: Option<&Path>) -> Result<Module, String> {
    let mut command = Command::new(iree_dbg()?);
    command.arg("asm").arg(format!("--output={}", output.display())).arg(source);
    if let Some(original) = original {
        command.arg("--original").arg(original);
    }
    let finished = finish(&mut command)?;
    if finished.status != Some(0) || finished.stderr.contains("this will not run") {
        return Err(format!("{command:?}:\n{}", finished.stderr));
    }
    load(output)
}

fn load(path: &Path) -> Result<Module, String> {
    Module::open(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn same_module(theirs: &Module, ours: &Module, by_their_assembler: bool) -> Result<(), String> {
    let (mut theirs, mut ours) = (comparable(theirs), comparable(ours));
    if by_their_assembler {
        theirs.requirements = without_annotations(theirs.requirements);
        ours.requirements = without_annotations(ours.requirements);
        for (theirs, ours) in theirs.functions.iter_mut().zip(&mut ours.functions) {
            ours.requirements = without_annotations(ours.requirements);
            count_like(theirs, ours);
        }
    }
    for (ordinal, (theirs, ours)) in theirs.functions.iter().zip(&ours.functions).enumerate() {
        if theirs != ours {
            return Err(format!("function {ordinal}:\n  theirs: {theirs:?}\n  ours:   {ours:?}"));
        }
    }
    if theirs == ours {
        return Ok(());
    }
    let bytes_differ = theirs.bytecode != ours.bytecode || theirs.rodata != ours.rodata;
    for image in [&mut theirs, &mut ours] {
        image.bytecode = Vec::new().into();
        image.rodata.clear();
        image.functions.clear();
    }
    let what = if bytes_differ { "bytecode or rodata differs; tables:" } else { "tables differ:" };
    Err(format!("{what}\n  theirs: {theirs:?}\n  ours:   {ours:?}"))
}

/// Compares the parts that are taken from the original module.
fn same_rest(theirs: &Module, ours: &Module) -> Result<(), String> {
    let attributes = |module: &Module| {
        let functions = module.functions().iter();
        functions.map(|function| function.signature.attributes.clone()).collect::<Vec<_>>()
    };
    let is_external = |module: &Module| {
        module.rodata().iter().map(|segment| segment.is_external).collect::<Vec<_>>()
    };
    let is_same = theirs.attributes() == ours.attributes()
        && theirs.dependencies() == ours.dependencies()
        && attributes(theirs) == attributes(ours)
        && is_external(theirs) == is_external(ours)
        && theirs.debug_database() == ours.debug_database();
    if is_same {
        return Ok(());
    }
    Err("asm of the disassembly with --original: attributes, dependencies, locations or places of rodata differ".to_owned())
}

/// The parts of a module that its disassembly shows.
fn comparable(module: &Module) -> ModuleImage<'_> {
    let mut image = ModuleImage::from_module(module);
    image.attributes.clear();
    image.dependencies.clear();
    image.debug_database = None;
    image.functions.iter_mut().for_each(|function| function.signature.attributes.clear());
    image.rodata.iter_mut().for_each(|segment| segment.is_external = false);
    image
}

fn without_annotations(features: Features) -> Features {
    Features(features.0 & !(Features::YIELD | Features::UNWIND).0)
}

/// Takes our register counts where they are larger.
fn count_like(theirs: &mut Function, ours: &Function) {
    theirs.i32_register_count = theirs.i32_register_count.max(ours.i32_register_count);
    theirs.ref_register_count = theirs.ref_register_count.max(ours.ref_register_count);
}
