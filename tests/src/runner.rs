//! A harness whose cases are data. It runs them on all processors and reports like libtest.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A test with a name.
pub struct Case {
    /// Its name in the report and in filters.
    pub name: String,
    /// The test; `Err` describes the failure.
    pub body: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

impl Case {
    /// A test with a name.
    pub fn new(
        name: impl Into<String>,
        body: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), body: Box::new(body) }
    }
}

/// Runs the cases whose names contain one of the words on the command line. Without words, runs
/// all.
#[must_use]
pub fn run(cases: &[Case]) -> ExitCode {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_chosen =
        |case: &&Case| words.is_empty() || words.iter().any(|word| case.name.contains(word));
    let chosen: Vec<&Case> = cases.iter().filter(is_chosen).collect();
    println!("\nrunning {} tests", chosen.len());
    let failures = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = (case.body)();
                    let verdict = if result.is_ok() { "ok" } else { "FAILED" };
                    println!("test {} ... {verdict}", case.name);
                    if let (Err(reason), Ok(mut failures)) = (result, failures.lock()) {
                        failures.push((&case.name, reason));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_default();
    for (name, reason) in &failures {
        println!("\n---- {name} ----\n{reason}");
    }
    let verdict = if failures.is_empty() { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out",
        chosen.len() - failures.len(),
        failures.len(),
        cases.len() - chosen.len()
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
