//! `run.sh`: compiles the function with IREE's compiler, runs it with IREE's runtime on the inputs
//! of the run, and compares what it returns with what the dispatch has left, byte by byte.

use std::fmt::Write as _;

use crate::tensor_files::{InputFile, TensorFile};

/// What the script is made of.
pub(crate) struct Script<'a> {
    /// The function's name.
    pub(crate) function: &'a str,
    /// What the compiler called itself that made the module.
    pub(crate) compiler: Option<&'a str>,
    /// The compiler's flags.
    pub(crate) flags: &'a [String],
    /// The device of the runtime.
    pub(crate) device: &'a str,
    pub(crate) inputs: &'a [InputFile],
    pub(crate) outputs: &'a [TensorFile],
    pub(crate) compared: Compared,
}

/// What results are compared with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Compared {
    /// What the dispatch has left, byte by byte.
    Left,
    /// What its text means, byte by byte.
    Meant,
    /// What its text means, as floats; an element may be this far away.
    Within(f64),
}

/// The exit status of the script if it could not run.
pub(crate) const NOT_RUN: i32 = 2;

impl Script<'_> {
    /// The text of the script.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from("#!/bin/sh\n");
        text.push_str(match self.compared {
            Compared::Left => {
                "# Compiles dispatch.mlir, runs it on the inputs of the run, and compares each \
                 result\n\
                 # with what the dispatch has left, byte by byte.\n"
            }
            _ => {
                "# Compiles dispatch.mlir, runs it, and compares the result with what its text \
                 means.\n"
            }
        });
        text.push_str(
            "# Exit status: 0 the same, 1 different, 2 it could not be compiled or run.\n",
        );
        if let Some(compiler) = self.compiler {
            let _ = writeln!(text, "# The module was made by iree-compile {compiler}.");
        }
        text.push_str(
            "set -u\n\
             cd \"$(dirname \"$0\")\" && mkdir -p run || exit 2\n\n\
             \"${IREE_COMPILE:-iree-compile}\" dispatch.mlir",
        );
        for flag in self.flags {
            let _ = write!(text, " \\\n  {}", quoted(flag));
        }
        text.push_str(" \\\n  -o run/dispatch.vmfb || exit 2\n\n");
        let _ = write!(
            text,
            "\"${{IREE_RUN_MODULE:-iree-run-module}}\" --module=run/dispatch.vmfb \\\n  \
             --device={} --function={}",
            quoted(self.device),
            quoted(self.function),
        );
        for input in self.inputs {
            let _ = write!(text, " \\\n  {}", quoted(&format!("--input={}", input.flag())));
        }
        if let Compared::Within(allowed) = self.compared {
            self.compared_by_runner(&mut text, allowed);
            return text;
        }
        for index in 0..self.outputs.len() {
            let _ = write!(text, " \\\n  --output=@run/output{index}.bin");
        }
        text.push_str(" || exit 2\n\nstatus=0\n");
        for (index, output) in self.outputs.iter().enumerate() {
            let _ = writeln!(
                text,
                "tail -c {} {} | cmp - run/output{index}.bin || status=1",
                output.bytes,
                quoted(&output.name),
            );
        }
        text.push_str("[ $status = 0 ] && echo 'the same bits' || echo 'different bits'\n");
        text.push_str("exit $status\n");
        text
    }

    /// The comparison by iree-run-module.
    fn compared_by_runner(&self, text: &mut String, allowed: f64) {
        for output in self.outputs {
            let _ = write!(text, " \\\n  {}", quoted(&output.expected_flag()));
            let element = output.tensor_type.rsplit('x').next().unwrap_or_default();
            let _ = write!(text, " \\\n  --expected_{element}_threshold={allowed:e}");
        }
        text.push_str(" \\\n  --expected_rtol=0");
        text.push_str(
            " > run/said.txt\nstatus=$?\ncat run/said.txt\n\
             grep -q '^\\[FAILED\\]' run/said.txt && exit 1\n\
             [ $status = 0 ] || exit 2\n",
        );
    }
}

/// A word as a shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "@%+=:,./_-".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_shells() {
        assert_eq!(quoted("--input=@input0.npy"), "--input=@input0.npy");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $x"), r"'it'\''s $x'");
        assert_eq!(quoted(""), "''");
    }
}
