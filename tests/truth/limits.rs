//! What the suite lets pass. Everything here that is not zero is a fault that is known.

use crate::compile::Mode;
use crate::count::Tally;

/// How many of a thing may be found in a hundred of what was looked at.
pub(crate) struct Limits {
    /// Values that are not what the source computes, or not of its type.
    pub(crate) wrong: f64,
    /// Names that evaluate to something else than what the scopes show.
    pub(crate) evaluated: f64,
    /// Names that the source does not have there.
    pub(crate) out_of_scope: f64,
    /// Stacks that the source never has at that line.
    pub(crate) stacks: f64,
    /// Names that the source still uses, with neither value nor reason.
    pub(crate) missing: f64,
    /// Names that the source still uses, whose value is known and not shown.
    pub(crate) withheld: f64,
    /// Stops that the source has no execution for, and executions without a stop that cannot be
    /// optimised away.
    pub(crate) stops: f64,
}

/// Modules with their companion.
pub(crate) const WITH_COMPANION: Limits = Limits {
    wrong: 0.0,
    evaluated: 1.0,
    // Of two operations on a line the first may have no code; then the stop is at the second one.
    out_of_scope: 0.5,
    stacks: 0.0,
    missing: 0.0,
    withheld: 4.0,
    stops: 3.0,
};

/// Modules as iree-compile writes them: they know less, but what they show is so.
pub(crate) const PLAIN: Limits = Limits { missing: 100.0, withheld: 100.0, ..WITH_COMPANION };

/// Models. Of their values only the types are known.
pub(crate) const MODELS: Limits = Limits { wrong: 100.0, stops: 40.0, ..WITH_COMPANION };

/// The limits of a mode.
pub(crate) fn of(mode: &Mode) -> &'static Limits {
    if *mode == Mode::Companion { &WITH_COMPANION } else { &PLAIN }
}

/// What of a tally is over its limit.
pub(crate) fn faults(limits: &Limits, tally: &Tally) -> Vec<String> {
    let used = ["used names with a value", "used names with a reason"];
    let rows: [(&str, &[&str], f64); 13] = [
        ("values wrong", &["values right"], limits.wrong),
        ("types wrong", &["values right"], limits.wrong),
        ("evaluated otherwise", &["evaluated"], limits.evaluated),
        ("evaluated out of scope", &["evaluated"], limits.out_of_scope),
        ("names out of scope", &["values right"], limits.out_of_scope),
        ("names twice in a scope", &["values right"], limits.out_of_scope),
        ("stacks wrong", &["stacks right"], limits.stacks),
        ("used names missing", &used, limits.missing),
        ("used names withheld", &used[..1], limits.withheld),
        ("stops phantom", &["stops"], limits.stops),
        ("steps wrong", &["stops"], limits.stops),
        ("stops twice", &["stops"], limits.stops),
        ("stops missed", &["stops"], limits.stops),
    ];
    let over = rows.iter().filter_map(|(kind, others, limit)| {
        let share = tally.share(kind, others);
        (share > *limit).then(|| format!("{kind}: {share:.2} %, at most {limit} %"))
    });
    let mut over: Vec<String> = over.collect();
    // These are never let pass.
    for kind in ["results wrong", "sessions broken", "lies unnoticed"] {
        if tally.get(kind) > 0 {
            over.push(format!("{} {kind}", tally.get(kind)));
        }
    }
    over
}
