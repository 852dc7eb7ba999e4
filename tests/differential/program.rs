//! A generated module and its calls.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use conformance::tools::{finish, iree, status_code};
use vm::value_text::{format_values, parse_values};
use vm::{Context, Invocation, Outcome};
use vmfb::Module;
use vmfb::isa::Bank;

use crate::operands::width;

/// The most differences that are shown for one call.
const SHOWN: usize = 6;

/// A module as text, and the calls to make in it.
#[derive(Clone, Default)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    /// The operands of each result, for reports.
    pub(crate) tuples: Vec<Vec<u64>>,
}

/// A call that both sides make once.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) function: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) agreement: Agreement,
}

/// When two answers agree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// They are equal bit for bit; failures have the same status.
    Bits,
    /// Undefined in the reference, whose process dies; an `INVALID_ARGUMENT` error here.
    Trap,
    /// Outside a buffer, unnoticed by the reference because its sums wrap. The reference is not
    /// run, since it would access foreign memory; here it is an `OUT_OF_RANGE` error.
    Outside,
}

/// One side's answer: the text of the results, or the name of a status.
type Answer = Result<String, String>;

impl Program {
    /// A program without functions; `types` are entries of its type table.
    pub(crate) fn new(name: &str, types: &[&str]) -> Self {
        let mut text = format!("vm.module @{name} version 0\n");
        for type_name in types {
            let _ = writeln!(text, "vm.type {type_name}");
        }
        Self { name: name.to_owned(), text, ..Self::default() }
    }

    /// Adds a rodata segment with values of a bank.
    pub(crate) fn rodata(&mut self, ordinal: usize, bank: Bank, values: &[u64]) {
        let _ = write!(self.text, "vm.rodata[{ordinal}] = ");
        for byte in
            values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(width(bank)))
        {
            let _ = write!(self.text, "{byte:02X}");
        }
        self.text.push('\n');
    }

    /// Adds an exported function. `signature` is like `(%i0: i32) -> (i32)`.
    pub(crate) fn function(&mut self, name: &str, signature: &str, body: &str) {
        let _ = write!(
            self.text,
            "\nvm.export @{name}\nvm.func @{name}{signature} {{\n^bb0:\n{body}}}\n"
        );
    }

    /// Adds a call.
    pub(crate) fn call(&mut self, function: &str, inputs: &[String], agreement: Agreement) {
        let (function, inputs) = (function.to_owned(), inputs.to_vec());
        self.calls.push(Call { function, inputs, agreement });
    }

    /// The module, assembled by iree-as-module.
    pub(crate) fn assemble(&self) -> Result<PathBuf, String> {
        conformance::corpus::assemble(&self.name, &self.text)
    }

    /// Makes all calls. The error lists the differences.
    pub(crate) fn check(&self) -> Result<(), String> {
        let path = self.assemble()?;
        let mut failures = Vec::new();
        for call in &self.calls {
            let theirs = match call.agreement {
                Agreement::Outside => Err("OUT_OF_RANGE".to_owned()),
                _ => reference(&path, call)?,
            };
            let ours = ours(&path, call)?;
            if let Err(difference) = self.compare(call.agreement, &theirs, &ours) {
                let inputs = call.inputs.join(", ");
                failures.push(format!("{}({inputs}): {difference}", call.function));
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    }

    fn compare(&self, agreement: Agreement, theirs: &Answer, ours: &Answer) -> Result<(), String> {
        let whole = || Err(format!("theirs {theirs:?}, ours {ours:?}"));
        match (agreement, theirs, ours) {
            (Agreement::Trap, Err(theirs), Err(ours))
                if theirs == KILLED && ours == "INVALID_ARGUMENT" =>
            {
                Ok(())
            }
            (Agreement::Trap, _, _) => whole(),
            (_, Ok(their_text), Ok(our_text)) => {
                let pairs = their_text.lines().zip(our_text.lines());
                let different: Vec<String> = pairs
                    .filter(|(theirs, ours)| theirs != ours)
                    .map(|(theirs, ours)| self.describe(theirs, ours))
                    .collect();
                if their_text.lines().count() != our_text.lines().count() {
                    return whole();
                }
                if different.is_empty() {
                    return Ok(());
                }
                let shown = different.iter().take(SHOWN).cloned().collect::<String>();
                Err(format!("{} results differ{shown}", different.len()))
            }
            (_, Err(theirs), Err(ours)) if theirs == ours && theirs != KILLED => Ok(()),
            _ => whole(),
        }
    }

    /// A line of the results, and the operands that led to it.
    fn describe(&self, theirs: &str, ours: &str) -> String {
        let index = theirs.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let index = index.and_then(|(digits, _)| digits.parse::<usize>().ok());
        let tuple = index.and_then(|index| self.tuples.get(index));
        let tuple = tuple.map(|tuple| format!("{tuple:#X?}").replace(['\n', ' '], ""));
        format!("\n  {} theirs {theirs}, ours {ours}", tuple.unwrap_or_default())
    }
}

/// The status of a process that a signal ended.
const KILLED: &str = "killed by a signal";

fn reference(path: &std::path::Path, call: &Call) -> Result<Answer, String> {
    let mut command = Command::new(iree("iree-run-module")?);
    command.arg(format!("--module={}", path.display()));
    command.arg(format!("--function={}", call.function));
    command.args(call.inputs.iter().map(|input| format!("--input={input}")));
    let finished = finish(&mut command)?;
    let text = String::from_utf8_lossy(&finished.stdout).into_owned();
    let results = text.split_once('\n').map_or("", |(_, results)| results).to_owned();
    match finished.status {
        Some(0) => Ok(Ok(results)),
        None => Ok(Err(KILLED.to_owned())),
        Some(_) => status_code(&finished.stderr)
            .map(|code| Err(code.to_owned()))
            .ok_or_else(|| format!("{command:?} failed: {}", finished.stderr)),
    }
}

fn ours(path: &std::path::Path, call: &Call) -> Result<Answer, String> {
    let module = Module::open(path).map_err(|error| format!("{path:?}: {error}"))?;
    let module = vmfb::verify::verify(module).map_err(|defects| format!("{defects:?}"))?;
    let linked = Context::builder().add_bytecode(module).link();
    let mut context = linked.map_err(|error| error.to_string())?;
    let missing = || format!("{} is not found", call.function);
    let module_name = context.module_name(vm::ModuleIndex(0)).to_owned();
    let id = context.lookup(&format!("{module_name}.{}", call.function)).ok_or_else(missing)?;
    let signature = context.signature(id).ok_or_else(missing)?;
    let arguments = parse_values(&signature.arguments, &call.inputs);
    let arguments = arguments.map_err(|error| error.to_string())?;
    let invocation = Invocation::new(&context, id, arguments);
    match invocation.map_err(|error| error.to_string())?.run(&mut context) {
        Outcome::Completed(values) => Ok(Ok(format_values("result", &values))),
        Outcome::Failed(failure) => Ok(Err(failure.status.code.name().to_owned())),
        Outcome::Yielded | Outcome::Stopped(_) => Err(format!("{} paused", call.function)),
    }
}
