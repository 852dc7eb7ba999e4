//! What `--version` says: the version, the commit, and whose modules this program reads.

use std::sync::LazyLock;

use vmfb::{Compilers, VERSIONS, newest_compiler};

/// The answer to `--version`, after the program's name.
pub(crate) static LONG: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    let build = match option_env!("IREE_DBG_BUILT_FROM") {
        Some(commit) => format!("commit {commit}"),
        None => "development build".to_owned(),
    };
    let releases = VERSIONS.iter().find_map(|row| match row.compilers {
        Compilers::Releases(first, _) => Some(first),
        Compilers::Snapshots(_) => None,
    });
    let [first, .., last] = VERSIONS else { return format!("{version} ({build})") };
    format!(
        "{version} ({build})\nmodules of IREE {} to {} (bytecode {} to {})",
        releases.unwrap_or_default(),
        newest_compiler(),
        first.major,
        last.major
    )
});
