//! What executables of all devices have in common as files: their header, and where functions come
//! from.
//!
//! Compilers of 3.13 write 64 bytes before the FlatBuffer: the identifier, a version, and the
//! length of what follows; without them, the identifier is that of the FlatBuffer itself.

use vm::Status;

use super::flat::{Budget, Table, damaged};
use crate::executables::interface::{Export, SourceLocation};

/// The length of the header, where there is one.
const HEADER: usize = 64;

/// The FlatBuffer of an executable, without the header.
///
/// # Errors
/// It has another identifier, or is cut short.
pub(super) fn flatbuffer<'a>(data: &'a [u8], identifier: &[u8; 4]) -> Result<&'a [u8], Status> {
    if data.starts_with(identifier) {
        return data.get(HEADER..).ok_or_else(|| damaged(0));
    }
    if data.get(4..8) == Some(identifier.as_slice()) {
        return Ok(data);
    }
    Err(Status::invalid_argument(format!(
        "the executable is not of the format {}, which compilers from 3.0 on write for such devices",
        identifier.escape_ascii()
    )))
}

/// A part of an executable that is not there.
pub(super) fn missing(what: &str, index: u32) -> Status {
    Status::out_of_range(format!("the executable has no {what} {index}"))
}

/// The path and the text of each source that an executable carries.
#[derive(Debug)]
pub(super) struct SourceFiles(Vec<(String, String)>);

impl SourceFiles {
    /// Those in a field of the root.
    ///
    /// # Errors
    /// It is damaged.
    pub(super) fn of(root: &Table<'_>, field: usize) -> Result<Self, Status> {
        let sources = root.tables(field)?;
        let sources = sources.iter().map(|it| Ok((it.text(0)?, it.text(1)?)));
        Ok(Self(sources.collect::<Result<_, Status>>()?))
    }
}

/// The name of an export and where it comes from. `debug` is a table of
/// `executable_debug_info.fbs`.
///
/// # Errors
/// It is damaged.
pub(super) fn described(
    debug: Option<&Table<'_>>,
    entry_point: String,
    sources: &SourceFiles,
    budget: &Budget,
) -> Result<Export, Status> {
    let Some(debug) = debug else { return Ok(Export { name: entry_point, ..Export::default() }) };
    let location = |table: Option<Table<'_>>| -> Result<Option<SourceLocation>, Status> {
        let Some(table) = table else { return Ok(None) };
        Ok(Some(SourceLocation { file: table.text(0)?, line: table.number(1, 0)? }))
    };
    let mut embedded_sources = Vec::new();
    for stage in debug.tables(2)? {
        let file = location(stage.table(1)?)?.map(|location| location.file);
        if let Some((_, text)) = sources.0.iter().find(|(path, _)| Some(path) == file.as_ref())
            && budget.spend(text.len()).is_ok()
        {
            embedded_sources.push((stage.text(0)?, text.clone()));
        }
    }
    let name = Some(debug.text(0)?).filter(|name| !name.is_empty()).unwrap_or(entry_point);
    let source = location(debug.table(1)?)?;
    Ok(Export { name, source, embedded_sources, ..Export::default() })
}
