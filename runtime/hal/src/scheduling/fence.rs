//! `!hal.fence`: points on timelines, all of which must be reached.
//!
//! Programs order their queue operations only by fences: each operation waits for one and signals
//! another. A null fence has no points, so it is reached.

use std::any::Any;
use std::sync::Arc;

use vm::{Kept, Object, Ref, Status, Value};
use vmfb::Function;

use super::semaphore::Semaphore;

/// A set of points on timelines. Clones share the timelines.
#[derive(Clone, Debug, Default)]
pub struct Fence(Points);

/// A point: a timeline, and the value that it must reach.
pub(super) type Point = (Arc<Semaphore>, u64);

/// Most fences have one point or none.
#[derive(Clone, Debug, Default)]
enum Points {
    #[default]
    None,
    One([Point; 1]),
    Many(Arc<Vec<Point>>),
}

impl Fence {
    /// A fence on a timeline of its own, not reached yet.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::at(Semaphore::new(0), 1)
    }

    /// A fence that is reached when the timeline is at `value`.
    #[must_use]
    pub(crate) fn at(semaphore: Arc<Semaphore>, value: u64) -> Self {
        Self(Points::One([(semaphore, value)]))
    }

    /// Adds the points of another fence.
    pub(crate) fn extend(&mut self, other: &Fence) {
        if self.points().is_empty() {
            *self = other.clone();
            return;
        }
        for (semaphore, value) in other.points() {
            self.add(semaphore, *value);
        }
    }

    fn add(&mut self, semaphore: &Arc<Semaphore>, value: u64) {
        match &mut self.0 {
            Points::None => *self = Self::at(semaphore.clone(), value),
            Points::One([(only, latest)]) if Arc::ptr_eq(only, semaphore) => {
                *latest = (*latest).max(value);
            }
            Points::One([point]) => {
                let points = vec![point.clone(), (semaphore.clone(), value)];
                self.0 = Points::Many(Arc::new(points));
            }
            Points::Many(points) => {
                let points = Arc::make_mut(points);
                match points.iter_mut().find(|(other, _)| Arc::ptr_eq(other, semaphore)) {
                    Some((_, latest)) => *latest = (*latest).max(value),
                    None => points.push((semaphore.clone(), value)),
                }
            }
        }
    }

    /// Its points.
    #[must_use]
    pub(crate) fn points(&self) -> &[Point] {
        match &self.0 {
            Points::None => &[],
            Points::One(point) => point,
            Points::Many(points) => points,
        }
    }

    /// Whether all points are reached.
    ///
    /// # Errors
    /// A timeline has failed, with this error.
    pub fn is_reached(&self) -> Result<bool, Status> {
        for (semaphore, value) in self.points() {
            if semaphore.query()? < *value {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves all timelines to their points.
    ///
    /// # Errors
    /// A timeline is there already, or has failed.
    pub(crate) fn signal(&self) -> Result<(), Status> {
        self.points().iter().try_for_each(|(semaphore, value)| semaphore.signal(*value))
    }

    /// Fails all its timelines.
    pub(crate) fn fail(&self, status: &Status) {
        for (semaphore, _) in self.points() {
            semaphore.fail(status.clone());
        }
    }
}

impl Object for Fence {
    fn type_name(&self) -> &str {
        "hal.fence"
    }

    fn keep(&self) -> Kept {
        let points = self.points().iter();
        let timelines: Vec<_> = points.map(|(timeline, _)| timeline.kept()).collect();
        Kept::State(Box::new(move || timelines.iter().for_each(|restore| restore())))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Appends the fences that an asynchronous function takes after its inputs: null for the fence to
/// wait for, and a new fence that the function signals when its results are ready, which is
/// returned. Does nothing and returns `None` for other functions.
pub fn append_fences(function: &Function, inputs: &mut Vec<Value>) -> Option<Fence> {
    let attributes = &function.signature.attributes;
    let is_asynchronous = attributes
        .iter()
        .any(|attribute| attribute.key == "iree.abi.model" && attribute.value == "coarse-fences");
    is_asynchronous.then(|| {
        let done = Fence::new();
        inputs.extend([Value::Ref(Ref::Null), Value::Ref(Ref::object(done.clone()))]);
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joined_fence_waits_for_the_latest_point_of_each_timeline() {
        let timeline = Semaphore::new(0);
        let (early, late) = (Fence::at(timeline.clone(), 1), Fence::at(timeline.clone(), 2));
        let other = Fence::new();
        let mut joined = early.clone();
        joined.extend(&late);
        joined.extend(&other);
        assert_eq!(joined.points().len(), 2);
        other.signal().unwrap();
        early.signal().unwrap();
        assert_eq!((early.is_reached(), joined.is_reached()), (Ok(true), Ok(false)));
        late.signal().unwrap();
        assert_eq!(joined.is_reached(), Ok(true));
        assert!(early.signal().is_err());
        other.fail(&Status::internal("lost"));
        assert_eq!(joined.is_reached(), Err(Status::internal("lost")));
        assert_eq!(Fence::default().is_reached(), Ok(true));
    }
}
