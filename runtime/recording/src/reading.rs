//! A file becomes a program to debug. The file may be damaged, or made to harm: it is looked
//! through once, and then only what the launch names is taken, into memory, within a budget.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use debug::{CommandRow, Expected, LaunchOptions, ModuleSource, RecordOptions, RunMark};
use debuginfo::{Budget, OverBudget, PackedDebugFile};
use hal::{Config, DeviceKind, NativeCode, Parameters, ResultSource};
use serde::de::DeserializeOwned;
use vm::{ExecutionLimits, MemoryLimit};
use vmfb::FileBytes;

use crate::RecordingError;
use crate::chunks::{self, Chunk, HEADER, VERSION, index, version_of};
use crate::contents::{
    ABOUT, Archive, END, End, FILE, Input, LAUNCH, Launch, Module, PART, Part, RESULT, ROWS, Source,
};
use crate::files::{Described, Files, InputFiles, NotTaken};
use crate::libraries::recorded_library;
use crate::limited::{Refused, within};
use crate::results::{About, Results};
use crate::rows::Rows;
use crate::writing::digest_of;

/// What parts of the run are charged as.
const RUN: &str = "the run";

/// What text becomes as JSON, at most: a list of empty texts.
const JSON_GROWTH: u64 = 24;

/// What a module or a library takes in memory, beside its file or its name.
const MODULE: u64 = 32 << 10;
const LIBRARY: u64 = 1024;

/// What the place of a result takes in memory.
const PLACE: u64 = 64;

/// An input, and what is in its file.
type InputContents = (String, Option<Vec<u8>>);

/// How a recorded run has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// It has come to its end.
    Completed,
    /// It has failed with this status.
    Failed(String),
    /// The file does not have the rest, because of this.
    Lost(String),
    /// The process was killed, or is still running.
    CutShort,
}

/// Where a recorded run has ended before its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EarlyEnd {
    /// It has failed.
    Failure,
    /// It was killed after this moment, as `when` writes it.
    Moment(String),
    /// It was killed in this command, or before the one after it.
    Command(u64),
}

/// A recording: the run, and where everything else is in the file.
#[derive(Debug)]
pub struct Recorded {
    path: PathBuf,
    launch: Launch,
    files: Files,
    expected: Arc<Expected>,
    /// What dispatches have left, if the file has it.
    results: Option<Arc<Results>>,
    end: Option<End>,
    /// Where it was cut short.
    cut_short: Option<u64>,
    /// How many commands had run at the last mark.
    marked: usize,
}

