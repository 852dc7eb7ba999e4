//! A test of the comparison itself: it must find deliberate faults.

use crate::compare::{Case, compare};
use crate::count::Tally;
use crate::drive::{Session, Shown, Stop};

/// A deliberate fault. Returns whether there was anything to change.
type Lie<'a> = &'a dyn Fn(&mut Session) -> bool;

/// Changes a session in each way that matters, and returns the changes that went unnoticed.
pub(crate) fn unnoticed(case: &Case<'_>) -> Vec<&'static str> {
    // Only stops that stand for an execution can be judged.
    let mut shown = case.session.clone();
    shown.stops.retain(|stop| case.has_execution(stop));
    let before = compare(&Case { session: &shown, ..*case });
    let lies: [(&str, Lie<'_>); 4] = [
        ("values wrong", &change_values),
        ("names out of scope", &|session| rename(session, "%no-such-name")),
        ("stacks wrong", &drop_caller),
        ("stops twice", &repeat_stops),
    ];
    let mut all = Vec::new();
    for (kind, lie) in lies {
        let mut session = shown.clone();
        if !lie(&mut session) {
            continue;
        }
        let after: Tally = compare(&Case { session: &session, ..*case });
        if after.get(kind) <= before.get(kind) {
            all.push(kind);
        }
    }
    all
}

fn shown_of(session: &mut Session) -> impl Iterator<Item = &mut Shown> {
    let frames = session.stops.iter_mut().flat_map(|stop| &mut stop.frames);
    frames.flat_map(|frame| &mut frame.variables).filter(|it| it.name.starts_with('%'))
}

/// Replaces integers with a number that no value has.
fn change_values(session: &mut Session) -> bool {
    let mut has_one = false;
    for shown in shown_of(session) {
        if shown.value.parse::<i64>().is_ok() {
            shown.value = "1234567".to_owned();
            has_one = true;
        }
    }
    has_one
}

fn rename(session: &mut Session, name: &str) -> bool {
    let mut has_one = false;
    for shown in shown_of(session) {
        name.clone_into(&mut shown.name);
        has_one = true;
    }
    has_one
}

fn drop_caller(session: &mut Session) -> bool {
    let is_deep = |stop: &&mut Stop| {
        stop.frames.len() > 1 && stop.frames.iter().all(|frame| frame.line.is_some())
    };
    let deep = session.stops.iter_mut().find(is_deep);
    deep.is_some_and(|stop| stop.frames.pop().is_some())
}

/// Repeats all stops, more often than any loop runs.
fn repeat_stops(session: &mut Session) -> bool {
    let stops = session.stops.clone();
    for _ in 0..40 {
        session.stops.extend(stops.iter().cloned());
    }
    !stops.is_empty()
}
