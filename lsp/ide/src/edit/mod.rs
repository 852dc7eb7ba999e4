//! Changes to a text: completion, rename, code actions, formatting.
//!
//! Answers are replacements; nothing here applies them.

mod actions;
mod completion;
mod fixes;
mod format;
mod forms;
mod rename;
mod test_actions;

pub use actions::{CodeAction, code_actions};
pub use completion::{CompletionItem, CompletionItemKind, Completions, complete};
pub use fixes::{Fix, quick_fixes, with_fix};
pub use format::{format, format_on_type};
pub use forms::{NotRewritten, Rewriting, rewriting, rewritten};
pub use rename::{NotRenamed, Renamable, Renaming, prepare_rename, rename};
pub use test_actions::{expect_errors, write_checks_action};
