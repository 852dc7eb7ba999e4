//! `history at PLACE, EXPR…`: a row for each visit of a place, with the values of the expressions
//! there.

use std::fmt::Write;

use serde_json::json;

use crate::command::Place;
use crate::session::{Performer, Problem};

impl Performer<'_> {
    pub(crate) fn visits(&mut self, place: Place, columns: &[String]) -> Result<(), Problem> {
        self.needs_frame()?;
        let spec = self.spec(place)?;
        let found = self.debugger.visits(&spec, columns)?;
        let head = std::iter::once("moment".to_owned()).chain(columns.iter().cloned());
        let mut lines: Vec<Vec<String>> = vec![head.collect()];
        for visit in &found.visits {
            let shown = visit.values.iter().map(|value| match value {
                Ok(value) => value.clone(),
                // What to do about it is no part of a table.
                Err(why) => format!("<{}>", why.split(';').next().unwrap_or_default()),
            });
            lines.push(
                std::iter::once(self.debugger.of_line(&visit.moment).to_string())
                    .chain(shown)
                    .collect(),
            );
        }
        let earlier = found.total - found.visits.len() as u64;
        if earlier > 0 {
            writeln!(self.out, "{earlier} earlier visits are left out")?;
        }
        self.out.write_str(&aligned(&lines))?;
        if found.visits.is_empty() {
            writeln!(self.out, "the program has not been there since the recording began")?;
        }
        let rows = found.visits.iter().map(|visit| {
            let values = visit.values.iter().map(|value| match value {
                Ok(value) => json!({ "value": value }),
                Err(why) => json!({ "error": why }),
            });
            let values: Vec<_> = values.collect();
            json!({ "moment": self.debugger.of_line(&visit.moment).to_string(), "values": values })
        });
        let rows: Vec<_> = rows.collect();
        self.out.put("columns", columns);
        self.out.put("visits", rows);
        self.out.put("total", found.total);
        Ok(())
    }
}

/// Lines whose cells are below each other. Without rows, there is no head either.
fn aligned(lines: &[Vec<String>]) -> String {
    if lines.len() < 2 {
        return String::new();
    }
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())));
        let cells: Vec<String> = cells.collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
