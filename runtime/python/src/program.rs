//! A program, as Python opens, calls and closes it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use abi::cconv::{Signature, ValueType};
use abi::explain::{CallForm, CallFormError};
use abi::signature::{Function, Slot, Type};
use dap_adapter::{Options, Reach, TcpServer, Token};
use debug::{Debugger, InterruptHandle, LaunchOptions, ModuleSource, ParameterTypes, Waiting};
use hal::{BufferView, Host, NativeLibrary};
use serde_json::{Value as Json, json};
use vm::{FunctionId, Status, StatusCode};
use vmfb::{Export, Module};

use crate::convert;
use crate::describe;
use crate::engine::{self, Shared, UnderWay};
use crate::error::Error;
use crate::imports::{Mailbox, PythonModule};
use crate::launch;
use crate::messages::{Call, Command, Failed, Message, Reply, Said, Serving, Ticket};
use crate::questions;
use crate::tensors::{self, Given};

/// How long a question waits for a program that runs on the thread of an editor's session.
const PATIENCE: Duration = Duration::from_secs(10);

/// The stack of a thread that runs a program.
pub(crate) const STACK: usize = 16 << 20;

/// A function that Python can call, or that the program calls in Python.
struct SharedFunction {
    function: FunctionId,
    signature: Signature,
    /// How it is called, or what is wrong with what the module says of that.
    form: Result<CallForm, CallFormError>,
}

/// A function of Python's, as the program declares it.
struct Import {
    arguments: CallForm,
    /// Its results, as arguments: Python gives them.
    results: CallForm,
    result_types: Vec<ValueType>,
}

/// An open program.
pub(crate) struct Program {
    commands: Sender<Command>,
    engine: Shared,
    interrupt: InterruptHandle,
    host: Host,
    exports: HashMap<String, SharedFunction>,
    /// By the number of the function of Python's.
    imports: Vec<Option<Import>>,
    described: Json,
    next: AtomicU64,
    /// The call of the initialisers.
    first: Mutex<Option<Receiver<Message>>>,
    /// What the debugger has to say about breakpoints, for the next message.
    log: Log,
    under_way: UnderWay,
    /// Hears when clients are no longer served.
    served: Mutex<Option<Receiver<()>>>,
}

/// The types that the modules of options take parameters for, by scope and name, as JSON.
///
/// # Errors
/// The options make no sense, or a module cannot be read.
pub(crate) fn parameter_types(options: &Json, memory: &[&[u8]]) -> Result<Json, Error> {
    let directory = options["debug_directory"].as_str().map(PathBuf::from);
    let roots = launch::texts(&options["source_directories"]).into_iter().map(PathBuf::from);
    let roots: Vec<PathBuf> = roots.collect();
    let mut found = json!({});
    for source in launch::modules(&options["modules"], memory)? {
        let (module, path) = match source {
            ModuleSource::Path(path) => (Module::open(&path), Some(path)),
            ModuleSource::Memory { bytes, .. } => (Module::from_bytes(bytes), None),
        };
        let module = module.map_err(|source| Error::Module { path: path.clone(), source })?;
        let (path, directory) = (path.as_deref(), directory.as_deref());
        for declared in ParameterTypes::of_module(&module, path, directory, &roots).declared() {
            let ty = &declared.tensor_type;
            found[&declared.scope][&declared.key] = json!({
                "element": ty.element_type.to_string(),
                "text": format!("tensor<{ty}>"),
            });
        }
    }
    Ok(found)
}

/// Lines that the debugger has logged.
type Log = Arc<Mutex<Vec<String>>>;

/// A call, until it is over.
pub(crate) struct Ongoing {
    program: Arc<Program>,
    ticket: Ticket,
    /// How the function is called; the initialisers have no results.
    form: CallForm,
    messages: Receiver<Message>,
    /// The function of Python's that the call waits for: its number and where its results go.
    asked: Option<(usize, Reply)>,
    /// Whether nothing more is heard of it.
    is_over: bool,
}

