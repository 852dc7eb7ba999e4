//! [`Judge`]: whether a program fails, which means that what the compiler makes of it, run by
//! IREE's runtime, leaves something else than its text says.
//!
//! What its text says is the evaluator's opinion, in float64 and exact integers, with a bound for
//! each element. iree-run-module knows one tolerance for a tensor: the largest bound that is
//! smaller than the error of the worst element. Elements with larger bounds are counted.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use abi::tensor::Tensor;
use compile::ProcessGroup;
use reference::{Dispatch, Elements, Output, Settings};

use super::not_judged::NotJudged;
use super::program::Program;
use crate::dispatch_run::Input;
use crate::tensor_files::InputFile;
use crate::trial::{Tools, first_error};

/// Where programs are tried.
pub(super) struct Judge<'t> {
    pub(super) tools: &'t Tools,
    pub(super) flags: Vec<String>,
    pub(super) device: String,
    /// For the files of a trial.
    pub(super) scratch: PathBuf,
    pub(super) settings: Settings,
    pub(super) most_attempts: usize,
    pub(super) attempts: usize,
    tried: HashMap<String, Outcome>,
}

/// What came of a program.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// It leaves something else than its text says.
    Fails(Failure),
    /// It leaves what its text says, as far as the text's opinion goes.
    Passes,
    /// It cannot be judged; the reason.
    Unknown(NotJudged),
}

/// How a program fails.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// Which of its results is wrong.
    pub result: usize,
    /// What its text says, rounded to the types of the results. Elements of which there is no
    /// opinion are as they were left.
    pub good: Vec<Tensor>,
    /// How far an element of the wrong result may be away; none if it has integers, which are
    /// exact.
    pub allowed: Option<f64>,
    /// The element that is furthest away: its indices, what it should be, and what it is.
    pub worst: (Vec<u64>, f64, f64),
    /// How many elements of the result are too far away.
    pub wrong: usize,
    /// Of how many elements there is no opinion, or one with a bound as large as the error.
    pub unsure: usize,
}

impl fmt::Display for Failure {
    /// `3 of 64 elements of the result are wrong, the worst at [0, 1]: …`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { result, good, allowed, worst: (at, expected, left), wrong, .. } = self;
        let count = good.get(*result).and_then(|it| it.tensor_type().element_count());
        let of = count.map(|count| format!(" of {count}")).unwrap_or_default();
        write!(
            f,
            "{wrong}{of} elements of the result are wrong, the worst at {at:?}: {left} instead of \
             {expected}"
        )?;
        match allowed {
            Some(allowed) if *allowed > 0.0 => write!(f, ", where {allowed:.1e} is allowed"),
            _ => Ok(()),
        }
    }
}

impl<'t> Judge<'t> {
    pub(super) fn new(tools: &'t Tools, flags: Vec<String>, device: &str, scratch: &Path) -> Self {
        let most_operations = 200_000_000;
        Self {
            tools,
            flags,
            device: device.to_owned(),
            scratch: scratch.to_owned(),
            settings: Settings { with_bounds: true, most_operations },
            most_attempts: usize::MAX,
            attempts: 0,
            tried: HashMap::new(),
        }
    }

    /// Whether no more programs may be compiled.
    pub(super) fn is_exhausted(&self) -> bool {
        self.attempts >= self.most_attempts
    }

    /// Tries a program.
    pub(super) fn outcome(&mut self, program: &Program) -> Outcome {
        let text = plain_text(program);
        if let Some(known) = self.tried.get(&text) {
            return known.clone();
        }
        let outputs = match self.opinion(program, &text, self.settings.with_bounds) {
            Ok(outputs) => outputs,
            Err(reason) => return Outcome::Unknown(reason),
        };
        if program.arguments.is_empty() {
            return Outcome::Unknown(NotJudged::NoTensors);
        }
        if self.is_exhausted() {
            return Outcome::Unknown(NotJudged::Exhausted);
        }
        self.attempts += 1;
        let outcome = match self.left(program, &outputs) {
            Ok(left) => judged(&outputs, &left),
            Err(reason) => Outcome::Unknown(reason),
        };
        self.tried.insert(text, outcome.clone());
        outcome
    }

