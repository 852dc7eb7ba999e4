//! Ways through a recorded run, beside what a session sees that goes forward step by step:
//! `reverse-until`, `last`, `history` of a global, `goto` before the program has begun, and where
//! recordings open that have no end.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::fs;
use std::path::{Path, PathBuf};

use support::made_once;

use crate::program::{IREE_DBG, scratch};
use crate::recorded::{chunks, iree_dbg, recording, session};

const RUN: [&str; 5] = ["--record", "newton.vmfb", "--function=main", "--input=2.0", "--input=6"];

/// The folder of newton.vmfb, compiled with its debug file.
pub(crate) fn newton() -> PathBuf {
    made_once(scratch("newton"), |folder| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/newton.mlir");
        fs::copy(example, folder.join("newton.mlir")).expect("a copy");
        IREE_DBG.compile(folder, "newton.mlir", "newton.vmfb", &[]);
    })
}

/// The first line of each answer to a command.
fn answers<'o>(output: &'o str, command: &str) -> Vec<&'o str> {
    let asked = format!("(iree-dbg) {command}");
    let lines: Vec<&str> = output.lines().collect();
    let found = lines.windows(2).filter(|pair| pair[0] == asked);
    found.map(|pair| pair[1]).collect()
}

/// A session that does something, and then again and again something else with questions.
fn repeated(begin: &[&str], again: &[&str], times: usize) -> String {
    let mut commands = begin.to_vec();
    (0..times).for_each(|_| commands.extend(again));
    session(&newton(), &RUN, &commands).0
}

#[test]
fn reverse_until_meets_each_visit() {
    let ahead = repeated(&["break newton.mlir:14", "run"], &["when", "continue"], 6);
    let mut expected = answers(&ahead, "when");
    assert_eq!(expected.len(), 6, "{ahead}");
    expected.reverse();
    let back = repeated(&["run", "rs"], &["reverse-until newton.mlir:14", "when"], 6);
    assert_eq!(answers(&back, "when"), expected, "{back}");
    // Other breakpoints do not stop it, and it stands where it stood if it was never there.
    let begin = ["break improve", "run", "continue", "continue", "when"];
    let output = repeated(&begin, &["reverse-until newton.mlir:37", "when"], 1);
    assert!(output.contains("error: the program has not been there"), "{output}");
    let stood = answers(&output, "when");
    assert!(stood.len() == 2 && stood[0] == stood[1], "{output}");
}

#[test]
fn last_is_the_last_of_all_stops_at_which_it_was_true() {
    let condition = "%guess > 1.45";
    let ask = format!("p {condition}");
    let ahead = repeated(&["start"], &[&ask, "when", "step"], 120);
    let stops: Vec<(&str, bool)> = answers(&ahead, "when")
        .into_iter()
        .zip(answers(&ahead, &ask))
        .map(|(when, said)| (when, said.contains("true")))
        .collect();
    let mut expected: Vec<&str> =
        stops.iter().filter(|(_, is_true)| *is_true).map(|(when, _)| *when).collect();
    expected.dedup();
    expected.reverse();
    assert!(expected.len() > 5, "{ahead}");
    let back = repeated(&["run", "rs"], &[&format!("last {condition}"), "when"], expected.len());
    assert_eq!(answers(&back, "when"), expected, "{back}");
    let never = repeated(&["run", "rs", "when"], &["last %guess > 100", "when"], 1);
    assert!(never.contains("was true at none of the"), "{never}");
    let stood = answers(&never, "when");
    assert!(stood.len() == 2 && stood[0] == stood[1], "{never}");
}

