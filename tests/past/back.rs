//! Random ways back and forth: whatever leads to a moment, the program's frames and all memory of
//! its device are what they were when a run that is not recorded came there.

use std::collections::BTreeMap;
use std::path::Path;

use debug::{
    Back, BreakpointId, BreakpointSpec, DataAccess, Debugger, DispatchMoment, FrameIndex,
    Granularity, RecordOptions, Resume, StepKind, StopReason,
};

use crate::generate::Program;
use crate::random::Random;
use crate::walk::{commands, device, load, walk};

/// The moves of one way.
const MOVES: usize = 60;

/// Less than the checkpoints and the overwritten memory of these programs take.
const TOO_LITTLE: usize = 48 << 10;

/// What is compared at a moment.
#[derive(PartialEq, Eq)]
struct State {
    frames: Vec<String>,
    /// The bytes of each allocation that is alive, by its number.
    memory: BTreeMap<u64, Vec<u8>>,
}

/// The states of a program before and after its commands, and where it calls the device.
pub(crate) struct States {
    known: BTreeMap<String, State>,
    commands: u64,
}

/// What ways back and forth have come to.
#[derive(Default)]
pub(crate) struct Ways {
    pub(crate) compared: usize,
    /// Of these, after a move back.
    pub(crate) back: usize,
    /// How many moves were refused, and have left the program where it stood.
    pub(crate) refused: usize,
    pub(crate) wrong: Vec<String>,
}

fn state(debugger: &Debugger) -> State {
    let frames = debugger.machine().frames();
    let frames = frames.iter().map(|it| format!("{} {:?}", it.name, it.position)).collect();
    let live = device(debugger).allocator().live();
    let bytes = |storage: &vm::Buffer| storage.read(0, storage.len());
    let memory = live.iter().map(|it| (it.number, bytes(it.allocation.storage()))).collect();
    State { frames, memory }
}

impl State {
    /// How the state of a recorded program differs, which keeps memory for longer.
    fn difference(&self, recorded: &Self) -> Option<String> {
        if self.frames != recorded.frames {
            return Some(format!("stands at {:?}, not at {:?}", recorded.frames, self.frames));
        }
        self.memory.iter().find_map(|(number, bytes)| match recorded.memory.get(number) {
            None => Some(format!("allocation {number} is not there")),
            Some(found) if found == bytes => None,
            Some(found) => {
                let at = bytes.iter().zip(found).position(|(is, was)| is != was);
                Some(format!("byte {at:?} of allocation {number} is another"))
            }
        })
    }
}

/// Runs a program that is not recorded.
pub(crate) fn states(module: &Path, program: &Program) -> Result<States, String> {
    let mut debugger = load(module, program)?;
    let (mut known, mut ran) = (BTreeMap::new(), 0);
    walk(&mut debugger, program, |debugger, _, _| {
        if let Some(moment) = debugger.moment() {
            known.insert(format!("{moment:?}"), state(debugger));
        }
        ran = commands(debugger);
        Ok(true)
    })?;
    Ok(States { known, commands: ran })
}

/// A way through a recorded program: steps, runs and jumps in both directions, while breakpoints
/// and watches come and go, and at last a change by hand.
pub(crate) fn check(
    context: &str,
    module: &Path,
    program: &Program,
    states: &States,
    random: &mut Random,
    ways: &mut Ways,
) -> Result<(), String> {
    let mut debugger = load(module, program)?;
    let every = [None, Some(1), Some(50)][random.below(3)];
    let mut options = RecordOptions { every, ..RecordOptions::default() };
    if random.chance(3) {
        (options.memory, options.disk) = (TOO_LITTLE, 0);
    }
    debugger.record(options).map_err(|refused| refused.to_string())?;
    debugger.resume(Resume::ToEntry);
    let mut way = Vec::new();
    let mut set = Vec::new();
    for _ in 0..MOVES {
        let stood = debugger.moment();
        let (name, is_back) = match go(&mut debugger, program, states, random, &mut set) {
            Ok(went) => went,
            Err(refused) if debugger.moment() != stood => {
                let here = debugger.moment();
                let text =
                    format!("{context}, {options:?}: {way:?}: {refused}; it stands at {here:?}");
                ways.wrong.push(text);
                return Ok(());
            }
            Err(refused) => {
                ways.refused += 1;
                (refused, true)
            }
        };
        way.push(name);
        let Some(moment) = debugger.moment() else {
            // The program is over.
            let _ = debugger.go_back(Back::Step(StepKind::Over, Granularity::Line));
            continue;
        };
        let Some(expected) = states.known.get(&format!("{moment:?}")) else { continue };
        ways.compared += 1;
        ways.back += usize::from(is_back);
        if let Some(difference) = expected.difference(&state(&debugger)) {
            ways.wrong.push(format!("{context}, {options:?}: {way:?}: {difference}"));
            return Ok(());
        }
    }
    change(context, &mut debugger, random, ways)
}

