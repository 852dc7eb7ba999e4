//! Golden sessions of the terminal debugger on modules of older compilers. The modules are
//! committed, so that this needs none of the compilers.
//!
//! `stops.script` runs on each module; its expected output is beside it, by the module's name. To
//! accept new output, run with `UPDATE_EXPECT=1` and read the difference.

use support::{Expected, printed};

use crate::program::{IREE_DBG, data};

#[test]
fn stops_are_on_their_lines_and_know_what_a_dispatch_reads() {
    let directory = data("older");
    let mut expected = Expected::default();
    for release in ["3.1.0", "3.10.0"] {
        let module = format!("program-{release}.vmfb");
        let session = ["debug", "--batch", "--input=4x4xf32=2", "-x", "stops.script", &module];
        let output = IREE_DBG.run(&directory, &session);
        let file = directory.join(format!("program-{release}.expected"));
        expected.compare(&file, &printed(&output));
    }
    expected.finish();
}
