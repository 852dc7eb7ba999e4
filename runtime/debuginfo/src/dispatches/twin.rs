//! The source of dispatches, taken from the sources of all of them and changed to be compiled to
//! bytecode, whatever they were compiled to.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::statements::symbol;
use crate::mlir_text::Cursor;

/// The target for bytecode.
const TARGET: &str = "<\"vmvx\", \"vmvx-bytecode-fb\", {iree.encoding.resolver = \
    #iree_cpu.vmvx_encoding_resolver<>, ukernels = \"none\"}>";

/// The operation that loads a constant of a call.
const LOAD: &str = "hal.interface.constant.load";

/// The operation that tells the compiler the range of a number.
const ASSUMPTION: &str = " = util.assume.int ";

/// How the text stands for a constant that was left out.
const LEFT_OUT: [&str; 3] = ["\"0x\"", "__elided__", "dense_resource<"];

/// A call whose bytecode is wanted: the name of the dispatch; with numbers, only calls with these
/// constants, so that shapes that depend on them are static.
pub type TwinCall<'a> = (&'a str, Option<&'a [u32]>);

/// Why the source of a dispatch is not compiled on its own.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoSource {
    /// No executable has the dispatch.
    #[error("the sources of dispatches do not have @{export}")]
    NotThere {
        /// The dispatch.
        export: String,
    },
    /// Large constants were not printed.
    #[error("the source of @{export} has constants that were left out of the text")]
    LeftOut {
        /// The dispatch.
        export: String,
    },
    /// What the dispatch was compiled for is written in a way that is not known.
    #[error("the target of the dispatch is not understood")]
    Target,
}

/// The text of the executables of some dispatches, with bytecode as their target, for
/// `iree-compile --compile-from=executable-sources`, which links them to one module; and the
/// dispatches that are not in it, each with the reason. `sources` is what iree-compile prints with
/// `--compile-to=executable-sources`.
#[must_use]
pub fn twin_sources<'a>(
    sources: &str,
    calls: &[TwinCall<'a>],
) -> (String, Vec<(&'a str, NoSource)>) {
    let mut text = aliases(sources);
    let _ = write!(
        text,
        "module attributes {{stream.affinity.default = #hal.device.affinity<@__device>}} {{\n\
         util.global private @__device = #hal.device.target<\"local\", \
         [#hal.executable.target{TARGET}]> : !hal.device\n"
    );
    let mut missing = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for (export, numbers) in calls {
        let mut one = String::new();
        let retargeted = whole_executable(sources, export).and_then(|executable| {
            // Several dispatches may be in one executable.
            if seen.insert(executable.lines().next().unwrap_or_default()) {
                retarget(executable, *numbers, &mut one)?;
            }
            Ok(())
        });
        match retargeted {
            Ok(()) => text.push_str(&one),
            Err(reason) => missing.push((*export, reason)),
        }
    }
    text.push_str("}\n");
    (text, missing)
}

/// The text of the executable that has a dispatch, after the aliases of attributes; none if it is
/// not there.
#[must_use]
pub fn dispatch_text(sources: &str, export: &str) -> Option<String> {
    Some(aliases(sources) + executable_of(sources, export)?)
}

/// Whether the source of a dispatch has numbers that only a call has.
#[must_use]
pub fn takes_numbers(sources: &str, export: &str) -> bool {
    executable_of(sources, export).is_some_and(|text| text.contains(LOAD))
}

/// A text without the compiler's assumptions about numbers: `%b = util.assume.int %a<umin = 0>`.
/// Where the numbers are constants, such an operation only keeps the compiler from seeing it.
fn without_assumptions(text: &str) -> String {
    let mut known: HashMap<String, String> = HashMap::new();
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((result, rest)) = line.split_once(ASSUMPTION) else {
            out.push_str(&renamed(line, &known));
            out.push('\n');
            continue;
        };
        let mut operation = rest.to_owned();
        // It ends with its types, which may stand on a line of their own.
        while !operation.contains(" : ")
            && let Some(more) = lines.next()
        {
            operation.push_str(more);
        }
        let result = result.trim();
        let (name, is_group) = match result.split_once(':') {
            Some((name, _)) => (name, true),
            None => (result, false),
        };
        let operands: Vec<&str> = values(&operation).map(|(_, value)| value).collect();
        for (index, operand) in operands.into_iter().enumerate() {
            let operand = known.get(operand).cloned().unwrap_or_else(|| operand.to_owned());
            let name = if is_group { format!("{name}#{index}") } else { name.to_owned() };
            known.insert(name, operand);
        }
    }
    out
}

/// A line with other names for some values.
pub(super) fn renamed(line: &str, names: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    for (start, value) in values(line) {
        if let Some(other) = names.get(value) {
            out.push_str(&line[at..start]);
            out.push_str(other);
            at = start + value.len();
        }
    }
    out.push_str(&line[at..]);
    out
}

/// The values of a text, `%a` or `%a#1`, with their places.
pub(super) fn values(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let starts = memchr::memchr_iter(b'%', text.as_bytes());
    starts.map(|start| {
        let rest = &text[start + 1..];
        let is_name = |it: char| it.is_ascii_alphanumeric() || "_$.-#".contains(it);
        let end = rest.find(|it| !is_name(it)).unwrap_or(rest.len());
        (start, &text[start..=start + end])
    })
}

