//! The loaded program: lines performed in it, what they answer collected.

use std::io;
use std::path::PathBuf;

use commands::{Answer, Driver, Front, Progress, Said, Shown};
use compile::Scratch;
use debug::{LaunchOptions, RunMoment};
use serde_json::{Map, Value};

use crate::access::Access;
use crate::library::Library;
use crate::problem::Problem;
use crate::stopper::Stopper;

/// What tools work on.
pub(crate) struct Desk {
    pub(crate) access: Access,
    pub(crate) library: Library,
    pub(crate) stopper: Stopper,
    /// This program, `iree-dbg`, for questions that are answered in a process of their own.
    pub(crate) executable: PathBuf,
    pub(crate) program: Option<Program>,
}

impl Desk {
    /// The program.
    ///
    /// # Errors
    /// None is loaded.
    pub(crate) fn program(&mut self) -> Result<&mut Program, Problem> {
        let none = || Problem::with_next("no program is loaded", &["load {\"module\": …}"]);
        self.program.as_mut().ok_or_else(none)
    }

    /// The program, which has begun and has frames.
    ///
    /// # Errors
    /// None is loaded, or it does not stand anywhere.
    pub(crate) fn standing(&mut self) -> Result<&mut Program, Problem> {
        let program = self.program()?;
        match program.progress() {
            Progress::Stopped | Progress::Failed => Ok(program),
            Progress::NotStarted => Err(Problem::with_next(
                "the program has not begun, so that there is nothing to look at",
                &["run {\"how\": \"start\"}", "run {\"how\": \"continue\"}"],
            )),
            Progress::Over => Err(Problem::with_next(
                "the program is over; its values are there again once it has gone back",
                &["run {\"how\": \"back\"}", "run {\"how\": \"start\"}"],
            )),
        }
    }
}

/// What the program was loaded from, as the command line of `iree-dbg` names it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) modules: Vec<PathBuf>,
    /// The source that the last module was compiled from for this session.
    pub(crate) source: Option<PathBuf>,
    pub(crate) function: Option<String>,
    pub(crate) inputs: Vec<String>,
    pub(crate) parameters: Vec<String>,
    pub(crate) device: Option<String>,
}

/// A program under the debugger.
pub(crate) struct Program {
    driver: Driver,
    pub(crate) origin: Origin,
    /// The module that was compiled lies there.
    _scratch: Option<Scratch>,
    /// Moments of this run that have names.
    moments: Vec<(RunMoment, String)>,
    /// How many names were given.
    named: u32,
    /// What the agent wants to be caught, as lines.
    pub(crate) catches: Vec<String>,
}

/// What was heard while a line was performed.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The text of all answers to lines.
    pub(crate) text: String,
    /// The data of the last answer to a line.
    pub(crate) data: Map<String, Value>,
    /// The last stop: its text and its data.
    pub(crate) stop: Option<(String, Map<String, Value>)>,
    /// Messages of log points, and notes.
    pub(crate) messages: Vec<String>,
    error: Option<String>,
}

impl Front for Heard {
    fn show(&mut self, what: Shown<'_>, answer: Answer) -> io::Result<()> {
        self.error = answer.error.or(self.error.take());
        match what {
            Shown::Line(_) => {
                self.text.push_str(&answer.text);
                self.data = answer.data;
            }
            Shown::Stop => self.stop = Some((answer.text, answer.data)),
            Shown::Note => self.messages.push(answer.text.trim_end().to_owned()),
        }
        Ok(())
    }

    fn say(&mut self, _kind: Said, text: &str) -> io::Result<()> {
        self.messages.push(text.to_owned());
        Ok(())
    }

    fn shell(&mut self, _command: &str) -> io::Result<Result<(), String>> {
        Ok(Err("no command of the system is run for a client".to_owned()))
    }
}

impl Program {
    /// Loads a program.
    ///
    /// # Errors
    /// As for [`Driver::new`].
    pub(crate) fn load(
        options: LaunchOptions,
        origin: Origin,
        scratch: Option<Scratch>,
    ) -> Result<Self, Problem> {
        let driver = Driver::new(options)?;
        Ok(Self {
            driver,
            origin,
            _scratch: scratch,
            moments: Vec::new(),
            named: 0,
            catches: Vec::new(),
        })
    }

    /// The program itself.
    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// How far it has come.
    pub(crate) fn progress(&self) -> Progress {
        self.driver.session().progress()
    }

    /// Whether it can go back.
    pub(crate) fn is_recorded(&self) -> bool {
        self.driver.debugger().record_state().is_some()
    }

    /// Performs a line of the command language.
    ///
    /// # Errors
    /// The command does not work; or the text has several lines, where one was to be made of it.
    pub(crate) fn line(&mut self, line: &str) -> Result<Heard, Problem> {
        if line.contains(['\n', '\r']) {
            return Err("expressions and names stand on one line".into());
        }
        if matches!(line, "run" | "start") {
            // The session forgets its bookmarks, too.
            self.moments.clear();
        }
        let mut heard = Heard::default();
        self.driver.perform(line, &mut heard)?;
        heard.checked()
    }

    /// Lets it go on with what was interrupted.
    ///
    /// # Errors
    /// Nothing was.
    pub(crate) fn go_on(&mut self) -> Result<Heard, Problem> {
        let mut heard = Heard::default();
        match self.driver.go_on(&mut heard)? {
            true => heard.checked(),
            false => {
                Err(Problem::with_next("nothing was interrupted", &["run {\"how\": \"continue\"}"]))
            }
        }
    }

    /// Gives the present moment a name, by which `run` comes back to it; none if it has no moment.
    pub(crate) fn name_moment(&mut self) -> Option<String> {
        if !self.is_recorded() {
            return None;
        }
        let here = self.driver.debugger().moment()?;
        if let Some((_, name)) = self.moments.iter().find(|(moment, _)| *moment == here) {
            return Some(name.clone());
        }
        let name = format!("m{}", self.named + 1);
        self.line(&format!("bookmark {name}")).ok()?;
        self.named += 1;
        self.moments.push((here, name.clone()));
        Some(name)
    }

    /// Does something without the breakpoints that are set, and without what is caught.
    pub(crate) fn undisturbed<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let breakpoints = self.driver.debugger().breakpoints().iter();
        let enabled: Vec<u32> = breakpoints.filter(|it| it.is_enabled).map(|it| it.id.0).collect();
        let numbers: Vec<String> = enabled.iter().map(u32::to_string).collect();
        let numbers = numbers.join(" ");
        // These lines fail for no breakpoint that is there.
        if !enabled.is_empty() {
            let _ = self.line(&format!("disable {numbers}"));
        }
        let _ = self.line("catch off");
        let done = act(self);
        let _ = self.line("catch off");
        for line in self.catches.clone() {
            let _ = self.line(&line);
        }
        if !enabled.is_empty() {
            let _ = self.line(&format!("enable {numbers}"));
        }
        done
    }
}

impl Heard {
    fn checked(self) -> Result<Self, Problem> {
        match &self.error {
            Some(error) => Err(error.clone().into()),
            None => Ok(self),
        }
    }

    /// A text of the data.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        self.data.get(key)?.as_str().map(str::to_owned)
    }
}