/// Instruction by instruction, and asked each time.
#[test]
fn history_has_the_values_that_brute_force_sees() {
    let ahead = repeated(&["start"], &["p @calls", "stepi"], 200);
    let seen = answers(&ahead, "p @calls").into_iter();
    let seen = seen.filter_map(|line| line.rsplit(" = ").next()?.split(" : ").next());
    let mut expected: Vec<&str> = seen.filter(|it| it.parse::<u64>().is_ok()).collect();
    expected.dedup();
    assert_eq!(expected.len(), 7, "{ahead}");
    let output = repeated(&["run", "rs"], &["history @calls", "where"], 1);
    let table = output.split("(iree-dbg) history @calls").nth(1).expect("an answer");
    let lines = table.lines().filter(|line| line.starts_with("  "));
    let found: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(found, expected, "{output}");
}

#[test]
fn goto_begins_the_program() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let file = recording(folder, 9.0);
    let file = file.to_str().expect("UTF-8");
    for (way, place) in [
        ("goto 3", "#0 classify, command 3: dispatch @classify_dispatch_2_reduction_4_f32"),
        ("first nan(*)", "#0 classify, command 4: dispatch"),
    ] {
        let (alone, _) = session(folder, &[file], &[way, "when"]);
        let (after, _) = session(folder, &[file], &["start", way, "when"]);
        assert!(alone.contains(place), "{alone}");
        assert_eq!(answers(&alone, "when"), answers(&after, "when"), "{alone}");
    }
    let (output, _) = session(folder, &[file], &["goto 9", "where", "rs"]);
    assert!(output.contains("error: the program runs 4 commands in all"), "{output}");
    let (output, _) = session(folder, &[file], &["rs"]);
    assert!(output.contains("error: the program has not begun"), "{output}");
}

#[test]
fn a_recording_without_an_end_opens_where_it_ends() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    // A loop of two thousand million turns.
    let (_, _, errors) = iree_dbg(
        folder,
        &["asm", &format!("--output={}", folder.join("count.vmfb").display()), COUNT],
    );
    assert!(errors.is_empty(), "{errors}");
    let mut child = IREE_DBG
        .command()
        .args(["run", "--module=count.vmfb", "--function=count", "--input=2000000000"])
        .arg("--record=killed")
        .current_dir(folder)
        .spawn()
        .expect("it starts");
    let has_begun = || {
        let whole = fs::read(folder.join("killed")).unwrap_or_default();
        // Two marks after that of the beginning.
        chunks_so_far(&whole).iter().filter(|tag| *tag == "PART").count() > 3
    };
    while !has_begun() && child.try_wait().expect("a process").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().expect("it runs still");
    child.wait().expect("it ends");
    let (output, notes) = session(folder, &["killed"], &["when", "rsi", "when"]);
    assert!(notes.contains("a run that was not finished"), "{notes}");
    let turns: Vec<u64> = answers(&output, "when")
        .iter()
        .filter_map(|when| when.trim_start_matches('@').split('.').next()?.parse().ok())
        .collect();
    assert!(turns.len() == 2 && turns[0] > 0 && turns[1] <= turns[0], "{output}");
    assert!(notes.contains(&format!("turn {} ", turns[0])), "{notes} {output}");
    assert!(output.contains(&format!("(iree-dbg) goto @{}.", turns[0])), "{output}");

    // In the middle of its commands.
    let whole = fs::read(recording(folder, 9.0)).expect("it is there");
    let end = chunks(&whole).last().expect("an end").1.start;
    fs::write(folder.join("cut"), &whole[..end]).expect("it is written");
    let (output, _) = session(folder, &["cut"], &["info program", "rs", "where"]);
    assert!(output.starts_with("(iree-dbg) goto @"), "{output}");
    assert!(output.contains("#0 classify, command 4: dispatch"), "{output}");
}

const COUNT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/example/count.vmasm");

/// The tags of the chunks that are whole.
fn chunks_so_far(file: &[u8]) -> Vec<String> {
    let (mut at, mut found) = (16, Vec::new());
    while let Some(head) = file.get(at..at + 16) {
        let length = u64::from_le_bytes(head[8..].try_into().expect("8 bytes"));
        at += 16 + usize::try_from(length).unwrap_or(usize::MAX / 2);
        if at <= file.len() {
            found.push(String::from_utf8_lossy(&head[..4]).into_owned());
        }
    }
    found
}
