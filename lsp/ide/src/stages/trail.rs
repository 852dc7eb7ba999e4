//! What passes did with the operations of a source. The compiler prints the program, or the
//! function that a pass works on, after each pass that changed it. The operations from a place are
//! followed from text to text by their locations; where they differ, the pass is noted.
//!
//! Only what the texts show is said. A pass is blamed if its text is the first without an operation
//! and the text before had it. Where a text in between was not read, or names no function, the
//! passes from there on come into question ([`Change::since`]). So do an inliner and the passes
//! that it runs over what it has inlined, which are printed before it.
//!
//! [`super::text`] reads lines; [`mod@super::story`] puts changes into words.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use debuginfo::OriginKind;

use super::stage::{Place, Stage};
use super::text::{definition_before, indent_of, name_of, operands_of, results_of, uses_after};

/// The longest text of a line that is kept.
const LINE: usize = 160;
/// The most changes that are kept.
const MOST: usize = 1 << 20;
/// The most uses of one operation that are told.
const USES: usize = 4;

/// What stands for a place in a text: a kind of operation in a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Form {
    /// The function; empty outside of functions.
    pub function: Arc<str>,
    /// The operation's name: `arith.addf`.
    pub operation: Arc<str>,
    /// Why it belongs to the place.
    pub kind: OriginKind,
}

/// What has become of a use of an operation that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// Whether `now` is what has used it, as another operation, not what is used instead.
    pub is_user: bool,
    /// The operation that is used now; `None` for an argument.
    pub now: Option<String>,
    /// The place of that operation.
    pub place: Option<Place>,
}

/// A pass that has changed what stands for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The pass after which it is so, as an index of [`Trail::passes`].
    pub pass: usize,
    /// The first of the passes that may have done it, if they are several.
    pub since: Option<usize>,
    /// What stands there now.
    pub forms: Vec<Form>,
    /// A line before.
    pub before: Option<String>,
    /// A line after.
    pub after: Option<String>,
    /// Other places of that line, if it is several operations in one.
    pub fused_with: Vec<Place>,
    /// Whether anything has used it, if it is gone from a function that is still there.
    pub was_used: Option<bool>,
    /// What is used instead.
    pub uses: Vec<Use>,
}

/// What passes did with the operations of a source.
#[derive(Debug, Default)]
pub struct Trail {
    /// The passes, in order, as the compiler names them.
    pub passes: Vec<String>,
    changes: HashMap<Place, Vec<Change>>,
    count: usize,
}

impl Trail {
    /// What happened to the operations from a place, in order.
    pub fn of(&self, place: &Place) -> &[Change] {
        self.changes.get(place).map_or(&[], Vec::as_slice)
    }
}

/// A line and why it belongs to a place.
type Line = (usize, OriginKind);

/// A function in a text.
struct FunctionText {
    stage: Arc<Stage>,
    lines: RangeInclusive<usize>,
    places: HashMap<Place, Vec<Line>>,
}

impl FunctionText {
    fn line(&self, number: usize) -> &str {
        self.stage.line(number)
    }

    /// The only line that is an operation of this name from this place.
    fn only(&self, place: &Place, name: &str) -> Option<usize> {
        let lines = self.places.get(place)?.iter();
        let mut own = lines.filter(|(line, kind)| {
            *kind == OriginKind::Own && name_of(self.line(*line)) == Some(name)
        });
        own.next().map(|(line, _)| *line).filter(|_| own.next().is_none())
    }

    /// The only operation from this place, if it is one of this place alone.
    fn only_own(&self, place: &Place) -> Option<usize> {
        match self.places.get(place)?.as_slice() {
            [(line, OriginKind::Own)] => Some(*line),
            _ => None,
        }
    }

    fn own_place(&self, line: usize) -> Option<Place> {
        let origins = self.stage.origins(line).into_iter();
        let mut own = origins.filter(|(_, kind)| *kind == OriginKind::Own);
        own.next().map(|(place, _)| place)
    }
}