impl Recorded {
    /// Reads a recording.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or ends before the program is whole.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let not_a_recording = || RecordingError::NotARecording(path.to_owned());
        if !path.metadata().map_err(RecordingError::file(path))?.is_file() {
            return Err(not_a_recording());
        }
        let mut file = File::open(path).map_err(RecordingError::file(path))?;
        let length = file.metadata().map_err(RecordingError::file(path))?.len();
        let mut header = Vec::new();
        let begin = (&mut file).take(HEADER).read_to_end(&mut header);
        begin.map_err(RecordingError::file(path))?;
        match version_of(&header) {
            None => return Err(not_a_recording()),
            Some(VERSION) => {}
            Some(found) => {
                let path = path.to_owned();
                return Err(RecordingError::Version { path, found, known: VERSION });
            }
        }
        let mut reader = BufReader::new(file);
        let chunks = index(&mut reader, length).collect::<Result<Vec<_>, _>>();
        let chunks = chunks.map_err(RecordingError::file(path))?;
        let mut reading = Reading::begin(path, length, reader);
        for chunk in chunks {
            reading.add(chunk)?;
        }
        reading.finish()
    }

    /// The same without results: code runs, and only digests tell whether it leaves the same.
    #[must_use]
    pub fn without_results(self) -> Self {
        Self { results: None, ..self }
    }

    /// How many dispatches it has results of, which are taken in the place of running them; `None`
    /// if it has none.
    #[must_use]
    pub fn result_count(&self) -> Option<usize> {
        self.results.as_ref().map(|results| results.count())
    }

    /// How the program is launched to be debugged; `record` says how much memory going back may
    /// take.
    ///
    /// # Errors
    /// Archives of parameters are not where they were, or have other contents.
    pub fn launch_options(&self, record: RecordOptions) -> Result<LaunchOptions, RecordingError> {
        let Launch { modules, function, inputs, sources, .. } = &self.launch;
        let modules = modules.iter().enumerate().map(|(index, it)| self.module(index, it));
        let modules = modules.collect::<Result<_, _>>()?;
        let texts = sources.iter().map(|it| Ok((it.name.clone(), self.source(it)?)));
        let mut files = InputFiles::default();
        let inputs = inputs.iter().map(|it| self.input(it, &mut files));
        let inputs = inputs.collect::<Result<_, _>>()?;
        Ok(LaunchOptions {
            modules,
            function: function.clone(),
            inputs,
            input_files: values::InputFiles::InMemory(files.into_contents()),
            sources: texts.collect::<Result<_, RecordingError>>()?,
            host: self.config(self.parameters()?)?,
            record: Some(record),
            expected: Some(Arc::clone(&self.expected)),
            ..LaunchOptions::default()
        })
    }

    /// How the program is loaded to be looked at and never run: nothing is asked for that is not in
    /// the file.
    ///
    /// # Errors
    /// The file names what it does not have.
    pub fn options_to_look(&self) -> Result<LaunchOptions, RecordingError> {
        let modules = self.launch.modules.iter().enumerate();
        let modules = modules.map(|(index, it)| self.module(index, it));
        let sources = self.launch.sources.iter();
        let sources = sources.map(|it| Ok((it.name.clone(), self.source(it)?)));
        Ok(LaunchOptions {
            modules: modules.collect::<Result<_, _>>()?,
            is_called_from_outside: true,
            never_compiles: true,
            sources: sources.collect::<Result<_, RecordingError>>()?,
            host: self.config(Parameters::default())?,
            ..LaunchOptions::default()
        })
    }

    /// The rows of the commands of the run, by their numbers. A file of an earlier version, or of a
    /// run without commands, has none.
    #[must_use]
    pub fn rows(&self) -> &[Arc<CommandRow>] {
        &self.expected.rows
    }

    /// How many commands have run, as far as the file goes.
    #[must_use]
    pub fn commands(&self) -> u64 {
        self.expected.left.len() as u64
    }

    /// What of the launch is other than that of another run, in words.
    ///
    /// # Errors
    /// One of the files names what it does not have.
    pub fn differences_of_launch(&self, other: &Self) -> Result<Vec<&'static str>, RecordingError> {
        let bytes = |side: &Self| -> Result<Vec<FileBytes>, RecordingError> {
            Ok(side.modules()?.into_iter().map(|(_, bytes)| bytes).collect())
        };
        let archives = |side: &Self| -> Vec<(String, u64, String)> {
            let archives = side.launch.parameters.iter();
            archives.map(|it| (it.scope.clone(), it.length, it.digest.clone())).collect()
        };
        let (a, b) = (bytes(self)?, bytes(other)?);
        let is_same_modules =
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.owned() == b.owned());
        let (own, others) = (&self.launch, &other.launch);
        let all = [
            (is_same_modules, "modules"),
            (own.function == others.function, "functions"),
            (self.input_contents()? == other.input_contents()?, "inputs"),
            (archives(self) == archives(other), "parameters"),
            (own.device == others.device, "devices"),
            (own.threads == others.threads, "threads"),
        ];
        Ok(all.into_iter().filter(|(is_same, _)| !is_same).map(|(_, what)| what).collect())
    }

    /// The inputs, each with what is in its file.
    fn input_contents(&self) -> Result<Vec<InputContents>, RecordingError> {
        let contents = self.launch.inputs.iter().map(|input| {
            let file = input.file.map(|file| self.take(file, "an input")).transpose()?;
            Ok((input.text.clone(), file.map(|(_, bytes)| bytes)))
        });
        contents.collect()
    }

    /// How the run has ended.
    #[must_use]
    pub fn outcome(&self) -> RunOutcome {
        match &self.end {
            Some(End { lost: Some(reason), .. }) => RunOutcome::Lost(reason.clone()),
            Some(End { failure: Some(status), .. }) => RunOutcome::Failed(status.clone()),
            Some(_) => RunOutcome::Completed,
            None => RunOutcome::CutShort,
        }
    }

    /// Where the run has ended, as far as the file goes, if it has not come to its end.
    #[must_use]
    pub fn early_end(&self) -> Option<EarlyEnd> {
        match self.outcome() {
            RunOutcome::Failed(_) => Some(EarlyEnd::Failure),
            RunOutcome::Completed | RunOutcome::Lost(_) => None,
            RunOutcome::CutShort if self.expected.left.len() > self.marked => {
                Some(EarlyEnd::Command(self.commands() + 1))
            }
            RunOutcome::CutShort => {
                let RunMark { turns, depth, offset, .. } = *self.expected.marks.last()?;
                Some(EarlyEnd::Moment(format!("@{turns}.{depth}.{offset:X}")))
            }
        }
    }

    /// The version of iree-dbg that has recorded it, as it says.
    #[must_use]
    pub fn recorded_by(&self) -> &str {
        &self.launch.version
    }

    /// What the recording is of and how far it goes, in sentences.
    #[must_use]
    pub fn summary(&self) -> Vec<String> {
        let commands = self.expected.left.len();
        let of = match &self.end {
            Some(End { lost: Some(_), .. }) => "the first part of a run".to_owned(),
            Some(End { failure: Some(status), .. }) => format!("a run that has failed: {status}"),
            Some(_) => "a whole run".to_owned(),
            None => "a run that was not finished".to_owned(),
        };
        let from_file = self.results.as_ref().map(|results| {
            format!(
                "the results of {} dispatches come from the recording: their code does not run, but \
                 for bytecode that is stepped into",
                results.count()
            )
        });
        let mut summary = vec![format!(
            "{}: {of}; {commands} commands, recorded by iree-dbg {}",
            self.path.display(),
            self.launch.version
        )];
        summary.extend(from_file);
        if let Some(End { lost: Some(reason), .. }) = &self.end {
            summary
                .push(format!("it goes up to command {commands}: {reason}, which no file holds"));
        }
        if let Some(length) = self.cut_short {
            let turns = self.expected.marks.iter().map(|mark| mark.turns).max().unwrap_or(0);
            let then = match &self.results {
                Some(_) => "bytecode runs anew, and machine code does not run",
                None => "the program runs anew, and nothing is compared",
            };
            summary.push(format!(
                "the recording is cut short at byte {length}: after command {commands} and turn \
                 {turns} (backward branches and calls), {then}"
            ));
        }
        summary
    }

    fn parameters(&self) -> Result<Parameters, RecordingError> {
        let archives = self.launch.parameters.iter();
        let archives: Vec<String> =
            archives.map(|it| self.archive(it)).collect::<Result<_, _>>()?;
        let parameters = Parameters::open(&archives);
        parameters.map_err(|status| RecordingError::Missing(status.to_string()))
    }

    fn config(&self, parameters: Parameters) -> Result<Config, RecordingError> {
        let launch = &self.launch;
        let kind = |name: &String| {
            let parsed = name.parse::<DeviceKind>();
            parsed.map_err(|error| RecordingError::Missing(error.to_string()))
        };
        let native_code =
            if launch.refuses_machine_code { NativeCode::Refused } else { NativeCode::Allowed };
        let default = ExecutionLimits::default();
        // The file may come from anyone: it takes no more than other programs.
        let memory = launch.limits.memory.min(default.allocation_bytes);
        let libraries = (launch.libraries.len() as u64).saturating_mul(LIBRARY);
        self.charge("libraries", libraries)?;
        let config = Config {
            device: kind(&launch.device)?,
            more_devices: launch.more_devices.iter().map(kind).collect::<Result<_, _>>()?,
            threads: launch.threads,
            native_code,
            parameters: Arc::new(parameters),
            libraries: launch.libraries.iter().map(|name| recorded_library(name)).collect(),
            imitates_narrow_calls: launch.imitates_narrow_calls,
            is_guarded: launch.is_guarded,
            results: self.results.clone().map(|it| it as Arc<dyn ResultSource>),
            limits: ExecutionLimits {
                fuel: launch.limits.steps,
                stack_depth: launch.limits.call_depth,
                allocation_bytes: memory,
                memory: MemoryLimit::new(memory),
                ..default
            },
            ..Config::default()
        };
        if self.results.is_some() {
            return Ok(config);
        }
        config.with_gpus().map_err(|error| RecordingError::Missing(error.to_string()))
    }

    /// An archive, as `--parameters=` names it.
    fn archive(&self, archive: &Archive) -> Result<String, RecordingError> {
        let Archive { scope, path, length, digest } = archive;
        let places = self.places_of(Path::new(path));
        let found = places.into_iter().find(|it| it.is_file()).ok_or_else(|| {
            RecordingError::Missing(format!(
                "the recorded program reads parameters from {path}, which is not here; put it \
                 there, or beside {}",
                self.path.display()
            ))
        })?;
        if digest_of(&found)? != (*length, digest.clone()) {
            let found = found.display();
            return Err(RecordingError::Missing(format!(
                "{found} is not what the recorded program has read: its contents have changed"
            )));
        }
        Ok(format!("{scope}={}", found.display()))
    }

    /// Where an archive of parameters may be: where it was, or beside the recording.
    pub(crate) fn places_of(&self, archive: &Path) -> Vec<PathBuf> {
        let name = archive.file_name().unwrap_or_default();
        let beside = self.path.parent().map(|folder| folder.join(name));
        std::iter::once(archive.to_owned()).chain(beside).collect()
    }

    pub(crate) fn launch(&self) -> &Launch {
        &self.launch
    }

    pub(crate) fn budget(&self) -> &Budget {
        self.files.budget()
    }

    /// The name of a file, and its length in bytes.
    pub(crate) fn described(&self, file: usize) -> Result<(String, u64), RecordingError> {
        let Described { name, length, .. } =
            self.files.describe(file).map_err(|error| self.not_taken(error))?;
        Ok((name, length))
    }

    /// A module's name and its bytes.
    pub(crate) fn module_bytes(
        &self,
        index: usize,
        module: &Module,
    ) -> Result<(String, FileBytes), RecordingError> {
        let modules = (index as u64 + 1).saturating_mul(MODULE);
        self.charge("modules", modules)?;
        let (described, bytes) = self.take(module.file, &format!("module {index}"))?;
        Ok((described.name, bytes.into()))
    }

    fn module(&self, index: usize, module: &Module) -> Result<ModuleSource, RecordingError> {
        let (name, bytes) = self.module_bytes(index, module)?;
        let companion = module.companion.map(|file| self.take(file, &format!("companion {index}")));
        let debug_file = module.debug_file.map(|file| self.debug_file(index, file));
        Ok(ModuleSource::Memory {
            name,
            bytes,
            companion: companion.transpose()?.map(|(_, text)| text),
            debug_file: debug_file.transpose()?,
        })
    }

    fn debug_file(&self, index: usize, file: usize) -> Result<PackedDebugFile, RecordingError> {
        let (described, bytes) = self.take(file, &format!("debug file {index}"))?;
        // Several modules may have the same name.
        let name = PathBuf::from(format!("{index}/{}", described.name));
        Ok(PackedDebugFile::new(name, bytes.into(), self.files.budget().clone()))
    }

    fn input(&self, input: &Input, files: &mut InputFiles) -> Result<String, RecordingError> {
        let Input { text, file } = input;
        let Some(number) = *file else {
            return match values::file_of_input(text) {
                None => Ok(text.clone()),
                Some(_) => Err(self.damaged(&named_outside(text))),
            };
        };
        let name = files.name(&self.files, number).map_err(|error| self.not_taken(error))?;
        values::input_of_file(text, &name).map_err(|_| self.damaged(&named_outside(text)))
    }

    fn source(&self, source: &Source) -> Result<String, RecordingError> {
        let (_, bytes) = self.take(source.file, &format!("source {:?}", source.name))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn take(&self, file: usize, purpose: &str) -> Result<(Described, Vec<u8>), RecordingError> {
        self.files.take(file, purpose).map_err(|error| self.not_taken(error))
    }

    fn charge(&self, what: &str, bytes: u64) -> Result<(), RecordingError> {
        let charged = self.budget().charge(what, bytes);
        charged.map_err(|error| self.not_taken(error.into()))
    }

    fn not_taken(&self, error: NotTaken) -> RecordingError {
        let path = self.path.clone();
        match error {
            NotTaken::OverBudget(source) => RecordingError::OverBudget { path, source },
            NotTaken::Unreadable(source) => RecordingError::File { path, source },
            error => self.damaged(&error.to_string()),
        }
    }

    fn damaged(&self, what: &str) -> RecordingError {
        let (path, what) = (self.path.clone(), what.to_owned());
        RecordingError::Damaged { path, offset: HEADER, what }
    }
}

