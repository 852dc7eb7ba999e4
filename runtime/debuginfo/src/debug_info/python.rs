//! Python on top of the source: frames, variables and lines of the Python that made a program.
//!
//! All tables of [`DebugInfo`] lead to the program's own text. What is here leads on from there, by
//! the [`PythonMap`] that the debug file has.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::tables::DebugInfo;
use crate::locations::{FileId, SourcePosition};
use crate::python_map::{PythonCallId, PythonEvent, PythonMap, PythonMapError, PythonValue};
use crate::source::NodeName;

/// The Python that made one of the files of a module.
#[derive(Debug)]
pub(super) struct PythonLayer {
    map: PythonMap,
    /// The program's text.
    source: FileId,
    /// The files of Python, in the order of [`PythonMap::files`].
    files: Vec<FileId>,
    /// By a function of the program and the name of a value there, the variable that it became.
    named: HashMap<String, HashMap<String, NodeName>>,
    /// By the name of a value of the program's own function, its names in the framework's layers.
    layers: HashMap<String, Vec<String>>,
}

/// A frame of Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonFrame {
    /// The function with its class, `Block.forward`; without a function around it.
    pub function: Arc<str>,
    /// Which of several layers it is: `blocks.2` by the framework's name, or `layer[2]`, the third
    /// call of the function by its caller.
    pub layer: Option<Arc<str>>,
    /// Where it stands.
    pub position: SourcePosition,
    /// Which call of the function it is; `None` in functions that the framework traces apart.
    pub call: Option<PythonCallId>,
    /// What its variables are known at; `None` there as well.
    pub event: Option<PythonEvent>,
    /// How many of the program's own inlined calls lead to it.
    pub calls: usize,
    /// Whether one run of its line may compute something several times, as in the body of a loop.
    pub may_repeat: bool,
}

impl PythonLayer {
    /// Reads a map, and gives its files identifiers from `add_file`. `None` if there is none, or
    /// the module does not name the program that it is of.
    pub(super) fn read(
        map: Option<&[u8]>,
        source: Option<FileId>,
        add_file: &mut dyn FnMut(&str) -> FileId,
    ) -> Result<Option<Self>, PythonMapError> {
        let (Some(source), Some(bytes)) = (source, map) else { return Ok(None) };
        let map = PythonMap::read(bytes)?;
        let files = map.files().iter().map(|name| add_file(name)).collect();
        let name =
            |(value, tensor): (&str, String)| (value.to_owned(), NodeName { tensor, node: None });
        let named = map.variables_of_values().into_iter();
        let named = named.map(|(function, values)| {
            (function.to_owned(), values.into_iter().map(name).collect())
        });
        let named = named.collect();
        let layers = map.names_in_layers().into_iter();
        let layers = layers.map(|(value, names)| (value.to_owned(), names)).collect();
        Ok(Some(Self { map, source, files, named, layers }))
    }

    pub(super) fn files(&self) -> &[FileId] {
        &self.files
    }

    fn index_of(&self, file: FileId) -> Option<u32> {
        let index = self.files.iter().position(|it| *it == file)?;
        u32::try_from(index).ok()
    }
}

impl DebugInfo {
    pub(super) fn python_layer(&self) -> Option<&PythonLayer> {
        self.python.as_ref().ok()?.as_ref()
    }

    /// Why what the debug file knows of the program's Python cannot be used.
    #[must_use]
    pub fn python_fault(&self) -> Option<&PythonMapError> {
        self.python.as_ref().err()
    }

    /// Whether Python made the program, and it is known how.
    #[must_use]
    pub fn has_python(&self) -> bool {
        self.python_layer().is_some()
    }

