//! The operations of the compiler that the user has installed: names, operands, results,
//! attributes and documentation, read from its Python package where that lies.
//!
//! `iree-base-compiler` has a file per dialect, `iree/compiler/dialects/_NAME_ops_gen.py`, made by
//! a generator. So its lines have few forms, and no Python is run: a class is an operation, its
//! docstring the documentation, and its properties are operands, attributes and results.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::enumerations::Enumerations;

/// How many values or attributes a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// One.
    One,
    /// One or none.
    Optional,
    /// Any number.
    Many,
}

/// A named part of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// How many it stands for.
    pub count: Count,
    /// The words that an attribute may be, where they are listed.
    pub words: Vec<String>,
}

/// An operation of the installed compiler.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstalledOperation {
    /// Markdown.
    pub documentation: String,
    /// Its operands.
    pub operands: Vec<Part>,
    /// Its attributes.
    pub attributes: Vec<Part>,
    /// Its results.
    pub results: Vec<Part>,
    /// Whether it has regions.
    pub has_regions: bool,
}

/// The operations of the installed compiler, by name.
#[derive(Debug, Default)]
pub struct InstalledOperations {
    by_name: HashMap<String, InstalledOperation>,
    /// The words of each kind of attribute.
    words: Enumerations,
}

/// The longest file, in bytes, that is read.
const LONGEST: u64 = 16 << 20;

impl InstalledOperations {
    /// Reads the folder `iree/compiler/dialects`; `None` if it has no operations.
    pub fn read(folder: &Path) -> Option<Self> {
        let mut found = Self::default();
        // Operations refer to the words of attributes.
        for text in tables(folder, "_enum_gen.py")? {
            found.words.read(&text);
        }
        for text in tables(folder, "_ops_gen.py")? {
            found.read_dialect(&text);
        }
        (!found.by_name.is_empty()).then_some(found)
    }

    /// The words that may stand in an attribute such as `fastmath<…>` or `#arith.fastmath<…>`.
    pub(crate) fn words_of(&self, attribute: &str) -> Option<&[String]> {
        self.words.of_attribute(attribute)
    }

    /// Each kind of attribute that has words, with its words.
    pub(super) fn words_by_attribute(&self) -> impl Iterator<Item = (&str, &Vec<String>)> {
        self.words.by_attribute()
    }

    /// Adds an operation.
    pub(super) fn add(&mut self, name: String, operation: InstalledOperation) {
        self.by_name.insert(name, operation);
    }

    /// Adds the words of a kind of attribute.
    pub(super) fn add_words(&mut self, attribute: &str, words: Vec<String>) {
        self.words.add(attribute, words);
    }

    /// The operation with this name.
    pub fn get(&self, name: &str) -> Option<&InstalledOperation> {
        self.by_name.get(name)
    }

    /// The operations whose names begin like this.
    pub(crate) fn beginning<'a>(
        &'a self,
        typed: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a InstalledOperation)> {
        self.by_name
            .iter()
            .filter(move |(name, _)| name.starts_with(typed))
            .map(|(name, operation)| (name.as_str(), operation))
    }

    fn read_dialect(&mut self, text: &str) {
        for class in text.split("\n@_ods_cext.register_operation(").skip(1) {
            let class = class.split("\n@_ods_cext.register_op_adaptor(").next().unwrap_or(class);
            if let Some((name, operation)) = read_class(class, &self.words) {
                self.by_name.insert(name, operation);
            }
        }
    }
}

/// The texts of the files in a folder whose names end like this.
fn tables(folder: &Path, ending: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let is_table = entry.file_name().to_string_lossy().ends_with(ending);
        let is_short = entry.metadata().is_ok_and(|data| data.len() <= LONGEST);
        if is_table && is_short {
            found.extend(std::fs::read_to_string(entry.path()));
        }
    }
    Some(found)
}

