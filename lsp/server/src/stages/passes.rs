//! One function after each pass that changed it. The compiler prints the whole program many times;
//! only the function's own texts are written to the cache.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use compile::{Cancellation, PassText, PassesRequest, Scratch, print_passes};
use ide::Stage;
use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::Url;

use super::StageSet;
use super::making::{Problem, Source};
use super::names::{self, Digest, Named};
use super::stage_error::StageError;

/// The most texts of one function, and their most bytes together.
const MOST: usize = 2000;
const LARGEST: usize = 512 << 20;

/// A pass that changed the function.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pass {
    /// `12.CSEPass.mlir`.
    pub(crate) title: String,
    /// As the compiler names it: `CSEPass: cse`.
    pub(crate) pass: String,
    /// How many lines are new, and how many have gone.
    pub(crate) changed: usize,
}

/// The passes that changed a function.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PassList {
    pub(crate) function: String,
    pub(crate) passes: Vec<Pass>,
    /// How many texts the compiler printed in all.
    pub(crate) printed: usize,
    /// What is missing, and why.
    pub(crate) notes: Vec<String>,
}

/// The key of a function's passes.
fn key_of(function: &str) -> String {
    let mut key = Digest::new();
    key.add_part(function);
    key.key()
}

impl PassList {
    /// The URI of the function after a pass.
    pub(crate) fn uri(&self, set: &StageSet, pass: &Pass) -> Option<Url> {
        let query = format!("{}.{}", set.key, key_of(&self.function));
        names::uri(&set.info.source, &[&self.function, &pass.title], &query)
    }
}

/// The same compilation once more, if its input is still the same.
pub(super) fn request_of(set: &StageSet) -> Result<PassesRequest, Problem> {
    let info = &set.info;
    let input = Source { path: PathBuf::from(&info.input), open: None };
    if input.digest()?.0 != info.digest {
        let input = input.path.display();
        return Err(Problem::from(format!(
            "{input} has changed since it was compiled: ask again from the source"
        )));
    }
    Ok(PassesRequest {
        input: input.path,
        flags: info.flags.clone(),
        compiler: info.compiler.clone(),
        directory: Some(info.directory.clone()),
    })
}

/// Compiles a source once more and keeps what each pass made of a function.
pub(crate) fn make_passes(
    folder: &Path,
    set: &StageSet,
    function: &str,
    cancellation: &Cancellation,
) -> Result<PassList, Problem> {
    let kept = folder.join(&set.key).join(format!("passes-{}", key_of(function)));
    let list = kept.join("passes.json");
    if let Ok(text) = std::fs::read(&list)
        && let Ok(known) = serde_json::from_slice(&text)
    {
        return Ok(known);
    }
    let request = request_of(set)?;
    let failed = |error: std::io::Error| format!("cannot write to {}: {error}", folder.display());
    let scratch = Scratch::beside(folder, ".making-");
    let scratch = scratch.map_err(failed)?;
    let mut keeper = Keeper {
        names: ide::names_at_boundary(function).into(),
        folder: scratch.path().to_owned(),
        list: PassList { function: function.to_owned(), ..PassList::default() },
        needles: Vec::new(),
        last: HashMap::new(),
        shown: None,
        bytes: 0,
        problem: None,
    };
    keeper.needles = keeper
        .names
        .iter()
        .flat_map(|name| [format!("@{name}("), format!("@\"{name}\"(")])
        .collect();
    print_passes(&request, cancellation, |pass| keeper.take(pass))?;
    if let Some(problem) = keeper.problem {
        return Err(Problem::from(failed(problem)));
    }
    let made = keeper.list;
    if made.passes.is_empty() {
        return Err(Problem::from(format!(
            "no pass prints a function @{function}: its operations may be part of others"
        )));
    }
    let text = serde_json::to_vec_pretty(&made).map_err(|error| error.to_string())?;
    std::fs::write(scratch.path().join("passes.json"), text).map_err(failed)?;
    // If that fails, another server was faster.
    let _ = std::fs::rename(scratch.path(), &kept);
    Ok(made)
}

/// Writes the texts of a function that differ from the one before.
struct Keeper {
    names: Vec<String>,
    folder: PathBuf,
    list: PassList,
    /// How heads of these functions name them.
    needles: Vec<String>,
    /// The last text of each function.
    last: HashMap<String, String>,
    /// The last text of all, without locations.
    shown: Option<String>,
    bytes: usize,
    problem: Option<std::io::Error>,
}

