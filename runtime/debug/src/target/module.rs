//! A bytecode module of the program, with its debug information.

use std::any::Any;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use debuginfo::{
    DebugFile, DebugInfo, DispatchInterfaces, FileId, Given, LocalValue, Recording, RegisterSlot,
    RegisterTypes, SourcePosition, SourceSteps, SourceText, TensorProgram, TensorSources,
    UnalignedProgram,
};
use vm::{FunctionId, ModuleIndex, Position};
use vmfb::print::{Disassembly, DisassemblyOptions, disassemble};
use vmfb::{BytecodeOffset, FileBytes, FunctionOrdinal, Module, RodataOrdinal};

use super::cache::{Cache, Scope};
use super::globals::Globals;
use super::level::Level;
use super::reader::ReadCompanion;
use super::tensors::{ModelLines, ModuleTensors};
use crate::view::frame::SourceLine;

/// A bytecode module of the program.
pub(crate) struct LoadedModule {
    pub(crate) index: ModuleIndex,
    pub(crate) module: Arc<Module>,
    pub(crate) path: Option<PathBuf>,
    /// Its debug file, if there is one for it.
    pub(crate) debug_file: Option<DebugFile>,
    pub(crate) info: DebugInfo,
    /// Whether it is code for a device, from inside another module.
    pub(crate) is_nested: bool,
    /// Whether it was compiled while the program runs, to stand for machine code.
    pub(crate) is_twin: bool,
    /// The debug companions of the modules inside it, by the rodata segment of the module.
    pub(super) nested: Vec<(RodataOrdinal, ReadCompanion)>,
    /// The tensors that its dispatches read and write.
    pub(crate) interfaces: Arc<DispatchInterfaces>,
    /// The file that they were read from, with the sources of the dispatches.
    pub(crate) dispatch_sources: Option<FileBytes>,
    tensors: Option<ModuleTensors>,
    model_lines: OnceLock<ModelLines>,
    listing: OnceLock<Disassembly>,
    globals: OnceLock<Globals>,
    register_types: Mutex<HashMap<FunctionOrdinal, Arc<RegisterTypes>>>,
    pub(super) cache: Cache,
    /// The operations of the source, by the function of the program of tensors.
    steps: Mutex<HashMap<usize, Option<Arc<SourceSteps>>>>,
    /// What [`crate::inspect`] keeps of the shapes of the source's tensors for the last call.
    pub(crate) shapes: Mutex<Option<Box<dyn Any + Send>>>,
    /// The instructions that record commands.
    pub(crate) recorded: OnceLock<Vec<Recorded>>,
}

/// An instruction that records a command.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) recording: Recording,
    /// Its path: its places from the function inwards.
    pub(crate) path: Vec<SourcePosition>,
    /// The calls at its place in the compiler's account, by index.
    pub(super) calls: Vec<usize>,
    /// The export that it dispatches, as far as the bytecode names it.
    pub(crate) export: Option<String>,
}

impl LoadedModule {
    pub(super) fn new(index: ModuleIndex, module: Arc<Module>, info: DebugInfo) -> Self {
        Self {
            index,
            module,
            path: None,
            debug_file: None,
            info,
            is_nested: false,
            is_twin: false,
            nested: Vec::new(),
            interfaces: Arc::default(),
            dispatch_sources: None,
            tensors: None,
            model_lines: OnceLock::new(),
            listing: OnceLock::new(),
            globals: OnceLock::new(),
            register_types: Mutex::default(),
            cache: Cache::default(),
            steps: Mutex::default(),
            shapes: Mutex::default(),
            recorded: OnceLock::new(),
        }
    }

    /// Whether its program of tensors is known, with dispatches.
    pub(crate) fn has_tensors(&self) -> bool {
        self.tensors.as_ref().is_some_and(ModuleTensors::has_dispatches)
    }

    /// The program of tensors that it was made from, if that is known.
    pub(crate) fn tensors(&self) -> Option<&ModuleTensors> {
        self.tensors.as_ref()
    }

    /// Whether an instruction has a line at the level of the model: outside of the code that only
    /// arranges for tensors to be computed.
    pub(crate) fn is_model_line(&self, function: FunctionOrdinal, offset: BytecodeOffset) -> bool {
        let Some(tensors) = &self.tensors else { return true };
        self.model_lines.get_or_init(|| tensors.lines(self)).contains(function, offset)
    }

    /// Whether a command with this path copies or fills tensors as the source says.
    pub(crate) fn is_model_transfer(&self, path: &[SourcePosition]) -> bool {
        let place = path.last().map(|at| self.written_at(*at));
        self.tensors.as_ref().zip(place).is_some_and(|(tensors, place)| tensors.transfers(&place))
    }

    /// The text of the source with a name, as the compiler wrote it.
    pub(crate) fn source_of(&self, name: &str) -> Option<Arc<SourceText>> {
        let mut files = self.info.files();
        let (id, _) = files.find(|(_, known)| *known == name)?;
        self.info.source(id).cloned()
    }

    /// Adds the program of tensors that it was made from.
    ///
    /// # Errors
    /// It is that of another module.
    pub(super) fn with_tensors(
        mut self,
        flow: &str,
        input: Option<&str>,
    ) -> (Self, Result<(), UnalignedProgram>) {
        let file = |name: &str| self.source_of(name);
        let dispatches = &self.interfaces;
        let sources = TensorSources { flow, input, dispatches, file: &file };
        let program = TensorProgram::parse(&sources);
        let read = ModuleTensors::new(program, &self).map(|tensors| self.tensors = Some(tensors));
        (self, read)
    }