    /// The frames of Python at the end of a path through the program's inlined calls, outermost
    /// first; empty if none is known.
    #[must_use]
    pub fn python_frames(&self, path: &[SourcePosition]) -> Vec<PythonFrame> {
        let Some(python) = self.python_layer() else { return Vec::new() };
        let own = path.iter().take_while(|at| at.file == python.source);
        let lines: Vec<u32> = own.map(|at| at.line).collect();
        let frames = python.map.calls_to(&lines).into_iter().map(|call| {
            let file = python.files[call.place.file as usize];
            let (line, column) = (call.place.line, call.place.column);
            let position = SourcePosition { file, line, column };
            let read = || self.python_function(position).unwrap_or_else(|| "<function>".into());
            let function = call.function.map_or_else(read, |it| Arc::from(it.as_str()));
            let id = call.event.map(|it| python.map.call_at(it));
            PythonFrame {
                function,
                layer: call.layer.map(Arc::from),
                position,
                call: id,
                event: call.event,
                calls: call.calls,
                may_repeat: call.event.is_some_and(|it| python.map.may_repeat(it)),
            }
        });
        frames.collect()
    }

    /// The variables of a frame of Python, in the order in which the function has made them.
    #[must_use]
    pub fn python_variables(&self, event: PythonEvent) -> Vec<(&str, &PythonValue)> {
        self.python_layer().map(|it| it.map.variables(event)).unwrap_or_default()
    }

    /// Whether a file is of the Python that made the program.
    #[must_use]
    pub fn is_of_python(&self, file: FileId) -> bool {
        self.python_layer().is_some_and(|it| it.files.contains(&file))
    }

    /// The places of the program that a line of Python has made; `None` if the file is none of its
    /// Python.
    #[must_use]
    pub fn made_by_python(&self, file: FileId, line: u32) -> Option<Vec<(FileId, u32)>> {
        let python = self.python_layer()?;
        let lines = python.map.operations_on(python.index_of(file)?, line).into_iter();
        Some(lines.map(|line| (python.source, line)).collect())
    }

    /// The lines of a file of Python that have made operations; `None` as above.
    #[must_use]
    pub fn python_lines(&self, file: FileId) -> Option<BTreeSet<u32>> {
        let python = self.python_layer()?;
        Some(python.map.lines_with_operations(python.index_of(file)?))
    }

    /// The operations of each call of Python's functions whose name is wanted, with those of the
    /// calls inside of it, in the order of the program. Those of a function that is traced apart
    /// count as one call.
    #[must_use]
    pub fn calls_in_python(&self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<Vec<(FileId, u32)>> {
        let Some(python) = self.python_layer() else { return Vec::new() };
        let (mut calls, mut known) = (Vec::<Vec<(FileId, u32)>>::new(), HashMap::new());
        for line in python.map.operations() {
            let at = SourcePosition { file: python.source, line, column: 1 };
            let frames = self.python_frames(&[at]).into_iter();
            for PythonFrame { function, call, .. } in frames.filter(|it| is_wanted(&it.function)) {
                let index = *known.entry((function, call)).or_insert_with(|| {
                    calls.push(Vec::new());
                    calls.len() - 1
                });
                calls[index].push((python.source, line));
            }
        }
        calls
    }

    /// The names of the functions of Python that have made the program.
    #[must_use]
    pub fn python_functions(&self) -> BTreeSet<String> {
        let map = self.python_layer().map(|it| &it.map);
        map.into_iter().flat_map(PythonMap::functions).cloned().collect()
    }

    /// The variable of Python that a value of the program, with its `%`, has become.
    pub(super) fn python_name(&self, file: FileId, line: u32, value: &str) -> Option<&NodeName> {
        let python = self.python_layer().filter(|it| it.source == file)?;
        let text = self.source(file)?.written();
        python.named.get(text.name(text.around(line)?)?)?.get(value)
    }

    /// The names that a value of the program, with its `%`, has in layers of the framework.
    #[must_use]
    pub fn names_in_layers(&self, file: FileId, line: u32, value: &str) -> &[String] {
        let names = || {
            let python = self.python_layer().filter(|it| it.source == file)?;
            let text = self.source(file)?.written();
            let is_own = text.name(text.around(line)?)? == python.map.function();
            python.layers.get(value).filter(|_| is_own)
        };
        names().map(Vec::as_slice).unwrap_or_default()
    }
}
