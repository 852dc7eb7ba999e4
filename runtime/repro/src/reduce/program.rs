//! [`Program`]: a dispatch's function as operations that can be taken out and put in.
//!
//! It is text in pieces, not a model of MLIR: what an operation means is for the evaluator and the
//! compiler, which both see each program that is tried. Only the bodies of `linalg.generic` are
//! read, as these have most operations of a dispatch. A piece that is not understood stays whole.

use std::collections::HashSet;

use debuginfo::{ArgumentOrigin, DispatchFunction, FunctionArgument, FunctionResult};

use super::generic::Generic;
use super::not_judged::NotJudged;
use super::text::{after, parts, shape_of, values, without_locations};
use crate::dispatch_run::Input;

/// A function over tensors, with the tensors that it is called with.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) name: String,
    /// The aliases of attributes.
    pub(super) aliases: Vec<String>,
    pub(super) arguments: Vec<Argument>,
    pub(super) operations: Vec<Operation>,
    pub(super) results: Vec<FunctionResult>,
}

#[derive(Clone, Debug)]
pub(super) struct Argument {
    /// With its sigil.
    pub(super) name: String,
    pub(super) written_type: String,
    pub(super) origin: ArgumentOrigin,
    pub(super) input: Input,
}

/// An operation of the function's body.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// Its results, with their sigils; several have one name: `%6:2`.
    pub(super) result: Option<String>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Its lines, of which all but the first and the last are those of a region.
    Whole(Vec<String>),
    Generic(Generic),
}

/// An operation on numbers, in the body of a `linalg.generic`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Scalar {
    pub(super) result: String,
    pub(super) text: String,
}

impl Program {
    /// A dispatch's function with its inputs.
    ///
    /// # Errors
    /// [`NotJudged::NoEnd`]: its text is not understood.
    pub(super) fn of(function: &DispatchFunction, inputs: &[Input]) -> Result<Self, NotJudged> {
        let lines = function.before.iter().chain(&function.body);
        let lines: Vec<String> =
            lines.map(|line| without_locations(line).trim().to_owned()).collect();
        let arguments = function.arguments.iter().zip(inputs).map(|(it, input)| Argument {
            name: format!("%{}", it.name),
            written_type: it.written_type.clone(),
            origin: it.origin,
            input: input.clone(),
        });
        let mut it = Self {
            name: function.name.clone(),
            aliases: function.aliases.clone(),
            arguments: arguments.collect(),
            operations: operations(&lines, &function.aliases)?,
            results: function.results.clone(),
        };
        it.clean();
        Ok(it)
    }

    /// As a function again.
    pub(super) fn function(&self) -> DispatchFunction {
        let arguments = self.arguments.iter().map(|it| FunctionArgument {
            name: it.name.trim_start_matches('%').to_owned(),
            written_type: it.written_type.clone(),
            origin: it.origin,
        });
        let mut function = DispatchFunction {
            name: self.name.clone(),
            aliases: self.aliases.clone(),
            arguments: arguments.collect(),
            results: self.results.clone(),
            before: Vec::new(),
            body: self.operations.iter().flat_map(Operation::lines).collect(),
            lost: Vec::new(),
        };
        function.drop_unused_aliases();
        function
    }

    /// How many operations it has. What ends a region, such as `linalg.yield`, is none.
    pub(super) fn count(&self) -> usize {
        self.operations.iter().map(Operation::count).sum()
    }

    /// The names of all operations: `arith.addf`.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for operation in &self.operations {
            match &operation.kind {
                Kind::Whole(lines) => {
                    let inner = lines.iter().filter(|line| is_counted(line));
                    names.extend(inner.map(|line| name_of(line).to_owned()));
                }
                Kind::Generic(generic) => {
                    names.push("linalg.generic".to_owned());
                    names.extend(generic.body.iter().map(|it| name_of(&it.text).to_owned()));
                }
            }
        }
        names
    }

    /// Drops what no result needs: operations, results of none, arguments.
    pub(super) fn clean(&mut self) {
        let mut used: HashSet<String> = HashSet::new();
        let use_all = |text: &str, used: &mut HashSet<String>| {
            used.extend(values(text).map(|(_, value)| value.to_owned()));
        };
        for result in &self.results {
            use_all(&result.value, &mut used);
        }
        for at in (0..self.operations.len()).rev() {
            let operation = &mut self.operations[at];
            let is_used = operation.result.as_ref().is_none_or(|it| used.contains(it));
            if !is_used {
                self.operations.remove(at);
                continue;
            }
            if let Kind::Generic(generic) = &mut operation.kind {
                generic.clean();
            }
            for line in self.operations[at].lines() {
                use_all(&line, &mut used);
            }
        }
        self.arguments.retain(|it| used.contains(&it.name));
    }

    /// The written type of a tensor value, if it is known.
    pub(super) fn type_of(&self, value: &str) -> Option<String> {
        if let Some(it) = self.arguments.iter().find(|it| it.name == value) {
            return Some(it.written_type.clone());
        }
        let of = |it: &&Operation| it.result.as_deref() == Some(value);
        self.operations.iter().find(of)?.result_type()
    }

    /// A name that no value has, with its sigil.
    pub(super) fn new_name(&self, stem: &str) -> String {
        let text: Vec<String> = self.operations.iter().flat_map(Operation::lines).collect();
        let names: HashSet<&str> =
            text.iter().flat_map(|line| values(line)).map(|(_, value)| value).collect();
        let is_free = |name: &String| {
            !names.contains(name.as_str()) && self.arguments.iter().all(|it| it.name != *name)
        };
        let all = (0..).map(|number| format!("%{stem}{number}"));
        all.into_iter().find(is_free).unwrap_or_default()
    }
}

