//! Recorded runs as files: `run --record=FILE` and `debug FILE`.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use support::{made_once, text};

use crate::program::{IREE_DBG, scratch};

/// Bytes of the header, and of a chunk before its payload: see `recording::chunks`.
pub(crate) const HEADER: usize = 16;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("example").join(name)
}

/// Runs the binary in a folder. Returns whether it succeeded, standard output and standard error.
pub(crate) fn iree_dbg(folder: &Path, arguments: &[&str]) -> (bool, String, String) {
    let output = IREE_DBG.run(folder, arguments);
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// A session of these commands with a recording or a module. Returns both outputs.
pub(crate) fn session(folder: &Path, arguments: &[&str], commands: &[&str]) -> (String, String) {
    let commands = commands.iter().flat_map(|command| ["-ex", command]);
    let arguments = ["debug"].into_iter().chain(arguments.iter().copied());
    let all: Vec<&str> = arguments.chain(["--batch"]).chain(commands).collect();
    let (_, output, errors) = iree_dbg(folder, &all);
    (output, errors)
}

/// The classifier, compiled.
pub(crate) fn module() -> PathBuf {
    let folder = made_once(scratch("recorded"), |folder| {
        fs::copy(example("classifier.mlir"), folder.join("classifier.mlir")).expect("a copy");
        IREE_DBG.compile(folder, "classifier.mlir", "classifier.vmfb", &[]);
    });
    folder.join("classifier.vmfb")
}

/// An array of NumPy's: 1x16xf32, all of one value.
fn array(value: f32) -> Vec<u8> {
    let mut head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 16), }".to_owned();
    head.push_str(&" ".repeat(117 - head.len()));
    let head = [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), head.as_bytes(), b"\n"].concat();
    [head, value.to_le_bytes().repeat(16)].concat()
}

/// A recording of the classifier, called with the array of a file. Neither that file nor the
/// module is where it was.
pub(crate) fn recording(folder: &Path, value: f32) -> PathBuf {
    let away = tempfile::tempdir().expect("a scratch folder");
    for (from, name) in [("vmfb", "classifier.vmfb"), ("vmfb.debug", "classifier.vmfb.debug")] {
        fs::copy(module().with_extension(from), away.path().join(name)).expect("a copy");
    }
    fs::write(away.path().join("in.npy"), array(value)).expect("it is written");
    let file = folder.join(format!("run-{value}"));
    let record = format!("--record={}", file.display());
    let run = ["run", "--module=classifier.vmfb", "--input=@in.npy"];
    let (_, plain, _) = iree_dbg(away.path(), &run);
    let (succeeded, output, errors) = iree_dbg(away.path(), &[run.as_slice(), &[&record]].concat());
    assert!(succeeded, "{errors}");
    assert_eq!(output, plain, "a recorded run prints what others print");
    file
}

/// The chunks of a file: the tag of each, and its bytes.
pub(crate) fn chunks(file: &[u8]) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = HEADER;
    while at < file.len() {
        let tag = text(&file[at..at + 4]);
        let length = u64::from_le_bytes(file[at + 8..at + 16].try_into().expect("8 bytes"));
        let end = at + HEADER + usize::try_from(length).expect("it is in memory");
        found.push((tag, at..end));
        at = end;
    }
    found
}

const BACK: &[&str] = &["run", "rs", "who-wrote %probabilities[0, 2]", "goto begin", "continue"];

#[test]
fn a_recording_is_made_again_elsewhere() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = recording(folder.path(), 9.0);
    let (output, errors) = session(folder.path(), &[file.to_str().expect("UTF-8")], BACK);
    let input = "--input=1x16xf32=9";
    let path = module();
    let module = path.to_str().expect("UTF-8");
    let (expected, _) =
        session(path.parent().expect("a folder"), &["--record", module, input], BACK);
    assert_eq!(output, expected);
    assert!(output.contains("NAN") && output.contains("dispatch_3"), "{output}");
    assert!(errors.contains("a whole run; 4 commands"), "{errors}");
    // What the program is and was given is known.
    let (output, errors) =
        session(folder.path(), &["--input=1", file.to_str().expect("UTF-8")], &[]);
    assert!(output.is_empty() && errors.contains("so no others can be given"), "{errors}");
}

#[test]
fn programs_without_dispatches_are_recorded_too() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let module = format!("--module={}", example("newton.vmfb").display());
    let run = ["run", &module, "--function=main", "--input=2.0", "--input=5", "--record=run"];
    let (succeeded, _, errors) = iree_dbg(folder.path(), &run);
    assert!(succeeded, "{errors}");
    let commands = ["break improve", "run", "continue", "rc", "locals"];
    let (output, _) = session(folder.path(), &["run"], &commands);
    assert!(output.contains("%x = 2 : f32") && output.contains("newton.mlir:"), "{output}");
    assert!(!output.contains("not the recorded one"), "{output}");
}

