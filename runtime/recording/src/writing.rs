//! A run becomes a file while it goes on, so that a process that is killed leaves what it has done.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use debug::{Debugger, LaunchOptions, ModuleSource, RunLog, RunPart, StopReason};
use debuginfo::DebugFile;
use hal::{DispatchResult, Export, NativeCode, ResultSink};
use twox_hash::XxHash3_64;
use vmfb::FileBytes;

use crate::RecordingError;
use crate::chunks::{Tag, write_chunk, write_header};
use crate::contents::{
    ABOUT, Archive, END, End, FILE, FileNumber, Input, LAUNCH, Launch, Limits, Mark, Module, PART,
    Part, RESULT, ROWS, Source,
};
use crate::results::{self, About, Answer, Code, halves};
use crate::rows::Rows;

/// Writes a recording.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    out: Arc<Mutex<Output>>,
}

impl Writer {
    /// Begins a recording of a program that was loaded with these options and has not begun.
    ///
    /// # Errors
    /// The file cannot be written, or the program has something that no file holds.
    pub fn begin(
        path: &Path,
        options: &LaunchOptions,
        debugger: &mut Debugger,
    ) -> Result<Self, RecordingError> {
        let file = File::create(path).map_err(RecordingError::file(path))?;
        let out = BufWriter::new(file);
        let mut program = Program { out, path, files: 0, known: HashMap::new() };
        write_header(&mut program.out).map_err(RecordingError::file(path))?;
        let launch = program.launch(options, debugger)?;
        program.chunk(LAUNCH, &[json(&launch).as_slice()])?;
        program.out.flush().map_err(RecordingError::file(path))?;
        let out = Arc::new(Mutex::new(Output { out: program.out, error: None, lost: None }));
        debugger.set_run_log(Some(Box::new(Log(out.clone()))));
        Ok(Self { path: path.to_owned(), out })
    }

    /// Keeps what each dispatch leaves, too, from now on. It is called before the run begins.
    pub fn keep_results(&self, debugger: &Debugger) {
        let log = Log(self.out.clone());
        log.about(&About::default());
        let sink = ResultLog { log, answered: Mutex::default(), loaded: Mutex::default() };
        history(debugger).set_result_sink(Some(Arc::new(sink)));
    }

    /// Ends the recording of a run that has ended so.
    ///
    /// # Errors
    /// Not all of it could be written.
    pub fn end(self, debugger: &mut Debugger, reason: &StopReason) -> Result<(), RecordingError> {
        debugger.set_run_log(None);
        history(debugger).set_result_sink(None);
        let failure = match reason {
            StopReason::Failed(failure) => Some(failure.status.to_string()),
            _ => None,
        };
        let mut out = lock(&self.out);
        let lost = out.lost.take();
        if reason.is_final() {
            out.add(END, &json(&End { failure, lost }));
        }
        out.error.take().map_or(Ok(()), |error| Err(RecordingError::file(&self.path)(error)))
    }
}

/// What a recording begins with: everything that the program is read from.
struct Program<'a> {
    out: BufWriter<File>,
    path: &'a Path,
    files: FileNumber,
    /// The files of inputs. Several may name one, and go on where the last has ended.
    known: HashMap<PathBuf, FileNumber>,
}

