//! The table of a report: a row for each tensor, and here, once, what its columns are. Terminals
//! and pages show the same ones.

use crate::finding::{TensorFinding, Verdict};
use crate::report::{DispatchFinding, Report, place};

/// Names in a terminal have at most so many characters.
const LONGEST_NAME: usize = 48;

/// A tensor of a dispatch, or a dispatch of which no tensor was compared.
pub(crate) struct Row<'r> {
    pub(crate) dispatch: &'r DispatchFinding,
    pub(crate) tensor: Option<&'r TensorFinding>,
    /// Whether it is the first row of its dispatch: a terminal shows the dispatch only there.
    pub(crate) is_first: bool,
}

/// A column: what a terminal shows, and what a page shows.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) text: fn(&Row<'_>) -> String,
    pub(crate) html: fn(&Row<'_>) -> Cell,
}

/// A cell of a page. The text is not escaped yet.
pub(crate) enum Cell {
    Text(String),
    Code(String),
    Number(String),
    /// A verdict, which has a colour, and its reason.
    Verdict(Verdict, Option<String>),
}

pub(crate) const COLUMNS: [Column; 7] = [
    Column {
        title: "#",
        text: |row| row.once(|it| it.number.to_string()),
        html: |row| Cell::Text(row.dispatch.number.to_string()),
    },
    Column {
        title: "line",
        text: |row| row.once(|it| it.source.as_ref().map_or_else(String::new, line)),
        html: |row| Cell::Text(row.dispatch.source.as_ref().map(place).unwrap_or_default()),
    },
    Column {
        title: "dispatch",
        text: |row| row.once(|it| shortened(&it.names.0)),
        html: |row| Cell::Code(row.dispatch.names.0.clone()),
    },
    Column {
        title: "tensor",
        text: |row| row.of_tensor(|it| format!("{} {}", it.name(), it.tensor_type)),
        html: |row| match row.tensor {
            Some(it) => Cell::Code(format!("{} : {}", it.name(), it.tensor_type)),
            None => Cell::Text(String::new()),
        },
    },
    Column {
        title: "verdict",
        text: |row| {
            let (label, why) = (row.verdict().label(), row.reason());
            match (why, &row.dispatch.compared_with) {
                (Some(why), _) => format!("{label}: {why}"),
                // What it was compared with is a footnote.
                (None, Some(_)) => format!("{label} *"),
                (None, None) => label.to_owned(),
            }
        },
        html: |row| {
            let with = row.dispatch.compared_with.as_ref();
            let with = || with.map(|it| format!("compared with {it}"));
            Cell::Verdict(row.verdict(), row.reason().map(str::to_owned).or_else(with))
        },
    },
    Column {
        title: "worst",
        text: |row| row.of_tensor(worst),
        html: |row| Cell::Number(row.of_tensor(worst)),
    },
    Column {
        title: "allowed",
        text: |row| row.of_tensor(allowed),
        html: |row| Cell::Text(row.of_tensor(allowed)),
    },
];

impl Report {
    /// The rows of the table.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.dispatches.iter().flat_map(|dispatch| {
            let tensors = match dispatch.reason {
                Some(_) => &[][..],
                None => &dispatch.tensors,
            };
            let whole =
                tensors.is_empty().then_some(Row { dispatch, tensor: None, is_first: true });
            let each = tensors.iter().enumerate().map(move |(index, tensor)| Row {
                dispatch,
                tensor: Some(tensor),
                is_first: index == 0,
            });
            whole.into_iter().chain(each)
        })
    }
}

impl Row<'_> {
    /// What is said of the dispatch, in its first row.
    fn once(&self, text: fn(&DispatchFinding) -> String) -> String {
        if self.is_first { text(self.dispatch) } else { String::new() }
    }

    fn of_tensor(&self, text: fn(&TensorFinding) -> String) -> String {
        self.tensor.map(text).unwrap_or_default()
    }

    fn verdict(&self) -> Verdict {
        self.tensor.map_or(Verdict::NotCompared, |it| it.verdict)
    }

    fn reason(&self) -> Option<&str> {
        match self.tensor {
            Some(tensor) => tensor.reason.as_deref(),
            None => Some(self.dispatch.why_not().unwrap_or("it leaves no tensor that is known")),
        }
    }
}

fn line(source: &debug::SourceLine) -> String {
    source.line.to_string()
}

/// The largest difference.
pub(crate) fn worst(tensor: &TensorFinding) -> String {
    let Some(figures) = &tensor.figures else { return String::new() };
    let difference = figures.worst.difference;
    if difference.is_nan() { "NaN".to_owned() } else { format!("{difference:.2e}") }
}

/// What is allowed, and why.
pub(crate) fn allowed(tensor: &TensorFinding) -> String {
    let Some(tolerance) = &tensor.tolerance else { return String::new() };
    match (tolerance.absolute, tolerance.relative) {
        (0.0, 0.0) => tolerance.reason.clone(),
        (absolute, 0.0) => format!("{absolute:.1e}: {}", tolerance.reason),
        (absolute, relative) => {
            format!("{absolute:.1e} + {relative:.1e} |x|: {}", tolerance.reason)
        }
    }
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}
