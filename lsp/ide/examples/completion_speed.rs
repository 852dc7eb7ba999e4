//! How long completion takes in a file of a megabyte, after an edit each time:
//! `cargo run --release -p ide --example completion_speed`. The file is one function of all its
//! lines, then many functions. Milliseconds.

use std::sync::Arc;
use std::time::Instant;

use ide::{Document, Language, TextEdit, complete};

/// The size of the file, in bytes.
const SIZE: usize = 1 << 20;
/// How often completion is asked.
const TIMES: usize = 200;

/// A file of functions of so many lines.
fn file(lines: usize) -> String {
    let mut text = String::new();
    let mut function = 0;
    while text.len() < SIZE {
        text += &format!("func.func @f{function}(%a: i32, %t: tensor<4xf32>) -> i32 {{\n");
        text += "  %0 = arith.constant 1 : i32\n";
        let mut line = 1;
        while line < lines && text.len() < SIZE {
            text += &format!("  %{line} = arith.addi %{}, %a : i32\n", line - 1);
            line += 1;
        }
        text += &format!("  return %{} : i32\n}}\n", line - 1);
        function += 1;
    }
    text
}

fn main() {
    for (what, lines) in [("one function", usize::MAX), ("functions of 20 lines", 20)] {
        let mut text = file(lines);
        let mut document = Document::new(Language::Mlir, None, Arc::new(text.clone()));
        let _ = complete(&document, text.len() / 2);
        let mut times = Vec::new();
        for turn in 0..TIMES {
            // A line is begun somewhere, and left as it is.
            let near = (turn * 7919 * 4096) % (SIZE - 4096) + 1024;
            let at = near + text[near..].find("\n  %").map_or(0, |line| line + 1);
            let typed = ["  %new = arith.addi %", "  %new = arith.", "  %new = tensor.empty() : "];
            let typed = typed[turn % typed.len()];
            text.insert_str(at, &format!("{typed}\n"));
            let edit = TextEdit { start: at, removed: 0, inserted: typed.len() + 1 };
            document = document.edited(Arc::new(text.clone()), edit);
            let begin = Instant::now();
            let found = complete(&document, at + typed.len());
            times.push(begin.elapsed().as_secs_f64() * 1e3);
            assert!(!found.items.is_empty(), "{typed}");
        }
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times[times.len() * share / 100];
        println!("{what}: p50 {:.2}, p99 {:.2}, most {:.2}", at(50), at(99), times[TIMES - 1]);
    }
}
