//! Going back: `record`, the commands that begin with `reverse`, bookmarks, and moments by number.

use std::fmt::Write;

use debug::{Back, LineMoment, PastPlace, RecordOptions, RowQuestion, StopReason, Traps};

use crate::command::{Place, Record, Time};
use crate::session::{Action, Performer, Problem, Progress, Run};

impl Performer<'_> {
    pub(crate) fn record(&mut self, what: &Record) -> Result<(), Problem> {
        match what {
            Record::Begin if self.debugger.record_state().is_some() => {
                return Err("the program is recorded already; `info record` tells how much".into());
            }
            Record::Begin => {
                self.debugger.record(RecordOptions::default())?;
                let from = match self.session.progress {
                    Progress::NotStarted => "the beginning",
                    _ => "here",
                };
                writeln!(self.out, "recording from {from}; `rs`, `rn` and `rc` go back")?;
            }
            Record::End => {
                if self.debugger.record_state().is_none() {
                    return Err("nothing is recorded".into());
                }
                self.debugger.stop_recording();
                self.session.bookmarks.clear();
            }
        }
        Ok(())
    }

    pub(crate) fn info_record(&mut self) -> Result<(), Problem> {
        let Some(state) = self.debugger.record_state() else {
            writeln!(self.out, "nothing is recorded; `record` begins to")?;
            if let Some(past) = self.debugger.past_bytes() {
                self.out.put("past", past);
                writeln!(self.out, "what commands have overwritten can be shown: {}", bytes(past))?;
            }
            return Ok(());
        };
        self.out.put("checkpoints", state.checkpoints);
        self.out.put("bytes", state.bytes);
        self.out.put("most", state.most);
        let (used, most) = (bytes(state.bytes), bytes(state.most));
        self.out.put("beforeCommands", state.before_commands);
        let before_commands = match state.before_commands {
            0 => String::new(),
            count => format!(", {count} before commands"),
        };
        let checkpoints = state.checkpoints;
        writeln!(self.out, "{checkpoints} checkpoints{before_commands}, {used} of {most}")?;
        self.out.put("onDisk", state.on_disk);
        if state.on_disk > 0 {
            let (used, most) = (file_bytes(state.on_disk), file_bytes(state.most_on_disk));
            writeln!(self.out, "and {used} of {most} in a temporary file")?;
        }
        let lines = self.debugger.lines_of_time()?.len();
        self.out.put("lines", lines);
        if lines > 1 {
            let here = self.debugger.line_of_time();
            writeln!(self.out, "line {here} of {lines}: `lines` lists them")?;
        }
        if self.debugger.program().has_recorded_results() {
            self.out.put("recordedResults", true);
            writeln!(
                self.out,
                "the results of dispatches come from the recording; their code runs only where it \
                 is bytecode and is stepped into"
            )?;
        }
        if let Some(reason) = &state.lost {
            writeln!(self.out, "it begins anew after a call outside: {reason}")?;
        }
        if state.has_lost_begin {
            writeln!(
                self.out,
                "the beginning was given up for lack of memory; `reverse-continue` goes as far \
                 back as there is"
            )?;
        }
        Ok(())
    }

    pub(crate) fn back(&mut self, how: Back, times: u32) -> Result<(), Problem> {
        self.travel_back(Run::Back(how, times))
    }

    pub(crate) fn who_wrote(&mut self, text: String) -> Result<(), Problem> {
        self.needs_frame()?;
        self.action = Some(Action::Run(Run::ToWriter(self.session.frame, text)));
        Ok(())
    }

    pub(crate) fn history(&mut self, text: &str) -> Result<(), Problem> {
        self.needs_frame()?;
        let found = self.debugger.value_history(self.session.frame, text)?;
        if found.has_more {
            writeln!(self.out, "  …")?;
        }
        let marks = self.session.bookmarks.keys().cloned();
        let old: Vec<String> = marks.filter(|name| is_of_history(name)).collect();
        old.iter().for_each(|name| drop(self.session.bookmarks.remove(name)));
        let width = |text: &str| text.chars().count();
        let widest = found.values.iter().map(|it| width(&it.text)).max().unwrap_or(0).min(40);
        for (number, value) in (1..).zip(&found.values) {
            let by = value.by.as_deref().unwrap_or("at first");
            let place = match &value.place {
                Some(PastPlace::Command(number)) => format!("goto {number}"),
                Some(PastPlace::Moment(moment)) => {
                    let name = format!("{HISTORY}{number}");
                    let moment = self.debugger.of_line(moment);
                    let place = (moment, format!("{text}: {}", value.text));
                    self.session.bookmarks.insert(name.clone(), place);
                    format!("goto {name}")
                }
                None => String::new(),
            };
            let gap = " ".repeat(widest.saturating_sub(width(&value.text)));
            writeln!(self.out, "  {}{gap}  {place:9}  {by}", value.text)?;
        }
        if found.values.is_empty() {
            writeln!(self.out, "nothing has written {text} since the recording began")?;
        }
        Ok(())
    }

    pub(crate) fn first(&mut self, condition: String) -> Result<(), Problem> {
        self.travel_back(Run::ToFirst(condition))
    }

    pub(crate) fn first_trap(&mut self, traps: Traps) -> Result<(), Problem> {
        self.travel_back(Run::ToFirstTrap(traps))
    }

    pub(crate) fn last(&mut self, condition: String) -> Result<(), Problem> {
        self.travel_back(Run::ToLast(condition))
    }

    pub(crate) fn back_until(&mut self, place: Place) -> Result<(), Problem> {
        let spec = self.spec(place)?;
        self.travel_back(Run::BackTo(spec))
    }

    pub(crate) fn first_row(&mut self, question: RowQuestion) -> Result<(), Problem> {
        self.travel(Run::ToFirstRow(question))
    }

    /// Goes back in a program that has begun.
    fn travel_back(&mut self, run: Run) -> Result<(), Problem> {
        if self.session.progress == Progress::NotStarted {
            return Err("the program has not begun".into());
        }
        self.action = Some(Action::Run(run));
        Ok(())
    }

    /// Goes to another moment of a program. To one that is ahead it can also go from the beginning.
    fn travel(&mut self, run: Run) -> Result<(), Problem> {
        let is_recorded = self.debugger.record_state().is_some();
        if self.session.progress == Progress::NotStarted && is_recorded {
            self.action = Some(Action::Run(Run::Begun(Box::new(run))));
            return Ok(());
        }
        self.travel_back(run)
    }

    pub(crate) fn bookmark(&mut self, name: Option<&str>) -> Result<(), Problem> {
        let Some(name) = name else {
            let mut bookmarks = serde_json::Map::new();
            if self.session.bookmarks.is_empty() {
                writeln!(self.out, "there are no bookmarks; `bookmark NAME` sets one")?;
            }
            for (name, (moment, place)) in &self.session.bookmarks {
                writeln!(self.out, "{name}  {moment}  {place}")?;
                bookmarks.insert(name.clone(), moment.to_string().into());
            }
            self.out.put("bookmarks", bookmarks);
            return Ok(());
        };
        self.needs_frame()?;
        let moment = self.debugger.line_moment().ok_or("this moment has no name")?;
        let place = self.debugger.sentence(&StopReason::Step);
        self.session.bookmarks.insert(name.to_owned(), (moment, place));
        Ok(())
    }

    /// The present moment as text.
    pub(crate) fn when(&mut self) -> Result<(), Problem> {
        if self.session.progress == Progress::NotStarted {
            return Err("the program has not begun".into());
        }
        let moment = self.debugger.line_moment().ok_or(match self.session.progress {
            Progress::Over => "the program is over, which is no moment of it",
            _ => "this moment has no name: only another thread knows how far it has come",
        })?;
        writeln!(self.out, "{moment}")?;
        self.out.put("moment", moment.to_string());
        Ok(())
    }

    pub(crate) fn go_to(&mut self, time: &Time) -> Result<(), Problem> {
        let how = match time {
            Time::Begin => Back::ToBegin,
            Time::Command(number) => return self.travel(Run::ToCommand(*number)),
            Time::Moment(moment) => return self.go_to_moment(moment.clone()),
            Time::Bookmark(name) => {
                let known = self.session.bookmarks.get(name);
                let (moment, _) = known.ok_or_else(|| {
                    format!(
                        "there is no bookmark {name:?}; `goto` takes a bookmark, `begin`, the \
                         number of a command that has run, or a moment as `when` writes it"
                    )
                })?;
                let moment = moment.clone();
                return self.go_to_moment(moment);
            }
        };
        self.back(how, 1)
    }

    fn go_to_moment(&mut self, LineMoment { line, moment }: LineMoment) -> Result<(), Problem> {
        self.travel(match self.debugger.record_state() {
            Some(_) if line != self.debugger.line_of_time() => Run::ToLine(line, Some(moment)),
            _ => Run::ToMoment(moment),
        })
    }
}

/// Bookmarks that `history` sets begin so, and go on with a number.
const HISTORY: &str = "h";

fn is_of_history(name: &str) -> bool {
    name.strip_prefix(HISTORY).is_some_and(|rest| rest.parse::<u32>().is_ok())
}

fn file_bytes(count: u64) -> String {
    bytes(usize::try_from(count).unwrap_or(usize::MAX))
}

fn bytes(count: usize) -> String {
    match count {
        0..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{} KB", count / 1_000),
        10_000_000..10_000_000_000 => format!("{} MB", count / 1_000_000),
        _ => format!("{} GB", count / 1_000_000_000),
    }
}
