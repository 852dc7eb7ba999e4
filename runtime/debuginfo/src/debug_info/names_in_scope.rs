//! The names of the source that are in scope at an instruction, each with its value's location.
//!
//! [`crate::proof`] finds the locations. Here it gets its inputs: the source function of a frame, and
//! the origins of its instructions.

use std::sync::Arc;

use vmfb::print::{DisplayNames, InstructionPrinter};
use vmfb::{BytecodeOffset, FunctionOrdinal, Module};

use super::parts::FunctionInfo;
use super::tables::DebugInfo;
use crate::evidence::Evidence;
use crate::locations::{LocationId, SourcePosition, walk};
use crate::proof::{
    self, Given, MissingReason, Origin, Proof, ScopedValue, Sources, StandAt, ValueLocation,
};

impl DebugInfo {
    /// The names that the source gives to the arguments of an exported function. `None` if no
    /// source has the function, or several have one of that name.
    #[must_use]
    pub fn written_arguments(&self, function: &str) -> Option<Vec<String>> {
        let files = self.files().map(|(file, _)| file).filter(|file| !self.is_listing(*file));
        let mut found = files.filter_map(|file| self.files.text(file)?.arguments_of(function));
        let names = found.next()?;
        found.next().is_none().then_some(names)
    }

    /// The names in scope before an instruction executes, outermost first, in the frame that is
    /// `calls` inlined calls deep. `None` if the source cannot be read, or lacks the function. With
    /// values that are `given`, locations may refer to them.
    #[must_use]
    pub fn scope_at(
        &self,
        module: &Module,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
        calls: usize,
        given: Given,
    ) -> Option<Vec<ScopedValue>> {
        let path = self.path_at(function, offset);
        self.scope_along(module, (function, offset), &path, calls, given)
    }

    /// The names in scope at the end of a path through inlined calls, `calls` calls deep, while the
    /// function stands before an instruction: what the instruction started may stand elsewhere.
    #[must_use]
    pub fn scope_along(
        &self,
        module: &Module,
        (function, offset): (FunctionOrdinal, BytecodeOffset),
        path: &[SourcePosition],
        calls: usize,
        given: Given,
    ) -> Option<Vec<ScopedValue>> {
        let info = self.function(function)?;
        let instruction = info.code.index_at(offset)?;
        if let Some(variables) = path.get(calls).and_then(|here| self.variables(here)) {
            return Some(variables);
        }
        let places: Vec<_> = path.iter().map(place).collect();
        let proof = info.proof.get_or_init(|| self.prove(module, function, info)).as_ref();
        let at = StandAt { instruction, path: &places, calls, given };
        let proven = proof.and_then(|it| it.scope(&at));
        // An instruction without a position has the names of its function.
        let place = path.get(calls);
        match (proven, place) {
            (Some(names), Some(place)) => Some(self.with_node_names(names, place)),
            (Some(names), None) => Some(names),
            (None, place) => self.unproven(place?),
        }
    }

    /// The variables of Python at a position; `None` if it is in another text.
    fn variables(&self, here: &SourcePosition) -> Option<Vec<ScopedValue>> {
        let source = self.source(here.file).filter(|source| source.is_python())?;
        let names = source.variables(here.line).into_iter();
        Some(names.map(|name| ScopedValue::of_tensor(name.to_owned())).collect())
    }

    /// Why a name, with its `%`, has its value at the end of a path: see
    /// [`DebugInfo::scope_along`]. `None` if it is not in scope there.
    #[must_use]
    pub fn evidence_along(
        &self,
        module: &Module,
        (function, offset): (FunctionOrdinal, BytecodeOffset),
        path: &[SourcePosition],
        (calls, given): (usize, Given),
        name: &str,
    ) -> Option<Evidence> {
        let info = self.function(function)?;
        let instruction = info.code.index_at(offset)?;
        let places: Vec<_> = path.iter().map(place).collect();
        let names = DisplayNames::trusted(module);
        let printer = InstructionPrinter::new(module, &names, function);
        let code = module.function_bytecode(function);
        let print = |index: usize| {
            let Some(instruction) = info.code.instructions.get(index) else {
                return String::new();
            };
            match vmfb::decode(code, instruction.offset) {
                Ok(decoded) => {
                    let text = printer.print(&decoded);
                    // Without the note on a number in other notations.
                    let text = text.split("  //").next().unwrap_or_default();
                    format!("[{}] {text}", instruction.offset)
                }
                Err(error) => format!("[{}] {error}", instruction.offset),
            }
        };
        let at = StandAt { instruction, path: &places, calls, given };
        let proof = info.proof.get_or_init(|| self.prove(module, function, info)).as_ref();
        let proven = proof.map(|it| it.evidence(&at, name, &print));
        match proven {
            Some(Some(evidence)) => Some(evidence),
            _ => self.unproven_evidence(path.get(calls)?, name),
        }
    }

