//! The table of a recorded run: `table`, `first nan(*)`, `iree-dbg table FILE`, and
//! `iree-dbg diff A B` of two recordings. That its rows are right, `iree-dbg tensors` says, which
//! stops after each dispatch and looks at memory.
//!
//! Needs iree-compile: `pip install iree-base-compiler`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use support::text;

use crate::program::IREE_DBG;
use crate::recorded::{HEADER, chunks, iree_dbg, mixed, module, recording, session};
use crate::ways_back::newton;

/// The rows of a recording.
fn rows(folder: &Path, file: &Path) -> Vec<Value> {
    let (succeeded, output, errors) =
        iree_dbg(folder, &["table", file.to_str().expect("UTF-8"), "--json"]);
    assert!(succeeded, "{errors}");
    let table: Value = serde_json::from_str(&output).expect("JSON");
    table["rows"].as_array().expect("rows").clone()
}

/// The status and the output of a comparison of two recordings.
fn diff(a: &Path, b: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = IREE_DBG.command().arg("diff").args([a, b]).args(more).output().expect("it runs");
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

/// The lines of the last `table` of a session, without the mark of where the program stands and the
/// widths of its columns.
fn last_table(output: &str) -> Vec<String> {
    let table = output.rsplit("(iree-dbg) table").next().unwrap_or_default();
    let lines = table.lines().skip(1).take_while(|line| !line.starts_with("(iree-dbg)"));
    let words = lines.map(|line| line.trim_start_matches('>').split_whitespace());
    words.map(|line| line.collect::<Vec<_>>().join(" ")).collect()
}

/// The hash that a line of a table ends with, by the name of its tensor.
fn hashes(lines: &[String]) -> BTreeMap<String, String> {
    let named = lines.iter().filter_map(|line| {
        let name = line.split(' ').find(|cell| cell.starts_with('%'))?;
        let name = name.split(':').next()?;
        Some((name.to_owned(), line.split(' ').next_back()?.to_owned()))
    });
    named.collect()
}

#[test]
fn rows_have_what_each_dispatch_has_left() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = module();
    let module = path.to_str().expect("UTF-8");
    for (device, value) in [("local-sync", "90"), ("local-task", "90"), ("local-task", "0.5")] {
        let (device, input) = (format!("--device={device}"), format!("--input=1x16xf32={value}"));
        let loaded = format!("--module={module}");
        let run = ["run", &loaded, &input, &device, "--record=run"];
        let (succeeded, _, errors) = iree_dbg(folder.path(), &run);
        assert!(succeeded, "{errors}");
        let rows = rows(folder.path(), Path::new("run"));
        let written = rows.iter().flat_map(|row| {
            let tensors = row["tensors"].as_array().expect("tensors").iter();
            tensors.map(move |it| (row, it))
        });
        let (_, printed, _) =
            iree_dbg(folder.path(), &["tensors", module, &input, &device, "--format=json"]);
        let seen: Vec<Value> =
            printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(seen.len(), 4, "{printed}");
        let numbers: Vec<&Value> = rows.iter().map(|row| &row["command"]).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        for ((row, written), seen) in written.zip(&seen) {
            assert_eq!(row["name"], seen["dispatch"]);
            assert_eq!(row["line"], seen["line"]);
            for key in ["type", "hash", "nan", "inf"] {
                assert_eq!(written[key], seen[key], "{key} of {row}");
            }
            for key in ["min", "max"] {
                let number = seen[key].as_str().map(|it| it.parse::<f64>().expect("a number"));
                // The table has that of the finite elements.
                let number = number.filter(|it| it.is_finite()).map(|it| it as f32);
                let own = written[key].as_f64().map(|it| it as f32);
                assert_eq!(own, number, "{key} of {row}");
            }
            assert_eq!(written["name"], seen["names"][0]);
        }
    }
}

