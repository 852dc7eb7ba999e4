//! Lookup of names in a frame, for expressions, completions and the scope of arguments.

use debuginfo::{PythonValue, ScopedValue, SourcePosition};
use vm::{FrameIndex, Value};
use vmfb::isa::Bank;

use super::frame_scope::RUN;
use super::globals;
use crate::expression::{CompletionKind, Datum, EvaluationError, Family, Item, Place};
use crate::machine::{Machine, Phase};
use crate::target::globals::GlobalPlace;
use crate::target::level::Level;
use crate::target::meaning::Meaning;
use crate::target::module::LoadedModule;
use crate::view::frame::FrameId;
use crate::view::value::variable;
use crate::view::variable::{Node, ScopeKind, Variable};

impl Machine {
    /// The place of the source where a frame stands, and its module.
    pub(super) fn place_in_source(
        &self,
        level: Level,
        frame: FrameId,
    ) -> Option<(&LoadedModule, SourcePosition)> {
        let (module, mut path) = self.path_in_source(level, frame)?;
        Some((module, path.pop()?))
    }

    /// The place of a frame in the text that a level shows, after the places of the inlined calls
    /// that lead to it.
    pub(super) fn path_in_source(
        &self,
        level: Level,
        frame: FrameId,
    ) -> Option<(&LoadedModule, Vec<SourcePosition>)> {
        let (module, mut path) = match self.position_in(frame.index) {
            Some(position) => {
                let own = self.own_path(level, frame.index, position);
                let module = self.program.module(position.function.module)?;
                own.unwrap_or_else(|| {
                    let mut path = self.program.path_at(level, position);
                    if path.is_empty() && level.is_source() {
                        path.extend(module.whole_dispatch(position.function.function));
                    }
                    (module, path)
                })
            }
            None => {
                let recorded_at = self.command(frame.index)?.recorded_at?;
                let module = self.program.module(recorded_at.function.module)?;
                (module, self.program.path_at(level, recorded_at))
            }
        };
        let calls = frame.calls.unwrap_or(path.len().saturating_sub(1));
        path.truncate(calls + 1);
        (path.len() == calls + 1).then_some((module, path))
    }

    /// Whether a frame is the innermost of the inlined calls that its instruction, or its command,
    /// stands in: what a command reads and makes has its names there.
    pub(super) fn is_innermost_call(&self, frame: FrameId) -> bool {
        let innermost = FrameId::from(frame.index);
        let depth = || Some(self.path_in_source(self.level, innermost)?.1.len());
        frame.calls.is_none_or(|calls| depth().is_none_or(|depth| depth == calls + 1))
    }

    /// The names that the operation of a frame defines, which has not ended: they have no value.
    pub(super) fn defined_next(&self, level: Level, frame: FrameId) -> Vec<ScopedValue> {
        if !level.is_source() {
            return Vec::new();
        }
        let mut found = Vec::new();
        if let Some(position) = self.position_in(frame.index) {
            let module = self.program.module(position.function.module);
            let (function, offset) = (position.function.function, position.offset);
            // Inside of a line, some of its values may be there; and after an instruction, its own.
            let has_run = frame.index == FrameIndex(0) && self.stands_after.is_some();
            let row = module.and_then(|it| it.info.row_at(function, offset));
            let begins = !has_run && row.is_some_and(|it| it.is_statement && it.offset == offset);
            let place = self.place_in_source(level, frame).filter(|_| begins);
            found.extend(place.map(|(module, at)| module.info.results_at(&at)).unwrap_or_default());
        }
        if self.command(frame.index).is_some() && !self.has_just_run(frame.index) {
            let made = self.made_by_command(frame).into_iter();
            let is_new = |it: &ScopedValue| found.iter().all(|known| known.name != it.name);
            let made: Vec<_> = made.filter(is_new).collect();
            found.extend(made);
        }
        found
    }

    /// The meaning of a name in the debug information: `%sum` in the source, `%7` in the VM
    /// program, a variable of Python.
    pub(crate) fn meaning(&self, level: Level, frame: FrameId, name: &str) -> Option<Meaning> {
        if let Some((own, value)) = self.python_variable(level, frame, name) {
            let PythonValue::Value(value) = value else { return None };
            return self.meaning_in_program(level, own, value.trim_start_matches('%'));
        }
        let found = self.meaning_in_program(level, frame, name)?;
        // What a variable of another call was called is no name in this one.
        let is_own = match &found {
            Meaning::Scoped(value) => value.name.strip_prefix('%') == Some(name),
            Meaning::Local(_) => true,
        };
        (is_own || !self.is_python(level, frame)).then_some(found)
    }

