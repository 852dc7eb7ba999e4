//! Where files are that the tool keeps for a user.

use std::path::{Path, PathBuf};

/// Why there is no folder.
#[derive(Debug, thiserror::Error)]
#[error("no folder for caches is known: set XDG_CACHE_HOME or HOME, or name a folder")]
pub struct NoFolder;

/// The user's folder for what can be made again: `$XDG_CACHE_HOME/iree-dbg`, or what the system has
/// in its place.
///
/// # Errors
/// The environment names none.
pub fn user_cache() -> Result<PathBuf, NoFolder> {
    let variable =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || variable("HOME").or_else(|| variable("USERPROFILE"));
    let system = if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else {
        variable("XDG_CACHE_HOME").or_else(|| home().map(|home| home.join(".cache")))
    };
    system.map(|path| path.join("iree-dbg")).ok_or(NoFolder)
}

/// The folder of the values of last runs, in a cache that the user names or else in the user's own.
///
/// # Errors
/// There is neither.
pub fn values_folder(named: Option<&Path>) -> Result<PathBuf, NoFolder> {
    let cache = named.map_or_else(user_cache, |named| Ok(named.to_owned()))?;
    Ok(cache.join("values"))
}