impl Program {
    /// Opens a program. `memory` are the modules that are given as bytes.
    ///
    /// # Errors
    /// The options make no sense, or the program cannot be loaded.
    pub(crate) fn open(options: &Json, memory: &[&[u8]]) -> Result<Self, Error> {
        let (mailbox, waiting) = (Mailbox::default(), Waiting::default());
        let interrupt = InterruptHandle::default();
        let imported = launch::texts(&options["imports"]);
        let libraries = libraries(&imported, &mailbox, &waiting)?;
        let launch = LaunchOptions {
            is_called_from_outside: true,
            waiting,
            interrupt: interrupt.clone(),
            ..launch::options(options, memory, libraries)?
        };
        let mut debugger = Debugger::load(launch)?;
        let log = Log::default();
        let lines = log.clone();
        debugger.set_log_sink(move |message| {
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(message.text);
        });
        let inspects = options["inspects"].as_bool().unwrap_or(false);
        debugger.set_inspecting(inspects);
        let host = debugger.program().host().clone();
        let main = debugger.program().files_loaded().last().cloned();
        let main = main.ok_or(Error::NoModule)?;
        let exports = main.exports().iter().filter(|it| !it.name.starts_with("__"));
        // Those that do not wait for what they do come after those that do.
        let (twins, waiting_ones): (Vec<_>, Vec<_>) =
            exports.partition(|it| it.name.ends_with("$async"));
        let exports = waiting_ones.into_iter().chain(twins);
        let mut described_exports = Vec::new();
        let exports = exports.filter_map(|export| {
            let (described, form, has_fences) = described(&debugger, &main, export)?;
            described_exports.push(described);
            let (function, mut signature) = debugger.export(&export.name)?;
            if has_fences {
                // The engine adds the fences.
                signature.arguments.truncate(signature.arguments.len().saturating_sub(2));
            }
            let known = SharedFunction { function, signature, form };
            Some((export.name.clone(), known))
        });
        let exports = exports.collect();
        let imports = imported.iter().map(|name| {
            let mut files = debugger.program().files_loaded();
            let found = files.find_map(|it| it.imports().iter().find(|it| it.full_name == *name));
            found.map(|it| import(&it.signature))
        });
        let imports: Vec<Option<Import>> = imports.collect();
        let unknown = imported.iter().zip(&imports).find(|(_, import)| import.is_none());
        if let Some((name, _)) = unknown {
            return Err(not_imported(&debugger, name));
        }
        let given = imports
            .iter()
            .map(|it| Some(describe::types(&it.as_ref()?.results.function.arguments)));
        let described = json!({
            "imports": given.collect::<Vec<_>>(),
            "name": main.name(),
            "exports": described_exports,
            "notes": debugger.program().notes(),
        });
        let (commands, inbox) = channel();
        let (initialised, first) = channel();
        let under_way = UnderWay::default();
        let calls = under_way.clone();
        let (engine, run) = engine::begin(debugger, inbox, mailbox, initialised, calls);
        let (waker, woken) = (commands.clone(), engine.clone());
        interrupt.wake_by(move || {
            let _ = waker.send(Command::Wake);
            woken.want();
        });
        std::thread::Builder::new()
            .name("iree-dbg".to_owned())
            .stack_size(STACK)
            .spawn(run)
            .map_err(Error::NoThread)?;
        Ok(Self {
            commands,
            engine,
            interrupt,
            host,
            exports,
            imports,
            described,
            next: AtomicU64::new(1),
            first: Mutex::new(Some(first)),
            log,
            under_way,
            served: Mutex::default(),
        })
    }

    /// The program's functions, as JSON.
    pub(crate) fn described(&self) -> &Json {
        &self.described
    }

