//! Lines and statements of one function.
//!
//! A statement starts at an instruction whose line is another than that of the code control comes
//! from. Within a block that is the instruction before it in layout; at the head of a block it is
//! the end of each block that branches there, so that a loop whose body is one line is one
//! statement, while a block that is entered from another line is a new one even if it follows the
//! same line in layout. Instructions without a line (generated code) belong to whatever statement
//! they come after. So does what the compiler's wrapper around a function does with arguments and
//! results: it has the line of the function itself. Only its return counts, as the end of the
//! function; and what comes before the first line of the entry block is on the function's own line,
//! so that stepping by line begins somewhere.
//!
//! Constants are no statements: the compiler puts them where it likes, mostly far ahead of the line
//! that they came from. Nor is what a program does to have devices work for it: the line of a
//! tensor is where its dispatch runs, which is not here. Both are as code without a line, but that
//! somebody who looks for a line that has nothing else is told of them ([`FunctionLines::aside`]).
//!
//! The same goes for the jumps that end the regions of an operation, whose line they have: `scf.if`
//! is not come to again behind each of its branches.
//!
//! Inlined code belongs to the line of its call as well, and to that of the call around it: such a
//! line is entered where the code is, even if it has none of its own.

use std::collections::{BTreeSet, HashMap, HashSet};

use vmfb::{BytecodeOffset, Op};

use crate::bytecode::{Code, CodeInstruction, Role};
use crate::locations::{FileId, LocationId, LocationTable, SourcePosition, walk};

/// What is known of one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// The instruction.
    pub offset: BytecodeOffset,
    /// Where it comes from, as a tree.
    pub location: Option<LocationId>,
    /// The line for stepping: the innermost written position; none for generated code, nor for what
    /// is no statement of its line.
    pub position: Option<SourcePosition>,
    /// Tells copies of the same source line apart that were inlined at different places.
    pub instance: u32,
    /// Whether a statement starts here: stepping by line stops, and breakpoints of the line are
    /// set.
    pub is_statement: bool,
    /// What it does for its line.
    pub role: Role,
}

impl LineRow {
    /// Whether it does something for devices.
    pub(crate) fn is_for_devices(&self) -> bool {
        matches!(self.role, Role::Dispatch | Role::Transfer | Role::Device)
    }
}

/// A line and the inlined copy of the code that it is in.
type Key = (FileId, u32, u32);

/// The rows of a function, and for each of its lines the offsets where it is entered.
pub(crate) struct FunctionLines {
    pub(crate) rows: Vec<LineRow>,
    pub(crate) starts: Vec<(SourcePosition, BytecodeOffset)>,
    /// What came from lines without being a statement of them.
    pub(crate) aside: Vec<(SourcePosition, BytecodeOffset)>,
    /// Where a function begins, as its user sees it: behind constants, if its first line is there.
    pub(crate) entry: Option<BytecodeOffset>,
}

/// Where the commands of devices were written that a function records.
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
) -> FunctionLines {
    let mut places =
        Places { table, own_position, instances: HashMap::new(), known: HashMap::new() };
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
        });
    }
    lines
}

/// Takes jumps from the lines that have other code: those that end the regions of an operation have
/// its place, and who comes to them has come from it.
fn pass_over_jumps(
    code: &Code,
    places: &mut [Place],
    aside: &mut Vec<(SourcePosition, BytecodeOffset)>,
) {
    let is_jump = |instruction: &CodeInstruction| instruction.op == Op::Branch;
    let others = code.instructions.iter().zip(&*places).filter(|(it, _)| !is_jump(it));
    let with_others: HashSet<SourcePosition> =
        others.filter_map(|(_, place)| place.positions.first().copied()).collect();
    // A function may begin with a jump into a loop.
    let entry_block = code.instructions.iter().position(|it| !it.successors.is_empty());
    let behind = entry_block.map_or(0, |last| last + 1);
    for (instruction, place) in code.instructions.iter().zip(places).skip(behind) {
        let position = place.positions.first().filter(|position| with_others.contains(position));
        if let Some(position) = position.copied().filter(|_| is_jump(instruction)) {
            aside.push((position, instruction.offset));
            *place = std::mem::take(place).without_positions();
        }
    }
}

