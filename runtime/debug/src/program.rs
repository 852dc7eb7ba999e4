//! The program under the debugger: modules linked to each other, with what is known of their origin.
//!
//! A [`Program`] does not change while it runs; what changes (globals, breakpoints, frames) is in the
//! machine. So the stepping rules can read it while the machine is borrowed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use debuginfo::{Companion, DebugInfo, FileId, RegisterSlot, RegisterTypes, SourcePosition};
use hal::modules::Host;
use vm::{Context, FunctionId, Invocation, ModuleIndex, ModuleKind, Position, Status, Value};
use vmfb::print::{Disassembly, DisassemblyOptions, disassemble};
use vmfb::verify::VerifiedModule;
use vmfb::{FunctionOrdinal, LoadError, Module};

use crate::debugger::InterruptHandle;
use crate::globals::Globals;
use crate::view::SourceLine;

/// Where a module comes from.
#[derive(Clone, Debug)]
pub enum ModuleSource {
    /// A file; its debug companion, if any, lies beside it.
    Path(PathBuf),
    /// Bytes in memory.
    Memory {
        /// What to call it in messages.
        name: String,
        /// The module.
        bytes: Vec<u8>,
        /// The text of its debug companion.
        companion: Option<Vec<u8>>,
    },
}

/// What to debug.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    /// The modules in the order of registration: later ones see earlier ones. The last one is the
    /// main module.
    pub modules: Vec<ModuleSource>,
    /// The function to call; may be left out if the main module exports one only.
    pub function: Option<String>,
    /// Its inputs as `iree-run-module` takes them.
    pub inputs: Vec<String>,
    /// Directories in which source files are looked for, in order.
    pub source_directories: Vec<PathBuf>,
    /// Source files in memory, by the name that the modules know them by.
    pub sources: HashMap<String, String>,
    /// The device that the program sees.
    pub host: hal::modules::Config,
    /// What will stop the running program. A restarted program keeps listening to the same one.
    pub interrupt: InterruptHandle,
}

/// Why a program cannot be debugged.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is nothing to run.
    #[error("no module to debug; name a .vmfb or a .mlir file")]
    NoModule,
    /// A module cannot be loaded.
    #[error("{name}: {source}")]
    Load {
        /// The module.
        name: String,
        /// Why.
        source: LoadError,
    },
    /// A module's bytecode breaks the rules.
    #[error("{name} does not verify:{}", list(defects))]
    Verify {
        /// The module.
        name: String,
        /// One line a defect.
        defects: Vec<String>,
    },
    /// The modules do not fit together.
    #[error(transparent)]
    Link(#[from] vm::LinkError),
    /// No function was named, and there is not exactly one.
    #[error("name the function to debug; {module} exports:{}", list(exports))]
    WhichFunction {
        /// The main module.
        module: String,
        /// What could be named.
        exports: Vec<String>,
    },
    /// There is no such function.
    #[error("there is no function {function:?}; {module} exports:{}", list(exports))]
    NoFunction {
        /// What was named.
        function: String,
        /// The main module.
        module: String,
        /// What could be named.
        exports: Vec<String>,
    },
    /// The inputs do not fit the function.
    #[error("{0}")]
    Inputs(String),
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

/// A bytecode module of the program.
pub(crate) struct LoadedModule {
    pub(crate) index: ModuleIndex,
    pub(crate) module: Arc<Module>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) info: DebugInfo,
    listing: OnceLock<Disassembly>,
    globals: OnceLock<Globals>,
    register_types: Mutex<HashMap<FunctionOrdinal, Arc<RegisterTypes>>>,
}

impl LoadedModule {
    /// The disassembly, as `iree-dbg dump --output=disassembly --bytecode_offsets` prints it.
    pub(crate) fn listing(&self) -> &Disassembly {
        self.listing.get_or_init(|| {
            let options =
                DisassemblyOptions { bytecode_offsets: true, ..DisassemblyOptions::default() };
            disassemble(&self.module, &options)
        })
    }

    pub(crate) fn globals(&self) -> &Globals {
        self.globals.get_or_init(|| Globals::find(&self.module))
    }

    pub(crate) fn source_line(&self, place: SourcePosition) -> SourceLine {
        SourceLine {
            path: self
                .info
                .source_path(place.file)
                .map(|path| std::path::absolute(&path).unwrap_or(path)),
            file: self.info.locations().file(place.file).to_owned(),
            line: place.line,
            column: place.column,
        }
    }

