//! The names of IREE's tools: a link or a copy of this program that has one does what that tool
//! does.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// IREE's tools, and what their command lines begin with here.
const TOOLS: [(&str, &[&str]); 4] = [
    ("iree-run-module", &["run"]),
    ("iree-benchmark-module", &["bench"]),
    ("iree-check-module", &["check"]),
    // IREE's tool prints every byte.
    ("iree-dump-module", &["dump", "--rodata=full"]),
];

/// The command line with the command that the program's own name stands for, if it is that of one
/// of IREE's tools.
pub(crate) fn expand_tool_name(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let name = arguments.first().and_then(|path| tool_name(path));
    if let Some((_, begin)) = TOOLS.iter().find(|(tool, _)| name == Some(tool)) {
        arguments.splice(1..1, begin.iter().map(OsString::from));
    }
    arguments
}

/// Whether the program's own name is iree-compile's.
pub(crate) fn is_iree_compile(arguments: &[OsString]) -> bool {
    arguments.first().and_then(|path| tool_name(path)) == Some("iree-compile")
}

/// The name of the tool in the path of a program: without directories, and without `.exe`.
fn tool_name(program: &OsStr) -> Option<&str> {
    let name = Path::new(program).file_name()?.to_str()?;
    Some(name.strip_suffix(".exe").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_tool_is_a_command() {
        let expanded =
            |arguments: &[&str]| expand_tool_name(arguments.iter().map(OsString::from).collect());
        let run = ["/usr/bin/iree-run-module", "run", "--module=a.vmfb"];
        assert_eq!(expanded(&["/usr/bin/iree-run-module", "--module=a.vmfb"]), run);
        assert_eq!(expanded(&["iree-benchmark-module.exe"])[1..], ["bench"]);
        assert_eq!(expanded(&["iree-dbg", "dump", "a.vmfb"]), ["iree-dbg", "dump", "a.vmfb"]);
        assert!(expanded(&[]).is_empty());
        assert!(is_iree_compile(&["bin/iree-compile".into(), "a.mlir".into()]));
        assert!(!is_iree_compile(&["iree-dbg".into(), "iree-compile".into()]));
    }
}
