//! Overflows that stop a program are those of exact arithmetic: every instruction with random
//! operands, including all edge cases, is checked against wider numbers.

use std::fmt::Write as _;

use crate::{Debugger, LaunchOptions, ModuleSource, Resume, StopReason, Trapped, Traps};

/// An operation: its instruction, the number of its operands, and its exact result.
type Operation = (&'static str, usize, fn([i128; 3]) -> i128);

const OPERATIONS: [Operation; 6] = [
    ("add", 2, |[a, b, _]| a + b),
    ("sub", 2, |[a, b, _]| a - b),
    ("mul", 2, |[a, b, _]| a * b),
    ("div", 2, |[a, b, _]| a / b),
    ("abs", 1, |[a, ..]| a.abs()),
    // The product of a fused operation overflows first.
    ("fma", 3, |[a, b, c]| a * b + c),
];

/// A function that computes with constants, one operation after the other.
fn program(operation: &str, count: usize, bits: u32, operands: &[[i128; 3]]) -> String {
    let mut text = format!("vm.module @numbers version 0\nvm.type i{bits}\nvm.export @main\n");
    let _ = write!(text, "vm.func @main() -> () {{\n^bb0:\n");
    let register = |index: usize| match bits {
        32 => format!("%i{index}"),
        _ => format!("%i{}:{}", 2 * index, 2 * index + 1),
    };
    let suffix = if operation == "div" { ".s" } else { "" };
    for values in operands {
        for (index, value) in values.iter().take(count).enumerate() {
            let _ = writeln!(text, "  {} = vm.const.i{bits} {value}", register(index));
        }
        let read: Vec<String> = (0..count).map(register).collect();
        let (result, read) = (register(3), read.join(", "));
        let _ = writeln!(text, "  {result} = vm.{operation}.i{bits}{suffix} {read}");
    }
    text + "  vm.return\n}\n"
}

fn launched(text: &str) -> Debugger {
    let assembly = vmfb::assemble::assemble(text.as_bytes())
        .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let load = Debugger::load(LaunchOptions {
        modules: vec![ModuleSource::memory(
            "module.vmfb",
            assembly.image.to_bytes().unwrap(),
            None,
        )],
        ..LaunchOptions::default()
    });
    load.unwrap_or_else(|error| panic!("{error}"))
}

/// Random operands, often near the edges, without divisions that fail.
fn operands(bits: u32, state: &mut u64) -> [i128; 3] {
    let (low, high) = (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
    [(); 3].map(|()| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = i128::from(*state >> 1) % (high + 1);
        let small = random % 5;
        match (*state >> 50) % 6 {
            0 => random,
            1 => -random,
            2 => low + small,
            3 => high - small,
            4 => random >> (bits / 2),
            _ => small - 2,
        }
    })
}

#[test]
fn overflows_that_stop_are_those_of_exact_arithmetic() {
    let mut state = 1;
    let mut counts = [0, 0];
    for bits in [32, 64] {
        let fits = |value: i128| (value << (128 - bits)) >> (128 - bits) == value;
        for (name, count, exact) in OPERATIONS {
            let mut cases: Vec<[i128; 3]> = (0..400).map(|_| operands(bits, &mut state)).collect();
            // A division without a quotient fails by itself.
            cases.retain(|[a, b, _]| name != "div" || (*b != 0 && fits(a / b)));
            let mut expected = Vec::new();
            for [a, b, c] in &cases {
                let is_fine = fits(exact([*a, *b, *c])) && (name != "fma" || fits(a * b));
                counts[usize::from(is_fine)] += 1;
                expected.extend((!is_fine).then_some([*a, *b, *c]));
            }
            let mut debugger = launched(&program(name, count, bits, &cases));
            debugger.set_traps(Traps { overflow: true, ..Traps::default() });
            for [a, b, c] in expected {
                let reason = debugger.resume(Resume::Continue);
                let StopReason::Trap(Trapped { text, .. }) = reason else {
                    panic!("{name} {a} {b} {c}: {reason:?}")
                };
                assert!(text.contains(&format!(" overflows i{bits}: ")), "{text}");
                let shown: Vec<String> =
                    [a, b, c][..count].iter().map(|it| format!("= {it}")).collect();
                assert!(shown.iter().all(|it| text.contains(it)), "{text}: {shown:?}");
            }
            let reason = debugger.resume(Resume::Continue);
            assert!(matches!(reason, StopReason::Completed(_)), "{name}: {reason:?}");
        }
    }
    assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
}

#[test]
fn the_quotient_that_does_not_fit_stops_before_it_fails() {
    for bits in [32, 64] {
        let least = -(1_i128 << (bits - 1));
        let mut debugger = launched(&program("div", 2, bits, &[[7, 2, 0], [least, -1, 0]]));
        debugger.set_traps(Traps { overflow: true, ..Traps::default() });
        let reason = debugger.resume(Resume::Continue);
        assert!(
            matches!(&reason, StopReason::Trap(it) if it.text.contains(" overflows ")),
            "{reason:?}"
        );
        assert!(matches!(debugger.resume(Resume::Continue), StopReason::Failed(_)));
    }
}
