//! Recordings with results: `run --record=FILE --with-results`, walked without machine code.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use debug::{Debugger, LaunchOptions, RecordOptions, Resume, StopReason};
use hal::NativeCode;
use recording::Recorded;
use support::made_once;
use twox_hash::{XxHash3_64, XxHash3_128};

use crate::program::{IREE_DBG, data, scratch};
use crate::recorded::{HEADER, chunks, iree_dbg, session};

/// A state of twelve numbers, of which each turn of a loop makes another, and writes a part of a
/// table that stays.
const LOOP: &str = r#"
func.func @turns(%count: index, %start: tensor<12xf32>) -> (tensor<12xf32>, tensor<8x12xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x12xf32>
  %table = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x12xf32>) -> tensor<8x12xf32>
  %state, %rows = scf.for %i = %c0 to %count step %c1
      iter_args(%now = %start, %kept = %table) -> (tensor<12xf32>, tensor<8x12xf32>) {
    %next = tensor.empty() : tensor<12xf32>
    %new = linalg.generic {
        indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]
      } ins(%now : tensor<12xf32>) outs(%next : tensor<12xf32>) {
      ^bb0(%in: f32, %out: f32):
        %less = math.sin %in : f32
        %sum = arith.addf %in, %less : f32
        linalg.yield %sum : f32
      } -> tensor<12xf32>
    %later = tensor.insert_slice %new into %kept[%i, 0] [1, 12] [1, 1]
        : tensor<12xf32> into tensor<8x12xf32>
    scf.yield %new, %later : tensor<12xf32>, tensor<8x12xf32>
  }
  return %state, %rows : tensor<12xf32>, tensor<8x12xf32>
}
"#;

const MACHINE_CODE: [&str; 2] =
    ["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"];

/// A program, compiled in two ways, and its arguments.
struct Sample {
    source: PathBuf,
    arguments: &'static [&'static str],
}

fn samples() -> Vec<Sample> {
    let folder = made_once(scratch("recorded-results"), |folder| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/classifier.mlir");
        fs::copy(example, folder.join("classifier.mlir")).expect("a copy");
        fs::copy(data("twins.mlir"), folder.join("twins.mlir")).expect("a copy");
        fs::write(folder.join("turns.mlir"), LOOP).expect("it is written");
        for name in ["classifier", "turns", "twins"] {
            let source = format!("{name}.mlir");
            IREE_DBG.compile(folder, &source, format!("{name}-vmvx.vmfb"), &[]);
            IREE_DBG.compile(folder, &source, format!("{name}-cpu.vmfb"), &MACHINE_CODE);
        }
    });
    let layers: &[&str] = &[
        "--function=layers",
        "--input=8x8xf32=0.25",
        "--input=8x8xf32=0.125",
        "--input=8x8xf32=0.5",
    ];
    let turns: &[&str] = &["--input=5", "--input=12xf32=1 2 3 4 5 6 7 8 9 10 11 12"];
    let sample = |name: &str, arguments| Sample { source: folder.join(name), arguments };
    vec![
        sample("classifier", &["--input=1x16xf32=9"]),
        sample("turns", turns),
        sample("twins", layers),
    ]
}

/// A recording with results of a program that was compiled for a back end.
fn recording(folder: &Path, sample: &Sample, back_end: &str) -> PathBuf {
    let name = sample.source.file_name().expect("a name").to_string_lossy().into_owned();
    let module = sample.source.with_file_name(format!("{name}-{back_end}.vmfb"));
    let file = folder.join(format!("{name}-{back_end}.run"));
    let (module, record) =
        (format!("--module={}", module.display()), format!("--record={}", file.display()));
    let run = ["run", module.as_str()];
    let (_, plain, _) = iree_dbg(folder, &[&run, sample.arguments].concat());
    let with = [record.as_str(), "--with-results"];
    let (succeeded, output, errors) = iree_dbg(folder, &[&run, sample.arguments, &with].concat());
    assert!(succeeded, "{errors}");
    assert_eq!(output, plain, "a recorded run prints what others print");
    file
}

/// Number, length and digest of each allocation of the device.
type State = Vec<(u64, usize, u64)>;

