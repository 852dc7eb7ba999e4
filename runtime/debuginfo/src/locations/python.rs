//! Locations that a framework of Python writes: lines of the Python files that made the program.

use std::path::Path;

use super::table::{LocationTable, SourcePosition};

/// Whether a file is Python by its name.
#[must_use]
pub fn is_python(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|it| it.eq_ignore_ascii_case("py"))
}

/// A column from one. Python counts columns from zero, and frameworks write them so.
pub(crate) fn column(file: &str, written: u32) -> u32 {
    if is_python(file) { written.saturating_add(1) } else { written }
}

/// Whether a file belongs to an installed package, as frameworks themselves do.
fn is_library(file: &str) -> bool {
    let mut folders = file.split(['/', '\\']);
    is_python(file) && folders.any(|it| matches!(it, "site-packages" | "dist-packages"))
}

/// A chain of calls without those that libraries make, unless there are no others.
pub(super) fn without_libraries(
    table: &LocationTable,
    mut chain: Vec<SourcePosition>,
) -> Vec<SourcePosition> {
    let is_library = |at: &SourcePosition| is_library(table.file(at.file));
    if chain.iter().any(|at| at.is_written() && !is_library(at)) {
        chain.retain(|at| !is_library(at));
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locations::LocationBuilder;

    #[test]
    fn calls_of_libraries_are_left_out_if_others_are_there() {
        let mut builder = LocationBuilder::default();
        let own = builder.file("/home/me/model.py");
        let library = builder.file("/env/lib/python3.11/site-packages/jax/nn.py");
        let table = builder.finish();
        let at = |file, line| SourcePosition { file, line, column: 1 };
        let chain = vec![at(library, 1), at(own, 2), at(own, 3), at(library, 4)];
        assert_eq!(without_libraries(&table, chain), [at(own, 2), at(own, 3)]);
        let chain = vec![at(library, 1)];
        assert_eq!(without_libraries(&table, chain.clone()), chain);
        // What the compiler generated has no line, and stays.
        let mut builder = LocationBuilder::default();
        let source = builder.file("model.mlir");
        let chain = vec![at(source, 0), at(source, 2)];
        assert_eq!(without_libraries(&builder.finish(), chain.clone()), chain);
        assert_eq!([column("a.py", 0), column("a.mlir", 0)], [1, 0]);
    }
}
