//! Resolving breakpoints: from a line, name or address to instructions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, PoisonError};

use debuginfo::{MapSource, Role, TensorOperationId};
use vm::{FunctionId, ModuleIndex, Position};
use vmfb::{BytecodeOffset, Op};

use super::device_lines::CommandPlace;
use super::module::LoadedModule;
use super::program::Program;
use crate::view::address::LinearAddress;

/// The result of resolving a breakpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// See [`crate::Breakpoint::locations`].
    pub locations: Vec<Position>,
    /// See [`crate::Breakpoint::dispatches`].
    pub dispatches: Vec<String>,
    /// See [`crate::Breakpoint::line`].
    pub line: Option<u32>,
    /// See [`crate::Breakpoint::column`].
    pub column: Option<u32>,
    /// See [`crate::Breakpoint::message`].
    pub message: Option<String>,
    /// Whether the places are in dispatches.
    pub(crate) is_nested: bool,
    pub(crate) commands: Vec<CommandPlace>,
    pub(crate) used_by: BTreeMap<Position, BTreeSet<Position>>,
    pub(crate) is_out_of_reach: bool,
}

impl Resolution {
    /// Whether dispatches have it that are machine code: the program stops before them.
    #[must_use]
    pub fn is_in_dispatch(&self) -> bool {
        !self.commands.is_empty()
    }

    pub(crate) fn nowhere(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::default() }
    }

    /// Whether there is any place to stop.
    #[must_use]
    pub fn is_anywhere(&self) -> bool {
        !self.locations.is_empty() || !self.commands.is_empty()
    }

    /// Adds the places of another line that has come of the same.
    pub(super) fn extend(&mut self, other: Self) {
        self.locations.extend(other.locations);
        for dispatch in other.dispatches {
            if !self.dispatches.contains(&dispatch) {
                self.dispatches.push(dispatch);
            }
        }
        for command in other.commands {
            if !self.commands.contains(&command) {
                self.commands.push(command);
            }
        }
        for (place, users) in other.used_by {
            self.used_by.entry(place).or_default().extend(users);
        }
        self.locations
            .sort_unstable_by_key(|it| (it.function.module.0, it.function.function, it.offset));
        self.locations.dedup();
        self.is_nested |= other.is_nested;
        self.message = self.message.take().or(other.message);
    }

    fn at(position: Position) -> Self {
        Self { locations: vec![position], ..Self::default() }
    }
}

/// The lines that stand for a line without code.
#[derive(Default)]
struct Instead {
    lines: Vec<u32>,
    /// The line of the operation that the line is part of.
    continues: Option<u32>,
}

impl Program {
    /// The places of a line, or of one operation on it.
    pub(crate) fn resolve_line(&self, file: &str, line: u32, column: Option<u32>) -> Resolution {
        let resolution = self.resolve_whole_line(file, line);
        let is_exact = resolution.line == Some(line) && !resolution.locations.is_empty();
        match column.filter(|_| is_exact) {
            Some(column) => self.narrowed(resolution, file, line, column),
            None => resolution,
        }
    }

    /// The first instruction on a line of a module's disassembly, or after it.
    pub(crate) fn resolve_listing_line(&self, module: ModuleIndex, line: u32) -> Resolution {
        match self.module(module) {
            Some(module) => resolve_listing_line(module, line),
            None => Resolution::nowhere("there is no such module"),
        }
    }

    /// The instruction at an address.
    pub(crate) fn resolve_instruction(&self, address: LinearAddress) -> Resolution {
        match self.position_of(address) {
            Some(position) => Resolution::at(position),
            None => Resolution::nowhere(format!("no instruction starts at {address}")),
        }
    }

