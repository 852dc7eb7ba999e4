//! Sets `cfg(threaded)` where handlers of instructions may jump to each other: see
//! `src/machine/run.rs`.

use std::env::var;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(threaded)");
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, values: &[&str]| var(name).is_ok_and(|value| values.contains(&&*value));
    let is_optimised = is("OPT_LEVEL", &["2", "3"]);
    let has_registers = is("CARGO_CFG_TARGET_ARCH", &["x86_64", "aarch64"])
        && var("CARGO_CFG_UNIX").is_ok()
        && var("CARGO_CFG_MIRI").is_err();
    if is_optimised && has_registers {
        println!("cargo::rustc-cfg=threaded");
    }
}
