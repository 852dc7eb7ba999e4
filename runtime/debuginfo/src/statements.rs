//! The lines and statements of one function.
//!
//! A statement starts at an instruction whose line differs from the line of the code that control
//! comes from. Within a block, control comes from the instruction before; at the head of a block,
//! from the end of each block that branches there. So a loop with a body of one line is one
//! statement, while a block that is entered from another line starts a statement, even if it
//! follows the same line in layout. Instructions without a line (generated code) belong to the
//! statement before them. So does the code of the compiler's wrapper around a function, which
//! converts arguments and results and has the line of the function itself. Only the wrapper's
//! return counts, as the end of the function. Code before the first line of the entry block is on
//! the function's own line, so that stepping by line has a place to begin.
//!
//! Constants are no statements: the compiler moves them freely, mostly far ahead of their line. Nor
//! is the code that prepares work for devices: a tensor's line is executed where its dispatch runs,
//! not here. Both count as code without a line, but a query for a line that has nothing else finds
//! them ([`FunctionLines::aside`]).
//!
//! The same holds for the jumps that end the regions of an operation and have its line: control
//! does not reach `scf.if` again after each of its branches.
//!
//! In a dispatch, instructions that fetch its operands have the location of what has made these:
//! an operation of another dispatch. They count as code without a line, too.
//!
//! Inlined code also belongs to the line of its call, and to the lines of the calls around that:
//! such a line is entered at the inlined code, even if it has no code of its own.

use std::collections::{BTreeSet, HashMap, HashSet};

use vmfb::{BytecodeOffset, Op};

use crate::bytecode::{Code, CodeInstruction, Role};
use crate::locations::{FileId, LocationId, LocationTable, SourcePosition, walk};

/// The line information of one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// The instruction.
    pub offset: BytecodeOffset,
    /// Its location.
    pub location: Option<LocationId>,
    /// The line for stepping: the innermost source position. `None` for generated code, and for
    /// code that is no statement of its line.
    pub position: Option<SourcePosition>,
    /// Identifies the inlined copy of the source line that it belongs to.
    pub instance: u32,
    /// Whether a statement starts here: stepping by line stops here, and breakpoints on the line
    /// are set here.
    pub is_statement: bool,
    /// Its role for its line.
    pub role: Role,
    /// Whether its location is of code elsewhere: it fetches what that has made.
    pub is_from_elsewhere: bool,
}

impl LineRow {
    /// Whether it works for a device.
    pub(crate) fn is_for_devices(&self) -> bool {
        matches!(self.role, Role::Dispatch | Role::Transfer | Role::Device)
    }
}

/// A file, a line, and the inlined copy of it.
type Key = (FileId, u32, u32);

/// The rows of a function, and the offsets at which its lines are entered.
pub(crate) struct FunctionLines {
    pub(crate) rows: Vec<LineRow>,
    pub(crate) starts: Vec<(SourcePosition, BytecodeOffset)>,
    /// Instructions that come from lines without being statements of them.
    pub(crate) aside: Vec<(SourcePosition, BytecodeOffset)>,
    /// Where a function begins for its user: after leading constants, if its first line is there.
    pub(crate) entry: Option<BytecodeOffset>,
}

/// The source positions of the device commands that a function records.
pub(crate) fn commands<'t>(
    code: &'t Code,
    locations: &'t [Option<LocationId>],
    table: &'t LocationTable,
) -> impl Iterator<Item = SourcePosition> + 't {
    let recording = |it: &CodeInstruction| matches!(it.role, Role::Dispatch | Role::Transfer);
    let found = code.instructions.iter().zip(locations).filter(move |(it, _)| recording(it));
    let chains = found.filter_map(|(_, location)| Some(walk::call_chain(table, (*location)?)));
    chains.filter_map(|chain| chain.first().copied()).filter(SourcePosition::is_written)
}