/// Makes a [`Trail`], text by text.
pub struct TrailMaker {
    /// The names of the source's functions: a text that has one of them is the whole program.
    roots: HashSet<String>,
    trail: Trail,
    functions: HashMap<Arc<str>, Arc<FunctionText>>,
    /// The functions that have operations from a place.
    holders: HashMap<Place, BTreeSet<Arc<str>>>,
    last_whole: Option<usize>,
    /// The first text since then that was of a part of the program.
    first_part: Option<usize>,
    /// The first text since then of something that holds functions, and may have lost some.
    first_holder: Option<usize>,
    /// The first one that was not read.
    first_unread: Option<usize>,
    /// The changes since the last text of the whole program, by their places.
    recent: Vec<(Place, usize)>,
}

/// The functions into which an export is split at its boundary, and itself.
#[must_use]
pub fn names_at_boundary(export: &str) -> [String; 3] {
    [export.to_owned(), format!("_{export}"), format!("{export}$async")]
}

impl TrailMaker {
    /// Begins, with the names of the source's functions.
    pub fn new(functions: impl IntoIterator<Item = String>) -> Self {
        Self {
            roots: functions.into_iter().flat_map(|it| names_at_boundary(&it)).collect(),
            trail: Trail::default(),
            functions: HashMap::new(),
            holders: HashMap::new(),
            last_whole: None,
            first_part: None,
            first_holder: None,
            first_unread: None,
            recent: Vec::new(),
        }
    }

    /// The trail.
    pub fn finish(self) -> Trail {
        self.trail
    }

    /// Takes the text that a pass left; an empty one is one that could not be read.
    pub fn take(&mut self, pass: &str, printed: &[u8]) {
        let index = self.trail.passes.len();
        self.trail.passes.push(pass.to_owned());
        if printed.is_empty() {
            self.first_unread.get_or_insert(index);
            return;
        }
        let stage = Arc::new(Stage::read("", printed));
        let is_whole = is_of_module(stage.text())
            && stage.functions().iter().any(|function| self.roots.contains(&function.name));
        if !is_whole {
            self.first_part.get_or_insert(index);
            if !is_of_one(stage.text()) {
                self.first_holder.get_or_insert(index);
            }
        }
        let new = functions_of(&stage, is_whole);
        let mut old = HashMap::new();
        if is_whole {
            old = std::mem::take(&mut self.functions);
        } else {
            for name in new.keys() {
                old.extend(self.functions.remove_entry(name));
            }
        }
        let mut affected: HashSet<Place> = HashSet::new();
        for (name, function) in &old {
            for place in function.places.keys() {
                if let Some(holders) = self.holders.get_mut(place) {
                    holders.remove(name);
                }
                affected.insert(place.clone());
            }
        }
        for (name, function) in &new {
            for place in function.places.keys() {
                self.holders.entry(place.clone()).or_default().insert(name.clone());
                affected.insert(place.clone());
            }
        }
        self.functions.extend(new);
        for place in affected {
            self.compare(index, place, &old);
        }
        if is_whole {
            self.last_whole = Some(index);
            if pass.contains("Inliner") {
                self.doubt_recent(index);
            }
            self.first_part = None;
            self.first_holder = None;
            self.first_unread = None;
            self.recent.clear();
        }
    }

    /// An inliner runs other passes over what it has inlined, and is printed after them. It takes
    /// calls away and brings what they have called; all else was done by the others.
    fn doubt_recent(&mut self, inliner: usize) {
        for (place, index) in &self.recent {
            let Some(changes) = self.trail.changes.get_mut(place) else { continue };
            let (earlier, later) = changes.split_at_mut(*index);
            let Some(change) = later.first_mut() else { continue };
            let before: &[Form] = earlier.last().map_or(&[], |earlier| &earlier.forms);
            let is_call =
                |form: &Form| form.kind == OriginKind::Caller || form.operation.ends_with("call");
            let is_new = |form: &Form| before.iter().all(|it| it.function != form.function);
            let has_calls = before.iter().chain(&change.forms).any(is_call);
            if has_calls || change.forms.iter().any(is_new) {
                change.since = Some(change.since.unwrap_or(change.pass)).filter(|it| *it < inliner);
                change.pass = inliner;
            }
        }
    }