    /// What a program's text says that it leaves.
    fn opinion(
        &self,
        program: &Program,
        text: &str,
        with_bounds: bool,
    ) -> Result<Vec<Output>, NotJudged> {
        let arguments = program.arguments.iter().map(|it| match &it.input {
            Input::Tensor(tensor) => reference::Argument::Tensor(tensor.clone()),
            Input::Number(number) => reference::Argument::Integer((*number).into()),
        });
        let arguments: Vec<_> = arguments.collect();
        let settings = Settings { with_bounds, ..self.settings };
        Ok(Dispatch::parse(text, &program.name)?.evaluate(&arguments, &settings)?)
    }

    /// What the text of a program says that its first result is, rounded to its type.
    pub(super) fn value(&self, program: &Program) -> Option<Tensor> {
        let outputs = self.opinion(program, &plain_text(program), false).ok()?;
        let output = outputs.first()?;
        output.over(&zeros(output)?).ok()
    }

    /// How the tensors that a run has left compare with what a program's text says.
    pub(super) fn of_run(&self, program: &Program, left: &[Tensor]) -> Outcome {
        match self.opinion(program, &plain_text(program), true) {
            Ok(outputs) => judged(&outputs, left),
            Err(reason) => Outcome::Unknown(reason),
        }
    }

    /// Compiles and runs a program.
    fn left(&self, program: &Program, outputs: &[Output]) -> Result<Vec<Tensor>, NotJudged> {
        let function = program.function();
        let io =
            |error| NotJudged::Scratch { folder: self.scratch.clone(), source: Arc::new(error) };
        let text = function.module_text(&function.text());
        std::fs::write(self.scratch.join("dispatch.mlir"), text).map_err(io)?;
        let mut compiler = Command::new(compile::without_script(&self.tools.compiler).as_ref());
        compiler.args(["dispatch.mlir", "-o", "dispatch.vmfb"]).args(&self.flags);
        self.finished(&mut compiler)?;
        let mut runner = Command::new(&self.tools.runner);
        runner.arg("--module=dispatch.vmfb").arg(format!("--device={}", self.device));
        runner.arg(format!("--function={}", function.name));
        for (index, argument) in program.arguments.iter().enumerate() {
            let stem = format!("input{index}");
            let file = InputFile::write(&self.scratch, &stem, &argument.input).map_err(io)?;
            runner.arg(format!("--input={}", file.flag()));
        }
        let file = |index: usize| format!("output{index}.bin");
        for index in 0..outputs.len() {
            runner.arg(format!("--output=@{}", file(index)));
        }
        self.finished(&mut runner)?;
        let left = outputs.iter().enumerate().map(|(index, output)| {
            let bytes = std::fs::read(self.scratch.join(file(index))).map_err(io)?;
            let shape = output.shape.iter().map(|size| *size as u64).collect();
            Ok(Tensor { shape, element_type: output.element_type, bytes })
        });
        left.collect()
    }

    fn finished(&self, command: &mut Command) -> Result<(), NotJudged> {
        let command = command.current_dir(&self.scratch).stdin(Stdio::null());
        let output = ProcessGroup::output(command).map_err(|error| NotJudged::NotStarted {
            tool: command.get_program().into(),
            source: Arc::new(error),
        })?;
        if output.status.success() {
            return Ok(());
        }
        Err(NotJudged::Tool(first_error(String::from_utf8_lossy(&output.stderr).trim())))
    }
}

/// A program as a function without a region, which the evaluator reads.
fn plain_text(program: &Program) -> String {
    let function = program.function();
    let heads: Vec<String> =
        program.arguments.iter().map(|it| format!("{}: {}", it.name, it.written_type)).collect();
    let types: Vec<&str> = function.results.iter().map(|it| it.written_type.as_str()).collect();
    let values: Vec<&str> = function.results.iter().map(|it| it.value.as_str()).collect();
    let (types, values) = (types.join(", "), values.join(", "));
    let mut text = format!("func.func @{}({}) -> ({types}) {{\n", program.name, heads.join(", "));
    for line in &function.body {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&format!("return {values} : {types}\n}}\n"));
    function.module_text(&text)
}

/// A tensor of zeros, as an output has its elements.
fn zeros(output: &Output) -> Option<Tensor> {
    let bytes = output.element_type.packed_byte_count(output.values.len())?;
    let shape = output.shape.iter().map(|size| *size as u64).collect();
    Some(Tensor { shape, element_type: output.element_type, bytes: vec![0; bytes] })
}