    /// The operations of the source that a function of the program of tensors was made from. They
    /// are read when they are first asked for.
    pub(crate) fn source_steps(&self, function: usize) -> Option<Arc<SourceSteps>> {
        let mut known = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let program = &self.tensors.as_ref()?.program;
            let input = self.debug_file.as_ref()?.input().ok().flatten();
            let file = |name: &str| self.source_of(name);
            let steps = SourceSteps::of(program, function, input.as_deref(), &file)?;
            Some(Arc::new(steps.with_implied(&file)))
        };
        known.entry(function).or_insert_with(read).clone()
    }

    /// The bytes of a constant that the phase `input` leaves out, by its name there.
    pub(crate) fn elided_constant(&self, name: &str) -> Option<Vec<u8>> {
        let mut files = self.info.files();
        let in_source = files.find_map(|(file, _)| self.info.source(file)?.elided(name));
        in_source.or_else(|| self.debug_file.as_ref()?.constant(name))
    }

    /// The position of one of its instructions.
    pub(crate) fn position(&self, function: FunctionOrdinal, offset: BytecodeOffset) -> Position {
        Position { function: FunctionId { module: self.index, function }, offset }
    }

    /// The disassembly, as printed by `iree-dbg dump --output=disassembly --bytecode_offsets`.
    pub(crate) fn listing(&self) -> &Disassembly {
        self.listing.get_or_init(|| {
            let options =
                DisassemblyOptions { bytecode_offsets: true, ..DisassemblyOptions::default() };
            disassemble(&self.module, &options)
        })
    }

    pub(crate) fn globals(&self) -> &Globals {
        self.globals.get_or_init(|| Globals::find(&self.module, &self.info))
    }

    pub(crate) fn source_line(&self, place: SourcePosition) -> SourceLine {
        SourceLine {
            path: self.source_path(place.file),
            file: self.info.locations().file(place.file).to_owned(),
            line: place.line,
            column: place.column,
        }
    }

    /// The line where a path through inlined calls ends, in the text of a level.
    pub(crate) fn line_of_path(&self, level: Level, path: &[SourcePosition]) -> Option<SourceLine> {
        let in_python = || self.info.python_frames(path).last().map(|it| it.position);
        let place = (level == Level::Python).then(in_python).flatten();
        Some(self.source_line(place.or_else(|| path.last().copied())?))
    }

    /// The types of a function's registers at each instruction.
    pub(crate) fn register_types(&self, function: FunctionOrdinal) -> Arc<RegisterTypes> {
        let mut cache = self.register_types.lock().unwrap_or_else(PoisonError::into_inner);
        let infer = || Arc::new(RegisterTypes::infer(&self.module, function));
        Arc::clone(cache.entry(function).or_insert_with(infer))
    }

    /// The values of the VM program that can be read before an instruction.
    pub(crate) fn locals(&self, position: Position) -> Arc<[LocalValue]> {
        let (function, offset) = (position.function.function, position.offset);
        let answer = || self.info.live_values(function, offset).into();
        self.cache.locals.get((function, offset), answer)
    }

    /// The names of the source that are in scope before an instruction, in the frame to which
    /// `calls` inlined calls lead. None if the source does not say.
    pub(crate) fn scope(&self, position: Position, calls: usize, given: Given) -> Scope {
        let (function, offset) = (position.function.function, position.offset);
        let answer = || {
            let mut path = self.info.path_at(function, offset);
            if path.is_empty() {
                path.extend(self.whole_dispatch(function));
            }
            let place = (function, offset);
            let scope = self.info.scope_along(&self.module, place, &path, calls, given);
            scope.map(Arc::from)
        };
        self.cache.scopes.get(((function, offset), calls, given), answer)
    }

    /// The names of the source that are in scope at the end of a path through inlined calls, where
    /// the instruction was started by what is at that path.
    pub(crate) fn scope_along(
        &self,
        place: (FunctionOrdinal, BytecodeOffset),
        path: &[SourcePosition],
        calls: usize,
        given: Given,
    ) -> Scope {
        let answer = || {
            let scope = self.info.scope_along(&self.module, place, path, calls, given);
            scope.map(Arc::from)
        };
        self.cache.scopes_along.get((place, path.into(), calls, given), answer)
    }

    /// The place of a dispatch's instructions that have none of their own: they belong to the
    /// operation as a whole.
    pub(crate) fn whole_dispatch(&self, function: FunctionOrdinal) -> Option<SourcePosition> {
        self.info.function_position(function).filter(|_| self.is_nested)
    }

    /// The registers that hold a value before an instruction, with their types.
    pub(crate) fn registers(&self, position: Position) -> Arc<[RegisterSlot]> {
        let (function, offset) = (position.function.function, position.offset);
        let answer = || self.register_types(function).before(&self.module, function, offset).into();
        self.cache.registers.get((function, offset), answer)
    }

    /// The absolute path of a source file on this machine.
    pub(crate) fn source_path(&self, file: FileId) -> Option<PathBuf> {
        let answer = || {
            let path = self.info.source_path(file)?;
            Some(std::path::absolute(&path).unwrap_or(path))
        };
        self.cache.paths.get(file, answer)
    }
}
