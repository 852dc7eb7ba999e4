//! Prints the facts of the operations of an installed compiler: `facts FOLDER`, where the folder is
//! `iree/compiler/dialects` of its Python package. With them `lsp/ide/src/operations/facts.txt` is
//! written anew.

use std::path::Path;

use ide::{InstalledOperations, write_operations};

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    match InstalledOperations::read(Path::new(&folder)) {
        Some(operations) => print!("{}", write_operations(&operations)),
        None => eprintln!("{folder}: there are no operations; name iree/compiler/dialects"),
    }
}
