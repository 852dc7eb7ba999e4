//! Source texts, and the names by which the client asks for them.
//!
//! A source that is a file on this machine is named by its path. Two kinds of sources are no files:
//! the disassembly of a module, which a frame shows if its source was not found, and a source that
//! the debugger holds in memory. These get reference numbers. The numbers hold for the whole
//! session, because clients keep breakpoints under them. Such a source has a path too, which only
//! repeats its name: without a path, VS Code takes a breakpoint's source and a frame's for
//! different ones.
//!
//! A client may have the same disassembly open under a name of its own: our VS Code extension shows
//! `models/gcd.vmfb` as the document `iree-vmfb:/models/gcd.vmfb.vmasm`. After it has set
//! breakpoints there, frames name that document too.

use std::collections::HashMap;
use std::path::Path;

use debug::{Debugger, ModuleIndex, SourceFile};
use percent_encoding::percent_decode_str;

use crate::client::Client;
use crate::protocol::Source;

/// The URI scheme of disassembly documents.
const MODULE_SCHEME: &str = "iree-vmfb:";
/// The suffix of such a document's path, after the module's path.
const MODULE_SUFFIX: &str = ".vmasm";

/// The identity of a source text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum SourceKey {
    /// A source file, as the client or the module names it.
    File(String),
    /// The disassembly of a module.
    Listing(ModuleIndex),
    /// A name that means nothing here; breakpoints in it are never set.
    Unknown(String),
}

/// See the module documentation.
#[derive(Default)]
pub(crate) struct Sources {
    /// The text of reference number n is at n - 1.
    numbered: Vec<SourceKey>,
    /// The client's own paths of disassemblies that it has open.
    listing_names: HashMap<ModuleIndex, String>,
}

impl Sources {
    /// The text that a source of the client names.
    pub(crate) fn identify(
        &mut self,
        source: &Source,
        debugger: &Debugger,
        client: &Client,
    ) -> SourceKey {
        if let Some(key) = source.source_reference.and_then(|number| self.numbered(number)) {
            return key.clone();
        }
        let Some(path) = &source.path else {
            return SourceKey::Unknown(source.name.clone().unwrap_or_default());
        };
        let Some(module) = path.strip_prefix(MODULE_SCHEME) else {
            return SourceKey::File(client.path_from(path));
        };
        match listed_module(module, debugger) {
            Some(index) => {
                self.listing_names.insert(index, path.clone());
                SourceKey::Listing(index)
            }
            None => SourceKey::Unknown(path.clone()),
        }
    }

    /// The text of a reference number.
    pub(crate) fn numbered(&self, number: i64) -> Option<&SourceKey> {
        self.numbered.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// The disassembly of a module.
    pub(crate) fn listing(&mut self, module: ModuleIndex, name: &str) -> Source {
        if let Some(path) = self.listing_names.get(&module) {
            let name = format!("{name}{MODULE_SUFFIX}");
            return Source { name: Some(name), path: Some(path.clone()), ..Source::default() };
        }
        let name_of_text = format!("{name}{MODULE_SUFFIX}");
        Source {
            path: Some(name_of_text.clone()),
            name: Some(name_of_text),
            source_reference: Some(self.number(SourceKey::Listing(module))),
            origin: Some(format!("disassembly of module {name}")),
        }
    }

    /// A source that the debugger holds in memory.
    pub(crate) fn in_memory(&mut self, file: &str) -> Source {
        let name = file_name(file);
        Source {
            path: Some(name.clone()),
            name: Some(name),
            source_reference: Some(self.number(SourceKey::File(file.to_owned()))),
            origin: Some("held by the debugger".into()),
        }
    }

    /// A source that code was compiled from, if its text is available.
    pub(crate) fn of_file(
        &mut self,
        found: &SourceFile,
        debugger: &Debugger,
        client: &Client,
    ) -> Option<Source> {
        match &found.path {
            Some(path) => Some(file_source(path, client)),
            None => debugger.program().has_source(&found.file).then(|| self.in_memory(&found.file)),
        }
    }

    fn number(&mut self, key: SourceKey) -> i64 {
        let index = self.numbered.iter().position(|it| *it == key).unwrap_or_else(|| {
            self.numbered.push(key);
            self.numbered.len() - 1
        });
        index as i64 + 1
    }
}

/// A source that is a file on this machine.
pub(crate) fn file_source(path: &Path, client: &Client) -> Source {
    Source {
        name: Some(file_name(&path.to_string_lossy())),
        path: Some(client.path(path)),
        ..Source::default()
    }
}

fn file_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

/// The module of a disassembly document. Editors write the URI of a local file with or without an
/// empty authority (`iree-vmfb:///a`, `iree-vmfb:/a`), and differ in what they escape.
fn listed_module(after_scheme: &str, debugger: &Debugger) -> Option<ModuleIndex> {
    let path = after_scheme.strip_prefix("//").unwrap_or(after_scheme);
    let path = path.split(['?', '#']).next()?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let wanted = Path::new(path.strip_suffix(MODULE_SUFFIX).unwrap_or(&path));
    let wanted = wanted.canonicalize().unwrap_or_else(|_| wanted.to_owned());
    let is_wanted = |path: &Path| path.canonicalize().is_ok_and(|path| path == wanted);
    let mut modules = debugger.program().modules();
    modules.find_map(|(index, _, path)| path.filter(|path| is_wanted(path)).map(|_| index))
}
