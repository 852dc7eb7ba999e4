//! Who has written an element last, by runs that are not recorded.
//!
//! The processor watches every store, four elements at a time. Where it may not, all memory is
//! overwritten with random bytes before each command, and what a command leaves otherwise it has
//! written. In bytecode, a watchpoint sees each instruction that stores, with its workgroup.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use debug::{
    BreakpointId, BreakpointSpec, BufferView, Children, DataAccess, Debugger, Memory, Node,
    StopReason,
};

use hal::{Origin, Work};

use crate::generate::Program;
use crate::hardware::{self, Watch};
use crate::random::Random;
use crate::walk::{Place, commands, device, load, walk};

/// An element at a stop.
pub(crate) struct Question {
    /// The stop: before a command, by its number, or at the return.
    pub(crate) before: Option<u64>,
    pub(crate) element: String,
    /// Its memory: the number of its allocation, the offset in it, and its length.
    allocation: u64,
    offset: usize,
    length: usize,
}

/// Who has written it last.
pub(crate) struct Truth {
    pub(crate) command: Option<u64>,
    /// In bytecode.
    pub(crate) workgroup: Option<[u32; 3]>,
    /// Whether that has left the bytes that were there.
    pub(crate) is_again: bool,
    /// Whether that was found out by random bytes.
    pub(crate) is_by_marks: bool,
}

/// A command that has written an element.
#[derive(Clone, Copy)]
struct Write {
    command: u64,
    workgroup: Option<[u32; 3]>,
    is_again: bool,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.before {
            Some(number) => write!(f, "{} before command {number}", self.element),
            None => write!(f, "{} at the end", self.element),
        }
    }
}

/// How many names are asked for at a stop; not all of them have a value.
const ATTEMPTS: usize = 8;

/// Chooses elements that have a value, at random stops.
pub(crate) fn questions(
    module: &Path,
    program: &Program,
    count: usize,
    random: &mut Random,
) -> Result<Vec<Question>, String> {
    let mut debugger = load(module, program)?;
    let mut all = Vec::new();
    walk(&mut debugger, program, |debugger, _, place| {
        let before = match place {
            Place::Command { is_done: false } => Some(commands(debugger) + 1),
            Place::End => None,
            _ => return Ok(true),
        };
        for _ in 0..ATTEMPTS {
            let (name, sizes) = random.choose(&program.names);
            let index = sizes.iter().map(|size| random.below(*size).to_string());
            let element = format!("{name}[{}]", index.collect::<Vec<_>>().join(", "));
            // Of those that the program was called with, a few.
            let rarely = random.chance(16);
            let question = question(debugger, before, &element);
            all.extend(question.filter(|(_, is_own)| *is_own || rarely).map(|(it, _)| it));
        }
        Ok(true)
    })?;
    let mut chosen = Vec::new();
    while chosen.len() < count && !all.is_empty() {
        chosen.push(all.swap_remove(random.below(all.len())));
    }
    Ok(chosen)
}

/// An element that has a value now, in memory of the device, and whether the program has made that
/// memory.
fn question(debugger: &Debugger, before: Option<u64>, element: &str) -> Option<(Question, bool)> {
    let machine = debugger.machine();
    let target = machine.watch_target(machine.innermost_frame(), element).ok()?;
    let ranges = target.memory_ranges();
    let [range] = &ranges[..] else { return None };
    device(debugger).allocator().live().into_iter().find_map(|live| {
        let storage = live.allocation.storage();
        let start = storage.address() as usize;
        let is_in = start <= range.start && range.end <= start + storage.len();
        let (allocation, offset) = (live.number, range.start.wrapping_sub(start));
        let (element, length) = (element.to_owned(), range.len());
        let is_own = matches!(live.origin, Origin::Alloca | Origin::Allocate);
        is_in.then_some((Question { before, element, allocation, offset, length }, is_own))
    })
}

