//! Commands that look at a stopped program, or change a value in it.

use std::io::Write;

use debug::{Level, Limits, Memory, ScopeKind};

use super::command::ListTarget;
use super::show;
use super::state::{Problem, Progress, Terminal};

impl<W: Write> Terminal<W> {
    pub(super) fn select(&mut self, number: usize) -> Result<(), Problem> {
        self.needs_frame()?;
        let frame = self.debugger.machine().frame_at(number);
        let frame = frame.ok_or_else(|| format!("there is no frame {number}"))?;
        self.selected = number;
        self.frame = frame.id();
        self.listed = None;
        show::frame(&mut self.out, &self.debugger, number, &frame)?;
        Ok(())
    }

    pub(super) fn scope(&mut self, kind: ScopeKind) -> Result<(), Problem> {
        self.needs_frame()?;
        let scopes = self.debugger.machine().scopes(self.frame);
        match scopes.into_iter().find(|(found, _)| *found == kind) {
            Some((_, node)) => show::variables(&mut self.out, &self.debugger, &node)?,
            None => writeln!(self.out, "none here")?,
        }
        Ok(())
    }

    /// Changes the level, and shows the selected frame at it.
    pub(super) fn level(&mut self, level: Option<Level>) -> Result<(), Problem> {
        let Some(level) = level else {
            writeln!(self.out, "{}", self.debugger.machine().level())?;
            return Ok(());
        };
        self.debugger.set_level(level)?;
        if !matches!(self.progress, Progress::Stopped | Progress::Failed) {
            return Ok(());
        }
        // Only the level of the source has frames for inlined calls.
        let frames = self.debugger.machine().frames();
        let frame = frames.iter().position(|it| it.index == self.frame.index).unwrap_or(0);
        self.select(frame)
    }

    pub(super) fn disassemble(&mut self, function: Option<&str>) -> Result<(), Problem> {
        let function = match function {
            Some(name) => {
                let address = self.debugger.program().address_in(name, vmfb::BytecodeOffset(1));
                let position = address.and_then(|it| self.debugger.program().position_of(it));
                position.ok_or_else(|| format!("there is no function {name:?}"))?.function
            }
            None => {
                self.needs_frame()?;
                let frame = self.debugger.machine().frame_at(self.selected);
                let position = frame.and_then(|frame| frame.position);
                position.ok_or("this frame is native code")?.function
            }
        };
        show::disassembly(&mut self.out, &self.debugger, function, self.frame.index)?;
        Ok(())
    }

    pub(super) fn list(&mut self, target: Option<ListTarget>) -> Result<(), Problem> {
        const LINES: u32 = 10;
        let (file, first) = match (target, self.listed.take()) {
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
                let here =
                    self.debugger.machine().frame_at(self.selected).and_then(|frame| frame.source);
                let source = here.or_else(|| self.debugger.machine().main_source());
                let source = source.ok_or("no text is known here; `disas` shows instructions")?;
                (source.file, source.line.saturating_sub(LINES / 2))
            }
        };
        let first = first.max(1);
        let source = self.debugger.machine().frame_at(self.selected).and_then(|frame| frame.source);
        let here = source.filter(|source| source.file == file).map(|source| source.line);
        let shown = show::source_lines(&mut self.out, &self.debugger, here, &file, first, LINES)?;
        if shown == 0 {
            return Err(format!("{file} has no line {first}, or cannot be read").into());
        }
        self.listed = Some((file, first + LINES));
        Ok(())
    }

    pub(super) fn display(&mut self, text: String) -> Result<(), Problem> {
        let number = self.displays.last().map_or(1, |(number, _)| number + 1);
        self.displays.push((number, text));
        if self.progress == Progress::Stopped {
            self.show_display(self.displays.len() - 1)?;
        }
        Ok(())
    }

    pub(super) fn undisplay(&mut self, which: Option<usize>) -> Result<(), Problem> {
        let before = self.displays.len();
        self.displays.retain(|(number, _)| which.is_some_and(|which| which != *number));
        match which {
            Some(which) if self.displays.len() == before => {
                Err(format!("there is no display {which}").into())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn show_displays(&mut self) -> Result<(), Problem> {
        (0..self.displays.len()).try_for_each(|index| self.show_display(index))
    }

    fn show_display(&mut self, index: usize) -> Result<(), Problem> {
        let Some((number, text)) = self.displays.get(index) else { return Ok(()) };
        match self.debugger.machine().evaluate(self.frame, text) {
            Ok(value) => writeln!(self.out, "{number}: {text} = {}", value.value)?,
            Err(error) => writeln!(self.out, "{number}: {text}: {error}")?,
        }
        Ok(())
    }

    pub(super) fn set(&mut self, target: &str, value: &str) -> Result<(), Problem> {
        self.needs_frame()?;
        let set = self.debugger.assign(self.frame, target, value);
        let variable = set.map_err(|error| error.to_string())?;
        writeln!(self.out, "{} = {}", variable.name, variable.value)?;
        Ok(())
    }

    pub(super) fn examine(&mut self, text: &str, count: usize) -> Result<(), Problem> {
        const LINE: usize = 16;
        const MAX_BYTES: usize = 1 << 16;
        self.needs_frame()?;
        let value = self.debugger.machine().evaluate_within(self.frame, text, Limits::default());
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

    pub(super) fn show_calls(&mut self) -> Result<(), Problem> {
        self.needs_frame()?;
        let targets = self.debugger.machine().step_in_targets(self.frame);
        if targets.is_empty() {
            writeln!(self.out, "no calls on this line")?;
        }
        for target in targets {
            writeln!(self.out, "{} [{}]", target.label, target.call.position.offset)?;
        }
        Ok(())
    }
}
