//! What is known of modules: in text, with sources that were moved, and from texts that are deep.

mod depth;
mod golden;
mod sources;
