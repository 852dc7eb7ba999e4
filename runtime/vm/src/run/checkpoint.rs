//! Checkpoints: the state of an invocation at a moment, to which it can return.
//!
//! A checkpoint holds the frames and registers, the globals of all modules, and the contents of
//! what they refer to and the program can change: lists, buffers, objects of native modules as far
//! as these [keep](crate::Object::keep) their state. Objects themselves stay the same ones: what
//! was in them is put back into them. Contents that have not changed since the checkpoint before
//! are shared with it.
//!
//! There are checkpoints where no native function is on the stack, and before the steps of one that
//! can be [kept](crate::Activity::keep), such as the commands of a queue. Those of one call share
//! the state: between steps, nothing changes but the activity and memory of devices. What lies
//! between two checkpoints is reached by running again, as the machine is deterministic. Memory of
//! devices is not here; its owner keeps a log of what was overwritten (`hal`, `journal`).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;

use super::invocation::Invocation;
use super::moment::{Clock, Moment};
use super::native_frame::{Doing, NativeFrame};
use super::reached::reached;
use crate::context::Context;
use crate::limits::{Budget, Meter};
use crate::modules::Globals;
use crate::native::{Activity, Boundary, BoundaryKind, KeptActivity};
use crate::objects::{Access, Buffer, Kept, List, Object, Ref, Restore, Value};
use crate::stack::{FrameState, Stack};

/// Sees a running program at times when a checkpoint can be taken.
pub trait Recorder: Send + fmt::Debug {
    /// No native function is on the stack. Returns after how many [turns](Moment::turns) it wants
    /// to be asked again, at the latest; it is also asked when a native function that runs in steps
    /// has returned.
    fn at_rest(&mut self, context: &Context, invocation: &Invocation) -> Option<u64>;

    /// The native function that is the innermost frame is before one of its steps.
    fn before_step(&mut self, _context: &Context, _invocation: &Invocation) {}
}

/// The state of an invocation, and of everything that it can reach.
pub struct Checkpoint {
    moment: Moment,
    state: Arc<State>,
    native: Option<KeptNative>,
}

/// A native function before one of its steps.
struct KeptNative {
    module: u32,
    function: u32,
    boundary: Boundary,
    activity: KeptActivity,
}

/// Everything but how far a native function has come.
struct State {
    frames: Vec<FrameState>,
    words: Vec<u64>,
    refs: Vec<Ref>,
    globals: Vec<(Arc<[u8]>, Vec<Ref>)>,
    lists: Vec<(Arc<List>, Vec<Option<Value>>)>,
    buffers: Vec<(Arc<Buffer>, Arc<[u8]>)>,
    objects: Vec<(Arc<dyn Object>, Restore)>,
    is_stopped: bool,
}

impl Checkpoint {
    /// The present state. `None` if a native function is on the stack and not before a step in
    /// which it can be kept, nothing has begun, or an object is in a state that it cannot return
    /// to.
    ///
    /// `shares_storage`: bytecode may write the memory of devices directly, so that is kept too.
    #[must_use]
    pub fn take(
        context: &Context,
        invocation: &Invocation,
        before: Option<&Self>,
        shares_storage: bool,
    ) -> Option<Self> {
        let (moment, native) = Self::place(context, invocation)?;
        let before = before.map(|before| &*before.state);
        let state = State::of(context, invocation, before, shares_storage)?;
        Some(Self { moment, state: Arc::new(state), native })
    }

    /// The present state, at a later step of the call in which this checkpoint was taken, if
    /// everything else is as it was. `None`: it may not be.
    #[must_use]
    pub fn of_later_step(&self, context: &Context, invocation: &Invocation) -> Option<Self> {
        let (moment, native) = Self::place(context, invocation)?;
        let stretch = |native: &Option<KeptNative>| Some(native.as_ref()?.activity.stretch);
        let is_same = native.is_some()
            && self.moment.is_in_same_call(&moment)
            && stretch(&self.native) == stretch(&native)
            && self.state.has_globals_of(context);
        is_same.then(|| Self { moment, state: self.state.clone(), native })
    }

    /// Whether it is before a step of a native function.
    #[must_use]
    pub fn is_before_step(&self) -> bool {
        self.native.is_some()
    }

    /// When an invocation can be kept, and the native function in which it is.
    fn place(context: &Context, invocation: &Invocation) -> Option<(Moment, Option<KeptNative>)> {
        let is_plain = invocation.failed_native.is_none()
            && invocation.start.is_none()
            && invocation.end.is_none();
        let moment = invocation.moment(context).filter(|_| is_plain)?;
        let native = match &invocation.natives[..] {
            [] => None,
            [native] if native.depth == invocation.stack.frames.len() => {
                let boundary = native.boundary.clone();
                let boundary = boundary.filter(|it| it.kind == BoundaryKind::BeforeStep)?;
                let activity = native.activity()?.keep()?;
                let NativeFrame { module, function, .. } = *native;
                Some(KeptNative { module, function, boundary, activity })
            }
            _ => return None,
        };
        Some((moment, native))
    }

    /// The moment.
    #[must_use]
    pub fn moment(&self) -> &Moment {
        &self.moment
    }