impl Operation {
    /// Its text.
    pub(super) fn lines(&self) -> Vec<String> {
        match (&self.kind, &self.result) {
            (Kind::Whole(lines), _) => lines.clone(),
            (Kind::Generic(generic), Some(result)) => generic.lines(result),
            (Kind::Generic(_), None) => Vec::new(),
        }
    }

    fn count(&self) -> usize {
        match &self.kind {
            Kind::Whole(lines) => lines.iter().filter(|line| is_counted(line)).count(),
            Kind::Generic(generic) => 1 + generic.body.len(),
        }
    }

    /// The type of its only result, if that is a tensor or a number.
    pub(super) fn result_type(&self) -> Option<String> {
        match &self.kind {
            Kind::Generic(generic) => match &generic.outputs[..] {
                [only] => Some(only.written_type.clone()),
                _ => None,
            },
            Kind::Whole(lines) => result_type(lines.last()?),
        }
    }

    /// Whether it computes nothing from values: a constant, or an empty tensor.
    pub(super) fn is_leaf(&self) -> bool {
        let Kind::Whole(lines) = &self.kind else { return false };
        let [line] = &lines[..] else { return false };
        values(line).count() == 1
    }
}

/// The name of the operation in a line.
pub(super) fn name_of(line: &str) -> &str {
    let rest = line.split_once(" = ").map_or(line, |(_, rest)| rest);
    let end = rest.find([' ', '(', '[', '{']).unwrap_or(rest.len());
    &rest[..end]
}

/// Whether a line begins an operation that is counted.
fn is_counted(line: &str) -> bool {
    let is_end = |name: &str| name.ends_with(".yield") || name.ends_with(".return");
    !line.starts_with(['}', '^']) && !line.is_empty() && !is_end(name_of(line))
}

/// The type that the last line of an operation ends with.
pub(super) fn result_type(line: &str) -> Option<String> {
    match line {
        _ if line.ends_with(" = arith.constant true") => return Some("i1".to_owned()),
        _ if line.ends_with(" = arith.constant false") => return Some("i1".to_owned()),
        _ => {}
    }
    match name_of(line) {
        "arith.cmpi" | "arith.cmpf" => return Some("i1".to_owned()),
        "linalg.index" => return Some("index".to_owned()),
        "tensor.extract" => {
            let (_, of) = line.rsplit_once(" : ")?;
            return Some(shape_of(of)?.1.to_owned());
        }
        _ => {}
    }
    let ends = [" -> ", " to ", " into ", " : "];
    let start = ends.iter().filter_map(|end| Some(line.rfind(end)? + end.len())).max()?;
    let written = line[start..].trim();
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric());
    let is_type = shape_of(written).is_some() || is_number(written);
    is_type.then(|| written.to_owned())
}

/// The operations of a body.
fn operations(lines: &[String], aliases: &[String]) -> Result<Vec<Operation>, NotJudged> {
    let mut operations = Vec::new();
    let mut lines = lines.iter();
    while let Some(first) = lines.next() {
        let mut whole = vec![first.clone()];
        let mut depth = usize::from(first.ends_with('{'));
        while depth > 0 {
            let line = lines.next().ok_or(NotJudged::NoEnd)?;
            depth -= usize::from(line.starts_with('}'));
            depth += usize::from(line.ends_with('{'));
            whole.push(line.clone());
        }
        let result = first.split_once(" = ").filter(|(names, _)| names.starts_with('%'));
        let result = result.map(|(names, _)| names.split(':').next().unwrap_or(names).to_owned());
        let kind = match Generic::read(&whole, aliases) {
            Some(generic) => Kind::Generic(generic),
            None => Kind::Whole(whole),
        };
        operations.push(Operation { result, kind });
    }
    Ok(operations)
}

/// The values and types of `ins(%a, %b : f32, f32)`.
pub(super) fn typed(text: &str, word: &str) -> Option<(Vec<(String, String)>, usize)> {
    let (inner, end) = after(text, word)?;
    let (values, types) = inner.split_once(" : ")?;
    let (values, types) = (parts(values), parts(types));
    let pairs = values.iter().zip(&types).map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    (values.len() == types.len()).then(|| (pairs.collect(), end))
}
