//! The program: modules linked to each other, with their debug information.
//!
//! A [`Program`] does not change while it runs; everything that does (globals, breakpoints, frames)
//! is elsewhere. So it can be read while an invocation is borrowed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use debuginfo::{
    DebugFile, DebugInfo, DispatchInterface, FileId, NamedPosition, SourceMap, SourcePosition,
    WorkgroupCount,
};
use hal::{Config, Host, StandIns};
use vm::{
    Context, ContextBuilder, FunctionId, Invocation, ModuleIndex, ModuleKind, Position, Ref,
    Status, Value,
};
use vmfb::{FunctionOrdinal, Module, RodataOrdinal};

use super::dispatch_memory::ProgramTexts;
use super::files::{ChangedFile, ReadFile};
use super::launch::{LaunchError, LaunchOptions};
use super::level::Level;
use super::module::LoadedModule;
use super::parameter_types::ParameterTypes;
use super::reader::{DamagedCompanion, LoadedParts, ReadCompanion, load_module};
use crate::twins::maker::{NoBytecode, TwinMaker};
use crate::twins::stand_ins::{DeviceStandIns, StandInOptions};
use crate::view::frame::SourceLine;

/// The functions of a program by what runs them.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// The functions that the entry function runs, including itself.
    pub(crate) running: HashSet<FunctionId>,
    /// The functions that initialisers run.
    pub(crate) initializing: HashSet<FunctionId>,
    /// The exported functions that run each function; computed on demand.
    pub(super) exports: OnceLock<HashMap<FunctionId, BTreeSet<String>>>,
}

/// The function that is called, with its arguments.
pub(crate) struct Called {
    entry: FunctionId,
    arguments: Vec<Value>,
    argument_names: OnceLock<Vec<String>>,
}

/// Why a module of bytecode is not taken into the program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotMet {
    /// No module has the number.
    #[error("there is no such module")]
    NoModule,
    /// What is known of it cannot be read.
    #[error(transparent)]
    Companion(#[from] DamagedCompanion),
}

/// The program under the debugger.
pub struct Program {
    pub(crate) modules: Vec<LoadedModule>,
    host: Host,
    /// The bytecode of dispatches whose device is not here.
    stand_ins: Option<Arc<DeviceStandIns>>,
    source_directories: Vec<PathBuf>,
    sources_within: Option<Vec<PathBuf>>,
    never_compiles: bool,
    source_map: SourceMap,
    sources: HashMap<String, String>,
    called: Called,
    is_called_from_outside: bool,
    pub(crate) reach: OnceLock<Reach>,
    /// The lines of each file that have code; cleared when modules are added.
    pub(crate) coded: Mutex<HashMap<String, Arc<BTreeSet<u32>>>>,
    notes: Vec<String>,
    pub(crate) files: Vec<ReadFile>,
}

impl Called {
    fn new(entry: FunctionId, arguments: Vec<Value>) -> Self {
        Self { entry, arguments, argument_names: OnceLock::new() }
    }
}

impl Program {
    /// Whether what dispatches leave comes from a recording, in the place of running their code.
    #[must_use]
    pub fn has_recorded_results(&self) -> bool {
        self.host.device().history().results().is_some()
    }