    fn resolve_whole_line(&self, file: &str, line: u32) -> Resolution {
        if line == 0 {
            return Resolution::nowhere("lines are counted from 1");
        }
        let matched = |module: &LoadedModule| module.info.match_file(file).is_some();
        if !self.modules.iter().any(matched) {
            return Resolution::nowhere(self.unknown_file(file));
        }
        let own = self.on_line(file, line);
        if own.is_anywhere() {
            return self.reachable(own);
        }
        let instead = self.lines_instead(file, line);
        let coded = self.coded_lines(file);
        let candidates = instead.lines.iter().filter(|line| coded.contains(line));
        let mut found = candidates.map(|line| self.on_line(file, *line));
        let Some(found) = found.find(Resolution::is_anywhere) else {
            return Resolution::nowhere(self.why_not(file, line));
        };
        let actual = found.line.unwrap_or(line);
        let message = if instead.continues == Some(actual) {
            format!("line {line} is part of the operation of line {actual}")
        } else {
            let what = self.what_is_on(file, line);
            format!("{what}; the next line of its block that has code is {actual}")
        };
        self.reachable(Resolution { message: Some(message), ..found })
    }

    /// The places of a line: its code in dispatches, its commands, or else its statements in the
    /// program around dispatches.
    pub(super) fn on_line(&self, file: &str, line: u32) -> Resolution {
        if let Some(found) = self.on_python_line(file, line) {
            return found;
        }
        let nowhere = Resolution { line: Some(line), ..Resolution::default() };
        let by_hand = self.written_by_hand(file, line);
        if !by_hand.is_empty() {
            return Resolution { locations: self.first_in_blocks(&by_hand), ..nowhere };
        }
        let device = self.device_line(file, line);
        let host = self.statements_on(file, line);
        if device.commands.is_empty() && device.inside.is_empty()
            || (device.is_call && !host.is_empty())
        {
            return Resolution { locations: self.first_in_blocks(&host), ..nowhere };
        }
        let inside: Vec<Position> = device.inside.keys().copied().collect();
        let is_twin = |at: &Position| self.module(at.function.module).is_some_and(|it| it.is_twin);
        let is_before = inside.iter().all(is_twin) && !device.outside.is_empty();
        let message = is_before.then(|| self.why_before(&device.outside).to_owned());
        Resolution {
            locations: self.first_in_blocks(&inside),
            dispatches: device.outside.into_iter().collect(),
            used_by: device.inside.into_iter().filter_map(|(at, by)| Some((at, by?))).collect(),
            commands: device.commands,
            message,
            is_nested: true,
            ..nowhere
        }
    }

