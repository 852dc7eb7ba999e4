//! Commands of devices, and the source lines that they came from.
//!
//! All operations that compute the same share one dispatch, so the code of a dispatch says little
//! about the operation for which it runs. The instruction that recorded the command does: there is
//! one per command, with the place of the operation. So a line stands for the instructions that
//! record its commands, and a command has the line of its recording instruction. The compiler's
//! account of the calls ([`debuginfo::DispatchCall`]), if there is one, maps each operation inside
//! a dispatch to the operation of the call.

use std::collections::{BTreeMap, BTreeSet};

use debuginfo::{
    CallChain, DispatchCall, FileId, NamedPosition, Recording, SourcePosition, SourceTensor,
};
use hal::Step;
use vm::{FunctionId, Position};
use vmfb::FunctionOrdinal;

use super::module::{LoadedModule, Recorded};
use super::program::Program;

/// The commands of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CommandPlace {
    /// The instruction that records them; not known without debug information.
    recorded_at: Option<Position>,
    /// The exports that they dispatch, if the instruction records other commands, too.
    exports: Vec<String>,
}

/// What a line is to devices.
#[derive(Default, Debug)]
pub(crate) struct DeviceLine {
    pub(crate) commands: Vec<CommandPlace>,
    /// The line's bytecode in dispatches. If other lines share a place, it comes with the
    /// instructions that record this line's commands.
    pub(crate) inside: BTreeMap<Position, Option<BTreeSet<Position>>>,
    /// The dispatches without bytecode of the line, by name.
    pub(crate) outside: BTreeSet<String>,
    /// Whether the line has only calls that lead to dispatches.
    pub(crate) is_call: bool,
}

impl CommandPlace {
    /// All commands that an instruction records.
    pub(crate) fn recorded(at: Position) -> Self {
        Self { recorded_at: Some(at), exports: Vec::new() }
    }

    /// Whether a command is one of them.
    pub(crate) fn fits(&self, command: &Step) -> bool {
        let is_there = match (self.recorded_at, command.recorded_at) {
            (Some(wanted), Some(found)) => wanted == found,
            _ => true,
        };
        is_there && (self.exports.is_empty() || self.exports.contains(&command.name))
    }

    /// The instruction that records them.
    pub(crate) fn recorded_at(&self) -> Option<Position> {
        self.recorded_at
    }
}

impl LoadedModule {
    /// The instructions that record commands.
    pub(crate) fn recorded(&self) -> &[Recorded] {
        self.recorded.get_or_init(|| {
            let mut by_path: BTreeMap<Vec<(&str, u32, u32)>, Vec<usize>> = BTreeMap::new();
            for (index, call) in self.interfaces.calls().iter().enumerate() {
                by_path.entry(keys(&call.path)).or_default().push(index);
            }
            let mut exports: BTreeMap<FunctionOrdinal, BTreeMap<_, String>> = BTreeMap::new();
            let recorded = self.info.recordings().map(|recording| {
                let function = recording.function;
                let export = recording.is_dispatch.then(|| {
                    let exports = exports.entry(function);
                    exports
                        .or_insert_with(|| debuginfo::recorded_exports(&self.module, function))
                        .remove(&recording.offset)
                });
                let export = export.flatten();
                let written = self.written(&recording.chain);
                let calls = by_path.get(&keys(&written)).filter(|_| recording.is_dispatch);
                let calls = calls.into_iter().flatten().copied().filter(|index| {
                    let call = self.interfaces.calls().get(*index);
                    export.is_none() || call.map(|it| &it.export) == export.as_ref()
                });
                let calls = calls.collect();
                let path = self.info.path_at(function, recording.offset);
                Recorded { recording, path, calls, export }
            });
            recorded.collect()
        })
    }

    /// Places of this module with the names of their files.
    pub(crate) fn written(&self, chain: &[SourcePosition]) -> CallChain {
        chain.iter().map(|at| self.written_at(*at)).collect()
    }

    pub(crate) fn written_at(&self, at: SourcePosition) -> NamedPosition {
        let file = self.info.locations().file(at.file).to_owned();
        NamedPosition { file, line: at.line, column: at.column }
    }

    /// A place by the name of its file, if the module has that file.
    pub(crate) fn place_of(&self, at: &NamedPosition) -> Option<SourcePosition> {
        let files = self.info.locations().files();
        let index = files.iter().position(|name| **name == *at.file)?;
        let file = FileId(u32::try_from(index).ok()?);
        Some(SourcePosition { file, line: at.line, column: at.column })
    }

    /// The names of a tensor in the framework's layers.
    pub(crate) fn names_in_layers(&self, tensor: &SourceTensor) -> &[String] {
        let at = self.place_of(&tensor.at);
        let known = at.map(|at| self.info.names_in_layers(at.file, at.line, &tensor.name));
        known.unwrap_or_default()
    }