#[test]
fn recordings_are_compared_by_hashes_alone() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let (one, nine) = (recording(folder, 1.0), recording(folder, 9.0));
    let (status, said) = diff(&nine, &nine, &[]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("nothing differs"), "{said}");
    let (status, said) = diff(&one, &nine, &[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("the runs have other inputs"), "{said}");
    let place = "at classifier.mlir:16, is the first that has left something else: %hidden";
    assert!(said.contains(place), "{said}");
    let (_, said) = diff(&one, &nine, &["--json"]);
    let found: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((&found["verdict"], &found["first"]["command"]), (&"differs".into(), &1.into()));
    assert_eq!(found["first"]["a"], rows(folder, &one)[0]);

    // A later command: both have the rows of one run up to there.
    let whole = fs::read(&nine).expect("it is there");
    let of = |file: &[u8], tag: &str| -> Vec<u8> {
        let chunks = chunks(file).into_iter().filter(|(it, _)| it == tag);
        chunks.flat_map(|(_, range)| file[range].to_vec()).collect()
    };
    let all: Vec<(String, std::ops::Range<usize>)> = chunks(&whole);
    let (_, end) = all.last().expect("an end");
    let cut = folder.join("cut");
    fs::write(&cut, &whole[..end.start]).expect("it is written");
    let (status, said) = diff(&nine, &cut, &[]);
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("the run was not finished"), "{said}");
    assert!(said.contains("nothing differs as far as both files go"), "{said}");

    // As an earlier version has written it.
    let without: Vec<u8> = all
        .iter()
        .filter(|(tag, _)| tag != "ROWS")
        .flat_map(|(_, range)| whole[range.clone()].to_vec())
        .collect();
    assert!(!of(&whole, "ROWS").is_empty());
    let old = folder.join("old");
    fs::write(&old, [&whole[..HEADER], &without].concat()).expect("it is written");
    let (status, said) = diff(&nine, &old, &[]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("old has no table"), "{said}");
    let (succeeded, _, said) = iree_dbg(folder, &["table", "old"]);
    assert!(!succeeded && said.contains("has no table"), "{said}");
    // It is made while the program runs.
    let (output, _) = session(folder, &["old"], &["table", "run", "table"]);
    assert!(output.contains("no command has run yet"), "{output}");
    let (expected, _) = session(folder, &[nine.to_str().expect("UTF-8")], &["table"]);
    assert_eq!(last_table(&output), last_table(&expected));

    // Nothing else goes with that.
    for more in [&["--reference"][..], &["--mode=accumulated"], &["--input=1"]] {
        let (status, said) = diff(&nine, &nine, more);
        assert_eq!(status, Some(2), "{said}");
    }
    let (status, said) = diff(&nine, &module(), &[]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("compared with another one"), "{said}");
}

#[test]
fn rows_are_of_the_run_and_not_of_where_the_program_stands() {
    let path = module();
    let folder = path.parent().expect("a folder");
    let module = path.to_str().expect("UTF-8");
    let called = |input: &str, more: &[&str], commands: &[&str]| {
        let arguments = [more, &[module, input]].concat();
        session(folder, &arguments, commands).0
    };
    let at = |more: &[&str], commands: &[&str]| called("--input=1x16xf32=9", more, commands);
    let whole = last_table(&at(&["--record"], &["run", "table"]));
    assert_eq!(whole.len(), 4, "{whole:?}");
    for way in [
        &["run", "rs", "rs", "rs", "table"][..],
        &["run", "goto 2", "table"],
        &["run", "goto begin", "goto 3", "table"],
        &["run", "first nan(*)", "continue", "table"],
    ] {
        assert_eq!(last_table(&at(&["--record"], way)), whole, "{way:?}");
    }
    // Without memory for a way back.
    let without = ["--record-memory=0", "--record-disk=0"];
    assert_eq!(last_table(&at(&without, &["run", "table"])), whole);
    // What ran before the recording has no row.
    let later = ["break dispatch '*_2_*'", "run", "record", "continue", "table"];
    assert_eq!(last_table(&at(&[], &later)), whole[2..]);
    let none = at(&[], &["run", "table"]);
    assert!(none.contains("nothing is recorded"), "{none}");

    // What a change by hand leads to has other rows, with the hashes of what is in memory then.
    let input = "--input=1x16xf32=1";
    let whole = last_table(&called(input, &["--record"], &["run", "table"]));
    let change = "set var operand[0][0, 0] = 3";
    let run = ["run", "goto 2", change, change, "table", "continue", "table", "rs", "table"];
    let output = called(input, &["--record"], &run);
    let tables: Vec<&str> = output.split("(iree-dbg) table").collect();
    let [_, before, after, back] = tables[..] else { panic!("{output}") };
    let [before, after, back] =
        [before, after, back].map(|it| last_table(&format!("(iree-dbg) table{it}")));
    assert_eq!(before, whole[..1], "{output}");
    assert_eq!((&after, after.len()), (&back, 4), "{output}");
    assert_ne!(after[1], whole[1], "{output}");
    let commands = [
        "break dispatch '*_1_*'",
        "run",
        change,
        "delete",
        "break dispatch '*_1_*' after",
        "continue",
        "p hash(%exponentials)",
    ];
    let seen = called(input, &[], &commands);
    let left = hashes(&after);
    assert!(seen.contains(&left["%exponentials"]), "{seen} {left:?}");
}

