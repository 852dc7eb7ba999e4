//! The objects of the program that something outside has seen. A function may keep what it was
//! given, and write into it in a later call; so all of it that is alive is looked at around each
//! call.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Weak};

use vm::{Access, Kept, List, Object, Ref, Value};

use super::plain::{Change, Place, Plain, Write};
use crate::memory::{Allocation, Buffer, BufferView};

/// Lists that are nested deeper are not followed.
pub(super) const DEEPEST: usize = 64;

/// The objects that something outside has seen, in that order.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<SeenObject>);

#[derive(Debug)]
struct SeenObject {
    place: Place,
    object: WeakRef,
    memory: Option<WeakMemory>,
    /// Whether the log keeps it alive.
    is_kept: bool,
}

/// Whether something was seen before.
pub(super) enum Known<T> {
    /// It was not.
    Not,
    /// It was, and will be there whenever the call is given again.
    There(T),
    /// It was, and may be gone then.
    Perhaps,
}

impl<T> Known<T> {
    /// The first one of those that will be there; some may not be.
    fn of(mut found: impl Iterator<Item = (T, bool)>) -> Self {
        let mut known = Self::Not;
        let there = found.find(|(_, is_there)| {
            known = Self::Perhaps;
            *is_there
        });
        there.map_or(known, |(place, _)| Self::There(place))
    }
}

#[derive(Clone, Debug)]
enum WeakRef {
    Buffer(Weak<vm::Buffer>),
    List(Weak<List>),
    Object(Weak<dyn Object>),
}

/// A span of device memory. It lives longer than the objects that stand for it.
#[derive(Clone, Debug)]
struct WeakMemory {
    allocation: Weak<Allocation>,
    offset: usize,
    length: usize,
}

impl SeenObject {
    /// Whether it is there whenever a call is given again: as an argument of that call, or because
    /// the log keeps it.
    fn is_there_in(&self, call: u64) -> bool {
        self.is_kept || self.place.call == call
    }
}

impl WeakRef {
    fn of(reference: &Ref) -> Option<Self> {
        Some(match reference {
            Ref::Null => return None,
            Ref::Buffer(buffer) => Self::Buffer(Arc::downgrade(buffer)),
            Ref::List(list) => Self::List(Arc::downgrade(list)),
            Ref::Object(object) => Self::Object(Arc::downgrade(object)),
        })
    }

    fn upgrade(&self) -> Option<Ref> {
        match self {
            Self::Buffer(buffer) => buffer.upgrade().map(Ref::Buffer),
            Self::List(list) => list.upgrade().map(Ref::List),
            Self::Object(object) => object.upgrade().map(Ref::Object),
        }
    }
}

impl WeakMemory {
    fn upgrade(&self) -> Option<Buffer> {
        Buffer::of(self.allocation.upgrade()?, self.offset, self.length)
    }
}

/// The device memory of an object, if it has some.
pub(super) fn memory_of(reference: &Ref) -> Option<&Buffer> {
    let view = reference.downcast::<BufferView>().map(BufferView::buffer);
    view.or_else(|| reference.downcast::<Buffer>())
}

/// Something outside has the device memory of values, and of what is in lists among them.
pub(super) fn share_memory(values: &[Value]) {
    let mut lists = HashSet::new();
    let mut left: Vec<Value> = values.to_vec();
    while let Some(value) = left.pop() {
        let Value::Ref(reference) = value else { continue };
        if let Some(buffer) = memory_of(&reference) {
            buffer.allocation().share();
        }
        if let Ref::List(list) = &reference
            && lists.insert(reference.address())
        {
            left.extend(elements_of(list).into_iter().flatten());
        }
    }
}

/// The elements of a list.
pub(super) fn elements_of(list: &List) -> Vec<Option<Value>> {
    (0..list.len()).map(|index| list.get(index)).collect()
}

impl Seen {
    /// Adds the arguments of a call and what they lead to.
    pub(super) fn add_arguments(&mut self, call: u64, values: &[Value]) {
        for (index, value) in values.iter().enumerate() {
            if let Value::Ref(reference) = value {
                let path = vec![index as u32];
                self.add_object(&Place { call, is_result: false, path }, reference);
            }
        }
    }

    /// Adds an object, without what it leads to.
    pub(super) fn note(&mut self, place: &Place, reference: &Ref, is_kept: bool) {
        let Some(object) = WeakRef::of(reference) else { return };
        let memory = memory_of(reference).map(|buffer| WeakMemory {
            allocation: Arc::downgrade(buffer.allocation()),
            offset: buffer.offset(),
            length: buffer.len(),
        });
        self.0.push(SeenObject { place: place.clone(), object, memory, is_kept });
    }