fn state(debugger: &Debugger) -> State {
    let live = debugger.program().host().device().allocator().live();
    let state = live.iter().map(|it| {
        let storage = it.allocation.storage();
        let bytes = storage.read(0, storage.len());
        (it.number, bytes.len(), XxHash3_64::oneshot(&bytes))
    });
    state.collect()
}

/// The memory before each command, forward and then backwards.
fn states(options: LaunchOptions, commands: u64) -> Vec<State> {
    let mut debugger = Debugger::load(options).expect("it loads");
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = told.clone();
    debugger.set_log_sink(move |message| sink.lock().expect("one thread").push(message.text));
    assert!(matches!(debugger.resume(Resume::Continue), StopReason::Completed(_)));
    // An initialiser may have run the first one, before which there is no way.
    let first = if debugger.go_to_command(1).is_ok() { 1 } else { 2 };
    let mut at = |number| {
        debugger.go_to_command(number).expect("it comes there");
        state(&debugger)
    };
    let forward: Vec<State> = (first..=commands).map(&mut at).collect();
    let backward: Vec<State> = (first..=commands).rev().map(&mut at).collect();
    assert!(forward.iter().eq(backward.iter().rev()), "memory is the same both ways");
    debugger.resume(Resume::Continue);
    assert_eq!(*told.lock().expect("one thread"), Vec::<String>::new());
    forward
}

fn options(recorded: &Recorded) -> LaunchOptions {
    let options = recorded.launch_options(RecordOptions::default());
    options.expect("the file has all of it")
}

/// Where executables of machine code are in a file: ELF files, up to the end of their sections.
fn machine_code(file: &[u8]) -> Vec<Range<usize>> {
    let number = |at: usize, bytes: usize| {
        let bytes = file[at..at + bytes].iter().rev();
        bytes.fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
    };
    let begins = (0..file.len()).filter(|at| file[*at..].starts_with(b"\x7fELF\x02\x01"));
    let end = |at| at + number(at + 40, 8) + number(at + 58, 2) * number(at + 60, 2);
    begins.map(|at| at..end(at)).collect()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A digest of data, as a recording names executables by it.
fn digest(data: &[u8]) -> Vec<u8> {
    let digest = XxHash3_128::oneshot(data);
    [varint((digest >> 64) as u64), varint(digest as u64)].concat()
}

/// The recording with executables of another processor, and without their code.
fn without_code(file: &[u8]) -> Vec<u8> {
    let mut renamed = Vec::new();
    let mut made = file[..HEADER].to_vec();
    for (tag, range) in chunks(file) {
        let mut payload = file[range.start + HEADER..range.end].to_vec();
        for code in if tag == "FILE" { machine_code(&payload) } else { Vec::new() } {
            let before = digest(&payload[code.clone()]);
            payload[code.start + 64..code.end].fill(0);
            // RISC-V.
            payload[code.start + 18..code.start + 20].copy_from_slice(&243_u16.to_le_bytes());
            renamed.push((before, digest(&payload[code])));
        }
        for (before, after) in if tag == "ABOU" { &renamed[..] } else { &[] } {
            let found = payload.windows(before.len()).position(|bytes| bytes == before);
            if let Some(at) = found {
                payload.splice(at..at + before.len(), after.iter().copied());
            }
        }
        let length = (payload.len() as u64).to_le_bytes();
        let checksum = crc32fast::hash(&[tag.as_bytes(), &length, &payload].concat());
        made.extend([tag.as_bytes(), &checksum.to_le_bytes(), &length, &payload].concat());
    }
    assert!(!renamed.is_empty(), "the module has machine code");
    made
}

#[test]
fn memory_is_that_of_the_run_after_each_command_both_ways() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for sample in samples() {
        for back_end in ["vmvx", "cpu"] {
            let file = recording(folder.path(), &sample, back_end);
            let recorded = Recorded::open(&file).expect("a recording");
            let commands = recorded.commands();
            assert!(recorded.result_count().is_some_and(|count| count >= 2));
            let mut kept = options(&recorded);
            kept.host.native_code = NativeCode::Refused;
            let kept = states(kept, commands);
            let live = states(options(&recorded.without_results()), commands);
            let differing = live.iter().zip(&kept).position(|(live, kept)| live != kept);
            assert_eq!((differing, live.len()), (None, kept.len()), "{}", file.display());
            let changed = live.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(changed * 2 >= live.len(), "commands leave something: {changed}");
            if back_end == "cpu" {
                let bare = without_code(&fs::read(&file).expect("it is there"));
                fs::write(&file, bare).expect("it is written");
                let recorded = Recorded::open(&file).expect("a recording");
                assert_eq!(states(options(&recorded), commands), live, "{}", file.display());
                let made = Debugger::load(options(&recorded.without_results()));
                let reason = made.expect("it loads").resume(Resume::Continue);
                assert!(format!("{reason:?}").contains("Failed"), "{reason:?}");
            }
        }
    }
}