/// The elements of a tensor of floats or of whole bytes of integers.
fn numbers(tensor: &Tensor) -> Option<Vec<f64>> {
    let width = tensor.element_type.byte_count();
    let is_float = tensor.element_type.float_value(&[0; 8][..width.min(8)]).is_some();
    if tensor.element_type.is_packed() || width > 8 {
        return None;
    }
    let of = |bytes: &[u8]| match is_float {
        true => tensor.element_type.float_value(bytes),
        false => integer(bytes).map(|it| it as f64),
    };
    tensor.bytes.chunks_exact(width).map(of).collect()
}

/// An integer with its sign.
fn integer(bytes: &[u8]) -> Option<i64> {
    let mut whole = [0; 8];
    whole.get_mut(8 - bytes.len()..)?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(whole) >> (64 - 8 * bytes.len()))
}

/// Compares what a program has left with what its text says.
fn judged(outputs: &[Output], left: &[Tensor]) -> Outcome {
    let mut failure: Option<Failure> = None;
    let mut good = Vec::new();
    for (result, (output, left)) in outputs.iter().zip(left).enumerate() {
        let expected = match output.over(left) {
            Ok(expected) => expected,
            Err(reason) => return Outcome::Unknown(NotJudged::OtherTensors(reason)),
        };
        let (Some(expected_numbers), Some(left_numbers)) = (numbers(&expected), numbers(left))
        else {
            return Outcome::Unknown(NotJudged::Elements(left.element_type));
        };
        let known = || (0..output.values.len()).filter(|at| output.has_opinion(*at));
        let distance = |at: usize| -> f64 {
            let (a, b) = (expected_numbers[at], left_numbers[at]);
            match (a.is_nan(), b.is_nan()) {
                (true, true) => 0.0,
                (false, false) if a == b => 0.0,
                (false, false) => (a - b).abs(),
                _ => f64::INFINITY,
            }
        };
        let (wrong, allowed): (Vec<usize>, Option<f64>);
        let mut unsure = 0;
        match &output.values {
            Elements::Floats(values) => {
                // What is expected is rounded to the type of the file.
                let bound = |at: usize| {
                    let rounding = (values[at] - expected_numbers[at]).abs();
                    output.bound(at) + if rounding.is_finite() { rounding } else { 0.0 }
                };
                wrong = known().filter(|at| distance(*at) > bound(*at)).collect();
                let worst = wrong.iter().map(|at| distance(*at)).fold(0.0, f64::max);
                let smaller = known().map(bound).filter(|bound| *bound < worst);
                allowed = Some(smaller.fold(0.0, f64::max));
                unsure = known().filter(|at| bound(*at) >= worst).count();
                good.push(expected);
            }
            Elements::Integers(values) => {
                let width = expected.element_type.byte_count();
                let mut kept = expected.clone();
                let mut differing = Vec::new();
                for at in known() {
                    let bytes = at * width..(at + 1) * width;
                    let found = integer(&left.bytes[bytes.clone()]).unwrap_or_default();
                    if found == values[at]
                        || expected.bytes[bytes.clone()] == left.bytes[bytes.clone()]
                    {
                        continue;
                    }
                    match output.agrees_integer(at, found) {
                        true => kept.bytes[bytes.clone()].copy_from_slice(&left.bytes[bytes]),
                        false => differing.push(at),
                    }
                }
                wrong = differing;
                allowed = None;
                good.push(kept);
            }
        }
        let worst = wrong.iter().copied().max_by(|a, b| distance(*a).total_cmp(&distance(*b)));
        if let (Some(at), None) = (worst, &failure) {
            let worst = (indices(at, &left.shape), expected_numbers[at], left_numbers[at]);
            let (good, wrong) = (Vec::new(), wrong.len());
            unsure += output.values.len() - known().count();
            failure = Some(Failure { result, good, allowed, worst, wrong, unsure });
        }
    }
    match failure {
        Some(failure) => Outcome::Fails(Failure { good, ..failure }),
        None => Outcome::Passes,
    }
}

/// The indices of an element.
fn indices(at: usize, shape: &[u64]) -> Vec<u64> {
    let mut rest = at as u64;
    let mut all: Vec<u64> = shape
        .iter()
        .rev()
        .map(|size| {
            let index = rest % (*size).max(1);
            rest /= (*size).max(1);
            index
        })
        .collect();
    all.reverse();
    all
}