    fn compare(&mut self, pass: usize, place: Place, old: &HashMap<Arc<str>, Arc<FunctionText>>) {
        let holders = self.holders.get(&place).into_iter().flatten();
        let now = holders.filter_map(|name| Some((name, self.functions.get(name)?)));
        let mut forms: Vec<Form> = Vec::new();
        let mut new_line = None;
        for (name, function) in now {
            forms.extend(function.forms(name, &place));
            new_line =
                new_line.or_else(|| function.first_line(&place).map(|line| (function, line)));
        }
        forms.sort_unstable();
        forms.dedup();
        let last = self.trail.changes.get(&place).and_then(|changes| changes.last());
        let before: &[Form] = last.map_or(&[], |change| &change.forms);
        if before == forms || self.trail.count >= MOST {
            return;
        }
        let mut names: Vec<&Arc<str>> = old.keys().collect();
        names.sort_unstable();
        let old_line = names.iter().find_map(|name| {
            let function = old.get(*name)?;
            Some((*name, function, function.first_line(&place)?))
        });
        let is_own = |form: &Form| form.kind != OriginKind::Caller;
        let (mut was_used, mut uses) = (None, Vec::new());
        if before.iter().any(is_own)
            && !forms.iter().any(is_own)
            && let Some((name, then, line)) = old_line
            && let Some(now) = self.functions.get(name)
        {
            (was_used, uses) = uses_of(then, now, line);
        }
        let since = self.since(pass, before, &forms);
        let text = |function: &FunctionText, line: usize| shortened(function.line(line));
        let fused_with = new_line.map(|(function, line)| {
            let origins = function.stage.origins(line).into_iter();
            let others =
                origins.filter(|(other, kind)| *kind == OriginKind::Fused && *other != place);
            others.map(|(other, _)| other).collect()
        });
        let change = Change {
            pass,
            since,
            before: old_line.map(|(_, function, line)| text(function, line)),
            after: new_line.map(|(function, line)| text(function, line)),
            fused_with: fused_with.unwrap_or_default(),
            forms,
            was_used,
            uses,
        };
        self.trail.count += 1;
        let changes = self.trail.changes.entry(place.clone()).or_default();
        self.recent.push((place, changes.len()));
        changes.push(change);
    }

    /// The first pass that may have done this, if it may have been another one than `pass`.
    fn since(&self, pass: usize, before: &[Form], after: &[Form]) -> Option<usize> {
        let outside = |forms: &[Form]| -> Vec<Form> {
            forms.iter().filter(|form| form.function.is_empty()).cloned().collect()
        };
        let of_missing = |form: &Form| !self.functions.contains_key(&form.function);
        let mut first = self.first_unread;
        // Passes that run others are printed after them, with what no text before has shown.
        let is_adaptor = self.trail.passes[pass].contains("PipelineAdaptor");
        if before.iter().any(of_missing) {
            first = first.into_iter().chain(self.first_holder).min();
        }
        if is_adaptor || outside(before) != outside(after) {
            let part =
                self.first_part.or(is_adaptor.then(|| self.last_whole.map_or(0, |it| it + 1)));
            first = first.into_iter().chain(part).min();
        }
        first.filter(|first| *first < pass)
    }
}

impl FunctionText {
    fn forms<'t>(&'t self, name: &'t Arc<str>, place: &Place) -> impl Iterator<Item = Form> + 't {
        let lines = self.places.get(place).into_iter().flatten();
        lines.filter_map(|(line, kind)| {
            let operation = name_of(self.line(*line))?.into();
            Some(Form { function: name.clone(), operation, kind: *kind })
        })
    }

    /// A line from a place, its own if there is one.
    fn first_line(&self, place: &Place) -> Option<usize> {
        let lines = self.places.get(place)?;
        lines.iter().min_by_key(|(line, kind)| (*kind, *line)).map(|(line, _)| *line)
    }
}