    /// The typed registers that hold something before an instruction.
    pub(crate) fn registers(&self, position: Position) -> Vec<RegisterSlot> {
        let ordinal = position.function.function;
        let types = {
            let mut cache = self.register_types.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(
                cache
                    .entry(ordinal)
                    .or_insert_with(|| Arc::new(RegisterTypes::infer(&self.module, ordinal))),
            )
        };
        types.before(&self.module, ordinal, position.offset)
    }
}

/// What makes two instructions belong to the same line: the file, the line, and which inlined copy
/// of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LineKey {
    file: FileId,
    line: u32,
    instance: u32,
}

/// The program under the debugger.
pub struct Program {
    pub(crate) modules: Vec<LoadedModule>,
    entry: FunctionId,
    arguments: Vec<Value>,
    notes: Vec<String>,
}

impl Program {
    pub(crate) fn load(options: LaunchOptions) -> Result<(Self, Context), LaunchError> {
        let host = Host::new(&options.host);
        let mut verified_modules = Vec::new();
        let mut loaded = Vec::new();
        for source in options.modules {
            let (verified, path, companion, notes) = load_module(source)?;
            loaded.push((Arc::clone(verified.module()), path, companion, notes));
            verified_modules.push(verified);
        }
        let program = loaded.iter().map(|(module, ..)| &**module);
        let natives = host.modules_for(program).into_iter();
        let builder = natives.fold(Context::builder(), vm::ContextBuilder::add_native);
        let builder = verified_modules.into_iter().fold(builder, vm::ContextBuilder::add_bytecode);
        let context = builder.link()?;
        let indices: Vec<ModuleIndex> = context
            .modules()
            .filter(|(_, _, kind)| matches!(kind, ModuleKind::Bytecode(_)))
            .map(|(index, _, _)| index)
            .collect();
        let mut modules = Vec::new();
        let mut notes = Vec::new();
        for ((module, path, companion, module_notes), index) in loaded.into_iter().zip(indices) {
            let info = DebugInfo::load(&module, companion.as_ref());
            let mut info = info.with_source_roots(options.source_directories.clone());
            set_sources(&mut info, &options.sources);
            notes.extend(module_notes);
            let messages = info.completeness().messages();
            notes.extend(messages.iter().map(|text| format!("module {}: {text}", module.name())));
            modules.push(LoadedModule {
                index,
                module,
                path,
                info,
                listing: OnceLock::new(),
                globals: OnceLock::new(),
                register_types: Mutex::default(),
            });
        }
        let main = modules.last().ok_or(LaunchError::NoModule)?;
        let entry = entry_function(&context, main, options.function.as_deref())?;
        let signature = context.signature(entry).unwrap_or_default();
        let arguments =
            hal::inputs::parse_inputs(&host, &signature, &options.inputs).map_err(|error| {
                LaunchError::Inputs(format!("{error}; the function takes {signature}"))
            })?;
        Ok((Self { modules, entry, arguments, notes }, context))
    }

    /// What is missing in the debug information, and how to get it.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The function that is debugged.
    #[must_use]
    pub fn entry(&self) -> FunctionId {
        self.entry
    }

    /// The name that it is exported by.
    #[must_use]
    pub fn entry_name(&self) -> &str {
        let exports = self.module(self.entry.module).map_or(&[][..], |it| it.module.exports());
        let mut named = exports.iter().filter(|export| export.function == self.entry.function);
        named.next().map_or("", |export| &export.name)
    }

    /// The modules with their names and files, in load order.
    pub fn modules(&self) -> impl Iterator<Item = (ModuleIndex, &str, Option<&PathBuf>)> {
        self.modules.iter().map(|it| (it.index, it.module.name(), it.path.as_ref()))
    }

    pub(crate) fn entry_invocation(&self, context: &Context) -> Result<Invocation, Status> {
        Invocation::new(context, self.entry, self.arguments.clone())
    }

    pub(crate) fn module(&self, index: ModuleIndex) -> Option<&LoadedModule> {
        self.modules.iter().find(|module| module.index == index)
    }

    /// The source line that an instruction belongs to for stepping.
    pub(crate) fn line_of(&self, position: Position) -> Option<LineKey> {
        let module = self.module(position.function.module)?;
        let row = module.info.row_at(position.function.function, position.offset)?;
        let place = row.position?;
        Some(LineKey { file: place.file, line: place.line, instance: row.instance })
    }

