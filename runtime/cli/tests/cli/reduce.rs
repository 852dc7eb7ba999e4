//! `iree-dbg repro --reduce` on dispatches that IREE 3.13 compiles wrongly for VMVX: it rounds in
//! `arith.fptosi`, which truncates, and does not cut narrow integers before shifts, divisions and
//! comparisons.
//!
//! Each file of `reduce` is a program whose dispatch has one of these among 10 to 40 operations.
//! That a reduced folder still fails, and that what it expects is right, is said by
//! iree-run-module: its script fails, and passes with the other back end, which is sound there.

use std::path::{Path, PathBuf};

use support::printed;

use crate::program::{IREE_DBG, data, scratch};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let folder = scratch("reduce").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Numbers that look random, the same in each run.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Writes the inputs that the head of a program names, and returns the flags of these.
fn inputs(folder: &Path, program: &str) -> Vec<String> {
    let mut state = 7;
    let heads = program.lines().filter_map(|line| line.strip_prefix("// input "));
    let flag = |(index, head): (usize, &str)| {
        let (shape, kind) = head.split_once(' ').expect("a type and a kind");
        let sizes = shape.split('x').filter_map(|it| it.parse::<usize>().ok());
        let mut bytes = Vec::new();
        for _ in 0..sizes.product::<usize>() {
            let number = random(&mut state);
            match kind {
                "floats" => {
                    let float = (number % 10_000) as f32 / 1000.0 - 5.0;
                    bytes.extend(float.to_le_bytes());
                }
                "bytes" => bytes.push(number as u8),
                "words" => bytes.extend((number as u16).to_le_bytes()),
                other => panic!("numbers of kind {other}"),
            }
        }
        std::fs::write(folder.join(format!("in{index}.bin")), bytes).expect("it is written");
        format!("--input={shape}=@in{index}.bin")
    };
    heads.enumerate().map(flag).collect()
}

fn compiled(folder: &Path, program: &str, back_end: &str) {
    std::fs::write(folder.join("model.mlir"), program).expect("it is written");
    let flag = format!("--iree-hal-local-target-device-backends={back_end}");
    let output = IREE_DBG.run(folder, &["compile", "model.mlir", "-o", "model.vmfb", "--", &flag]);
    assert!(output.status.success(), "{}", printed(&output));
}

fn reduced(folder: &Path, program: &str, more: &[&str]) -> Output {
    let inputs = inputs(folder, program);
    let number = program.lines().find_map(|line| line.strip_prefix("// dispatch "));
    let dispatch = format!("--dispatch={}", number.unwrap_or("1"));
    let mut arguments = vec!["repro", "model.vmfb", "--function=main", &dispatch, "--reduce"];
    arguments.extend(inputs.iter().map(String::as_str));
    arguments.extend(["-o", "repro"].iter().chain(more));
    IREE_DBG.run(folder, &arguments)
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join("repro").join(name)).expect(name)
}

/// The exit status of a folder's script, with another back end.
fn script(folder: &Path, back_end: &str) -> Option<i32> {
    let script = read(folder, "run.sh").replace("=vmvx", &format!("={back_end}"));
    std::fs::write(folder.join("repro/other.sh"), script).expect("it is written");
    Command::new("sh").arg(folder.join("repro/other.sh")).output().expect("sh").status.code()
}

fn program(name: &str) -> String {
    let path = data("reduce").join(name);
    std::fs::read_to_string(path).expect("a program")
}

