//! A debug file gives what it has, within its budget, or says what is wrong with it.
#![no_main]

use std::path::Path;

use debuginfo::{Companion, DebugFile, DispatchInterfaces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = DebugFile::of(Path::new("x.debug"), bytes.to_vec().into()) else { return };
    if let Ok(Some(text)) = file.companion() {
        let _ = Companion::parse(&text);
    }
    if let Ok(Some(text)) = file.dispatches() {
        let _ = DispatchInterfaces::parse(&text);
    }
    let _ = (file.flow(), file.input(), file.twin("x"), file.names());
    let _ = (file.model_nodes(), file.constant("__elided__4_0"));
    let _ = file.python_map().map(|it| debuginfo::PythonMap::read(&it));
});