    /// Whether a position is that of a block marker. A call executes the marker of the entry block;
    /// nobody wants to stop there.
    pub(crate) fn is_marker(&self, position: Position) -> bool {
        let Some(module) = self.module(position.function.module) else { return false };
        let code = module.module.function_bytecode(position.function.function);
        vmfb::decode(code, position.offset).is_ok_and(|it| it.op == vmfb::Op::Block)
    }

    /// Whether a function has a source map.
    pub(crate) fn has_lines(&self, function: FunctionId) -> bool {
        let Some(module) = self.module(function.module) else { return false };
        module.info.rows(function.function).iter().any(|row| row.position.is_some())
    }

    /// What people call a function, whether it is known by name or not.
    #[must_use]
    pub fn function_label(&self, function: FunctionId) -> String {
        self.function_name(function).unwrap_or_else(|| "(native)".to_owned())
    }

    /// Where the entry function was written.
    #[must_use]
    pub fn main_source(&self) -> Option<SourceLine> {
        self.source_of(self.entry)
    }

    /// Where a function was written, by its name.
    #[must_use]
    pub fn function_source(&self, name: &str) -> Option<SourceLine> {
        let position = *self.resolve_function(name).locations.first()?;
        self.source_of(position.function)
    }

    fn source_of(&self, function: FunctionId) -> Option<SourceLine> {
        let module = self.module(function.module)?;
        let known = module.info.function_position(function.function);
        let mut rows = module.info.rows(function.function).iter();
        let place = known.or_else(|| rows.find_map(|row| row.position))?;
        Some(module.source_line(place))
    }

    /// What people call a function.
    pub(crate) fn function_name(&self, function: FunctionId) -> Option<String> {
        let module = self.module(function.module)?;
        let known = module.info.function_name(function.function).map(str::to_owned);
        Some(known.unwrap_or_else(|| format!("@{}", function.function.0)))
    }
}

/// Hands sources in memory to the debug information that names them.
fn set_sources(info: &mut DebugInfo, sources: &HashMap<String, String>) {
    let files: Vec<(FileId, String)> =
        info.files().map(|(file, name)| (file, name.to_owned())).collect();
    for (file, name) in files {
        if let Some(text) = sources.get(&name) {
            info.set_source(file, text.clone());
        }
    }
}

type LoadedParts = (VerifiedModule, Option<PathBuf>, Option<Companion>, Vec<String>);

fn load_module(source: ModuleSource) -> Result<LoadedParts, LaunchError> {
    let (name, module, path) = match &source {
        ModuleSource::Path(path) => {
            (path.display().to_string(), Module::open(path), Some(path.clone()))
        }
        ModuleSource::Memory { name, bytes, .. } => {
            (name.clone(), Module::from_bytes(bytes.clone()), None)
        }
    };
    let module = module.map_err(|source| LaunchError::Load { name: name.clone(), source })?;
    let mut notes = Vec::new();
    let companion = match source {
        ModuleSource::Path(path) => Companion::beside(&path).unwrap_or_else(|error| {
            notes.push(error.to_string());
            None
        }),
        ModuleSource::Memory { companion, .. } => {
            companion.and_then(|text| match Companion::parse(&text) {
                Ok(companion) => Some(companion),
                Err(error) => {
                    notes.push(format!("the debug companion of {name} is damaged: {error}"));
                    None
                }
            })
        }
    };
    let verified = vmfb::verify::verify(module).map_err(|defects| LaunchError::Verify {
        name,
        defects: defects.iter().map(ToString::to_string).collect(),
    })?;
    Ok((verified, path, companion, notes))
}

fn entry_function(
    context: &Context,
    main: &LoadedModule,
    function: Option<&str>,
) -> Result<FunctionId, LaunchError> {
    let module = main.module.name().to_owned();
    let exports = || -> Vec<String> {
        let names = main.module.exports().iter().map(|export| export.name.clone());
        names.filter(|name| !name.starts_with("__")).collect()
    };
    match function {
        Some(name) => {
            if let Some((_, export)) = main.module.export_named(name) {
                return Ok(FunctionId { module: main.index, function: export.function });
            }
            context.lookup(name).ok_or_else(|| LaunchError::NoFunction {
                function: name.to_owned(),
                module,
                exports: exports(),
            })
        }
        None => match &exports()[..] {
            [only] => entry_function(context, main, Some(only)),
            _ => Err(LaunchError::WhichFunction { module, exports: exports() }),
        },
    }
}
