//! A file becomes a program to debug. The file may be damaged, or made to harm: what is in it is
//! written into a folder of its own, under names that cannot lead out of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use debug::{Expected, LaunchOptions, ModuleSource, RecordOptions, RunMark};
use hal::{Config, DeviceKind, NativeCode, Parameters};
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use vm::{ExecutionLimits, MemoryLimit};

use crate::RecordingError;
use crate::chunks::{Chunk, HEADER, VERSION, chunks, version_of};
use crate::contents::{Archive, END, End, FILE, Input, LAUNCH, Launch, Module, PART, Part};
use crate::libraries::recorded_library;
use crate::writing::digest_of;

/// A recording, read and unpacked.
#[derive(Debug)]
pub struct Recorded {
    path: PathBuf,
    launch: Launch,
    folder: Arc<TempDir>,
    /// Where each file was unpacked.
    files: Vec<PathBuf>,
    expected: Expected,
    end: Option<End>,
    /// Where it was cut short.
    cut_short: Option<usize>,
}

impl Recorded {
    /// Reads a recording.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or ends before the program is whole.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let bytes = std::fs::read(path).map_err(RecordingError::file(path))?;
        match version_of(&bytes) {
            None => return Err(RecordingError::NotARecording(path.to_owned())),
            Some(VERSION) => {}
            Some(found) => {
                let path = path.to_owned();
                return Err(RecordingError::Version { path, found, known: VERSION });
            }
        }
        let mut reading = Reading::begin(path, bytes.len())?;
        for chunk in chunks(&bytes) {
            reading.add(chunk)?;
        }
        reading.finish()
    }

    /// How the program is launched to be debugged; `record` says how much memory going back may
    /// take.
    ///
    /// # Errors
    /// Archives of parameters are not where they were, or have other contents.
    pub fn launch_options(&self, record: RecordOptions) -> Result<LaunchOptions, RecordingError> {
        let Launch { modules, function, inputs, sources, .. } = &self.launch;
        let modules = modules.iter().map(|it| self.module(it)).collect::<Result<_, _>>()?;
        let texts = sources.iter().map(|it| Ok((it.name.clone(), self.text_of(it.file)?)));
        let inputs = inputs.iter().map(|it| self.input(it)).collect::<Result<_, _>>()?;
        let files: Arc<dyn std::any::Any + Send + Sync> = self.folder.clone();
        Ok(LaunchOptions {
            modules,
            function: function.clone(),
            inputs,
            sources: texts.collect::<Result<_, RecordingError>>()?,
            host: self.config()?,
            record: Some(record),
            expected: Some(Arc::new(Expected { files: Some(files), ..self.expected.clone() })),
            ..LaunchOptions::default()
        })
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
        let mut summary = vec![format!(
            "{}: {of}; {commands} commands, recorded by iree-dbg {}",
            self.path.display(),
            self.launch.version
        )];
        if let Some(End { lost: Some(reason), .. }) = &self.end {
            summary
                .push(format!("it goes up to command {commands}: {reason}, which no file holds"));
        }
        if let Some(length) = self.cut_short {
            let turns = self.expected.marks.iter().map(|mark| mark.turns).max().unwrap_or(0);
            summary.push(format!(
                "the recording is cut short at byte {length}: after command {commands} and turn \
                 {turns} (backward branches and calls), the program runs anew, and nothing is \
                 compared; it does not stop where the recorded run was ended"
            ));
        }
        summary
    }

    fn config(&self) -> Result<Config, RecordingError> {
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
        let parameters: Vec<String> =
            launch.parameters.iter().map(|it| self.archive(it)).collect::<Result<_, _>>()?;
        let parameters = Parameters::open(&parameters);
        let parameters =
            parameters.map_err(|status| RecordingError::Missing(status.to_string()))?;
        Ok(Config {
            device: kind(&launch.device)?,
            more_devices: launch.more_devices.iter().map(kind).collect::<Result<_, _>>()?,
            threads: launch.threads,
            native_code,
            parameters: Arc::new(parameters),
            libraries: launch.libraries.iter().map(|name| recorded_library(name)).collect(),
            imitates_narrow_calls: launch.imitates_narrow_calls,
            is_guarded: launch.is_guarded,
            limits: ExecutionLimits {
                fuel: launch.limits.steps,
                stack_depth: launch.limits.call_depth,
                allocation_bytes: memory,
                memory: MemoryLimit::new(memory),
                ..default
            },
            ..Config::default()
        })
    }

    /// An archive, as `--parameters=` names it.
    fn archive(&self, archive: &Archive) -> Result<String, RecordingError> {
        let Archive { scope, path, length, digest } = archive;
        let beside = self
            .path
            .parent()
            .map(|folder| folder.join(Path::new(path).file_name().unwrap_or_default()));
        let places = [Some(PathBuf::from(path)), beside];
        let found = places.into_iter().flatten().find(|it| it.is_file()).ok_or_else(|| {
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

    fn module(&self, module: &Module) -> Result<ModuleSource, RecordingError> {
        let path = self.file(module.file)?;
        if !module.is_in_memory {
            return Ok(ModuleSource::Path(path.to_owned()));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(path).map_err(RecordingError::file(path))?;
        let companion = module.companion.map(|file| Ok(self.text_of(file)?.into_bytes()));
        Ok(ModuleSource::Memory { name, bytes, companion: companion.transpose()? })
    }

    fn input(&self, input: &Input) -> Result<String, RecordingError> {
        let path = input.file.map(|file| self.file(file)).transpose()?;
        let path = path.map(|path| path.display().to_string()).unwrap_or_default();
        let text = format!("{}{path}", input.text);
        // No other file of this machine.
        let named = values::file_of_input(&text).map(|(_, named)| named.display().to_string());
        if named.is_some_and(|named| named != path) {
            let what = format!("the input {text:?} names a file that is not in it");
            return Err(self.damaged(&what));
        }
        Ok(text)
    }

    fn text_of(&self, file: usize) -> Result<String, RecordingError> {
        let path = self.file(file)?;
        std::fs::read_to_string(path).map_err(RecordingError::file(path))
    }

    fn file(&self, number: usize) -> Result<&Path, RecordingError> {
        let known = self.files.get(number).map(PathBuf::as_path);
        known.ok_or_else(|| self.damaged(&format!("there is no file {number}")))
    }

    fn damaged(&self, what: &str) -> RecordingError {
        let (path, what) = (self.path.clone(), what.to_owned());
        RecordingError::Damaged { path, offset: HEADER, what }
    }
}

/// A recording that is read chunk by chunk.
struct Reading<'a> {
    path: &'a Path,
    length: usize,
    folder: TempDir,
    files: Vec<PathBuf>,
    launch: Option<Launch>,
    expected: Expected,
    end: Option<End>,
}

impl<'a> Reading<'a> {
    fn begin(path: &'a Path, length: usize) -> Result<Self, RecordingError> {
        let folder = tempfile::tempdir().map_err(RecordingError::file(std::env::temp_dir()))?;
        let (files, expected) = (Vec::new(), Expected::default());
        Ok(Self { path, length, folder, files, launch: None, expected, end: None })
    }

    fn add(&mut self, chunk: Chunk<'_>) -> Result<(), RecordingError> {
        let (tag, offset, payload) = match chunk {
            Chunk::Whole { tag, offset, payload } => (tag, offset, payload),
            Chunk::CutShort => return Ok(()),
            Chunk::Damaged { offset } => {
                return Err(self.damaged(offset, "its checksum is another"));
            }
        };
        match tag {
            FILE => self.unpack(offset, payload)?,
            LAUNCH => {
                let launch: Launch = self.json(offset, payload)?;
                self.keep_debug_files(&launch)?;
                self.launch = Some(launch);
            }
            PART => {
                let part = postcard::from_bytes::<Part>(payload);
                let part = part.map_err(|error| self.damaged(offset, &error.to_string()))?;
                self.expected.left.extend(part.left);
                self.expected.calls.extend(part.calls);
                self.expected.marks.extend(part.mark.map(|mark| RunMark {
                    turns: mark.turns,
                    depth: mark.depth,
                    offset: mark.offset,
                    state: mark.state,
                }));
            }
            END => self.end = Some(self.json(offset, payload)?),
            // Later versions may add what this one does not need.
            _ => {}
        }
        Ok(())
    }

    /// Writes a file into the folder, in a folder with its number.
    fn unpack(&mut self, offset: usize, payload: &[u8]) -> Result<(), RecordingError> {
        let split = payload
            .split_first_chunk()
            .and_then(|(length, rest)| rest.split_at_checked(u32::from_le_bytes(*length) as usize));
        let (name, bytes) = split.ok_or_else(|| self.damaged(offset, "it has no name"))?;
        let name = String::from_utf8_lossy(name);
        // Nothing but a name, whatever is written there.
        let name = Path::new(&*name).file_name().unwrap_or("file".as_ref());
        let folder = self.folder.path().join(self.files.len().to_string());
        std::fs::create_dir(&folder).map_err(RecordingError::file(&folder))?;
        let path = folder.join(name);
        std::fs::write(&path, bytes).map_err(RecordingError::file(&path))?;
        self.files.push(path);
        Ok(())
    }

    /// Debug files lie beside their modules.
    fn keep_debug_files(&self, launch: &Launch) -> Result<(), RecordingError> {
        for module in &launch.modules {
            let Some(debug_file) = module.debug_file else { continue };
            let files = (self.files.get(module.file), self.files.get(debug_file));
            let (Some(module), Some(debug_file)) = files else { continue };
            let beside = debuginfo::DebugFile::path_beside(module);
            std::fs::rename(debug_file, &beside).map_err(RecordingError::file(&beside))?;
        }
        Ok(())
    }

    fn json<T: DeserializeOwned>(&self, offset: usize, text: &[u8]) -> Result<T, RecordingError> {
        serde_json::from_slice(text).map_err(|error| self.damaged(offset, &error.to_string()))
    }

    fn damaged(&self, offset: usize, what: &str) -> RecordingError {
        RecordingError::Damaged { path: self.path.to_owned(), offset, what: what.to_owned() }
    }

    fn finish(self) -> Result<Recorded, RecordingError> {
        let Self { path, length, folder, files, launch, expected, end } = self;
        let path = path.to_owned();
        let Some(launch) = launch else { return Err(RecordingError::NoProgram { path, length }) };
        let cut_short = end.is_none().then_some(length);
        let folder = Arc::new(folder);
        Ok(Recorded { path, launch, folder, files, expected, end, cut_short })
    }
}
