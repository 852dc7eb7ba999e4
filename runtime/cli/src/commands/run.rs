//! `iree-dbg run`: calls a function of a module and prints, writes or checks its results.

use std::process::ExitCode;

use vm::text::{format_value, format_values, is_ignored, parse_values};
use vm::{Observer, Value};

use super::Failure;
use crate::program::{Program, ProgramArguments};
use crate::structured::Structure;
use crate::trace::{TracedModules, Tracer};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    program: ProgramArguments,

    /// What to do with each result, in order: `-` prints it, nothing ignores it
    #[arg(long = "output", value_name = "-", allow_hyphen_values = true)]
    outputs: Vec<String>,

    /// Check each result, in order, instead of printing it; `(ignored)` skips one
    #[arg(long = "expected_output", alias = "expected-output", value_name = "VALUE")]
    #[arg(allow_hyphen_values = true)]
    expected_outputs: Vec<String>,

    /// Print every instruction to standard error before it runs
    #[arg(long = "trace_execution", alias = "trace-execution", value_name = "BOOL")]
    #[arg(num_args = 0..=1, require_equals = true)]
    #[arg(default_value_t = false, default_missing_value = "true")]
    trace_execution: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut program = arguments.program.load()?;
    let results = if arguments.trace_execution {
        let modules = TracedModules::new(&program.context);
        let names = modules.names();
        let mut tracer = Tracer::new(&modules, &names, std::io::stderr().lock());
        execute(&mut program, Some(&mut tracer))?
    } else {
        execute(&mut program, None)?
    };
    if !arguments.expected_outputs.is_empty() {
        return check(&program, &results, &arguments.expected_outputs);
    }
    if let Some(structure) = program.structure.as_ref().filter(|_| arguments.outputs.is_empty()) {
        print!("{}", structure.format(&results)?);
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.outputs.is_empty() {
        print!("{}", format_values("result", &results));
        return Ok(ExitCode::SUCCESS);
    }
    route(&results, &arguments.outputs)?;
    Ok(ExitCode::SUCCESS)
}

fn execute(
    program: &mut Program,
    mut observer: Option<&mut dyn Observer>,
) -> Result<Vec<Value>, String> {
    // Not `as_deref_mut`: it would ask the trait object to live as long as the option.
    program.initialize(match &mut observer {
        Some(observer) => Some(&mut **observer),
        None => None,
    })?;
    if !program.structure.as_ref().is_some_and(Structure::is_json) {
        println!("EXEC @{}", program.function_name);
    }
    program.call(observer)
}

fn route(results: &[Value], outputs: &[String]) -> Result<(), String> {
    if results.len() != outputs.len() {
        return Err(format!(
            "INVALID_ARGUMENT; {} results but {} --output= flags; give one for each result, or none \
             to print them all",
            results.len(),
            outputs.len()
        ));
    }
    for (result, output) in results.iter().zip(outputs) {
        match output.as_str() {
            "" => {}
            "-" => println!("{}", format_value(result)),
            other => {
                return Err(format!(
                    "UNIMPLEMENTED; --output={other}: results can be printed (`-`) or ignored (empty)"
                ));
            }
        }
    }
    Ok(())
}

/// Compares results with what the user expects. Scalars must be equal: the reference calls any two
/// scalars of one type a type mismatch, which cannot be meant.
fn check(program: &Program, results: &[Value], texts: &[String]) -> Result<ExitCode, Failure> {
    let expected = parse_values(&program.signature.results, texts)
        .map_err(|error| format!("{error}; parsing expected function outputs"))?;
    if expected.len() != results.len() {
        println!(
            "[FAILED] expected {} list elements but {} provided",
            expected.len(),
            results.len()
        );
        return Ok(ExitCode::FAILURE);
    }
    let mut all_match = true;
    for (index, (expected, actual)) in expected.iter().zip(results).enumerate() {
        if is_ignored(texts[index].trim()) || is_equal(expected, actual) {
            continue;
        }
        all_match = false;
        let value_type = actual.value_type();
        println!(
            "[FAILED] result[{index}]: {value_type} values differ\n  expected: {}\n  actual: {}",
            number(expected),
            number(actual)
        );
    }
    if !all_match {
        return Ok(ExitCode::FAILURE);
    }
    println!("[SUCCESS] all function outputs matched their expected values.");
    Ok(ExitCode::SUCCESS)
}

fn is_equal(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::I32(expected), Value::I32(actual)) => expected == actual,
        (Value::I64(expected), Value::I64(actual)) => expected == actual,
        (Value::F32(expected), Value::F32(actual)) => {
            expected == actual || expected.is_nan() && actual.is_nan()
        }
        (Value::F64(expected), Value::F64(actual)) => {
            expected == actual || expected.is_nan() && actual.is_nan()
        }
        (Value::Ref(expected), Value::Ref(actual)) => expected.is_same(actual),
        _ => false,
    }
}

/// A value without its type.
fn number(value: &Value) -> String {
    let text = format_value(value);
    text.split_once('=').map_or_else(|| text.clone(), |(_, number)| number.to_owned())
}
