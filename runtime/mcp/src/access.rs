//! Which files may be read, and what else the user has allowed. An agent may have been told by a
//! text that it has read to open a file of the user's: only the folders that were named are open.

use std::path::{Path, PathBuf};

/// Something that is refused unless the user allows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Allowed {
    /// Starting iree-compile and IREE's other tools.
    Compile,
    /// Writing files into the folders.
    Write,
}

impl Allowed {
    /// The word of `--allow=`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Compile => "compile",
            Self::Write => "write",
        }
    }
}

/// What clients may do.
#[derive(Clone, Debug)]
pub struct Access {
    /// The folders whose files may be read; with links followed.
    roots: Vec<PathBuf>,
    allowed: Vec<Allowed>,
    /// How machine code in modules runs.
    pub native_code: hal::NativeCode,
}

/// Why a file may not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NoAccess {
    /// It is elsewhere.
    #[error("{path} is outside of {roots}: start the server with `--root=FOLDER` for it")]
    Outside {
        /// What was asked for.
        path: String,
        /// Where files may be.
        roots: String,
    },
    /// It is not there.
    #[error("cannot open {path}: {source}")]
    Missing {
        /// What was asked for.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The user has not allowed it.
    #[error("{what} is not allowed; start the server with `--allow={}`", allowed.word())]
    NotAllowed {
        /// What was asked for.
        what: String,
        /// What would allow it.
        allowed: Allowed,
    },
}

impl Access {
    /// Access to some folders.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn new(
        roots: &[PathBuf],
        allowed: &[Allowed],
        native_code: hal::NativeCode,
    ) -> Result<Self, NoAccess> {
        let resolved = roots.iter().map(|path| resolved(path)).collect::<Result<_, _>>()?;
        Ok(Self { roots: resolved, allowed: allowed.to_vec(), native_code })
    }

    /// Whether the user has allowed something.
    #[must_use]
    pub fn allows(&self, what: Allowed) -> bool {
        self.allowed.contains(&what)
    }

    /// The folders.
    #[must_use]
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The first folder, to which relative paths are relative.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.roots.first().map_or(Path::new("."), PathBuf::as_path)
    }

    /// Refuses what the user has not allowed.
    ///
    /// # Errors
    /// It is not allowed.
    pub fn require(&self, allowed: Allowed, what: &str) -> Result<(), NoAccess> {
        match self.allows(allowed) {
            true => Ok(()),
            false => Err(NoAccess::NotAllowed { what: what.to_owned(), allowed }),
        }
    }

    /// A file that is read: its path with links followed, so that no link leads out.
    ///
    /// # Errors
    /// It is not there, or outside of the folders.
    pub fn readable(&self, path: &str) -> Result<PathBuf, NoAccess> {
        let found = resolved(&self.folder().join(path))?;
        self.within(path, found)
    }

    /// A file or folder that is written: it, or the folder that it comes into, is in the folders.
    ///
    /// # Errors
    /// Writing is not allowed, or it is outside of the folders.
    pub fn writable(&self, path: &str) -> Result<PathBuf, NoAccess> {
        self.require(Allowed::Write, &format!("writing {path}"))?;
        let wanted = self.folder().join(path);
        if let Ok(found) = resolved(&wanted) {
            return self.within(path, found);
        }
        let name = wanted.file_name().unwrap_or_default().to_owned();
        let above = resolved(wanted.parent().unwrap_or(&wanted))?;
        self.within(path, above.join(name))
    }

    fn within(&self, asked: &str, found: PathBuf) -> Result<PathBuf, NoAccess> {
        let goes_up = found.components().any(|it| it == std::path::Component::ParentDir);
        if !goes_up && self.roots.iter().any(|root| found.starts_with(root)) {
            return Ok(found);
        }
        let roots: Vec<String> = self.roots.iter().map(|it| it.display().to_string()).collect();
        Err(NoAccess::Outside { path: asked.to_owned(), roots: roots.join(", ") })
    }

    /// Refuses an expression or an input that names a file outside of the folders: `@x.npy`.
    ///
    /// # Errors
    /// It names one.
    pub fn check_text(&self, text: &str) -> Result<(), NoAccess> {
        for (at, _) in text.match_indices('@') {
            let rest = &text[at + 1..];
            let path = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next().unwrap_or_default(),
                None => rest,
            };
            let ends = path.match_indices(".npy").map(|(end, it)| end + it.len());
            for end in ends.chain([path.len()]) {
                let named = &path[..end];
                match resolved(&self.folder().join(named)) {
                    // What is no file is read as something else, or not at all.
                    Ok(found) if found.is_file() => drop(self.within(named, found)?),
                    // Whether there is a file elsewhere is not told.
                    Err(_) if leads_out(named) => {
                        self.within(named, self.folder().join(named))?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Whether a path without a file may be one outside of the folders.
fn leads_out(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|it| it == "..")
}

fn resolved(path: &Path) -> Result<PathBuf, NoAccess> {
    let missing = |source| NoAccess::Missing { path: path.display().to_string(), source };
    std::fs::canonicalize(path).map_err(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(root: &Path, allowed: &[Allowed]) -> Access {
        Access::new(&[root.to_owned()], allowed, hal::NativeCode::Refused).expect("it is there")
    }

    #[test]
    fn files_outside_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("in");
        std::fs::create_dir(&inside).expect("a folder in it");
        std::fs::write(folder.path().join("secret.npy"), "x").expect("a file beside it");
        std::fs::write(inside.join("x.npy"), "x").expect("a file in it");
        let access = access(&inside, &[Allowed::Write]);
        assert!(access.readable("x.npy").is_ok());
        let refused = access.readable("../secret.npy").expect_err("it is outside");
        assert!(refused.to_string().contains("--root="), "{refused}");
        assert!(access.check_text("max(%x @ @x.npy)").is_ok());
        let path = folder.path().join("secret.npy").display().to_string();
        for text in ["@../secret.npy", "%x - @../secret.npy + 1", "2x2xf32=@../secret.npy"] {
            assert!(access.check_text(text).is_err(), "{text}");
        }
        assert!(access.check_text(&format!("@\"{path}\" + 1")).is_err());
        // Whether there is one is not told.
        for text in ["@/no/such.npy", "4xf32=@../missing.bin", "@\"../missing\""] {
            let refused = access.check_text(text).expect_err("it is outside");
            assert!(matches!(refused, NoAccess::Outside { .. }), "{text}: {refused}");
        }
        assert!(access.writable("out").is_ok());
        assert!(access.writable("../out").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("in");
        std::fs::create_dir(&inside).expect("a folder in it");
        std::fs::write(folder.path().join("secret"), "x").expect("a file beside it");
        std::os::unix::fs::symlink(folder.path().join("secret"), inside.join("link"))
            .expect("a link");
        let access = access(&inside, &[]);
        assert!(matches!(access.readable("link"), Err(NoAccess::Outside { .. })));
        let refused = access.writable("out").expect_err("nothing may be written");
        assert!(refused.to_string().contains("--allow=write"), "{refused}");
    }
}
