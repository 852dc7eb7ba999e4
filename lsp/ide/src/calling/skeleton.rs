//! What iree-compile is asked to learn what it makes of exports: their heads, with bodies that
//! compute nothing. So a model of any length is asked about in a second, also while its bodies are
//! half-typed.
//!
//! Bodies matter in one respect: an operation of an importer's dialect decides how the program is
//! converted. So a text has such a *witness* where its program has one.

use std::collections::HashMap;
use std::fmt::Write;

use syntax::{ChunkKind, Lexer, OpClass, Placed, Slot, Symbol, TextRange, TokenKind, Visibility};

use super::boundary::{torch_type, without_alias};
use crate::Document;
use crate::resolve::{alias_definition, file_around};
use crate::text::{Inputs, hash};

/// A function that runs for ever, which needs no value of its results' types.
const FOR_EVER: &str = " {\n  cf.br ^bb1\n^bb1:\n  cf.br ^bb1\n}\n";
/// The longest head, in bytes, that is asked about.
const LONGEST: usize = 64 << 10;

/// A function as it is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bone {
    /// Its name.
    pub name: String,
    /// The hash of all that its convention depends on in the text.
    pub key: u64,
    aliases: Vec<String>,
    text: String,
}

/// Reads functions as they are asked about. An alias is looked up once.
pub(crate) struct Bones<'a> {
    document: &'a Document,
    inputs: Inputs,
    aliases: HashMap<String, Option<String>>,
}

impl<'a> Bones<'a> {
    /// For the functions of the file around `offset`.
    pub(crate) fn around(document: &'a Document, file: &TextRange) -> Self {
        let is_whole = *file == (0..document.text().len());
        let inputs =
            if is_whole { document.inputs() } else { Inputs::of(document.text(), file.clone()) };
        Self { document, inputs, aliases: HashMap::new() }
    }

    /// Text that each question begins with.
    pub(crate) fn witness(&self) -> String {
        let Inputs { torch, stablehlo, tuples, tosa } = self.inputs;
        let mut body = String::new();
        if torch {
            body += "  %0 = torch.constant.int 0\n";
        }
        if stablehlo {
            body += "  %1 = stablehlo.constant dense<0> : tensor<i32>\n";
        }
        if tuples {
            body += "  %2 = stablehlo.tuple %1 : tuple<tensor<i32>>\n";
        }
        if tosa {
            body += "  %3 = \"tosa.const\"() <{values = dense<0> : tensor<1xi32>}>";
            body += " : () -> tensor<1xi32>\n";
        }
        if body.is_empty() {
            return body;
        }
        format!("func.func private @\"a witness\"() {{\n{body}  return\n}}\n")
    }

    /// A function of the text, if it is an export that can be asked about alone.
    pub(crate) fn read(&mut self, symbol: &Symbol) -> Option<Bone> {
        let text = self.document.text();
        let is_export = match symbol.op.as_str() {
            "func.func" => symbol.is_public(),
            "util.func" => symbol.visibility == Some(Visibility::Public),
            _ => false,
        };
        let is_generic = text.slice(symbol.op_range.clone()).starts_with('"');
        if !is_export || is_generic || symbol.head.len() > LONGEST {
            return None;
        }
        let mut aliases = Vec::new();
        let tokens = Lexer::new(text, symbol.head.start);
        for token in tokens.take_while(|token| token.range.end <= symbol.head.end) {
            match token.kind {
                // Another symbol would have to be there too.
                TokenKind::Symbol if token.range != symbol.name_token => return None,
                TokenKind::Type | TokenKind::Attribute => {
                    let name = token.text(text).into_owned();
                    let next = text.slice(token.range.end..token.range.end + 1);
                    if !name.contains('.') && next != "<" {
                        self.alias(&name, symbol.op_range.start, &mut aliases, 0)?;
                    }
                }
                TokenKind::Comment => return None,
                _ => {}
            }
        }
        let ty = symbol.function_type.as_ref()?;
        if ty.parameters.iter().any(|slot| slot.name.is_none()) {
            return None;
        }
        let head = text.slice(symbol.head.clone());
        // Only PyTorch's importer wants functions that return.
        let concerns_torch = ty.parameters.iter().chain(&ty.results).any(|slot| {
            without_alias(self.document, symbol.op_range.start, &slot.ty).starts_with("!torch.")
        });
        let body = if symbol.op == "func.func" && (self.inputs.torch || concerns_torch) {
            returning(self.document, symbol, &ty.parameters, &ty.results)?
        } else {
            FOR_EVER.to_owned()
        };
        let text = format!("{}{body}", head.trim_end());
        let key = hash(&format!("{}{}{text}", self.witness(), aliases.join("")));
        Some(Bone { name: symbol.name.clone(), key, aliases, text })
    }