    /// Whether breakpoints and observers were asked about the next instruction: a run from here
    /// does not ask them again.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.state.is_stopped
    }

    /// About how many bytes it holds that the checkpoint before it does not.
    #[must_use]
    pub fn size(&self, before: Option<&Self>) -> usize {
        let state = match before {
            Some(before) if Arc::ptr_eq(&before.state, &self.state) => 0,
            before => self.state.size(before.map(|before| &*before.state)),
        };
        size_of::<Self>() + self.native.as_ref().map_or(0, |it| it.boundary.name.len()) + state
    }

    /// Hashes the state: functions, offsets, registers, globals, and the contents of what they lead
    /// to. Equal runs of a program have equal hashes at equal moments, in any process.
    pub fn hash_into(&self, context: &Context, hasher: &mut dyn Hasher) {
        self.state.hash_into(context, hasher);
    }

    /// Puts everything back, and returns the invocation as it was. `None`: the context has other
    /// modules now, or a buffer or list cannot take its contents back.
    #[must_use]
    pub fn restore(&self, context: &mut Context) -> Option<Invocation> {
        let mut invocation = self.state.restore(context, self.moment.turns())?;
        let Some(KeptNative { module, function, boundary, activity }) = &self.native else {
            return Some(invocation);
        };
        let depth = invocation.stack.frames.len();
        invocation.stack.floor = depth;
        invocation.natives.push(NativeFrame {
            module: *module,
            function: *function,
            depth,
            doing: Doing::Stepping((activity.again)()),
            results: Vec::new(),
            boundary: Some(boundary.clone()),
            called_at: Some(0),
        });
        invocation.enter_native();
        Some(invocation)
    }
}

impl State {
    /// What it shares with the state before, it has from there.
    fn of(
        context: &Context,
        invocation: &Invocation,
        before: Option<&Self>,
        shares_storage: bool,
    ) -> Option<Self> {
        let Stack { frames, words, refs, .. } = &invocation.stack;
        let word_count = frames.last().map_or(0, |last| last.first_word + last.word_count);
        let activity = invocation.natives.first().and_then(NativeFrame::activity);
        let changes = activity.map(Activity::changes).unwrap_or_default();
        let contents =
            Contents::of(reached(context, &[&refs[..], &changes].concat()), shares_storage)?;
        let known = before.map(Self::known).unwrap_or_default();
        let buffers = contents.buffers.into_iter().map(|buffer| {
            let bytes = buffer.read(0, buffer.len());
            let known = known.get(&Arc::as_ptr(&buffer)).filter(|it| it[..] == bytes[..]);
            let bytes = known.map_or_else(|| bytes.into(), |known| Arc::clone(known));
            (buffer, bytes)
        });
        let globals = context.globals.iter().enumerate().map(|(index, globals)| {
            let known = before.and_then(|before| Some(&before.globals.get(index)?.0));
            let known = known.filter(|known| known[..] == globals.bytes[..]);
            let bytes = known.map_or_else(|| globals.bytes.as_slice().into(), Arc::clone);
            (bytes, globals.refs.clone())
        });
        Some(Self {
            frames: frames.clone(),
            words: words[..word_count as usize].to_vec(),
            refs: refs.clone(),
            globals: globals.collect(),
            lists: contents.lists,
            buffers: buffers.collect(),
            objects: contents.objects,
            is_stopped: invocation.is_stopped,
        })
    }

    fn known(&self) -> HashMap<*const Buffer, &Arc<[u8]>> {
        self.buffers.iter().map(|(buffer, bytes)| (Arc::as_ptr(buffer), bytes)).collect()
    }

    /// Whether the globals are the same as now.
    fn has_globals_of(&self, context: &Context) -> bool {
        let is_same = |(kept, now): (&(Arc<[u8]>, Vec<Ref>), &Globals)| {
            let refs = kept.1.iter().map(Ref::address);
            kept.0[..] == now.bytes[..] && refs.eq(now.refs.iter().map(Ref::address))
        };
        self.globals.len() == context.globals.len()
            && self.globals.iter().zip(&context.globals).all(is_same)
    }

