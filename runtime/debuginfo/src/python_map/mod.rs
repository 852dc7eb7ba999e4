//! [`PythonMap`]: how Python has made a program: which of its lines made which operations, in which
//! calls, and which values of the program its variables were.
//!
//! A framework makes a program by running a model's Python once. Our exporters note that run
//! (`_python_map.py`), and so know what no text says: which turn of a loop an operation is of, and
//! which of five values of `x` a line means. The map is a source map on top of another: the debug
//! database leads from bytecode to a line of MLIR, and the map from that line to Python.
//!
//! - An *event* is a line that was about to run in a *call* of a function. It knows what the
//!   variables of that call were.
//! - Operations belong to the event that was the last one before they were made.
//! - *Places* are what the framework itself says of an operation, with columns. They also lead
//!   into functions that are traced apart, whose variables are not known.
//!
//! What is read comes from a file and may be wrong: every index is checked in [`read`], and events
//! only refer to earlier ones, so no walk here runs in circles.

mod read;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub use read::PythonMapError;

/// What is added to the name of a program for the name of its map: `model.mlir.pymap`.
pub const PYTHON_MAP_SUFFIX: &str = ".pymap";

/// An event, by its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PythonEvent(u32);

/// A call of a function of Python, by its index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PythonCallId(u32);

impl PythonCallId {
    pub(crate) fn index(self) -> u32 {
        self.0
    }
}

/// What a variable of Python was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PythonValue {
    /// A value of the program, by its name there: `%57`, `%3#1`.
    Value(String),
    /// A number or a text, as Python writes it; or the type of an array that is none of the
    /// program's values.
    Text(String),
    /// A tensor that the program does not have, and why.
    Absent(String),
    /// A container or an object: its type, and its parts, each with what follows the variable's
    /// name in Python: `[0]`, `['w']`, `.weight`.
    Parts(String, Vec<(String, PythonValue)>),
}

/// A line of Python, by the index of its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PythonPlace {
    /// See [`PythonMap::files`].
    pub(crate) file: u32,
    /// From one.
    pub(crate) line: u32,
    /// From one.
    pub(crate) column: u32,
}

/// A call of a function of Python on the way to an operation.
#[derive(Clone, Debug)]
pub(crate) struct PythonCall<'m> {
    pub(crate) place: PythonPlace,
    /// With its class, `Block.forward`; `None` in functions that are traced apart.
    pub(crate) function: Option<&'m String>,
    /// What its variables are known at.
    pub(crate) event: Option<PythonEvent>,
    /// See [`PythonMap::layer`].
    pub(crate) layer: Option<&'m str>,
    /// How many inlined calls of the program lead to it.
    pub(crate) calls: usize,
}

/// How Python has made a program.
#[derive(Debug)]
pub struct PythonMap {
    source: SourceIdentity,
    function: String,
    files: Vec<String>,
    functions: Vec<String>,
    calls: Vec<Call>,
    events: Vec<Event>,
    /// From which line on operations belong to which event, by line.
    lines: Vec<(u32, Option<PythonEvent>)>,
    chains: Vec<Vec<PythonPlace>>,
    /// By the line of an operation, the index of its chain.
    places: BTreeMap<u32, usize>,
    /// The results of the framework's layers: their names, and what they are.
    results: Vec<(String, PythonValue)>,
}

/// What tells the text of a program from others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
struct SourceIdentity {
    length: u64,
    crc32: u32,
}

#[derive(Debug)]
struct Call {
    /// The event of the caller; `None` also where the program itself calls a function of its own.
    caller: Option<PythonEvent>,
    function: u32,
    file: u32,
    home: Home,
    layer: Option<String>,
}

/// Where in the program the operations of a call are.
#[derive(Debug)]
enum Home {
    /// In the block of [`PythonMap::function`].
    Program,
    /// In a region of an operation, such as the body of a loop. Regions side by side have values of
    /// the same names.
    Region,
    /// In a function that the framework has traced apart, by its name.
    Function(String),
}

