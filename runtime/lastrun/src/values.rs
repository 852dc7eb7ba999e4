//! [`LastRun`]: a run and what it left, as a file of JSON.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// The version of the format. Files of others are not read.
const FORMAT: u32 = 1;
/// The most files that are kept.
const MOST: usize = 64;
/// Larger files are not read.
const LARGEST: u64 = 64 << 20;

/// A text, told from others.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct SourceId {
    /// Its length in bytes.
    pub length: u64,
    /// The digest xxh3 of its bytes, in hexadecimal.
    pub xxh3: String,
}

impl SourceId {
    /// The file of its values in a folder; `None` if the digest is none.
    #[must_use]
    pub fn file_in(&self, folder: &Path) -> Option<PathBuf> {
        // The digest may come from a file that others have made, and becomes a part of a path.
        let is_digest = self.xxh3.len() == 16 && self.xxh3.bytes().all(|it| it.is_ascii_hexdigit());
        is_digest.then(|| folder.join(format!("{}-{}.json", self.xxh3, self.length)))
    }
}

/// The last run of a source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LastRun {
    format: u32,
    /// The text that was compiled.
    pub source: SourceId,
    /// The run.
    pub run: Run,
    /// What it left, by lines.
    pub values: Vec<LineValue>,
}

/// Which run it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The module, as it was named.
    pub module: String,
    /// The function that was called.
    pub function: String,
    /// When it ended, in seconds since 1970, UTC.
    pub ended: u64,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// A tensor that a dispatch left in memory, whose name in the source is proven.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LineValue {
    /// Its name in the source: `%dot`.
    pub name: String,
    /// The line of what defines it, from 1.
    pub line: u32,
    /// The lines of the inlined calls around it, innermost first; mostly none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// Shape and element type: `4x8xf32`.
    pub tensor_type: String,
    /// How many elements it has.
    pub count: usize,
    /// The least element that is not NaN, as the debugger prints it.
    pub min: Option<String>,
    /// The greatest element that is not NaN.
    pub max: Option<String>,
    /// The mean, if it is a number.
    pub mean: Option<f64>,
    /// How many elements are NaN.
    pub nans: usize,
    /// How many are infinite.
    pub infinities: usize,
}

impl Run {
    /// When it ended: `2026-03-01 12:00:59 UTC`.
    #[must_use]
    pub fn ended_text(&self) -> String {
        let (days, second) = (self.ended / 86_400, self.ended % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }
}

/// Year, month and day of the Gregorian calendar, so many days after the first of January 1970.
fn date(days: u64) -> (u64, u64, u64) {
    // Years that begin in March have their odd day last; 400 of them have 146,097 days.
    let days = days.saturating_add(719_468);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

impl LastRun {
    /// A run of a source.
    #[must_use]
    pub fn new(source: SourceId, run: Run, values: Vec<LineValue>) -> Self {
        Self { format: FORMAT, source, run, values }
    }

    /// Writes it, in the place of an earlier run of the same text. The oldest others leave.
    ///
    /// # Errors
    /// The folder cannot be made, or the file not be written.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        make_private(folder)?;
        let path = self.source.file_in(folder).ok_or(io::ErrorKind::InvalidInput)?;
        // Readers see the earlier run or this one.
        let file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&file, self)?;
        file.persist(&path)?;
        trim(folder);
        Ok(path)
    }

    /// The last run of a text; `None` if there was none, or its file cannot be read.
    #[must_use]
    pub fn read(folder: &Path, source: &SourceId) -> Option<Self> {
        let path = source.file_in(folder)?;
        if path.metadata().ok()?.len() > LARGEST {
            return None;
        }
        let found: Self = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (found.format == FORMAT && found.source == *source).then_some(found)
    }
}

/// Values may be confidential.
#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Removes the oldest files that are too many.
fn trim(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files =
        entries.map(|it| it.path()).filter(|it| it.extension().is_some_and(|e| e == "json"));
    let written = |path: &PathBuf| {
        let time = path.metadata().and_then(|it| it.modified());
        time.unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let mut files: Vec<(SystemTime, PathBuf)> = files.map(|it| (written(&it), it)).collect();
    files.sort();
    for (_, path) in files.iter().rev().skip(MOST) {
        // What stays is removed the next time.
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> SourceId {
        let xxh3 = format!("{:016x}", twox_hash::XxHash3_64::oneshot(text.as_bytes()));
        SourceId { length: text.len() as u64, xxh3 }
    }

    fn run(text: &str, ended: u64) -> LastRun {
        let run = Run { module: "m".into(), function: "f".into(), ended, failure: None };
        LastRun::new(source(text), run, Vec::new())
    }

    #[test]
    fn a_run_is_that_of_its_text() {
        let folder = tempfile::tempdir().unwrap();
        run("a", 1).write(folder.path()).unwrap();
        run("a", 2).write(folder.path()).unwrap();
        let read = |text: &str| LastRun::read(folder.path(), &source(text));
        assert_eq!((read("a"), read("b")), (Some(run("a", 2)), None));
        // A file under the name of another text is not believed.
        let path = |text: &str| source(text).file_in(folder.path()).unwrap();
        std::fs::copy(path("a"), path("b")).unwrap();
        assert_eq!(read("b"), None);
        std::fs::write(path("a"), "{").unwrap();
        assert_eq!(read("a"), None);
    }

    #[test]
    fn a_time_is_a_date() {
        // As `date -u -d @N` prints them.
        for (ended, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_764_603_899, "2025-12-01 15:44:59 UTC"),
            (4_107_542_399, "2100-02-28 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(run("a", ended).run.ended_text(), expected);
        }
    }

    #[test]
    fn a_digest_is_no_path() {
        let id = SourceId { length: 1, xxh3: "../../../../etc/x".into() };
        assert_eq!(id.file_in(Path::new("/")), None);
        assert!(LastRun { source: id, ..run("a", 1) }.write(&std::env::temp_dir()).is_err());
    }

    #[test]
    fn the_oldest_leave() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MOST + 2 {
            run(&number.to_string(), 1).write(folder.path()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
        let there = |text: &str| LastRun::read(folder.path(), &source(text)).is_some();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), MOST);
        assert!(!there("1") && there("2") && there(&(MOST + 1).to_string()));
    }
}
