//! The command of a device that a frame belongs to, and its place in the source.

use debuginfo::SourcePosition;
use hal::{QueueActivity, Step};
use vm::{FrameIndex, Position};

use crate::machine::Machine;
use crate::target::level::Level;
use crate::target::module::LoadedModule;
use crate::view::frame::SourceLine;

impl Machine {
    /// The command that a frame belongs to.
    pub(crate) fn command(&self, frame: FrameIndex) -> Option<&Step> {
        self.queue_activity(frame).and_then(QueueActivity::step)
    }

    /// The number of the command that a frame belongs to.
    #[must_use]
    pub fn command_number(&self, frame: FrameIndex) -> Option<u64> {
        self.queue_activity(frame).and_then(QueueActivity::number)
    }

    /// How many times the command that a frame belongs to has run, this time included: in a loop,
    /// the instruction that records it comes again and again.
    pub(crate) fn run_of(&self, frame: FrameIndex) -> Option<u64> {
        let recorded_at = self.command(frame)?.recorded_at?;
        let earlier = self.program.host().device().history().runs(recorded_at);
        let earlier = earlier.map_or(0, |runs| runs.count);
        Some(earlier + u64::from(!self.has_just_run(frame)))
    }

    /// Whether the command that a frame belongs to has run, and nothing after it.
    pub(crate) fn has_just_run(&self, frame: FrameIndex) -> bool {
        self.queue_activity(frame).is_some_and(QueueActivity::is_after_step)
    }

    /// The place in the source where a frame's command was recorded.
    pub(crate) fn command_source(&self, frame: FrameIndex) -> Option<SourceLine> {
        let recorded_at = self.command(frame)?.recorded_at?;
        let module = self.program.module(recorded_at.function.module)?;
        if !self.level.is_source() {
            return None;
        }
        let path = module.info.path_at(recorded_at.function.function, recorded_at.offset);
        module.line_of_path(self.level, &path)
    }

    /// Where an instruction came from, of the command that runs if several commands share it.
    pub(crate) fn own_source_line(&self, position: Position) -> Option<SourceLine> {
        match self.own_path(self.level, FrameIndex(0), position) {
            Some((module, path)) => module.line_of_path(self.level, &path),
            None => self.source_line(position),
        }
    }

    /// The places of an instruction of a dispatch as its command has them in the source, with their
    /// module. None: the instruction's own places are right.
    ///
    /// Several commands may share a dispatch; the code of the dispatch has the places of the first
    /// one only.
    pub(crate) fn own_path(
        &self,
        level: Level,
        frame: FrameIndex,
        position: Position,
    ) -> Option<(&LoadedModule, Vec<SourcePosition>)> {
        let nested = self.program.module(position.function.module).filter(|it| it.is_nested)?;
        if !level.is_source() {
            return None;
        }
        let recorded_at = self.command(frame)?.recorded_at?;
        let module = self.program.module(recorded_at.function.module)?;
        let it =
            module.recorded().iter().find(|it| module.position_of_recorded(it) == recorded_at)?;
        let command = module.written_at(*it.path.last()?);
        let export = self.program.export_of(position.function)?;
        let mut calls = module.calls_of(it).filter(|call| call.export == export);
        let shared = self.program.path_at(level, position).last().copied();
        if let Some(call) = calls.next().filter(|first| calls.all(|other| other == *first)) {
            if call.is_first() {
                return None;
            }
            let own = shared.and_then(|shared| call.own(&nested.written_at(shared)));
            let place = own.and_then(|path| module.place_of(path.first()?));
            return Some((module, vec![place.or(it.path.last().copied())?]));
        }
        let interface = module.interfaces.of(export);
        let is_first_user = match interface {
            Some(interface) => interface.work().any(|work| *work == command),
            // All that remains is whether the dispatch has code with the place of the command.
            None => {
                let rows = nested.info.rows(position.function.function).iter();
                let mut places = rows.filter_map(|row| row.position);
                places.any(|at| nested.written_at(at) == command)
            }
        };
        if is_first_user { None } else { Some((module, vec![*it.path.last()?])) }
    }
}