    fn add_object(&mut self, place: &Place, reference: &Ref) {
        self.note(place, reference, false);
        let Ref::List(list) = reference else { return };
        if place.path.len() > DEEPEST {
            return;
        }
        for (index, element) in elements_of(list).iter().enumerate() {
            if let Some(Value::Ref(element)) = element {
                let mut place = place.clone();
                place.path.push(index as u32);
                self.add_object(&place, element);
            }
        }
    }

    /// Forgets what is gone.
    pub(super) fn clean(&mut self) {
        self.0.retain(|it| {
            it.object.upgrade().is_some()
                || it.memory.as_ref().is_some_and(|it| it.allocation.strong_count() > 0)
        });
    }

    /// Forgets what was seen by a call and by those after it.
    pub(super) fn forget_from(&mut self, call: u64) {
        self.0.retain(|it| it.place.call < call);
    }

    /// The log does not keep anything alive any more.
    pub(super) fn let_go(&mut self) {
        self.0.iter_mut().for_each(|it| it.is_kept = false);
    }

    /// Where an object was seen.
    pub(super) fn place_of(&self, reference: &Ref, call: u64) -> Known<Place> {
        let is_it = |it: &&SeenObject| it.object.upgrade().is_some_and(|it| it.is_same(reference));
        let found = self.0.iter().filter(is_it);
        Known::of(found.map(|it| (it.place.clone(), it.is_there_in(call))))
    }

    /// An object by where it was seen.
    pub(super) fn object_at(&self, place: &Place) -> Option<Ref> {
        self.0.iter().find(|it| it.place == *place)?.object.upgrade()
    }

    /// The device memory of an object by where it was seen.
    pub(super) fn memory_at(&self, place: &Place) -> Option<Buffer> {
        self.0.iter().find(|it| it.place == *place)?.memory.as_ref()?.upgrade()
    }

    /// An object in whose memory a buffer lies, and where it lies there. Foreign memory has a new
    /// owner each time that it comes from outside, so addresses count.
    pub(super) fn around(&self, buffer: &Buffer, call: u64) -> Known<(Place, usize)> {
        let wanted = addresses(buffer);
        Known::of(self.0.iter().filter_map(|it| {
            let memory = it.memory.as_ref()?.upgrade()?;
            let (around, is_there) = (addresses(&memory), it.is_there_in(call));
            let is_in = around.start <= wanted.start && wanted.end <= around.end;
            // Foreign memory is where it is, whatever object stands for it.
            let counts = is_there || !memory.allocation().storage().is_foreign();
            (is_in && counts && !wanted.is_empty())
                .then(|| ((it.place.clone(), wanted.start - around.start), is_there))
        }))
    }

    /// What is in all of it before a call.
    pub(super) fn look(&self) -> Before {
        let mut before = Before::default();
        let mut known = HashSet::new();
        for SeenObject { place, object, memory, .. } in &self.0 {
            if let Some(memory) = memory {
                let name = (memory.allocation.as_ptr() as usize, memory.offset, memory.length);
                if let Some(buffer) = memory.upgrade().filter(|_| known.insert(name))
                    && buffer.storage().access() == Access::ReadWrite
                {
                    let bytes = buffer.read(0, memory.length);
                    before.memory.push((place.clone(), memory.clone(), bytes));
                }
                continue;
            }
            let Some(reference) = object.upgrade() else { continue };
            if !known.insert((reference.address(), 0, 0)) {
                continue;
            }
            match reference {
                Ref::Buffer(buffer) if buffer.access() == Access::ReadWrite => {
                    let bytes = buffer.read(0, buffer.len());
                    before.buffers.push((place.clone(), Arc::downgrade(&buffer), bytes));
                }
                Ref::List(list) => {
                    let elements = elements_of(&list);
                    before.lists.push((place.clone(), Arc::downgrade(&list), elements));
                }
                Ref::Object(object) if !matches!(object.keep(), Kept::Constant) => {
                    before.others.push(object.type_name().to_owned());
                }
                _ => {}
            }
        }
        before
    }
}

/// What was in the objects before a call.
#[derive(Default)]
pub(super) struct Before {
    memory: Vec<(Place, WeakMemory, Vec<u8>)>,
    buffers: Vec<(Place, Weak<vm::Buffer>, Vec<u8>)>,
    lists: Vec<(Place, Weak<List>, Vec<Option<Value>>)>,
    /// The types of objects whose changes are not seen.
    others: Vec<String>,
}

