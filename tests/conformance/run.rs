//! Running: equal results, equal exit status, and the same kind of failure, against
//! iree-run-module.

use std::path::PathBuf;
use std::process::Command;

use conformance::tools::{finish, iree, iree_dbg, status_code};

use crate::print::same_lines;

pub(crate) fn check(modules: &[PathBuf], arguments: &[String]) -> Result<(), String> {
    let flags: Vec<String> =
        modules.iter().map(|module| format!("--module={}", module.display())).collect();
    let theirs = finish(Command::new(iree("iree-run-module")?).args(&flags).args(arguments))?;
    let ours = finish(Command::new(iree_dbg()?).arg("run").args(&flags).args(arguments))?;
    let fail = |difference: String| {
        Err(format!(
            "run {}: {difference}\n  their errors: {}\n  our errors: {}",
            arguments.join(" "),
            theirs.stderr.trim_end(),
            ours.stderr.trim_end()
        ))
    };
    if let Err(difference) = same_lines(&theirs.stdout, &ours.stdout) {
        return fail(difference);
    }
    if theirs.status != ours.status {
        return fail(format!("exit status {:?}, ours {:?}", theirs.status, ours.status));
    }
    let (their_code, our_code) = (status_code(&theirs.stderr), status_code(&ours.stderr));
    if their_code != our_code {
        return fail(format!("status {their_code:?}, ours {our_code:?}"));
    }
    Ok(())
}
