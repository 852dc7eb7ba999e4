//! `iree-dbg repro`, and `repro` in the debugger: which dispatch is written, what the folder says,
//! and what is refused. That the folders of all models give the bits of the run is the suite
//! `repro` of the folder `tests`.
//!
//! Needs iree-compile and iree-run-module: `pip install iree-base-compiler iree-base-runtime`.

use std::path::{Path, PathBuf};
use std::process::Output;

use support::{made_once, printed};

use crate::program::{IREE_DBG, scratch};

/// Two dispatches of which the second writes into a part of its tensor, and a loop.
const SOURCE: &str = "\
func.func @twice(%x: tensor<2x2xf32>, %y: tensor<4x4xf32>, %at: index) -> tensor<4x4xf32> {
  %exp = math.exp %x : tensor<2x2xf32>
  %one = arith.addf %y, %y : tensor<4x4xf32>
  %all = tensor.insert_slice %exp into %one[%at, %at] [2, 2] [1, 1]
    : tensor<2x2xf32> into tensor<4x4xf32>
  return %all : tensor<4x4xf32>
}
func.func @repeat(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %end = scf.for %i = %zero to %three step %one iter_args(%a = %x) -> tensor<4xf32> {
    %b = arith.addf %a, %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %end : tensor<4xf32>
}
";

fn module() -> PathBuf {
    let folder = made_once(scratch("repro"), |folder| {
        std::fs::write(folder.join("model.mlir"), SOURCE).expect("the source is written");
        IREE_DBG.compile(folder, "model.mlir", "model.vmfb", &[]);
    });
    folder.join("model.vmfb")
}

fn repro(folder: &Path, arguments: &[&str]) -> Output {
    let module = module().display().to_string();
    IREE_DBG.run(folder, &[&["repro", &module], arguments].concat())
}

const TWICE: [&str; 4] =
    ["--function=twice", "--input=2x2xf32=0,1,2,3", "--input=4x4xf32=0.5", "--input=2"];

/// The numbers of an `.npy` of f32.
fn numbers(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).expect("an array");
    let (tensor, _) = abi::npy::read(&bytes).expect("an array");
    let words = tensor.bytes.chunks_exact(4).map(|it| [it[0], it[1], it[2], it[3]]);
    words.map(f32::from_le_bytes).collect()
}

#[test]
fn a_folder_for_each_dispatch() {
    let scratch = tempfile::tempdir().unwrap();
    let output = repro(scratch.path(), &[&TWICE[..], &["-o", "all"]].concat());
    assert!(output.status.success(), "{}", printed(&output));
    assert!(printed(&output).contains(" the same\n"), "{}", printed(&output));
    let entries = std::fs::read_dir(scratch.path().join("all")).unwrap();
    let mut folders = entries.map(|entry| entry.unwrap().path());
    // What is written in place is an input, too, as it was before.
    let is_in_place = |folder: &PathBuf| {
        let input = folder.join("input1.npy");
        input.is_file() && numbers(&input) == [1.0; 16]
    };
    let last = folders.find(is_in_place).expect("a dispatch that writes into a part");
    let mut expected = [1.0_f32; 16];
    for (index, number) in [(10, 0.0_f32), (11, 1.0), (14, 2.0), (15, 3.0)] {
        expected[index] = number.exp();
    }
    let left = numbers(&last.join("output0.npy"));
    let is_close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4 * b;
    assert!(left.len() == 16 && left.iter().zip(&expected).all(is_close), "{left:?}");
    let page = std::fs::read_to_string(last.join("README.md")).unwrap();
    assert!(page.contains("give the same bits from this folder"), "{page}");
    assert!(page.contains("model.mlir:"), "{page}");
}

/// The names of what is in a folder and in its folders, with their contents; an error if something
/// goes away meanwhile.
#[cfg(target_os = "linux")]
fn contents(folder: &Path) -> std::io::Result<std::collections::BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(contents(&path)?);
        } else {
            let bytes = std::fs::read(&path)?;
            found.insert(path, bytes);
        }
    }
    Ok(found)
}