const WALK: &[&str] = &[
    "run",
    "rs",
    "rs",
    "print %probabilities",
    "table",
    "goto 3",
    "rs",
    "print %exponentials",
    "history %hidden[0,0]",
    "first nan(*)",
    "goto begin",
    "continue",
];

/// What a session prints without what says where results come from.
fn plain(text: &str) -> String {
    text.replace(", from the recording", "").replace(", as bytecode", "")
}

#[test]
fn sessions_are_those_of_a_run_that_is_made_again() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let classifier = &samples()[0];
    for back_end in ["vmvx", "cpu"] {
        let file = recording(folder, classifier, back_end);
        let file = file.to_str().expect("UTF-8");
        let (kept, notes) = session(folder, &[file, "--no-native"], WALK);
        let (made, other_notes) = session(folder, &[file, "--without-results"], WALK);
        assert_eq!(plain(&kept), made, "{notes}");
        assert!(notes.contains("the results of 4 dispatches come from the recording"), "{notes}");
        assert!(!other_notes.contains("come from the recording"), "{other_notes}");
        assert_eq!(kept.contains(", from the recording"), back_end == "cpu", "{kept}");
        // A dispatch that is stepped into runs as bytecode, and is held to the recording.
        let steps = ["goto 2", "step", "step", "finish", "info record", "set %image[0,0] = 1.0"];
        let (output, _) = session(folder, &[file, "--no-native"], &steps);
        assert!(output.contains("the results of dispatches come from the recording"), "{output}");
        assert!(output.contains("setting a value leads away from the recorded run"), "{output}");
        assert!(output.contains("%lhs") || output.contains("workgroup (0,0,0)"), "{output}");
        assert!(!output.contains("left other bytes"), "{output}");
    }
}

#[test]
fn who_has_written_is_known_as_far_as_bytes_have_changed() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let classifier = &samples()[0];
    let who = ["goto 3", "who-wrote %hidden[0,1]", "goto 4", "who-wrote %exponentials[0,1]"];
    let file = recording(folder, classifier, "cpu");
    let file = file.to_str().expect("UTF-8");
    let (output, _) = session(folder, &[file, "--no-native"], &who);
    for expected in ["%hidden[0,1] was written by", "%exponentials[0,1] was written by"] {
        assert!(output.contains(expected), "{output}");
    }
}

#[test]
fn a_recording_that_ends_early_has_results_up_to_there() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let file = recording(folder, &samples()[0], "cpu");
    let whole = fs::read(&file).expect("it is there");
    let results = chunks(&whole).into_iter().filter(|(tag, _)| tag == "RSLT");
    let ends: Vec<usize> = results.map(|(_, range)| range.end).collect();
    assert_eq!(ends.len(), 4);
    fs::write(folder.join("cut"), &whole[..ends[1]]).expect("it is written");
    let commands = ["goto 3", "print %exponentials", "continue"];
    let (output, notes) = session(folder, &["cut"], &commands);
    assert!(notes.contains("cut short"), "{notes}");
    assert!(output.contains("the recording ends before command 3"), "{output}");
    assert!(output.contains("--without-results (\"withoutResults\""), "{output}");
    // A flipped bit is refused when the file is opened.
    let mut damaged = whole;
    damaged[ends[1] - 1] ^= 1;
    fs::write(folder.join("damaged"), damaged).expect("it is written");
    let (output, notes) = session(folder, &["damaged"], &["run"]);
    assert!(output.is_empty() && notes.contains("damaged at byte"), "{output}{notes}");
}

#[test]
fn results_are_asked_for_with_a_recording_only() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (succeeded, _, errors) =
        iree_dbg(folder.path(), &["run", "--module=none.vmfb", "--with-results"]);
    assert!(!succeeded && errors.contains("--record=FILE"), "{errors}");
}