    pub(crate) fn calls_of<'m>(
        &'m self,
        recorded: &'m Recorded,
    ) -> impl Iterator<Item = &'m DispatchCall> {
        recorded.calls.iter().filter_map(|index| self.interfaces.calls().get(*index))
    }

    pub(crate) fn position_of_recorded(&self, recorded: &Recorded) -> Position {
        let Recording { function, offset, .. } = recorded.recording;
        Position { function: FunctionId { module: self.index, function }, offset }
    }
}

fn keys(path: &CallChain) -> Vec<(&str, u32, u32)> {
    path.iter().map(|at| (at.file.as_str(), at.line, at.column)).collect()
}

/// The commands of a line while they are gathered.
#[derive(Default)]
struct Gathered<'p> {
    dispatches: Vec<Found<'p>>,
    transfers: Vec<Found<'p>>,
    /// By the path to the call that is on the line.
    around: BTreeMap<Vec<SourcePosition>, Found<'p>>,
}

struct Found<'p> {
    place: CommandPlace,
    calls: Vec<&'p DispatchCall>,
    /// The names of its dispatches, for messages.
    names: Vec<String>,
}

impl Program {
    /// What a line is to devices.
    pub(crate) fn device_line(&self, file: &str, line: u32) -> DeviceLine {
        let mut gathered = Gathered::default();
        for module in self.modules.iter().filter(|module| !module.is_nested) {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                self.gather(module, id, line, &mut gathered);
            }
        }
        let Gathered { dispatches, transfers, around } = gathered;
        let is_call = dispatches.is_empty() && transfers.is_empty();
        let found = match (dispatches.is_empty(), transfers.is_empty()) {
            (false, _) => dispatches,
            (true, false) => transfers,
            (true, true) => around.into_values().collect(),
        };
        let mut here =
            DeviceLine { is_call: is_call && !found.is_empty(), ..DeviceLine::default() };
        if !here.is_call {
            self.look_inside(file, line, &found, &mut here.inside);
        }
        for Found { place, names, .. } in found {
            // A twin runs only where the user steps into it.
            let is_always =
                |at: &Position| self.module(at.function.module).is_some_and(|it| !it.is_twin);
            let is_inside = |name: &String| {
                let mut inside = here.inside.keys().filter(|at| is_always(at));
                inside.any(|at| self.export_of(at.function) == Some(name.as_str()))
            };
            here.outside.extend(names.into_iter().filter(|name| !is_inside(name)));
            here.commands.push(place);
        }
        here
    }

    fn gather<'p>(
        &'p self,
        module: &'p LoadedModule,
        file: FileId,
        line: u32,
        gathered: &mut Gathered<'p>,
    ) {
        let name = module.info.locations().file(file);
        let is_here = |at: &SourcePosition| at.file == file && at.line == line;
        let on_line: Vec<&str> = module.interfaces.on_line(name, line).collect();
        let recorded = module.recorded();
        if recorded.iter().all(|it| it.recording.chain.is_empty()) && !on_line.is_empty() {
            // Nothing distinguishes the recording instructions.
            let names: Vec<String> = on_line.iter().map(|name| (*name).to_owned()).collect();
            let place = CommandPlace { recorded_at: None, exports: names.clone() };
            gathered.dispatches.push(Found { place, calls: Vec::new(), names });
            return;
        }
        for it in recorded {
            let recorded_at = Some(module.position_of_recorded(it));
            let innermost = it.path.len().saturating_sub(1);
            let is_own =
                it.path.last().is_some_and(is_here) || it.recording.others.iter().any(is_here);
            let all: Vec<&DispatchCall> = module.calls_of(it).collect();
            let calls: Vec<&DispatchCall> =
                all.iter().copied().filter(|call| call.is_on_line(name, line)).collect();
            let exports = |calls: &[&DispatchCall]| -> Vec<String> {
                calls
                    .iter()
                    .map(|call| call.export.clone())
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect()
            };
            if !calls.is_empty() {
                let (place, names) =
                    (CommandPlace { recorded_at, exports: exports(&calls) }, exports(&calls));
                gathered.dispatches.push(Found { place, calls, names });
                continue;
            }
            // A dispatch without an account of its calls has its own place, and for its first user
            // the place of the dispatch.
            let used: Vec<String> = match it.recording.chain.first() {
                Some(at) if all.is_empty() && it.recording.is_dispatch => {
                    let at = module.written_at(*at);
                    let is_user = |name: &&&str| {
                        module
                            .interfaces
                            .of(name)
                            .is_some_and(|it| it.work().any(|work| *work == at))
                    };
                    on_line.iter().filter(is_user).map(|name| (*name).to_owned()).collect()
                }
                _ => Vec::new(),
            };
            let found = |exports: Vec<String>, names: Vec<String>| Found {
                place: CommandPlace { recorded_at, exports },
                calls: Vec::new(),
                names,
            };
            if all.is_empty() && is_own {
                let found = found(Vec::new(), used);
                let list = if it.recording.is_dispatch {
                    &mut gathered.dispatches
                } else {
                    &mut gathered.transfers
                };
                list.push(found);
            } else if !used.is_empty() {
                gathered.dispatches.push(found(used.clone(), used));
            } else if let Some(level) = it.path[..innermost].iter().position(is_here) {
                let key = it.path[..=level].to_vec();
                let names = exports(&all);
                gathered.around.entry(key).or_insert_with(|| found(Vec::new(), names));
            }
        }
    }

    /// Finds the bytecode of a line in dispatches.
    fn look_inside(
        &self,
        file: &str,
        line: u32,
        found: &[Found<'_>],
        inside: &mut BTreeMap<Position, Option<BTreeSet<Position>>>,
    ) {
        let accounted: BTreeSet<&str> = self
            .modules
            .iter()
            .flat_map(|module| module.interfaces.calls())
            .map(|call| call.export.as_str())
            .collect();
        for module in self.modules.iter().filter(|module| module.is_nested) {
            for Found { place, calls, .. } in found {
                for (at, call) in calls.iter().flat_map(|call| {
                    call.shared_on_line(file_of(call, line, file), line).map(move |at| (at, call))
                }) {
                    let Some(shared) = module.place_of(at) else { continue };
                    let places = module.info.places_on(shared.file, shared.line).into_iter();
                    let same = places.filter(|it| it.position.column == shared.column);
                    for it in same {
                        let function = FunctionId { module: module.index, function: it.function };
                        if self.export_of(function) == Some(call.export.as_str()) {
                            let position = Position { function, offset: it.offset };
                            let users =
                                inside.entry(position).or_insert_with(|| Some(BTreeSet::new()));
                            if let (Some(users), Some(at)) = (users, place.recorded_at) {
                                users.insert(at);
                            }
                        }
                    }
                }
            }
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                for it in module.info.places_on(id, line) {
                    let function = FunctionId { module: module.index, function: it.function };
                    let export = self.export_of(function);
                    if module.info.is_listing(id) {
                        inside.insert(Position { function, offset: it.offset }, None);
                        continue;
                    }
                    if export.is_some_and(|export| accounted.contains(export)) {
                        continue;
                    }
                    let users = export.map(|export| self.users_of(export)).unwrap_or_default();
                    let position = Position { function, offset: it.offset };
                    inside.insert(position, Some(users).filter(|users| !users.is_empty()));
                }
            }
        }
    }

    /// The instructions that record a dispatch for the operation that it was first made for, as far
    /// as its source says.
    fn users_of(&self, export: &str) -> BTreeSet<Position> {
        let mut users = BTreeSet::new();
        for module in &self.modules {
            let Some(interface) = module.interfaces.of(export) else { continue };
            let recorded = module.recorded().iter().filter(|it| it.recording.is_dispatch);
            let is_user = |it: &&Recorded| {
                it.recording.chain.first().is_some_and(|at| {
                    let at = module.written_at(*at);
                    interface.work().any(|work| *work == at)
                })
            };
            users.extend(recorded.filter(is_user).map(|it| module.position_of_recorded(it)));
        }
        users
    }

    /// The export of a function in a module for a device.
    pub(crate) fn export_of(&self, function: FunctionId) -> Option<&str> {
        let module = self.module(function.module)?;
        let mut exports = module.module.exports().iter();
        exports.find(|it| it.function == function.function).map(|it| it.name.as_str())
    }

    /// The lines of a file, in a range, that have commands.
    pub(crate) fn lines_of_commands(
        &self,
        file: &str,
        lines: &std::ops::RangeInclusive<u32>,
    ) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for module in self.modules.iter().filter(|module| !module.is_nested) {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                let name = module.info.locations().file(id);
                // A line of Python that calls a function stands for what that computes.
                let shown = if debuginfo::is_python(name) { usize::MAX } else { 1 };
                for it in module.recorded() {
                    let own = it.path.iter().rev().take(shown).chain(&it.recording.others);
                    found.extend(own.filter(|at| at.file == id).map(|at| at.line));
                    let work = module.calls_of(it).flat_map(DispatchCall::work);
                    let here = work.filter_map(|path| path.first()).filter(|at| at.file == name);
                    found.extend(here.map(|at| at.line));
                }
            }
        }
        found.retain(|line| lines.contains(line));
        found
    }
}

/// The account's name for a file that the user names differently.
fn file_of<'f>(call: &'f DispatchCall, line: u32, file: &'f str) -> &'f str {
    let mut work = call.work().filter_map(|path| path.first());
    work.find(|at| at.line == line).map_or(file, |at| at.file.as_str())
}
