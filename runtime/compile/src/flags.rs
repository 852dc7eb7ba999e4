//! The flags that iree-compile gets in each run.

use std::path::Path;

use debuginfo::DispatchInterfaces;

use crate::error::CompileError;

/// Flags that keep what a debugger shows close to the source. The user's own flags override each.
const DEBUGGABLE: [&str; 4] = [
    // Command buffers are recorded where they are used, so that the stack shows their user.
    "--iree-hal-memoization=false",
    // One dispatch at a time, in the order of the source.
    "--iree-stream-partitioning-favor=debug",
    // Executables carry their sources and names.
    "--iree-hal-executable-debug-level=3",
    // Traces and assertions of the source stay in the program.
    "--iree-vm-bytecode-module-strip-debug-ops=false",
];

/// The target if the user names none: this machine, with dispatches in bytecode that can be
/// stepped. A user who names only a back end for dispatches means this machine too.
const LOCAL_VMVX: [&str; 2] =
    ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];

/// Flags by which a user names a target, or a phase of the compilation that has none.
const NAMES_TARGET: [&str; 4] = [
    "--iree-hal-target-device",
    "--iree-hal-target-backends",
    "--iree-hal-default-device",
    "--compile-from",
];

/// Flags that make the second run print the companion.
pub(crate) const COMPANION: [&str; 4] = [
    "--iree-vm-bytecode-module-output-format=annotated-mlir-text",
    "--mlir-print-debuginfo",
    "-o",
    "-",
];

/// Flags that make the third run print the sources of dispatches.
pub(crate) const DISPATCHES: [&str; 4] =
    ["--compile-to=executable-sources", "--mlir-print-debuginfo", "-o", "-"];

/// Flags that make the third run also print each call's own dispatch to files, before the compiler
/// merges equal ones. Constants are elided there; they are not needed.
pub(crate) fn outlined(directory: &Path) -> [String; 4] {
    [
        format!("--mlir-print-ir-after={}", DispatchInterfaces::OUTLINING_PASS),
        format!("--mlir-print-ir-tree-dir={}", directory.display()),
        "--mlir-elide-elementsattrs-if-larger=1024".to_owned(),
        "--mlir-elide-resource-strings-if-larger=1024".to_owned(),
    ]
}

/// Flags that only this crate may set, each with the reason.
const RESERVED: [(&str, &str); 4] = [
    ("-o", "the output is named separately"),
    ("--iree-vm-bytecode-module-output-format", "a module and its companion are written"),
    ("--output-format", "a module is written"),
    ("--compile-to", "a module is written, which takes all phases"),
];

/// The user's flags, preceded by our defaults for flags that the user does not set.
pub(crate) fn complete(user: &[String]) -> Result<Vec<String>, CompileError> {
    for flag in user {
        if let Some((_, reason)) = RESERVED.iter().find(|(name, _)| is_flag(flag, name)) {
            return Err(CompileError::ReservedFlag { flag: flag.clone(), reason });
        }
    }
    let is_set = |name: &str| user.iter().any(|flag| is_flag(flag, name));
    let target: &[&str] =
        if NAMES_TARGET.iter().any(|name| is_set(name)) { &[] } else { &LOCAL_VMVX };
    let added = DEBUGGABLE.iter().chain(target).filter(|flag| !is_set(name_of(flag)));
    Ok(added.map(|flag| (*flag).to_owned()).chain(user.iter().cloned()).collect())
}

/// Whether a flag makes the compiler write a listing of the VM program.
pub(crate) fn is_listing(flag: &str) -> bool {
    is_flag(flag, "--iree-vm-bytecode-source-listing")
}

fn name_of(flag: &str) -> &str {
    flag.split('=').next().unwrap_or(flag)
}

/// LLVM's command line accepts one dash or two.
fn is_flag(flag: &str, name: &str) -> bool {
    name_of(flag).trim_start_matches('-') == name.trim_start_matches('-') && flag.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(user: &[&str]) -> Vec<String> {
        complete(&user.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>())
            .expect("no reserved flag")
    }

    #[test]
    fn the_users_flags_win() {
        let flags =
            completed(&["-iree-hal-memoization=true", "--iree-hal-target-backends=llvm-cpu"]);
        assert!(!flags.iter().any(|flag| flag == "--iree-hal-memoization=false"));
        assert!(!flags.iter().any(|flag| flag.contains("vmvx")));
        assert_eq!(flags.last().map(String::as_str), Some("--iree-hal-target-backends=llvm-cpu"));
        assert!(completed(&[]).iter().any(|flag| flag.contains("vmvx")));
    }

    #[test]
    fn a_back_end_is_one_of_this_machine() {
        let flags = completed(&["--iree-hal-local-target-device-backends=llvm-cpu"]);
        assert!(flags.iter().any(|flag| flag == "--iree-hal-target-device=local"));
        assert!(!flags.iter().any(|flag| flag.contains("vmvx")));
    }

    #[test]
    fn reserved_flags_are_refused() {
        for flag in
            ["-o", "-o=x", "--compile-to=vm", "--iree-vm-bytecode-module-output-format=mlir-text"]
        {
            assert!(complete(&[flag.to_owned()]).is_err(), "{flag}");
        }
    }
}
