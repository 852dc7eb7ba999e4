//! What clients read as resources: the sources of the loaded program, and the reports that answers
//! were too short for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most reports that are kept.
const MOST_REPORTS: usize = 16;

/// The most bytes of all sources together.
const MOST_SOURCES: usize = 16 << 20;

/// The scheme of the addresses.
const SCHEME: &str = "iree-dbg://";

/// A text that clients can read.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) mime: &'static str,
    pub(crate) text: Arc<str>,
}

/// All of them. Clones share them, so that they can be read while the program runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Library(Arc<Mutex<Shelves>>);

#[derive(Debug, Default)]
struct Shelves {
    sources: Vec<Document>,
    reports: VecDeque<Document>,
    made: usize,
}

impl Library {
    /// The program was loaded: these are its sources, by name.
    pub(crate) fn set_sources(&self, sources: impl Iterator<Item = (String, String)>) {
        let mut room = MOST_SOURCES;
        let mut found = Vec::new();
        for (name, text) in sources {
            let Some(left) = room.checked_sub(text.len()) else { continue };
            room = left;
            let (uri, about) = (source_uri(&name), format!("source of the program: {name}"));
            found.push(Document { uri, name, about, mime: "text/plain", text: text.into() });
        }
        self.lock().sources = found;
    }

    /// Keeps a report. Returns its address.
    pub(crate) fn add_report(&self, about: String, mime: &'static str, text: String) -> String {
        let mut shelves = self.lock();
        shelves.made += 1;
        let name = format!("report {}", shelves.made);
        let uri = format!("{SCHEME}report/{}", shelves.made);
        let report = Document { uri: uri.clone(), name, about, mime, text: text.into() };
        shelves.reports.push_back(report);
        if shelves.reports.len() > MOST_REPORTS {
            shelves.reports.pop_front();
        }
        uri
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Document> {
        let shelves = self.lock();
        shelves.sources.iter().chain(&shelves.reports).cloned().collect()
    }

    /// One of them.
    pub(crate) fn find(&self, uri: &str) -> Option<Document> {
        self.all().into_iter().find(|it| it.uri == uri)
    }

    fn lock(&self) -> MutexGuard<'_, Shelves> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address of a source.
pub(crate) fn source_uri(name: &str) -> String {
    let mut uri = format!("{SCHEME}source/");
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_reports_go() {
        let library = Library::default();
        library.set_sources([("a b.mlir".to_owned(), "x".to_owned())].into_iter());
        assert!(library.find("iree-dbg://source/a%20b.mlir").is_some());
        let reports =
            (0..20).map(|it| library.add_report(it.to_string(), "text/plain", it.to_string()));
        let reports: Vec<String> = reports.collect();
        assert!(library.find(&reports[3]).is_none());
        assert_eq!(&*library.find(&reports[19]).expect("the last").text, "19");
        assert_eq!(library.all().len(), 1 + MOST_REPORTS);
    }
}
