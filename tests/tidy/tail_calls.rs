//! Handlers of the interpreter lead to each other by jumps.
//!
//! A handler ends by calling the next one. The optimiser makes a jump of that, as nothing is left
//! to do; were it a call, a long loop would fill the host's stack. `runtime/vm/src/handlers` tests
//! that by running each handler; here its machine code is read, as the profile `release` has it. In it
//! a handler may call functions by name, for what is out of line, but no address in a register or
//! in memory: the only address that it holds is that of the next handler.

use std::path::PathBuf;
use std::process::Command;

use conformance::tools::repository;

/// There are some 700 handlers, most with a variant for observers.
const FEWEST: usize = 1000;

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "reads x86-64 machine code")]
fn handlers_end_in_jumps() {
    let listing = Command::new("objdump")
        .args(["--disassemble", "--demangle", "--no-show-raw-insn"])
        .arg(library())
        .output()
        .expect("objdump is not installed; run: apt-get install binutils");
    assert!(listing.status.success(), "objdump: {}", String::from_utf8_lossy(&listing.stderr));
    let listing = String::from_utf8_lossy(&listing.stdout);
    let mut handlers = 0;
    let mut findings = Vec::new();
    let mut handler = None;
    for line in listing.lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once('<')) {
            handler = is_handler(name.1).then_some(name.1);
            handlers += usize::from(handler.is_some());
        } else if let Some(name) = handler.filter(|_| calls_an_address(line)) {
            findings.push(format!("{name}: {}", line.trim()));
        }
    }
    assert!(handlers > FEWEST, "only {handlers} handlers in the listing");
    crate::report(&findings, "These handlers call the next one and keep a frame of the host.");
}

/// `vm::handlers::…::handler<…>`, and the cold ones.
fn is_handler(name: &str) -> bool {
    let path = name.split('<').next().unwrap_or(name);
    path.starts_with("vm::handlers::")
        && (path.ends_with("::handler") || path.ends_with("::cold_handler"))
}

/// `call *%rax`, `call *0x10(%rbx)`; what is called by name may go through the table of imports,
/// `call *0x0(%rip)`.
fn calls_an_address(line: &str) -> bool {
    line.split_once("call").is_some_and(|(_, target)| {
        let target = target.trim_start_matches('q').trim_start();
        target.starts_with('*') && !target.contains("(%rip)")
    })
}

/// The machine code of the crate `vm`, the newest if there are several. The profile `dist` keeps
/// none: it optimises the whole program at once.
fn library() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| repository().join("target"), PathBuf::from);
    let folder = target.join("release/deps");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let libraries = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        name.starts_with("libvm-") && name.ends_with(".rlib")
    });
    libraries
        .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok())
        .unwrap_or_else(|| panic!("{folder:?} has no libvm; run: cargo build --release -p vm"))
}
