//! [`Files`]: the files in a recording. They stay in it until the launch names them, and are then
//! held in memory: nothing is written to disk, and nothing else of the machine is read.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use debuginfo::{Budget, OverBudget};
use vmfb::FileBytes;

use crate::chunks;
use crate::contents::FileNumber;

/// Longer names are not read.
const LONGEST_NAME: u64 = 4096;

/// The file of a recording, which several read.
pub(crate) type SharedFile = Arc<Mutex<BufReader<File>>>;

/// The files of a recording.
#[derive(Debug)]
pub(crate) struct Files {
    recording: SharedFile,
    /// Where each of them is.
    places: Vec<Range<u64>>,
    budget: Budget,
}

/// Why a file of a recording cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotTaken {
    #[error("there is no file {0}")]
    NoFile(FileNumber),
    #[error("file {0} has no name")]
    NoName(FileNumber),
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    #[error(transparent)]
    Unreadable(#[from] io::Error),
}

/// What is known of a file without its contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Described {
    /// Its name, without folders.
    pub(crate) name: String,
    /// Its length in bytes.
    pub(crate) length: u64,
    contents: Range<u64>,
}

impl Files {
    pub(crate) fn new(recording: SharedFile, places: Vec<Range<u64>>, budget: Budget) -> Self {
        Self { recording, places, budget }
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What is known of a file.
    pub(crate) fn describe(&self, number: FileNumber) -> Result<Described, NotTaken> {
        let place = self.places.get(number).ok_or(NotTaken::NoFile(number))?.clone();
        // A read ends or fails whole, so a panic in another thread does not spoil the next one.
        let mut file = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        let length = place.end - place.start;
        let no_name = || NotTaken::NoName(number);
        if length < 4 {
            return Err(no_name());
        }
        let bytes = chunks::read(&mut *file, place.start..place.start + 4)?;
        let named = bytes.first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
        if named > LONGEST_NAME || named > length - 4 {
            return Err(no_name());
        }
        let begin = place.start + 4 + named;
        let name = chunks::read(&mut *file, place.start + 4..begin)?;
        let name = String::from_utf8_lossy(&name);
        // Nothing but a name, whatever is written there.
        let name = Path::new(&*name).file_name().unwrap_or("file".as_ref());
        let name = name.to_string_lossy().trim().to_owned();
        Ok(Described { name, length: place.end - begin, contents: begin..place.end })
    }

    /// A file's contents, for a purpose. Each purpose is charged.
    pub(crate) fn take(
        &self,
        number: FileNumber,
        purpose: &str,
    ) -> Result<(Described, Vec<u8>), NotTaken> {
        let described = self.describe(number)?;
        let part = format!("file {number}, {purpose}");
        self.budget.charge(&part, described.length)?;
        let mut file = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = chunks::read(&mut *file, described.contents.clone())?;
        Ok((described, bytes))
    }
}

/// The files of inputs, by their names there. Several inputs may read one.
#[derive(Default)]
pub(crate) struct InputFiles {
    names: HashMap<FileNumber, String>,
    contents: HashMap<String, FileBytes>,
}

impl InputFiles {
    /// The name of a file, which is taken if it was not yet.
    pub(crate) fn name(&mut self, files: &Files, number: FileNumber) -> Result<String, NotTaken> {
        if let Some(known) = self.names.get(&number) {
            return Ok(known.clone());
        }
        let (described, bytes) = files.take(number, "an input")?;
        // Two files may have the same name.
        let name = format!("{number}/{}", described.name);
        self.contents.insert(name.clone(), bytes.into());
        self.names.insert(number, name.clone());
        Ok(name)
    }

    pub(crate) fn into_contents(self) -> HashMap<String, FileBytes> {
        self.contents
    }
}