    /// Adds an alias and what it uses, the used ones first.
    fn alias(
        &mut self,
        name: &str,
        from: usize,
        found: &mut Vec<String>,
        depth: u32,
    ) -> Option<()> {
        let document = self.document;
        let text = self.aliases.entry(name.to_owned()).or_insert_with(|| {
            let (range, _) = alias_definition(document, name, from)?;
            (range.len() <= LONGEST).then(|| document.text().slice(range).trim().to_owned() + "\n")
        });
        let text = text.clone().filter(|text| depth < 16 && !found.contains(text));
        let Some(text) = text else { return self.aliases[name].is_some().then_some(()) };
        for token in Lexer::new(text.as_str(), 0).skip(1) {
            let used = token.text(text.as_str());
            match token.kind {
                TokenKind::Symbol => return None,
                TokenKind::Type | TokenKind::Attribute
                    if !used.contains('.')
                        && text.as_bytes().get(token.range.end) != Some(&b'<') =>
                {
                    self.alias(&used, from, found, depth + 1)?;
                }
                _ => {}
            }
        }
        if !found.contains(&text) {
            found.push(text);
        }
        Some(())
    }
}

/// A body that returns some values of these types. `None` if there is no way to make one.
fn returning(
    document: &Document,
    symbol: &Symbol,
    parameters: &[Slot],
    results: &[Slot],
) -> Option<String> {
    let mut body = String::from(" {\n  %zero = arith.constant 0 : index\n");
    let (mut names, mut types) = (Vec::new(), Vec::new());
    for (index, slot) in results.iter().enumerate() {
        let ty = without_alias(document, symbol.op_range.start, &slot.ty);
        let name = match parameters.iter().find(|parameter| parameter.ty == slot.ty) {
            Some(parameter) => format!("%{}", parameter.name.as_ref()?),
            None => {
                body += &value(&format!("%made{index}"), &ty)?;
                format!("%made{index}")
            }
        };
        names.push(name);
        types.push(slot.ty.as_str());
    }
    let (names, types) = (names.join(", "), types.join(", "));
    let colon = if names.is_empty() { "" } else { " : " };
    let _ = writeln!(body, "  return {names}{colon}{types}\n}}");
    Some(body)
}

/// Operations that make a value.
fn value(name: &str, ty: &str) -> Option<String> {
    if let Some(shape) = ty.strip_prefix("tensor<").filter(|shape| !shape.starts_with('*')) {
        let dimensions = shape.split('<').next().unwrap_or(shape).matches('?').count();
        let sizes = vec!["%zero"; dimensions].join(", ");
        return Some(format!("  {name} = tensor.empty({sizes}) : {ty}\n"));
    }
    let Some(torch) = ty.strip_prefix("!torch.") else {
        let number = match ty.as_bytes().first()? {
            b'i' => "0",
            b'f' | b'b' | b't' => "0.0",
            _ => return None,
        };
        return Some(format!("  {name} = arith.constant {number} : {ty}\n"));
    };
    match torch {
        "int" => Some(format!("  {name} = torch.constant.int 0\n")),
        "bool" => Some(format!("  {name} = torch.constant.bool false\n")),
        "float" => Some(format!("  {name} = torch.constant.float 0.0\n")),
        _ => {
            let builtin = torch_type(torch)?;
            let made = value(&format!("{name}_"), &builtin)?;
            let cast = "torch_c.from_builtin_tensor";
            Some(match torch.strip_prefix("tensor") {
                None => format!("{made}  {name} = {cast} {name}_ : {builtin} -> {ty}\n"),
                Some(shape) => format!(
                    "{made}  {name}_v = {cast} {name}_ : {builtin} -> !torch.vtensor{shape}\n  {name} = torch.copy.to_tensor {name}_v : {ty}\n"
                ),
            })
        }
    }
}

