//! Why a value of the program is a tensor of the source, or why none is: the [`Evidence`] of names
//! of tensors.
//!
//! The terms by which tensors were compared are not kept, as those of a model are many. What is
//! told is what they led to: the operation that leaves the tensor, and what that depends on. The
//! operations of the source are read from its text again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::program::{
    Fate, TensorName, TensorOperationId, TensorOperationKind, TensorProgram, TensorValueId, Told,
};
use crate::evidence::{Evidence, Grounds, Maker, Matched, MatchedBy, Refuted};
use crate::source::SourceText;
use crate::source::functions::{SourceFunction, ValueIndex};

/// How many operations deep a tensor is explained.
const DEEPEST: usize = 4;
/// The most operations that explain a tensor.
const MOST: usize = 40;
/// The most dispatches that are named as candidates.
const MOST_CANDIDATES: usize = 8;

impl TensorProgram {
    /// Why a name of the source has its value; `None` if it names no tensor there. `file` gives the
    /// user's source by the name of its file.
    #[must_use]
    pub fn evidence(
        &self,
        name: &TensorName<'_>,
        file: &dyn Fn(&str) -> Option<Arc<SourceText>>,
    ) -> Option<Evidence> {
        let (fate, told) = self.told(name)?;
        let mut trees =
            Trees { program: self, name, file, found: Vec::new(), indices: HashMap::new() };
        trees.add(name.name, 0);
        let (place, missing) = match fate {
            Fate::Value(_) | Fate::Part(_) => (self.described(name.function, fate), None),
            Fate::Constant { .. } => (Some("a constant of the source".to_owned()), None),
            Fate::FusedInto(_) => (None, self.described(name.function, fate)),
            Fate::ConstantFolded => (
                None,
                Some("it is made of constants alone, and the compiler computed it".to_owned()),
            ),
            Fate::Unknown(reason) => (None, Some(reason.to_string())),
        };
        let refuted = told.refuted.iter().take(MOST_CANDIDATES);
        let candidates = refuted.map(|id| Refuted {
            place: self.operation_text(*id),
            holds: self.names_left_by(*id),
            refuted_by: "its terms: what it leaves is not proven to be the same function of the \
                         same inputs, element by element"
                .to_owned(),
        });
        Some(Evidence {
            name: name.name.to_owned(),
            maker: Maker::Tensors,
            place,
            missing,
            grounds: self.grounds(name.function, fate),
            operations: trees.found,
            refuted: candidates.collect(),
            ..Evidence::default()
        })
    }

    fn grounds(&self, function: usize, fate: &Fate) -> Grounds {
        let value = match fate {
            Fate::Value(value) => *value,
            Fate::Part(part) => part.value,
            Fate::Constant { .. } => return Grounds::Constant,
            Fate::FusedInto(_) | Fate::ConstantFolded | Fate::Unknown(_) => {
                return Grounds::Unknown;
            }
        };
        match self.depends_on_constants(function, value) {
            true => Grounds::ExceptConstants,
            false => Grounds::Term,
        }
    }

