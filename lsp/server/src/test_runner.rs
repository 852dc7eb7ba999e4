//! Runs the `RUN:` lines of a document, and keeps what that finds. What a line runs is in
//! [`crate::run_commands`].

use std::path::Path;
use std::sync::Arc;

use filecheck::{CheckFile, Command, Options, RunLine, compare, run_lines};
use ide::{Diagnostic, Severity};

use crate::check_on_save::parse;
use crate::documents::Open;
use crate::run_commands::{refused, start};
use crate::settings::{NotTrusted, Settings};
use crate::test_results::TestResult;

/// A document as its test sees it.
struct Test<'a> {
    settings: &'a Settings,
    text: String,
    rope: ropey::Rope,
    /// The file for `%s`.
    source: String,
    folder: std::path::PathBuf,
    scratch: std::path::PathBuf,
}

/// Why a test was not run, or its output is not shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TestError {
    #[error(transparent)]
    NotTrusted(#[from] NotTrusted),
    #[error("this text has no `RUN:` line")]
    NoRunLine,
    #[error("no scratch folder: {0}")]
    NoScratch(std::io::Error),
    #[error("the document is not open")]
    NotOpen,
    #[error("the text was edited while its test ran")]
    Edited,
    #[error("run the test first")]
    NotRun,
    #[error("{}: {source}", path.display())]
    NotWritten { path: std::path::PathBuf, source: std::io::Error },
    #[error("the output has no place")]
    NoPlace,
}

/// Runs all `RUN:` lines of a document.
///
/// # Errors
/// [`TestError`]: why nothing was run.
pub(crate) async fn run(
    settings: &Settings,
    open: &Open,
    path: Option<&Path>,
) -> Result<TestResult, TestError> {
    settings.may_run("a test")?;
    let text = open.rope.to_string();
    let lines = run_lines(&text);
    if lines.is_empty() {
        return Err(TestError::NoRunLine);
    }
    let scratch = compile::Scratch::new("iree-dbg-test-").map_err(TestError::NoScratch)?;
    let name = path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| "test.mlir".into());
    // What is in the editor counts, saved or not.
    let saved = path.filter(|_| !open.document.is_unsaved());
    let source =
        match saved.filter(|path| std::fs::read(path).is_ok_and(|at| at == text.as_bytes())) {
            Some(path) => path.to_owned(),
            None => {
                let copy = scratch.path().join(&name);
                std::fs::write(&copy, &text).map_err(TestError::NoScratch)?;
                copy
            }
        };
    let folder = path.and_then(Path::parent).unwrap_or(scratch.path()).to_owned();
    let test = Test {
        settings,
        rope: open.rope.clone(),
        text,
        source: source.display().to_string(),
        folder,
        scratch: scratch.path().join("t"),
    };
    let mut result = TestResult {
        version: open.version,
        is_right: true,
        faults: Vec::new(),
        outputs: Vec::new(),
        scratch: None,
    };
    for line in &lines {
        test.line(line, &mut result).await;
    }
    result.is_right = !result.faults.iter().any(|fault| fault.severity <= Severity::Warning);
    result.faults.sort_by_key(|fault| fault.range.start);
    result.faults.dedup();
    result.scratch = Some(Arc::new(scratch));
    Ok(result)
}

impl Test<'_> {
    async fn line(&self, line: &RunLine, result: &mut TestResult) {
        let commands = line.commands(
            &self.source,
            &self.folder.display().to_string(),
            &self.scratch.display().to_string(),
        );
        let commands = commands.map_err(|error| error.to_string()).and_then(|commands| {
            match commands.iter().find_map(|command| self.refusal(command)) {
                Some(why) => Err(why),
                None => Ok(commands),
            }
        });
        let commands = match commands {
            Ok(commands) => commands,
            Err(why) => {
                let said = format!("this line is not run here: {why}");
                result.faults.push(Diagnostic::warning(line.range.clone(), "run-line", said));
                return;
            }
        };
        let mut passed_on = Vec::new();
        for command in &commands {
            if command.program == "FileCheck" {
                self.check(line, command, &std::mem::take(&mut passed_on), result);
                continue;
            }
            match start(self.settings, command, &self.folder, std::mem::take(&mut passed_on)).await
            {
                Err(why) => {
                    result.faults.push(Diagnostic::error(
                        line.range.clone(),
                        "run-line",
                        why.to_string(),
                    ));
                    return;
                }
                Ok(printed) => {
                    if !printed.is_right {
                        self.program_failed(line, command, &printed.messages, result);
                        // What FileCheck would say of no output is no news.
                        if printed.output.is_empty() {
                            return;
                        }
                    }
                    passed_on = printed.output;
                }
            }
        }
    }

    /// Why a command is not run, before any is.
    fn refusal(&self, command: &Command) -> Option<String> {
        if command.program != "FileCheck" {
            return refused(command, &self.scratch);
        }
        match Options::read(&command.arguments) {
            Err(why) => Some(why.to_string()),
            Ok(_) if command.must_fail => Some("`not FileCheck` is not known here".into()),
            Ok((_, Some(file))) if file == self.source => None,
            Ok(_) => Some("FileCheck reads another file than `%s`".into()),
        }
    }

    /// The faults of a program that ended as it must not.
    fn program_failed(
        &self,
        line: &RunLine,
        command: &Command,
        messages: &str,
        result: &mut TestResult,
    ) {
        let name = &command.program;
        if command.must_fail {
            let said = format!("{name} succeeds, and `not` asks for a failure");
            result.faults.push(Diagnostic::error(line.range.clone(), "run-line", said));
            return;
        }
        let mut placed = parse(messages, &self.source, &self.rope);
        let first = messages.lines().find(|line| line.contains("error:")).unwrap_or(messages);
        let first = first.trim().chars().take(300).collect::<String>();
        let said = format!("{name} failed: {first}");
        result.faults.push(Diagnostic::error(line.range.clone(), "run-line", said));
        result.faults.append(&mut placed);
    }

    /// Compares an output with the directives of the document.
    fn check(&self, line: &RunLine, command: &Command, output: &[u8], result: &mut TestResult) {
        let Ok((options, _)) = Options::read(&command.arguments) else { return };
        let output = String::from_utf8_lossy(output).into_owned();
        match CheckFile::read(&self.text, &options) {
            Err(error) => {
                let range = if error.range.is_empty() { line.range.clone() } else { error.range };
                result.faults.push(Diagnostic::error(range, "check", error.fault.to_string()));
            }
            Ok(file) => {
                for failure in compare(&file, &options, &output).failures {
                    let directive = failure.directive.map(|index| &file.directives[index]);
                    let range = directive.filter(|directive| !directive.head.is_empty());
                    let range = range.map_or(line.range.clone(), |directive| {
                        directive.head.start..directive.text.end.max(directive.head.end)
                    });
                    result.faults.push(Diagnostic::error(range, "check", failure.message));
                }
            }
        }
        result.outputs.push((options, output));
    }
}
