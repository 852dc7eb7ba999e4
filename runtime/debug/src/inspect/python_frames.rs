//! Frames and variables of the Python that made the program.
//!
//! A frame of Python is a view of a frame of the program: what its variables are called there, and
//! which values of the program these are. Where a value is, and whether it can be computed again,
//! the frame of the program says.

use debuginfo::{NamedPosition, PythonFrame, PythonValue, SourcePosition};
use vm::{FrameFunction, FrameIndex};

use crate::machine::Machine;
use crate::target::functions::Wanted;
use crate::target::level::Level;
use crate::target::module::LoadedModule;
use crate::view::frame::{Frame, FrameId, FrameLayer, SourceLine};

/// The function of a frame with its layer: `Block.forward (blocks.2)`, `layer[2]`.
fn titled(frame: &PythonFrame) -> String {
    let PythonFrame { function, layer, .. } = frame;
    let Some(layer) = layer else { return function.to_string() };
    // A layer that is a call of the function by its number has its name.
    let outer = function.rsplit_once('.').map_or(0, |(outer, _)| outer.len() + 1);
    match layer.strip_prefix(&function[outer..]) {
        Some(number) if number.starts_with('[') => format!("{function}{number}"),
        _ => format!("{function} ({layer})"),
    }
}

impl Machine {
    /// The frames of Python at the end of a path, innermost first, each made of the frame of the
    /// program, with a note after the innermost one's name; `None` at other levels, and where no
    /// Python is known.
    pub(super) fn frames_of_python(
        &self,
        module: &LoadedModule,
        path: &[SourcePosition],
        frame: &Frame,
        note: &str,
    ) -> Option<Vec<Frame>> {
        if self.level != Level::Python {
            return None;
        }
        let found = self.shown_of(frame.index, module.info.python_frames(path));
        let innermost = found.len().checked_sub(1)?;
        let frames = found.iter().enumerate().map(|(depth, it)| {
            let note = if depth == innermost { note } else { "" };
            Frame {
                calls: (path.len() > 1).then_some(it.calls),
                python: Some(depth),
                name: format!("{}{note}", titled(it)),
                layer: it
                    .layer
                    .clone()
                    .map(|name| FrameLayer { name, untitled: format!("{}{note}", it.function) }),
                source: Some(module.source_line(it.position)),
                is_inlined: depth > 0,
                ..frame.clone()
            }
        });
        Some(frames.rev().collect())
    }

    /// What a frame is in Python, at a level, and the frame of the program that it is a view of.
    /// `None` at other levels than that of Python.
    fn frame_in_python(
        &self,
        level: Level,
        frame: FrameId,
    ) -> Option<(&LoadedModule, PythonFrame, FrameId)> {
        if level != Level::Python {
            return None;
        }
        let (module, path) = self.path_in_source(level, frame)?;
        let mut frames = module.info.python_frames(&path);
        let hidden = self.python_frames_hidden(frame.index, frames.len());
        let depth = frame.python.unwrap_or((frames.len() - hidden).checked_sub(1)?);
        if depth >= frames.len() {
            return None;
        }
        let found = frames.swap_remove(depth);
        // The program may have called functions that no frame of Python stands for.
        let own = FrameId { calls: Some(found.calls), python: Some(depth), ..frame };
        Some((module, found, own))
    }

    /// The calls of Python whose operation runs next, outermost first; empty at other levels, in
    /// dispatches, and where none is known.
    pub(crate) fn python_calls(&self) -> Vec<PythonFrame> {
        self.python_calls_in(self.level, FrameIndex(0)).map(|it| it.1).unwrap_or_default()
    }

    /// The innermost calls of Python that are shown, and the frame of the machine that they are a
    /// view of: not the innermost one if the program is inside of a dispatch that they lead to.
    pub(crate) fn innermost_python_calls(&self) -> Option<(Vec<PythonFrame>, FrameIndex)> {
        if self.level != Level::Python {
            return None;
        }
        let mut indices = (0..self.depth()).map(FrameIndex);
        indices.find_map(|index| {
            let (_, calls) = self.python_calls_in(self.level, index)?;
            let calls = self.shown_of(index, calls);
            (!calls.is_empty()).then_some((calls, index))
        })
    }

    /// How many of them lead to a line of Python, if one of them is there.
    pub(crate) fn python_calls_on(&self, level: Level, file: &str, line: u32) -> Option<usize> {
        let (module, calls) = self.python_calls_in(level, FrameIndex(0))?;
        let files = module.python_files(file);
        let is_there = |at: SourcePosition| files.contains(&at.file) && at.line == line;
        Some(calls.iter().rposition(|it| is_there(it.position))? + 1)
    }