pub(crate) fn build(
    code: &Code,
    locations: &[Option<LocationId>],
    table: &LocationTable,
    own_position: Option<SourcePosition>,
    commands: &HashSet<SourcePosition>,
    is_own: &dyn Fn(SourcePosition) -> bool,
) -> FunctionLines {
    let (instances, known) = Default::default();
    let mut places = Places { table, own_position, is_own, instances, known };
    let mut aside = Vec::new();
    let mut places: Vec<Place> = locations
        .iter()
        .zip(&code.instructions)
        .map(|(location, instruction)| {
            let place = places.of(*location);
            let is_wrapper = place.is_outermost && place.positions.first().copied() == own_position;
            let made_here = place.positions.first().copied();
            let is_of_command = made_here.is_some_and(|position| commands.contains(&position));
            if instruction.role != Role::Work || is_of_command {
                aside.extend(made_here.map(|position| (position, instruction.offset)));
                place.without_positions()
            } else if is_wrapper && instruction.op != Op::Return {
                place.without_positions()
            } else {
                place
            }
        })
        .collect();
    pass_over_jumps(code, &mut places, &mut aside);
    let moved = pass_over_moved(code, &mut places);
    let entry = entry(code, &places, &moved);
    begin_on_own_line(code, &mut places, own_position, &moved);
    let before = keys_before(code, &places);
    let rows = Vec::with_capacity(places.len());
    let mut lines = FunctionLines { rows, starts: moved, aside, entry };
    for ((instruction, place), before) in code.instructions.iter().zip(&places).zip(&before) {
        let mut is_statement = false;
        for (index, position) in place.positions.iter().enumerate() {
            let key = (position.file, position.line, place.instance);
            let is_start = !before.contains(&key);
            if is_start {
                lines.starts.push((*position, instruction.offset));
            }
            is_statement |= is_start && index == 0;
        }
        for (position, instance) in &place.calls {
            if !before.contains(&(position.file, position.line, *instance)) {
                lines.starts.push((*position, instruction.offset));
            }
        }
        lines.rows.push(LineRow {
            offset: instruction.offset,
            location: place.location,
            position: place.positions.first().copied(),
            instance: place.instance,
            is_statement,
            role: instruction.role,
            is_from_elsewhere: place.is_from_elsewhere,
        });
    }
    lines
}

/// Removes jumps from lines that have other code: the jumps that end an operation's regions have
/// its location, but control reaches them after the operation.
fn pass_over_jumps(
    code: &Code,
    places: &mut [Place],
    aside: &mut Vec<(SourcePosition, BytecodeOffset)>,
) {
    let is_jump = |instruction: &CodeInstruction| instruction.op == Op::Branch;
    let others = code.instructions.iter().zip(&*places).filter(|(it, _)| !is_jump(it));
    let with_others: HashSet<SourcePosition> =
        others.filter_map(|(_, place)| place.positions.first().copied()).collect();
    // The entry block is exempt: a function may begin with a jump into a loop.
    let entry_block = code.instructions.iter().position(|it| !it.successors.is_empty());
    let after_entry = entry_block.map_or(0, |last| last + 1);
    for (instruction, place) in code.instructions.iter().zip(places).skip(after_entry) {
        let position = place.positions.first().filter(|position| with_others.contains(position));
        if let Some(position) = position.copied().filter(|_| is_jump(instruction)) {
            aside.push((position, instruction.offset));
            *place = std::mem::take(place).without_positions();
        }
    }
}

/// Removes accesses of globals from stepping that the compiler has moved: loads ahead of code that
/// stands above them in the source, stores after code that stands below. Breakpoints on their lines
/// still find them.
fn pass_over_moved(code: &Code, places: &mut [Place]) -> Vec<(SourcePosition, BytecodeOffset)> {
    let mut moved = Vec::new();
    let instructions = &code.instructions;
    let mut start = 0;
    while start < instructions.len() {
        let length = instructions[start + 1..].iter().take_while(|it| !it.begins_block).count();
        let block = start..start + 1 + length;
        let line = |place: &Place| {
            let position = place.positions.first()?;
            Some((position.file, place.instance, position.line))
        };
        let lines: Vec<_> = block.clone().map(|index| line(&places[index])).collect();
        for index in block.clone() {
            let Some((file, instance, own)) = lines[index - start] else { continue };
            let mnemonic = instructions[index].op.mnemonic();
            let is_of_same = |other: &&Option<(FileId, u32, u32)>| {
                other.is_some_and(|(of, copy, _)| (of, copy) == (file, instance))
            };
            let at = index - start;
            let is_moved = if mnemonic.starts_with("global.load.") {
                lines[at + 1..]
                    .iter()
                    .find(is_of_same)
                    .is_some_and(|next| next.is_some_and(|it| it.2 < own))
            } else if mnemonic.starts_with("global.store.") {
                lines[..at]
                    .iter()
                    .rev()
                    .find(is_of_same)
                    .is_some_and(|last| last.is_some_and(|it| it.2 > own))
            } else {
                false
            };
            if is_moved {
                moved.extend(
                    places[index].positions.iter().map(|it| (*it, instructions[index].offset)),
                );
                places[index] = std::mem::take(&mut places[index]).without_positions();
            }
        }
        start = block.end;
    }
    moved
}