    /// Whether what a value is proven to be depends on what compiled constants are: its own proof
    /// does, or that of a value that it is computed from.
    fn depends_on_constants(&self, function: usize, value: TensorValueId) -> bool {
        let Some(read) = self.functions.get(function) else { return true };
        let any = || read.told.values().flatten().any(Told::assumes);
        let mut seen = HashSet::new();
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if !seen.insert(value) {
                continue;
            }
            let names = read.value(value).names.iter();
            let mut told = names.flat_map(|it| read.told.get(&it.name).into_iter().flatten());
            if told.any(Told::assumes) {
                return true;
            }
            let made_by = read.value(value).made_by.and_then(|id| self.operation(id));
            match made_by.map(|it| (&it.kind, &it.operands)) {
                // What regions and callees compute is not followed: any proof may count.
                Some((
                    TensorOperationKind::Host { .. }
                    | TensorOperationKind::Call { .. }
                    | TensorOperationKind::Other { .. },
                    _,
                )) => return any(),
                Some((_, operands)) => pending.extend(operands),
                None if read.arguments.contains(&value) => {}
                None => return any(),
            }
        }
        false
    }

    /// What became of a tensor, in words.
    fn described(&self, function: usize, fate: &Fate) -> Option<String> {
        let read = self.functions.get(function)?;
        let made_by = |value| match read.value(value).made_by {
            Some(id) => self.operation_text(id),
            None => "an argument of a region".to_owned(),
        };
        let is_dispatch = |value| {
            let made_by = read.value(value).made_by.and_then(|id| self.operation(id));
            made_by.is_some_and(|it| it.export().is_some())
        };
        Some(match fate {
            Fate::Value(value) if is_dispatch(*value) => format!("left by {}", made_by(*value)),
            Fate::Value(value) => made_by(*value),
            Fate::Part(part) => format!("inside of what {} leaves", made_by(part.value)),
            Fate::FusedInto(values) => {
                let mut by: Vec<String> = values.iter().map(|it| made_by(*it)).collect();
                by.dedup();
                format!("fused into {}, which keeps none of it", by.join(" and "))
            }
            Fate::Constant { .. } | Fate::ConstantFolded => "a constant".to_owned(),
            Fate::Unknown(_) => return None,
        })
    }

    /// An operation of the program, in words.
    fn operation_text(&self, id: TensorOperationId) -> String {
        let Some(operation) = self.operation(id) else { return String::new() };
        let text = match &operation.kind {
            TensorOperationKind::Dispatch { export } => format!("dispatch @{export}"),
            TensorOperationKind::Constant { parameter: Some((scope, key)) } => {
                format!("the parameter {scope}::{key}")
            }
            TensorOperationKind::Constant { parameter: None } => "a constant".to_owned(),
            TensorOperationKind::GlobalLoad { symbol } => format!("a load of @{symbol}"),
            TensorOperationKind::Import { argument } => return format!("argument {argument}"),
            TensorOperationKind::Export => "a result of the function".to_owned(),
            TensorOperationKind::Alias => match operation.operands.first() {
                Some(operand) => {
                    let made_by = self.functions.get(id.function);
                    let made_by = made_by.and_then(|it| it.value(*operand).made_by);
                    // An alias comes after what it is of, so this ends.
                    return made_by.filter(|it| it.index < id.index).map_or_else(
                        || "another shape of an argument".to_owned(),
                        |it| format!("{}, in another shape", self.operation_text(it)),
                    );
                }
                None => "another shape".to_owned(),
            },
            TensorOperationKind::Splat => "a fill".to_owned(),
            TensorOperationKind::Copy => "a copy".to_owned(),
            TensorOperationKind::Call { callee } => format!("a call of @{callee}"),
            TensorOperationKind::Host { name } | TensorOperationKind::Other { name } => {
                name.clone()
            }
        };
        match operation.chains.first().and_then(|chain| chain.first()) {
            Some(at) => format!("{text} (line {})", at.line),
            None => text,
        }
    }

    /// The tensors of the source that an operation leaves.
    fn names_left_by(&self, id: TensorOperationId) -> Vec<String> {
        let Some(function) = self.functions.get(id.function) else { return Vec::new() };
        let results = function.operations.get(id.index).map(|it| it.results.as_slice());
        let values = results.unwrap_or_default().iter().map(|it| function.value(*it));
        let mut names: Vec<String> =
            values.flat_map(|it| &it.names).map(|it| it.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The operations found so far.
struct Trees<'t> {
    program: &'t TensorProgram,
    name: &'t TensorName<'t>,
    file: &'t dyn Fn(&str) -> Option<Arc<SourceText>>,
    found: Vec<Matched>,
    indices: HashMap<String, usize>,
}

impl Trees<'_> {
    fn add(&mut self, name: &str, depth: usize) -> Option<usize> {
        let asked = self.name;
        let is_asked = name == asked.name;
        let defined_at = asked.defined_at.filter(|_| is_asked);
        let (fate, told) = self.program.told(&TensorName { name, defined_at, ..*asked })?;
        let at = self.found.len();
        self.indices.insert(name.to_owned(), at);
        let written = self.written(told, name);
        let by = match fate {
            Fate::Value(value) => self.kind_of_match(*value, told),
            Fate::Part(_) => MatchedBy::Term,
            Fate::Constant { .. } | Fate::ConstantFolded => MatchedBy::Constant,
            Fate::FusedInto(_) => MatchedBy::Location,
            Fate::Unknown(_) => MatchedBy::Nothing,
        };
        let compiled = self.program.described(asked.function, fate);
        let source = match &written {
            Some((function, value)) => function.defined_as(*value),
            None => name.to_owned(),
        };
        let line = Some(told.at.line);
        self.found.push(Matched { source, line, compiled, by, ..Matched::default() });
        let operands = written.map(|it| operands(&it)).unwrap_or_default();
        for operand in operands {
            let known = self.indices.get(&operand).copied();
            if known.is_none() && (depth + 1 >= DEEPEST || self.found.len() >= MOST) {
                self.found[at].is_cut = true;
                continue;
            }
            let Some(operand) = known.or_else(|| self.add(&operand, depth + 1)) else { continue };
            if !self.found[at].operands.contains(&operand) {
                self.found[at].operands.push(operand);
            }
        }
        Some(at)
    }

    fn kind_of_match(&self, value: TensorValueId, told: &Told) -> MatchedBy {
        let function = self.program.functions.get(self.name.function);
        let made_by = function.and_then(|it| it.value(value).made_by);
        let kind = made_by.and_then(|id| self.program.operation(id)).map(|it| &it.kind);
        match kind {
            Some(TensorOperationKind::Import { .. }) => MatchedBy::Argument,
            Some(TensorOperationKind::Constant { .. }) => MatchedBy::Constant,
            None if told.claim.is_none() => MatchedBy::Loop,
            _ => MatchedBy::Term,
        }
    }

    /// The function of the source that a tensor is in, and the value that it is there.
    fn written(&self, told: &Told, name: &str) -> Option<(Arc<SourceFunction>, ValueIndex)> {
        let text = (self.file)(&told.at.file)?;
        let function = text.function_read(told.at.line)?;
        let place = (told.at.line, told.at.column);
        let is_it = |value: &ValueIndex| function.values[*value].name == name;
        let made = function.operation_at(place).and_then(|it| function.operations.get(it));
        let made = made.and_then(|it| it.results.iter().copied().find(is_it));
        let at_place = || {
            (0..function.values.len()).find(|it| is_it(it) && function.values[*it].place == place)
        };
        let value = made.or_else(at_place)?;
        Some((function, value))
    }
}

/// The names of the values that an operation uses.
fn operands((function, value): &(Arc<SourceFunction>, ValueIndex)) -> Vec<String> {
    let made_by = function.values.get(*value).and_then(|it| it.definition);
    let made_by = made_by.and_then(|(at, _)| function.operations.get(at));
    let used = made_by.into_iter().flat_map(|it| &it.operands);
    used.filter_map(|it| function.values.get(*it)).map(|it| it.name.clone()).collect()
}
