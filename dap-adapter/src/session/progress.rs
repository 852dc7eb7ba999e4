//! Progress of what takes its time: compiling, loading, a long stretch of running.
//!
//! The client hears nothing of an activity that is over within [`PATIENCE`], and the elapsed time
//! of a longer one once in [`PERIOD`]. The session's loop wakes for it at [`Progress::deadline`]
//! only, so a session that waits for its client sleeps.

use std::time::{Duration, Instant};

use crate::protocol::Event;
use crate::protocol::events::{ProgressEnd, ProgressStart, ProgressUpdate};

/// How long an activity may take before the client hears of it.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time between two updates.
const PERIOD: Duration = Duration::from_secs(1);

/// The current activity, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    now: Option<Activity>,
    /// How many activities were announced; part of their names.
    count: u32,
}

#[derive(Debug)]
struct Activity {
    title: String,
    request: Option<i64>,
    began: Instant,
    next: Instant,
    /// Its name, if the client has heard of it.
    announced: Option<String>,
}

impl Progress {
    /// An activity begins, which ends the one before. Returns the event to send.
    pub(crate) fn begin(&mut self, title: String, request: Option<i64>) -> Option<Event> {
        let over = self.end();
        let began = Instant::now();
        let next = began + PATIENCE;
        self.now = Some(Activity { title, request, began, next, announced: None });
        over
    }

    /// When to call [`Progress::tick`].
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.now.as_ref().map(|activity| activity.next)
    }

    /// The event to send now.
    pub(crate) fn tick(&mut self, now: Instant) -> Option<Event> {
        let activity = self.now.as_mut().filter(|activity| activity.next <= now)?;
        activity.next = now + PERIOD;
        if let Some(progress_id) = activity.announced.clone() {
            let seconds = now.duration_since(activity.began).as_secs();
            let message = format!("{seconds} s");
            return Some(Event::ProgressUpdate(ProgressUpdate { progress_id, message }));
        }
        self.count += 1;
        let progress_id = format!("progress-{}", self.count);
        activity.announced = Some(progress_id.clone());
        Some(Event::ProgressStart(ProgressStart {
            progress_id,
            title: activity.title.clone(),
            request_id: activity.request,
            cancellable: true,
        }))
    }

    /// The activity is over. Returns the event to send.
    pub(crate) fn end(&mut self) -> Option<Event> {
        let progress_id = self.now.take()?.announced?;
        Some(Event::ProgressEnd(ProgressEnd { progress_id }))
    }

    /// Whether a name is that of the current activity.
    pub(crate) fn is(&self, progress_id: &str) -> bool {
        let announced = self.now.as_ref().and_then(|activity| activity.announced.as_deref());
        announced == Some(progress_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_activities_are_not_announced_and_long_ones_end() {
        let mut progress = Progress::default();
        assert!(progress.begin("Compiling a.mlir".into(), Some(2)).is_none());
        let deadline = progress.deadline().unwrap();
        assert!(progress.tick(deadline - Duration::from_millis(1)).is_none());
        assert!(progress.end().is_none());
        assert_eq!(progress.deadline(), None);

        progress.begin("Running main".into(), None);
        let deadline = progress.deadline().unwrap();
        let Some(Event::ProgressStart(start)) = progress.tick(deadline) else { panic!("no start") };
        assert_eq!((start.progress_id.as_str(), start.request_id), ("progress-1", None));
        assert!(progress.is("progress-1"));
        let Some(Event::ProgressUpdate(update)) = progress.tick(deadline + PERIOD) else {
            panic!("no update")
        };
        assert_eq!(update.message, "3 s");
        assert!(matches!(progress.end(), Some(Event::ProgressEnd(_))));
        assert!(!progress.is("progress-1"));
    }
}