/// The first instruction after leading constants and moved code if it is on a line, else the very
/// first.
fn entry(
    code: &Code,
    places: &[Place],
    moved: &[(SourcePosition, BytecodeOffset)],
) -> Option<BytecodeOffset> {
    let mut instructions = code.instructions.iter().zip(places);
    let (first, _) = instructions.clone().next()?;
    let first_work = instructions.find(|(instruction, _)| {
        let is_moved = moved.iter().any(|(_, offset)| *offset == instruction.offset);
        instruction.role != Role::Constant && !is_moved
    });
    let begun = first_work.filter(|(_, place)| !place.positions.is_empty());
    Some(begun.map_or(first.offset, |(instruction, _)| instruction.offset))
}

/// Gives the code before the first line of the entry block the function's line, except for moved
/// code, which keeps its own.
fn begin_on_own_line(
    code: &Code,
    places: &mut [Place],
    own_position: Option<SourcePosition>,
    moved: &[(SourcePosition, BytecodeOffset)],
) {
    let entry_block =
        1 + code.instructions.iter().skip(1).take_while(|it| !it.begins_block).count();
    let instance = places.first().map_or(0, |place| place.instance);
    let prologue = places.iter_mut().zip(&code.instructions).take(entry_block);
    // Some compilers begin with discarding the arguments that are not used.
    let is_passed = |instruction: &CodeInstruction| {
        matches!(instruction.role, Role::Work | Role::Constant) || instruction.op == Op::DiscardRefs
    };
    let prologue = prologue
        .take_while(|(place, instruction)| place.positions.is_empty() && is_passed(instruction));
    let is_moved = |offset| moved.iter().any(|(_, at)| *at == offset);
    for (place, _) in prologue.filter(|(_, instruction)| !is_moved(instruction.offset)) {
        place.positions.extend(own_position);
        place.instance = instance;
    }
}

/// For each instruction, the lines that control comes from on every path.
fn keys_before(code: &Code, places: &[Place]) -> Vec<BTreeSet<Key>> {
    let sources = block_sources(code);
    let outgoing = outgoing_keys(code, places);
    let mut before: Vec<BTreeSet<Key>> = Vec::with_capacity(places.len());
    let mut current = BTreeSet::new();
    for (index, instruction) in code.instructions.iter().enumerate() {
        if instruction.begins_block {
            current = entering_keys(
                &outgoing,
                sources.get(&index).map_or(&[][..], Vec::as_slice),
                index == 0,
            );
        }
        before.push(current.clone());
        if !places[index].positions.is_empty() {
            current = places[index].keys();
        }
    }
    before
}

/// The lines in which all predecessors of a block end.
fn entering_keys(
    outgoing: &HashMap<usize, BTreeSet<Key>>,
    sources: &[usize],
    is_entry: bool,
) -> BTreeSet<Key> {
    let mut sources = sources.iter().map(|source| outgoing.get(source));
    match sources.next().flatten() {
        Some(first) if !is_entry => sources.fold(first.clone(), |keys, other| {
            other.map(|other| keys.intersection(other).copied().collect()).unwrap_or_default()
        }),
        _ => BTreeSet::new(),
    }
}