    /// How many of them lead to the innermost one of a function.
    pub(crate) fn python_calls_of(&self, level: Level, function: &str) -> Option<usize> {
        let wanted = Wanted::new(function);
        let (_, calls) = self.python_calls_in(level, FrameIndex(0))?;
        Some(calls.iter().rposition(|it| wanted.fits_python(&it.function))? + 1)
    }

    fn python_calls_in(
        &self,
        level: Level,
        frame: FrameIndex,
    ) -> Option<(&LoadedModule, Vec<PythonFrame>)> {
        if level != Level::Python {
            return None;
        }
        // Workgroups are shown as such.
        let function = self.invocation()?.frame(&self.context, frame)?.function;
        if matches!(function, FrameFunction::Part { level: 1.., .. }) {
            return None;
        }
        let (module, path) = self.path_in_source(level, frame.into())?;
        (!module.is_nested).then(|| (module, module.info.python_frames(&path)))
    }

    /// Shows only so many of the calls of Python, as long as the program stands here: it stands
    /// before the next one.
    pub(crate) fn show_python_calls(&mut self, shown: usize) {
        let hidden = self.python_calls().len().saturating_sub(shown.max(1));
        let moment = self.invocation().and_then(|it| it.moment(&self.context));
        self.hidden_python = moment.filter(|_| hidden > 0).map(|moment| (moment, hidden));
    }

    /// The calls of a frame without those that are hidden.
    fn shown_of(&self, frame: FrameIndex, mut calls: Vec<PythonFrame>) -> Vec<PythonFrame> {
        calls.truncate(calls.len() - self.python_frames_hidden(frame, calls.len()));
        calls
    }

    /// How many of a frame's calls of Python are hidden; never all.
    fn python_frames_hidden(&self, frame: FrameIndex, calls: usize) -> usize {
        let Some((moment, hidden)) = self.hidden_python.as_ref().filter(|_| frame.0 == 0) else {
            return 0;
        };
        let now = self.invocation().and_then(|it| it.moment(&self.context));
        if now.as_ref() == Some(moment) { (*hidden).min(calls.saturating_sub(1)) } else { 0 }
    }

    /// A place of the source as it is shown: at the level of Python, the line that has made it.
    pub(crate) fn line_of_place(&self, at: &NamedPosition) -> Option<SourceLine> {
        let mut modules = self.program.modules.iter().filter(|_| self.level == Level::Python);
        let shown = modules.find_map(|module| {
            let frames = module.info.python_frames(&[module.place_of(at)?]);
            Some(module.source_line(frames.last()?.position))
        });
        let own = || {
            let line = self.program.source_named(&at.file, at.line)?;
            Some(SourceLine { column: at.column, ..line })
        };
        shown.or_else(own)
    }

    /// A frame of Python by its place among those of its machine's frame; others as they are.
    pub(super) fn named_by_depth(&self, frame: FrameId) -> FrameId {
        let Some((_, _, own)) = self.frame_in_python(self.level, frame) else { return frame };
        FrameId { calls: own.calls.filter(|_| frame.calls.is_some()), ..own }
    }

    /// Whether a frame is one of Python.
    pub(super) fn is_python(&self, level: Level, frame: FrameId) -> bool {
        self.frame_in_python(level, frame).is_some()
    }

    /// The variables of a frame of Python that are no containers, and the parts of those that are,
    /// each with its name as Python writes it; and the frame of the program whose values they are.
    /// `None` where the frame is none of Python.
    pub(crate) fn python_variables(
        &self,
        level: Level,
        frame: FrameId,
    ) -> Option<(FrameId, Vec<(String, &PythonValue)>)> {
        let (module, found, own) = self.frame_in_python(level, frame)?;
        let variables = found.event.map(|event| module.info.python_variables(event));
        let variables = variables.unwrap_or_default().into_iter();
        Some((own, variables.flat_map(|(name, value)| value.leaves(name)).collect()))
    }

    /// What a variable of a frame of Python is, by its name, or that of a part of one; and the
    /// frame of the program whose value it is.
    pub(crate) fn python_variable(
        &self,
        level: Level,
        frame: FrameId,
        name: &str,
    ) -> Option<(FrameId, &PythonValue)> {
        let (own, variables) = self.python_variables(level, frame)?;
        variables.into_iter().find(|(known, _)| known == name).map(|(_, value)| (own, value))
    }
}
