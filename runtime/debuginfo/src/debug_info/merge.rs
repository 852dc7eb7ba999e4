//! Merges companion and debug database into a [`DebugInfo`], function by function.
//!
//! A function gets its locations from the companion if it aligns with the bytecode, else from the
//! database, else none. All locations share one table.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};

use vmfb::{BytecodeOffset, DebugDatabase, FunctionOrdinal, Module};

use super::completeness::{Completeness, FunctionCompleteness, MapSource};
use super::parts::{CodePlace, FunctionInfo, Lines, PlacesByLine};
use super::tables::DebugInfo;
use crate::alignment::{self, Aligned, Imported, Mismatch};
use crate::bytecode::Code;
use crate::companion::Companion;
use crate::locations::{LocationBuilder, LocationId, LocationTable, SourcePosition, walk};
use crate::mlir_text::NamedPosition;
use crate::statements::{self, FunctionLines};

impl DebugInfo {
    /// Reads the debug information of a module and its companion. This does not fail: parts that do
    /// not fit are left out, and [`DebugInfo::completeness`] says which and why.
    #[must_use]
    pub fn load(module: &Module, companion: Option<&Companion>) -> Self {
        Merge::new(module, companion).finish(&|_, _| true)
    }

    /// The same of a module for devices. `has_place` says whether a dispatch, by its exported name,
    /// has an operation at a position.
    #[must_use]
    pub fn load_dispatches(
        module: &Module,
        companion: Option<&Companion>,
        has_place: &dyn Fn(&str, &NamedPosition) -> bool,
    ) -> Self {
        Merge::new(module, companion).finish(has_place)
    }
}

/// A merge in progress.
struct Merge<'a> {
    module: &'a Module,
    companion: Option<&'a Companion>,
    builder: LocationBuilder,
}

impl<'a> Merge<'a> {
    fn new(module: &'a Module, companion: Option<&'a Companion>) -> Self {
        let builder = companion
            .map(|companion| LocationBuilder::from_table(companion.locations.clone()))
            .unwrap_or_default();
        Self { module, companion, builder }
    }

    fn finish(mut self, has_place: &dyn Fn(&str, &NamedPosition) -> bool) -> DebugInfo {
        let ordinals = (0..self.module.functions().len()).map(FunctionOrdinal::from_index);
        let codes: Vec<Code> =
            ordinals.clone().map(|ordinal| Code::decode(self.module, ordinal)).collect();
        let aligned: Vec<Option<Result<Aligned, Mismatch>>> = ordinals
            .clone()
            .zip(&codes)
            .map(|(ordinal, code)| {
                self.companion.map(|companion| {
                    alignment::companion_function(self.module, companion, ordinal, code)
                })
            })
            .collect();
        let mut names: Vec<Option<String>> = ordinals
            .clone()
            .zip(&aligned)
            .map(|(ordinal, aligned)| self.name(ordinal, aligned.as_ref()))
            .collect();
        let database = self.module.debug_database();
        let mapped = database.map(|database| self.database_locations(database, &codes, &mut names));
        let table = std::mem::take(&mut self.builder).finish();

        let mut commands = HashSet::new();
        let locations: Vec<Option<Vec<Option<LocationId>>>> = aligned
            .iter()
            .enumerate()
            .map(|(index, aligned)| match aligned {
                Some(Ok(companion)) => Some(companion.locations()),
                _ => mapped.as_ref().and_then(|maps| maps[index].clone()),
            })
            .collect();
        for (code, locations) in codes.iter().zip(&locations) {
            commands.extend(statements::commands(
                code,
                locations.as_deref().unwrap_or(&[]),
                &table,
            ));
        }

        let mut functions = Vec::with_capacity(codes.len());
        let mut report = Vec::with_capacity(codes.len());
        let mut lines = BTreeMap::new();
        let mut aside = BTreeMap::new();
        for (index, ((code, aligned), name)) in
            codes.into_iter().zip(aligned).zip(names).enumerate()
        {
            let ordinal = FunctionOrdinal::from_index(index);
            let (companion, mismatch) = match aligned {
                Some(Ok(companion)) => (Some(companion), None),
                Some(Err(mismatch)) => (None, Some(mismatch)),
                None => (None, None),
            };
            let source = match (&companion, &locations[index]) {
                (Some(_), _) => MapSource::Companion,
                (None, Some(_)) => MapSource::Database,
                (None, None) => MapSource::Nothing,
            };
            let locations = locations[index].as_deref();
            let export = self.module.export_names(ordinal).next();
            let is_own = |at: SourcePosition| {
                let file = table.file(at.file).to_owned();
                let at = NamedPosition { file, line: at.line, column: at.column };
                export.is_none_or(|export| has_place(export, &at))
            };
            let given = Given { code, companion, locations, is_own: &is_own };
            let info = function_info(given, &table, &commands, |built| {
                enter_lines(&built, ordinal, &mut lines, &mut aside);
            });
            let info = FunctionInfo { name: name.as_deref().map(Arc::from), ..info };
            report.push(FunctionCompleteness {
                function: ordinal,
                name: name.unwrap_or_else(|| format!("function {index}")),
                source,
                mismatch,
            });
            functions.push(info);
        }
        let completeness = Completeness {
            functions: report,
            has_companion: self.companion.is_some(),
            companion_functions: self.companion.map_or(0, |companion| companion.functions.len()),
            database_maps: database.map(|database| {
                database.functions.iter().filter(|map| !map.locations.is_empty()).count()
            }),
        };
        for places in lines.values_mut().chain(aside.values_mut()) {
            places.sort_unstable();
            places.dedup_by_key(|place| (place.function, place.offset));
        }
        let lines = Lines { entered: lines, aside, ..Lines::default() };
        let globals = self.companion.map(|it| it.globals.clone()).unwrap_or_default();
        DebugInfo::new(table, functions, lines, completeness, globals)
    }

