//! Questions about a compiled module as a whole, for clients that show it as more than text.

use std::fmt::Display;
use std::path::Path;

use ide::{DispatchGraphs, GraphView, OpenGroups};
use serde::Serialize;
use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::Url;

use super::made_documents::{failed, target};
use crate::made_uris::file_of;

/// What a module has, at a glance.
pub(crate) fn overview(uri: &Url) -> Result<Value> {
    answer(uri, ide::module_overview)
}

/// The dispatches of a module as a graph, in which the groups are open that the client names.
pub(crate) fn graph(uri: &Url, params: &Value, graphs: &DispatchGraphs) -> Result<Value> {
    let view = view(params)?;
    answer(uri, |path| graphs.picture(path, &view))
}

/// `open`: `"all"`, or the identities of groups; `weights`: whether they have boxes. Without them,
/// what can be read.
fn view(params: &Value) -> Result<GraphView> {
    let open = match &params["open"] {
        Value::Null => OpenGroups::Readable,
        Value::String(all) if all == "all" => OpenGroups::All,
        Value::Array(ids) => {
            OpenGroups::These(ids.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        _ => {
            return Err(Error::invalid_params("expected `open` to be \"all\" or a list of groups"));
        }
    };
    Ok(GraphView { open, weights: params["weights"].as_bool() })
}

/// The times of a profile, by function.
pub(crate) fn profile(uri: &Url) -> Result<Value> {
    answer_of(uri, "ireeprof", ide::profile_times)
}

fn answer<T: Serialize, E: Display>(
    uri: &Url,
    ask: impl Fn(&Path) -> std::result::Result<T, E>,
) -> Result<Value> {
    answer_of(uri, "vmfb", ask)
}

/// Asks of the file of a URI. Modules may lie anywhere: what is told of one reveals no other file.
fn answer_of<T: Serialize, E: Display>(
    uri: &Url,
    extension: &str,
    ask: impl Fn(&Path) -> std::result::Result<T, E>,
) -> Result<Value> {
    let path = if uri.scheme() == "file" { uri.to_file_path().ok() } else { file_of(uri) };
    let path = path.ok_or_else(|| failed(format!("{uri} names no file")))?;
    let refused = |reason: &dyn Display| failed(format_args!("{}: {reason}", path.display()));
    let found = target(&path, &[extension]).map_err(|error| refused(&error))?;
    Ok(json!(ask(&found).map_err(|error| refused(&error))?))
}
