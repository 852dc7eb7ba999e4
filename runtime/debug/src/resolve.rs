//! From what somebody asked for to instructions.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use debuginfo::ResolvedLine;
use vm::{FunctionId, Position};
use vmfb::{BytecodeOffset, FunctionOrdinal, Op};

use crate::address::LinearAddress;
use crate::breakpoint::{BreakpointSpec, Resolution};
use crate::columns::Operation;
use crate::glob;
use crate::program::{LoadedModule, Program};

impl Resolution {
    fn nowhere(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::default() }
    }

    /// Adds the places of a line. Where files or modules disagree on the line, the one closest to the
    /// line that was asked for wins. Of a line that was compiled into a dispatch, the program around it has code too, which only
    /// records the dispatch: nobody means that.
    fn add_line(&mut self, module: &LoadedModule, asked: u32, found: &ResolvedLine) {
        let distance = |line: u32| (line.abs_diff(asked), line < asked);
        match self.line.map(|known| distance(known).cmp(&distance(found.line))) {
            Some(Ordering::Less) => return,
            Some(Ordering::Greater) => {
                self.locations.clear();
                self.is_nested = false;
            }
            Some(Ordering::Equal) | None => {}
        }
        if self.line == Some(found.line) && self.is_nested && !module.is_nested {
            return;
        }
        if module.is_nested && !self.is_nested {
            self.locations.clear();
        }
        self.is_nested = module.is_nested;
        self.line = Some(found.line);
        self.locations.extend(found.places.iter().map(|place| {
            let function = FunctionId { module: module.index, function: place.function };
            Position { function, offset: place.offset }
        }));
    }

    fn at(position: Position) -> Self {
        Self { locations: vec![position], ..Self::default() }
    }
}

impl Program {
    /// Where a breakpoint is.
    #[must_use]
    pub fn resolve(&self, spec: &BreakpointSpec) -> Resolution {
        match spec {
            BreakpointSpec::Line { file, line, column } => {
                let resolution = self.resolve_line(file, *line);
                let is_exact = resolution.line == Some(*line) && resolution.dispatches.is_empty();
                match column.filter(|_| is_exact) {
                    Some(column) => self.narrowed(resolution, file, *line, column),
                    None => resolution,
                }
            }
            BreakpointSpec::ListingLine { module, line } => match self.module(*module) {
                Some(module) => resolve_listing_line(module, *line),
                None => Resolution::nowhere("there is no such module"),
            },
            BreakpointSpec::Data { .. } => Resolution::default(),
            BreakpointSpec::Function { name } => self.resolve_function(name),
            BreakpointSpec::Dispatch { pattern, .. } => self.resolve_dispatch(pattern),
            BreakpointSpec::Instruction { address } => match self.position_of(*address) {
                Some(position) => Resolution::at(position),
                None => Resolution::nowhere(format!("no instruction starts at {address}")),
            },
        }
    }

    fn resolve_line(&self, file: &str, line: u32) -> Resolution {
        let mut resolution = Resolution::default();
        let mut is_known = false;
        for module in &self.modules {
            let Some((_, files)) = module.info.match_file(file) else { continue };
            is_known = true;
            for found in files.into_iter().filter_map(|it| module.info.resolve_line(it, line)) {
                resolution.add_line(module, line, &found);
            }
        }
        self.mean_dispatches(&mut resolution, file, line);
        resolution.locations = self.first_in_blocks(&resolution.locations);
        resolution.message = match resolution.line {
            Some(actual) if actual > line => Some(format!(
                "no code came from line {line}; the next line that has some is {actual}"
            )),
            Some(actual) if actual < line => Some(format!(
                "no code came from line {line}; the nearest line of the function that has some is \
                 {actual}, before it"
            )),
            Some(_) if !resolution.dispatches.is_empty() => Some(
                "the line is machine code; the stop is before the dispatch that has it".to_owned(),
            ),
            Some(_) => None,
            None if is_known => Some(format!("no code came from line {line} or any line after it")),
            None => Some(self.unknown_file(file)),
        };
        resolution
    }

    /// A line that was compiled to machine code of dispatches, and to no bytecode of any, means these.
    fn mean_dispatches(&self, resolution: &mut Resolution, file: &str, line: u32) {
        if resolution.is_nested && resolution.line == Some(line) {
            return;
        }
        let found_instead = resolution.line.filter(|_| !resolution.is_nested);
        for line in [Some(line), found_instead].into_iter().flatten() {
            let dispatches = self.dispatches_on(file, line);
            if !dispatches.is_empty() {
                *resolution = Resolution { dispatches, line: Some(line), ..Resolution::default() };
                return;
            }
        }
    }

    /// The dispatches that have an operation of a line, by what their sources say.
    fn dispatches_on(&self, file: &str, line: u32) -> Vec<String> {
        let mut names = BTreeSet::new();
        for module in &self.modules {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                let known = module.info.locations().file(id);
                names.extend(module.interfaces.on_line(known, line).map(str::to_owned));
            }
        }
        names.into_iter().collect()
    }

    /// Places without those that control only reaches from another of them: the compiler moves the code of
    /// a line about within a block, and to have been there once is enough. Copies of a line that were
    /// inlined from different calls are different places.
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

    /// Of the places of a line, those of one operation: the one that a column is in, or the next to the
    /// right, or the last.
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

    /// The operations on a line of a file, each with whether it is of a dispatch.
    pub(crate) fn operations_on(&self, file: &str, line: u32) -> Vec<(bool, Operation)> {
        let mut found = Vec::new();
        for module in &self.modules {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                let here = module.operations(id, line).into_iter();
                found.extend(here.map(|operation| (module.is_nested, operation)));
            }
        }
        found
    }

    /// Dispatches have no instruction of their own; the message says if none is known by now.
    fn resolve_dispatch(&self, pattern: &str) -> Resolution {
        if self.dispatch_names().any(|name| glob::matches(pattern, name)) {
            return Resolution::default();
        }
        Resolution::nowhere(format!("no dispatch is called {pattern:?} so far"))
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

    pub(crate) fn resolve_function(&self, name: &str) -> Resolution {
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

    /// The address of the instruction at an offset of a function, named as in a breakpoint. Whether
    /// an instruction starts there is for [`BreakpointSpec::Instruction`] to find out.
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

/// The instruction behind the entry block's marker.
pub(crate) fn first_instruction(
    module: &LoadedModule,
    ordinal: FunctionOrdinal,
) -> Option<BytecodeOffset> {
    vmfb::instructions(module.module.function_bytecode(ordinal))
        .map_while(Result::ok)
        .find(|instruction| instruction.op != Op::Block)
        .map(|instruction| instruction.offset)
}

fn resolve_listing_line(module: &LoadedModule, line: u32) -> Resolution {
    let listing = module.listing();
    let Some(origin) = listing.at_or_after_line(line.saturating_sub(1)) else {
        return Resolution::nowhere(format!("no instruction is on line {line} or after it"));
    };
    // A label's line stands for its block marker; the stop is before the block's first instruction.
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