    /// The call of the initialisers; later, a call that is over.
    pub(crate) fn initialisation(self: &Arc<Self>) -> Option<Ongoing> {
        let messages = self.first.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let form = CallForm::default();
        Some(Ongoing {
            program: self.clone(),
            ticket: 0,
            form,
            messages,
            asked: None,
            is_over: false,
        })
    }

    fn import_all(&self, given: &[Given<'_>]) -> Result<Vec<BufferView>, Error> {
        given.iter().map(|given| tensors::import(&self.host, given)).collect()
    }

    /// Begins a call: the function's name, and its arguments as a JSON array.
    ///
    /// # Errors
    /// There is no such function, or the arguments do not fit it.
    pub(crate) fn begin(
        self: &Arc<Self>,
        name: &str,
        parent: Option<Ticket>,
        arguments: &str,
        given: &[Given<'_>],
    ) -> Result<Ongoing, Error> {
        let known = self.exports.get(name);
        let known = known.ok_or_else(|| Error::NoFunction(name.to_owned()))?;
        let SharedFunction { function, signature, form } = known;
        let form = form
            .as_ref()
            .map_err(|source| Error::CallForm { name: name.to_owned(), source: source.clone() })?;
        let tensors = self.import_all(given)?;
        let types = &signature.arguments;
        let arguments = convert::arguments(&self.host, form, types, arguments, &tensors)?;
        drop(tensors);
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let (to, messages) = channel();
        let call = Call { ticket, parent, function: *function, arguments, to };
        // Its thread runs it, once it waits.
        let _ = self.commands.send(Command::Call(Box::new(call)));
        let form = form.clone();
        Ok(Ongoing { program: self.clone(), ticket, form, messages, asked: None, is_over: false })
    }

    fn tell(&self, command: Command) {
        // If the engine is gone, what waits for it hears that.
        let _ = self.commands.send(command);
        self.engine.want();
    }

    /// Asks about the program, which may be in the middle of a call.
    ///
    /// # Errors
    /// The question makes no sense here, or the program is closed.
    pub(crate) fn ask(&self, question: Json, given: &[Given<'_>]) -> Result<Said, Error> {
        let (to, answer) = channel();
        let given = given.iter().map(Given::to_tensor).collect::<Result<Vec<_>, Error>>()?;
        self.tell(Command::Ask(Box::new(move |debugger| {
            let _ = to.send(questions::answer(debugger, &question, given));
        })));
        self.interrupt.attend();
        match answer.recv_timeout(PATIENCE) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Disconnected) => Err(Error::Closed),
            Err(RecvTimeoutError::Timeout) => Err(Error::StandsStill),
        }
    }

    /// Lets clients debug the program; returns the address and the token, as JSON.
    ///
    /// # Errors
    /// The address cannot be listened on, or clients are served already.
    pub(crate) fn serve(&self, options: &Json) -> Result<Json, Error> {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        if served.is_some() {
            return Err(Error::Served);
        }
        let host = options["host"].as_str().unwrap_or("127.0.0.1");
        let port = options["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        let port = port.ok_or(Error::NoPort)?;
        let server = TcpServer::bind((host, port), Reach::Loopback)
            .map_err(|source| Error::NotListening { host: host.to_owned(), port, source })?;
        let address = server.local_addr().map_err(Error::NoAddress)?;
        let token = match &options["token"] {
            Json::String(text) => Some(Token::new(text).ok_or(Error::EmptyToken)?),
            Json::Bool(false) => None,
            _ => Some(Token::random().map_err(Error::NoToken)?),
        };
        let waits = options["wait"].as_bool().unwrap_or(true);
        let log = options["log"].as_str().map(PathBuf::from);
        let (ended, end) = channel();
        let options = Options { token: token.clone(), log };
        self.ask(json!({"what": "inspect", "inspects": true}), &[])?;
        self.tell(Command::Serve(Box::new(Serving { server, options, waits, ended })));
        self.interrupt.attend();
        *served = Some(end);
        Ok(json!({
            "host": address.ip().to_string(),
            "port": address.port(),
            "token": token.map(|token| token.to_string()),
        }))
    }

    /// No longer serves clients: they are told that the program is over. Does not wait for that.
    pub(crate) fn end_serving(&self) {
        self.tell(Command::EndServing);
        self.interrupt.recall();
    }

    /// Whether clients are still served.
    pub(crate) fn is_served(&self) -> bool {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(end) = &*served else { return false };
        let is_served = matches!(end.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty));
        if !is_served {
            *served = None;
        }
        is_served
    }

    /// Ends the program. Calls that are under way fail.
    pub(crate) fn close(&self) {
        self.tell(Command::Close);
        self.interrupt.recall();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.close();
    }
}

/// What a thread of Python's hears.
pub(crate) enum Heard {
    /// Nothing yet.
    Nothing,
    /// Something, as JSON with tensors.
    Said(Said),
}

impl Ongoing {
    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Whether nothing more is heard of it.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Waits for the next message, at most for about this long, and runs the program meanwhile.
    pub(crate) fn wait(&mut self, longest: Duration) -> Heard {
        let ended = |code, text: &str| {
            let status = Status::new(code, text);
            Message::Failed(Failed { status, frames: json!([]), is_cancelled: true })
        };
        let message = match self.heard(longest) {
            _ if self.is_over => ended(StatusCode::Cancelled, "the call was given up"),
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => return Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => {
                ended(StatusCode::Aborted, &Error::Closed.to_string())
            }
        };
        self.is_over |= matches!(message, Message::Done(_) | Message::Failed(_));
        let mut said = self.told(message).unwrap_or_else(|error| {
            let text = json!({"kind": "error", "message": error.to_string()});
            Said { text, tensors: Vec::new() }
        });
        let log =
            std::mem::take(&mut *self.program.log.lock().unwrap_or_else(PoisonError::into_inner));
        if !log.is_empty() {
            said.text["log"] = log.into();
        }
        Heard::Said(said)
    }