/// The functions of a text; with `is_whole`, also what is outside of them.
fn functions_of(stage: &Arc<Stage>, is_whole: bool) -> HashMap<Arc<str>, Arc<FunctionText>> {
    let mut found: HashMap<Arc<str>, FunctionText> = HashMap::new();
    let text = |lines: RangeInclusive<usize>| FunctionText {
        stage: stage.clone(),
        lines,
        places: HashMap::new(),
    };
    for function in stage.functions() {
        let entry = found.entry(function.name.as_str().into());
        // Two of the same name, in two executables, are one.
        let merged = entry.or_insert_with(|| text(function.first..=function.last));
        merged.lines =
            *merged.lines.start().min(&function.first)..=*merged.lines.end().max(&function.last);
    }
    let outside: Arc<str> = "".into();
    if is_whole {
        found.insert(outside.clone(), text(0..=0));
    }
    for (place, hits) in stage.hits() {
        for (line, kind) in hits {
            let line = *line as usize;
            let name = stage.function_at(line).map_or("", |function| function.name.as_str());
            if let Some(function) = found.get_mut(name) {
                function.places.entry(place.clone()).or_default().push((line, *kind));
            }
        }
    }
    found.into_iter().map(|(name, function)| (name, Arc::new(function))).collect()
}

/// What used an operation, and uses something else now. An operation is known again by its place
/// and its name, if no other one of its function has both.
fn uses_of(then: &FunctionText, now: &FunctionText, line: usize) -> (Option<bool>, Vec<Use>) {
    let results = results_of(then.line(line));
    if results.is_empty() {
        return (None, Vec::new());
    }
    let lines = |function: &FunctionText, from: usize| -> Vec<usize> {
        (from..=*function.lines.end()).collect()
    };
    let users: Vec<usize> = uses_after(
        lines(then, line + 1).into_iter().map(|number| (number, then.line(number))),
        indent_of(then.line(line)),
        &results,
    );
    // All of them, or none: what is said of uses holds for each.
    let mut found: Vec<Use> = Vec::new();
    for user in &users {
        let told = then.use_in(now, *user, &results);
        if told.is_empty() || found.len() + told.len() > USES {
            return (Some(true), Vec::new());
        }
        found.extend(told);
    }
    found.dedup();
    (Some(!users.is_empty()), found)
}

impl FunctionText {
    /// What has become, in a later text, of the uses of these results in a line. Nothing if the
    /// operation is not known again.
    fn use_in(&self, now: &Self, user: usize, results: &[&str]) -> Vec<Use> {
        let text = self.line(user);
        let known = self.own_place(user).zip(name_of(text));
        let known = known.filter(|(place, name)| self.only(place, name).is_some());
        let Some((place, name)) = known else { return Vec::new() };
        let Some(again) = now.only(&place, name) else {
            let line = now.only_own(&place).map(|line| shortened(now.line(line)));
            let told = |line| Use { is_user: true, now: Some(line), place: Some(place) };
            return line.map(told).into_iter().collect();
        };
        let (old, new) = (operands_of(text), operands_of(now.line(again)));
        if old.len() != new.len() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (_, is) in old.iter().zip(&new).filter(|(was, _)| results.contains(was)) {
            let above = (*now.lines.start()..again).rev();
            let definition =
                definition_before(above.map(|it| (it, now.line(it))), now.line(again), is);
            let place = definition.and_then(|line| now.own_place(line));
            let text = definition.map(|line| shortened(now.line(line)));
            found.push(Use { is_user: false, now: text, place });
        }
        found
    }
}

fn shortened(line: &str) -> String {
    line.trim().chars().take(LINE).collect()
}

/// The name of the operation that a text is.
fn outermost(text: &str) -> Option<&str> {
    name_of(text.lines().find(|line| !line.starts_with(['#', '!']) && !line.is_empty())?)
}

/// Whether a text is a module, not a part of one.
fn is_of_module(text: &str) -> bool {
    matches!(outermost(text), Some("module" | "builtin.module" | "vm.module"))
}

/// Whether a text is one function or initializer.
fn is_of_one(text: &str) -> bool {
    outermost(text).is_some_and(|name| name.ends_with(".func") || name.ends_with(".initializer"))
}