    /// Why a name has no value at a position for which there is no proof.
    #[must_use]
    pub fn unproven_evidence(&self, position: &SourcePosition, name: &str) -> Option<Evidence> {
        let names = self.unproven(position)?;
        let found = names.into_iter().find(|it| it.name == name)?;
        let ValueLocation::Missing(reason) = found.location else { return None };
        let note = "the source of this code and its bytecode could not be compared";
        Some(Evidence {
            name: found.name,
            missing: Some(reason.words().to_owned()),
            notes: vec![note.to_owned()],
            ..Evidence::default()
        })
    }

    /// The names in scope at a position of which nothing is known, for this reason.
    #[must_use]
    pub fn names_at(&self, position: &SourcePosition, reason: MissingReason) -> Vec<ScopedValue> {
        let mut names = self.unproven(position).unwrap_or_default();
        for value in &mut names {
            if matches!(value.location, ValueLocation::Missing(MissingReason::OptimizedOut)) {
                value.location = ValueLocation::Missing(reason);
            }
        }
        names
    }

    /// The names in scope at a position for which there is no proof.
    #[must_use]
    pub fn unproven(&self, position: &SourcePosition) -> Option<Vec<ScopedValue>> {
        let function = self.source(position.file)?.function_read(position.line)?;
        let names = proof::without_values(&function, place(position));
        Some(self.with_node_names(names, position))
    }

    /// The names that the operation at a position defines, which are in scope after it. Their
    /// values are not known, but for tensors.
    #[must_use]
    pub fn results_at(&self, position: &SourcePosition) -> Vec<ScopedValue> {
        let read = || {
            let function = self.source(position.file)?.function_read(position.line)?;
            Some(proof::results_without_values(&function, place(position)))
        };
        self.with_node_names(read().unwrap_or_default(), position)
    }

    /// Whether two places are in one function of the source.
    #[must_use]
    pub fn are_in_one_function(&self, one: SourcePosition, other: SourcePosition) -> bool {
        let source = self.source(one.file).filter(|_| one.file == other.file);
        source.is_some_and(|it| it.are_of_one_function(one.line, other.line))
    }

    /// Whether the function around a place gives a name to another value than the one that is
    /// defined at a place: by an operation there, or as an argument.
    #[must_use]
    pub fn names_another(&self, around: SourcePosition, name: &str, at: &SourcePosition) -> bool {
        let read = || self.source(around.file)?.function_read(around.line);
        let is_here = |it| around.file == at.file && it == (at.line, at.column);
        read().is_some_and(|function| {
            let values = (0..function.values.len()).filter(|it| function.values[*it].name == name);
            values.map(|it| function.defined_at(it)).any(|it| !is_here(it))
        })
    }

    fn with_node_names(
        &self,
        mut names: Vec<ScopedValue>,
        at: &SourcePosition,
    ) -> Vec<ScopedValue> {
        for value in &mut names {
            value.node = self.node_name(at.file, at.line, &value.name).cloned();
        }
        names
    }

    fn prove(
        &self,
        module: &Module,
        ordinal: FunctionOrdinal,
        info: &FunctionInfo,
    ) -> Option<Box<Proof>> {
        let own = self.function_place(info)?;
        let source = self.source(own.file)?;
        let file = source.written();
        let name = info.name.as_deref();
        let name = name.map(|name| name.strip_suffix("$async").unwrap_or(name));
        let index =
            file.at(place(&own)).or_else(|| file.named(name?)).or_else(|| file.around(own.line))?;
        let function = Arc::new(source.read_function(index)?);
        // The code of a dispatch has its position in a function of the source but is not that
        // function.
        let is_whole = name.is_some() && file.name(index) == name;
        let origins = info.rows.iter().map(|row| match row.location {
            Some(location) => self.origin(info, location, own),
            None => Origin::default(),
        });
        let origins = origins.collect();
        let sources = Sources { text: source, function, is_whole };
        Proof::new(module, ordinal, &info.code, origins, &sources).map(Box::new)
    }

    /// The position of a function: its own, or else the position of its outermost code.
    fn function_place(&self, info: &FunctionInfo) -> Option<SourcePosition> {
        let own = info.own_position.filter(SourcePosition::is_written);
        own.or_else(|| {
            let mut locations = info.rows.iter().filter_map(|row| row.location);
            locations.find_map(|location| self.path_of(info, location).first().copied())
        })
    }

    fn origin(&self, info: &FunctionInfo, location: LocationId, own: SourcePosition) -> Origin {
        let path = self.path_of(info, location);
        // Positions in other files are of code that this file's text does not have.
        if path.iter().any(|position| position.file != own.file)
            || walk::is_generated(&self.table, location)
        {
            return Origin::default();
        }
        let places = walk::alternatives(&self.table, location);
        Origin {
            path: path.iter().map(place).collect(),
            places: places.iter().map(place).collect(),
        }
    }
}

fn place(position: &SourcePosition) -> (u32, u32) {
    (position.line, position.column)
}