/// The executable that has a dispatch, if all of its text is there.
pub(super) fn whole_executable<'t>(sources: &'t str, export: &str) -> Result<&'t str, NoSource> {
    let executable = executable_of(sources, export)
        .ok_or_else(|| NoSource::NotThere { export: export.to_owned() })?;
    if LEFT_OUT.iter().any(|mark| executable.contains(mark)) {
        return Err(NoSource::LeftOut { export: export.to_owned() });
    }
    Ok(executable)
}

/// The aliases of attributes and locations, which stand outside of executables.
fn aliases(sources: &str) -> String {
    let aliases = sources.lines().filter(|line| line.starts_with(['#', '!']));
    // One that goes on in further lines is the program's data, which dispatches do not name.
    let whole = aliases.filter(|line| line.matches('[').count() == line.matches(']').count());
    whole.flat_map(|line| [line, "\n"]).collect()
}

/// Writes an executable with bytecode as the target of its first variant, without the others.
fn retarget(executable: &str, numbers: Option<&[u32]>, text: &mut String) -> Result<(), NoSource> {
    text.reserve(executable.len());
    let mut has_variant = false;
    // The indentation of a variant that is left out.
    let mut skipped: Option<usize> = None;
    let folded = numbers.map(|_| without_assumptions(executable));
    for line in folded.as_deref().unwrap_or(executable).lines() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if trimmed.starts_with("hal.executable.variant ")
            && std::mem::replace(&mut has_variant, true)
        {
            // It is the same dispatch for another target.
            skipped = Some(indent);
        }
        if let Some(outer) = skipped {
            if trimmed.starts_with('}') && indent == outer {
                skipped = None;
            }
            continue;
        }
        if let Some(rest) = trimmed.strip_prefix("hal.executable private ") {
            // The compiler drops what is private and unused.
            text.push_str("hal.executable public ");
            text.push_str(rest);
        } else if trimmed.starts_with("hal.executable.variant ") {
            text.push_str(&retargeted(line).ok_or(NoSource::Target)?);
        } else if let Some(known) = numbers.and_then(|numbers| with_number(line, numbers)) {
            text.push_str(&known);
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    Ok(())
}

/// The most bytes that the bytecode of a dispatch allocates at once, as the compiler's text says
/// it. Bounds of sizes that are not known can be far too large.
#[must_use]
pub fn most_scratch(text: &str, export: &str) -> u64 {
    most_allocated(executable_of(text, export).unwrap_or(text))
}

fn most_allocated(text: &str) -> u64 {
    const ALLOCATION: &str = " = vm.buffer.alloc ";
    let mut known: HashMap<&str, u64> = HashMap::new();
    let mut most = 0;
    for line in text.lines().map(str::trim) {
        if let Some((name, rest)) = line.split_once(" = vm.const.i64 ") {
            let number = rest.split(' ').next().and_then(|number| number.parse().ok());
            // A size is a number without a sign, however it is printed.
            known.extend(number.map(|number: i64| (name, number.cast_unsigned())));
        } else if let Some((_, rest)) = line.split_once(ALLOCATION) {
            let size = rest.split(',').next().and_then(|name| known.get(name.trim()));
            most = most.max(size.copied().unwrap_or(0));
        }
    }
    most
}

/// A line that loads a constant of the dispatch, with the constant in its place.
fn with_number(line: &str, numbers: &[u32]) -> Option<String> {
    let at = line.find(LOAD)?;
    let rest = &line[at + LOAD.len()..];
    // The layout is in brackets, and may have ordinals of its own.
    let ordinal_at = rest.rfind(" ordinal(")? + " ordinal(".len();
    let (ordinal, rest) = rest[ordinal_at..].split_once(')')?;
    let number = numbers.get(ordinal.parse::<usize>().ok()?)?.cast_signed();
    let (_, rest) = rest.split_once(" : i32")?;
    Some(format!("{}arith.constant {number} : i32{rest}", &line[..at]))
}

/// The executable that has an export, from its first line to its closing bracket.
fn executable_of<'t>(sources: &'t str, export: &str) -> Option<&'t str> {
    let mut current: Option<(usize, usize)> = None;
    let mut is_wanted = false;
    let mut at = 0;
    for line in sources.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if trimmed.starts_with("hal.executable private ")
            || trimmed.starts_with("hal.executable public ")
        {
            (current, is_wanted) = (Some((at, indent)), false);
        } else if let Some(rest) = trimmed.strip_prefix("hal.executable.export ") {
            is_wanted |= symbol(rest).is_some_and(|(name, _)| name == export);
        } else if let Some((start, outer)) = current
            && trimmed.starts_with('}')
            && indent == outer
        {
            if is_wanted {
                return sources.get(start..at + line.len());
            }
            current = None;
        }
        at += line.len();
    }
    None
}