/// Takes accesses of globals from the order of steps that the compiler has moved: loads ahead of
/// what is written above them, stores behind what is written below. They are where their lines are,
/// all the same.
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

/// The first instruction, or the first behind constants and what was moved ahead, if that is on a
/// line.
fn entry(
    code: &Code,
    places: &[Place],
    moved: &[(SourcePosition, BytecodeOffset)],
) -> Option<BytecodeOffset> {
    let mut instructions = code.instructions.iter().zip(places);
    let (first, _) = instructions.clone().next()?;
    let behind = instructions.find(|(instruction, _)| {
        let is_moved = moved.iter().any(|(_, offset)| *offset == instruction.offset);
        instruction.role != Role::Constant && !is_moved
    });
    let begun = behind.filter(|(_, place)| !place.positions.is_empty());
    Some(begun.map_or(first.offset, |(instruction, _)| instruction.offset))
}

/// Gives what precedes the first line of the entry block the line of the function, but for what
/// somebody may want to see the origin of.
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
    let prologue = prologue.take_while(|(place, instruction)| {
        place.positions.is_empty() && matches!(instruction.role, Role::Work | Role::Constant)
    });
    let is_moved = |offset| moved.iter().any(|(_, at)| *at == offset);
    for (place, _) in prologue.filter(|(_, instruction)| !is_moved(instruction.offset)) {
        place.positions.extend(own_position);
        place.instance = instance;
    }
}

/// The lines that control is sure to come from, for each instruction.
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

/// The lines that all blocks which branch here end in.
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

/// For each first instruction of a block, the terminators that branch to it.
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

/// The lines that hold at the end of each block, by its terminator.
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

/// The source positions of an instruction, primary first, and its inlined instance.
#[derive(Clone, Default)]
struct Place {
    location: Option<LocationId>,
    positions: Vec<SourcePosition>,
    instance: u32,
    /// The calls that were inlined here, with the copies of the code that they are in.
    calls: Vec<(SourcePosition, u32)>,
    /// Whether nothing was inlined here.
    is_outermost: bool,
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

/// Looks each location up once.
struct Places<'a> {
    table: &'a LocationTable,
    own_position: Option<SourcePosition>,
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
        let positions = self.positions(id, &chain);
        let calls = if positions.is_empty() { Vec::new() } else { self.calls(&chain) };
        let place = Place { location, positions, instance, calls, is_outermost: chain.len() == 1 };
        self.known.insert(id, place.clone());
        place
    }

    /// The copy of code that calls lead to.
    fn instance(&mut self, callers: &[SourcePosition]) -> u32 {
        let next = self.instances.len() as u32;
        *self.instances.entry(callers.to_vec()).or_insert(next)
    }

    /// The calls of a chain, without that of the compiler's wrapper.
    fn calls(&mut self, chain: &[SourcePosition]) -> Vec<(SourcePosition, u32)> {
        let own_position = self.own_position;
        let callers = (1..chain.len()).filter(|level| {
            let is_wrapper = level + 1 == chain.len() && Some(chain[*level]) == own_position;
            chain[*level].is_written() && !is_wrapper
        });
        callers.map(|level| (chain[level], self.instance(&chain[level + 1..]))).collect()
    }

    /// A location whose innermost part is unknown is generated code, even where its caller is
    /// known.
    fn positions(&self, id: LocationId, chain: &[SourcePosition]) -> Vec<SourcePosition> {
        let is_written = chain.first().is_some_and(SourcePosition::is_written);
        if !is_written || walk::is_generated(self.table, id) {
            Vec::new()
        } else {
            walk::alternatives(self.table, id)
        }
    }
}
