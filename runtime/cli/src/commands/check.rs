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
use crate::program::{DeviceArguments, Program, parse_switch, stand_in};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A module that later ones import from; the last module has the tests
    #[arg(long = "module", value_name = "MODULE.vmfb")]
    providers: Vec<PathBuf>,

    /// The module with the tests
    #[arg(value_name = "MODULE.vmfb", required_unless_present = "providers")]
    modules: Vec<PathBuf>,

    /// Run only the test of this name; can be given several times
    #[arg(long = "test", value_name = "NAME")]
    only: Vec<String>,

    /// Print the names of the tests instead of running them; nothing for a module that imports
    /// nothing from `check`
    #[arg(long, conflicts_with = "only")]
    list: bool,

    #[command(flatten)]
    device: DeviceArguments,

    /// Succeed if something fails, and fail if nothing does
    #[arg(long = "expect_failure", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    expect_failure: bool,

    /// Run only tests whose names match one of these patterns, and none after a `-`:
    /// `exp*:log*-*_f64`
    #[arg(long = "gtest_filter", value_name = "PATTERNS", default_value = "*")]
    #[arg(allow_hyphen_values = true)]
    filter: String,

    /// Print the names of the tests, and run none
    #[arg(long = "gtest_list_tests", value_name = "BOOL", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "false", default_missing_value = "true")]
    #[arg(value_parser = parse_switch)]
    list_tests: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    if !arguments.expect_failure {
        return run_tests(arguments);
    }
    // A failure of any kind counts, as in iree-check-module.
    let outcome = run_tests(arguments);
    if let Err(failure) = &outcome {
        crate::failure::report(failure);
    }
    if matches!(outcome, Ok(ExitStatus::Success)) {
        outln!("Test passed but expected failure");
        return Ok(ExitStatus::Failure);
    }
    outln!("Test failed as expected");
    Ok(ExitStatus::Success)
}

fn run_tests(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let paths = arguments.providers.iter().chain(&arguments.modules);
    let mut config = arguments.device.config()?;
    arguments.device.notes().iter().for_each(|note| errln!("note: {note}"));
    let modules = LoadedModules::open(paths)?;
    if let Some(note) = stand_in(&modules, &mut config)? {
        errln!("note: {note}");
    }
    require_expectations(&modules)?;
    modules.check_parameters(&config.parameters)?;
    let module = modules.main()?;
    let (mut tests, others) = exports(module);
    let has_expectations = check::is_imported(module);
    if arguments.list {
        let listed = tests.iter().filter(|_| has_expectations);
        listed.for_each(|test| outln!("{}", test.name));
        return Ok(ExitStatus::Success);
    }
    if tests.is_empty() {
        return Err(format!(
            "module `{}` exports no function without arguments: there is nothing to check",
            module.name()
        )
        .into());
    }
    if let Some(name) = arguments.only.iter().find(|&name| tests.iter().all(|it| it.name != *name))
    {
        return Err(format!("module `{}` has no test `{name}`", module.name()).into());
    }
    tests.retain(|test| arguments.only.is_empty() || arguments.only.contains(&test.name));
    for (export, calling_convention) in others.iter().filter(|_| arguments.only.is_empty()) {
        outln!("[ NO TEST  ] {}: it takes arguments, {calling_convention}", export.name);
    }
    let name = |test: &Export| format!("{}.{}", module.name(), test.name);
    tests.retain(|test| selects(&arguments.filter, &name(test)));
    if arguments.list_tests {
        outln!("{}.", module.name());
        tests.iter().for_each(|test| outln!("  {}", test.name));
        return Ok(ExitStatus::Success);
    }
    let (mut passed, mut failed) = (0, 0);
    for test in tests {
        outln!("[ RUN      ] {}", test.name);
        let should_fail = !has_expectations && test.name.starts_with("fail_");
        let faults = run_test(&modules, test, should_fail, &Host::new(&config));
        for fault in &faults {
            outln!("{}", indented(fault));
        }
        if faults.is_empty() {
            passed += 1;
            outln!("[       OK ] {}", test.name);
        } else {
            failed += 1;
            outln!("[  FAILED  ] {}", test.name);
        }
    }
    outln!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitStatus::Success } else { ExitStatus::Failure })
}

/// Whether a name matches patterns as GoogleTest has them: those before a `-` select, those after
/// it do not. A name without its module matches, too.
fn selects(filter: &str, name: &str) -> bool {
    let (wanted, unwanted) = filter.split_once('-').unwrap_or((filter, ""));
    let wanted = if wanted.is_empty() { "*" } else { wanted };
    let alone = name.split_once('.').map_or(name, |(_, alone)| alone);
    let has = |patterns: &str| {
        let patterns = patterns.split(':').filter(|pattern| !pattern.is_empty());
        { patterns }.any(|it| abi::glob::matches(it, name) || abi::glob::matches(it, alone))
    };
    has(wanted) && !has(unwanted)
}

/// Refuses modules with expectations that this build does not know. Those are optional imports,
/// whose calls do nothing if they are missing, so the tests would pass.
fn require_expectations(modules: &LoadedModules) -> Result<(), Failure> {
    for module in modules.iter() {
        let unprovided = check::unprovided(module);
        if !unprovided.is_empty() {
            return Err(format!(
                "NOT_FOUND; module `{}` imports expectations that this build does not know, and \
                 its tests would pass without them: {}",
                module.name(),
                unprovided.join(", ")
            )
            .into());
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
    let started = Program::new(modules, test, host, false).and_then(|mut program| {
        program.initialize(None)?;
        Ok(program)
    });
    let outcome = match started.map(|mut program| program.call(None)) {
        Ok(outcome) if should_fail => match outcome {
            Ok(_) => Err("it returned; a test with such a name has to fail".to_owned()),
            Err(_) => Ok(()),
        },
        Ok(outcome) => outcome.map(drop).map_err(|failure| failure.to_string()),
        Err(failure) => Err(failure.to_string()),
    };
    let mut faults = host.expectations().take();
    faults.extend(outcome.err());
    faults
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::selects;

    #[test]
    fn filters_are_those_of_google_test() {
        assert!(selects("*", "m.exp"));
        assert!(selects("m.e*:m.l*", "m.log") && !selects("m.e*", "m.log"));
        assert!(selects("exp", "m.exp"));
        assert!(!selects("-*exp", "m.exp") && selects("-*exp", "m.log"));
    }
}
