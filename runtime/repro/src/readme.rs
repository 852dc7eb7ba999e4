//! `README.md`: what the folder shows, where it comes from, and how to run it.

use std::fmt::Write as _;

use debuginfo::{ArgumentOrigin, DispatchFunction};

use crate::check_test::NoTest;
use crate::dispatch_run::DispatchRun;
use crate::tensor_files::{InputFile, TensorFile};
use crate::trial::Trial;

/// What the page says.
pub(crate) struct Readme<'a> {
    pub(crate) run: &'a DispatchRun,
    pub(crate) function: &'a DispatchFunction,
    pub(crate) inputs: &'a [InputFile],
    pub(crate) outputs: &'a [TensorFile],
    pub(crate) flags: &'a [String],
    pub(crate) is_dynamic: bool,
    /// Why there is no `check.mlir`.
    pub(crate) no_check: Option<&'a NoTest>,
    pub(crate) trial: &'a Trial,
    /// What else is known.
    pub(crate) more: Option<&'a str>,
}

impl Readme<'_> {
    /// The page.
    pub(crate) fn text(&self) -> String {
        let Self { run, function, .. } = self;
        let export = &run.after.export;
        let mut text = format!("# @{export}\n\n{}\n", origin(run));
        let _ = writeln!(text, "\n{}\n", self.finding());
        if let Some(more) = self.more {
            let _ = writeln!(text, "{more}\n");
        }
        if let Some(device) = run.origin.device.as_deref().filter(|it| *it != "local") {
            let _ = writeln!(
                text,
                "The dispatches were compiled for the device {device}; in the run, bytecode stood \
                 for them, so that what they have left is not what that device computes.\n"
            );
        }
        text.push_str("| file | what is in it |\n| --- | --- |\n");
        text.push_str("| `dispatch.mlir` | the dispatch as a function over tensors |\n");
        text.push_str("| `run.sh` | compiles it, runs it, compares the results byte by byte |\n");
        match self.no_check {
            None => text.push_str("| `check.mlir` | the same as a test for iree-check-module |\n"),
            Some(reason) => {
                let _ = writeln!(text, "| (no `check.mlir`) | {reason} |");
            }
        }
        for (argument, file) in function.arguments.iter().zip(self.inputs) {
            let InputFile::Tensor(file) = file else { continue };
            let ArgumentOrigin::Operand(operand) = argument.origin else { continue };
            let named = self.named(operand);
            let shape = &file.tensor_type;
            let _ = writeln!(text, "| `{}` | {shape}, before the dispatch{named} |", file.name);
        }
        for (result, file) in function.results.iter().zip(self.outputs) {
            let (named, shape) = (self.named(result.operand), &file.tensor_type);
            let _ = writeln!(text, "| `{}` | {shape}, after the dispatch{named} |", file.name);
        }
        text.push_str("\n```sh\nsh run.sh\n```\n\n");
        let shapes = match (run.after.numbers.is_empty(), self.is_dynamic) {
            (true, _) => "",
            (false, true) => "The numbers of the call are arguments; shapes are dynamic.\n\n",
            (false, false) => "The numbers of the call are constants; shapes are static.\n\n",
        };
        text.push_str(shapes);
        for lost in &function.lost {
            let _ = writeln!(text, "Not kept: {lost}.\n");
        }
        text.push_str(&made_by(run, self.flags));
        text
    }

    fn named(&self, operand: usize) -> String {
        self.run.name_of(operand).map(|name| format!(": `{name}`")).unwrap_or_default()
    }

    /// What running the folder shows.
    fn finding(&self) -> String {
        let means = "Outputs are what the dispatch has left in that run.";
        match self.trial {
            Trial::Same(tools) => format!(
                "{means} Stock tools (iree-compile {}) give the same bits from this folder.",
                tools.version
            ),
            Trial::Different(tools, what) => format!(
                "{means} **Stock tools (iree-compile {}) give other bits from this folder:** \
                 {what}. The compiler does not compile the dispatch alone as it did in the \
                 module, or the module's machine code or memory was at fault.",
                tools.version
            ),
            Trial::Failed(tools, what) => format!(
                "{means} **The folder does not run with iree-compile {}:** {what}",
                tools.version
            ),
            Trial::NotRun(reason) => {
                format!("{means} They were not compared with what stock tools give: {reason}.")
            }
        }
    }
}

/// Which dispatch of which run it is, in a sentence.
pub(crate) fn origin(run: &DispatchRun) -> String {
    let export = &run.after.export;
    let nth = run.run.map(|it| format!(" (run {it} of it)")).unwrap_or_default();
    let (function, module) = (&run.origin.function, &run.origin.module);
    let at = run.after.source.as_ref();
    let at = at.map(|at| format!(", made from {}:{}", at.file, at.line)).unwrap_or_default();
    let number = run.after.number;
    format!("Command {number}, `@{export}`{nth} in a call of `@{function}` of `{module}`{at}.")
}

/// What the folder and the module were made by.
pub(crate) fn made_by(run: &DispatchRun, flags: &[String]) -> String {
    let mut text = format!("Made by:\n\n- iree-dbg {}\n", env!("CARGO_PKG_VERSION"));
    let compiler = run.origin.compiler.as_deref().unwrap_or("of unknown version");
    let _ = writeln!(text, "- the module by iree-compile {compiler}");
    if !run.origin.input.is_empty() {
        let _ = writeln!(text, "- from `{}`", run.origin.input);
    }
    let dropped = run.origin.flags.iter().filter(|it| !flags.contains(it));
    let dropped: Vec<&str> = dropped.map(String::as_str).collect();
    if !dropped.is_empty() {
        let _ = writeln!(text, "- flags of the module not in `run.sh`: `{}`", dropped.join(" "));
    }
    text
}
