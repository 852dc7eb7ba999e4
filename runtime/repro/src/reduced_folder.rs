//! [`write_reduced`]: the folder of a dispatch that was reduced. What it expects is what its text
//! means, and its script fails.

use std::fmt::Write as _;
use std::path::Path;

use debuginfo::ArgumentOrigin;

use crate::dispatch_run::DispatchRun;
use crate::folder::{FolderError, WrittenFolder, check_free, is_earlier};
use crate::readme::{made_by, origin};
use crate::reduce::Reduced;
use crate::script::{Compared, Script};
use crate::staged::Staged;
use crate::target_flags::target_flags;
use crate::tensor_files::{InputFile, TensorFile};
use crate::trial::{Tools, Trial};

/// Writes the folder of a reduced dispatch, and runs it.
///
/// # Errors
/// See [`FolderError`].
pub fn write_reduced(
    path: &Path,
    run: &DispatchRun,
    reduced: &Reduced,
    tools: &Tools,
) -> Result<WrittenFolder, FolderError> {
    check_free(path)?;
    let not_written = |source| FolderError::NotWritten { path: path.to_owned(), source };
    let staged = Staged::begin(path).map_err(not_written)?;
    let folder = staged.path();
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).map_err(not_written);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (index, input) in reduced.inputs.iter().enumerate() {
        let file = InputFile::write(folder, &format!("input{index}"), input);
        inputs.push(file.map_err(not_written)?);
    }
    for (index, output) in reduced.failure.good.iter().enumerate() {
        let file = TensorFile::write(folder, &format!("output{index}"), output);
        outputs.push(file.map_err(not_written)?);
    }
    let function = &reduced.function;
    put("dispatch.mlir", &function.module_text(&function.text()))?;
    let flags = target_flags(&run.origin.flags, &run.origin.sources);
    let script = Script {
        function: &function.name,
        compiler: run.origin.compiler.as_deref(),
        flags: &flags,
        device: run.origin.runner_device(),
        inputs: &inputs,
        outputs: &outputs,
        compared: match reduced.failure.allowed {
            Some(allowed) => Compared::Within(allowed),
            None => Compared::Meant,
        },
    };
    put("run.sh", &script.text())?;
    let trial = Trial::of(folder, tools);
    let page = Page { run, reduced, inputs: &inputs, outputs: &outputs, trial: &trial };
    put("README.md", &page.text(&flags))?;
    staged.finish(is_earlier).map_err(not_written)?;
    Ok(WrittenFolder { path: path.to_owned(), inputs: inputs.len(), outputs: outputs.len(), trial })
}

/// The folder's page.
struct Page<'a> {
    run: &'a DispatchRun,
    reduced: &'a Reduced,
    inputs: &'a [InputFile],
    outputs: &'a [TensorFile],
    trial: &'a Trial,
}

impl Page<'_> {
    fn text(&self, flags: &[String]) -> String {
        let Self { run, reduced, .. } = self;
        let mut text = format!("# @{}, reduced\n\n{}\n\n", run.after.export, origin(run));
        let _ = writeln!(text, "{}\n", self.finding());
        let _ = writeln!(text, "{}\n", reduced.summary());
        if reduced.failure.unsure > 0 {
            let _ = writeln!(
                text,
                "Of {} elements of the result there is no opinion, or a vague one, as a step or a \
                 pole is near: another compiler may be right and differ there.\n",
                reduced.failure.unsure
            );
        }
        for step in &reduced.steps {
            let _ = writeln!(text, "- {step}");
        }
        let dropped = reduced.dropped.iter().map(|(name, count)| match count {
            1 => format!("`{name}`"),
            _ => format!("{count} `{name}`"),
        });
        let dropped: Vec<String> = dropped.collect();
        if !dropped.is_empty() {
            let _ = writeln!(text, "- dropped: {}", dropped.join(", "));
        }
        text.push_str("\n| file | what is in it |\n| --- | --- |\n");
        text.push_str("| `dispatch.mlir` | what is left of the dispatch, as a function |\n");
        text.push_str("| `run.sh` | compiles it, runs it, compares the result |\n");
        for (argument, file) in reduced.function.arguments.iter().zip(self.inputs) {
            let InputFile::Tensor(file) = file else { continue };
            let what = match argument.origin {
                ArgumentOrigin::Operand(operand) => {
                    let name = run.name_of(operand).map(|name| format!(": `{name}`"));
                    format!("before the dispatch{}", name.unwrap_or_default())
                }
                _ => "what the dropped operations mean, in float64, rounded".to_owned(),
            };
            let (name, shape) = (&file.name, &file.tensor_type);
            let _ = writeln!(text, "| `{name}` | {shape}, `%{}`: {what} |", argument.name);
        }
        for file in self.outputs {
            let (name, shape) = (&file.name, &file.tensor_type);
            let _ = writeln!(text, "| `{name}` | {shape}, what `dispatch.mlir` means |");
        }
        text.push_str("\n```sh\nsh run.sh\n```\n\n");
        text.push_str(&made_by(run, flags));
        text
    }

    fn finding(&self) -> String {
        let means = "The output is what the operations mean, evaluated in float64.";
        let failure = &self.reduced.failure;
        match self.trial {
            Trial::Different(tools, _) => format!(
                "{means} **Stock tools (iree-compile {}) compute something else:** {failure}.",
                tools.version
            ),
            other => format!("{means} The folder does not show what the search has seen: {other}"),
        }
    }
}