/// The line that begins a variant, with another target.
fn retargeted(line: &str) -> Option<String> {
    let at = line.find(" target(")? + " target".len();
    let mut cursor = Cursor::new(&line.as_bytes()[at..]);
    cursor.skip_group().ok()?;
    Some(format!("{}({TARGET}){}", &line[..at], line.get(at + cursor.at()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: &str = "\
#composite_of_8b = #util.composite<8xi8, [
    dense<1.0> : tensor<2xf32>,
]>
#map = affine_map<(d0) -> (d0)>
module {
  hal.executable private @a {
    hal.executable.variant public @elf target(<\"llvm-cpu\", \"elf\", {cpu = \"(\", t = {}}>) {
      hal.executable.export public @\"f g\" ordinal(0) count(%arg0: !hal.device) {
      }
    } loc(unknown)
  } loc(unknown)
  hal.executable private @b {
    hal.executable.variant public @elf target(<\"llvm-cpu\", \"elf\">) {
      hal.executable.export public @h ordinal(0) count(%arg0: !hal.device) {
      }
      %0 = arith.constant dense<\"0x\"> : tensor<9xf32>
    }
  }
}
";

    /// The text for one dispatch.
    fn twin_source(sources: &str, export: &str) -> Result<String, NoSource> {
        let (text, missing) = twin_sources(sources, &[(export, None)]);
        missing.into_iter().next().map_or(Ok(text), |(_, reason)| Err(reason))
    }

    #[test]
    fn one_executable_gets_another_target() {
        let text = twin_source(SOURCES, "f g").unwrap();
        assert!(text.starts_with("#map = "), "{text}");
        assert!(text.contains("\nhal.executable public @a {\n"), "{text}");
        assert!(text.contains("@elf target(<\"vmvx\", "), "{text}");
        assert!(!text.contains("llvm-cpu") && !text.contains("@b "), "{text}");
        assert!(text.ends_with("  } loc(unknown)\n}\n"), "{text}");
    }

    #[test]
    fn of_several_variants_one_is_enough() {
        let variants = "  hal.executable private @a {
    hal.executable.variant public @elf target(<\"llvm-cpu\">) {
      hal.executable.export public @f ordinal(0) {
      }
    }
    hal.executable.variant public @vmvx target(<\"vmvx\">) {
      hal.executable.export public @f ordinal(0) {
      }
    } loc(unknown)
  } loc(unknown)
";
        let text = twin_source(variants, "f").unwrap();
        assert_eq!(text.matches("hal.executable.variant").count(), 1, "{text}");
        assert_eq!(text.matches("hal.executable.export").count(), 1, "{text}");
        assert!(text.ends_with("    }\n  } loc(unknown)\n}\n"), "{text}");
    }

    #[test]
    fn several_executables_are_one_program() {
        let (text, missing) = twin_sources(SOURCES, &[("f g", None), ("h", None), ("f g", None)]);
        assert_eq!(text.matches("hal.executable public @a").count(), 1, "{text}");
        assert!(text.contains("#hal.device.target<\"local\", [#hal.executable.target<\"vmvx\""));
        assert!(text.starts_with("#map = ") && text.ends_with("  } loc(unknown)\n}\n"), "{text}");
        let [(name, reason)] = &missing[..] else { panic!("{missing:?}") };
        let left_out = NoSource::LeftOut { export: "h".to_owned() };
        assert!(*name == "h" && *reason == left_out, "{reason}");
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(twin_source(SOURCES, "g").unwrap_err().to_string().contains("do not have @g"));
        assert!(twin_source(SOURCES, "h").unwrap_err().to_string().contains("left out"));
    }

    #[test]
    fn numbers_of_a_call_stand_for_its_constants() {
        let line =
            "  %1 = hal.interface.constant.load layout(<constants = 2>) ordinal(1) : i32 loc(x)";
        let known = with_number(line, &[7, u32::MAX]);
        assert_eq!(known.as_deref(), Some("  %1 = arith.constant -1 : i32 loc(x)"));
        assert_eq!(with_number(line, &[7]), None);
    }

    #[test]
    fn assumptions_are_left_out() {
        let text = "  %8:2 = util.assume.int \n      %6[<umin = 0>, <umin = 0, udiv = 8>], \n      \
                    %7<umin = 0>\n    : index, index\n  \
                    %9 = util.assume.int %8#1<umin = 1> : index\n  \
                    %10 = f.g %8#0, %9, %80, %8#10 : index\n";
        assert_eq!(without_assumptions(text), "  %10 = f.g %6, %7, %80, %8#10 : index\n");
    }

    #[test]
    fn bounds_of_scratch_memory_are_found() {
        let text = "  %c8 = vm.const.i64 8\n  %big = vm.const.i64 36028797018963964 loc(x)\n\
                    %b = vm.buffer.alloc %big, %c64 : !vm.buffer\n%d = vm.buffer.alloc %c8, %c64";
        assert_eq!(most_scratch(text, "f"), 36028797018963964);
        assert_eq!(most_scratch("%c8 = vm.const.i64 8", "f"), 0);
        let text = "%c = vm.const.i64 -8070450532247929984\n%b = vm.buffer.alloc %c, %c64";
        assert_eq!(most_scratch(text, "f"), 10376293541461621632);
    }
}
