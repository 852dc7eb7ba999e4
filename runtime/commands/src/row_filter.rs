//! Which rows of a run are meant, as data and as text: `nan(*)`, `max(*) > 1000`, `7-9`, `%x`.

use debug::{CommandRow, DescribedRow, Relation, RowQuestion};

use crate::mistake::Mistake;

/// Which rows are shown.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum RowFilter {
    /// All.
    #[default]
    All,
    /// Those of commands from one number to another.
    Range(u64, u64),
    /// Those with a tensor of which this is true.
    Question(RowQuestion),
    /// Those of a dispatch with this in its name, of this `FILE:LINE`, or with the tensor of this
    /// name.
    Named(String),
}

impl RowFilter {
    /// The filter that `table` takes as text.
    ///
    /// # Errors
    /// It is a question that rows do not answer; the text says which they do.
    pub fn read(text: &str) -> Result<Self, String> {
        read_row_filter(text.trim()).map_err(|mistake| mistake.to_string())
    }

    /// Whether a row is shown.
    pub(crate) fn takes(&self, row: &CommandRow, described: &DescribedRow) -> bool {
        match self {
            Self::All => true,
            Self::Range(first, last) => (*first..=*last).contains(&row.number),
            Self::Question(question) => row.written.iter().any(|it| question.is_true_of(it)),
            Self::Named(text) => {
                let is_name = |name: &Option<String>| name.as_deref() == Some(text.as_str());
                let place = described.source.as_ref();
                let is_place = place.is_some_and(|at| {
                    let whole = format!("{}:{}", at.file, at.line);
                    whole == *text || whole.ends_with(&format!("/{text}"))
                });
                let is_export =
                    !row.name.is_empty() && row.name.contains(text.trim_start_matches('@'));
                is_export || is_place || described.names.iter().any(is_name)
            }
        }
    }
}

/// A question about all that commands leave; `None`: the text is something else, such as a
/// condition about named values.
pub(crate) fn read_row_question(text: &str) -> Option<Result<RowQuestion, Mistake>> {
    let (name, rest) = text.split_once('(')?;
    let (inside, rest) = rest.split_once(')')?;
    if inside.trim() != "*" {
        return None;
    }
    let rest = rest.trim();
    let wrong = Mistake::Missing(
        "about all tensors, ask `nan(*)`, `inf(*)`, `min(*) < X`, `max(*) > X` or \
         `hash(*) == HASH`",
    );
    let question = match name.trim() {
        "nan" => is_plain(rest).then_some(RowQuestion::Nan),
        "inf" => is_plain(rest).then_some(RowQuestion::Infinity),
        "min" => relation(rest).map(|(relation, than)| RowQuestion::Least(relation, than)),
        "max" => relation(rest).map(|(relation, than)| RowQuestion::Most(relation, than)),
        "hash" => {
            let digits = rest.strip_prefix("==").unwrap_or("").trim();
            u64::from_str_radix(digits, 16).ok().map(RowQuestion::Hash)
        }
        _ => None,
    };
    Some(question.ok_or(wrong))
}

/// Whether nothing is said beyond that there is one: `nan(*)` is `nan(*) > 0`.
fn is_plain(rest: &str) -> bool {
    let rest: String = rest.chars().filter(|it| !it.is_whitespace()).collect();
    matches!(rest.as_str(), "" | ">0" | "!=0")
}

fn relation(rest: &str) -> Option<(Relation, f64)> {
    let below = rest.strip_prefix('<').map(|than| (Relation::Below, than));
    let (relation, than) = below.or_else(|| Some((Relation::Above, rest.strip_prefix('>')?)))?;
    Some((relation, than.trim().parse().ok().filter(|it: &f64| !it.is_nan())?))
}

/// Which rows `table` shows.
pub(crate) fn read_row_filter(text: &str) -> Result<RowFilter, Mistake> {
    if text.is_empty() {
        return Ok(RowFilter::All);
    }
    if let Some(question) = read_row_question(text) {
        return question.map(RowFilter::Question);
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Ok(match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) => RowFilter::Range(first, last),
        _ => RowFilter::Named(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_from_conditions() {
        let read = |text| read_row_question(text).map(Result::ok);
        assert_eq!(read("nan(*)"), Some(Some(RowQuestion::Nan)));
        assert_eq!(read("inf(*) > 0"), Some(Some(RowQuestion::Infinity)));
        let above = RowQuestion::Most(Relation::Above, 1e3);
        assert_eq!(read("max( * ) > 1e3"), Some(Some(above)));
        let below = RowQuestion::Least(Relation::Below, -2.0);
        assert_eq!(read("min(*) < -2"), Some(Some(below)));
        assert_eq!(read("hash(*) == ff"), Some(Some(RowQuestion::Hash(255))));
        assert_eq!(read("mean(*) > 1"), Some(None));
        assert_eq!(read("nan(*) > 3"), Some(None));
        assert_eq!(read("max(*) > nan"), Some(None));
        assert_eq!(read("nan(%p) > 0"), None);
        assert_eq!(read("%i > 3"), None);
    }

    #[test]
    fn rows_are_named_by_numbers_and_names() {
        assert_eq!(read_row_filter(""), Ok(RowFilter::All));
        assert_eq!(read_row_filter("7"), Ok(RowFilter::Range(7, 7)));
        assert_eq!(read_row_filter("7-9"), Ok(RowFilter::Range(7, 9)));
        assert_eq!(read_row_filter("nan(*)"), Ok(RowFilter::Question(RowQuestion::Nan)));
        let named = RowFilter::Named("main-0".to_owned());
        assert_eq!(read_row_filter("main-0"), Ok(named));
    }
}