    fn meaning_in_program(&self, level: Level, frame: FrameId, name: &str) -> Option<Meaning> {
        let position = self.position_in(frame.index);
        let own = position.map(|position| self.own_path(level, frame.index, position));
        if own.is_none_or(|own| own.is_some()) {
            let scope = self.scope_of(level, frame)?;
            let found = ScopedValue::named(&scope, name);
            return found.cloned().map(Meaning::Scoped);
        }
        let position = position?;
        let given = self.given(frame.index);
        self.program.meaning(level, position, frame.calls, name, given)
    }

    /// An argument of the entry function, by its name in the ABI.
    pub(crate) fn argument_named(&self, frame: FrameId, name: &str) -> Option<Datum> {
        // A dispatch has no arguments that could be meant instead.
        let arguments = match self.dispatch(frame.index) {
            Some(_) => self.launched_with(),
            None => self.entry_arguments(frame.index),
        };
        let found = arguments.into_iter().find(|(known, _)| known == name);
        found.map(|(_, value)| Datum::Value(value))
    }

    /// The arguments of the entry function with their names, if the frame is its own.
    fn entry_arguments(&self, frame: FrameIndex) -> Vec<(String, Value)> {
        let position = self.position_in(frame);
        match position.is_some_and(|position| position.function == self.program.entry()) {
            true => self.launched_with(),
            false => Vec::new(),
        }
    }

    /// The arguments of the entry function with their names, if it runs.
    fn launched_with(&self) -> Vec<(String, Value)> {
        if !matches!(self.phase, Phase::Running(_) | Phase::Failed(_)) {
            return Vec::new();
        }
        let names = self.program.argument_names();
        let values = self.program.arguments().iter().enumerate();
        let named = values.map(|(index, value)| {
            let name = names.get(index).cloned();
            (name.unwrap_or_else(|| format!("arg{index}")), value.clone())
        });
        named.collect()
    }

    /// The arguments of a frame's function. Those of the entry function are always known, others
    /// only while they are alive.
    pub(crate) fn arguments(&self, level: Level, frame: FrameId) -> Vec<Variable> {
        let is_argument = |it: &ScopedValue| it.argument.is_some();
        if let Some(named) = self.scope_variables(level, frame, &is_argument) {
            return named;
        }
        let path = self.position_in(frame.index).map(|at| self.program.path_at(level, at));
        let innermost = path.map_or(0, |path| path.len().saturating_sub(1));
        let is_call = frame.calls.unwrap_or(innermost) > 0;
        let entry = if is_call { Vec::new() } else { self.entry_arguments(frame.index) };
        if !entry.is_empty() {
            let shown = entry.into_iter().map(|(name, value)| {
                let shown = variable(&name, &value);
                Variable { evaluate_name: Some(name), ..shown }
            });
            return shown.collect();
        }
        self.vm_values(level, frame, &|local| local.argument.is_some())
    }

    /// A member of a family, by its number.
    pub(crate) fn member(
        &self,
        frame: FrameIndex,
        family: Family,
        index: usize,
    ) -> Result<Item, EvaluationError> {
        let module = || {
            let position = self.position_in(frame).ok_or(EvaluationError::NoGlobals)?;
            Ok::<_, EvaluationError>(position.function.module)
        };
        match family {
            Family::Binding => self.binding_value(frame, index).map(Item::from),
            Family::Operand => self.operand_value(frame, index).map(Item::from),
            Family::Constant => {
                let dispatch = self.dispatch(frame).ok_or(EvaluationError::NoDispatch)?;
                let constants = &dispatch.dispatch.constants;
                let value = constants.get(index).ok_or_else(|| {
                    let count = constants.len();
                    EvaluationError::NoMember { what: "constant", index, owner: "dispatch", count }
                })?;
                Ok(Datum::integer(*value).into())
            }
            Family::GlobalBytes => {
                let module = module()?;
                let bytes = self.context.global_bytes(module);
                let loaded = self.program.module(module);
                let bank = loaded.and_then(|it| it.globals().bank_at(index)).unwrap_or(Bank::I32);
                let value = globals::read(bytes, index, bank).ok_or_else(|| {
                    let (what, count) = ("global at byte", bytes.len());
                    EvaluationError::NoMember { what, index, owner: "module", count }
                })?;
                let place = Place::GlobalBytes(module, index, bank);
                Ok(Item::kept(Datum::Value(value), place))
            }
            Family::GlobalRefs => {
                let module = module()?;
                let refs = self.context.global_refs(module);
                let value = refs.get(index).ok_or_else(|| {
                    let (what, count) = ("ref global", refs.len());
                    EvaluationError::NoMember { what, index, owner: "module", count }
                })?;
                let place = Place::GlobalRef(module, index);
                Ok(Item::kept(Datum::Value(Value::Ref(value.clone())), place))
            }
        }
    }

