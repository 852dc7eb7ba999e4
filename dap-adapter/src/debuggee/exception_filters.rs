//! What stops the program without a breakpoint: failures, NaN, infinities, wrong results. The
//! protocol calls these exceptions.

use dap::requests::SetExceptionBreakpointsArguments;
use debug::Traps;
use serde_json::{Value, json};
use vm::{Failure, StatusCode};

/// A filter that a client offers to its user.
struct Filter {
    name: &'static str,
    label: &'static str,
    description: &'static str,
    is_default: bool,
}

const FAILURE: &str = "failure";

const FILTERS: [Filter; 4] = [
    Filter {
        name: FAILURE,
        label: "Failures",
        description: "Stop where the program fails, before it is over",
        is_default: true,
    },
    Filter {
        name: "nan",
        label: "NaN",
        description: "Stop at the operation that makes a NaN of operands that are none, with its \
                      operands still there. Only a dispatch that leaves a NaN is run again to find \
                      it, so the program is hardly slower",
        is_default: false,
    },
    Filter {
        name: "infinity",
        label: "Infinity",
        description: "Stop at the operation that makes an infinity of operands that are none, \
                      found in the same way",
        is_default: false,
    },
    Filter {
        name: "difference",
        label: "Wrong dispatch result (compared with float64)",
        description: "Stop after a dispatch that leaves something else than its text means, \
                      evaluated in float64; each dispatch takes far longer then",
        is_default: false,
    },
];

/// Filters that are not offered, as `catch` says the same; clients may ask for them all the same.
const OTHERS: [&str; 3] = ["overflow", "dispatch-nan", "dispatch-infinity"];

/// The filters, as the capabilities list them.
pub(crate) fn filters() -> Value {
    let filters = FILTERS.iter().map(|filter| {
        let mut shown = json!({
            "filter": filter.name,
            "label": filter.label,
            "description": filter.description,
            "default": filter.is_default,
        });
        shown["supportsCondition"] = true.into();
        shown["conditionDescription"] = match filter.name {
            FAILURE => "Status codes to stop for, such as OUT_OF_RANGE, INVALID_ARGUMENT".into(),
            "difference" => "`every`: every time instead of once per dispatch".into(),
            _ => "`every`: every time instead of once per operation; `operations`: also what a \
                  dispatch of bytecode makes and does not leave (slow)"
                .into(),
        };
        shown
    });
    filters.collect()
}

/// The filters that the client has chosen.
#[derive(Clone, Debug)]
pub(crate) struct ExceptionFilters {
    failures: Failures,
    pub(crate) traps: Traps,
}

#[derive(Clone, Debug)]
enum Failures {
    All,
    None,
    Some(Vec<StatusCode>),
}

impl Default for ExceptionFilters {
    /// Until a client chooses, failures stop the program.
    fn default() -> Self {
        Self { failures: Failures::All, traps: Traps::default() }
    }
}

/// Why a filter cannot be set; for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WrongFilter {
    #[error("there is no filter {0:?}")]
    Unknown(String),
    #[error("{0:?} does not say how often; `every`, `once` and `operations` do")]
    Word(String),
    #[error("there is no status {name:?}; there are {}", .known.join(", "))]
    Status { name: String, known: Vec<&'static str> },
}

impl ExceptionFilters {
    /// The filters that a client asks for, and for each of them an error if it is wrong.
    pub(crate) fn new(
        arguments: &SetExceptionBreakpointsArguments,
    ) -> (Self, Vec<Result<(), WrongFilter>>) {
        let mut wanted = Self { failures: Failures::None, traps: Traps::default() };
        let mut answers = Vec::new();
        for filter in &arguments.filters {
            answers.push(wanted.add(filter, None));
        }
        for option in arguments.filter_options.iter().flatten() {
            answers.push(wanted.add(&option.filter_id, option.condition.as_deref()));
        }
        (wanted, answers)
    }

    fn add(&mut self, filter: &str, condition: Option<&str>) -> Result<(), WrongFilter> {
        let is_trap = |name: &&str| *name != FAILURE && *name == filter;
        let mut traps = FILTERS.iter().map(|it| it.name).chain(OTHERS);
        if traps.any(|name| is_trap(&name)) {
            self.add_words(condition)?;
        }
        match filter {
            FAILURE => self.failures = failures(condition)?,
            "nan" => self.traps.nan = true,
            "infinity" => self.traps.infinity = true,
            "dispatch-nan" => self.traps.dispatch_nan = true,
            "dispatch-infinity" => self.traps.dispatch_infinity = true,
            "overflow" => self.traps.overflow = true,
            "difference" => self.traps.difference = true,
            other => return Err(WrongFilter::Unknown(other.to_owned())),
        }
        Ok(())
    }

    /// What a condition says of how often, and how closely.
    fn add_words(&mut self, condition: Option<&str>) -> Result<(), WrongFilter> {
        for word in condition.unwrap_or_default().split_whitespace() {
            match word {
                "once" => {}
                "every" => self.traps.every = true,
                "operations" => self.traps.operations = true,
                other => {
                    return Err(WrongFilter::Word(other.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Whether a failure stops the program.
    pub(crate) fn stops_for(&self, failure: &Failure) -> bool {
        match &self.failures {
            Failures::All => true,
            Failures::None => false,
            Failures::Some(codes) => codes.contains(&failure.status.code),
        }
    }
}

fn failures(condition: Option<&str>) -> Result<Failures, WrongFilter> {
    let words = condition.unwrap_or_default().split([',', ' ', '|']);
    let names: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if names.is_empty() {
        return Ok(Failures::All);
    }
    names.into_iter().map(code).collect::<Result<_, _>>().map(Failures::Some)
}

fn code(name: &str) -> Result<StatusCode, WrongFilter> {
    let all = || (1..).map_while(StatusCode::from_number).take(STATUS_CODES);
    all().find(|code| code.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
        let known = all().map(StatusCode::name).collect();
        WrongFilter::Status { name: name.to_owned(), known }
    })
}

/// How many status codes there are; all numbers after the last are `UNKNOWN`.
const STATUS_CODES: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_name_status_codes() {
        assert!(matches!(failures(None), Ok(Failures::All)));
        assert!(matches!(failures(Some("  ")), Ok(Failures::All)));
        let Ok(Failures::Some(codes)) = failures(Some("out_of_range, INTERNAL")) else {
            panic!("no codes")
        };
        assert_eq!(codes, [StatusCode::OutOfRange, StatusCode::Internal]);
        let wrong = failures(Some("SEGFAULT")).err().map_or_else(String::new, |it| it.to_string());
        assert!(wrong.contains("INCOMPATIBLE"), "{wrong}");
    }
}