impl Program<'_> {
    fn launch(
        &mut self,
        options: &LaunchOptions,
        debugger: &Debugger,
    ) -> Result<Launch, RecordingError> {
        let config = &options.host;
        if !config.plugins.is_empty() {
            let text = "a program with executable plugins cannot be recorded in a file";
            return Err(RecordingError::Unsupported(text.to_owned()));
        }
        let modules = options.modules.iter();
        let modules = modules.map(|it| self.module(it, options.debug_directory.as_deref()));
        let modules = modules.collect::<Result<_, _>>()?;
        let inputs = options.inputs.iter().map(|text| self.input(text));
        let limits = &config.limits;
        Ok(Launch {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            modules,
            libraries: config.libraries.iter().map(|it| it.name().to_owned()).collect(),
            function: options.function.clone(),
            inputs: inputs.collect::<Result<_, _>>()?,
            sources: self.sources(debugger)?,
            parameters: config.parameters.opened().map(archive).collect::<Result<_, _>>()?,
            device: config.device.name().to_owned(),
            more_devices: config.more_devices.iter().map(|it| it.name().to_owned()).collect(),
            threads: debugger.program().host().device().concurrency(),
            refuses_machine_code: config.native_code == NativeCode::Refused,
            imitates_narrow_calls: config.imitates_narrow_calls,
            is_guarded: config.is_guarded,
            limits: Limits {
                steps: limits.fuel,
                memory: limits.allocation_bytes,
                call_depth: limits.stack_depth,
            },
        })
    }

    fn module(
        &mut self,
        source: &ModuleSource,
        debug_directory: Option<&Path>,
    ) -> Result<Module, RecordingError> {
        match source {
            ModuleSource::Path(path) => {
                let bytes = read(path)?;
                let file = self.file(path, &bytes)?;
                let bytes = FileBytes::from(bytes);
                // One that cannot be used says so where the program is debugged.
                let debug_file = DebugFile::for_module(path, &bytes, debug_directory);
                let debug_file = debug_file.ok().flatten();
                let debug_file = debug_file.map(|it| self.file(it.path(), &read(it.path())?));
                let debug_file = debug_file.transpose()?;
                Ok(Module { file, debug_file, companion: None, is_in_memory: false })
            }
            ModuleSource::Memory { name, bytes, companion, debug_file } => {
                let file = self.file(Path::new(name), bytes.owned())?;
                let text = companion.as_ref().map(|text| self.file(Path::new("companion"), text));
                let companion = text.transpose()?;
                let debug_file = debug_file.as_ref();
                let debug_file =
                    debug_file.map(|it| self.file(it.name(), it.bytes().owned())).transpose()?;
                Ok(Module { file, debug_file, companion, is_in_memory: true })
            }
        }
    }

    fn input(&mut self, text: &str) -> Result<Input, RecordingError> {
        let Some((before, path)) = values::file_of_input(text) else {
            return Ok(Input { text: text.to_owned(), file: None });
        };
        let file = match self.known.get(path) {
            Some(known) => *known,
            None => self.file(path, &read(path)?)?,
        };
        self.known.insert(path.to_owned(), file);
        Ok(Input { text: before.to_owned(), file: Some(file) })
    }

    /// The sources that were read from files of their own. Others are in debug files.
    fn sources(&mut self, debugger: &Debugger) -> Result<Vec<Source>, RecordingError> {
        let program = debugger.program();
        let files = program.source_files().into_iter().filter(|it| it.path.is_some());
        let texts = files.filter_map(|it| Some((program.source_text(&it.file)?, it.file)));
        let sources = texts.map(|(text, name)| {
            Ok(Source { file: self.file(Path::new(&name), text.as_bytes())?, name })
        });
        sources.collect()
    }

    fn file(&mut self, path: &Path, bytes: &[u8]) -> Result<FileNumber, RecordingError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let length = u32::try_from(name.len()).unwrap_or(0).to_le_bytes();
        self.chunk(FILE, &[&length, name.as_bytes(), bytes])?;
        self.files += 1;
        Ok(self.files - 1)
    }

    fn chunk(&mut self, tag: Tag, payload: &[&[u8]]) -> Result<(), RecordingError> {
        write_chunk(&mut self.out, tag, payload).map_err(RecordingError::file(self.path))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, RecordingError> {
    std::fs::read(path).map_err(RecordingError::file(path))
}

fn archive((scope, path): (&str, &Path)) -> Result<Archive, RecordingError> {
    let absolute = std::path::absolute(path).map_err(RecordingError::file(path))?;
    let (length, digest) = digest_of(path)?;
    Ok(Archive { scope: scope.to_owned(), path: absolute.display().to_string(), length, digest })
}

/// Length and digest of a file, which is read piece by piece.
pub(crate) fn digest_of(path: &Path) -> Result<(u64, String), RecordingError> {
    let mut file = File::open(path).map_err(RecordingError::file(path))?;
    let (mut digest, mut length) = (XxHash3_64::new(), 0);
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece).map_err(RecordingError::file(path))? {
            0 => return Ok((length, format!("{:016x}", digest.finish()))),
            count => {
                digest.write(&piece[..count]);
                length += count as u64;
            }
        }
    }
}