/// Who has written what the questions are about.
pub(crate) fn truths(
    module: &Path,
    program: &Program,
    is_bytecode: bool,
    questions: &[Question],
) -> Result<Vec<Truth>, String> {
    let watched = by_hardware(module, program, questions)?;
    let is_by_marks = watched.is_none();
    let mut writes = match watched {
        Some(writes) => writes,
        None => by_marks(module, program, questions)?,
    };
    if is_bytecode {
        let (seen, dispatches) = by_instruction(module, program, questions)?;
        for ((question, writes), seen) in questions.iter().zip(&mut writes).zip(&seen) {
            add_workgroups(writes, seen, &dispatches).map_err(|it| format!("{question}: {it}"))?;
        }
    }
    let truth = |(question, writes): (&Question, Vec<Write>)| {
        let is_past = |it: &&Write| question.before.is_none_or(|before| it.command < before);
        let last = writes.iter().rfind(is_past).copied();
        Truth {
            command: last.map(|it| it.command),
            workgroup: last.and_then(|it| it.workgroup),
            is_again: last.is_some_and(|it| it.is_again),
            is_by_marks,
        }
    };
    Ok(questions.iter().zip(writes).map(truth).collect())
}

/// Adds the workgroups that watchpoints have seen. Of dispatches these see every store, as the
/// processor does; of other commands only those that change something.
fn add_workgroups(
    writes: &mut [Write],
    seen: &[Write],
    dispatches: &BTreeSet<u64>,
) -> Result<(), String> {
    let numbers = |writes: &[Write]| -> BTreeSet<u64> {
        let numbers = writes.iter().map(|it| it.command);
        numbers.filter(|number| dispatches.contains(number)).collect()
    };
    let (by_processor, by_bytecode) = (numbers(writes), numbers(seen));
    if by_processor != by_bytecode {
        return Err(format!(
            "the processor has seen commands {by_processor:?} write it, watchpoints \
             {by_bytecode:?}"
        ));
    }
    for write in writes {
        let last = seen.iter().rfind(|it| it.command == write.command);
        write.workgroup = last.and_then(|it| it.workgroup);
    }
    Ok(())
}

/// The memory of a question, if its allocation is alive.
fn memory(debugger: &Debugger, question: &Question) -> Option<Memory> {
    let live = device(debugger).allocator().live();
    let live = live.into_iter().find(|live| live.number == question.allocation)?;
    let node = Node::Buffer(live.allocation.storage().clone(), BufferView::Choice);
    Memory::of(&Children { node, indexed: None })
}

fn bytes(memory: &Memory, question: &Question) -> Vec<u8> {
    memory.read(question.offset as i64, question.length).1
}

/// The writes that the processor sees. `None`: it may not watch.
fn by_hardware(
    module: &Path,
    program: &Program,
    questions: &[Question],
) -> Result<Option<Vec<Vec<Write>>>, String> {
    struct Watched<'a> {
        question: &'a Question,
        watch: Option<(Watch, Memory)>,
        count: u64,
        bytes: Vec<u8>,
        writes: Vec<Write>,
    }
    let mut all = Vec::new();
    for group in questions.chunks(hardware::MOST) {
        let watched = |question| Watched {
            question,
            watch: None,
            count: 0,
            bytes: Vec::new(),
            writes: Vec::new(),
        };
        let mut group: Vec<Watched<'_>> = group.iter().map(watched).collect();
        let mut debugger = load(module, program)?;
        let (mut is_forbidden, mut ran) = (false, 0);
        walk(&mut debugger, program, |debugger, _, _| {
            for it in &mut group {
                let Some((watch, memory)) = &it.watch else {
                    let Some(memory) = memory(debugger, it.question) else { continue };
                    let address = memory.reference();
                    let address = u64::from_str_radix(address.trim_start_matches("0x"), 16);
                    let address = address.map_err(|error| error.to_string())?;
                    let watch =
                        Watch::open(address + it.question.offset as u64, it.question.length);
                    let Some(watch) = watch else {
                        is_forbidden = true;
                        return Ok(false);
                    };
                    it.bytes = bytes(&memory, it.question);
                    it.watch = Some((watch, memory));
                    continue;
                };
                let (count, now) = (watch.count(), bytes(memory, it.question));
                if count != it.count {
                    let (is_again, command) = (now == it.bytes, commands(debugger));
                    if command != ran + 1 {
                        return Err(format!("{} is written by no command", it.question));
                    }
                    it.writes.push(Write { command, workgroup: None, is_again });
                }
                (it.count, it.bytes) = (count, now);
            }
            ran = commands(debugger);
            Ok(true)
        })?;
        if is_forbidden {
            return Ok(None);
        }
        all.extend(group.into_iter().map(|it| it.writes));
    }
    Ok(Some(all))
}

