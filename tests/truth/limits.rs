//! The tolerances of the suite. Each one above zero is a known fault.

use crate::compile::Mode;
use crate::count::Tally;

/// Tolerances, in percent of the cases looked at.
pub(crate) struct Limits {
    /// Wrong values, or values of a wrong type.
    pub(crate) wrong: f64,
    /// Names whose evaluation differs from what the scopes show.
    pub(crate) evaluated: f64,
    /// Names that are shown but not in scope in the source.
    pub(crate) out_of_scope: f64,
    /// Stacks that the source never has at that line.
    pub(crate) stacks: f64,
    /// Names that the source still uses and that have neither a value nor a reason.
    pub(crate) missing: f64,
    /// Names that the source still uses, whose value is known but not shown.
    pub(crate) withheld: f64,
    /// Stops without an execution, and executions without a stop that cannot be optimised away.
    pub(crate) stops: f64,
}

/// What has no tolerance.
pub(crate) const NEVER: [&str; 3] = ["results wrong", "sessions broken", "lies unnoticed"];

/// Modules with their companion.
pub(crate) const WITH_COMPANION: Limits = Limits {
    wrong: 0.0,
    evaluated: 1.0,
    // The first of two operations on a line may have no code; then the stop is at the second.
    out_of_scope: 0.4,
    stacks: 0.0,
    missing: 0.0,
    withheld: 4.0,
    stops: 3.0,
};

/// Modules as iree-compile writes them. They know less, but what they show is true.
pub(crate) const PLAIN: Limits = Limits { missing: 100.0, withheld: 100.0, ..WITH_COMPANION };

/// Models. Only the types of their values are known.
pub(crate) const MODELS: Limits = Limits { wrong: 100.0, stops: 40.0, ..WITH_COMPANION };

/// The tolerances of a mode.
pub(crate) fn of(mode: &Mode) -> &'static Limits {
    if *mode == Mode::Companion { &WITH_COMPANION } else { &PLAIN }
}

/// The counts of a tally that exceed their tolerance.
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
    for kind in NEVER {
        if tally.get(kind) > 0 {
            over.push(format!("{} {kind}", tally.get(kind)));
        }
    }
    over
}
