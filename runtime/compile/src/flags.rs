//! The flags that iree-compile gets in each run.

use std::ops::Deref;
use std::path::Path;

use debuginfo::DispatchInterfaces;

use crate::error::CompileError;

/// Flags that keep what a debugger shows close to the source, each with what is seen without it.
/// The user's own flags override each.
const DEBUGGABLE: [(&str, &str); 4] = [
    (
        "--iree-hal-memoization=false",
        "command buffers are recorded in an initialiser, not where they are used",
    ),
    (
        "--iree-stream-partitioning-favor=debug",
        "dispatches may run in another order than in the source, or side by side",
    ),
    ("--iree-hal-executable-debug-level=3", "executables do not carry their sources"),
    (
        "--iree-vm-bytecode-module-strip-debug-ops=false",
        "traces and assertions of the source are not in the program",
    ),
];

/// The flag without which early compilers lay out tensors in tiles, so that they have no names.
pub(crate) const UNTILED: &str = "--iree-opt-data-tiling=false";

/// Flags by which a user has a say in that.
const TILING: [&str; 5] = [
    "--iree-opt-data-tiling",
    "--iree-global-opt-data-tiling",
    "--iree-dispatch-creation-data-tiling",
    "--iree-dispatch-creation-experimental-data-tiling",
    "--iree-opt-level",
];

/// The target if the user names none: this machine, with dispatches in bytecode that can be
/// stepped. A user who names only a back end for dispatches means this machine too.
const LOCAL_VMVX: [&str; 2] =
    ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];

/// The same for compilers that do not know devices.
const VMVX: &str = "--iree-hal-target-backends=vmvx";

/// Flags by which a user names a target, or a phase of the compilation that has none.
const NAMES_TARGET: [&str; 4] = [
    "--iree-hal-target-device",
    "--iree-hal-target-backends",
    "--iree-hal-default-device",
    "--compile-from",
];

/// Flags that make a run print the companion.
pub(crate) const COMPANION: [&str; 4] = [
    "--iree-vm-bytecode-module-output-format=annotated-mlir-text",
    "--mlir-print-debuginfo",
    "-o",
    "-",
];

/// Flags that make a whole run print the sources of dispatches.
pub(crate) const DISPATCHES: [&str; 4] =
    ["--compile-to=executable-sources", "--mlir-print-debuginfo", "-o", "-"];

/// The flag that makes a compilation print all of its phases.
pub(crate) const PHASES: &str = "--dump-compilation-phases-to";

const COMPILE_FROM: &str = "--compile-from";
const LISTING: &str = "--iree-vm-bytecode-source-listing";
const LOCATIONS: &str = "--mlir-print-debuginfo";

/// The flag that lets larger constants into dispatches.
const INLINED_BYTES: &str = "--iree-flow-inline-constants-max-byte-length";

/// Which constants are left out of printed phases. Those of dispatches stay: dispatches are
/// compiled again from the text.
#[derive(Clone, Copy)]
pub(crate) struct Elision {
    /// The most bytes of a constant in a dispatch.
    in_dispatches: u64,
}

impl Elision {
    pub(crate) fn of(flags: &[String]) -> Self {
        let set = flags.iter().rev().find(|flag| is_flag(flag, INLINED_BYTES));
        let bytes = set.and_then(|flag| flag.split_once('=')?.1.parse().ok());
        Self { in_dispatches: bytes.unwrap_or(0).max(128) }
    }

    /// Constants with more elements are left out. An element may take one bit.
    pub(crate) fn elements(self) -> u64 {
        self.in_dispatches.saturating_mul(8).min(u32::MAX.into())
    }

    pub(crate) fn flags(self) -> [String; 2] {
        // Two digits a byte, fewer than there are bits.
        let elements = self.elements();
        [
            format!("--mlir-elide-elementsattrs-if-larger={elements}"),
            format!("--mlir-elide-resource-strings-if-larger={elements}"),
        ]
    }
}

/// Flags that make the run of the module print its phases.
pub(crate) fn phases(directory: &Path) -> [String; 2] {
    [format!("{PHASES}={}", directory.display()), LOCATIONS.to_owned()]
}

/// Flags that end it with a phase.
pub(crate) fn only(phase: &str, output: &Path) -> [String; 3] {
    [format!("--compile-to={phase}"), "-o".to_owned(), output.display().to_string()]
}

/// Flags that make it also print each call's own dispatch to files, before the compiler merges
/// equal ones.
pub(crate) fn outlined(directory: &Path) -> [String; 2] {
    [
        format!("--mlir-print-ir-after={}", DispatchInterfaces::OUTLINING_PASS),
        format!("--mlir-print-ir-tree-dir={}", directory.display()),
    ]
}