/// What a call has changed.
#[derive(Default)]
pub(super) struct Changed {
    pub(super) writes: Vec<Write>,
    /// Where device memory was written, for as long as that is there.
    pub(super) addresses: Vec<Range<usize>>,
    /// What has perhaps changed and cannot be said.
    pub(super) unknown: Option<String>,
}

impl Before {
    /// What has changed since. The journal of devices learns what was there before.
    pub(super) fn changed(self) -> Changed {
        let mut changed = Changed::default();
        for (place, memory, before) in self.memory {
            let Some(buffer) = memory.upgrade() else { continue };
            let now = buffer.read(0, memory.length);
            let start = addresses(&buffer).start;
            for range in differences(&before, &now) {
                buffer.was_written(range.start, before[range.clone()].to_vec());
                changed.addresses.push(start + range.start..start + range.end);
                changed.writes.push(written(&place, range, &now));
            }
        }
        for (place, buffer, before) in self.buffers {
            let Some(buffer) = buffer.upgrade() else { continue };
            let now = buffer.read(0, buffer.len());
            let ranges = differences(&before, &now).into_iter();
            changed.writes.extend(ranges.map(|range| written(&place, range, &now)));
        }
        for (place, list, before) in self.lists {
            let Some(now) = list.upgrade().map(|list| elements_of(&list)) else { continue };
            let pairs = before.iter().zip(&now);
            if before.len() == now.len() && pairs.into_iter().all(|(a, b)| is_same(a, b)) {
                continue;
            }
            let elements = now.iter().map(|it| it.as_ref().map(plain_number).transpose());
            match elements.collect::<Result<_, _>>() {
                Ok(elements) => {
                    changed.writes.push(Write { place, change: Change::Elements(elements) });
                }
                Err(_) => changed.unknown = Some("changes a list of references".to_owned()),
            }
        }
        if let Some(name) = self.others.first() {
            changed.unknown = Some(format!("was given a !{name}, and may have changed it"));
        }
        changed
    }
}

fn written(place: &Place, range: Range<usize>, now: &[u8]) -> Write {
    let (offset, bytes) = (range.start as u64, now[range].to_vec());
    Write { place: place.clone(), change: Change::Bytes { offset, bytes } }
}

fn is_same(before: &Option<Value>, now: &Option<Value>) -> bool {
    match (before, now) {
        (None, None) => true,
        (Some(Value::Ref(before)), Some(Value::Ref(now))) => before.is_same(now),
        (Some(before), Some(now)) => {
            let (before, now) = (plain_number(before), plain_number(now));
            matches!((before, now), (Ok(before), Ok(now)) if before == now)
        }
        _ => false,
    }
}

/// A number or null.
///
/// # Errors
/// The object, if it is one.
pub(super) fn plain_number(value: &Value) -> Result<Plain, &Ref> {
    Ok(match value {
        Value::I32(value) => Plain::I32(*value),
        Value::I64(value) => Plain::I64(*value),
        Value::F32(value) => Plain::F32(value.to_bits()),
        Value::F64(value) => Plain::F64(value.to_bits()),
        Value::Ref(Ref::Null) => Plain::Null,
        Value::Ref(reference) => return Err(reference),
    })
}

/// Where a buffer is in this process.
pub(super) fn addresses(buffer: &Buffer) -> Range<usize> {
    let start = buffer.allocation().storage().address() as usize + buffer.offset();
    start..start + buffer.len()
}

/// The ranges in which bytes differ, with short ranges of same bytes among them.
fn differences(before: &[u8], now: &[u8]) -> Vec<Range<usize>> {
    /// Equal bytes are looked for in blocks of this size.
    const BLOCK: usize = 256;
    let mut found: Vec<Range<usize>> = Vec::new();
    let blocks = before.chunks(BLOCK).zip(now.chunks(BLOCK)).enumerate();
    for (index, (before, now)) in blocks {
        if before == now {
            continue;
        }
        let differs = |at: &usize| before[*at] != now[*at];
        let length = before.len().min(now.len());
        let first = (0..length).find(differs).unwrap_or(0);
        let last = (0..length).rfind(differs).unwrap_or(0);
        let range = index * BLOCK + first..index * BLOCK + last + 1;
        match found.last_mut() {
            Some(before) if before.end == range.start => before.end = range.end,
            _ => found.push(range),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn differing_bytes_are_covered_and_the_ends_differ() {
        let before = vec![0; 2000];
        let mut now = before.clone();
        for at in [3, 250, 255, 256, 700, 1999] {
            now[at] = 1;
        }
        assert_eq!(differences(&before, &now), [3..257, 700..701, 1999..2000]);
        assert!(differences(&now, &now).is_empty() && differences(&[], &[]).is_empty());
    }
}