/// Makes a random move; returns its name, and whether it leads back.
fn go(
    debugger: &mut Debugger,
    program: &Program,
    states: &States,
    random: &mut Random,
    set: &mut Vec<BreakpointId>,
) -> Result<(String, bool), String> {
    let kind = *random.choose(&[StepKind::Into, StepKind::Over]);
    let by = *random.choose(&[Granularity::Line, Granularity::Line, Granularity::Instruction]);
    let (step, back) = (Resume::Step(StepKind::Over, by), Back::Step(kind, by));
    let refused = |back: &Back| {
        let back = *back;
        move |error: debug::Refused| format!("{back:?}: {error}")
    };
    Ok(match random.below(16) {
        0..4 => (format!("{step:?} {:?}", debugger.resume(step)), false),
        4..9 => (format!("{back:?} {:?}", debugger.go_back(back).map_err(refused(&back))?), true),
        9 => (format!("run {:?}", debugger.resume(Resume::Continue)), false),
        10 => {
            let back = Back::Continue;
            (format!("{back:?} {:?}", debugger.go_back(back).map_err(refused(&back))?), true)
        }
        11 => {
            // A pause may come at any time of the way back.
            let handle = debugger.interrupt_handle();
            let wait = std::time::Duration::from_micros(random.below(3000) as u64);
            let pause = std::thread::spawn(move || {
                std::thread::sleep(wait);
                handle.interrupt();
            });
            let reason = debugger.go_back(back).map_err(refused(&back))?;
            pause.join().map_err(|_| "the pause has failed")?;
            debugger.interrupt_handle().withdraw();
            (format!("paused {back:?} {reason:?}"), true)
        }
        12..14 => {
            let number = 1 + random.below(states.commands.max(1) as usize) as u64;
            let is_back = number <= commands(debugger);
            // What was given up for lack of memory is refused.
            let went = debugger.go_to_command(number).map_err(|error| error.to_string());
            (format!("to command {number}: {went:?}"), is_back)
        }
        14 if set.len() > 2 => {
            for id in set.drain(..) {
                debugger.edit_breakpoints().remove(id);
            }
            ("no breakpoints".to_owned(), false)
        }
        14 => {
            let when = *random.choose(&[DispatchMoment::Before, DispatchMoment::After]);
            let pattern = format!("*dispatch_{}*", random.below(6));
            let spec = match random.below(2) {
                0 => BreakpointSpec::Dispatch { pattern, when },
                _ => {
                    let line = 1 + random.below(program.last_line as usize) as u32;
                    let file = "program.mlir".to_owned();
                    BreakpointSpec::Line { file, line, column: None }
                }
            };
            let name = format!("{spec:?}");
            set.push(debugger.edit_breakpoints().add(spec));
            (name, false)
        }
        _ => {
            let names = ["binding[0]", "binding[1]", "operand[0]"];
            let text = format!("{}[{}]", random.choose(&names), random.below(16));
            let machine = debugger.machine();
            let target = machine.watch_target(machine.innermost_frame(), &text).ok();
            if let Some(target) = target {
                let access = *random.choose(&[DataAccess::Write, DataAccess::Change]);
                let spec = BreakpointSpec::Data { target, access };
                set.push(debugger.edit_breakpoints().add(spec));
            }
            (format!("watch {text}"), false)
        }
    })
}

/// A change by hand ends the past: the program goes back to it, and no further.
fn change(
    context: &str,
    debugger: &mut Debugger,
    random: &mut Random,
    ways: &mut Ways,
) -> Result<(), String> {
    let number = 1 + random.below(commands(debugger).max(1) as usize) as u64;
    if debugger.go_to_command(number).is_err() {
        return Ok(());
    }
    let assign = |debugger: &mut Debugger| debugger.assign(FrameIndex(0), "binding[0][0]", "1");
    // The first one is refused, and says so.
    if assign(debugger).is_ok() || assign(debugger).is_err() {
        return Ok(());
    }
    let (moment, changed) = (debugger.moment(), state(debugger));
    for _ in 0..random.below(4) {
        let reason = debugger.resume(Resume::Step(StepKind::Over, Granularity::Line));
        if reason.is_final() {
            break;
        }
    }
    let reason = debugger.go_back(Back::ToBegin).map_err(|refused| refused.to_string())?;
    ways.compared += 1;
    ways.back += 1;
    let here = debugger.moment();
    // Inside of a command, the recording begins after it.
    let is_begin = matches!(reason, StopReason::Begin) && here >= moment;
    if !is_begin {
        let what = format!("after a change at {moment:?} {reason:?} at {here:?}");
        ways.wrong.push(format!("{context}: {what}"));
    } else if here == moment
        && let Some(difference) = changed.difference(&state(debugger))
    {
        ways.wrong.push(format!("{context}: the state of a change: {difference}"));
    }
    Ok(())
}