/// What is wrong with an input whose file is not in the recording.
fn named_outside(text: &str) -> String {
    format!("the input {text:?} names a file that is not in it")
}

/// A recording that is read chunk by chunk.
struct Reading<'a> {
    path: &'a Path,
    length: u64,
    file: BufReader<File>,
    budget: Budget,
    files: Vec<Range<u64>>,
    launch: Option<Launch>,
    expected: Expected,
    /// What the parts take in memory.
    parts: u64,
    /// How many commands had run at the last mark.
    marked: usize,
    /// Where results are, and what is known beside them.
    places: BTreeMap<u64, Range<u64>>,
    about: Option<About>,
    end: Option<End>,
}

impl<'a> Reading<'a> {
    fn begin(path: &'a Path, length: u64, file: BufReader<File>) -> Self {
        Self {
            path,
            length,
            file,
            budget: Budget::for_length(length),
            files: Vec::new(),
            launch: None,
            expected: Expected::default(),
            parts: 0,
            marked: 0,
            places: BTreeMap::new(),
            about: None,
            end: None,
        }
    }

    fn add(&mut self, chunk: Chunk) -> Result<(), RecordingError> {
        let (tag, offset, payload) = match chunk {
            Chunk::Whole { tag, offset, payload } => (tag, offset, payload),
            Chunk::CutShort => return Ok(()),
            Chunk::Damaged { offset } => {
                return Err(self.damaged(offset, "its checksum is another"));
            }
        };
        match tag {
            FILE => self.files.push(payload),
            LAUNCH => self.launch = Some(self.json("the launch", offset, payload)?),
            PART => {
                let part = self.part(offset, payload, size_of::<RunMark>())?;
                self.add_part(part);
            }
            ROWS => {
                let rows: Rows = self.part(offset, payload, 0)?;
                let rows = rows.into_rows();
                let unnamed = || self.damaged(offset, "a row names a text that is not there");
                self.expected.rows.extend(rows.ok_or_else(unnamed)?);
            }
            ABOUT => {
                let About { answers, executables } = self.part(offset, payload, 0)?;
                let about = self.about.get_or_insert_default();
                about.answers.extend(answers);
                about.executables.extend(executables);
            }
            RESULT => self.add_result(offset, payload)?,
            END => self.end = Some(self.json("the end", offset, payload)?),
            // Later versions may add what this one does not need.
            _ => {}
        }
        Ok(())
    }

