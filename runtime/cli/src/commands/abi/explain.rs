//! `iree-dbg abi explain`: the exports of a module, or one signature, under every convention that
//! applies, and how to call them.

use std::io::Write;
use std::path::{Path, PathBuf};

use abi::convention::Convention;
use abi::explain::{Explanation, NoCall, RowOrigin, Usage, explain, explain_text, usage};
use vmfb::{Export, FunctionSignature};

use super::command::Kind;
use super::json;
use super::text::Text;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::modules::open;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The module, and after a colon the exported function; by default all functions. With --kind,
    /// the text of a signature; `-` reads it from standard input
    #[arg(value_name = "MODULE.vmfb[:FUNCTION] or TEXT", allow_hyphen_values = true)]
    target: String,

    /// The kind of the signature, if a text is explained
    #[arg(long, value_enum)]
    kind: Option<Kind>,

    /// The raw signature (attribute `f`) of a sip signature, so that its leaves have types
    #[arg(long, value_name = "SIGNATURE")]
    raw: Option<String>,

    /// Show the conventions that follow from what is stated, too
    #[arg(long)]
    all: bool,

    /// Print JSON, with all conventions
    #[arg(long)]
    json: bool,
}

/// A function with its explanation.
struct Explained {
    name: String,
    found: Explanation,
    usage: Usage,
    /// Whether it is a function of a native library.
    is_native: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let explained = match arguments.kind {
        Some(kind) => vec![of_text(arguments, kind.convention())?],
        None if arguments.raw.is_some() => return Err("--raw= is for --kind=sip only".into()),
        None => of_module(&arguments.target)?,
    };
    if arguments.json {
        let all: Vec<_> = explained.iter().map(as_json).collect();
        writeln!(crate::printing::output(), "{:#}", serde_json::Value::from(all))?;
        return Ok(ExitStatus::Success);
    }
    let mut out = std::io::BufWriter::new(crate::printing::output());
    for (index, it) in explained.iter().enumerate() {
        write!(out, "{}{}", if index > 0 { "\n" } else { "" }, as_text(it, arguments.all))?;
    }
    out.flush()?;
    Ok(ExitStatus::Success)
}

fn of_text(arguments: &Arguments, convention: Convention) -> Result<Explained, Failure> {
    if arguments.raw.is_some() && convention != Convention::Sip {
        return Err("--raw= is for --kind=sip only".into());
    }
    let text = Text::read(convention, &arguments.target)?;
    let found = explain_text(convention, &text.plain, arguments.raw.as_deref())
        .map_err(|error| text.fail(&error))?;
    let name = found.function.name.clone().unwrap_or_else(|| "f".to_owned());
    let is_native = matches!(convention, Convention::Memref | Convention::Tvm);
    let file = if is_native { "library.so" } else { "model.vmfb" };
    let usage = usage(file, &name, &found.function);
    Ok(Explained { name, found, usage, is_native })
}

fn of_module(target: &str) -> Result<Vec<Explained>, Failure> {
    let (path, name) = split(target);
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
    let file = path.display().to_string();
    let explained = exports.into_iter().map(|export| {
        let signature = module.function(export.function).map(|function| &function.signature);
        let attributes = signature.map(FunctionSignature::pairs).unwrap_or_default();
        let cconv = signature.and_then(|signature| signature.calling_convention.as_deref());
        let found = explain(cconv, &attributes);
        let usage = usage(&file, &export.name, &found.function);
        Explained { name: export.name.clone(), found, usage, is_native: false }
    });
    Ok(explained.collect())
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

impl Explained {
    /// The ways to call it: the language, and the text or why there is none. The C prototype is
    /// that of a native function, so it belongs to those.
    fn ways(&self, all: bool) -> Vec<(&'static str, &Result<String, NoCall>)> {
        let is_module = !self.is_native;
        let ways = [
            ("in a shell", is_module, &self.usage.command_line),
            ("in Python", is_module, &self.usage.python),
            ("in C", self.is_native || all, &self.usage.c),
        ];
        ways.into_iter().filter(|(_, is_one, _)| *is_one).map(|(name, _, it)| (name, it)).collect()
    }
}

fn as_text(explained: &Explained, all: bool) -> String {
    let found = &explained.found;
    let mut out = format!("@{} {}\n", explained.name, found.function);
    let is_stated =
        |origin: RowOrigin| all || matches!(origin, RowOrigin::Stated | RowOrigin::Malformed);
    let rows: Vec<_> = found.rows.iter().filter(|row| is_stated(row.origin)).collect();
    let ways = explained.ways(all);
    let names = rows.iter().map(|row| row.name).chain(ways.iter().map(|(name, _)| *name));
    let width = names.map(str::len).max().unwrap_or(0);
    for row in &rows {
        let origin = row.origin.word();
        out.push_str(&format!("  {:width$}  {origin:10}  {}\n", row.name, row.text));
        if let Some(meaning) = &row.meaning {
            out.push_str(&format!("  {:width$}  {:10}  = {meaning}\n", "", ""));
        }
        for note in &row.notes {
            out.push_str(&format!("  {:width$}  {:10}  note: {note}\n", "", ""));
        }
    }
    for disagreement in &found.disagreements {
        out.push_str(&format!("  warning: {disagreement}\n"));
    }
    for (name, way) in ways {
        let (word, text) = match way {
            Ok(text) => ("call", text.replace('\n', &format!("\n  {:width$}  {:10}  ", "", ""))),
            Err(reason) => ("impossible", reason.to_string()),
        };
        out.push_str(&format!("  {name:width$}  {word:10}  {text}\n"));
    }
    let more = found.rows.len() - rows.len();
    if more > 0 {
        out.push_str(&format!("  --all shows {more} more that follow from these\n"));
    }
    out
}

fn as_json(explained: &Explained) -> serde_json::Value {
    let found = &explained.found;
    let rows = found.rows.iter().map(|row| {
        serde_json::json!({
            "convention": row.name,
            "origin": row.origin.word(),
            "text": row.text,
            "meaning": row.meaning,
            "notes": row.notes,
        })
    });
    let way = |it: &Result<String, NoCall>| it.clone().ok();
    // The schema is `schemas/explain.schema.json`.
    serde_json::json!({
        "schema_version": 1,
        "export": explained.name,
        "signature": found.function.to_string(),
        "fences": found.has_fences,
        "conventions": rows.collect::<Vec<_>>(),
        "disagreements": found.disagreements,
        "usage": {
            "shell": way(&explained.usage.command_line),
            "python": way(&explained.usage.python),
            "c": way(&explained.usage.c),
        },
        "model": json::function(&found.function),
    })
}
