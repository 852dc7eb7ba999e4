//! What the program is made of: `modules`, `loadedSources`, `breakpointLocations`.

use dap::requests::ModulesArguments;
use debug::CodeSite;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments;
use crate::client::Client;
use crate::debuggee::Debuggee;
use crate::error::RequestError;
use crate::protocol::{Request, Source};
use crate::session::body;
use crate::sources::SourceKey;
use crate::to_dap;

pub(super) fn modules(
    debuggee: &mut Debuggee,
    client: &Client,
    request: &Request,
) -> Result<Value, RequestError> {
    let arguments: ModulesArguments = arguments(request)?;
    let program = debuggee.debugger.program();
    let all = program.catalog();
    let start = to_dap::count(arguments.start_module).min(all.len());
    let count = match to_dap::count(arguments.module_count) {
        0 => all.len() - start,
        count => count.min(all.len() - start),
    };
    let some = all[start..start + count].iter();
    let modules: Vec<_> = some.map(|module| to_dap::module(module, program, client)).collect();
    Ok(json!({ "modules": body(modules)?, "totalModules": all.len() }))
}

/// The files that code came from, as far as their text can be had, and every module's disassembly.
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

/// Where in some lines of a source breakpoints can be.
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
    let arguments: Arguments = arguments(request)?;
    let first = client.line_from(arguments.line);
    let last = arguments.end_line.map_or(first, |line| client.line_from(line));
    // Columns belong to the first line and the last.
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
            let sites = debugger.listing_sites(module, &(first..=last)).into_iter();
            sites.map(|line| json!({"line": client.line(line)})).collect()
        }
        SourceKey::Unknown(_) => Vec::new(),
    };
    Ok(json!({ "breakpoints": breakpoints }))
}