    /// A part of the run, which is charged for what it takes in memory, and so many bytes.
    fn part<T: DeserializeOwned>(
        &mut self,
        offset: u64,
        payload: Range<u64>,
        more: usize,
    ) -> Result<T, RecordingError> {
        let length = payload.end - payload.start;
        self.charge(RUN, self.parts.saturating_add(length))?;
        let allowed = self.budget.allowed(RUN).saturating_sub(self.parts);
        let bytes = self.read(payload)?;
        match within::<T>(&bytes, allowed) {
            Ok((part, held)) => {
                self.parts += held + more as u64;
                self.charge(RUN, self.parts)?;
                Ok(part)
            }
            Err(Refused::TooLarge) => Err(self.over_budget(self.budget.exceeded(RUN))),
            Err(error) => Err(self.damaged(offset, &error.to_string())),
        }
    }

    fn charge(&self, what: &str, bytes: u64) -> Result<(), RecordingError> {
        self.budget.charge(what, bytes).map_err(|source| self.over_budget(source))
    }

    fn over_budget(&self, source: OverBudget) -> RecordingError {
        RecordingError::OverBudget { path: self.path.to_owned(), source }
    }

    /// A result stays in the file; where it is takes memory.
    fn add_result(&mut self, offset: u64, payload: Range<u64>) -> Result<(), RecordingError> {
        self.parts += PLACE;
        self.charge(RUN, self.parts)?;
        let number = payload.start..payload.end.min(payload.start + 8);
        match self.read(number)?.first_chunk() {
            Some(number) => {
                self.places.insert(u64::from_le_bytes(*number), payload);
                Ok(())
            }
            None => Err(self.damaged(offset, "a result has no number")),
        }
    }