fn read_class(class: &str, words: &Enumerations) -> Option<(String, InstalledOperation)> {
    let (_, after) = class.split_once("OPERATION_NAME = \"")?;
    let (name, members) = after.split_once('"')?;
    let mut operation = InstalledOperation::default();
    if let Some((_, rest)) = class.split_once("r\"\"\"")
        && let Some((text, _)) = rest.split_once("\"\"\"")
    {
        let lines = text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line).trim_end());
        operation.documentation = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    }
    operation.has_regions = members
        .split_once("_ODS_REGIONS = (")
        .is_some_and(|(_, count)| !count.starts_with("0, True"));
    for property in members.split("@builtins.property").skip(1) {
        let Some((head, ty)) = property.trim_start().strip_prefix("def ").and_then(|rest| {
            let line = rest.lines().next()?;
            line.split_once("(self) -> ")
        }) else {
            continue;
        };
        let many = ty.contains("OpOperandList") || ty.contains("OpResultList");
        let count = match (many, ty.contains("_Optional[")) {
            (true, _) => Count::Many,
            (false, true) => Count::Optional,
            (false, false) => Count::One,
        };
        let name = head.trim_end_matches('_').to_owned();
        let part = Part { name, count, words: Vec::new() };
        if ty.contains("OpResult") {
            operation.results.push(part);
        } else if ty.contains("Value") || ty.contains("OpOperandList") {
            operation.operands.push(part);
        } else if ty.contains("Attr") {
            let words = kind_of(members, &part.name).and_then(|kind| words.of_kind(kind));
            operation.attributes.push(Part { words: words.unwrap_or_default().to_vec(), ..part });
        }
    }
    Some((name.to_owned(), operation))
}

/// The kind of an attribute: the builder that makes it of a plain value of Python.
fn kind_of<'t>(members: &'t str, attribute: &str) -> Option<&'t str> {
    let (_, after) = members.split_once(&format!("attributes[\"{attribute}\"] = ("))?;
    let (_, after) = after.split_once("AttrBuilder.contains('")?;
    after.split('\'').next()
}

impl InstalledOperation {
    /// One line: `lhs, rhs -> result`, with `?` after what may be left out and `…` after lists.
    pub(crate) fn line(&self) -> String {
        let operands: Vec<_> = self.operands.iter().map(Part::shown).collect();
        let results: Vec<_> = self.results.iter().map(Part::shown).collect();
        match (operands.is_empty(), results.is_empty()) {
            (_, true) => operands.join(", "),
            (true, false) => format!("-> {}", results.join(", ")),
            (false, false) => format!("{} -> {}", operands.join(", "), results.join(", ")),
        }
    }
}

impl Part {
    /// The name with its count.
    pub(crate) fn shown(&self) -> String {
        let mark = match self.count {
            Count::One => "",
            Count::Optional => "?",
            Count::Many => "…",
        };
        format!("{}{mark}", self.name)
    }
}

/// The folder with the dialects of the compiler that has `program`, which is on the PATH or a path;
/// else of an environment that is active or lies in one of `folders`.
pub fn installed_dialects(program: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let mut prefixes: Vec<PathBuf> = Vec::new();
    if let Some(program) = on_path(program) {
        // A script's first line names its interpreter: `#!/x/bin/python3`.
        let real = std::fs::canonicalize(&program).unwrap_or_else(|_| program.clone());
        let beside = [program.as_path(), real.as_path()].map(prefix_of);
        prefixes.extend(beside.into_iter().chain([interpreter(&real)]).flatten());
    }
    prefixes.extend(std::env::var_os("VIRTUAL_ENV").map(PathBuf::from));
    for folder in folders {
        prefixes.extend([".venv", "venv"].map(|name| folder.join(name)));
    }
    prefixes.iter().find_map(|prefix| dialects_under(prefix))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    let places = std::env::var_os("PATH")?;
    std::env::split_paths(&places).map(|place| place.join(path)).find(|path| path.is_file())
}

/// The environment of a program in its `bin`.
fn prefix_of(program: &Path) -> Option<PathBuf> {
    Some(program.parent()?.parent()?.to_owned())
}