/// Whether a compiler says in a line that it does not know one of these flags.
pub(crate) fn is_refusal_of(line: &str, flags: &[String]) -> bool {
    let refused = ["Unknown command line argument", "Cannot find option named"];
    let named = |flag: &String| {
        let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
        line.contains(&format!("'{name}")) || (!value.is_empty() && line.contains(value))
    };
    refused.iter().any(|text| line.contains(text)) && flags.iter().any(named)
}

/// The name of the flag that a line refuses.
pub(crate) fn refusal(line: &str) -> String {
    let named = line.split('\'').nth(1).unwrap_or(line);
    format!("it does not know {}", name_of(named))
}

/// The user's flags for a run that goes on from a printed phase: without those of files that the
/// first run has written.
pub(crate) fn to_continue(flags: &[String], phase: &str, listing: &Path) -> Vec<String> {
    let writes_files = |flag: &String| name_of(flag).contains("iree-hal-dump-executable-");
    let kept = with_listing(flags, listing).into_iter();
    let kept = kept.filter(|flag| !writes_files(flag) && !is_flag(flag, COMPILE_FROM));
    kept.chain([format!("{COMPILE_FROM}={phase}")]).collect()
}

/// The user's flags with another file for the listing, if they name one.
pub(crate) fn with_listing(flags: &[String], listing: &Path) -> Vec<String> {
    let other = |flag: &String| match is_flag(flag, LISTING) {
        true => format!("{LISTING}={}", listing.display()),
        false => flag.clone(),
    };
    flags.iter().map(other).collect()
}

/// The user's file for a listing of the VM program.
pub(crate) fn listing(flags: &[String]) -> Option<&str> {
    let flag = flags.iter().rev().find(|flag| is_flag(flag, LISTING))?;
    flag.split_once('=').map(|(_, path)| path)
}

const PRINTED: &str = "what the compiler prints is kept for debugging; to see it, run iree-compile";

/// Flags that only this crate may set, each with the reason.
const RESERVED: [(&str, &str); 5] = [
    ("-o", "the output is named separately"),
    ("--iree-vm-bytecode-module-output-format", "a module and its companion are written"),
    ("--output-format", "a module is written"),
    ("--compile-to", "a module is written, which takes all phases"),
    (PHASES, PRINTED),
];

/// The beginnings of names of flags that change what is printed, but not the module.
const PRINTING: [&str; 3] = ["mlir-print-", "mlir-elide-", "mlir-pretty-"];

/// Why a flag cannot be passed on. The flag for locations can, as it is set anyway.
fn reserved(flag: &str) -> Option<&'static str> {
    if is_flag(flag, LOCATIONS) {
        return None;
    }
    let name = name_of(flag).trim_start_matches('-');
    if flag.starts_with('-') && PRINTING.iter().any(|printing| name.starts_with(printing)) {
        return Some(PRINTED);
    }
    RESERVED.iter().find(|(name, _)| is_flag(flag, name)).map(|(_, reason)| *reason)
}

/// The flags of a compilation.
#[derive(Debug)]
pub(crate) struct Flags {
    all: Vec<String>,
    /// How many of the first are our defaults.
    defaults: usize,
    /// Whether they keep the program debuggable.
    is_debuggable: bool,
}

impl Deref for Flags {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.all
    }
}

impl Flags {
    /// The user's flags alone, without the one that is set anyway.
    pub(crate) fn only(user: &[String]) -> Result<Self, CompileError> {
        Ok(Self { all: checked(user)?, defaults: 0, is_debuggable: false })
    }

    /// The user's flags, preceded by a target if they name none.
    pub(crate) fn with_target(user: &[String]) -> Result<Self, CompileError> {
        let user = checked(user)?;
        let target = target_for(&user);
        let mut all: Vec<String> = target.iter().map(|&flag| flag.to_owned()).collect();
        let defaults = all.len();
        all.extend(user);
        Ok(Self { all, defaults, is_debuggable: false })
    }

    /// The user's flags, preceded by our defaults for flags that the user does not set.
    pub(crate) fn with_defaults(user: &[String]) -> Result<Self, CompileError> {
        let all = complete(user)?;
        let defaults = all.len() - checked(user)?.len();
        Ok(Self { all, defaults, is_debuggable: true })
    }

