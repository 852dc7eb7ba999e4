//! Everything that is known of a module, as text: for tests, and for people who work on this.
//!
//! ```text
//! @sum from Companion at demo.mlir:14:3
//! * 00000008 18  sum@18:13
//!       %arg0 = %n: i32 in %i0
//! ```
//!
//! A star marks the start of a statement; the number behind the offset is its line. Then come the
//! frames, innermost first, and the values alive there with the names that the source has for them.

use std::fmt::{self, Write};

use vmfb::FunctionOrdinal;

use crate::info::DebugInfo;
use crate::location::SourcePosition;

/// Displays all of a [`DebugInfo`].
#[derive(Debug)]
pub struct Report<'a>(pub &'a DebugInfo);

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for message in self.0.completeness().messages() {
            writeln!(f, "{message}")?;
        }
        for function in &self.0.completeness().functions {
            write!(f, "@{} from {:?}", function.name, function.source)?;
            if let Some(position) = self.0.function_position(function.function) {
                write!(
                    f,
                    " at {}:{}",
                    self.0.locations().file(position.file),
                    place(Some(position))
                )?;
            }
            writeln!(f)?;
            self.function(function.function, f)?;
        }
        for (file, name) in self.0.files() {
            let lines: Vec<_> = self.0.lines_with_code(file, 1..=u32::MAX).collect();
            writeln!(f, "{name} has code in lines {lines:?}")?;
        }
        Ok(())
    }
}

impl Report<'_> {
    fn function(&self, function: FunctionOrdinal, f: &mut impl Write) -> fmt::Result {
        for row in self.0.rows(function) {
            let mark = if row.is_statement { '*' } else { ' ' };
            let line = row.position.map_or("-".to_owned(), |position| position.line.to_string());
            write!(f, "{mark} {} {line:<3}", row.offset)?;
            for frame in self.0.frames_at(function, row.offset) {
                write!(
                    f,
                    " {}@{}",
                    frame.function.as_deref().unwrap_or("?"),
                    place(frame.position)
                )?;
            }
            writeln!(f)?;
            for local in self.0.live_values(function, row.offset) {
                let source = local.source_name.map(|name| format!(" = {name}")).unwrap_or_default();
                writeln!(
                    f,
                    "      {}{source}: {} in {}",
                    local.name, local.mlir_type, local.register
                )?;
            }
        }
        Ok(())
    }
}

fn place(position: Option<SourcePosition>) -> String {
    position.map_or("?".to_owned(), |position| format!("{}:{}", position.line, position.column))
}
