//! Any text gives some tree of MLIR, and one of assembly, that has all of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use syntax::{ChunkKind, Language, Shape, Tree};

fuzz_target!(|text: &str| {
    for language in [Language::Mlir, Language::Vmasm] {
        let tree = Tree::parse(text, 0..text.len(), language, Shape::of(ChunkKind::Item));
        let end = tree.tokens().last().map_or(0, |token| token.end as usize);
        assert!(end <= text.len(), "a token lies outside of the text");
        let _ = (tree.operations().count(), tree.errors().len());
    }
});
