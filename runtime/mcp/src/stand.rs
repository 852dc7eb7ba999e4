//! Where the program stands, in short: what every tool answers that moves it.

use commands::Progress;
use debug::Frame;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bounds;
use crate::library::source_uri;
use crate::problem::Problem;
use crate::program::{Heard, Program};

/// A line of a source.
#[derive(Clone, Serialize, Deserialize, JsonSchema, Debug)]
pub(crate) struct Place {
    /// The file, as the module names it.
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: u32,
    /// From 1.
    pub(crate) column: u32,
}

/// A frame of the stack.
#[derive(Clone, Serialize, JsonSchema, Debug)]
pub(crate) struct FrameRow {
    /// Counted from the innermost one, 0.
    pub(crate) number: usize,
    /// The function; of a command also its number and its dispatch.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) place: Option<Place>,
}

/// A named value.
#[derive(Clone, Serialize, Deserialize, JsonSchema, Debug)]
pub(crate) struct NamedValue {
    /// As the source calls it.
    pub(crate) name: String,
    /// The value; if there is none, the reason in angle brackets.
    pub(crate) value: String,
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    /// The kind of the reason, if there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) absent: Option<String>,
}

/// How far the program has come.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Standing {
    /// It stands before its beginning.
    NotStarted,
    /// It stands still, and goes on.
    Stopped,
    /// It has failed; its frames are there.
    Failed,
    /// It has returned.
    Over,
}

/// Where the program stands.
#[derive(Clone, Serialize, JsonSchema, Debug)]
pub(crate) struct Stand {
    /// How far it has come.
    pub(crate) progress: Standing,
    /// Why it stopped: entry, step, breakpoint, data, trap, pause, begin, found, failed, completed.
    pub(crate) reason: Option<String>,
    /// The same and where, as a sentence.
    pub(crate) sentence: Option<String>,
    /// The name of this moment, for `run` with `goto`.
    pub(crate) moment: Option<String>,
    /// The stack, innermost first; at most six frames.
    pub(crate) frames: Vec<FrameRow>,
    /// The lines around the innermost place, with an arrow at it.
    pub(crate) source: Vec<String>,
    /// The resource with the whole text of that file.
    pub(crate) source_uri: Option<String>,
    /// Values by the names of the source; at most twelve, those that have a value first.
    pub(crate) values: Vec<NamedValue>,
    /// What the program has returned.
    pub(crate) results: Option<String>,
    /// Messages of log points, and notes of the debugger.
    pub(crate) messages: Vec<String>,
    /// What was left out, and how to ask for it.
    pub(crate) left_out: Vec<String>,
    /// What to ask next: a tool, and its arguments.
    pub(crate) next: Vec<String>,
}

impl Stand {
    /// Where the program stands now; `heard` is what has led there, if something has.
    pub(crate) fn of(program: &mut Program, heard: Option<Heard>) -> Self {
        let progress = match program.progress() {
            Progress::NotStarted => Standing::NotStarted,
            Progress::Stopped => Standing::Stopped,
            Progress::Failed => Standing::Failed,
            Progress::Over => Standing::Over,
        };
        let mut stand = Self {
            progress,
            reason: None,
            sentence: None,
            moment: None,
            frames: Vec::new(),
            source: Vec::new(),
            source_uri: None,
            values: Vec::new(),
            results: None,
            messages: Vec::new(),
            left_out: Vec::new(),
            next: Vec::new(),
        };
        if let Some(heard) = heard {
            stand.take_stop(heard);
            stand.hint_at_compiler();
        }
        if matches!(progress, Standing::Stopped | Standing::Failed) {
            stand.moment = program.name_moment();
            stand.take_frames(program);
            stand.take_values(program);
        }
        stand.suggest(program);
        stand
    }

    fn take_stop(&mut self, heard: Heard) {
        self.messages = heard.messages.iter().map(|it| bounds::line(it, 400)).collect();
        if self.messages.len() > 20 {
            let more = self.messages.len() - 20;
            self.messages.truncate(20);
            self.left_out.push(format!("{more} more messages of log points"));
        }
        let Some((_, data)) = heard.stop else { return };
        let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
        self.reason = text("reason");
        self.sentence = text("sentence").map(|it| bounds::text(&it, 800));
        self.results = text("results").map(|it| bounds::text(&it, 800));
    }

    /// Says how machine code is looked into, where only bytecode shows more.
    fn hint_at_compiler(&mut self) {
        let reason = debug::NoBytecode::NotAllowed.to_string();
        let is_told = |text: &String| text.contains(&reason);
        if self.messages.iter().chain(&self.sentence).any(is_told) {
            let way = "the operations inside of the dispatch: start the server with \
                       --allow=compile, or load a module in bytecode";
            self.left_out.push(way.to_owned());
        }
    }

    fn take_frames(&mut self, program: &Program) {
        let debugger = program.driver().debugger();
        let machine = debugger.machine();
        let count = machine.frame_count();
        let frames = machine.frames_in(0..bounds::MOST_FRAMES);
        self.frames = frames.iter().enumerate().map(|(number, it)| row(number, it)).collect();
        if count > frames.len() {
            self.left_out.push(format!("{} outer frames", count - frames.len()));
        }
        let Some(at) = frames.iter().find_map(|frame| frame.source.clone()) else { return };
        let (file, here) = (at.file, at.line);
        self.source_uri = Some(source_uri(&file));
        let first = here.saturating_sub(bounds::LINES_AROUND).max(1);
        for number in first..=here.saturating_add(bounds::LINES_AROUND) {
            let Some(line) = debugger.program().line_of_source(&file, number) else { continue };
            let arrow = if number == here { "=>" } else { "  " };
            self.source.push(format!("{arrow} {number:>4}  {}", bounds::line(&line, 160)));
        }
    }

