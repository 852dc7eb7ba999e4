//! Compares standard input with the directives of a text, with FileCheck's arguments:
//! `cargo run -p filecheck --example compare -- checks.mlir --check-prefix=A <output`.

use std::io::Read;
use std::process::ExitCode;

use filecheck::{CheckFile, Options, compare};

fn verdict() -> Result<bool, Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (options, file) = Options::read(&arguments)?;
    let path = file.ok_or("expected a text with directives")?;
    let text = std::fs::read_to_string(&path)?;
    let mut output = String::new();
    std::io::stdin().read_to_string(&mut output)?;
    let file = CheckFile::read(&text, &options)?;
    let outcome = compare(&file, &options, &output);
    for failure in &outcome.failures {
        let line = failure.directive.map_or(0, |index| file.directives[index].line);
        println!("{path}:{line}: {}", failure.message);
    }
    Ok(outcome.is_right())
}

fn main() -> ExitCode {
    match verdict() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            println!("refused: {why}");
            ExitCode::from(2)
        }
    }
}