    fn size(&self, before: Option<&Self>) -> usize {
        let known = before.map(Self::known).unwrap_or_default();
        let is_new = |buffer: &Arc<Buffer>, bytes: &Arc<[u8]>| {
            known.get(&Arc::as_ptr(buffer)).is_none_or(|known| !Arc::ptr_eq(known, bytes))
        };
        let buffers = self.buffers.iter().filter(|(buffer, bytes)| is_new(buffer, bytes));
        let globals = self.globals.iter().enumerate().map(|(index, (bytes, refs))| {
            let known = before.and_then(|before| before.globals.get(index));
            let is_known = known.is_some_and(|(known, _)| Arc::ptr_eq(known, bytes));
            refs.len() * size_of::<Ref>() + if is_known { 0 } else { bytes.len() }
        });
        size_of::<Self>()
            + self.frames.len() * size_of::<FrameState>()
            + self.words.len() * size_of::<u64>()
            + self.refs.len() * size_of::<Ref>()
            + globals.sum::<usize>()
            + self.lists.iter().map(|it| it.1.len() * size_of::<Option<Value>>()).sum::<usize>()
            + buffers.map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    fn hash_into(&self, context: &Context, hasher: &mut dyn Hasher) {
        for frame in &self.frames {
            let function = context.functions[frame.slot as usize].id();
            let offset = context.code(frame.slot).offset_at(frame.index);
            let numbers = [function.module.0, function.function.0, offset.0];
            numbers.into_iter().for_each(|number| hasher.write(&number.to_le_bytes()));
        }
        self.words.iter().for_each(|word| hasher.write(&word.to_le_bytes()));
        self.refs.iter().for_each(|reference| hash_kind(reference, hasher));
        for (bytes, refs) in &self.globals {
            hasher.write(bytes);
            refs.iter().for_each(|reference| hash_kind(reference, hasher));
        }
        for element in self.lists.iter().flat_map(|(_, elements)| elements) {
            hash_element(element.as_ref(), hasher);
        }
        for (_, bytes) in &self.buffers {
            hasher.write(&bytes.len().to_le_bytes());
            hasher.write(bytes);
        }
    }

    fn restore(&self, context: &mut Context, turns: u64) -> Option<Invocation> {
        if context.globals.len() < self.globals.len() {
            return None;
        }
        for (globals, (bytes, refs)) in context.globals.iter_mut().zip(&self.globals) {
            if globals.bytes.len() != bytes.len() || globals.refs.len() != refs.len() {
                return None;
            }
            globals.bytes.copy_from_slice(bytes);
            globals.refs.clone_from(refs);
        }
        for (list, elements) in &self.lists {
            list.resize(0).ok()?;
            list.resize(elements.len()).ok()?;
            for (index, element) in elements.iter().enumerate() {
                if let Some(element) = element {
                    list.set(index, element.clone()).ok()?;
                }
            }
        }
        for (buffer, bytes) in &self.buffers {
            buffer.write(0, bytes).ok()?;
        }
        self.objects.iter().for_each(|(_, restore)| restore());
        let meter = Meter::after(turns, Budget::new(&context.limits));
        let mut invocation = Invocation::starting(context, meter, []);
        let stack = &mut invocation.stack;
        for frame in &self.frames {
            stack.push(frame.slot, frame.word_count, frame.ref_count, &context.limits).ok()?;
            stack.set_index(frame.index as usize);
        }
        stack.words.get_mut(..self.words.len())?.copy_from_slice(&self.words);
        stack.refs.clone_from(&self.refs);
        invocation.clock = Clock::default();
        invocation.is_stopped = self.is_stopped;
        Some(invocation)
    }
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint").field("moment", &self.moment).finish_non_exhaustive()
    }
}

/// Hashes what kind of object a ref names.
fn hash_kind(reference: &Ref, hasher: &mut dyn Hasher) {
    let kind = match reference {
        Ref::Null => "",
        Ref::Buffer(_) => "buffer",
        Ref::List(_) => "list",
        Ref::Object(object) => object.type_name(),
    };
    hasher.write(kind.as_bytes());
    hasher.write(&[0]);
}

fn hash_element(element: Option<&Value>, hasher: &mut dyn Hasher) {
    match element {
        None => hasher.write(&[0]),
        Some(Value::I32(value)) => hasher.write(&value.to_le_bytes()),
        Some(Value::I64(value)) => hasher.write(&value.to_le_bytes()),
        Some(Value::F32(value)) => hasher.write(&value.to_bits().to_le_bytes()),
        Some(Value::F64(value)) => hasher.write(&value.to_bits().to_le_bytes()),
        Some(Value::Ref(reference)) => hash_kind(reference, hasher),
    }
}

/// The contents of what a program leads to.
#[derive(Default)]
struct Contents {
    lists: Vec<(Arc<List>, Vec<Option<Value>>)>,
    buffers: Vec<Arc<Buffer>>,
    objects: Vec<(Arc<dyn Object>, Restore)>,
}

impl Contents {
    /// `None`: something cannot be kept.
    fn of(all: Vec<Ref>, shares_storage: bool) -> Option<Self> {
        let mut contents = Self::default();
        let mut seen = HashSet::new();
        let mut keep = |buffer: Arc<Buffer>, buffers: &mut Vec<Arc<Buffer>>| {
            if seen.insert(Arc::as_ptr(&buffer)) && buffer.access() == Access::ReadWrite {
                buffers.push(buffer);
            }
        };
        for reference in all {
            match reference {
                Ref::Null => {}
                Ref::Buffer(buffer) => keep(buffer, &mut contents.buffers),
                Ref::List(list) => {
                    let elements = (0..list.len()).map(|index| list.get(index)).collect();
                    contents.lists.push((list, elements));
                }
                Ref::Object(object) => {
                    match object.keep() {
                        Kept::Constant => {}
                        Kept::Busy => return None,
                        Kept::State(restore) => contents.objects.push((object.clone(), restore)),
                    }
                    if let Some(storage) = object.storage().filter(|_| shares_storage) {
                        keep(storage, &mut contents.buffers);
                    }
                }
            }
        }
        Some(contents)
    }
}
