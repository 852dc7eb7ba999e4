//! Source texts: `source`, `loadedSources`, `breakpointLocations`.

use dap::responses::SourceResponse;
use debug::CodeSite;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::protocol::{Request, RequestError, Source, SourceArguments, body};
use crate::references::SourceKey;

/// The text of a source that is not a file: a disassembly, or a source that the debugger holds.
pub(super) fn source(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: SourceArguments = request.arguments()?;
    let Debuggee { debugger, sources, .. } = debuggee;
    let source = arguments.source.unwrap_or_default();
    let number = source.source_reference.or(arguments.source_reference).filter(|it| *it != 0);
    let key = match number {
        Some(number) => sources.numbered(number).cloned(),
        None => Some(sources.identify(&source, debugger, client)),
    };
    let text = match &key {
        Some(SourceKey::Listing(module)) => debugger.program().listing(*module).map(str::to_owned),
        Some(SourceKey::File(file)) => debugger.program().source_text(file),
        Some(SourceKey::Unknown(_)) | None => None,
    };
    let name = || source.name.or(source.path).unwrap_or_else(|| "that source".into());
    let content = text.ok_or_else(|| {
        RequestError::stale(format!("the debugger does not hold the text of {}", name()))
    })?;
    let mime_type = match key {
        Some(SourceKey::Listing(_)) => Some("text/x-vmasm".into()),
        _ => Some("text/x-mlir".into()),
    };
    body(SourceResponse { content, mime_type })
}

/// The sources of the program whose text is available, and the disassembly of every module.
pub(super) fn loaded_sources(
    debuggee: &mut Debuggee,
    client: &Client,
    _request: &Request,
) -> Result<Value, RequestError> {
    let Debuggee { debugger, sources, .. } = debuggee;
    let program = debugger.program();
    let files = program.source_files();
    let found = files.iter().filter_map(|file| sources.of_file(file, debugger, client));
    let mut all: Vec<Source> = found.collect();
    let listings = program.catalog();
    all.extend(listings.iter().map(|module| sources.listing(module.index, &module.name)));
    Ok(json!({ "sources": body(all)? }))
}

/// The places in a range of a source where breakpoints are possible.
pub(super) fn breakpoint_locations(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Arguments {
        source: Source,
        line: i64,
        #[serde(default)]
        column: Option<i64>,
        #[serde(default)]
        end_line: Option<i64>,
        #[serde(default)]
        end_column: Option<i64>,
    }
    let arguments: Arguments = request.arguments()?;
    let first = client.line_from(arguments.line);
    let last = arguments.end_line.map_or(first, |line| client.line_from(line));
    // The columns limit the first line and the last.
    let from = (first, arguments.column.map_or(0, |column| client.column_from(column)));
    let to = (last, arguments.end_column.map_or(u32::MAX, |column| client.column_from(column)));
    let Debuggee { debugger, sources, .. } = debuggee;
    let program = debugger.program();
    let breakpoints: Vec<Value> = match sources.identify(&arguments.source, debugger, client) {
        SourceKey::File(file) => {
            let sites = program.code_sites(&file, &(first..=last)).into_iter();
            let location = |at: CodeSite| {
                json!({
                    "line": client.line(at.line),
                    "column": client.column(at.column),
                    "endColumn": client.column(at.end_column),
                })
            };
            sites.filter(|at| (from..=to).contains(&(at.line, at.column))).map(location).collect()
        }
        SourceKey::Listing(module) => {
            let sites = debugger.program().listing_sites(module, &(first..=last)).into_iter();
            sites.map(|line| json!({"line": client.line(line)})).collect()
        }
        SourceKey::Unknown(_) => Vec::new(),
    };
    Ok(json!({ "breakpoints": breakpoints }))
}