#[derive(Debug)]
struct Event {
    call: u32,
    line: u32,
    /// The event before it in its call.
    before: Option<PythonEvent>,
    /// What the variables are, as far as that has changed since; `None` where one is no more.
    changed: Vec<(String, Option<PythonValue>)>,
}

impl PythonMap {
    /// Whether it is the map of a program with this text.
    #[must_use]
    pub fn is_of(&self, text: &[u8]) -> bool {
        let length = text.len() as u64;
        self.source == SourceIdentity { length, crc32: crc32fast::hash(text) }
    }

    /// The program's own function, which all that is not traced apart is in.
    pub(crate) fn function(&self) -> &str {
        &self.function
    }

    /// The names of the files of Python.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The names of the functions that were called.
    pub(crate) fn functions(&self) -> &[String] {
        &self.functions
    }

    /// The event that the operation on a line belongs to.
    pub(crate) fn event_at(&self, line: u32) -> Option<PythonEvent> {
        let after = self.lines.partition_point(|(first, _)| *first <= line);
        self.lines[..after].last()?.1
    }

    /// The calls of Python that lead to an operation, outermost first, given the lines that lead to
    /// it through the program's own calls. Empty if nothing is known.
    pub(crate) fn calls_to(&self, path: &[u32]) -> Vec<PythonCall<'_>> {
        let mut found = Vec::new();
        for (calls, line) in path.iter().enumerate() {
            let places = self.places.get(line).map_or(&[][..], |chain| &self.chains[*chain]);
            let mut places = places.iter();
            for event in self.event_at(*line).map(|it| self.stack(it)).unwrap_or_default() {
                let own = self.place_of(event);
                // The framework's place may be on another line of the same statement, and has a
                // column.
                let said = places.clone().next().filter(|it| it.file == own.file);
                if said.is_some() {
                    places.next();
                } else {
                    places = [].iter();
                }
                let function = self.functions.get(self.call_of(event).function as usize);
                let place = said.copied().unwrap_or(own);
                let layer = self.layer(event);
                found.push(PythonCall { place, function, event: Some(event), layer, calls });
            }
            let inside = places.map(|place| PythonCall {
                place: *place,
                function: None,
                event: None,
                layer: None,
                calls,
            });
            found.extend(inside);
        }
        found
    }

    /// The variables of a call at an event, in the order of their names' first use.
    #[must_use]
    pub fn variables(&self, event: PythonEvent) -> Vec<(&str, &PythonValue)> {
        let mut events = vec![event];
        while let Some(before) = events.last().and_then(|it| self.event(*it).before) {
            events.push(before);
        }
        let mut order = Vec::new();
        let mut known: HashMap<&str, Option<&PythonValue>> = HashMap::new();
        for (name, value) in events.iter().rev().flat_map(|it| &self.event(*it).changed) {
            if known.insert(name, value.as_ref()).is_none() {
                order.push(&**name);
            }
        }
        order.into_iter().filter_map(|name| Some((name, known.get(name).copied()??))).collect()
    }

    /// The lines of operations that a line of Python has made itself; or else of those that its
    /// calls have, the first of each time that it ran.
    pub(crate) fn operations_on(&self, file: u32, line: u32) -> Vec<u32> {
        let is_here = |it: &PythonCall<'_>| (it.place.file, it.place.line) == (file, line);
        let (mut own, mut called) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for operation in self.places.keys() {
            let calls = self.calls_to(&[*operation]);
            if calls.last().is_some_and(is_here) {
                own.push(*operation);
            } else if let Some(call) = calls.iter().find(|it| is_here(it))
                && call.event.is_none_or(|event| seen.insert(event))
            {
                called.push(*operation);
            }
        }
        if own.is_empty() { called } else { own }
    }

    /// The lines of operations, in the order of the program.
    pub(crate) fn operations(&self) -> impl Iterator<Item = u32> {
        self.places.keys().copied()
    }

    /// The lines of a file on which something was computed.
    pub(crate) fn lines_with_operations(&self, file: u32) -> BTreeSet<u32> {
        let operations = self.places.keys().flat_map(|line| self.calls_to(&[*line]));
        operations.filter(|it| it.place.file == file).map(|it| it.place.line).collect()
    }

    /// Whether the operations of a call may run several times: those of the program's own function
    /// run once.
    pub(crate) fn may_repeat(&self, event: PythonEvent) -> bool {
        !matches!(self.call_of(event).home, Home::Program)
    }

    /// Which of several layers the call of an event is: by the framework's name of it, `blocks.2`,
    /// or, where the caller calls the function more than once, `layer[2]`, counted from zero.
    pub(crate) fn layer(&self, event: PythonEvent) -> Option<&str> {
        self.call_of(event).layer.as_deref()
    }

    /// The call that an event is of.
    pub(crate) fn call_at(&self, event: PythonEvent) -> PythonCallId {
        PythonCallId(self.event(event).call)
    }

    /// The first variable that each value of the program has become, by its function and its name
    /// there. Names that a call has given come before those that it was given.
    pub(crate) fn variables_of_values(&self) -> HashMap<&str, HashMap<&str, String>> {
        let mut found: HashMap<&str, HashMap<&str, String>> = HashMap::new();
        // The first event of a call has its arguments.
        let (given, made): (Vec<_>, Vec<_>) =
            self.events.iter().partition(|it| it.before.is_none());
        for event in made.into_iter().chain(given) {
            let function = match &self.calls[event.call as usize].home {
                Home::Program => self.function.as_str(),
                Home::Function(name) => name,
                Home::Region => continue,
            };
            let found = found.entry(function).or_default();
            for (name, value) in &event.changed {
                for (name, leaf) in value.iter().flat_map(|it| it.leaves(name)) {
                    if let PythonValue::Value(value) = leaf {
                        found.entry(value).or_insert(name);
                    }
                }
            }
        }
        found
    }

    /// The names that values of the program's own function have in the framework's layers: results
    /// of a layer have its name, `blocks.2`; what its code has made is in it, `blocks.2.scores`.
    pub(crate) fn names_in_layers(&self) -> HashMap<&str, Vec<String>> {
        let mut found: HashMap<&str, Vec<String>> = HashMap::new();
        let mut add = |name: &str, value| {
            for (name, leaf) in PythonValue::leaves(value, name) {
                if let PythonValue::Value(value) = leaf {
                    let names = found.entry(value).or_default();
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
        };
        for (layer, value) in &self.results {
            add(layer, value);
        }
        // A variable may have the name of a layer, whose result it is not.
        let layers: HashSet<&str> = self.results.iter().map(|(layer, _)| layer.as_str()).collect();
        // The first event of a call has its arguments.
        for event in self.events.iter().filter(|it| it.before.is_some()) {
            let call = &self.calls[event.call as usize];
            let Some(layer) = &call.layer else { continue };
            for (name, value) in &event.changed {
                let name = format!("{layer}.{name}");
                if let (Some(value), Home::Program) = (value, &call.home)
                    && !layers.contains(&*name)
                {
                    add(&name, value);
                }
            }
        }
        found
    }

    /// The events of the calls that lead to an event, outermost first; the last one is its own.
    fn stack(&self, event: PythonEvent) -> Vec<PythonEvent> {
        let mut stack = vec![event];
        while let Some(caller) = stack.last().and_then(|it| self.call_of(*it).caller) {
            stack.push(caller);
        }
        stack.reverse();
        stack
    }

    fn place_of(&self, event: PythonEvent) -> PythonPlace {
        PythonPlace { file: self.call_of(event).file, line: self.event(event).line, column: 1 }
    }

    fn event(&self, event: PythonEvent) -> &Event {
        &self.events[event.0 as usize]
    }

    fn call_of(&self, event: PythonEvent) -> &Call {
        &self.calls[self.event(event).call as usize]
    }
}

impl PythonValue {
    /// The values that are no containers, each with its name as Python writes it.
    #[must_use]
    pub fn leaves(&self, name: &str) -> Vec<(String, &Self)> {
        match self {
            Self::Parts(_, parts) => {
                let leaves = parts.iter().map(|(key, part)| part.leaves(&format!("{name}{key}")));
                leaves.flatten().collect()
            }
            _ => vec![(name.to_owned(), self)],
        }
    }
}
