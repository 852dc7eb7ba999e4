//! The flags of a compilation that its dispatches are compiled with, when each is compiled alone.

/// The beginnings of names of flags that are about the program around the dispatches, or about
/// files beside the module.
const NOT_OF_DISPATCHES: [&str; 16] = [
    "o",
    "compile-from",
    "compile-to",
    "output-format",
    "iree-input-",
    "iree-hal-dump-",
    "iree-hal-executable-debug-level",
    "iree-hal-memoization",
    "iree-vm-",
    "iree-parameter-",
    "iree-opt-import-parameter",
    "iree-opt-export-parameter",
    "iree-opt-splat-parameter",
    "iree-flow-trace-",
    "iree-flow-break-",
    "iree-stream-partitioning-favor",
];

/// Flags that mean the machine that they are used on, each with the name of the attribute that
/// tells what that was.
const OF_THE_HOST: [(&str, &str); 2] =
    [("iree-llvmcpu-target-cpu", "cpu"), ("iree-llvmcpu-target-cpu-features", "cpu_features")];

/// The flags with which one dispatch is compiled as it was in the module. `sources` has the target
/// that the dispatches were compiled for, which says what `host` was.
#[must_use]
pub(crate) fn target_flags(flags: &[String], sources: &str) -> Vec<String> {
    let kept = flags.iter().filter(|flag| {
        let name = name_of(flag);
        let is_other = |other: &&str| match other.ends_with('-') {
            true => name.starts_with(*other),
            false => name == *other || name.starts_with(other) && other.contains("parameter"),
        };
        !NOT_OF_DISPATCHES.iter().any(is_other) && !name.starts_with("mlir-print")
    });
    let named = |flag: &str| flags.iter().any(|it| name_of(it) == flag);
    let mut all = Vec::new();
    for flag in kept {
        let host = OF_THE_HOST.iter().find(|(known, _)| *known == name_of(flag));
        let is_host = flag.split_once('=').is_some_and(|(_, value)| value == "host");
        if host.is_none() || !is_host {
            all.push(flag.clone());
            continue;
        }
        for (name, attribute) in OF_THE_HOST {
            let is_own = name == name_of(flag);
            let Some(value) = attribute_of(sources, attribute) else { continue };
            if is_own || !named(name) {
                all.push(format!("--{name}={}", once_each(value)));
            }
        }
    }
    all
}

/// `+a,-b` of `-a,-b,+a`: of a feature that is there several times, the last counts.
fn once_each(features: &str) -> String {
    let all: Vec<&str> = features.split(',').collect();
    let name = |feature: &str| feature.trim_start_matches(['+', '-']).to_owned();
    let is_last = |at: &usize| !all[at + 1..].iter().any(|later| name(later) == name(all[*at]));
    let kept: Vec<&str> = (0..all.len()).filter(is_last).map(|at| all[at]).collect();
    kept.join(",")
}

/// The name of a flag, which LLVM's command line accepts after one dash or two.
fn name_of(flag: &str) -> &str {
    flag.split('=').next().unwrap_or(flag).trim_start_matches('-')
}

/// An attribute of the first target: `cpu = "znver3"`.
fn attribute_of<'t>(sources: &'t str, name: &str) -> Option<&'t str> {
    let (_, target) = sources.split_once("#hal.executable.target<\"llvm-cpu\"")?;
    let line = target.lines().next()?;
    let (_, value) = line.split_once(&format!("{name} = \""))?;
    Some(value.split_once('"')?.0).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: &str = "#t = #hal.executable.target<\"llvm-cpu\", \"elf\", {cpu = \"znver3\", \
                           cpu_features = \"+avx2,+fma\"}>\n";

    fn of(flags: &[&str]) -> Vec<String> {
        target_flags(&flags.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), SOURCES)
    }

    #[test]
    fn flags_of_the_target_and_of_optimisations_stay() {
        let stay = [
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "-iree-opt-level=O3",
            "--iree-llvmcpu-target-cpu=generic",
        ];
        let go = [
            "--iree-input-type=onnx",
            "--compile-from=flow",
            "--iree-hal-dump-executable-sources-to=x",
            "--iree-opt-import-parameters=a.irpa",
            "--iree-vm-bytecode-module-strip-debug-ops=false",
            "--iree-hal-memoization=false",
        ];
        assert_eq!(of(&[&go[..], &stay[..]].concat()), stay);
    }

    #[test]
    fn the_host_is_named() {
        let named =
            ["--iree-llvmcpu-target-cpu=znver3", "--iree-llvmcpu-target-cpu-features=+avx2,+fma"];
        assert_eq!(of(&["--iree-llvmcpu-target-cpu=host"]), named);
        let both = ["--iree-llvmcpu-target-cpu=host", "--iree-llvmcpu-target-cpu-features=+avx"];
        assert_eq!(of(&both), [named[0], both[1]]);
        assert_eq!(once_each("+pku,+avx,+64bit,+avx,-pku"), "+64bit,+avx,-pku");
    }
}
