//! Operations that C leaves undefined and the reference does not check: a hardware trap kills its
//! process. Here they are `INVALID_ARGUMENT` errors. This list is complete.
//!
//! C also leaves conversions of floats undefined if the integer type cannot hold the value, but
//! they do not trap. `scalar` compares them: both sides return the hardware's result.

use crate::program::{Agreement, Program};

const I32_MIN: &str = "-2147483648";
const I64_MIN: &str = "-9223372036854775808";

/// Instruction, operand type, operands.
const TRAPS: &[(&str, &str, &str, &str)] = &[
    ("div.i32.s", "i32", "7", "0"),
    ("div.i32.s", "i32", I32_MIN, "-1"),
    ("div.i32.u", "i32", "7", "0"),
    ("rem.i32.s", "i32", "7", "0"),
    ("rem.i32.s", "i32", I32_MIN, "-1"),
    ("rem.i32.u", "i32", "7", "0"),
    ("div.i64.s", "i64", "7", "0"),
    ("div.i64.s", "i64", I64_MIN, "-1"),
    ("div.i64.u", "i64", "7", "0"),
    ("rem.i64.s", "i64", "7", "0"),
    ("rem.i64.s", "i64", I64_MIN, "-1"),
    ("rem.i64.u", "i64", "7", "0"),
];

pub(crate) fn program() -> Program {
    let mut program = Program::new("traps", &["i32"]);
    for (index, (mnemonic, of_type, left, right)) in TRAPS.iter().enumerate() {
        let (signature, body) = if *of_type == "i32" {
            (
                "(%i0: i32, %i1: i32) -> (i32)",
                format!("  %i2 = vm.{mnemonic} %i0, %i1\n  vm.return %i2\n"),
            )
        } else {
            (
                "(%i0:1: i64, %i2:3: i64) -> (i64)",
                format!("  %i4:5 = vm.{mnemonic} %i0:1, %i2:3\n  vm.return %i4\n"),
            )
        };
        let name = format!("{}_{index}", mnemonic.replace('.', "_"));
        program.function(&name, signature, &body);
        program.call(&name, &[(*left).to_owned(), (*right).to_owned()], Agreement::Trap);
    }
    program
}
