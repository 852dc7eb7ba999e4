//! `iree-dbg abi explain`: the exports of a module under every convention that applies.

use std::io::Write;
use std::path::{Path, PathBuf};

use abi::explain::{Explanation, explain};
use vmfb::Export;

use super::json;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::modules::open;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The module, and after a colon the exported function; by default all functions
    #[arg(value_name = "MODULE.vmfb[:FUNCTION]")]
    target: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let (path, name) = split(&arguments.target);
    let module = open(&path)?;
    let exports: Vec<&Export> = match name {
        None => module.exports().iter().collect(),
        Some(name) => {
            let found = module.export_named(name).map(|(_, export)| export);
            vec![found.ok_or_else(|| {
                let names: Vec<_> =
                    module.exports().iter().map(|export| export.name.as_str()).collect();
                format!(
                    "module `{}` exports no `{name}`; it exports {}",
                    module.name(),
                    names.join(", ")
                )
            })?]
        }
    };
    let explained = exports.into_iter().map(|export| {
        let signature = module.function(export.function).map(|function| &function.signature);
        let attributes: Vec<(&str, &str)> = signature.map_or_else(Vec::new, |signature| {
            let pairs = signature.attributes.iter();
            pairs.map(|pair| (pair.key.as_str(), pair.value.as_str())).collect()
        });
        let cconv = signature.and_then(|signature| signature.calling_convention.as_deref());
        (export.name.as_str(), explain(cconv, &attributes))
    });
    if arguments.json {
        let all: Vec<_> = explained.map(|(name, found)| as_json(name, &found)).collect();
        writeln!(std::io::stdout(), "{:#}", serde_json::Value::from(all))?;
        return Ok(ExitStatus::Success);
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (index, (name, found)) in explained.enumerate() {
        write!(out, "{}{}", if index > 0 { "\n" } else { "" }, as_text(name, &found))?;
    }
    out.flush()?;
    Ok(ExitStatus::Success)
}

/// Splits off the function. A file's name may contain a colon, so an existing file is taken whole.
fn split(target: &str) -> (PathBuf, Option<&str>) {
    if Path::new(target).exists() {
        return (PathBuf::from(target), None);
    }
    match target.find(".vmfb:").map(|at| at + ".vmfb".len()).or_else(|| target.rfind(':')) {
        Some(at) => (PathBuf::from(&target[..at]), Some(&target[at + 1..])),
        None => (PathBuf::from(target), None),
    }
}

fn as_text(name: &str, found: &Explanation) -> String {
    let mut out = format!("@{name} {}\n", found.function);
    let width = found.rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in &found.rows {
        let origin = row.origin.word();
        out.push_str(&format!("  {:width$}  {origin:10}  {}\n", row.name, row.text));
        if let Some(meaning) = &row.meaning {
            out.push_str(&format!("  {:width$}  {:10}  = {meaning}\n", "", ""));
        }
        for note in &row.notes {
            out.push_str(&format!("  {:width$}  {:10}  note: {note}\n", "", ""));
        }
    }
    out
}

fn as_json(name: &str, found: &Explanation) -> serde_json::Value {
    let rows = found.rows.iter().map(|row| {
        serde_json::json!({
            "convention": row.name,
            "origin": row.origin.word(),
            "text": row.text,
            "meaning": row.meaning,
            "notes": row.notes,
        })
    });
    serde_json::json!({
        "export": name,
        "signature": found.function.to_string(),
        "fences": found.has_fences,
        "conventions": rows.collect::<Vec<_>>(),
        "model": json::function(&found.function),
    })
}