    fn add_part(&mut self, part: Part) {
        let Part { left, calls, mark } = part;
        self.expected.left.extend(left);
        if mark.is_some() {
            self.marked = self.expected.left.len();
        }
        self.expected.calls.extend(calls.into_iter().map(Arc::new));
        self.expected.marks.extend(mark.map(|mark| RunMark {
            turns: mark.turns,
            depth: mark.depth,
            offset: mark.offset,
            state: mark.state,
        }));
    }

    fn read(&mut self, payload: Range<u64>) -> Result<Vec<u8>, RecordingError> {
        chunks::read(&mut self.file, payload).map_err(RecordingError::file(self.path))
    }

    fn json<T: DeserializeOwned>(
        &mut self,
        what: &str,
        offset: u64,
        payload: Range<u64>,
    ) -> Result<T, RecordingError> {
        self.charge(what, (payload.end - payload.start).saturating_mul(JSON_GROWTH))?;
        let text = self.read(payload)?;
        serde_json::from_slice(&text).map_err(|error| self.damaged(offset, &error.to_string()))
    }

    fn damaged(&self, offset: u64, what: &str) -> RecordingError {
        RecordingError::Damaged { path: self.path.to_owned(), offset, what: what.to_owned() }
    }

    fn finish(self) -> Result<Recorded, RecordingError> {
        let Self { length, budget, files, launch, expected, marked, end, .. } = self;
        let (path, file) = (self.path.to_owned(), Arc::new(Mutex::new(self.file)));
        let Some(launch) = launch else { return Err(RecordingError::NoProgram { path, length }) };
        let cut_short = end.is_none().then_some(length);
        let results = self
            .about
            .map(|about| Arc::new(Results::new(path.clone(), file.clone(), self.places, about)));
        let files = Files::new(file, files, budget);
        let expected = Arc::new(expected);
        Ok(Recorded { path, launch, files, expected, results, end, cut_short, marked })
    }
}