/// A question to iree-compile: a text, and the functions in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AbiQuestion {
    text: String,
    exports: Vec<Asked>,
}

/// A function in a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Its name.
    pub name: String,
    /// What the answer is kept under.
    pub key: u64,
    /// Its first line in the text, from 1.
    line: usize,
}

impl AbiQuestion {
    /// The text to compile.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How many functions it asks about.
    pub(crate) fn count(&self) -> usize {
        self.exports.len()
    }

    pub(crate) fn exports(&self) -> &[Asked] {
        &self.exports
    }

    fn push(&mut self, name: &str, key: u64, text: &str) {
        let line = self.text.matches('\n').count() + 1;
        self.exports.push(Asked { name: name.to_owned(), key, line });
        self.text.push_str(text);
    }

    /// The second question, from what the compiler printed after its phase `abi`: the exports that
    /// it made, again without bodies, to be compiled from the phase `hal` on. The phases between
    /// are for bodies; they change no export, and would take most of the time.
    pub(crate) fn of_exports_made(&self, printed: String) -> Self {
        let document = Document::new(syntax::Language::Mlir, None, std::sync::Arc::new(printed));
        let text = document.text();
        let mut found = Self::default();
        let is_alias = |placed: &Placed| placed.chunk.class == OpClass::Alias;
        for alias in document.chunks().iter().filter(is_alias) {
            found.text.push_str(text.slice(alias.range()).trim());
            found.text.push('\n');
        }
        let asked: HashMap<&str, u64> =
            self.exports.iter().map(|asked| (asked.name.as_str(), asked.key)).collect();
        for placed in document.chunks().iter() {
            if placed.chunk.class != OpClass::Function {
                continue;
            }
            let Some(symbol) = Symbol::read(text, &placed) else { continue };
            let name = symbol.name.strip_suffix("$async").unwrap_or(&symbol.name);
            if symbol.visibility == Some(Visibility::Public)
                && let Some(key) = asked.get(name)
            {
                let head = text.slice(symbol.head.clone());
                found.push(name, *key, &format!("{}{FOR_EVER}", head.trim_end()));
            }
        }
        found
    }

    /// The first fault that the compiler found in each function, as it printed them. A fault
    /// elsewhere is that of the only function.
    pub(crate) fn faults(&self, said: &str) -> HashMap<u64, String> {
        let mut found = HashMap::new();
        let errors = said.lines().filter_map(|line| {
            let (place, message) = line.split_once(": error: ")?;
            let line = place.rsplit(':').nth(1).and_then(|line| line.parse::<usize>().ok());
            Some((line.unwrap_or(0), message.trim()))
        });
        for (line, message) in errors {
            let at = self.exports.partition_point(|asked| asked.line <= line).checked_sub(1);
            let asked = match &*self.exports {
                [only] => Some(only),
                all => at.and_then(|at| all.get(at)),
            };
            if let Some(asked) = asked {
                found.entry(asked.key).or_insert_with(|| message.to_owned());
            }
        }
        found
    }
}

/// The most exports of a file that are asked about without being looked at.
const MOST: usize = 2000;

/// Asks about exports of the file around `offset` that are not known yet, beginning with the one at
/// `offset`, at most `limit` of them. `None` if all are known.
pub(crate) fn question(
    document: &Document,
    offset: usize,
    limit: usize,
    is_known: impl Fn(u64) -> bool,
) -> Option<AbiQuestion> {
    if document.language() != syntax::Language::Mlir || document.is_excerpt() {
        return None;
    }
    let file = file_around(document, offset);
    let mut bones = Bones::around(document, &file);
    let mut wanted: Vec<Bone> = Vec::new();
    let here = document.chunks().at(offset);
    let others = document.chunks().iter_from(file.start);
    let others = others.take_while(|placed| placed.start < file.end);
    for placed in here.into_iter().chain(others.filter(is_export).take(MOST)) {
        if wanted.len() >= limit {
            break;
        }
        let Some(bone) = bone_at(document, &mut bones, &placed) else { continue };
        let is_new = wanted.iter().all(|known| known.name != bone.name) && !is_known(bone.key);
        if is_new {
            wanted.push(bone);
        }
    }
    let mut question = AbiQuestion { text: bones.witness(), exports: Vec::new() };
    let mut aliases: Vec<&String> = Vec::new();
    for alias in wanted.iter().flat_map(|bone| &bone.aliases) {
        if !aliases.contains(&alias) {
            question.text.push_str(alias);
            aliases.push(alias);
        }
    }
    for bone in &wanted {
        question.push(&bone.name, bone.key, &bone.text);
    }
    (!wanted.is_empty()).then_some(question)
}

