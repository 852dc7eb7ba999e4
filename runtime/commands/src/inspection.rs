//! Commands that look at a stopped program, or change a value in it.

use std::fmt::Write;

use debug::{Frame, Level, Limits, ScopeKind, Variable};

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
        let machine = self.debugger.machine();
        let named = |file: Option<String>| file.map_or_else(|| self.current_file(), Ok);
        let before = |line: u32| line.saturating_sub(LINES / 2);
        let (file, first, count) = match (target, self.session.listed.clone()) {
            (Some(ListTarget::Line(file, line)), _) => (named(file)?, before(line), LINES),
            (Some(ListTarget::Range(file, first, last)), _) => {
                (named(file)?, first, last.saturating_sub(first).saturating_add(1))
            }
            (Some(ListTarget::Function(name)), _) => {
                let source = machine.function_source(&name);
                let source = source.ok_or_else(|| format!("no source is known for {name:?}"))?;
                (source.file, before(source.line), LINES)
            }
            (Some(ListTarget::Before), Some((file, first, _))) => {
                if first <= 1 {
                    return Err(format!("line 1 of {file} was listed already").into());
                }
                let count = LINES.min(first - 1);
                (file, first - count, count)
            }
            (None, Some((file, _, next))) => (file, next, LINES),
            (None | Some(ListTarget::Before), None) => {
                let here = machine.frame_at(self.session.selected).and_then(|frame| frame.source);
                let source = here.or_else(|| machine.main_source());
                let source = source.ok_or("no text is known here; `disas` shows instructions")?;
                (source.file, before(source.line), LINES)
            }
        };
        let first = first.max(1);
        let source = machine.frame_at(self.session.selected).and_then(|frame| frame.source);
        let here = source.filter(|source| source.file == file).map(|source| source.line);
        let shown = show::source_lines(&mut self.out, self.debugger, here, &file, first, count)?;
        if shown == 0 {
            return Err(format!("{file} has no line {first}, or cannot be read").into());
        }
        self.session.listed = Some((file, first, first.saturating_add(count)));
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
        if let Some(text) = self.debugger.take_new_line() {
            writeln!(self.out, "{text}")?;
        }
        Ok(())
    }

    pub(crate) fn print(&mut self, text: &str, format: Option<char>) -> Result<(), Problem> {
        let written = match format {
            Some('t') => format!("{text},b"),
            Some(letter) => format!("{text},{letter}"),
            None => text.to_owned(),
        };
        self.needs_frame()?;
        let frame = self.session.frame;
        let shown = self.debugger.print_in_console(frame, &written, Limits::default());
        let (number, value) = shown.map_err(|error| error.with_caret(&written))?;
        let variable = Variable { name: text.to_owned(), ..value };
        self.out.put("value", show::variable_data(&variable));
        if let Some(number) = number {
            self.out.put("number", number);
            write!(self.out, "${number} = ")?;
        }
        show::variable(&mut self.out, self.debugger, &variable)?;
        Ok(())
    }

    pub(crate) fn show_type(&mut self, text: &str) -> Result<(), Problem> {
        let value = self.evaluated(text)?;
        self.out.put("type", value.type_name.as_str());
        writeln!(self.out, "{}", value.type_name)?;
        Ok(())
    }

    /// What a tensor should be, with what it is.
    pub(crate) fn show_expected(&mut self, text: &str) -> Result<(), Problem> {
        let value = self.evaluated(text)?;
        let tensor = value.children.as_ref().and_then(debug::Children::tensor);
        let tensor = tensor.ok_or_else(|| format!("{text} is no tensor: {}", value.value))?;
        let expected = self.debugger.evaluated(&tensor)?.expected;
        self.out.put("expected", expected.short());
        self.out.put("left", tensor.short());
        self.write_expected(&tensor, &expected)
    }

    pub(crate) fn backtrace(&mut self, most: Option<i64>) -> Result<(), Problem> {
        let frames = self.debugger.machine().frames();
        let count = i64::try_from(frames.len()).unwrap_or(i64::MAX);
        let range = match most.unwrap_or(count) {
            most if most < 0 => count.saturating_add(most).max(0)..count,
            most => 0..most.min(count),
        };
        let range =
            usize::try_from(range.start).unwrap_or(0)..usize::try_from(range.end).unwrap_or(0);
        show::backtrace(&mut self.out, &frames, range)?;
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
