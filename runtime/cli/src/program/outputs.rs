//! Results: printed, written to files, or compared with the expected ones.
//!
//! The flags and the messages are those of `iree-run-module`; [`values`] does the work.

use abi::compare::Tolerances;
use values::{Equality, check_tensors, mismatches, parse_values, write_output};
use vm::Value;
use vm::value_text::{format_value, format_values_up_to};

use super::call::Program;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// The flags for results.
#[derive(clap::Args)]
pub(crate) struct OutputArguments {
    /// What to do with each result, in order: `-` prints it, an empty text ignores it, `@file.npy`
    /// writes a NumPy file, `@file.bin` its bytes; `+` instead of `@` appends
    #[arg(long = "output", value_name = "WHERE", allow_hyphen_values = true)]
    outputs: Vec<String>,

    /// Check each result, in order, instead of printing it; the same forms as `--input`,
    /// `(ignored)` skips one
    #[arg(long = "expected_output", alias = "expected-output", value_name = "VALUE")]
    #[arg(allow_hyphen_values = true)]
    expected_outputs: Vec<String>,

    /// The most elements of a tensor to print; dots stand for the rest
    #[arg(long = "output_max_element_count", alias = "output-max-element-count")]
    #[arg(value_name = "COUNT", default_value_t = 1024)]
    max_element_count: usize,

    /// How tensors are compared: `approximate` within the tolerances below, or `exact`
    #[arg(long = "equality_mode", value_name = "MODE", default_value = "approximate")]
    #[arg(value_parser = ["approximate", "exact"])]
    equality_mode: String,

    /// Absolute tolerance for f16
    #[arg(long = "expected_f16_threshold", value_name = "F")]
    #[arg(default_value_t = Tolerances::default().f16)]
    f16: f64,

    /// Absolute tolerance for bf16
    #[arg(long = "expected_bf16_threshold", value_name = "F")]
    #[arg(default_value_t = Tolerances::default().bf16)]
    bf16: f64,

    /// Absolute tolerance for f32
    #[arg(long = "expected_f32_threshold", value_name = "F")]
    #[arg(default_value_t = Tolerances::default().f32)]
    f32: f64,

    /// Absolute tolerance for f64
    #[arg(long = "expected_f64_threshold", value_name = "F")]
    #[arg(default_value_t = Tolerances::default().f64)]
    f64: f64,

    /// Tolerance relative to the expected value, for all floats
    #[arg(long = "expected_rtol", value_name = "F")]
    #[arg(default_value_t = Tolerances::default().relative)]
    relative: f64,
}

impl OutputArguments {
    /// Prints, writes or checks the results, as the flags say.
    ///
    /// # Errors
    /// There are too many or too few flags, or a file cannot be written.
    pub(crate) fn process(
        &self,
        program: &Program,
        results: &[Value],
    ) -> Result<ExitStatus, Failure> {
        if !self.expected_outputs.is_empty() {
            return self.check(program, results);
        }
        if let Some(structure) = program.structure.as_ref().filter(|_| self.outputs.is_empty()) {
            out!("{}", structure.format(results)?);
        } else if self.outputs.is_empty() {
            out!("{}", format_values_up_to("result", results, self.max_element_count));
            // An unprintable result has a note in its place.
            check_tensors(results).map_err(|error| format!("{error}; printing results"))?;
        } else {
            self.route(results).map_err(|error| format!("{error}; outputting results"))?;
        }
        Ok(ExitStatus::Success)
    }

    fn route(&self, results: &[Value]) -> Result<(), Failure> {
        if results.len() != self.outputs.len() {
            return Err(format!(
                "OUT_OF_RANGE; {} results but {} --output= flags; give one for each result, or \
                 none to print them all",
                results.len(),
                self.outputs.len()
            )
            .into());
        }
        for (result, output) in results.iter().zip(&self.outputs) {
            match output.as_str() {
                "" => {}
                "-" => outln!("{}", format_value(result, self.max_element_count)),
                file => write_output(result, file)?,
            }
        }
        Ok(())
    }

    fn check(&self, program: &Program, results: &[Value]) -> Result<ExitStatus, Failure> {
        let expected =
            parse_values(&program.host, &program.signature.results, &self.expected_outputs)
                .map_err(|error| format!("{error}; parsing expected function outputs"))?;
        let equality = if self.equality_mode == "exact" {
            Equality::Exact
        } else {
            let Self { f16, bf16, f32, f64, relative, .. } = *self;
            Equality::Approximate(Tolerances { f16, bf16, f32, f64, relative })
        };
        let mismatches = mismatches(&expected, results, equality, self.max_element_count);
        if mismatches.is_empty() {
            outln!("[SUCCESS] all function outputs matched their expected values.");
            return Ok(ExitStatus::Success);
        }
        out!("{mismatches}");
        Ok(ExitStatus::Failure)
    }
}
