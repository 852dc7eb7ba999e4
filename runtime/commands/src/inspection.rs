//! Commands that look at a stopped program, or change a value in it.

use std::fmt::Write;

use debug::{Frame, Level, Limits, Memory, ScopeKind};

use crate::command::ListTarget;
use crate::session::{Performer, Problem, Progress};
use crate::show;

impl Performer<'_> {
    pub(crate) fn select(&mut self, number: usize) -> Result<(), Problem> {
        self.needs_frame()?;
        let frame = self.debugger.machine().frame_at(number);
        let frame = frame.ok_or_else(|| format!("there is no frame {number}"))?;
        self.session.selected = number;
        self.session.frame = frame.id();
        self.session.listed = None;
        show::frame(&mut self.out, self.debugger, number, &frame)?;
        Ok(())
    }

    pub(crate) fn scope(&mut self, kind: ScopeKind) -> Result<(), Problem> {
        self.needs_frame()?;
        let scopes = self.debugger.machine().scopes(self.session.frame);
        match scopes.into_iter().find(|(found, _)| *found == kind) {
            Some((_, node)) => show::variables(&mut self.out, self.debugger, &node)?,
            None => writeln!(self.out, "none here")?,
        }
        Ok(())
    }

    /// Changes the level, and shows the selected frame at it.
    pub(crate) fn level(&mut self, level: Option<Level>) -> Result<(), Problem> {
        let Some(level) = level else {
            writeln!(self.out, "{}", self.debugger.machine().level())?;
            return Ok(());
        };
        self.debugger.set_level(level)?;
        if self.session.in_editor {
            writeln!(self.out, "{level}")?;
        }
        if !matches!(self.session.progress, Progress::Stopped | Progress::Failed) {
            return Ok(());
        }
        // Only the level of the source has frames for inlined calls.
        let frames = self.debugger.machine().frames();
        let frame = frames.iter().position(|it| it.index == self.session.frame.index).unwrap_or(0);
        if self.session.in_editor {
            let id = frames.get(frame).map_or(self.session.frame, Frame::id);
            (self.session.selected, self.session.frame) = (frame, id);
            return Ok(());
        }
        self.select(frame)
    }

    pub(crate) fn disassemble(&mut self, function: Option<&str>) -> Result<(), Problem> {
        let function = match function {
            Some(name) => {
                let address = self.debugger.program().address_in(name, vmfb::BytecodeOffset(1));
                let position = address.and_then(|it| self.debugger.program().position_of(it));
                position.ok_or_else(|| format!("there is no function {name:?}"))?.function
            }
            None => {
                self.needs_frame()?;
                let frame = self.debugger.machine().frame_at(self.session.selected);
                let position = frame.and_then(|frame| frame.position);
                position.ok_or("this frame is native code")?.function
            }
        };
        show::disassembly(&mut self.out, self.debugger, function, self.session.frame.index)?;
        Ok(())
    }

    pub(crate) fn list(&mut self, target: Option<ListTarget>) -> Result<(), Problem> {
        const LINES: u32 = 10;
        let (file, first) = match (target, self.session.listed.take()) {
            (Some(ListTarget::Line(line)), _) => {
                (self.current_file()?, line.saturating_sub(LINES / 2))
            }
            (Some(ListTarget::Function(name)), _) => {
                let source = self.debugger.machine().function_source(&name);
                let source = source.ok_or_else(|| format!("no source is known for {name:?}"))?;
                (source.file, source.line.saturating_sub(LINES / 2))
            }
            (None, Some(next)) => next,
            (None, None) => {
                let here = self
                    .debugger
                    .machine()
                    .frame_at(self.session.selected)
                    .and_then(|frame| frame.source);
                let source = here.or_else(|| self.debugger.machine().main_source());
                let source = source.ok_or("no text is known here; `disas` shows instructions")?;
                (source.file, source.line.saturating_sub(LINES / 2))
            }
        };
        let first = first.max(1);
        let source =
            self.debugger.machine().frame_at(self.session.selected).and_then(|frame| frame.source);
        let here = source.filter(|source| source.file == file).map(|source| source.line);
        let shown = show::source_lines(&mut self.out, self.debugger, here, &file, first, LINES)?;
        if shown == 0 {
            return Err(format!("{file} has no line {first}, or cannot be read").into());
        }
        self.session.listed = Some((file, first + LINES));
        Ok(())
    }

    pub(crate) fn display(&mut self, text: String) -> Result<(), Problem> {
        let number = self.session.displays.last().map_or(1, |(number, _)| number + 1);
        self.session.displays.push((number, text));
        if self.session.progress == Progress::Stopped {
            self.show_display(self.session.displays.len() - 1)?;
        }
        Ok(())
    }

    pub(crate) fn undisplay(&mut self, which: Option<usize>) -> Result<(), Problem> {
        let before = self.session.displays.len();
        self.session.displays.retain(|(number, _)| which.is_some_and(|which| which != *number));
        match which {
            Some(which) if self.session.displays.len() == before => {
                Err(format!("there is no display {which}").into())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn show_displays(&mut self) -> Result<(), Problem> {
        (0..self.session.displays.len()).try_for_each(|index| self.show_display(index))
    }

    fn show_display(&mut self, index: usize) -> Result<(), Problem> {
        let Some((number, text)) = self.session.displays.get(index) else { return Ok(()) };
        match self.debugger.machine().evaluate(self.session.frame, text) {
            Ok(value) => writeln!(self.out, "{number}: {text} = {}", value.value)?,
            Err(error) => writeln!(self.out, "{number}: {text}: {error}")?,
        }
        Ok(())
    }

    pub(crate) fn set(&mut self, target: &str, value: &str) -> Result<(), Problem> {
        self.needs_frame()?;
        self.changed_values = true;
        let set = self.debugger.assign(self.session.frame, target, value);
        let variable = set.map_err(|error| error.to_string())?;
        writeln!(self.out, "{} = {}", variable.name, variable.value)?;
        Ok(())
    }

    pub(crate) fn examine(&mut self, text: &str, count: usize) -> Result<(), Problem> {
        const LINE: usize = 16;
        const MAX_BYTES: usize = 1 << 16;
        self.needs_frame()?;
        let value =
            self.debugger.machine().evaluate_within(self.session.frame, text, Limits::default());
        let value = value.map_err(|error| error.with_caret(text))?;
        let memory = value.children.as_ref().and_then(Memory::of);
        let memory = memory.ok_or_else(|| format!("{text} has no bytes"))?;
        let (_, bytes) = memory.read(0, count.min(MAX_BYTES));
        for (index, line) in bytes.chunks(LINE).enumerate() {
            let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(self.out, "{:08x}  {}", index * LINE, hex.join(" "))?;
        }
        Ok(())
    }

    pub(crate) fn show_calls(&mut self) -> Result<(), Problem> {
        self.needs_frame()?;
        let targets = self.debugger.machine().step_in_targets(self.session.frame);
        if targets.is_empty() {
            writeln!(self.out, "no calls on this line")?;
        }
        for target in targets {
            writeln!(self.out, "{} [{}]", target.label, target.call.position.offset)?;
        }
        Ok(())
    }
}
