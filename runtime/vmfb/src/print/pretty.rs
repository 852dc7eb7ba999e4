//! JSON with line breaks, as flatcc prints it: two blanks a level; a vector of tables begins its
//! first table on its own line, and a vector of numbers or structs has a line for each.

use std::io::{self, Write};

use serde_json::Value;

/// The vectors whose elements are structs. Other objects in vectors are tables.
const STRUCTS: [&str; 2] = ["function_descriptors", "locations"];

/// Writes a value, and a newline at its end.
pub(super) fn write(value: &Value, out: &mut impl Write) -> io::Result<()> {
    write_at(value, "", 0, out)?;
    out.write_all(b"\n")
}

fn write_at(value: &Value, key: &str, level: usize, out: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Object(fields) => {
            out.write_all(b"{")?;
            for (index, (key, value)) in fields.iter().enumerate() {
                out.write_all(if index > 0 { b"," } else { b"" })?;
                new_line(level + 1, out)?;
                serde_json::to_writer(&mut *out, key)?;
                out.write_all(b": ")?;
                write_at(value, key, level + 1, out)?;
            }
            if !fields.is_empty() {
                new_line(level, out)?;
            }
            out.write_all(b"}")
        }
        Value::Array(elements) => {
            let holds_tables = !STRUCTS.contains(&key)
                && elements.iter().any(|element| matches!(element, Value::Object(_)));
            out.write_all(b"[")?;
            for (index, element) in elements.iter().enumerate() {
                out.write_all(if index > 0 { b"," } else { b"" })?;
                if !holds_tables {
                    new_line(level + 1, out)?;
                }
                write_at(element, key, level + 1, out)?;
            }
            if !elements.is_empty() {
                new_line(level, out)?;
            }
            out.write_all(b"]")
        }
        scalar => Ok(serde_json::to_writer(out, scalar)?),
    }
}

fn new_line(level: usize, out: &mut impl Write) -> io::Result<()> {
    write!(out, "\n{:1$}", "", 2 * level)
}