    pub(crate) fn load(options: LaunchOptions) -> Result<(Self, Context), LaunchError> {
        let mut loaded = Vec::new();
        for source in options.modules {
            loaded.push(load_module(source, options.debug_directory.as_deref())?);
        }
        let stand_ins = DeviceStandIns::for_program(
            loaded.iter().map(LoadedParts::stand_in_candidate),
            &StandInOptions {
                iree_compile: options.iree_compile.clone(),
                never_compiles: options.never_compiles,
                announcer: options.announcer.clone(),
            },
            &options.host,
            &|| options.cancellation.is_cancelled(),
        )?;
        let host = Host::new(&Config {
            stand_ins: stand_ins.clone().map(|it| it as Arc<dyn StandIns>),
            ..options.host.clone()
        });
        host.device().allocator().record();
        let program = loaded.iter().map(|parts| &**parts.verified.module());
        let natives = hal::modules_for(&host, program).into_iter();
        let builder = natives.fold(host.context().inspected(), ContextBuilder::add_native);
        let modules = loaded.iter().map(|parts| parts.verified.clone());
        let mut context = modules.fold(builder, ContextBuilder::add_bytecode).link()?;
        let indices: Vec<ModuleIndex> = context
            .modules()
            .filter(|(_, _, kind)| matches!(kind, ModuleKind::Bytecode(_)))
            .map(|(index, _, _)| index)
            .collect();
        let mut modules = Vec::new();
        for bytecode in stand_ins.iter().flat_map(|it| it.bytecode()) {
            hal::attach_bytecode(&mut context, bytecode.data());
        }
        let mut notes: Vec<String> = stand_ins.iter().map(|it| it.note()).collect();
        let parameters = &*options.host.parameters;
        let archives = parameters.sources();
        let mut files: Vec<ReadFile> =
            archives.map(|archive| ReadFile::new(archive.bytes().clone())).collect();
        for (parts, index) in loaded.into_iter().zip(indices) {
            hal::attach_nested_modules(&mut context, index);
            let module = Arc::clone(parts.verified.module());
            let info = DebugInfo::load(&module, parts.companion.as_ref());
            let info = info.with_source_roots(options.source_directories.clone());
            let mut info = info.with_source_map(options.source_map.clone());
            if let Some(folders) = &options.sources_within {
                info = info.with_sources_within(folders.clone());
            }
            if let Some(file) = &parts.debug_file {
                info = info.with_debug_file(file.clone());
                notes.extend(info.changed_sources());
                let fault = info.python_fault().map(|fault| {
                    format!("the lines of Python in the debug file are not shown: {fault}")
                });
                notes.extend(fault);
            }
            set_sources(&mut info, &options.sources);
            if parameters.has_types() {
                let types = ParameterTypes::of(parts.flow.as_deref(), &info);
                types.check(parameters)?;
            }
            if let Some(text) = parts.companion_text {
                info = info.with_companion_text(text, &listing_name(&modules, module.name()));
            }
            notes.extend(parts.notes);
            let files_named = info.files().map(|(id, _)| id);
            notes.extend(files_named.filter_map(|id| info.foreign_model(id)));
            files.extend(parts.files);
            let messages = info.completeness().messages();
            notes.extend(messages.iter().map(|text| format!("module {}: {text}", module.name())));
            let narrow = vm::narrow_calls_note(&module);
            notes.extend(narrow.filter(|_| !host.imitates_narrow_calls()));
            let mut loaded = LoadedModule::new(index, module, info);
            loaded.path = parts.path;
            loaded.debug_file = parts.debug_file;
            loaded.nested = parts.nested;
            loaded.interfaces = parts.interfaces;
            loaded.dispatch_sources = parts.dispatch_sources;
            if let Some(flow) = &parts.flow {
                let (with_tensors, read) = loaded.with_tensors(flow, parts.input.as_deref());
                loaded = with_tensors;
                let name = loaded.module.name();
                let note = |error| format!("module {name}: tensors have no names: {error}");
                notes.extend(read.err().map(note));
            }
            modules.push(loaded);
        }
        let texts = ProgramTexts::new(modules.iter().map(|it| Arc::clone(&it.interfaces)));
        host.device().history().set_texts(Arc::new(texts));
        let main = modules.last().ok_or(LaunchError::NoModule)?;
        let is_called_from_outside = options.is_called_from_outside;
        let called = if is_called_from_outside {
            // Until the first call, no function is the entry.
            Called::new(FunctionId { module: main.index, function: FunctionOrdinal(0) }, Vec::new())
        } else {
            let entry = entry_function(&context, main, options.function.as_deref())?;
            let signature = context.signature(entry).unwrap_or_default();
            let (inputs, files) = (&options.inputs, &options.input_files);
            let arguments = values::parse_inputs_from(&host, &signature, inputs, files);
            Called::new(
                entry,
                arguments.map_err(|error| {
                    LaunchError::Inputs(format!("{error}; the function takes {signature}"))
                })?,
            )
        };
        let source_directories = options.source_directories;
        let sources_within = options.sources_within;
        let never_compiles = options.never_compiles;
        let source_map = options.source_map;
        let sources = options.sources;
        let mut program = Self {
            modules,
            host,
            stand_ins,
            source_directories,
            sources_within,
            never_compiles,
            source_map,
            sources,
            called,
            is_called_from_outside,
            reach: OnceLock::new(),
            coded: Mutex::default(),
            notes,
            files,
        };
        program.meet_modules(&context);
        Ok((program, context))
    }

