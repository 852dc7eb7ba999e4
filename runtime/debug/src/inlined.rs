//! Whose values are whose, where calls were inlined.
//!
//! The machine has one frame, the user several: the function, a call in it, a call in that. A value belongs
//! to the frame whose code has made it, which its path tells (the places of the calls around it, from the
//! function inwards). What the text of calls and callees adds: the arguments of a call are values of the
//! caller, and what a call has returned is one of the callee's, which its caller knows by the name of the
//! call's result.

use debuginfo::{LocalValue, SourcePosition};
use vm::{FrameIndex, Position};

use crate::debugger::Debugger;
use crate::level::Level;
use crate::program::{LoadedModule, Program};

/// A frame as the user sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameId {
    /// The frame of the machine.
    pub index: FrameIndex,
    /// How many inlined calls lead to it from there; not said where the innermost is meant, or none is
    /// told from the others.
    pub calls: Option<usize>,
}

impl From<FrameIndex> for FrameId {
    fn from(index: FrameIndex) -> Self {
        Self { index, calls: None }
    }
}

impl Debugger {
    /// The innermost frame that is shown: before inlined calls that the program has not gone into yet.
    #[must_use]
    pub fn innermost_frame(&self) -> FrameId {
        let path = self.position().map_or_else(Vec::new, |at| self.program.path_of(at));
        let calls = path.len().checked_sub(1 + self.hidden_calls);
        FrameId { index: FrameIndex(0), calls: calls.filter(|_| path.len() > 1) }
    }
}

/// A value, as one frame knows it.
#[derive(Clone, Debug)]
pub(crate) struct Known<'l> {
    pub(crate) name: String,
    pub(crate) value: &'l LocalValue,
    pub(crate) is_argument: bool,
}

impl Program {
    /// The values that the frame knows which is so many inlined calls inside of the instruction's function.
    /// `locals` are all that are alive there.
    pub(crate) fn known_values<'l>(
        &self,
        level: Level,
        position: Position,
        locals: &'l [LocalValue],
        calls: Option<usize>,
    ) -> Vec<Known<'l>> {
        let Some(module) = self.module(position.function.module) else { return Vec::new() };
        let path = self.path_at(level, position);
        let calls = calls.unwrap_or(path.len().saturating_sub(1));
        let is_plain = path.len() <= 1 && locals.iter().all(|local| local.path.len() <= 1);
        if is_plain || level != Level::Source || calls >= path.len().max(1) {
            let known = |value: &'l LocalValue| Known {
                name: level.name_of(value).to_owned(),
                is_argument: value.argument.is_some(),
                value,
            };
            return locals.iter().map(known).collect();
        }
        let frame = Frame { module, path: &path, calls };
        let mut known = frame.arguments(locals);
        known.extend(locals.iter().filter_map(|local| frame.known(local)));
        known
    }
}

impl Program {
    /// The value that a name means to a frame: the frame's own first, then any that is alive.
    pub(crate) fn local_named(
        &self,
        level: Level,
        position: Position,
        calls: Option<usize>,
        name: &str,
    ) -> Option<LocalValue> {
        let locals = self.module(position.function.module)?.locals(position);
        let known = self.known_values(level, position, &locals, calls);
        named(level, &known, &locals, name).cloned()
    }
}

/// The value that a name means, without its `%`: one that the frame knows by it, or any that is alive.
fn named<'l>(
    level: Level,
    known: &[Known<'l>],
    locals: &'l [LocalValue],
    name: &str,
) -> Option<&'l LocalValue> {
    let is_it = |known: &&Known<'_>| known.name.trim_start_matches('%') == name;
    let own = known.iter().rev().find(is_it).map(|known| known.value);
    own.or_else(|| level.named(locals, name))
}

/// An expression that means a value which a frame knows, and no other, if it has one: its name in the VM
/// program rather than that in the source, as it is known at every level.
pub(crate) fn expression_of(
    level: Level,
    known: &[Known<'_>],
    locals: &[LocalValue],
    one: &Known<'_>,
) -> Option<String> {
    let bare = |name: &str| name.trim_start_matches('%').to_owned();
    let mut names = [&*one.value.name, &*one.name].into_iter().map(bare);
    let name = names.find(|name| {
        named(level, known, locals, name).is_some_and(|found| std::ptr::eq(found, one.value))
    })?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
    Some(if name.chars().all(is_plain) { format!("%{name}") } else { format!("%\"{name}\"") })
}

/// A frame with where the innermost one of the machine's frame stands.
#[derive(Clone, Copy)]
struct Frame<'p> {
    module: &'p LoadedModule,
    path: &'p [SourcePosition],
    calls: usize,
}

impl Frame<'_> {
    /// A value, if the frame knows it.
    fn known<'l>(&self, local: &'l LocalValue) -> Option<Known<'l>> {
        let name = self.name_of(local)?;
        let is_argument = local.argument.is_some();
        Some(Known { name, is_argument, value: local })
    }

    fn name_of(&self, local: &LocalValue) -> Option<String> {
        let own = || Level::Source.name_of(local).to_owned();
        let Some(depth) = local.path.len().checked_sub(1).filter(|_| local.argument.is_none())
        else {
            // Nobody knows where it was made: the function itself shows it.
            return (self.calls == 0).then(own);
        };
        let is_around = depth >= self.calls && local.path[..self.calls] == self.path[..self.calls];
        match is_around {
            true if depth == self.calls => Some(own()),
            true => self.returned(local, depth),
            false => None,
        }
    }

    /// The name of a value of a call inside of the frame: that of the call's result, if the call has returned
    /// it.
    fn returned(&self, local: &LocalValue, depth: usize) -> Option<String> {
        let is_under_way = self.path.len() > self.calls + 1
            && self.path.get(..=self.calls) == local.path.get(..=self.calls);
        let mut name = local.source_name.clone().filter(|_| !is_under_way)?;
        for level in (self.calls + 1..=depth).rev() {
            let (inside, call) = (local.path[level], local.path[level - 1]);
            let returned = self.module.info.source(inside.file)?.returned_around(inside.line);
            let index = returned.iter().position(|it| *it == name)?;
            let results = self.module.info.source(call.file)?;
            let results = results.result_names(call.line, call.column);
            name = results.get(index).filter(|_| results.len() == returned.len())?.clone();
        }
        Some(name)
    }

    /// What a call was made with: values of the frame around it, by the callee's names.
    fn arguments<'l>(&self, locals: &'l [LocalValue]) -> Vec<Known<'l>> {
        let Some(around) = self.calls.checked_sub(1) else { return Vec::new() };
        let (call, inside) = (self.path[around], self.path[self.calls]);
        let source = |place: SourcePosition| self.module.info.source(place.file);
        let operands = source(call).map(|it| it.call_operands(call.line, call.column));
        let names = source(inside).map(|it| it.arguments_around(inside.line));
        let (Some(operands), Some(names)) = (operands, names) else { return Vec::new() };
        if operands.len() != names.len() {
            return Vec::new();
        }
        let around = Self { calls: around, ..*self };
        let outer = around.arguments(locals);
        let find = |operand: &str| {
            let own = locals.iter().rev().filter_map(|local| around.known(local));
            let mut all = own.chain(outer.iter().cloned());
            all.find(|known| known.name == operand)
        };
        let arguments = operands.iter().zip(names).filter_map(|(operand, name)| {
            Some(Known { name, is_argument: true, ..find(operand)? })
        });
        arguments.collect()
    }
}