    /// Adds the flag against tiles if the compiler has made some, as the text of the phase `flow`
    /// shows, that neither the user nor the source asks for. Returns whether it was added.
    pub(crate) fn untile(&mut self, flow: Option<&str>, input: Option<&str>) -> bool {
        let has_tiles = |text: &str| text.contains("iree_encoding.set_encoding");
        let is_asked = self.all.iter().any(|flag| TILING.iter().any(|name| is_flag(flag, name)));
        let adds = self.is_debuggable
            && !is_asked
            && flow.is_some_and(has_tiles)
            && !input.is_some_and(has_tiles);
        if adds {
            self.all.insert(self.defaults, UNTILED.to_owned());
            self.defaults += 1;
        }
        adds
    }

    /// The default that a compiler says in a line that it does not know.
    pub(crate) fn refused_default(&self, line: &str) -> Option<&str> {
        let text = line.split_once("Unknown command line argument '")?.1;
        let is_it = |flag: &&String| {
            text.strip_prefix(flag.as_str()).is_some_and(|rest| rest.starts_with('\''))
        };
        self.all[..self.defaults].iter().find(is_it).map(String::as_str)
    }

    /// Leaves out defaults that a compiler does not know.
    pub(crate) fn drop_refused(&mut self, refused: &[String]) {
        let is_refused = |flag: &String| refused.contains(flag);
        let (defaults, user) = self.all.split_at(self.defaults);
        let mut kept: Vec<String> = defaults.iter().filter(|it| !is_refused(it)).cloned().collect();
        let names_target = defaults.iter().any(|it| it == LOCAL_VMVX[1]);
        if names_target && LOCAL_VMVX.iter().any(|it| is_refused(&(*it).to_owned())) {
            kept.retain(|it| !LOCAL_VMVX.contains(&it.as_str()));
            kept.push(VMVX.to_owned());
        }
        self.defaults = kept.len();
        kept.extend_from_slice(user);
        self.all = kept;
    }
}

/// The user's flags, preceded by our defaults for flags that the user does not set.
fn complete(user: &[String]) -> Result<Vec<String>, CompileError> {
    let user = checked(user)?;
    let is_set = |name: &str| user.iter().any(|flag| is_flag(flag, name));
    let debuggable = DEBUGGABLE.iter().map(|(flag, _)| flag);
    let target = target_for(&user);
    let added = debuggable.chain(&target).filter(|flag| !is_set(name_of(flag)));
    Ok(added.map(|flag| (*flag).to_owned()).chain(user.iter().cloned()).collect())
}

/// The target of this machine, where the user names none; without the part that the user sets.
fn target_for(user: &[String]) -> Vec<&'static str> {
    let is_set = |name: &str| user.iter().any(|flag| is_flag(flag, name));
    if NAMES_TARGET.iter().any(|name| is_set(name)) {
        return Vec::new();
    }
    LOCAL_VMVX.into_iter().filter(|flag| !is_set(name_of(flag))).collect()
}

/// What flags that a user has chosen for other purposes than debugging cost in what can be seen.
pub(crate) fn costs(user: &[String]) -> impl Iterator<Item = &'static str> {
    let lacks = |flag: &str| match user.iter().rev().find(|it| is_flag(it, name_of(flag))) {
        Some(set) => set.trim_start_matches('-') != flag.trim_start_matches('-'),
        // By default these operations stay.
        None => !flag.contains("strip-debug-ops"),
    };
    DEBUGGABLE.iter().filter(move |(flag, _)| lacks(flag)).map(|(_, cost)| *cost)
}

/// The user's flags alone, without the one that is set anyway.
fn checked(user: &[String]) -> Result<Vec<String>, CompileError> {
    for flag in user {
        if let Some(reason) = reserved(flag) {
            return Err(CompileError::ReservedFlag { flag: flag.clone(), reason });
        }
    }
    Ok(user.iter().filter(|flag| !is_flag(flag, LOCATIONS)).cloned().collect())
}

pub(crate) fn name_of(flag: &str) -> &str {
    flag.split('=').next().unwrap_or(flag)
}