    /// The level that the program is shown at unless the user chooses another: Python if it is
    /// known how that made the program, the model if its program of tensors is known, else the
    /// source.
    #[must_use]
    pub fn own_level(&self) -> Level {
        if self.modules.iter().any(|it| it.info.has_python()) {
            return Level::Python;
        }
        let is_model = self.modules.iter().any(LoadedModule::has_tensors);
        if is_model { Level::Model } else { Level::Source }
    }

    /// The arguments of the entry function.
    pub(crate) fn arguments(&self) -> &[Value] {
        &self.called.arguments
    }

    /// Whether its functions are called from outside, one after the other.
    #[must_use]
    pub fn is_called_from_outside(&self) -> bool {
        self.is_called_from_outside
    }

    /// The module whose functions are called.
    pub(crate) fn main_module(&self) -> Option<&LoadedModule> {
        self.modules.iter().rfind(|module| !module.is_nested && !module.is_twin)
    }

    /// The modules that were loaded, as files; the functions of the last one are called.
    pub fn files_loaded(&self) -> impl Iterator<Item = &Arc<Module>> {
        let loaded = self.modules.iter().filter(|module| !module.is_nested && !module.is_twin);
        loaded.map(|it| &it.module)
    }

    /// The names that the source of a loaded file gives to the arguments of one of its exports.
    #[must_use]
    pub fn written_arguments(&self, file: &Arc<Module>, export: &str) -> Option<Vec<String>> {
        let mut modules = self.modules.iter();
        modules.find(|it| Arc::ptr_eq(&it.module, file))?.info.written_arguments(export)
    }

    /// Makes another function the entry; returns the one before.
    pub(crate) fn set_call(&mut self, entry: FunctionId, arguments: Vec<Value>) -> Called {
        std::mem::replace(&mut self.called, Called::new(entry, arguments))
    }

    /// Goes back to the entry before.
    pub(crate) fn restore_call(&mut self, called: Called) {
        self.called = called;
    }

