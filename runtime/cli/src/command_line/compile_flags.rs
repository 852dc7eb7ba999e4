//! `iree-dbg compile`: flags that are iree-compile's own need no `--` before them.

use std::ffi::OsString;

/// Flags of our `compile` that take a value, which may be the next argument.
const WITH_VALUE: [&str; 7] = [
    "-o",
    "--output",
    "--for",
    "--debug-directory",
    "--iree-compile",
    "--opset-version",
    "--opset_version",
];
/// Flags of our `compile` without one.
const ALONE: [&str; 2] = ["-h", "--help"];

/// Moves iree-compile's flags after `--`, where `compile` reads them. Command lines of other
/// commands stay as they are.
///
/// A flag may have its value as the next argument (`--iree-input-type stablehlo`). Which flags do,
/// only iree-compile knows; but it takes one input, so another argument is such a value.
pub(crate) fn move_compile_flags(arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_none_or(|command| command != "compile") {
        return arguments;
    }
    let mut arguments = arguments.into_iter();
    let mut ours: Vec<OsString> = arguments.by_ref().take(2).collect();
    let mut others: Vec<Other> = Vec::new();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy().into_owned();
        if text == "--" {
            others.extend(arguments.by_ref().map(Other::Flag));
        } else if WITH_VALUE.contains(&text.as_str()) {
            ours.push(argument);
            ours.extend(arguments.next());
        } else if is_ours(&text) {
            ours.push(argument);
        } else if text.len() > 1 && text.starts_with('-') {
            others.push(Other::Flag(argument));
        } else {
            let follows = matches!(others.last(), Some(Other::Flag(flag)) if !has_value(flag));
            others.push(Other::Plain { argument, follows });
        }
    }
    let plain = |follower: bool| {
        others
            .iter()
            .position(|it| matches!(it, Other::Plain { follows, .. } if *follows == follower))
    };
    if let Some(input) = plain(false).or_else(|| plain(true)) {
        ours.push(others.remove(input).into_argument());
    }
    if !others.is_empty() {
        ours.push("--".into());
        ours.extend(others.into_iter().map(Other::into_argument));
    }
    ours
}

/// An argument that is not a flag of ours.
enum Other {
    Flag(OsString),
    /// The input; or the value of the flag that it `follows`.
    Plain {
        argument: OsString,
        follows: bool,
    },
}

impl Other {
    fn into_argument(self) -> OsString {
        match self {
            Self::Flag(argument) | Self::Plain { argument, .. } => argument,
        }
    }
}

fn has_value(flag: &OsString) -> bool {
    flag.to_string_lossy().contains('=')
}

/// Whether an argument is a flag of our `compile` that is complete: alone, or with `=`.
fn is_ours(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    ALONE.contains(&text) || (text != name && WITH_VALUE.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: &str) {
        let given = given.split(' ').map(OsString::from).collect();
        let texts: Vec<String> = move_compile_flags(given)
            .into_iter()
            .map(|it| it.to_string_lossy().into_owned())
            .collect();
        assert_eq!(texts.join(" "), expected);
    }

    #[test]
    fn flags_of_iree_compile_stand_anywhere() {
        check(
            "iree-dbg compile --iree-a=b in.mlir -o out.vmfb --iree-c",
            "iree-dbg compile -o out.vmfb in.mlir -- --iree-a=b --iree-c",
        );
        check("iree-dbg compile -o=out.vmfb -", "iree-dbg compile -o=out.vmfb -");
        check(
            "iree-dbg compile in.mlir -o out.vmfb -- --iree-a x",
            "iree-dbg compile -o out.vmfb in.mlir -- --iree-a x",
        );
        check("iree-dbg compile --help", "iree-dbg compile --help");
        check("iree-dbg dump --iree-a in", "iree-dbg dump --iree-a in");
    }

    #[test]
    fn a_second_input_is_the_value_of_the_flag_before_it() {
        check(
            "iree-dbg compile --iree-input-type stablehlo in.mlir --iree-b c",
            "iree-dbg compile in.mlir -- --iree-input-type stablehlo --iree-b c",
        );
        check("iree-dbg compile --iree-a in.mlir", "iree-dbg compile in.mlir -- --iree-a");
    }
}