#[test]
fn only_a_failure_leaves_a_file_if_that_is_wanted() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let module = format!("--module={}", module().display());
    let run = |more: &[&str]| {
        let own = ["run", module.as_str(), "--input=1x16xf32=9", "--record-on-failure=last"];
        iree_dbg(folder.path(), &[own.as_slice(), more].concat())
    };
    let left = || fs::read_dir(folder.path()).expect("a folder").count();
    let (succeeded, ..) = run(&[]);
    assert_eq!((succeeded, left()), (true, 0));
    let (succeeded, _, failure) = run(&["--max_steps=20"]);
    assert_eq!((succeeded, left()), (false, 1));
    assert!(failure.contains("RESOURCE_EXHAUSTED") && failure.contains("debug last"), "{failure}");
    // It is opened at the failure.
    let (output, notes) = session(folder.path(), &["last"], &["rs"]);
    assert!(output.starts_with("(iree-dbg) run\n"), "{output}");
    assert!(notes.contains("a run that has failed: RESOURCE_EXHAUSTED"), "{notes}");
    assert!(output.contains("The program failed: RESOURCE_EXHAUSTED"), "{output}");
    assert!(output.lines().last().is_some_and(|line| line.contains('\t')), "{output}");
}

#[test]
fn a_file_that_is_cut_short_is_used_as_far_as_it_goes() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let whole = fs::read(recording(folder.path(), 9.0)).expect("it is there");
    let chunks = chunks(&whole);
    let program = chunks.iter().find(|(tag, _)| tag == "LNCH").expect("a program").1.end;
    let ends = chunks.iter().flat_map(|(_, range)| [range.start, range.start + 20, range.end - 1]);
    for end in ends.chain([0, 3, HEADER]) {
        let cut = folder.path().join("cut");
        fs::write(&cut, &whole[..end]).expect("it is written");
        let (output, errors) = session(folder.path(), &["cut"], &["run", "rs"]);
        if end >= program {
            assert!(errors.contains("cut short at byte"), "{end}: {errors}");
            assert!(output.contains("NAN") && output.contains("classifier.mlir:62"), "{output}");
        } else if end < 8 {
            assert!(output.is_empty() && errors.contains("error:"), "{end}: {errors}");
        } else {
            assert!(errors.contains("before the program and its inputs"), "{end}: {errors}");
        }
    }
}

#[test]
fn a_damaged_file_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let whole = fs::read(recording(folder.path(), 9.0)).expect("it is there");
    for (tag, range) in chunks(&whole) {
        // Its tag, its checksum, and its first and last byte.
        for at in [range.start, range.start + 5, range.start + HEADER, range.end - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(folder.path().join("damaged"), bytes).expect("it is written");
            let (output, errors) = session(folder.path(), &["damaged"], &["run"]);
            let expected = format!("damaged at byte {}", range.start);
            assert!(output.is_empty() && errors.contains(&expected), "{tag} {at}: {errors}");
        }
    }
}

/// The program of one recording with the run of another.
pub(crate) fn mixed(folder: &Path, program: &Path, run: &Path) -> PathBuf {
    let (program, run) = (fs::read(program).expect("a file"), fs::read(run).expect("a file"));
    let is_run = |tag: &str| matches!(tag, "PART" | "ROWS" | "END ");
    let of = |file: &[u8], wanted: bool| -> Vec<u8> {
        let chunks = chunks(file).into_iter().filter(|(tag, _)| is_run(tag) == wanted);
        chunks.flat_map(|(_, range)| file[range].to_vec()).collect()
    };
    let mixed = [&program[..HEADER], &of(&program, false), &of(&run, true)].concat();
    let path = folder.join("mixed");
    fs::write(&path, mixed).expect("it is written");
    path
}

/// A run that is held to what another one has left is told to be another.
#[test]
fn a_run_that_does_not_repeat_the_recording_says_so() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    mixed(folder, &recording(folder, 9.0), &recording(folder, 1.0));
    let (output, _) = session(folder, &["mixed"], &["run"]);
    let expected = "command 1, dispatch @classify_dispatch_0_matmul_1x8x16_f32, has left other \
                    bytes than in the recording: its workgroups do not race";
    assert!(output.contains(expected), "{output}");
    assert!(output.contains("NAN"), "{output}");

    let module = format!("--module={}", example("newton.vmfb").display());
    for (input, record) in [("--input=2.0", "--record=two"), ("--input=3.0", "--record=three")] {
        let run = ["run", &module, "--function=main", input, "--input=5", record];
        assert!(iree_dbg(folder, &run).0);
    }
    mixed(folder, &folder.join("two"), &folder.join("three"));
    let (output, _) = session(folder, &["mixed"], &["run"]);
    assert!(output.contains("this run is not the recorded one"), "{output}");
}