    /// Why a stop is before a dispatch rather than in it.
    fn why_before(&self, dispatches: &BTreeSet<String>) -> &'static str {
        let mut nested = self.modules.iter().filter(|module| module.is_nested && !module.is_twin);
        let is_bytecode = nested.any(|module| {
            let mut exports = module.module.exports().iter();
            exports.any(|export| dispatches.contains(&export.name))
        });
        if is_bytecode {
            "the line has no bytecode of its own; the stop is before the dispatch that has it"
        } else {
            "the line is machine code; the stop is before the dispatch that has it"
        }
    }

    /// The statements of a line in the program around dispatches.
    fn statements_on(&self, file: &str, line: u32) -> Vec<Position> {
        let mut found = Vec::new();
        for module in self.modules.iter().filter(|module| !module.is_nested) {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                let places = module.info.places_on(id, line).into_iter();
                found.extend(places.map(|place| module.position(place.function, place.offset)));
            }
        }
        found
    }

    /// Instructions that prepare devices and that the source itself has on a line.
    fn written_by_hand(&self, file: &str, line: u32) -> Vec<Position> {
        let mut found = Vec::new();
        for module in self.modules.iter().filter(|module| !module.is_nested) {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                let aside = module.info.aside_on(id, line).iter();
                let by_hand = aside.filter(|it| {
                    module.info.position_at(it.function, it.offset) == Some(it.position)
                });
                found.extend(by_hand.map(|it| module.position(it.function, it.offset)));
            }
        }
        found
    }

    /// The lines of a file that have code of any kind.
    fn coded_lines(&self, file: &str) -> Arc<BTreeSet<u32>> {
        let mut known = self.coded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = known.get(file) {
            return Arc::clone(lines);
        }
        let mut lines = self.lines_of_commands(file, &(0..=u32::MAX));
        lines.extend(self.lines_of_python(file));
        for module in &self.modules {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                lines.extend(module.info.lines_with_code(id, 0..=u32::MAX));
                lines.extend(module.info.lines_for_devices(id));
            }
        }
        let lines = Arc::new(lines);
        known.insert(file.to_owned(), Arc::clone(&lines));
        lines
    }

    /// The lines that stand for a line without code, as far as the sources say.
    fn lines_instead(&self, file: &str, line: u32) -> Instead {
        for module in &self.modules {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                let lines = module.info.lines_for(id, line);
                if !lines.is_empty() {
                    let continues = module.info.continued_line(id, line);
                    return Instead { lines, continues };
                }
            }
        }
        Instead::default()
    }

    /// Why no line stands for a line without code.
    fn why_not(&self, file: &str, line: u32) -> String {
        let modules = self.modules.iter().filter_map(|module| {
            let (_, files) = module.info.match_file(file)?;
            Some((module, *files.first()?))
        });
        let mut around = modules.filter(|(module, id)| module.info.is_in_function(*id, line));
        let Some((first, _)) = around.next() else {
            return format!("line {line} is in no function");
        };
        // Functions that nothing is known of may have code for the line.
        let completeness = first.info.completeness();
        let without = completeness.count(MapSource::Nothing);
        if without > 0 {
            let (all, name) = (completeness.functions.len(), first.module.name());
            return format!(
                "no code is known for line {line}: module {name} has no debug information for \
                 {without} of {all} functions"
            );
        }
        format!("{}, and nothing after it in its block has", self.what_is_on(file, line))
    }

    fn what_is_on(&self, file: &str, line: u32) -> String {
        let is_constant = self.modules.iter().any(|module| {
            let files = module.info.match_file(file).map(|(_, files)| files).unwrap_or_default();
            let mut aside = files.iter().flat_map(|id| module.info.aside_on(*id, line));
            aside.any(|it| {
                let row = module.info.row_at(it.function, it.offset);
                row.is_some_and(|row| row.role == Role::Constant)
            })
        });
        let why = if is_constant { ": it only has constants" } else { "" };
        format!("line {line} has no code of its own{why}")
    }

    /// Restricts places to functions that can run, or reports that none of them can.
    fn reachable(&self, found: Resolution) -> Resolution {
        let reach = self.reach();
        let recorded = found.commands.iter().filter_map(CommandPlace::recorded_at);
        let places = || found.locations.iter().filter(|at| !self.is_nested(at.function));
        let functions: BTreeSet<FunctionId> =
            places().copied().chain(recorded).map(|at| at.function).collect();
        let runs = |function: &FunctionId| reach.running.contains(function);
        let initializes = |function: &FunctionId| reach.initializing.contains(function);
        if functions.is_empty() || functions.iter().all(runs) {
            return found;
        }
        let can_run: &dyn Fn(&FunctionId) -> bool = if functions.iter().any(runs) {
            &runs
        } else if functions.iter().any(initializes) {
            &initializes
        } else {
            let message = Some(self.why_not_run(&functions));
            return Resolution { is_out_of_reach: true, message, ..found };
        };
        let is_kept = |at: &Position| self.is_nested(at.function) || can_run(&at.function);
        let locations = found.locations.iter().copied().filter(is_kept).collect();
        Resolution { locations, ..found }
    }

    fn why_not_run(&self, functions: &BTreeSet<FunctionId>) -> String {
        let exports: BTreeSet<&str> =
            functions.iter().flat_map(|function| self.exports_that_run(*function)).collect();
        let names: Vec<String> = exports.iter().map(|name| format!("@{name}")).collect();
        match &names[..] {
            [] => "nothing runs this line: no exported function calls the one that it is in"
                .to_owned(),
            [only] => format!("only {only} runs this line, not @{}", self.entry_name()),
            [some @ .., last] => format!(
                "only {} and {last} run this line, not @{}",
                some.join(", "),
                self.entry_name()
            ),
        }
    }

    fn is_nested(&self, function: FunctionId) -> bool {
        self.module(function.module).is_some_and(|module| module.is_nested)
    }

    /// Drops places that control reaches only from another place. The compiler moves the code of a
    /// line about within a block, and one stop there is enough. Copies of a line that were inlined
    /// from different calls count as different places.
    fn first_in_blocks(&self, places: &[Position]) -> Vec<Position> {
        let mut met = HashSet::new();
        let mut starts: HashMap<FunctionId, Arc<[BytecodeOffset]>> = HashMap::new();
        let is_first = |place: &&Position| {
            let Position { function, offset } = **place;
            let Some(module) = self.module(function.module) else { return true };
            let starts =
                starts.entry(function).or_insert_with(|| module.block_starts(function.function));
            let block = starts.partition_point(|start| *start <= offset);
            let row = module.info.row_at(function.function, offset);
            met.insert((function, block, row.map_or(0, |row| row.instance)))
        };
        let mut places = places.to_vec();
        places
            .sort_by_key(|place| (place.function.module.0, place.function.function, place.offset));
        places.iter().filter(is_first).copied().collect()
    }

    /// Restricts the places of a line to one operation: the one at a column, or else the next one
    /// to the right, or the last one.
    fn narrowed(&self, whole: Resolution, file: &str, line: u32, column: u32) -> Resolution {
        let found = self.operations_on(file, line);
        let inside = found.iter().filter(|(_, it)| it.extent.contains(&column));
        let inside = inside.max_by_key(|(_, it)| it.extent.start).map(|(_, it)| it.column);
        let right = || found.iter().map(|(_, it)| it.column).filter(|at| *at >= column).min();
        let Some(actual) =
            inside.or_else(right).or_else(|| found.iter().map(|(_, it)| it.column).max())
        else {
            return whole;
        };
        let of_operation = || found.iter().filter(|(_, it)| it.column == actual);
        let is_nested = of_operation().any(|(is_nested, _)| *is_nested);
        let wanted = of_operation().filter(|(nested, _)| *nested == is_nested);
        let message = (inside.is_none() && actual != column).then(|| {
            let which = if actual > column {
                "the operation next to the right"
            } else {
                "the last operation of the line"
            };
            format!("no code came from column {column}; {which} is at {actual}")
        });
        Resolution {
            locations: wanted.flat_map(|(_, it)| it.places.iter().copied()).collect(),
            column: Some(actual),
            message,
            ..whole
        }
    }

    /// Dispatches have no instruction of their own; the message says if none with the name is known
    /// yet.
    pub(crate) fn resolve_dispatch(&self, pattern: &str) -> Resolution {
        let is_all = !pattern.is_empty() && pattern.chars().all(|c| c == '*');
        if is_all || self.dispatch_names().any(|name| abi::glob::matches(pattern, name)) {
            return Resolution::default();
        }
        Resolution::nowhere(format!("no dispatch is called {pattern:?} so far"))
    }

    /// The commands of a dispatch of the program of tensors, by its place in the text.
    pub(crate) fn resolve_operation(&self, operation: TensorOperationId) -> Resolution {
        let mut commands = Vec::new();
        for module in self.modules.iter().filter(|module| !module.is_nested) {
            let recorded = module.recorded().iter().filter(|it| it.recording.is_dispatch);
            let places = recorded.map(|it| module.position_of_recorded(it));
            let is_it = |at: &Position| self.written_dispatch(*at) == Some(operation);
            commands.extend(places.filter(is_it).map(CommandPlace::recorded));
        }
        if commands.is_empty() {
            return Resolution::nowhere("the program has no such dispatch");
        }
        Resolution { commands, ..Resolution::default() }
    }

    /// The operation of the program of tensors that an instruction records, by its place in the
    /// text. `None` where several modules have such programs: an identity names no module.
    pub(crate) fn written_dispatch(&self, at: Position) -> Option<TensorOperationId> {
        let is_program = |it: &&LoadedModule| !it.is_nested && !it.is_twin && it.has_tensors();
        let mut programs = self.modules.iter().filter(is_program);
        let (module, other) = (programs.next()?, programs.next());
        let is_only = other.is_none() && module.index == at.function.module;
        let tensors = module.tensors().filter(|_| is_only)?;
        tensors.as_written(tensors.recorded_at(at)?)
    }

    fn unknown_file(&self, file: &str) -> String {
        let sources = |module: &'_ LoadedModule| {
            let files = module.info.files().filter(|(file, _)| !module.info.is_listing(*file));
            files.map(|(_, name)| name.to_owned()).collect::<Vec<_>>()
        };
        let mut known: Vec<String> = self.modules.iter().flat_map(sources).collect();
        known.sort_unstable();
        known.dedup();
        if known.is_empty() {
            return "the module has no source map; compile it with `iree-dbg compile`".to_owned();
        }
        format!("the program was not compiled from {file} but from {}", known.join(", "))
    }

    /// The places where functions of a name begin; those of Python, if one of it has the name.
    pub(crate) fn resolve_function(&self, name: &str) -> Resolution {
        if let Some(found) = self.in_python_function(name) {
            return self.reachable(found);
        }
        let locations = self.places_named(name);
        if locations.is_empty() {
            return Resolution::nowhere(if name.contains(['*', '?']) {
                format!("no function fits {name:?} so far")
            } else {
                format!("there is no function {name:?}")
            });
        }
        Resolution { locations, ..Resolution::default() }
    }

    /// The address at an offset of a function, which is named as in a breakpoint.
    /// [`crate::BreakpointSpec::Instruction`] checks whether an instruction starts there.
    #[must_use]
    pub fn address_in(&self, function: &str, offset: BytecodeOffset) -> Option<LinearAddress> {
        let entry = self.function_named(function)?;
        let module = self.module(entry.function.module)?;
        Some(LinearAddress::of(Position { offset, ..entry }, &module.module))
    }

    /// The instruction that starts at an address.
    #[must_use]
    pub fn position_of(&self, address: LinearAddress) -> Option<Position> {
        let (index, byte) = address.split()?;
        let module = self.module(index)?;
        let (ordinal, function) = module
            .module
            .functions_with_ordinals()
            .find(|(_, function)| function.bytecode.contains(&byte))?;
        let offset = BytecodeOffset(u32::try_from(byte - function.bytecode.start).ok()?);
        let mut starts = vmfb::instructions(module.module.function_bytecode(ordinal));
        let starts_there =
            starts.any(|it| it.is_ok_and(|it| it.offset == offset && it.op != Op::Block));
        let function = FunctionId { module: index, function: ordinal };
        starts_there.then_some(Position { function, offset })
    }
}

fn resolve_listing_line(module: &LoadedModule, line: u32) -> Resolution {
    let listing = module.listing();
    let Some(origin) = listing.at_or_after_line(line.saturating_sub(1)) else {
        return Resolution::nowhere(format!("no instruction is on line {line} or after it"));
    };
    // The line of a label stands for its block marker; the stop is before the first instruction of
    // the block.
    let code = module.module.function_bytecode(origin.function);
    let mut offset = origin.offset;
    while let Ok(instruction) = vmfb::decode(code, offset)
        && instruction.op == Op::Block
    {
        offset = instruction.end;
    }
    let function = FunctionId { module: module.index, function: origin.function };
    Resolution {
        locations: vec![Position { function, offset }],
        line: listing.line_of(origin.function, offset).map(|line| line + 1),
        ..Resolution::default()
    }
}
