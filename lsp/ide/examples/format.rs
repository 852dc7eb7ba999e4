//! Formats files: `format FOLDER`, with file names on standard input. The results go into the
//! folder, named by the number of their line. It serves to try whole trees of tests.
//!
//! Each line of the output is a file's name, how many of its lines have changed, how many it has,
//! and whether formatting the result changes nothing more.

use std::collections::HashSet;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;

use ide::{Document, Language, Replacement, format};

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let files = std::io::stdin().lock().lines().map_while(Result::ok);
    for (index, file) in files.enumerate() {
        let Ok(text) = std::fs::read_to_string(&file) else {
            println!("{file}: not UTF-8 text");
            continue;
        };
        let once = formatted(&file, &text);
        let twice = formatted(&file, &once);
        let known: HashSet<&str> = text.lines().collect();
        let changed = once.lines().filter(|line| !known.contains(line)).count();
        let stays = if once == twice { "stays" } else { "CHANGES AGAIN" };
        println!("{file}: {changed} of {} lines, {stays}", once.lines().count());
        if let Err(error) = std::fs::write(folder.join(format!("{index}.mlir")), once) {
            println!("{}: {error}", folder.display());
        }
    }
}

fn formatted(file: &str, text: &str) -> String {
    let document = Document::new(Language::of_path(file), None, Arc::new(text.to_owned()));
    let mut out = text.to_owned();
    for Replacement { range, text } in format(&document, &(0..text.len())).into_iter().rev() {
        out.replace_range(range, &text);
    }
    out
}