/// What the answer about a function is kept under; `None` if it cannot be asked about.
pub(crate) fn key_of(document: &Document, symbol: &Symbol) -> Option<u64> {
    if document.language() != syntax::Language::Mlir || document.is_excerpt() {
        return None;
    }
    let file = file_around(document, symbol.op_range.start);
    Some(Bones::around(document, &file).read(symbol)?.key)
}

fn is_export(placed: &Placed) -> bool {
    placed.chunk.class == OpClass::Function
        && matches!(placed.chunk.kind, ChunkKind::Item | ChunkKind::Open)
        && placed.chunk.nesting() <= 1
        // A declaration has no body.
        && ((placed.chunk.head as usize) < placed.chunk.len
            || placed.chunk.kind == ChunkKind::Open)
}

fn bone_at(document: &Document, bones: &mut Bones<'_>, placed: &Placed) -> Option<Bone> {
    let symbol = is_export(placed).then(|| Symbol::read(document.text(), placed)).flatten()?;
    bones.read(&symbol)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::question;
    use crate::Document;

    fn asked(text: &str) -> String {
        let document = Document::new(syntax::Language::Mlir, None, Arc::new(text.to_owned()));
        question(&document, 0, 100, |_| false).map(|found| found.text).unwrap_or_default()
    }

    #[test]
    fn bodies_are_left_out_and_aliases_kept() {
        let text = "#e = 1 : i8\n!n = i17\n!m = tensor<4x!n, #e>\n#unused = 2 : i8\nfunc.func @f(%a: !m) {\n  broken(\n}\nfunc.func private @g()\n";
        let found = asked(text);
        assert!(found.starts_with("!n = i17\n#e = 1 : i8\n!m = "), "{found}");
        assert!(found.contains("@f(%a: !m) {\n  cf.br") && !found.contains("broken"), "{found}");
        assert!(!found.contains("unused") && !found.contains("@g"), "{found}");
    }

    #[test]
    fn what_needs_more_than_its_head_is_not_asked_about() {
        for text in [
            "func.func @f() attributes {a = @g} {\n}\n",
            "func.func @f(%a: !missing) {\n}\n",
            "#a = @g\nfunc.func @f() attributes {a = #a} {\n}\n",
            "func.func private @f() {\n}\n",
            "util.func @f() {\n}\n",
            "func.func @f() -> !torch.str {\n}\n",
        ] {
            assert_eq!(asked(text), "", "{text}");
        }
    }

    #[test]
    fn an_importers_operation_is_a_witness() {
        let text = "func.func @f(%a: i32) -> f64 {\n  %0 = torch.constant.int 1\n}\n";
        let found = asked(text);
        assert!(found.contains("torch.constant.int 0"), "{found}");
        assert!(found.contains("%made0 = arith.constant 0.0 : f64"), "{found}");
        // An edit of a body changes nothing; one of a head does.
        assert_eq!(asked(&text.replace("int 1", "int 2")), found);
        assert_ne!(asked(&text.replace("i32", "i64")), found);
        assert_ne!(asked(&text.replace("torch.", "my.")), found);
    }

    #[test]
    fn faults_belong_to_functions() {
        let text = "func.func @f() {\n}\nfunc.func @g() {\n}\n";
        let document = Document::new(syntax::Language::Mlir, None, Arc::new(text.to_owned()));
        let found = question(&document, 0, 100, |_| false).unwrap();
        assert_eq!(found.count(), 2);
        let faults = found.faults("<stdin>:7:1: error: bad\n<stdin>:8:1: error: worse\n");
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[&found.exports()[1].key], "bad");
        let one = question(&document, 0, 1, |_| false).unwrap();
        assert_eq!(one.faults("<unknown>:0: error: bad\n")[&one.exports()[0].key], "bad");
    }
}
