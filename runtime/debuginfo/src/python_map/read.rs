//! Reading a [`PythonMap`] from its file, with all indices checked.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::{Call, Event, Home, PythonEvent, PythonMap, PythonPlace, PythonValue, SourceIdentity};

/// The version that is read.
const VERSION: u32 = 1;
/// The most calls inside of each other: Python itself allows a thousand.
const DEEPEST_CALL: usize = 4096;
/// How deep parts of variables are read: the exporters write no deeper ones.
const DEEPEST: usize = 8;

/// Why a map is not used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PythonMapError {
    /// It is no map, or of a later version.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// It refers to what it does not have.
    #[error("its {0} refer to what is not there")]
    Inconsistent(&'static str),
}

/// A variable, and what it is now.
type Change = (String, Option<WrittenValue>);

#[derive(Deserialize)]
struct Written {
    pymap: u32,
    source: SourceIdentity,
    function: String,
    files: Vec<String>,
    functions: Vec<String>,
    calls: Vec<WrittenCall>,
    /// The call, the line, what has changed.
    events: Vec<(u32, u32, Vec<Change>)>,
    lines: Vec<(u32, i64)>,
    /// File, line, column.
    chains: Vec<Vec<(u32, u32, u32)>>,
    places: Vec<(u32, usize)>,
    /// Calls that are of a layer of the framework, and its name.
    #[serde(default)]
    layers: Vec<(usize, String)>,
    /// Layers, and what each has given.
    #[serde(default)]
    results: Vec<(String, WrittenValue)>,
}

/// The caller's event or -1, the function, the file; and where in the program its operations are,
/// if that is not in the block of the program's function: see [`Home`].
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenCall {
    Own(i64, u32, u32),
    Apart(i64, u32, u32, String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenValue {
    Value(String),
    Text { is: String },
    Absent { no: String },
    Parts { of: String, items: Vec<(String, WrittenValue)> },
}

impl WrittenValue {
    fn read(self, depth: usize) -> PythonValue {
        match self {
            Self::Value(name) => PythonValue::Value(name),
            Self::Text { is } => PythonValue::Text(is),
            Self::Absent { no } => PythonValue::Absent(no),
            Self::Parts { of, items } => {
                let items = items.into_iter().filter(|_| depth < DEEPEST);
                PythonValue::Parts(of, items.map(|(key, it)| (key, it.read(depth + 1))).collect())
            }
        }
    }
}

impl PythonMap {
    /// Reads a map.
    ///
    /// # Errors
    /// It is no map, of a later version, or refers to what it does not have.
    pub fn read(bytes: &[u8]) -> Result<Self, PythonMapError> {
        let unreadable = |error: serde_json::Error| PythonMapError::Unreadable(error.to_string());
        let written: Written = serde_json::from_slice(bytes).map_err(unreadable)?;
        if written.pymap != VERSION {
            let what = format!("it is of version {}, not {VERSION}", written.pymap);
            return Err(PythonMapError::Unreadable(what));
        }
        let Written { source, function, files, mut functions, .. } = written;
        for name in &mut functions {
            // What is around a function says nothing that its place does not.
            let inner = name.rsplit("<locals>.").next().unwrap_or_default();
            *name = inner.to_owned();
        }
        let count = written.events.len();
        let event = |index: i64| match u32::try_from(index) {
            Ok(index) if (index as usize) < count => Ok(Some(PythonEvent(index))),
            Err(_) if index == -1 => Ok(None),
            _ => Err(PythonMapError::Inconsistent("events")),
        };
        let mut calls: Vec<Call> = written
            .calls
            .into_iter()
            .map(|written| {
                let (caller, function, file, home) = match written {
                    WrittenCall::Own(caller, function, file) => {
                        (caller, function, file, Home::Program)
                    }
                    WrittenCall::Apart(caller, function, file, name) => {
                        let is_region = name.is_empty();
                        let home = if is_region { Home::Region } else { Home::Function(name) };
                        (caller, function, file, home)
                    }
                };
                Ok(Call { caller: event(caller)?, function, file, home, layer: None })
            })
            .collect::<Result<_, _>>()?;
        let are_there = calls
            .iter()
            .all(|it| (it.function as usize) < functions.len() && (it.file as usize) < files.len());
        if !are_there {
            return Err(PythonMapError::Inconsistent("calls"));
        }
        let mut last: BTreeMap<u32, PythonEvent> = BTreeMap::new();
        // How deep each call is, and each event.
        let mut depths = vec![0; calls.len()];
        let mut event_depths: Vec<usize> = Vec::with_capacity(count);
        let mut events = Vec::with_capacity(count);
        for (at, (call, line, changed)) in (0..).map(PythonEvent).zip(written.events) {
            // A call begins after the event of its caller: then no stack is endless.
            let own = calls.get(call as usize).filter(|it| it.caller < Some(at));
            let own = own.ok_or(PythonMapError::Inconsistent("events"))?;
            let before = last.insert(call, at);
            if before.is_none() {
                let around = own.caller.map_or(0, |it| event_depths[it.0 as usize]);
                depths[call as usize] = around + 1;
            }
            event_depths.push(depths[call as usize]);
            if depths[call as usize] > DEEPEST_CALL {
                return Err(PythonMapError::Inconsistent("calls"));
            }
            let changed = changed.into_iter();
            let changed = changed.map(|(name, value)| (name, value.map(|it| it.read(0))));
            events.push(Event { call, line, before, changed: changed.collect() });
        }
        let lines = written.lines.into_iter();
        let lines: Vec<_> = lines
            .map(|(line, index)| Ok((line, event(index)?)))
            .collect::<Result<_, PythonMapError>>()?;
        if !lines.is_sorted_by_key(|(line, _)| *line) {
            return Err(PythonMapError::Inconsistent("lines"));
        }
        let place = |(file, line, column)| PythonPlace { file, line, column };
        let chains: Vec<Vec<PythonPlace>> =
            written.chains.into_iter().map(|it| it.into_iter().map(place).collect()).collect();
        let mut all = chains.iter().flatten();
        let places: BTreeMap<u32, usize> = written.places.into_iter().collect();
        if !all.all(|it| (it.file as usize) < files.len())
            || !places.values().all(|it| *it < chains.len())
        {
            return Err(PythonMapError::Inconsistent("places"));
        }
        number_calls(&mut calls, &events, &functions);
        for (call, name) in written.layers {
            let call = calls.get_mut(call).ok_or(PythonMapError::Inconsistent("layers"))?;
            call.layer = Some(name);
        }
        let results = written.results.into_iter().map(|(name, it)| (name, it.read(0))).collect();
        Ok(Self {
            source,
            function,
            files,
            functions,
            calls,
            events,
            lines,
            chains,
            places,
            results,
        })
    }
}

/// Tells apart the calls of a function that one call has made: `layer[0]`, `layer[1]`.
fn number_calls(calls: &mut [Call], events: &[Event], functions: &[String]) {
    let mut together: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    for (index, call) in calls.iter().enumerate() {
        if let Some(caller) = call.caller {
            let key = (events[caller.0 as usize].call, call.function);
            together.entry(key).or_default().push(index);
        }
    }
    for ((_, function), made) in together.into_iter().filter(|(_, made)| made.len() > 1) {
        let name = functions[function as usize].rsplit('.').next().unwrap_or_default();
        for (turn, call) in made.into_iter().enumerate() {
            calls[call].layer = Some(format!("{name}[{turn}]"));
        }
    }
}