#[test]
fn wrong_dispatches_are_reduced_to_ten_operations() {
    let entries = std::fs::read_dir(data("reduce")).expect("programs");
    let mut entries: Vec<PathBuf> = entries.map(|it| it.expect("one").path()).collect();
    entries.sort();
    // Each takes half a minute of compiling; `REDUCE_ALL=1` tries the others, too.
    if std::env::var_os("REDUCE_ALL").is_none() {
        entries = entries.into_iter().step_by(3).collect();
    }
    let least = entries.len();
    let (mut count, mut small, mut said) = (0, 0, Vec::new());
    for path in entries {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let program = program(&format!("{name}.mlir"));
        let folder = folder(&name);
        compiled(&folder, &program, "vmvx");
        let output = reduced(&folder, &program, &[]);
        let text = printed(&output);
        assert_eq!(output.status.code(), Some(0), "{name}: {text}");
        let line = text.lines().find(|line| line.contains(" operations are left")).expect(&text);
        let mut numbers = line.split(' ').filter_map(|word| word.parse::<usize>().ok());
        let (left, before) = (numbers.next().expect(line), numbers.next().expect(line));
        assert!((10..=40).contains(&before), "{name}: {line}");
        // What is counted is there.
        let dispatch = read(&folder, "dispatch.mlir");
        let is_counted = |line: &&str| line.starts_with("    ") && line.contains(" = ");
        assert_eq!(dispatch.lines().filter(is_counted).count(), left, "{name}: {dispatch}");
        assert_eq!(script(&folder, "vmvx"), Some(1), "{name}: the compiler is wrong\n{dispatch}");
        assert_eq!(script(&folder, "llvm-cpu"), Some(0), "{name}: so is the output\n{dispatch}");
        (count, small) = (count + 1, small + usize::from(left <= 10));
        said.push(format!("{name}: {line}"));
    }
    println!("{}", said.join("\n"));
    assert!(
        least >= 5 && count == least && small * 10 >= count * 9,
        "{small} of {count}:\n{}",
        said.join("\n")
    );
}

#[test]
fn fewer_attempts_leave_more_and_say_so() {
    let (folder, program) = (folder("few"), program("chain.mlir"));
    compiled(&folder, &program, "vmvx");
    let output = reduced(&folder, &program, &["--reduce-attempts=3"]);
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("after 3 programs were compiled") && text.contains("No more"), "{text}");
    assert_eq!(script(&folder, "vmvx"), Some(1), "{text}");
}

#[test]
fn a_sound_dispatch_is_not_reduced() {
    let (folder, program) = (folder("sound"), program("chain.mlir"));
    compiled(&folder, &program, "llvm-cpu");
    let output = reduced(&folder, &program, &[]);
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("nothing fails") && !text.contains("are left"), "{text}");
    // The folder is that of the whole dispatch.
    assert!(read(&folder, "README.md").contains("nothing fails"));
    assert!(read(&folder, "dispatch.mlir").contains("math.sqrt"));
    assert_eq!(script(&folder, "llvm-cpu"), Some(0));
    // A pattern that fits one dispatch names it.
    let mut one = vec!["repro", "model.vmfb", "--reduce", "--dispatch=*", "-o", "x"];
    let inputs = inputs(&folder, &program);
    one.extend(inputs.iter().map(String::as_str));
    let one = self::printed(&IREE_DBG.run(&folder, &one));
    assert!(one.contains("nothing fails"), "{one}");
}

/// A module whose code has another number than its text.
#[test]
fn a_fault_of_the_module_alone_is_not_reduced() {
    let (folder, program) = (folder("changed"), program("chain.mlir"));
    compiled(&folder, &program, "llvm-cpu");
    let path = folder.join("model.vmfb");
    let mut bytes = std::fs::read(&path).expect("the module");
    let (from, to) = (2.5_f32.to_le_bytes(), 2.75_f32.to_le_bytes());
    let places: Vec<usize> = (0..bytes.len() - 3).filter(|at| bytes[*at..at + 4] == from).collect();
    assert!(!places.is_empty(), "the module has the number");
    places.iter().for_each(|at| bytes[*at..at + 4].copy_from_slice(&to));
    std::fs::write(&path, &bytes).expect("it is written");
    let kept = debuginfo::DebugFile::path_beside(&path);
    let file = debuginfo::DebugFile::open(&kept).expect("its debug file");
    let identity = debuginfo::ModuleIdentity::of(&vmfb::FileBytes::from(bytes)).expect("bytes");
    let manifest = debuginfo::Manifest { module: identity, ..file.manifest().clone() };
    let names = ["companion.mlir", "dispatches.mlir", "flow.mlir", "input.mlir"];
    let members = names.map(|name| (name, file.member(name).expect("it is read").expect(name)));
    let mut written = std::io::Cursor::new(Vec::new());
    let members = members.iter().map(|(name, bytes)| (*name, &bytes[..]));
    debuginfo::write_debug_file(&mut written, &manifest, members).expect("it is written");
    std::fs::write(kept, written.into_inner()).expect("it is written");
    let output = reduced(&folder, &program, &[]);
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let finding = "the text is right under a fresh compilation";
    assert!(text.contains(finding) && text.contains("elements of the result are wrong"), "{text}");
    assert!(read(&folder, "README.md").contains(finding));
    assert!(read(&folder, "dispatch.mlir").contains("math.sqrt"));
}
