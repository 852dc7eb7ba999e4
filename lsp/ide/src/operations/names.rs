//! The names of operations, and which of them a misspelt name may mean.

use std::collections::HashMap;
use std::sync::OnceLock;

use strsim::osa_distance;

use super::installed::installed;

/// What is known of an operation's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// There is such an operation, or its dialect is not listed.
    Fine,
    /// The dialect has no such operation; perhaps another one was meant.
    Unknown(Option<String>),
}

type Names = HashMap<&'static str, Vec<&'static str>>;

/// The listed names without their dialects, sorted, by dialect.
fn listed() -> &'static Names {
    static LISTED: OnceLock<Names> = OnceLock::new();
    LISTED.get_or_init(|| {
        let mut names = Names::new();
        let mut dialect = "";
        for line in include_str!("names.txt").lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix("  ") {
                Some(some) => names.entry(dialect).or_default().extend(some.split(' ')),
                None => dialect = line,
            }
        }
        for of_dialect in names.values_mut() {
            of_dialect.sort_unstable();
        }
        names
    })
}

/// The dialect of an operation's name; empty if it has none.
pub(crate) fn dialect_of(op: &str) -> &str {
    op.split_once('.').map_or("", |(dialect, _)| dialect)
}

/// Whether the operations of this dialect are listed.
pub(crate) fn is_listed(dialect: &str) -> bool {
    listed().contains_key(dialect)
}

/// Whether an operation may end a block, for all that is known of it.
pub(crate) fn may_end_block(op: &str) -> bool {
    const DIALECTS: &[&str] = &["pdl", "pdl_interp", "spirv", "transform", "smt", "pcf"];
    let dialect = dialect_of(op);
    let is_known = is_listed(dialect) && !DIALECTS.contains(&dialect);
    !is_known || mlir::may_end_block(op)
}

/// What is known of an operation's name.
pub(crate) fn standing(op: &str) -> Standing {
    let Some((dialect, name)) = op.split_once('.') else { return Standing::Fine };
    let names = listed().get(dialect);
    if names.is_some_and(|names| names.binary_search(&name).is_ok())
        || installed().is_some_and(|installed| installed.get(op).is_some())
    {
        return Standing::Fine;
    }
    let Some(names) = names else { return misspelt_dialect(dialect, name) };
    let best = names
        .iter()
        .filter(|other| is_near(name, other))
        .min_by_key(|other| osa_distance(name, other))
        .map(|other| format!("{dialect}.{other}"));
    Standing::Unknown(best)
}

/// The listed operations whose names begin like this.
pub(crate) fn beginning(typed: &str) -> impl Iterator<Item = String> {
    let (dialect, name) = typed.split_once('.').unwrap_or((typed, ""));
    let whole = typed.contains('.');
    listed()
        .iter()
        .filter(
            move |(other, _)| if whole { **other == dialect } else { other.starts_with(dialect) },
        )
        .flat_map(|(dialect, names)| names.iter().map(move |name| (*dialect, *name)))
        .filter(move |(_, other)| other.starts_with(name))
        .map(|(dialect, name)| format!("{dialect}.{name}"))
}

/// A dialect that is not listed may be the user's own, unless it is one letter off a listed one
/// that has just this operation.
fn misspelt_dialect(dialect: &str, name: &str) -> Standing {
    let meant = listed().iter().find(|(other, names)| {
        other.len() >= 4 && osa_distance(dialect, other) == 1 && names.binary_search(&name).is_ok()
    });
    match meant {
        Some((other, _)) => Standing::Unknown(Some(format!("{other}.{name}"))),
        None => Standing::Fine,
    }
}

/// Whether one name may be the other, misspelt.
fn is_near(name: &str, other: &str) -> bool {
    let most = if other.len() < 5 { 1 } else { 2 };
    name.len().abs_diff(other.len()) <= most && osa_distance(name, other) <= most
}

#[cfg(test)]
mod tests {
    use vmfb::Op;

    use super::{Standing, standing};

    /// What `mlir` says of the VM dialect is what the table of the VM's instructions says.
    #[test]
    fn instructions_that_end_blocks_are_operations_that_do() {
        for op in Op::all() {
            let name = format!("vm.{}", op.mnemonic());
            assert_eq!(mlir::ends_block(&name), op.is_terminator(), "{name}");
            assert!(!op.is_terminator() || mlir::may_end_block(&name), "{name}");
        }
    }

    #[test]
    fn misspelt_names() {
        let unknown = |name: &str| Standing::Unknown(Some(name.to_owned()));
        assert_eq!(standing("arith.adi"), unknown("arith.addi"));
        assert_eq!(standing("func.fnc"), unknown("func.func"));
        assert_eq!(standing("aritth.addi"), unknown("arith.addi"));
        assert_eq!(standing("arith.nothing_like_it"), Standing::Unknown(None));
        for fine in ["arith.addi", "mine.addi", "return", "torch.aten.mm", "vm.call.variadic"] {
            assert_eq!(standing(fine), Standing::Fine, "{fine}");
        }
    }
}