    fn name(
        &self,
        ordinal: FunctionOrdinal,
        aligned: Option<&Result<Aligned, Mismatch>>,
    ) -> Option<String> {
        if let Some(Ok(companion)) = aligned {
            return Some(companion.function.name.clone());
        }
        self.module.export_names(ordinal).next().map(str::to_owned)
    }

    /// The location of each instruction of each function that has a map in the database.
    fn database_locations(
        &mut self,
        database: &DebugDatabase,
        codes: &[Code],
        names: &mut [Option<String>],
    ) -> Vec<Option<Vec<Option<LocationId>>>> {
        let imported = Imported::import(database, &mut self.builder);
        let maps = alignment::database_maps(self.module, database, codes, names);
        let mut locations = Vec::with_capacity(codes.len());
        for ((map, code), name) in maps.into_iter().zip(codes).zip(names) {
            let Some(map) = map else {
                locations.push(None);
                continue;
            };
            name.get_or_insert_with(|| map.local_name.clone());
            let of_offset: BTreeMap<_, _> = map.locations.iter().copied().collect();
            let of = |offset: BytecodeOffset| imported.get(*of_offset.get(&offset)?);
            locations.push(Some(
                code.instructions.iter().map(|instruction| of(instruction.offset)).collect(),
            ));
        }
        locations
    }
}

/// The lines of one function.
struct EnteredLines<'f> {
    built: &'f FunctionLines,
    own_position: Option<SourcePosition>,
}

/// What is known of a function.
struct Given<'g> {
    code: Code,
    companion: Option<Aligned>,
    locations: Option<&'g [Option<LocationId>]>,
    /// Whether it has code for a position.
    is_own: &'g dyn Fn(SourcePosition) -> bool,
}

/// Assembles one function, except for its name, and enters its lines.
fn function_info(
    Given { code, companion, locations, is_own }: Given<'_>,
    table: &LocationTable,
    commands: &HashSet<SourcePosition>,
    enter: impl FnOnce(EnteredLines<'_>),
) -> FunctionInfo {
    let nothing: Vec<Option<LocationId>> = vec![None; code.instructions.len()];
    let locations = locations.unwrap_or(&nothing);
    let own_position = match &companion {
        Some(companion) => companion
            .function
            .location
            .and_then(|location| walk::call_chain(table, location).first().copied())
            .filter(SourcePosition::is_written),
        None => common_caller(table, locations),
    };
    let built = statements::build(&code, locations, table, own_position, commands, is_own);
    enter(EnteredLines { built: &built, own_position });
    FunctionInfo {
        name: None,
        code,
        entry: built.entry,
        rows: built.rows,
        own_position,
        return_position: OnceLock::new(),
        fused: OnceLock::new(),
        companion,
        listed: OnceLock::new(),
        proof: OnceLock::new(),
    }
}

/// Without a companion, the position of a wrapper is the one that all code of the function was
/// inlined at.
fn common_caller(
    table: &LocationTable,
    locations: &[Option<LocationId>],
) -> Option<SourcePosition> {
    let mut common = None;
    let mut is_inlined = false;
    for location in locations.iter().flatten() {
        let chain = walk::call_chain(table, *location);
        let Some(outermost) = chain.last().filter(|position| position.is_written()) else {
            continue;
        };
        if *common.get_or_insert(*outermost) != *outermost {
            return None;
        }
        is_inlined |= chain.len() > 1;
    }
    common.filter(|_| is_inlined)
}

/// Enters the lines of one function. Code on the line of the function itself is its entry and exit;
/// a breakpoint there means the entry.
fn enter_lines(
    EnteredLines { built, own_position }: &EnteredLines<'_>,
    ordinal: FunctionOrdinal,
    lines: &mut PlacesByLine,
    aside: &mut PlacesByLine,
) {
    let own_line = own_position.map(|position| (position.file, position.line));
    let is_own = |position: &SourcePosition| Some((position.file, position.line)) == own_line;
    let entry = own_position.zip(built.entry);
    let others = built.starts.iter().copied().filter(|(position, _)| !is_own(position));
    let enter = |to: &mut PlacesByLine, (position, offset)| {
        let place = CodePlace { function: ordinal, offset, position };
        to.entry((position.file, position.line)).or_default().push(place);
    };
    entry.into_iter().chain(others).for_each(|place| enter(lines, place));
    let not_own = built.aside.iter().copied().filter(|(position, _)| !is_own(position));
    not_own.for_each(|place| enter(aside, place));
}
