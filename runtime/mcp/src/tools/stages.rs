//! `stages`: what the compiler makes of a line, phase by phase.

use std::path::{Path, PathBuf};

use compile::{CompileError, CompileRequest, Scratch, compile, is_onnx, is_source};
use ide::{Place as Origin, Stage, trace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Effect, Tool};
use crate::access::Allowed;
use crate::bounds;
use crate::problem::Problem;
use crate::program::Desk;

pub(crate) struct Stages;

/// The most lines of one stage.
const MOST_LINES: usize = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A line of the source, from 1.
    line: u32,
    /// The source (.mlir); that which was loaded, if not said.
    source: Option<String>,
    /// Flags of iree-compile, such as those of the target.
    #[serde(default)]
    flags: Vec<String>,
    /// The most seconds; 120 if not said.
    #[allow(dead_code, reason = "the server reads it, before the tool is asked")]
    seconds: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Traced {
    /// The source.
    source: String,
    /// The stages, in the order of the compilation.
    stages: Vec<Part>,
    /// Why the compilation has failed, if it has.
    problem: Option<String>,
    /// What was left out, and how to ask for it.
    left_out: Vec<String>,
}

/// What a stage has of the line.
#[derive(Serialize, JsonSchema)]
struct Part {
    /// Its name: `input`, `flow`, `vm`.
    name: String,
    /// Its lines that come from the line: their numbers and texts.
    lines: Vec<String>,
    /// How many more there are.
    more: usize,
    /// The resource with the whole text.
    uri: String,
}

impl Tool for Stages {
    const NAME: &'static str = "stages";
    const TITLE: &'static str = "What the compiler makes of a line";
    const ABOUT: &'static str = "Compiles a source and follows a line of it through the phases of \
        the compilation (input, flow, stream, hal, vm), each with the lines that come from it; the \
        whole texts are resources.";
    const EFFECT: Effect = Effect::Needs(&[Allowed::Compile]);
    const SECONDS: f64 = 120.0;
    type Arguments = Arguments;
    type Answer = Traced;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Traced, Problem> {
        desk.access.require(Allowed::Compile, "running iree-compile")?;
        let source = source(desk, arguments.source.as_deref())?;
        let scratch = Scratch::new("iree-dbg-stages-")?;
        let folder = scratch.path().join("phases");
        let request = CompileRequest {
            input: source.clone(),
            output: scratch.path().join("module.vmfb"),
            is_plain: true,
            phases: Some(folder.clone()),
            flags: arguments.flags,
            ..CompileRequest::default()
        };
        let mut said = String::new();
        let compiled = compile(&request, &desk.stopper.cancellation(), &mut |line| {
            said.push_str(line);
            said.push('\n');
        });
        let stages = read(&folder);
        let problem = match compiled {
            Ok(_) => None,
            // A compilation that fails has stages up to there.
            Err(error @ CompileError::Failed { .. }) if !stages.is_empty() => {
                Some(bounds::text(&format!("{error}\n{said}"), 1_000))
            }
            Err(error) => return Err(error.into()),
        };
        let places = places(&stages, &source, arguments.line);
        let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut traced = Traced {
            source: source.display().to_string(),
            stages: Vec::new(),
            problem,
            left_out: Vec::new(),
        };
        for stage in &stages {
            let about = format!("{name} after the phase {}", stage.name);
            let uri = desk.library.add_report(about, "text/plain", stage.text().to_owned());
            traced.stages.push(part(stage, &places, uri));
        }
        if places.is_empty() {
            let text = format!("no phase has anything of line {}", arguments.line);
            traced.left_out.push(text);
        }
        Ok(traced)
    }
}

/// The source to compile.
fn source(desk: &mut Desk, named: Option<&str>) -> Result<PathBuf, Problem> {
    let path = match named {
        Some(named) => desk.access.readable(named)?,
        None => {
            let known = desk.program.as_ref().and_then(|it| it.origin.source.clone());
            known.ok_or("`source` is missing: a module was loaded, and not its source")?
        }
    };
    match is_source(&path) && !is_onnx(&path) {
        true => Ok(path),
        false => Err("`source` names a .mlir".into()),
    }
}

/// The texts of phases in a folder, in their order: `NAME.6.flow.mlir`.
fn read(folder: &Path) -> Vec<Stage> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(usize, String, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".mlir")?.to_owned();
            let (rest, phase) = name.rsplit_once('.')?;
            let (_, number) = rest.rsplit_once('.')?;
            Some((number.parse().ok()?, phase.to_owned(), path))
        })
        .collect();
    found.sort();
    let texts =
        found.into_iter().filter_map(|(_, name, path)| Some((name, std::fs::read(path).ok()?)));
    texts.map(|(name, text)| Stage::read(&name, &text)).collect()
}

/// The places of a line of the source, as the first stages that have any name them.
fn places(stages: &[Stage], source: &Path, line: u32) -> Vec<Origin> {
    let is_it = |place: &Origin| place.line == line && source.ends_with(&*place.file);
    for stage in stages {
        let lines = 0..stage.text().lines().count();
        let all = lines.flat_map(|number| stage.origins(number)).map(|(place, _)| place);
        let mut found: Vec<Origin> = Vec::new();
        for place in all.filter(is_it) {
            if !found.contains(&place) {
                found.push(place);
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn part(stage: &Stage, places: &[Origin], uri: String) -> Part {
    let found = trace(stage, places);
    let shown = found.lines.iter().take(MOST_LINES);
    let lines = shown.map(|it| {
        let text = bounds::line(stage.line(it.line).trim(), 140);
        format!("{}: {text}", it.line + 1)
    });
    let lines: Vec<String> = lines.collect();
    let more = found.lines.len() + found.left_out - lines.len();
    Part { name: stage.name.clone(), lines, more, uri }
}

impl Answer for Traced {
    fn text(&self) -> String {
        let mut lines: Vec<String> = self.problem.iter().cloned().collect();
        for part in &self.stages {
            lines.push(format!("{} ({})", part.name, part.uri));
            lines.extend(part.lines.iter().map(|it| format!("  {it}")));
            if part.more > 0 {
                lines.push(format!("  … {} more lines", part.more));
            }
        }
        lines.join("\n")
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }
}
