//! `repro`: a dispatch as a folder that IREE's own tools run. `iree-dbg repro` writes it.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Effect, Tool};
use crate::access::Allowed;
use crate::bounds;
use crate::children::{ask, command_line};
use crate::problem::Problem;
use crate::program::Desk;

pub(crate) struct Repro;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The number of its command, as `dispatches` and `diff` say it, or its name.
    dispatch: String,
    /// The folder to write.
    to: String,
    /// If the compiler makes wrong code of it: drop operations and shrink shapes as long as it
    /// does.
    #[serde(default)]
    reduce: bool,
    /// The most seconds; 300 if not said.
    #[allow(dead_code, reason = "the server reads it, before the tool is asked")]
    seconds: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Written {
    /// The folder.
    folder: String,
    /// The files in it.
    files: Vec<String>,
    /// Whether IREE's own tools give the same bits; false also if the dispatch was reduced, as
    /// it then shows a fault.
    same: bool,
    /// What came of it, in a sentence or several.
    told: String,
    /// What to ask next.
    next: Vec<String>,
}

impl Tool for Repro {
    const NAME: &'static str = "repro";
    const TITLE: &'static str = "A dispatch as a folder";
    const ABOUT: &'static str = "Writes one dispatch of a run as a folder that needs nothing else: \
        its text, its inputs, a script that runs it with IREE's own tools and compares. Made \
        smaller, if asked for. Runs beside the loaded program, from its beginning.";
    const EFFECT: Effect = Effect::Needs(&[Allowed::Compile, Allowed::Write]);
    const SECONDS: f64 = 300.0;
    type Arguments = Arguments;
    type Answer = Written;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Written, Problem> {
        desk.access.require(Allowed::Compile, "running IREE's tools")?;
        let folder = desk.access.writable(&arguments.to)?;
        let origin = desk.program()?.origin.clone();
        let mut line = command_line(desk, "repro", &origin)?;
        line.push(format!("--dispatch={}", arguments.dispatch).into());
        let mut output = OsString::from("--output=");
        output.push(&folder);
        line.push(output);
        if arguments.reduce {
            line.push("--reduce".into());
        }
        let ended = ask(desk, &line)?;
        if ended.output.trim().is_empty() {
            return Err(bounds::text(&ended.complaint(), bounds::MOST_TEXT).into());
        }
        let mut told = bounds::text(&ended.output, 1_500);
        if ended.status != Some(0) && ended.errors.contains("error: ") {
            told.push_str(&format!("\n{}", bounds::text(&ended.complaint(), 600)));
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
        let mut files: Vec<String> = names.collect();
        files.sort();
        files.truncate(20);
        Ok(Written {
            same: told.contains("the same bits"),
            folder: folder.display().to_string(),
            files,
            told,
            next: vec!["diff {}".to_owned()],
        })
    }
}

impl Answer for Written {
    fn text(&self) -> String {
        format!("{}\nfolder {}: {}", self.told, self.folder, self.files.join(", "))
    }

    fn next(&self) -> &[String] {
        &self.next
    }
}