    fn take_values(&mut self, program: &mut Program) {
        let Ok(heard) = program.line("locals") else { return };
        let mut values = values_of(&heard, "values");
        // What has a value comes first, in the order of the source, the last ones of which count.
        let (mut present, absent): (Vec<_>, Vec<_>) =
            values.drain(..).partition(|it: &NamedValue| it.absent.is_none());
        let more = present.len().saturating_sub(bounds::MOST_VALUES);
        present.drain(..more);
        let room = bounds::MOST_VALUES - present.len();
        let hidden = absent.len().saturating_sub(room);
        present.extend(absent.into_iter().take(room));
        self.values = present;
        if more + hidden > 0 {
            let text = format!(
                "{} more named values, {hidden} of them without a value: \
                 evaluate {{\"expression\": \"%name\"}}",
                more + hidden
            );
            self.left_out.push(text);
        }
    }

    fn suggest(&mut self, program: &Program) {
        let mut next: Vec<&str> = match (self.progress, self.reason.as_deref()) {
            (Standing::NotStarted, _) => vec![
                "run {\"how\": \"continue\"}",
                "dispatches {}",
                "first_bad {}",
                "break {\"at\": \"LINE\"}",
            ],
            (Standing::Stopped, Some("trap")) => {
                vec!["why {}", "evaluate {\"expression\": \"%name\"}", "tensor {\"of\": \"%name\"}"]
            }
            (Standing::Stopped, Some("pause")) => {
                vec!["run {\"how\": \"go-on\", \"seconds\": 60}", "state {}"]
            }
            (Standing::Stopped, _) => vec![
                "evaluate {\"expression\": \"%name\"}",
                "tensor {\"of\": \"%name\"}",
                "run {\"how\": \"next\"}",
            ],
            (Standing::Failed, _) => {
                vec!["evaluate {\"expression\": \"%name\"}", "why {\"of\": \"%name\"}"]
            }
            (Standing::Over, _) => Vec::new(),
        };
        if self.progress == Standing::Over {
            let results = self.results.as_deref().unwrap_or_default().to_ascii_lowercase();
            if results.contains("nan") || results.contains("inf") {
                next.push("first_bad {}");
            }
            next.push("diff {}");
        }
        if matches!(self.progress, Standing::Over | Standing::Failed) && program.is_recorded() {
            next.push("run {\"how\": \"back\"}");
        }
        self.next = next.into_iter().map(str::to_owned).collect();
    }

    /// The stand as text.
    pub(crate) fn text(&self) -> String {
        let mut lines = self.messages.clone();
        match (&self.sentence, self.progress) {
            (Some(sentence), _) => lines.push(sentence.clone()),
            (None, Standing::NotStarted) => lines.push("the program has not begun".to_owned()),
            (None, Standing::Stopped) => lines.push("the program stands still".to_owned()),
            (None, Standing::Failed) => lines.push("the program has failed".to_owned()),
            (None, Standing::Over) => lines.push("the program is over".to_owned()),
        }
        lines.extend(self.results.clone());
        lines.extend(self.frames.iter().map(|frame| {
            let place = frame.place.as_ref();
            let place = place.map(|at| format!(" at {}:{}:{}", at.file, at.line, at.column));
            format!("#{} {}{}", frame.number, frame.name, place.unwrap_or_default())
        }));
        lines.extend(self.source.iter().cloned());
        let values = self.values.iter();
        lines.extend(values.map(|it| format!("{} = {} : {}", it.name, it.value, it.type_name)));
        lines.extend(self.moment.iter().map(|it| format!("moment: {it}")));
        lines.join("\n")
    }
}

fn row(number: usize, frame: &Frame) -> FrameRow {
    let place = frame.source.as_ref();
    let place = place.map(|at| Place { file: at.file.clone(), line: at.line, column: at.column });
    FrameRow { number, name: bounds::line(&frame.name, bounds::MOST_VALUE), place }
}

/// Named values in the data of an answer.
pub(crate) fn values_of(heard: &Heard, key: &str) -> Vec<NamedValue> {
    let Some(Value::Array(values)) = heard.data.get(key) else { return Vec::new() };
    values.iter().filter_map(named_value).collect()
}

/// A named value of an answer, cut.
pub(crate) fn named_value(value: &Value) -> Option<NamedValue> {
    let found = NamedValue::deserialize(value).ok()?;
    let value = bounds::line(&found.value, bounds::MOST_VALUE);
    let name = bounds::line(&found.name, bounds::MOST_VALUE);
    Some(NamedValue { name, value, ..found })
}

/// Selects a frame for the questions that follow.
///
/// # Errors
/// There is no such frame.
pub(crate) fn select(program: &mut Program, frame: Option<usize>) -> Result<(), Problem> {
    match frame {
        None => Ok(()),
        Some(number) => program.line(&format!("frame {number}")).map(drop),
    }
}
