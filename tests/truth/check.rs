//! The judge is judged: what is made wrong on purpose is found.

use crate::compare::{Case, compare};
use crate::count::Tally;
use crate::drive::Session;
use crate::program::Type;

/// Changes what a session showed in each way that matters, and says which change was not noticed.
pub(crate) fn unnoticed(case: &Case<'_>) -> Vec<&'static str> {
    let before = compare(case);
    let lies: [(&str, &dyn Fn(&mut Session) -> bool); 4] = [
        ("values wrong", &change_value),
        ("names out of scope", &|session| rename(session, "%no-such-name")),
        ("stacks wrong", &drop_caller),
        ("stops twice", &repeat_stops),
    ];
    let mut all = Vec::new();
    for (kind, lie) in lies {
        let mut session = case.session.clone();
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

/// A number that is large enough to be nobody else's.
fn change_value(session: &mut Session) -> bool {
    let shown = session.stops.iter_mut().flat_map(|stop| &mut stop.frames);
    let mut shown = shown.flat_map(|frame| &mut frame.variables);
    let of = |kind: &str| kind == Type::I64.text() || kind == Type::I32.text();
    let Some(found) = shown.find(|it| it.name.starts_with('%') && of(&it.kind)) else {
        return false;
    };
    found.value = "1234567".to_owned();
    true
}

fn rename(session: &mut Session, name: &str) -> bool {
    let shown = session.stops.iter_mut().flat_map(|stop| &mut stop.frames);
    let mut shown = shown.flat_map(|frame| &mut frame.variables);
    shown.find(|it| it.name.starts_with('%')).is_some_and(|it| {
        name.clone_into(&mut it.name);
        true
    })
}

fn drop_caller(session: &mut Session) -> bool {
    let deep = session.stops.iter_mut().find(|stop| stop.frames.len() > 1);
    deep.is_some_and(|stop| stop.frames.pop().is_some())
}

/// All stops once more, as often as no loop goes round.
fn repeat_stops(session: &mut Session) -> bool {
    let stops = session.stops.clone();
    for _ in 0..20 {
        session.stops.extend(stops.iter().cloned());
    }
    !stops.is_empty()
}
