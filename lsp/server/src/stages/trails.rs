//! What passes did with the operations of a source, for all of them at once: one more compilation,
//! of which only the differences are kept, in memory.

use std::sync::{Arc, Mutex, PoisonError};

use compile::{Cancellation, print_passes};
use ide::{Trail, TrailMaker};

use super::StageSet;
use super::making::Problem;
use super::passes::request_of;

/// How many trails stay in memory.
const KEPT: usize = 3;

/// The trails that were asked for last, by the keys of their compilations.
#[derive(Default)]
pub(crate) struct Trails(Mutex<Vec<(String, Arc<Trail>)>>);

impl Trails {
    /// The trail of a compilation; `on_pass` gets the number of passes so far.
    pub(crate) fn of(
        &self,
        set: &StageSet,
        cancellation: &Cancellation,
        on_pass: &(impl Fn(usize) + Sync),
    ) -> Result<Arc<Trail>, Problem> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(key, _)| *key == set.key) {
            return Ok(known.clone());
        }
        let functions = set.stages.first().map(|titled| titled.stage.functions());
        let names = functions.into_iter().flatten().map(|function| function.name.clone());
        let mut maker = TrailMaker::new(names);
        let mut count = 0;
        print_passes(&request_of(set)?, cancellation, |pass| {
            maker.take(pass.pass, pass.text);
            count += 1;
            on_pass(count);
        })?;
        let trail = Arc::new(maker.finish());
        let mut known = lock();
        known.push((set.key.clone(), trail.clone()));
        if known.len() > KEPT {
            known.remove(0);
        }
        Ok(trail)
    }
}
