//! The operations of the compiler that is installed here, compared with its package.

use std::path::PathBuf;

use ide::{InstalledOperations, installed_dialects, shipped_operations, write_operations};

#[test]
fn every_operation_of_the_package_is_read() {
    let program = std::env::var("IREE_COMPILE").unwrap_or_else(|_| "iree-compile".into());
    let folder: PathBuf = installed_dialects(&program, &[])
        .expect("iree-compile: install it with `pip install iree-base-compiler`");
    let read = InstalledOperations::read(&folder).expect("operations");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder").flatten() {
        if !entry.file_name().to_string_lossy().ends_with("_ops_gen.py") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).expect("a table");
        for (at, marker) in text.match_indices("OPERATION_NAME = \"") {
            let name = text[at + marker.len()..].split('"').next().expect("a name");
            assert!(read.get(name).is_some(), "{name} is not read");
            count += 1;
        }
    }
    assert!(count > 1000, "{count} operations");
    let names = |op: &str| {
        let operation = read.get(op).expect("the operation");
        let parts = |parts: &[ide::Part]| {
            parts.iter().map(|part| part.name.clone()).collect::<Vec<_>>().join(" ")
        };
        format!("{} -> {}", parts(&operation.operands), parts(&operation.results))
    };
    assert_eq!(names("arith.addi"), "lhs rhs -> result");
    assert_eq!(names("tensor.insert"), "scalar dest indices -> result");
    let documented = read.get("scf.for").expect("scf.for");
    assert!(documented.has_regions && documented.documentation.contains("lower bound"));
}

/// Where no compiler is installed, operations are known as this one has them.
#[test]
fn the_facts_that_are_shipped_are_those_of_the_package() {
    let program = std::env::var("IREE_COMPILE").unwrap_or_else(|_| "iree-compile".into());
    let folder = installed_dialects(&program, &[]).expect("iree-compile");
    let read = write_operations(&InstalledOperations::read(&folder).expect("operations"));
    let shipped = write_operations(&shipped_operations());
    let first = read.lines().zip(shipped.lines()).find(|(read, shipped)| read != shipped);
    let how = "cargo run -p ide --example facts iree/compiler/dialects > operations/facts.txt";
    assert!(read == shipped, "{first:?}: {how}");
    assert!(shipped.lines().count() > 2000, "{} lines", shipped.lines().count());
}