    fn heard(&self, longest: Duration) -> Result<Message, RecvTimeoutError> {
        if let Ok(message) = self.messages.try_recv() {
            return Ok(message);
        }
        self.program.engine.drive(self.ticket);
        self.messages.recv_timeout(longest)
    }

    fn told(&mut self, message: Message) -> Result<Said, Error> {
        Ok(match message {
            Message::Done(results) => {
                let mut said = convert::results(&self.form, results)?;
                said.text = json!({"kind": "done", "results": said.text});
                said
            }
            Message::Failed(Failed { status, frames, is_cancelled }) => {
                let text = json!({
                    "kind": "failed",
                    "code": status.code.name(),
                    "message": status.message,
                    "frames": frames,
                    "cancelled": is_cancelled,
                });
                Said { text, tensors: Vec::new() }
            }
            Message::Import { number, arguments, reply } => {
                let known = self.program.imports.get(number).and_then(Option::as_ref);
                let known = known.ok_or(Error::UndeclaredImport)?;
                self.asked = Some((number, reply));
                let mut said = convert::results(&known.arguments, arguments)?;
                said.text = json!({"kind": "import", "number": number, "arguments": said.text});
                said
            }
            Message::Stopped(mut said) => {
                said.text["kind"] = "stopped".into();
                said
            }
        })
    }

