//! Conformance: IREE's tools and ours print, assemble and run every module of the corpus. IREE is
//! the oracle: texts, modules and results must be equal.

mod assemble;
mod coverage;
mod print;
mod run;

use std::process::ExitCode;

use conformance::corpus::{Source, Variant, sources};
use conformance::runner::{self, Case};

fn main() -> ExitCode {
    let sources = match sources() {
        Ok(sources) => sources,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut cases = Vec::new();
    for source in &sources {
        for variant in source.variants() {
            let source = source.clone();
            let name = format!("{} {}", source.name(), variant.name());
            cases.push(Case::new(name, move || all(&source, variant)));
        }
    }
    cases.push(Case::new("coverage of instructions", move || coverage::check(&sources)));
    cases.push(Case::new("instructions of the compiler", coverage::compiler));
    runner::run(&cases)
}

/// All comparisons for one module. All differences are reported, not only the first.
fn all(source: &Source, variant: Variant) -> Result<(), String> {
    let modules = source.modules(variant)?;
    let [.., module] = modules.as_slice() else { return Err("there is no module".to_owned()) };
    let mut failures = Vec::new();
    failures.extend(print::check(source, module).err());
    failures.extend(assemble::check(source, variant, module).err());
    for arguments in &source.runs {
        failures.extend(run::check(&modules, arguments).err());
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}