    /// The host of the program: its device and native modules.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Whether memory is guarded, so that the reads and writes of dispatches are checked.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.host().device().allocator().is_guarding()
    }

    /// Adds modules that were attached to the context. Returns whether there were any.
    pub(crate) fn meet_modules(&mut self, context: &Context) -> bool {
        let known = self.modules.len();
        for (index, _, kind) in context.modules() {
            let ModuleKind::Bytecode(module) = kind else { continue };
            if self.module(index).is_none() {
                let attached = self.attached_module(context, index, module);
                self.modules.push(attached);
            }
        }
        let has_more = self.modules.len() > known;
        if has_more {
            self.coded = Mutex::default();
        }
        has_more
    }

    /// A module for a device, with its part of the outer module's companion.
    fn attached_module(
        &self,
        context: &Context,
        index: ModuleIndex,
        module: &Arc<Module>,
    ) -> LoadedModule {
        let companions = self.modules.iter().flat_map(|outer| {
            let from = context.rodata(outer.index).iter().position(|segment| {
                context.attached_from(segment).any(|attached| attached == index)
            });
            let from = from.map(RodataOrdinal::from_index);
            let nested = outer.nested.iter().filter(move |(rodata, _)| from == Some(*rodata));
            nested.map(move |(_, nested)| (nested, outer.debug_file.clone()))
        });
        if let Some((nested, debug_file)) = { companions }.next() {
            return self.nested_module(index, module, Some(nested), debug_file);
        }
        let stand_in = self.stand_ins.as_ref().and_then(|it| it.companion(context, index));
        let companion = stand_in.and_then(|text| ReadCompanion::parse(module.name(), text).ok());
        self.nested_module(index, module, companion.as_ref(), self.any_debug_file())
    }

    /// Adds a module that was compiled to stand for machine code, with its debug companion.
    pub(crate) fn meet_twin(
        &mut self,
        context: &Context,
        index: ModuleIndex,
        companion: Vec<u8>,
    ) -> Result<(), NotMet> {
        let module = context.bytecode_module(index).ok_or(NotMet::NoModule)?;
        let companion = ReadCompanion::parse(module.name(), companion.into())?;
        let mut twin = self.nested_module(index, module, Some(&companion), self.any_debug_file());
        twin.is_twin = true;
        self.modules.push(twin);
        self.coded = Mutex::default();
        Ok(())
    }

    /// The bytecode of a dispatch that the module which recorded it has beside its machine code:
    /// the bytecode's module, its bytes, and its count of workgroups.
    pub(crate) fn own_bytecode(
        &self,
        context: &Context,
        module: Option<ModuleIndex>,
        export: &str,
    ) -> Option<(ModuleIndex, Arc<vm::Buffer>, WorkgroupCount)> {
        let outer = self.module(module?)?;
        let counts = outer.debug_file.as_ref()?.bytecode_counts()?;
        let count = WorkgroupCount::parse(&counts, export)?;
        let found = context.rodata(outer.index).iter().find_map(|segment| {
            let Ref::Buffer(data) = segment else { return None };
            let mut attached = context.attached_from(segment);
            let module = attached.find(|index| {
                let module = context.bytecode_module(*index);
                module.is_some_and(|module| module.export_named(export).is_some())
            })?;
            Some((module, data.clone()))
        });
        found.map(|(module, data)| (module, data, count))
    }

    /// The first debug file of the program.
    fn any_debug_file(&self) -> Option<DebugFile> {
        self.modules.iter().find_map(|module| module.debug_file.clone())
    }

    /// The sources of a module with a dispatch, to make bytecode of it.
    pub(crate) fn twin_maker(
        &self,
        module: Option<ModuleIndex>,
        export: &str,
        compiler: Option<PathBuf>,
    ) -> Result<TwinMaker, NoBytecode> {
        let has_it = |it: &&LoadedModule| it.interfaces.of(export).is_some();
        let own = self.modules.iter().filter(|it| Some(it.index) == module).find(has_it);
        let found = own.or_else(|| self.modules.iter().find(has_it));
        let found = found.and_then(|it| Some((it, it.dispatch_sources.as_ref()?)));
        let (module, sources) = found.ok_or(NoBytecode::WithoutSources)?;
        let directory = module.path.as_deref().and_then(Path::parent).map(Path::to_owned);
        let debug_file = module.debug_file.clone();
        let (sources, never_compiles) = (sources.clone(), self.never_compiles);
        Ok(TwinMaker { sources, compiler, never_compiles, directory, debug_file })
    }

    /// A module for a device, with its companion.
    fn nested_module(
        &self,
        index: ModuleIndex,
        module: &Arc<Module>,
        nested: Option<&ReadCompanion>,
        debug_file: Option<DebugFile>,
    ) -> LoadedModule {
        let has_place = |export: &str, at: &NamedPosition| {
            let mut known =
                self.modules.iter().filter_map(|it| it.interfaces.of(export)).peekable();
            known.peek().is_none() || known.any(|it| it.has_place(at))
        };
        let companion = nested.map(|nested| &nested.companion);
        let info = DebugInfo::load_dispatches(module, companion, &has_place);
        let info = info.with_source_roots(self.source_directories.clone());
        let mut info = info.with_source_map(self.source_map.clone());
        if let Some(folders) = &self.sources_within {
            info = info.with_sources_within(folders.clone());
        }
        if let Some(file) = debug_file {
            info = info.with_debug_file(file);
        }
        set_sources(&mut info, &self.sources);
        if let Some(nested) = nested {
            let name = listing_name(&self.modules, module.name());
            info = info.with_companion_text(nested.text.clone(), &name);
        }
        let mut attached = LoadedModule::new(index, Arc::clone(module), info);
        attached.is_nested = true;
        attached
    }

    /// The names of known dispatches, loaded or not.
    pub fn dispatch_names(&self) -> impl Iterator<Item = &str> {
        let nested = self.modules.iter().filter(|module| module.is_nested);
        let loaded = nested.flat_map(|module| module.module.exports()).map(|it| it.name.as_str());
        loaded.chain(self.modules.iter().flat_map(|module| module.interfaces.names()))
    }

    /// The tensors that the dispatch with an export name reads and writes.
    pub(crate) fn dispatch_interface(&self, export: &str) -> Option<&DispatchInterface> {
        self.modules.iter().find_map(|module| module.interfaces.of(export))
    }

    /// The text of a dispatch's executable, as the compiler had it before it made code of it, after
    /// the aliases that it uses; none if it is not kept.
    #[must_use]
    pub fn executable_text(&self, export: &str) -> Option<String> {
        self.modules.iter().find_map(|module| {
            let sources = std::str::from_utf8(module.dispatch_sources.as_ref()?.owned()).ok()?;
            debuginfo::dispatch_text(sources, export)
        })
    }

    /// What is missing in the debug information, and how to get it.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The entry function: the one that is debugged.
    #[must_use]
    pub fn entry(&self) -> FunctionId {
        self.called.entry
    }

    /// The export name of the entry function.
    #[must_use]
    pub fn entry_name(&self) -> &str {
        let exports =
            self.module(self.called.entry.module).map_or(&[][..], |it| it.module.exports());
        let mut named =
            exports.iter().filter(|export| export.function == self.called.entry.function);
        named.next().map_or("", |export| &export.name)
    }

    /// The names of the entry function's arguments in its ABI, including fences and unnamed
    /// arguments.
    pub(crate) fn argument_names(&self) -> &[String] {
        self.called.argument_names.get_or_init(|| {
            let module = self.module(self.called.entry.module).map(|loaded| &loaded.module);
            let Some(function) =
                module.and_then(|module| module.function(self.called.entry.function))
            else {
                return Vec::new();
            };
            let signature = &function.signature;
            let attributes: Vec<(&str, &str)> =
                signature.attributes.iter().map(|it| (&*it.key, &*it.value)).collect();
            let cconv = signature.calling_convention.as_deref();
            let named = abi::explain::argument_names(cconv, &attributes);
            named.into_iter().map(|argument| argument.name).collect()
        })
    }

    /// The exported functions, except those that the runtime calls.
    #[must_use]
    pub fn export_names(&self) -> Vec<String> {
        let programs = self.modules.iter().filter(|module| !module.is_nested);
        let names = programs.flat_map(|it| it.module.exports()).map(|it| it.name.clone());
        names.filter(|name| !name.starts_with("__")).collect()
    }

    /// The modules' information about a file, by its name in the modules.
    pub(crate) fn files_named(&self, file: &str) -> impl Iterator<Item = (&DebugInfo, FileId)> {
        self.modules.iter().filter_map(move |module| {
            let (id, _) = module.info.files().find(|(_, name)| *name == file)?;
            Some((&module.info, id))
        })
    }

    /// The modules with their names and files, in load order.
    pub fn modules(&self) -> impl Iterator<Item = (ModuleIndex, &str, Option<&PathBuf>)> {
        self.modules.iter().map(|it| (it.index, it.module.name(), it.path.as_ref()))
    }

    pub(crate) fn entry_invocation(&self, context: &Context) -> Result<Invocation, Status> {
        let mut arguments = self.called.arguments.clone();
        let module = self.module(self.called.entry.module).map(|loaded| &loaded.module);
        if let Some(function) =
            module.and_then(|module| module.function(self.called.entry.function))
        {
            // The device finishes everything at once, so nothing has to wait for the fences.
            hal::append_fences(function, &mut arguments);
        }
        Invocation::new(context, self.called.entry, arguments)
    }

    pub(crate) fn module(&self, index: ModuleIndex) -> Option<&LoadedModule> {
        self.modules.iter().find(|module| module.index == index)
    }

    /// Whether an instruction is a block marker. A call executes the marker of the entry block,
    /// which is no place to stop.
    pub(crate) fn is_marker(&self, position: Position) -> bool {
        let Some(module) = self.module(position.function.module) else { return false };
        let code = module.module.function_bytecode(position.function.function);
        vmfb::decode(code, position.offset).is_ok_and(|it| it.op == vmfb::Op::Block)
    }

    /// The instruction after one, by its place.
    pub(crate) fn next(&self, position: Position) -> Option<Position> {
        let module = self.module(position.function.module)?;
        let code = module.module.function_bytecode(position.function.function);
        let offset = vmfb::decode(code, position.offset).ok()?.end;
        Some(Position { offset, ..position })
    }

    /// The name of a function, or `(native)`.
    #[must_use]
    pub fn function_label(&self, function: FunctionId) -> String {
        self.function_name(function).unwrap_or_else(|| "(native)".to_owned())
    }

    /// A line of a file, by the file's name in the modules or by any other name.
    pub(crate) fn source_named(&self, file: &str, line: u32) -> Option<SourceLine> {
        let found = self.modules.iter().find_map(|module| {
            let (_, files) = module.info.match_file(file)?;
            let file = *files.first()?;
            Some(module.source_line(SourcePosition { file, line, column: 1 }))
        });
        found.or_else(|| {
            let file = file.to_owned();
            Some(SourceLine { path: None, file, line, column: 1 })
        })
    }

    /// The files that have changed since the program was loaded.
    #[must_use]
    pub fn changed_files(&self) -> Vec<ChangedFile> {
        self.files.iter().filter_map(ReadFile::change).collect()
    }

    /// The name of a bytecode function.
    pub(crate) fn function_name(&self, function: FunctionId) -> Option<String> {
        let module = self.module(function.module)?;
        let known = module.info.function_name(function.function).map(str::to_owned);
        Some(known.unwrap_or_else(|| format!("@{}", function.function.0)))
    }
}

/// Hands sources in memory to the debug information that names them.
fn set_sources(info: &mut DebugInfo, sources: &HashMap<String, String>) {
    let files = (0..).map(FileId).zip(info.locations().files().to_vec());
    for (file, name) in files {
        if let Some(text) = sources.get(&*name) {
            info.set_source(file, text.clone());
        }
    }
}

/// The file name of a module's listing. It is unique, as modules may share a name.
fn listing_name(known: &[LoadedModule], module: &str) -> String {
    match known.iter().filter(|it| it.module.name() == module).count() {
        0 => format!("{module}.vm.mlir"),
        others => format!("{module}-{}.vm.mlir", others + 1),
    }
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
            // The second is the first with fences, for callers that wait themselves.
            [one, other] | [other, one] if *other == format!("{one}$async") => {
                entry_function(context, main, Some(one))
            }
            _ => Err(LaunchError::WhichFunction { module, exports: exports() }),
        },
    }
}
