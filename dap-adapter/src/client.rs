//! How the client counts lines and columns and names files, and what it can show. It says so in
//! `initialize`.

use std::path::Path;

use dap::requests::{InitializeArguments, PathFormat};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The conventions and abilities of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    first_line: i64,
    first_column: i64,
    names_files_by_uri: bool,
    /// Whether it asks for the elements of a large variable in parts.
    pub(crate) pages_variables: bool,
    /// Whether it shows progress.
    pub(crate) shows_progress: bool,
    /// Whether it asks again when an `invalidated` event arrives.
    pub(crate) refreshes: bool,
    /// Whether it shows memory, and handles `memory` events.
    pub(crate) shows_memory: bool,
    /// Whether it treats breakpoints that events announce as its own, and sends them in its next
    /// `setBreakpoints`.
    pub(crate) takes_over_breakpoints: bool,
    /// Whether menus for variables depend on a property of VS Code's own.
    pub(crate) has_menus_for_variables: bool,
}

impl Default for Client {
    fn default() -> Self {
        Self::new(&InitializeArguments::default())
    }
}

/// The characters that the path of a file URI keeps unescaped.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~').remove(b':');

impl Client {
    pub(crate) fn new(arguments: &InitializeArguments) -> Self {
        Self {
            first_line: i64::from(arguments.lines_start_at1.unwrap_or(true)),
            first_column: i64::from(arguments.columns_start_at1.unwrap_or(true)),
            names_files_by_uri: matches!(arguments.path_format, Some(PathFormat::Uri)),
            pages_variables: arguments.supports_variable_paging.unwrap_or(false),
            shows_progress: arguments.supports_progress_reporting.unwrap_or(false),
            refreshes: arguments.supports_invalidated_event.unwrap_or(false),
            shows_memory: arguments.supports_memory_event.unwrap_or(false),
            takes_over_breakpoints: arguments.client_id.as_deref() == Some("vscode"),
            has_menus_for_variables: arguments.client_id.as_deref() == Some("vscode"),
        }
    }

    /// A line, converted to the way the client counts. Lines here count from 1.
    pub(crate) fn line(&self, line: u32) -> i64 {
        i64::from(line) - 1 + self.first_line
    }

    /// A column, converted to the way the client counts. Columns here count from 1.
    pub(crate) fn column(&self, column: u32) -> i64 {
        i64::from(column) - 1 + self.first_column
    }

    /// A line of the client's, converted to count from 1. A line before the first becomes the
    /// first.
    pub(crate) fn line_from(&self, line: i64) -> u32 {
        let line = line.saturating_sub(self.first_line).saturating_add(1);
        u32::try_from(line.max(1)).unwrap_or(u32::MAX)
    }

    /// A line of the client's, converted to count from 1; None before the first.
    pub(crate) fn line_if_any(&self, line: i64) -> Option<u32> {
        (line >= self.first_line).then(|| self.line_from(line))
    }

    /// A column of the client's, converted to count from 1. One before the first becomes the first.
    pub(crate) fn column_from(&self, column: i64) -> u32 {
        let column = column.saturating_sub(self.first_column).saturating_add(1);
        u32::try_from(column.max(1)).unwrap_or(u32::MAX)
    }

    /// A column of the client's, converted to count from 1; None before the first.
    pub(crate) fn column_if_any(&self, column: Option<i64>) -> Option<u32> {
        column.filter(|column| *column >= self.first_column).map(|column| self.column_from(column))
    }

    /// A file, as the client names files.
    pub(crate) fn path(&self, path: &Path) -> String {
        let path = path.to_string_lossy();
        if self.names_files_by_uri {
            format!("file://{}", utf8_percent_encode(&path, PATH))
        } else {
            path.into_owned()
        }
    }

    /// The path that a client means. Clients that name files by path sometimes send a URI, and no
    /// path of a file begins with `file://`.
    pub(crate) fn path_from(&self, path: &str) -> String {
        match path.strip_prefix("file://") {
            Some(rest) => percent_decode_str(rest).decode_utf8_lossy().into_owned(),
            None => path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_as_the_client_does() {
        let from_one = Client::default();
        let from_zero = Client::new(&InitializeArguments {
            lines_start_at1: Some(false),
            columns_start_at1: Some(false),
            ..Default::default()
        });
        assert_eq!((from_one.line(7), from_one.column(1), from_one.line_from(7)), (7, 1, 7));
        assert_eq!((from_zero.line(7), from_zero.column(1), from_zero.line_from(6)), (6, 0, 7));
        assert_eq!(
            [Some(1), Some(0), None].map(|it| from_one.column_if_any(it)),
            [Some(1), None, None]
        );
        assert_eq!([0, -1].map(|it| from_zero.column_if_any(Some(it))), [Some(1), None]);
        assert_eq!([1, 0, -5].map(|it| from_one.line_if_any(it)), [Some(1), None, None]);
        assert_eq!([0, -1].map(|it| from_zero.line_if_any(it)), [Some(1), None]);
        for odd in [0, -5, i64::MIN] {
            assert_eq!(from_one.line_from(odd), 1);
        }
        assert_eq!(from_zero.line_from(i64::MAX), u32::MAX);
    }

    #[test]
    fn paths_are_uris_for_clients_that_want_them() {
        let client = Client::new(&InitializeArguments {
            path_format: Some(PathFormat::Uri),
            ..Default::default()
        });
        let path = Path::new("/models/a b%.mlir");
        assert_eq!(client.path(path), "file:///models/a%20b%25.mlir");
        assert_eq!(client.path_from("file:///models/a%20b%25.mlir"), "/models/a b%.mlir");
        assert_eq!(Client::default().path(path), "/models/a b%.mlir");
        assert_eq!(Client::default().path_from("/models/a b%.mlir"), "/models/a b%.mlir");
    }
}
