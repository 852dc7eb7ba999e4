//! Bad floats (`catch nan`, `catch inf`) and guarded memory (`--guard`), in dispatches of bytecode
//! and of machine code: golden sessions, a script for both with an expected output for each.
//!
//! They need iree-compile. To accept new output, run with `UPDATE_EXPECT=1` and read the
//! difference.

use std::path::PathBuf;

use support::{Expected, printed};

use crate::program::{IREE_DBG, data, scratch};

const BACK_ENDS: [(&str, &[&str]); 2] = [
    ("vmvx", &["--iree-hal-local-target-device-backends=vmvx"]),
    (
        "llvm-cpu",
        &["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"],
    ),
];

fn folder() -> PathBuf {
    data("traps")
}

/// A program, compiled for a back end.
fn compiled(program: &str, back_end: &str, flags: &[&str]) -> PathBuf {
    let to = scratch(&format!("traps-{program}-{back_end}.vmfb"));
    IREE_DBG.compile(folder(), format!("{program}.mlir"), to, flags)
}

/// A name, a script and arguments.
type Case<'a> = (&'a str, &'a str, &'a [&'a str]);

fn check(program: &str, cases: &[Case<'_>]) {
    check_for(&BACK_ENDS, program, cases);
}

/// Runs cases for some back ends.
fn check_for(back_ends: &[(&str, &[&str])], program: &str, cases: &[Case<'_>]) {
    let mut expected = Expected::default();
    for (back_end, flags) in back_ends {
        let module = compiled(program, back_end, flags);
        for (name, script, arguments) in cases {
            let output = IREE_DBG
                .command()
                .current_dir(folder())
                .args(["debug", "--batch", "-x", &format!("{script}.script")])
                .args(*arguments)
                .arg(&module)
                .output()
                .expect("the debugger starts");
            let file = folder().join(format!("{name}.{back_end}.expected"));
            expected.compare(&file, &printed(&output));
        }
    }
    expected.finish();
}

const MASKED: [&str; 3] = [
    "--function=masked",
    "--input=2x4xf32=1,2,3,4,5,6,7,8",
    "--input=2x4xf32=0,0,-inf,0,-inf,-inf,-inf,-inf",
];

#[test]
fn bad_floats_stop_at_the_operation_that_makes_them() {
    let chosen = ["--function=chosen", "--input=4xf32=nan,1,2,3", "--input=4xf32=0,1,2,3"];
    let product = ["--function=product", "--input=4xf32=0,1,0,2", "--input=4xf32=1,inf,inf,nan"];
    check(
        "made",
        &[
            ("masked", "nan", &MASKED),
            ("masked_first", "first", &MASKED),
            ("masked_inf", "inf", &MASKED),
            ("masked_both", "both", &MASKED),
            ("masked_results", "results", &MASKED),
            ("masked_every", "every", &MASKED),
            ("masked_back", "back", &MASKED),
            ("masked_breakpoint", "breakpoint", &MASKED),
            ("masked_over", "over", &MASKED),
            ("product", "nan", &product),
            ("product_inf", "inf", &product),
            ("replaced", "replaced", &["--function=replaced", "--input=4xf32=1,-1,2,3"]),
            ("passed", "nan", &["--function=passed", "--input=4xf32=nan,-3,4,5"]),
            ("passed_on", "nan", &["--function=passed", "--input=4xf32=nan,3,4,5"]),
            ("chosen", "nan", &chosen),
            ("chosen_operations", "operations", &chosen),
            ("scalar", "nan", &["--function=scalar", "--input=4xf32=1", "--input=0.0"]),
        ],
    );
}

/// IREE 3.13 makes no bytecode of these types, so the dispatch as a whole is reported.
#[test]
fn narrow_floats_go_bad_too() {
    let half = ["--function=half", "--input=4xf16=1,300,2,1000"];
    let brain = ["--function=brain", "--input=4xbf16=1,inf,2,nan"];
    check_for(
        &BACK_ENDS[1..],
        "halves",
        &[("half", "nan", &half), ("half_inf", "inf", &half), ("brain", "nan", &brain)],
    );
}

#[test]
fn guarded_memory_shows_what_is_read_too_much() {
    let joined = ["--guard", "--function=joined", "--input=4x6x8xf32=1", "--input=4x1x8xf32=2"];
    let looked_up = |row: &'static str| ["--guard", "--function=looked_up", row];
    check(
        "guarded",
        &[
            ("joined", "joined", &joined),
            ("looked_up", "looked_up", &looked_up("--input=2xi64=3,5")),
            ("looked_up_inside", "joined", &looked_up("--input=2xi64=3,0")),
        ],
    );
}
