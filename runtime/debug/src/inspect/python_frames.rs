//! Frames and variables of the Python that made the program.
//!
//! A frame of Python is a view of a frame of the program: what its variables are called there, and
//! which values of the program these are. Where a value is, and whether it can be computed again,
//! the frame of the program says.

use debuginfo::{NamedPosition, PythonFrame, PythonValue, SourcePosition};

use crate::machine::Machine;
use crate::target::level::Level;
use crate::target::module::LoadedModule;
use crate::view::frame::{Frame, FrameId, SourceLine};

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
        let found = module.info.python_frames(path);
        let innermost = found.len().checked_sub(1)?;
        let frames = found.iter().enumerate().map(|(depth, it)| {
            let note = if depth == innermost { note } else { "" };
            Frame {
                calls: (path.len() > 1).then_some(it.calls),
                python: Some(depth),
                name: format!("{}{note}", it.function),
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
        let depth = frame.python.unwrap_or(frames.len().checked_sub(1)?);
        if depth >= frames.len() {
            return None;
        }
        let found = frames.swap_remove(depth);
        // The program may have called functions that no frame of Python stands for.
        let own = FrameId { calls: Some(found.calls), python: Some(depth), ..frame };
        Some((module, found, own))
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
