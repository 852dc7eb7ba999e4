//! The backtrace of a failed run, with the lines of the source.
//!
//! ```text
//!     0 bytecode module.main:3 00000016
//!       at model.mlir:12:8 (inlined) in helper
//!       at model.mlir:30:10 in main
//! ```
//!
//! Debug information is read when a run has failed, not before: a companion can be as large as the
//! constants of its model.

use std::collections::HashMap;
use std::fmt::Write;

use debuginfo::{Companion, DebugInfo};
use vm::{Context, Failure, FramePosition, ModuleIndex};

use crate::modules::LoadedModules;

/// The frames, innermost first, each in lines that begin with a newline.
pub(crate) fn backtrace(failure: &Failure, context: &Context, modules: &LoadedModules) -> String {
    let mut known: HashMap<ModuleIndex, DebugInfo> = HashMap::new();
    let mut text = String::new();
    for (number, position) in failure.backtrace.iter().enumerate() {
        text.push_str(&format!("\n  {number:3} {position}"));
        let Some(module) = context.bytecode_module(position.module) else { continue };
        let info = known.entry(position.module).or_insert_with(|| {
            // A damaged companion is no companion: what failed is the program.
            let path = modules.path(module);
            let companion = path.and_then(|path| Companion::beside(path).ok().flatten());
            DebugInfo::load(module, companion.as_ref())
        });
        source_lines(&mut text, info, position);
    }
    text
}

fn source_lines(text: &mut String, info: &DebugInfo, position: &FramePosition) {
    let Some((function, offset)) = position.bytecode else { return };
    for frame in info.frames_at(function, offset) {
        let Some(place) = frame.position.filter(debuginfo::SourcePosition::is_written) else {
            continue;
        };
        let file = info.locations().file(place.file);
        let inlined = if frame.is_inlined { " (inlined)" } else { "" };
        let written = write!(text, "\n      at {file}:{}:{}{inlined}", place.line, place.column);
        debug_assert!(written.is_ok(), "writing to a String does not fail");
        if let Some(name) = frame.function {
            text.push_str(" in ");
            text.push_str(&name);
        }
    }
}