impl Keeper {
    fn take(&mut self, pass: PassText<'_>) {
        self.list.printed += 1;
        if pass.text.is_empty() {
            self.note(format!("{}: its text is too long", pass.pass));
            return;
        }
        let names = |needle: &String| memchr::memmem::find(pass.text, needle.as_bytes()).is_some();
        if !self.needles.iter().any(names) {
            return;
        }
        let printed = String::from_utf8_lossy(pass.text);
        let found = ide::functions_named(&printed, &self.names);
        if found.is_empty() {
            return;
        }
        // A pass over one function says nothing of the others.
        if is_of_module(&printed) {
            self.last.clear();
        }
        self.last.extend(found);
        let text = self.all();
        let shown = Stage::read("", text.as_bytes()).text().to_owned();
        if self.shown.as_ref() == Some(&shown) || self.problem.is_some() {
            return;
        }
        if self.list.passes.len() >= MOST || self.bytes + text.len() > LARGEST {
            self.note("later passes are left out: there is too much text".to_owned());
            return;
        }
        let title = title(self.list.passes.len() + 1, pass.pass);
        if let Err(problem) = std::fs::write(self.folder.join(&title), &text) {
            self.problem = Some(problem);
            return;
        }
        self.bytes += text.len();
        let last = self.shown.as_deref().unwrap_or_default();
        let changed = other_lines(last, &shown) + other_lines(&shown, last);
        self.list.passes.push(Pass { title, pass: pass.pass.to_owned(), changed });
        self.shown = Some(shown);
    }

    /// The last texts of the functions, with aliases of their own.
    fn all(&self) -> String {
        let letters = ["#locA", "#locB", "#locC"];
        let texts = self
            .names
            .iter()
            .zip(letters)
            .filter_map(|(name, letter)| Some(self.last.get(name)?.replace("#loc", letter)));
        texts.collect()
    }

    fn note(&mut self, note: String) {
        if self.list.notes.len() < 20 && !self.list.notes.contains(&note) {
            self.list.notes.push(note);
        }
    }
}

/// Whether a text is the whole program, not one function of it.
fn is_of_module(printed: &str) -> bool {
    let first = printed.lines().find(|line| !line.starts_with(['#', '!']) && !line.is_empty());
    first.is_some_and(|line| line.starts_with("module") || line.starts_with("builtin.module"))
}

/// How many lines of `after` are not in `before`.
fn other_lines(before: &str, after: &str) -> usize {
    let mut known: HashMap<String, usize> = HashMap::new();
    before.lines().for_each(|line| *known.entry(line.to_owned()).or_default() += 1);
    let is_new = |line: &&str| match known.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    after.lines().filter(is_new).count()
}

/// `12.CSEPass.mlir` for `CSEPass: cse`.
fn title(number: usize, pass: &str) -> String {
    let name = pass.split_whitespace().next().map_or("pass", |word| word.trim_end_matches(':'));
    let name = name.rsplit("::").next().unwrap_or(name);
    let plain = name.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '_').take(80);
    format!("{number}.{}.mlir", plain.collect::<String>())
}

/// A function after a pass, from the cache.
pub(crate) fn read_pass(folder: &Path, named: &Named) -> Result<Stage, StageError> {
    let passes = named.passes.as_deref().unwrap_or_default();
    let folder = folder.join(&named.key).join(format!("passes-{passes}"));
    let gone = || StageError::Gone { what: "text" };
    // The name comes from a URI.
    let list = std::fs::read(folder.join("passes.json")).map_err(|_| gone())?;
    let list: PassList = serde_json::from_slice(&list)?;
    let pass = list.passes.iter().find(|pass| pass.title == named.title).ok_or_else(gone)?;
    let text = std::fs::read(folder.join(&pass.title)).map_err(|_| gone())?;
    Ok(Stage::read(&pass.pass, &text))
}

#[cfg(test)]
mod tests {
    use super::{other_lines, title};

    #[test]
    fn names_of_passes_are_names_of_files() {
        assert_eq!(title(3, "CSEPass: cse"), "3.CSEPass.mlir");
        assert_eq!(
            title(4, "mlir::x::OpPipelineAdaptorPass: a{b=c}"),
            "4.OpPipelineAdaptorPass.mlir"
        );
        assert_eq!(title(5, "CSE (cse)"), "5.CSE.mlir");
        assert_eq!(title(6, "../../x"), "6.x.mlir");
    }

    #[test]
    fn new_lines_are_counted() {
        assert_eq!(other_lines("a\nb\nb\n", "b\nc\nb\nb\n"), 2);
    }
}
