//! Machine code that faults or never ends: the program stops, and the session continues.

use std::path::{Path, PathBuf};

use compile::{Cancellation, CompileRequest, compile};
use serde_json::{Value, json};
use support::made_once;

use crate::client::Client;

/// The faulting programs of the suite `faults`, for this machine's processor.
fn module() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dap-faults");
    let folder = made_once(folder, |folder| {
        let flags = [
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "--iree-llvmcpu-target-cpu=generic",
        ];
        let request = CompileRequest {
            input: Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/faults/programs.mlir"),
            output: folder.join("faults.vmfb"),
            flags: flags.map(str::to_owned).to_vec(),
            ..CompileRequest::default()
        };
        compile(&request, &Cancellation::default(), &mut |_| ()).expect("iree-compile");
    });
    folder.join("faults.vmfb")
}

fn launch(function: &str, inputs: &[&str], device: &str) -> Client {
    let mut client = Client::new();
    client.launch(&json!({
        "program": module(), "function": function, "inputs": inputs, "device": device,
    }));
    client.request("configurationDone", &Value::Null);
    client
}

/// The stack, and the machine's registers of its first frame.
fn looked_at(client: &mut Client) -> (Vec<String>, Vec<String>) {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frames = trace["stackFrames"].as_array().unwrap();
    let names = frames.iter().map(|frame| frame["name"].as_str().unwrap().to_owned());
    let names: Vec<String> = names.collect();
    assert!(frames[0]["line"].as_i64().unwrap() > 0, "{trace}");
    let scopes = client.request("scopes", &json!({"frameId": frames[0]["id"]}));
    let scopes = scopes["scopes"].as_array().unwrap().clone();
    let registers = scopes.iter().find(|scope| scope["name"] == "Registers").expect("registers");
    let reference = &registers["variablesReference"];
    let registers = client.request("variables", &json!({"variablesReference": reference}));
    let registers = registers["variables"].as_array().unwrap().iter();
    (names, registers.map(|it| it["name"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn a_fault_is_a_stop_and_the_program_can_begin_again() {
    if !trap::IS_SUPPORTED {
        return;
    }
    for device in ["local-sync", "local-task"] {
        let inputs = ["16xf32=5", "4xi64=0,1,2,1000000000"];
        let mut client = launch("gather", &inputs, device);
        for _ in 0..2 {
            let stopped = client.event("stopped");
            assert_eq!(stopped["reason"], "exception", "{stopped}");
            let info = client.request("exceptionInfo", &json!({"threadId": 1}));
            let text = info["description"].as_str().unwrap();
            assert!(text.contains("machine code: read of address 0x"), "{text}");
            assert!(text.contains("element 1000000000 of operand[0] : 16xf32"), "{text}");
            let (frames, registers) = looked_at(&mut client);
            assert!(frames[0].starts_with("workgroup (0,0,0), machine code +0x"), "{frames:?}");
            assert!(frames[1].contains("command 1: dispatch @gather_dispatch_0"), "{frames:?}");
            assert!(registers.contains(&"$rip".to_owned()), "{registers:?}");
            client.request("restart", &json!({}));
            client.event("continued");
        }
        client.event("stopped");
        client.disconnect_from_stop();
    }
}

#[test]
fn a_workgroup_without_an_end_can_be_paused_and_goes_on() {
    if !trap::IS_SUPPORTED {
        return;
    }
    for device in ["local-sync", "local-task"] {
        let mut client = launch("endless", &["i32=3"], device);
        for round in 0..3 {
            if round > 0 {
                client.request("continue", &json!({"threadId": 1}));
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            client.request("pause", &json!({"threadId": 1}));
            assert_eq!(client.event("stopped")["reason"], "pause");
            let (frames, _) = looked_at(&mut client);
            assert!(frames.iter().any(|name| name.contains("command 1: ")), "{frames:?}");
        }
        client.disconnect_from_stop();
    }
}