    /// The results of the function of Python's that the call waits for, as a JSON array.
    ///
    /// # Errors
    /// They do not fit the import; the call still waits.
    pub(crate) fn give(&mut self, results: &str, given: &[Given<'_>]) -> Result<(), Error> {
        let Some((number, reply)) = &self.asked else { return Ok(()) };
        let known = self.program.imports.get(*number).and_then(Option::as_ref);
        let known = known.ok_or(Error::NoImport)?;
        let tensors = self.program.import_all(given)?;
        let host = &self.program.host;
        let (function, types) = (&known.results, &known.result_types);
        let values = convert::arguments(host, function, types, results, &tensors)?;
        *reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(Ok(values));
        Ok(())
    }

    /// The function of Python's that the call waits for has raised an exception.
    pub(crate) fn raise(&mut self, text: &str) {
        if let Some((_, reply)) = &self.asked {
            let status = Status::new(StatusCode::Unknown, text);
            *reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(Err(status));
        }
    }

    /// Lets the program go on after Python code has run.
    pub(crate) fn go_on(&mut self) {
        self.asked = None;
        self.program.tell(Command::Answered(self.ticket));
    }

    /// Gives the call up. It fails soon, also if it stands still for an editor.
    pub(crate) fn cancel(&mut self) {
        if self.is_over {
            return;
        }
        self.program.tell(Command::Cancel(self.ticket));
        if self.program.under_way.has(self.ticket) {
            self.program.interrupt.recall();
        } else {
            // It waits for others, which go on; it never begins.
            self.program.interrupt.attend();
            self.is_over = true;
        }
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn libraries(
    imported: &[String],
    mailbox: &Mailbox,
    waiting: &Waiting,
) -> Result<Vec<Arc<dyn NativeLibrary>>, Error> {
    let mut by_module: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for (number, full_name) in imported.iter().enumerate() {
        let (module, name) = full_name
            .split_once('.')
            .ok_or_else(|| Error::ImportWithoutModule(full_name.clone()))?;
        by_module.entry(module.to_owned()).or_default().push((name.to_owned(), number));
    }
    let libraries = by_module.into_iter().map(|(name, functions)| {
        let (mailbox, waiting) = (mailbox.clone(), waiting.clone());
        Arc::new(PythonModule { name, functions, mailbox, waiting }) as Arc<dyn NativeLibrary>
    });
    Ok(libraries.collect())
}

/// An export of a program: itself as JSON, how it is called or what is wrong with what the module
/// says of that, and whether it has fences. `None` if it is no function.
pub(crate) fn described(
    debugger: &Debugger,
    main: &Arc<Module>,
    export: &Export,
) -> Option<(Json, Result<CallForm, CallFormError>, bool)> {
    let stated = &main.function(export.function)?.signature;
    let written = debugger.program().written_arguments(main, &export.name);
    let tensors = debugger.program().tensor_arguments(main, &export.name);
    let explained = describe::explained(stated, &written.unwrap_or_default(), &tensors);
    let described = describe::export(&export.name, stated, &explained);
    let form = CallForm::of(stated.calling_convention.as_deref(), &stated.pairs());
    let has_fences = explained.has_fences;
    let form = form.map(|form| CallForm { function: explained.function, ..form });
    Some((described, form, has_fences))
}

/// That a program does not import a function, and what it imports.
fn not_imported(debugger: &Debugger, name: &str) -> Error {
    let provided = ["hal.", "hal_inline.", "hal_loader.", "io_parameters.", "vmvx.", "check."];
    let files = debugger.program().files_loaded();
    let imports = files.flat_map(|file| file.imports().iter().map(|it| it.full_name.as_str()));
    let own = imports.filter(|it| !provided.iter().any(|module| it.starts_with(module)));
    Error::NotImported { name: name.to_owned(), known: own.map(str::to_owned).collect() }
}

fn import(signature: &vmfb::FunctionSignature) -> Import {
    let declared = describe::explained(signature, &[], &[]).function;
    let convention = signature.calling_convention.as_deref().unwrap_or_default();
    let types = Signature::parse(convention).unwrap_or_default();
    // A name or a keyword of a result means nothing to its function.
    let plain = |slot: Slot| Slot { name: None, keyword: false, ..slot };
    let mut results: Vec<Slot> = declared.results.iter().cloned().map(plain).collect();
    results.resize(types.results.len().max(results.len()), Slot::of(Type::Any));
    Import {
        arguments: Function { results: declared.arguments, ..Function::default() }.into(),
        results: Function { arguments: results, ..Function::default() }.into(),
        result_types: types.results,
    }
}