/// The file, and why writing to it has failed, if it has.
#[derive(Debug)]
struct Output {
    out: BufWriter<File>,
    error: Option<io::Error>,
    /// Why there are no more parts, if there are none.
    lost: Option<String>,
}

impl Output {
    /// Adds a chunk, and hands it to the system: the process may be killed.
    fn add(&mut self, tag: Tag, payload: &[u8]) {
        if self.error.is_none() {
            let written = write_chunk(&mut self.out, tag, &[payload]);
            self.error = written.and_then(|()| self.out.flush()).err();
        }
    }
}

fn lock(out: &Mutex<Output>) -> std::sync::MutexGuard<'_, Output> {
    // Chunks are added whole, so a panic in another thread does not spoil the file.
    out.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Log(Arc<Mutex<Output>>);

impl Log {
    fn about(&self, about: &About) {
        lock(&self.0).add(ABOUT, &postcard::to_allocvec(about).unwrap_or_default());
    }
}

/// Takes the results of a run.
struct ResultLog {
    log: Log,
    /// What is in the file already.
    answered: Mutex<HashSet<Answer>>,
    loaded: Mutex<HashSet<u128>>,
}

impl ResultSink for ResultLog {
    fn loaded(&self, format: &str, digest: u128, exports: &[Export]) {
        let is_new = self.loaded.lock().unwrap_or_else(PoisonError::into_inner).insert(digest);
        if is_new {
            let (format, exports) = (format.to_owned(), exports.to_vec());
            let executables = vec![Code { format, digest: halves(digest), exports }];
            self.log.about(&About { executables, ..About::default() });
        }
    }

    fn answered(&self, device: &str, category: &str, key: &str, answer: Option<i64>) {
        let [device, category, key] = [device, category, key].map(str::to_owned);
        let answer = Answer { device, category, key, answer };
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        if answered.insert(answer.clone()) {
            self.log.about(&About { answers: vec![answer], ..About::default() });
        }
    }

    fn ran(&self, number: u64, result: DispatchResult) {
        let payload = results::payload(number, &result);
        lock(&self.log.0).add(RESULT, &payload);
    }
}

fn history(debugger: &Debugger) -> &hal::History {
    debugger.program().host().device().history()
}

impl RunLog for Log {
    fn add(&mut self, part: RunPart) {
        let RunPart { left, rows, calls, mark } = part;
        let mark = mark.map(|it| {
            let debug::RunMark { turns, depth, offset, state } = it;
            Mark { turns, depth, offset, state }
        });
        // Numbers and bytes can be written, always.
        let calls = calls.iter().map(|call| &**call).collect();
        let bytes = postcard::to_allocvec(&Part { left, calls, mark }).unwrap_or_default();
        let mut out = lock(&self.0);
        out.add(PART, &bytes);
        if !rows.is_empty() {
            out.add(ROWS, &postcard::to_allocvec(&Rows::of(&rows)).unwrap_or_default());
        }
    }

    fn end_early(&mut self, reason: String) {
        lock(&self.0).lost = Some(reason);
    }
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    // Of text, numbers and lists only.
    serde_json::to_vec(value).unwrap_or_default()
}