/// By first instruction of a block, the terminators that branch to it.
fn block_sources(code: &Code) -> HashMap<usize, Vec<usize>> {
    let mut sources: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, instruction) in code.instructions.iter().enumerate() {
        for target in &instruction.successors {
            if let Some(target) = code.index_at(*target) {
                sources.entry(target).or_default().push(index);
            }
        }
    }
    sources
}

/// By terminator, the lines at the end of its block.
fn outgoing_keys(code: &Code, places: &[Place]) -> HashMap<usize, BTreeSet<Key>> {
    let mut outgoing = HashMap::new();
    let mut last: Option<usize> = None;
    for (index, instruction) in code.instructions.iter().enumerate() {
        if instruction.begins_block {
            last = None;
        }
        if !places[index].positions.is_empty() {
            last = Some(index);
        }
        if !instruction.successors.is_empty() {
            outgoing.insert(index, last.map(|last| places[last].keys()).unwrap_or_default());
        }
    }
    outgoing
}

/// The source positions of an instruction, the primary one first, and its inlined copy.
#[derive(Clone, Default)]
struct Place {
    location: Option<LocationId>,
    positions: Vec<SourcePosition>,
    instance: u32,
    /// The calls that were inlined here, each with its inlined copy.
    calls: Vec<(SourcePosition, u32)>,
    /// Whether no call was inlined here.
    is_outermost: bool,
    /// Whether its positions were those of code elsewhere.
    is_from_elsewhere: bool,
}

impl Place {
    fn without_positions(self) -> Self {
        Self { positions: Vec::new(), calls: Vec::new(), ..self }
    }

    fn keys(&self) -> BTreeSet<Key> {
        let own = self.positions.iter().map(|position| (position, self.instance));
        let calls = self.calls.iter().map(|(position, instance)| (position, *instance));
        own.chain(calls)
            .map(|(position, instance)| (position.file, position.line, instance))
            .collect()
    }
}

/// Resolves locations, each once.
struct Places<'a> {
    table: &'a LocationTable,
    own_position: Option<SourcePosition>,
    /// Whether the function has code for a position.
    is_own: &'a dyn Fn(SourcePosition) -> bool,
    instances: HashMap<Vec<SourcePosition>, u32>,
    known: HashMap<LocationId, Place>,
}

impl Places<'_> {
    fn of(&mut self, location: Option<LocationId>) -> Place {
        let Some(id) = location else { return Place::default() };
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let chain = walk::call_chain(self.table, id);
        let instance = self.instance(chain.get(1..).unwrap_or_default());
        let mut positions = self.positions(id, &chain);
        let is_written = !positions.is_empty();
        positions.retain(|it| (self.is_own)(*it));
        let is_from_elsewhere = is_written && positions.is_empty();
        let calls = if positions.is_empty() { Vec::new() } else { self.calls(&chain) };
        let is_outermost = chain.len() == 1;
        let place = Place { location, positions, instance, calls, is_outermost, is_from_elsewhere };
        self.known.insert(id, place.clone());
        place
    }

    /// The inlined copy that a chain of calls leads to.
    fn instance(&mut self, callers: &[SourcePosition]) -> u32 {
        let next = self.instances.len() as u32;
        *self.instances.entry(callers.to_vec()).or_insert(next)
    }

    /// The calls of a chain, without the compiler's wrapper.
    fn calls(&mut self, chain: &[SourcePosition]) -> Vec<(SourcePosition, u32)> {
        let own_position = self.own_position;
        let callers = (1..chain.len()).filter(|level| {
            let is_wrapper = level + 1 == chain.len() && Some(chain[*level]) == own_position;
            chain[*level].is_written() && !is_wrapper
        });
        callers.map(|level| (chain[level], self.instance(&chain[level + 1..]))).collect()
    }

    /// The source positions of a location. If its innermost part is unknown, the code is generated,
    /// even if its caller is known.
    fn positions(&self, id: LocationId, chain: &[SourcePosition]) -> Vec<SourcePosition> {
        let is_written = chain.first().is_some_and(SourcePosition::is_written);
        if !is_written || walk::is_generated(self.table, id) {
            Vec::new()
        } else {
            walk::alternatives(self.table, id)
        }
    }
}
