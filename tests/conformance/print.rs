//! Printing: byte-equal texts, equal JSON values, and a clean verdict of the verifier, against
//! iree-dump-module.

use std::path::Path;
use std::process::Command;

use conformance::corpus::Source;
use conformance::tools::{finish, iree, iree_dbg};

pub(crate) fn check(source: &Source, module: &Path) -> Result<(), String> {
    let mut outputs: Vec<(&[&str], &[&str])> = vec![(&["--output=metadata"], &[])];
    if !source.disassembly_differs {
        outputs.push((&["--output=disassembly"], &["--rodata=full"]));
        outputs.push((&["--output=disassembly", "--bytecode_offsets"], &["--rodata=full"]));
        outputs.push((&["--output=disassembly", "--function=0"], &["--rodata=full"]));
        outputs.push((&["--output=all"], &["--rodata=full"]));
    }
    for (flags, our_flags) in outputs {
        let theirs = text(Command::new(iree("iree-dump-module")?).args(flags).arg(module))?;
        let mut ours = Command::new(iree_dbg()?);
        let ours = text(ours.arg("dump").args(flags).args(our_flags).arg(module))?;
        same_lines(&theirs, &ours).map_err(|difference| format!("dump {flags:?}: {difference}"))?;
    }
    let flag = "--output=flatbuffer-json";
    let theirs = json(Command::new(iree("iree-dump-module")?).arg(flag).arg(module))?;
    let ours = json(Command::new(iree_dbg()?).arg("dump").arg(flag).arg(module))?;
    if theirs != ours {
        return Err(format!("dump {flag}: the values differ\n  theirs: {theirs}\n  ours: {ours}"));
    }
    json(Command::new(iree_dbg()?).args(["dump", "--output=json"]).arg(module))?;
    text(Command::new(iree_dbg()?).arg("verify").arg(module)).map(drop)
}

pub(crate) fn text(command: &mut Command) -> Result<Vec<u8>, String> {
    let finished = finish(command)?;
    if finished.status == Some(0) {
        return Ok(finished.stdout);
    }
    let stdout = String::from_utf8_lossy(&finished.stdout).into_owned();
    Err(format!("{command:?} failed: {}{stdout}", finished.stderr))
}

fn json(command: &mut Command) -> Result<serde_json::Value, String> {
    serde_json::from_slice(&text(command)?).map_err(|error| format!("{command:?}: {error}"))
}

/// Compares texts and reports the first line that differs.
pub(crate) fn same_lines(theirs: &[u8], ours: &[u8]) -> Result<(), String> {
    if theirs == ours {
        return Ok(());
    }
    let lines = |bytes: &[u8]| -> Vec<String> {
        bytes
            .split(|byte| *byte == b'\n')
            .map(|l| String::from_utf8_lossy(l).into_owned())
            .collect()
    };
    let (theirs, ours) = (lines(theirs), lines(ours));
    let at = theirs.iter().zip(&ours).position(|(theirs, ours)| theirs != ours);
    let at = at.unwrap_or(theirs.len().min(ours.len()));
    let nothing = "(the text ends)".to_owned();
    Err(format!(
        "line {} differs\n  theirs: {}\n  ours:   {}",
        at + 1,
        theirs.get(at).unwrap_or(&nothing),
        ours.get(at).unwrap_or(&nothing)
    ))
}
