//! How to use it, for an AGENTS.md.

/// The page.
pub const GUIDE: &str = include_str!("../AGENTS.md");