/// LLVM's command line accepts one dash or two.
pub(crate) fn is_flag(flag: &str, name: &str) -> bool {
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
        for flag in [
            "-o",
            "-o=x",
            "--compile-to=vm",
            "--iree-vm-bytecode-module-output-format=mlir-text",
            "--dump-compilation-phases-to=x",
            "-mlir-elide-elementsattrs-if-larger=4",
            "--mlir-print-ir-after-all",
        ] {
            assert!(complete(&[flag.to_owned()]).is_err(), "{flag}");
            assert!(checked(&[flag.to_owned()]).is_err(), "{flag}");
        }
        assert!(!completed(&["--mlir-print-debuginfo"]).iter().any(|it| it.contains("mlir")));
    }

    #[test]
    fn costs_are_those_of_the_users_flags() {
        let all = ["--iree-vm-bytecode-module-strip-debug-ops".to_owned()];
        assert_eq!(costs(&all).count(), 4);
        assert_eq!(costs(&[]).count(), 3);
        assert_eq!(costs(&completed(&[])).count(), 0);
    }

    #[test]
    fn refusals_are_told_from_other_messages() {
        let [phases, _] = phases(Path::new("/x/phases"));
        let [after, _] = outlined(Path::new("/x/o"));
        let flags = [phases, after];
        let old = "iree-compile: Unknown command line argument \
                   '--dump-compilation-phases-to=/x/phases'.  Try: 'iree-compile --help'";
        assert!(is_refusal_of(old, &flags));
        assert_eq!(refusal(old), "it does not know --dump-compilation-phases-to");
        let pass = "for the --mlir-print-ir-after option: Cannot find option named \
                    'iree-flow-outline-dispatch-regions'!";
        assert!(is_refusal_of(pass, &flags));
        let others = "iree-compile: Unknown command line argument '--mistyped'.";
        assert!(!is_refusal_of(others, &flags));
    }

    #[test]
    fn defaults_that_a_compiler_does_not_know_are_left_out() {
        let user = ["--iree-stream-partitioning-favor=debug".to_owned()];
        let mut flags = Flags::with_defaults(&user).expect("no reserved flag");
        let line =
            |flag: &str| format!("iree-compile: Unknown command line argument '{flag}'.  Try");
        let refused = ["--iree-hal-memoization=false", LOCAL_VMVX[0], LOCAL_VMVX[1]];
        for flag in refused {
            assert_eq!(flags.refused_default(&line(flag)), Some(flag));
        }
        // The user's own flags are the user's to mend.
        assert_eq!(flags.refused_default(&line(&user[0])), None);
        assert_eq!(flags.refused_default("error: '--iree-hal-memoization=false'"), None);
        flags.drop_refused(&refused.map(str::to_owned));
        let kept = ["--iree-hal-executable-debug-level=3", DEBUGGABLE[3].0, VMVX, &user[0]];
        assert_eq!(*flags, kept.map(str::to_owned));
    }

    #[test]
    fn tiles_that_no_one_asks_for_are_switched_off_once() {
        let tiled = Some("  %5 = iree_encoding.set_encoding %4 : tensor<1x16xf32>");
        let flags = |user: &[&str]| {
            let user: Vec<String> = user.iter().map(|flag| (*flag).to_owned()).collect();
            Flags::with_defaults(&user).expect("no reserved flag")
        };
        let mut plain = flags(&["--x"]);
        assert!(!plain.untile(Some("flow.dispatch"), None) && !plain.untile(None, None));
        assert!(!plain.untile(tiled, tiled), "the source has tiles");
        assert!(plain.untile(tiled, None) && !plain.untile(tiled, None));
        assert_eq!(plain.last().map(String::as_str), Some("--x"));
        let line = format!("iree-compile: Unknown command line argument '{UNTILED}'.  Try");
        assert_eq!(plain.refused_default(&line), Some(UNTILED));
        assert!(!flags(&["-iree-opt-data-tiling=true"]).untile(tiled, None));
        assert!(!flags(&["--iree-opt-level=O2"]).untile(tiled, None));
        assert!(!Flags::with_target(&[]).expect("no reserved flag").untile(tiled, None));
    }

    #[test]
    fn larger_constants_in_dispatches_stay_whole() {
        assert_eq!(Elision::of(&[]).elements(), 1024);
        let flags = ["--iree-flow-inline-constants-max-byte-length=4096".to_owned()];
        assert_eq!(Elision::of(&flags).elements(), 32_768);
    }

    #[test]
    fn a_run_that_goes_on_writes_no_files_of_the_user() {
        let flags = ["--a", "--iree-hal-dump-executable-sources-to=x", "--compile-from=flow"];
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let listed = [&flags[..], &["--iree-vm-bytecode-source-listing=l".to_owned()]].concat();
        let expected =
            ["--a", "--iree-vm-bytecode-source-listing=/s", "--compile-from=executable-targets"];
        assert_eq!(to_continue(&listed, "executable-targets", Path::new("/s")), expected);
        assert_eq!((listing(&flags), listing(&listed)), (None, Some("l")));
    }
}
