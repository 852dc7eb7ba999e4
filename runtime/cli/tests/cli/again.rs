//! One dispatch again, in place: `rerun`, and `again` at a dispatch. The scripts are those of the
//! folder `again`. That a program which goes on from there computes what it should, iree-run-module
//! says, given the changed inputs from the beginning: each dispatch has inputs of its own.
//!
//! Needs IREE's tools: `pip install iree-base-compiler iree-base-runtime`.

use std::path::PathBuf;
use std::process::Command;

use abi::npy;
use abi::tensor::Tensor;
use support::{made_once, printed, text};

use crate::device::check_on;
use crate::program::{IREE_DBG, data, scratch};

const BACK_ENDS: [&str; 2] = ["vmvx", "llvm-cpu"];

/// The shapes of the inputs.
const INPUTS: [&str; 5] = ["4x8", "8x8", "4x8", "8x8", "8x8"];

/// The folder with a module for each back end.
fn folder() -> PathBuf {
    made_once(scratch("again"), |folder| {
        std::fs::copy(data("again").join("chain.mlir"), folder.join("chain.mlir")).expect("a copy");
        for back_end in BACK_ENDS {
            let flags = [
                &format!("--iree-hal-local-target-device-backends={back_end}"),
                "--iree-llvmcpu-target-cpu=generic",
            ];
            IREE_DBG.compile(folder, "chain.mlir", format!("{back_end}.vmfb"), &flags);
        }
    })
    .to_path_buf()
}

fn check(back_end: &str, scripts: &[&str]) {
    let inputs: Vec<String> = INPUTS.iter().map(|shape| format!("{shape}xf32=0.5")).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let module = folder().join(format!("{back_end}.vmfb"));
    check_on(&module, &data("again"), &data("again"), &inputs, scripts);
}

#[test]
fn a_dispatch_runs_again_on_what_it_began_with_and_what_was_set() {
    for back_end in BACK_ENDS {
        check(back_end, &["rerun", "recorded"]);
    }
}

#[test]
fn a_dispatch_of_bytecode_that_runs_again_stops_inside() {
    check("vmvx", &["inside"]);
}

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn tensor(&mut self, shape: &str) -> Tensor {
        let shape: Vec<u64> = shape.split('x').map(|it| it.parse().expect("a size")).collect();
        let count: u64 = shape.iter().product();
        let numbers = (0..count).map(|_| self.below(2000) as f32 / 1000.0 - 1.0);
        let bytes = numbers.flat_map(f32::to_le_bytes).collect();
        Tensor { shape, element_type: "f32".parse().expect("a type"), bytes }
    }
}

/// Runs a dispatch again on other inputs, in one of the ways that there are, and lets the program
/// go on; its result is that of IREE for those inputs.
#[test]
fn the_program_goes_on_with_what_the_dispatch_computes_of_the_changed_inputs() {
    let folder = folder();
    let mut random = Random(7);
    for round in 0..24 {
        let back_end = BACK_ENDS[round % 2];
        let inputs: Vec<Tensor> = INPUTS.iter().map(|shape| random.tensor(shape)).collect();
        let dispatch = random.below(3) as usize;
        // The inputs of the dispatch, as its operands.
        let own = [&[(0, 0), (1, 1)][..], &[(2, 0), (3, 1)], &[(4, 1)]][dispatch];
        let (argument, operand) = own[random.below(own.len() as u64) as usize];
        let changed = random.tensor(INPUTS[argument]);
        let file = |name: &str| format!("{round}-{name}.npy");
        let flags: Vec<String> = (0..INPUTS.len())
            .map(|index| format!("--input=@{}", file(&index.to_string())))
            .collect();
        let mut meant = flags.clone();
        meant[argument] = format!("--input=@{}", file("changed"));
        let write = |name: &str, tensor: &Tensor| {
            std::fs::write(folder.join(file(name)), npy::write(tensor).expect("a type of NumPy"))
                .expect("the scratch directory");
        };
        inputs.iter().enumerate().for_each(|(index, it)| write(&index.to_string(), it));
        write("changed", &changed);
        let set = format!("set var operand[{operand}] = @{}", file("changed"));
        let ways: [&[&str]; 4] = [
            &[&set, "rerun"],
            &["rerun", &set, "rerun", "rerun"],
            &["again", &set, "finish"],
            &[&set, "again", "rerun", "again", "rerun"],
        ];
        let way = ways[random.below(4) as usize];
        let to_dispatch = ["run", "continue", "continue"];
        let is_recorded = random.below(2) == 0;
        let mut commands = vec!["break dispatch * after"];
        commands.extend(&to_dispatch[..=dispatch]);
        for command in way {
            commands.push(command);
            // What forgets the past is refused once; done twice, all of these do the same.
            if is_recorded && *command != "finish" {
                commands.push(command);
            }
        }
        commands.extend(["delete", "continue"]);
        let module = format!("{back_end}.vmfb");
        let device = ["--device=local-sync", "--device=local-task"][random.below(2) as usize];
        let mut arguments = vec!["debug", "--batch", "--function=chain", device, &module];
        arguments.push("--task_topology_group_count=2");
        arguments.extend(is_recorded.then_some("--record"));
        arguments.extend(flags.iter().map(String::as_str));
        arguments.extend(commands.iter().flat_map(|it| ["-ex", it]));
        let said = printed(&IREE_DBG.run(&folder, &arguments));

        let oracle = Command::new("iree-run-module")
            .current_dir(&folder)
            .args([&format!("--module={module}"), "--device=local-sync", "--function=chain"])
            .args(meant)
            .output()
            .expect("pip install iree-base-runtime");
        assert!(oracle.status.success(), "{}", text(&oracle.stderr));
        let result =
            |said: &str| said.lines().find(|it| it.starts_with("4x8xf32=")).map(str::to_owned);
        let expected = result(&text(&oracle.stdout));
        assert!(expected.is_some(), "{}", text(&oracle.stdout));
        assert_eq!(result(&said), expected, "{said}");
    }
}
