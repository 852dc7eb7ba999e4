//! [`TextDump`]: all debug information of a module as text, for tests and for development.
//!
//! ```text
//! @sum from Companion at demo.mlir:14:3
//! * 00000008 18  sum@18:13
//!       %n: i32 in %i0
//!       %two: i32 = 2
//! ```
//!
//! A star marks the start of a statement; the number after the offset is its line. Then come the
//! frames, innermost first, and the names in scope in each, with a register, a constant, a
//! computation, or the reason why the value is missing.

use std::fmt::{self, Write};

use vmfb::{FunctionOrdinal, Module};

use crate::debug_info::DebugInfo;
use crate::locations::SourcePosition;
use crate::proof::{Given, Scalar, ValueLocation, WrittenRecipe};

/// Displays all of a [`DebugInfo`].
#[derive(Debug)]
pub struct TextDump<'a>(pub &'a DebugInfo, pub &'a Module);

impl fmt::Display for TextDump<'_> {
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

impl TextDump<'_> {
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
            let frames = self.0.path_at(function, row.offset).len().max(1);
            for calls in (0..frames).rev() {
                let scope = self.0.scope_at(self.1, function, row.offset, calls, Given::Unknown);
                for value in scope.into_iter().flatten() {
                    let indent = 6 + 2 * (frames - 1 - calls);
                    write!(f, "{:indent$}{}: {}", "", value.name, value.type_text)?;
                    writeln!(f, " {}", location(&value.location, value.scalar))?;
                }
            }
        }
        Ok(())
    }
}

fn place(position: Option<SourcePosition>) -> String {
    position.map_or("?".to_owned(), |position| format!("{}:{}", position.line, position.column))
}

fn location(location: &ValueLocation, scalar: Option<Scalar>) -> String {
    match location {
        ValueLocation::Register(slot) => format!("in {slot}"),
        ValueLocation::Missing(reason) => format!("<{}>", reason.words()),
        ValueLocation::Computed(recipe) => format!("= {}", WrittenRecipe(recipe, scalar)),
    }
}
