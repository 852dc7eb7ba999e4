//! `iree-dbg check`: runs every test that a module exports, each in a context of its own.
//!
//! A test is an exported function without arguments. It fails if it ends with an error, or if one
//! of its `check.*` expectations does not hold.
//!
//! Tests of IREE's VM itself have no expectations, and some of them have to fail. So in a module
//! that imports nothing from `check`, a function whose name begins with `fail_` has to end with an
//! error.

use std::path::PathBuf;

use hal::{Host, check};
use vmfb::Export;
use vmfb::Module;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::modules::{LoadedModules, is_for_users};
use crate::program::{DeviceArguments, Program, stand_in};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A module that later ones import from; the last module has the tests
    #[arg(long = "module", value_name = "MODULE.vmfb")]
    providers: Vec<PathBuf>,

    /// The module with the tests
    #[arg(value_name = "MODULE.vmfb", required_unless_present = "providers")]
    modules: Vec<PathBuf>,

    #[command(flatten)]
    device: DeviceArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let paths = arguments.providers.iter().chain(&arguments.modules);
    let mut config = arguments.device.config()?;
    let modules = LoadedModules::open(paths)?;
    if let Some(note) = stand_in(&modules, &mut config)? {
        eprintln!("note: {note}");
    }
    require_expectations(&modules)?;
    let module = modules.main()?;
    let (tests, others) = exports(module);
    if tests.is_empty() {
        return Err(format!(
            "module `{}` exports no function without arguments: there is nothing to check",
            module.name()
        )
        .into());
    }
    for (export, calling_convention) in others {
        println!("[ NO TEST  ] {}: it takes arguments, {calling_convention}", export.name);
    }
    let has_expectations = check::is_imported(module);
    let (mut passed, mut failed) = (0, 0);
    for test in tests {
        println!("[ RUN      ] {}", test.name);
        let should_fail = !has_expectations && test.name.starts_with("fail_");
        let faults = run_test(&modules, test, should_fail, &Host::new(&config));
        for fault in &faults {
            println!("{}", indented(fault));
        }
        if faults.is_empty() {
            passed += 1;
            println!("[       OK ] {}", test.name);
        } else {
            failed += 1;
            println!("[  FAILED  ] {}", test.name);
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitStatus::Success } else { ExitStatus::Failure })
}

/// Refuses modules with expectations that this build does not know. Those are optional imports,
/// whose calls do nothing if they are missing, so the tests would pass.
fn require_expectations(modules: &LoadedModules) -> Result<(), String> {
    for module in modules.iter() {
        let unprovided = check::unprovided(module);
        if !unprovided.is_empty() {
            return Err(format!(
                "NOT_FOUND; module `{}` imports expectations that this build does not know, and \
                 its tests would pass without them: {}",
                module.name(),
                unprovided.join(", ")
            ));
        }
    }
    Ok(())
}

/// The exports for users, in order: the tests, and the functions with arguments, with their calling
/// conventions.
fn exports(module: &Module) -> (Vec<&Export>, Vec<(&Export, &str)>) {
    let (mut tests, mut others) = (Vec::new(), Vec::new());
    for export in module.exports().iter().filter(|export| is_for_users(&export.name)) {
        let function = module.function(export.function);
        let calling_convention = function
            .and_then(|function| function.signature.calling_convention.as_deref())
            .unwrap_or_default();
        match abi::cconv::Signature::parse(calling_convention) {
            Ok(signature) if !signature.arguments.is_empty() => {
                others.push((export, calling_convention));
            }
            // A function without a calling convention cannot be called, and its test will say so.
            _ => tests.push(export),
        }
    }
    (tests, others)
}

/// Runs a test. Returns its faults; none if it passes.
fn run_test(modules: &LoadedModules, test: &Export, should_fail: bool, host: &Host) -> Vec<String> {
    let started = Program::new(modules, test, host).and_then(|mut program| {
        program.initialize(None).map_err(|failure| failure.to_string())?;
        Ok(program)
    });
    let outcome = match started.map(|mut program| program.call(None)) {
        Ok(outcome) if should_fail => match outcome {
            Ok(_) => Err("it returned; a test with such a name has to fail".to_owned()),
            Err(_) => Ok(()),
        },
        Ok(outcome) => outcome.map(drop).map_err(|failure| failure.to_string()),
        Err(failure) => Err(failure),
    };
    let mut faults = host.expectations().take();
    faults.extend(outcome.err());
    faults
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}