#[test]
fn a_question_leads_to_the_first_command_with_a_yes() {
    let path = module();
    let folder = path.parent().expect("a folder");
    let module = path.to_str().expect("UTF-8");
    let output = |commands: &[&str]| {
        session(folder, &["--record", module, "--input=1x16xf32=90"], commands).0
    };
    let table = last_table(&output(&["run", "table"]));
    let hash = &hashes(&table)["%total"];
    for (question, command) in [
        (
            "nan(*)",
            "command 4, dispatch @classify_dispatch_3_elementwise_4_f32, leaves the first \
                    NaN: 4 in %probabilities: 4xf32",
        ),
        (
            "inf(*)",
            "command 2, dispatch @classify_dispatch_1_matmul_1x4x8_f32, leaves the first \
                    infinities: 4 in %exponentials: 1x4xf32",
        ),
        (
            "max(*) > 700",
            "command 1, dispatch @classify_dispatch_0_matmul_1x8x16_f32, leaves the \
                          first greatest element for which max(*) > 700: 720 in %hidden: 1x8xf32",
        ),
    ] {
        let (first, again) = (format!("first {question}"), format!("table {question}"));
        let said = output(&["run", &first, &again]);
        assert!(said.contains(command), "{said}");
        let line = said.lines().last().expect("a line").trim_start_matches('>').trim_start();
        let number = command.split([' ', ',']).nth(1).expect("a number");
        let rest: Vec<&String> = table.iter().filter(|it| it.starts_with(number)).collect();
        assert!(said.contains(&format!("command {number}: dispatch @")), "{said}");
        assert!(rest.len() == 1 && !line.is_empty(), "{said}");
    }
    let said = output(&["run", &format!("first hash(*) == {hash}")]);
    assert!(said.contains("#0 classify, command 3: dispatch"), "{said}");
    let said = output(&["run", "first min(*) < -1", "first mean(*)"]);
    assert!(said.contains("min(*) < -1 is true of none of the 4 rows of this run"), "{said}");
    assert!(said.contains("about all tensors, ask `nan(*)`"), "{said}");
}

/// A run that is not what the file says has its own rows.
#[test]
fn a_run_that_does_not_repeat_the_recording_has_its_own_rows() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let (one, nine) = (recording(folder, 1.0), recording(folder, 9.0));
    mixed(folder, &nine, &one);
    let table = |file: &Path, commands: &[&str]| {
        last_table(&session(folder, &[file.to_str().expect("UTF-8")], commands).0)
    };
    let file = Path::new("mixed");
    assert_eq!(table(file, &["table"]), table(&one, &["table"]));
    assert_eq!(table(file, &["run", "table"]), table(&nine, &["table"]));
}

#[test]
fn visits_of_a_place_are_the_stops_of_a_breakpoint() {
    let folder = &newton();
    let run = ["--record", "newton.vmfb", "--function=main", "--input=2.0", "--input=6"];
    // One by one.
    let ask = ["p %quotient", "p %guess", "when"];
    let mut commands = vec!["break newton.mlir:14", "run"];
    for _ in 0..5 {
        commands.extend(ask);
        commands.push("continue");
    }
    commands.extend(ask);
    let (output, _) = session(folder, &run, &commands);
    let lines: Vec<&str> = output.lines().collect();
    let after = |command: &str| -> Vec<&str> {
        let command = format!("(iree-dbg) {command}");
        let found = lines.windows(2).filter(|pair| pair[0] == command);
        found.map(|pair| pair[1].rsplit(" = ").next().unwrap_or_default()).collect()
    };
    let expected: Vec<Vec<&str>> = after("when")
        .into_iter()
        .zip(after("p %quotient"))
        .zip(after("p %guess"))
        .map(|((when, quotient), guess)| vec![when, quotient, guess])
        .collect();
    assert_eq!(expected.len(), 6, "{output}");
    // All at once, from the end, from the middle, and from a stop at the place.
    let history = "history at newton.mlir:14, %quotient, %guess";
    for (way, count) in [
        (&["run", "rs", history, "where"][..], 6),
        (&["break newton.mlir:14", "run", "continue", "continue", history, "where"], 3),
        (&["run", "goto begin", history, "where"], 0),
    ] {
        let (output, _) = session(folder, &run, way);
        let table = output.split(history).nth(1).expect("an answer");
        let rows = table.lines().filter(|line| line.starts_with('@'));
        let rows: Vec<Vec<&str>> = rows.map(|line| line.split_whitespace().collect()).collect();
        let values: Vec<Vec<&str>> = expected[..count]
            .iter()
            .map(|row| row.iter().map(|it| it.split(' ').next().unwrap_or_default()).collect())
            .collect();
        assert_eq!(rows, values, "{output}");
        // The program stands where it stood.
        let stood = output.split(history).next().unwrap_or_default();
        let place = stood.lines().rfind(|line| line.starts_with("#0")).expect("a place");
        assert!(output.lines().filter(|line| *line == place).count() >= 2, "{output}");
    }
    let (output, _) = session(folder, &run, &["run", "rs", "history at newton.mlir:99"]);
    assert!(output.contains("line 99 is in no function"), "{output}");
}
