//! Expressions: every question about a stopped program must get a value or an error with a place in
//! the text, in time, and must not change the program.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use debug::{Debugger, Expression, FrameId, LaunchOptions, Limits, ModuleSource, Resume};

use crate::random::Random;
use crate::samples::{Program, Samples};

thread_local! {
    /// Stopped programs, by their number and the number of steps done.
    static STOPPED: RefCell<HashMap<(usize, usize), Debugger>> = RefCell::default();
}

/// The time limit of an evaluation. The clock is checked a little later.
const TIME: Duration = Duration::from_millis(300);
const LATE: Duration = Duration::from_secs(3);

const PIECES: &[&str] = &[
    "%x",
    "%y",
    "%a",
    "%0",
    "%\"a-b\"",
    "i0",
    "i2:3",
    "r0",
    "r1",
    "@gcd",
    "@lcm",
    "rwdata[0]",
    "rodata[0]",
    "binding[0]",
    "operand[1]",
    "workgroup_id",
    "(",
    ")",
    "[",
    "]",
    "[:]",
    "[::2]",
    "[::-2]",
    "[-1:0:-1, :]",
    ".T",
    " @ ",
    "softmax(",
    "percentile(",
    "allclose(",
    "cosine(",
    "[-1]",
    "[1, 2]",
    ",",
    ".",
    ".shape",
    ".count",
    ".f32",
    ".u8",
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    " ** ",
    " << ",
    " >> ",
    " & ",
    " | ",
    " ^ ",
    " && ",
    " || ",
    "!",
    "~",
    " == ",
    " != ",
    " <= ",
    " < ",
    " ? ",
    " : ",
    " as ",
    "4x8xf32",
    "i8",
    "f16",
    "memref<?xf32>",
    "any",
    "max(",
    "min(",
    "mean(",
    "sum(",
    "abs(",
    "sqrt(",
    "nan(",
    "hist(",
    "argmax(",
    "pow(",
    "0",
    "1",
    "-1",
    "7",
    "255",
    "4294967296",
    "9223372036854775807",
    "1e308",
    "0x1p",
    "0xFF",
    "nan",
    "inf",
    "true",
    "\"text\"",
    "\"",
    "\\",
    "é",
    "\u{0}",
    ",x",
    ",b",
    "= 3",
    "  ",
];

const WHOLE: &[&str] = &[
    "max(abs(binding[0]))",
    "%x % 2 == 1 ? i0 : -i0",
    "operand[1][0, :] * 2 + 1",
    "(r0 as 2x2xf32)[1]",
    "mean(operand[0]) > 0 && %y != 3",
    "sum(binding[1] ** 2) / binding[1].count",
    "@gcd(48, 36)",
    "i0 << 40 >> 3",
    "(binding[0] as 8xf32)[::2] - (binding[0] as 8xf32)[1::2]",
    "rodata[0].u8[0:4],x",
];

/// Evaluates one text in a stopped program. Returns whether it has a value.
///
/// # Panics
/// It takes too long, its error lies outside the text, or the program has changed.
pub(crate) fn exercise(samples: &Samples, random: &mut Random, kept: &mut Vec<u8>) -> bool {
    let text = expression(random);
    kept.extend(text.as_bytes());
    let places = text.len();
    if let Err(error) = Expression::parse(&text) {
        assert!(error.span.end <= places, "{error}: outside of {text:?}");
    }
    let place = (random.below(2), random.below(12));
    STOPPED.with_borrow_mut(|stopped_at| {
        // No question changes a program, as the check below shows, so each stop serves many.
        let debugger =
            stopped_at.entry(place).or_insert_with(|| stopped(&samples.programs[place.0], place.1));
        ask(debugger, &text, random)
    })
}

fn ask(debugger: &mut Debugger, text: &str, random: &mut Random) -> bool {
    let places = text.len();
    let frame = debugger.machine().innermost_frame();
    let before = state(debugger);
    let limits = || Limits { time: TIME, elements: 1 << 16, ..Limits::default() };
    let begun = Instant::now();
    let found = match random.chance(2) {
        true => debugger.machine().evaluate_within(frame, text, limits()),
        false => debugger.evaluate_in_console(frame, text, limits()),
    };
    assert!(begun.elapsed() < LATE, "it took {:?}", begun.elapsed());
    if let Err(error) = &found {
        assert!(error.span.end <= places, "{error}: outside of {text:?}");
    }
    let _ = debugger.machine().completions(frame, text, random.below(places + 1));
    assert_eq!(state(debugger), before, "looking has changed the program");
    found.is_ok()
}

fn expression(random: &mut Random) -> String {
    let mut text =
        if random.chance(3) { String::new() } else { (*random.choose(WHOLE)).to_owned() };
    for _ in 0..random.below(5) {
        let places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let (from, to) = (*random.choose(&places), *random.choose(&places));
        let (from, to) = (from.min(to), from.max(to));
        let piece = *random.choose(PIECES);
        text = match random.below(8) {
            0 => [&text[..from], &text[to..]].concat(),
            1 => [&text[..to], &text[from..]].concat(),
            2 => format!("{}{}{}", &text[..from], random.number(), &text[to..]),
            3 if random.chance(40) => piece.repeat(2000),
            _ => [&text[..from], piece, &text[from..]].concat(),
        };
        while text.len() > 20_000 {
            text.pop();
        }
    }
    text
}

/// A program after this many steps.
fn stopped(program: &Program, steps: usize) -> Debugger {
    let options = LaunchOptions {
        modules: vec![ModuleSource::memory(
            "sample",
            program.module.clone(),
            Some(program.companion.clone()),
        )],
        function: Some(program.function.to_owned()),
        inputs: program.inputs.iter().map(|input| (*input).to_owned()).collect(),
        ..LaunchOptions::default()
    };
    let mut debugger = Debugger::load(options).expect("it was compiled");
    debugger.resume(Resume::ToEntry);
    for _ in 0..steps {
        let step = Resume::Step(debug::StepKind::Into, debug::Granularity::Statement);
        if debugger.machine().frame_count() == 0 || debugger.resume(step).is_final() {
            return stopped(program, 0);
        }
    }
    debugger
}

/// The visible state of a program: every scope of every frame.
fn state(debugger: &Debugger) -> String {
    let frames = debugger.machine().frames_in(0..8).into_iter().map(|frame| frame.id());
    let scopes = frames.flat_map(|frame: FrameId| debugger.machine().scopes(frame));
    scopes.map(|(_, node)| format!("{:?}", debugger.machine().children(&node, None))).collect()
}
