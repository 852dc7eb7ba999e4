//! The register types inferred from the bytecode are the ones that companions state, for every
//! value of every program here; so modules without a companion show values in their true width.
//!
//! Needs iree-compile, as `compiled.rs` does.

use std::fs;
use std::path::{Path, PathBuf};

use compile::{Cancellation, CompileRequest, compile};
use debuginfo::{Companion, DebugFile, DebugInfo, RegisterTypes};
use vmfb::{Module, Op};

/// The corpora: this crate's, debuginfo's, and the workspace's.
const CORPORA: [&str; 4] =
    ["tests/corpus", "../debuginfo/tests/golden", "../../tests/corpus", "../../tests/models"];

/// Programs that need several devices, or machine code.
const LEFT_OUT: [&str; 2] = ["devices.mlir", "half_floats.mlir"];

fn sources() -> Vec<PathBuf> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = CORPORA.iter().map(|folder| crate_folder.join(folder));
    let entries = folders.flat_map(|folder| fs::read_dir(folder).expect("a folder of sources"));
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut sources: Vec<PathBuf> = paths
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".mlir")
                && !name.ends_with(".companion.mlir")
                && !LEFT_OUT.contains(&&*name)
        })
        .collect();
    sources.sort();
    sources
}

/// The flags that a source requests.
fn flags_of(source: &Path) -> Vec<String> {
    let text = fs::read_to_string(source).expect("the source is readable");
    let asked = text.lines().filter_map(|line| {
        line.strip_prefix("// flags: ").or_else(|| line.strip_prefix("// COMPILE-WITH: "))
    });
    asked.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// The number of values with the type that the companion states, and the values with another.
#[derive(Default)]
struct Found {
    agreeing: usize,
    others: Vec<String>,
}

impl Found {
    fn compare(&mut self, module: &Module, companion: &Companion, context: &str) {
        let info = DebugInfo::load(module, Some(companion));
        let without = DebugInfo::load(module, None);
        for (ordinal, _) in module.functions_with_ordinals() {
            let types = RegisterTypes::infer(module, ordinal);
            for instruction in vmfb::instructions(module.function_bytecode(ordinal)) {
                let instruction = instruction.expect("the compiler writes whole instructions");
                if instruction.op == Op::Block {
                    continue;
                }
                let inferred = types.before(module, ordinal, instruction.offset);
                let named = info.live_values(ordinal, instruction.offset);
                // Without a companion, values that the source names get their types from the
                // bytecode alone.
                for local in
                    named.into_iter().chain(without.live_values(ordinal, instruction.offset))
                {
                    if inferred.contains(&local.register) {
                        self.agreeing += 1;
                        continue;
                    }
                    let (name, mlir_type) = (&local.name, &local.mlir_type);
                    let same = inferred.iter().find(|it| it.ordinal() == local.register.ordinal());
                    self.others.push(format!(
                        "{context}, {ordinal:?} at {}: {name} : {mlir_type} is in {:?}, {same:?}",
                        instruction.offset, local.register
                    ));
                }
            }
        }
    }
}

#[test]
fn inferred_types_are_those_of_the_companion() {
    let mut found = Found::default();
    let mut nested_modules = 0;
    for source in sources() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut flags = flags_of(&source);
        flags.push("--iree-input-demote-f64-to-f32=false".to_owned());
        flags.sort();
        flags.dedup();
        let request = CompileRequest {
            input: source.clone(),
            output: folder.path().join("module.vmfb"),
            flags,
            ..CompileRequest::default()
        };
        let compiled = compile(&request, &Cancellation::default(), &mut |_| {});
        let output = compiled.unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        let module = Module::open(&output.module).expect("the module loads");
        let file = DebugFile::open(&output.debug_file);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        let text = file.companion().expect("it is whole").expect("a companion");
        let companion = Companion::parse(&text).expect("a companion");
        let context = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.compare(&module, &companion, &context);
        for nested in &companion.nested {
            let bytes = module.rodata_bytes(nested.rodata).expect("the segment is there");
            let inner = Module::from_bytes(bytes.to_vec()).expect("an executable is a module");
            let text = Companion::nested_text(&text, nested);
            let companion = Companion::parse(&text).expect("a companion");
            found.compare(&inner, &companion, &format!("{context} {}", nested.name));
            nested_modules += 1;
        }
    }
    let shown = found.others.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        found.others.is_empty(),
        "{} agree, {} do not:\n{shown}",
        found.agreeing,
        found.others.len()
    );
    assert!(found.agreeing > 10_000 && nested_modules > 5, "{} {nested_modules}", found.agreeing);
}