/// A folder is whole, or as it was; also if the compiler that tries it never ends, and the debugger
/// is ended meanwhile. The compiler ends with it.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_is_not_finished_is_as_it_was() {
    use std::os::unix::fs::PermissionsExt;

    use crate::processes::{signal, wait_for, wait_for_nothing_in};

    let scratch = tempfile::tempdir().unwrap();
    let (tools, work) = (scratch.path().join("tools"), scratch.path().join("work"));
    std::fs::create_dir(&tools).unwrap();
    std::fs::create_dir(&work).unwrap();
    let seconds = format!("8{}", std::process::id());
    let compiler = tools.join("iree-compile");
    let version = "IREE compiler version 3.13.0";
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--version*) echo '{version}' ;; *) sleep {seconds} ;; esac\n"
    );
    std::fs::write(&compiler, script).unwrap();
    std::fs::write(tools.join("iree-run-module"), "#!/bin/sh\n").unwrap();
    for name in ["iree-compile", "iree-run-module"] {
        std::fs::set_permissions(tools.join(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let module = module().display().to_string();
    let one = ["--dispatch=twice_dispatch_0_elementwise_4_f32", "-o", "folder"];
    for (is_there, how) in [(false, "-TERM"), (false, "-KILL"), (true, "-INT"), (true, "-KILL")] {
        if is_there && !work.join("folder").exists() {
            let arguments = [&TWICE[..], &one, &["--no-comparison"]].concat();
            assert!(repro(&work, &arguments).status.success());
        }
        let before = contents(&work).expect("its files");
        let mut debugger = std::process::Command::new("env")
            .args(["--default-signal=INT", IREE_DBG.path(), "repro", &module])
            .args([&TWICE[..], &one].concat())
            .env("IREE_COMPILE", &compiler)
            .current_dir(&work)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        wait_for(&format!("sleep\0{seconds}"), 1);
        signal(&debugger, how);
        debugger.wait().expect("it is ours");
        wait_for(&format!("sleep\0{seconds}"), 0);
        if is_there {
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
            // What the ended compiler had written goes away while it is read.
            while !contents(&work).is_ok_and(|now| now == before) {
                assert!(std::time::Instant::now() < deadline, "{how}: another folder");
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        } else {
            wait_for_nothing_in(&work, how);
        }
    }
}

#[test]
fn one_run_of_one_dispatch() {
    let scratch = tempfile::tempdir().unwrap();
    let third = ["--function=repeat", "--input=4xf32=1,2,3,4", "--run=3", "--no-comparison"];
    let third = [&third[..], &["--dispatch=*add*", "-o", "third"]].concat();
    let pattern = repro(scratch.path(), &third);
    let listed = printed(&pattern);
    // A pattern that fits nothing says what there is.
    let name = listed.lines().find_map(|line| Some(line.split_once("repeat_dispatch_")?.1));
    let name = format!("repeat_dispatch_{}", name.expect(&listed).trim());
    let flags = ["--function=repeat", "--input=4xf32=1,2,3,4", "--run=3"];
    let one = [&flags[..], &["--dispatch", &name, "-o", "third"]].concat();
    let output = repro(scratch.path(), &one);
    assert!(output.status.success(), "{}", printed(&output));
    let read = |name: &str| numbers(&scratch.path().join("third").join(name));
    assert_eq!(read("input0.npy"), [4.0, 8.0, 12.0, 16.0]);
    assert_eq!(read("output0.npy"), [8.0, 16.0, 24.0, 32.0]);
    // It may be written again, but not over anything else.
    assert!(repro(scratch.path(), &one).status.success());
    std::fs::create_dir(scratch.path().join("mine")).unwrap();
    std::fs::write(scratch.path().join("mine/README.md"), "mine").unwrap();
    let over = [&flags[..], &["--dispatch", &name, "-o", "mine"]].concat();
    let refused = printed(&repro(scratch.path(), &over));
    assert!(refused.contains("mine is there already"), "{refused}");
    assert_eq!(std::fs::read_to_string(scratch.path().join("mine/README.md")).unwrap(), "mine");
    let fourth = ["--function=repeat", "--input=4xf32=1", "--dispatch", &name, "--run=4"];
    let missing = printed(&repro(scratch.path(), &[&fourth[..], &["-o", "x"]].concat()));
    assert!(missing.contains("did not run 4 times"), "{missing}");
}

#[test]
fn the_debugger_writes_the_dispatch_where_it_stands() {
    let scratch = tempfile::tempdir().unwrap();
    let module = module().display().to_string();
    let session = |stop: &str, folder: &str| {
        let arguments = ["debug", &module, "--function=repeat", "--input=4xf32=1,2,3,4"];
        let more = ["--batch", "-ex", stop, "-ex", "run", "-ex", folder, "-ex", "continue"];
        printed(&IREE_DBG.run(scratch.path(), &[&arguments[..], &more].concat()))
    };
    for (stop, folder) in [("break dispatch *", "before"), ("break dispatch * after", "after")] {
        let said = session(stop, &format!("repro {folder}"));
        assert!(said.contains(&format!("{folder}: the same bits")), "{said}");
        assert_eq!(said.contains("the dispatch was run"), folder == "before", "{said}");
        assert_eq!(numbers(&scratch.path().join(folder).join("output0.npy"))[0], 2.0);
    }
    let said = session("break repeat", "repro nowhere");
    assert!(said.contains("this frame belongs to no dispatch"), "{said}");
    assert!(!scratch.path().join("nowhere").exists());
}