/// The writes that watchpoints see, with their workgroups, and which commands are dispatches.
fn by_instruction(
    module: &Path,
    program: &Program,
    questions: &[Question],
) -> Result<(Vec<Vec<Write>>, BTreeSet<u64>), String> {
    let mut debugger = load(module, program)?;
    let mut ids: BTreeMap<BreakpointId, usize> = BTreeMap::new();
    let mut writes = vec![Vec::new(); questions.len()];
    walk(&mut debugger, program, |debugger, reason, place| {
        if let StopReason::Data(hits) = reason {
            let is_done = place == (Place::Command { is_done: true });
            let command = commands(debugger) + u64::from(place == Place::Inside && !is_done);
            let workgroup = workgroup(debugger);
            for hit in hits {
                if let Some(index) = ids.get(&hit.breakpoint) {
                    let is_again = hit.old == hit.new;
                    writes[*index].push(Write { command, workgroup, is_again });
                }
            }
        }
        for (index, question) in questions.iter().enumerate() {
            if ids.values().any(|known| *known == index) {
                continue;
            }
            if let Some(memory) = memory(debugger, question) {
                let machine = debugger.machine();
                let target = machine.watch_memory(&memory, question.offset, question.length);
                let target = target.map_err(|why| why.to_string())?;
                let access = DataAccess::Write;
                // Equal targets share a breakpoint.
                let target = target.called(format!("question {index}"));
                ids.insert(
                    debugger.edit_breakpoints().add(BreakpointSpec::Data { target, access }),
                    index,
                );
            }
        }
        Ok(true)
    })?;
    let records = device(&debugger).history().records();
    let dispatches = records.iter().filter(|it| matches!(it.work, Work::Dispatch(_)));
    Ok((writes, dispatches.map(|it| it.number).collect()))
}

/// The workgroup in which the program stands.
fn workgroup(debugger: &Debugger) -> Option<[u32; 3]> {
    let frames = debugger.machine().frames();
    let name = frames.iter().find_map(|frame| {
        let (_, rest) = frame.name.split_once("workgroup (")?;
        Some(rest.split_once(')')?.0.to_owned())
    })?;
    let mut numbers = name.split(',').map_while(|it| it.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// How often memory is overwritten with random bytes before each command, in one run each.
const MARKINGS: u64 = 12;

/// The writes that show where memory is overwritten before each command.
fn by_marks(
    module: &Path,
    program: &Program,
    questions: &[Question],
) -> Result<Vec<Vec<Write>>, String> {
    let mut commands_of: Vec<BTreeMap<u64, bool>> = vec![BTreeMap::new(); questions.len()];
    for seed in 1..=MARKINGS {
        let mut random = Random::new(seed);
        let mut debugger = load(module, program)?;
        let mut marks: Vec<Option<Vec<u8>>> = vec![None; questions.len()];
        walk(&mut debugger, program, |debugger, _, place| {
            for (index, question) in questions.iter().enumerate() {
                let Some(memory) = memory(debugger, question) else { continue };
                let now = bytes(&memory, question);
                if marks[index].take().is_some_and(|mark| mark != now) {
                    commands_of[index].insert(commands(debugger), false);
                }
            }
            if place == (Place::Command { is_done: false }) {
                for live in device(debugger).allocator().live() {
                    let storage = live.allocation.storage();
                    let garbage = (0..storage.len().div_ceil(4)).flat_map(|_| word(&mut random));
                    let garbage: Vec<u8> = garbage.take(storage.len()).collect();
                    // Constants may be in memory that cannot be written.
                    let _ = storage.write(0, &garbage);
                }
                for (index, question) in questions.iter().enumerate() {
                    marks[index] = memory(debugger, question).map(|it| bytes(&it, question));
                }
            }
            Ok(true)
        })?;
    }
    let writes = commands_of.into_iter().map(|commands| {
        let write = |(command, is_again)| Write { command, workgroup: None, is_again };
        commands.into_iter().map(write).collect()
    });
    Ok(writes.collect())
}

/// Four bytes: any, or a number at the edge.
fn word(random: &mut Random) -> [u8; 4] {
    const EDGES: [u32; 8] =
        [0, 0x8000_0000, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, u32::MAX, 0x7FFF_FFFF, 1];
    let edge = random.chance(2).then(|| *random.choose(&EDGES));
    edge.unwrap_or((random.bits() >> 16) as u32).to_le_bytes()
}