fn interpreter(script: &Path) -> Option<PathBuf> {
    use std::io::Read;
    let mut first = [0; 256];
    let count = std::fs::File::open(script).ok()?.read(&mut first).ok()?;
    let text = std::str::from_utf8(first.get(..count)?).ok()?;
    let line = text.strip_prefix("#!")?.lines().next()?;
    prefix_of(Path::new(line.split_whitespace().next()?))
}

/// The dialects in an environment, or `None`.
fn dialects_under(prefix: &Path) -> Option<PathBuf> {
    let dialects = |packages: PathBuf| packages.join("site-packages/iree/compiler/dialects");
    let versions = std::fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
    let of_versions = versions
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python"))
        .map(|entry| dialects(entry.path()));
    of_versions.chain([dialects(prefix.join("Lib"))]).find(|folder| folder.is_dir())
}

/// A process serves one compiler, so its operations are known to every document.
static INSTALLED: RwLock<Option<Arc<InstalledOperations>>> = RwLock::new(None);

/// Makes the operations of an installed compiler known to all features.
pub fn use_installed_operations(operations: Option<Arc<InstalledOperations>>) {
    *INSTALLED.write().unwrap_or_else(PoisonError::into_inner) = operations;
}

/// The operations of the installed compiler, if there is one.
pub(crate) fn installed() -> Option<Arc<InstalledOperations>> {
    INSTALLED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

#[cfg(test)]
mod tests {
    use super::{Count, InstalledOperations, installed_dialects};

    const TABLE: &str = r#"
@_ods_cext.register_operation(_Dialect)
class TwistOp(_ods_ir.OpView):
  r"""
  Twists `rope`.

    indented
  """

  OPERATION_NAME = "knots.twist"

  _ODS_REGIONS = (1, True)

  @builtins.property
  def rope(self) -> _ods_ir.Value:
    return self.operation.operands[0]

  @builtins.property
  def times(self) -> _Optional[_ods_ir.Value[_ods_ir.IndexType]]:
    return None

  @builtins.property
  def ends(self) -> _ods_ir.OpOperandList:
    return self.operation.operands[1:]

  @builtins.property
  def kind(self) -> _ods_ir.StringAttr:
    return self.operation.attributes["kind"]

  @builtins.property
  def result(self) -> _ods_ir.OpResult:
    return self.operation.results[0]

@_ods_cext.register_op_adaptor(TwistOp)
class TwistOpAdaptor(_ods_ir.OpAdaptor):
  @builtins.property
  def other(self) -> _ods_ir.Value:
    return self.operands[0]
"#;

    #[test]
    fn a_package_is_read_where_it_lies() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let environment = folder.path().join(".venv");
        let dialects = environment.join("lib/python3.12/site-packages/iree/compiler/dialects");
        std::fs::create_dir_all(&dialects).expect("folders");
        std::fs::write(dialects.join("_knots_ops_gen.py"), TABLE).expect("to write");
        let folders = [folder.path().to_owned()];
        let program = "no-such-compiler";
        if std::env::var_os("VIRTUAL_ENV").is_none() {
            assert_eq!(installed_dialects(program, &folders), Some(dialects.clone()));
        }
        let script = environment.join("bin/iree-opt");
        std::fs::create_dir_all(environment.join("bin")).expect("a folder");
        std::fs::write(&script, "#!/bin/sh\n").expect("to write");
        let program = script.display().to_string();
        assert_eq!(installed_dialects(&program, &[]), Some(dialects.clone()));
        let read = InstalledOperations::read(&dialects).expect("operations");
        let twist = read.get("knots.twist").expect("the operation");
        assert_eq!(twist.documentation, "Twists `rope`.\n\n  indented");
        assert_eq!(twist.line(), "rope, times?, ends… -> result");
        assert_eq!((twist.attributes[0].count, twist.has_regions), (Count::One, true));
        assert_eq!(read.beginning("knots.").count(), 1);
        assert!(InstalledOperations::read(folder.path()).is_none());
    }
}