    /// The global variable with a symbol, in the module of a frame.
    pub(crate) fn global_named(&self, frame: FrameIndex, symbol: &str) -> Option<Item> {
        let position = self.position_in(frame);
        let module = position.map_or(self.program.entry().module, |at| at.function.module);
        let loaded = self.program.module(module)?;
        let globals = loaded.globals();
        let Some(place) = globals.named(symbol) else {
            // A parameter has another name than the global that loads it.
            let index = globals.parameter(&loaded.info.parameter(symbol)?)?;
            let tensor = globals.tensor(index, self.context.global_refs(module).get(index)?)?;
            return Some(Datum::Tensor(tensor).into());
        };
        match place {
            GlobalPlace::Bytes(at) => {
                let bank = globals.bank_at(at)?;
                let value = globals::read(self.context.global_bytes(module), at, bank)?;
                Some(Item::kept(Datum::Value(value), Place::GlobalBytes(module, at, bank)))
            }
            GlobalPlace::Ref(index) => {
                let value = self.context.global_refs(module).get(index)?;
                let datum = match globals.tensor(index, value) {
                    Some(tensor) => Datum::Tensor(tensor),
                    None => Datum::Value(Value::Ref(value.clone())),
                };
                Some(Item::kept(datum, Place::GlobalRef(module, index)))
            }
        }
    }

    /// The names in a frame, each with its value as a short text and its kind.
    pub(crate) fn named_values(
        &self,
        level: Level,
        frame: FrameId,
    ) -> Vec<(String, String, CompletionKind)> {
        let scopes = [
            (ScopeKind::Locals, CompletionKind::Value),
            (ScopeKind::Arguments, CompletionKind::Value),
            (ScopeKind::Constants, CompletionKind::Value),
            (ScopeKind::Dispatch, CompletionKind::Value),
            (ScopeKind::Registers, CompletionKind::Register),
            (ScopeKind::Globals, CompletionKind::Value),
        ];
        let mut found: Vec<(String, String, CompletionKind)> = Vec::new();
        for (scope, kind) in scopes {
            for shown in self.children_at(level, &Node::Scope(frame, scope), None) {
                let detail = format!("{} = {}", shown.type_name, shown.value);
                if found.iter().all(|(known, ..)| *known != shown.name) {
                    found.push((shown.name, detail, kind));
                }
            }
        }
        let run = self.run_of(frame.index);
        found.extend(run.map(|run| (RUN.to_owned(), format!("run {run}"), CompletionKind::Value)));
        found
    }

    /// The names in a frame.
    pub(crate) fn names(&self, level: Level, frame: FrameId) -> Vec<String> {
        // The values of the source's names are not asked for: each may have to be computed again.
        let is_python = self.python_variables(level, frame).is_some();
        let Some(own) = self.scope_of(level, frame).filter(|_| !is_python) else {
            return self.named_values(level, frame).into_iter().map(|(name, ..)| name).collect();
        };
        let scopes =
            [ScopeKind::Arguments, ScopeKind::Dispatch, ScopeKind::Registers, ScopeKind::Globals];
        let others = scopes.into_iter().flat_map(|scope| {
            self.children_at(level, &Node::Scope(frame, scope), None).into_iter().map(|it| it.name)
        });
        own.iter().map(|it| it.name.clone()).chain(others).collect()
    }
}
