//! Bytecode of dispatches that is compiled from their source: `stepIn` enters it at a dispatch of
//! machine code, and it stands for the dispatches of a device that is not here.

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{machine_layers, source_of, vulkan_layers};

/// The line of an operation in the first layer.
const EXP: u32 = 18;

/// The session, stopped before the dispatch of the first layer.
fn before_dispatch() -> Client {
    let mut client = Client::new();
    client.launch_to_line(&machine_layers(), &source_of("twins"), EXP);
    let (name, line) = client.top();
    assert!(name.contains("command 1: dispatch @layers_dispatch_0"), "{name}");
    assert_eq!(line, 12);
    client
}

#[track_caller]
fn step_in(client: &mut Client) -> Value {
    client.request("stepIn", &json!({"threadId": 1}));
    client.event("stopped")
}

fn frames(client: &mut Client) -> Vec<String> {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frames = trace["stackFrames"].as_array().unwrap().iter();
    frames.map(|frame| frame["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn step_in_enters_machine_code_by_line_with_values() {
    if !trap::IS_SUPPORTED {
        return;
    }
    let mut client = before_dispatch();
    client.request("stepIn", &json!({"threadId": 1}));
    // The breakpoint has a place in the bytecode, too.
    assert_eq!(client.event("breakpoint")["reason"], "changed");
    assert_eq!(client.event("stopped")["reason"], "step");
    assert!(frames(&mut client)[0].starts_with("workgroup (0,0,0)"));
    step_in(&mut client);
    assert!(frames(&mut client)[0].starts_with("layers_dispatch_0_matmul_8x8x8_f32"));
    // The line has bytecode now, where its breakpoint stops.
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    assert_eq!(client.top().1, i64::from(EXP));
    let frame = client.top_frame();
    let value = client.request("evaluate", &json!({"expression": "%s", "frameId": frame}));
    assert_eq!(value["result"], "0.125", "{value}");
    let source = json!({"path": source_of("twins")});
    client.request("setBreakpoints", &json!({"source": source, "breakpoints": []}));
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    let said = client.printed("console");
    assert!(said.contains("@layers_dispatch_0_matmul_8x8x8_f32: bytecode and machine"), "{said}");
    client.disconnect();
}

/// A session whose step into a dispatch was paused while that was compiled. None: the pause came
/// too late, and the step has ended.
fn paused_while_compiling() -> Option<Client> {
    let mut client = before_dispatch();
    let step = client.send("stepIn", &json!({"threadId": 1}));
    let pause = client.send("pause", &json!({"threadId": 1}));
    client.response(step);
    client.response(pause);
    // A pause that comes late finds a breakpoint that has got a place in bytecode.
    while client.any_event().0 != "stopped" {}
    let (name, line) = client.top();
    if name.starts_with("workgroup (0,0,0)") {
        client.disconnect_from_stop();
        return None;
    }
    assert!(name.contains("command 1: ") && !name.contains("bytecode") && line == 12, "{name}");
    Some(client)
}

#[test]
fn a_pause_cancels_the_compilation_and_other_requests_do_not() {
    if !trap::IS_SUPPORTED {
        return;
    }
    let client = (0..5).find_map(|_| paused_while_compiling());
    let mut client = client.expect("a pause comes before the compiler has ended");
    // A change of breakpoints meanwhile does not turn the step into a run.
    let step = client.send("stepIn", &json!({"threadId": 1}));
    let source = json!({"path": source_of("twins")});
    client.request("setBreakpoints", &json!({"source": source, "breakpoints": []}));
    client.response(step);
    assert_eq!(client.event("stopped")["reason"], "step");
    let frames = frames(&mut client);
    assert!(frames[0].starts_with("workgroup (0,0,0)"), "{frames:?}");
    assert!(frames[1].ends_with(", as bytecode"), "{frames:?}");
    client.disconnect_from_stop();
}

#[test]
fn a_program_for_a_device_that_is_not_here_is_debugged_by_line() {
    let mut client = Client::new();
    client.launch_to_line(&vulkan_layers(), &source_of("twins"), EXP);
    assert_eq!(client.top().1, i64::from(EXP));
    let frame = client.top_frame();
    let value = client.request("evaluate", &json!({"expression": "%s", "frameId": frame}));
    assert_eq!(value["result"], "0.125", "{value}");
    let frames = frames(&mut client);
    assert!(frames[2].ends_with(", as bytecode"), "{frames:?}");
    let said = client.printed("console");
    assert!(said.contains("compiled to vulkan-spirv-fb, which does not run here"), "{said}");
    client.disconnect_from_stop();
}

#[test]
fn the_comparison_can_be_turned_off() {
    if !trap::IS_SUPPORTED {
        return;
    }
    let mut client = Client::new();
    let mut arguments = machine_layers();
    arguments["compareBytecode"] = json!(false);
    client.launch_to_line(&arguments, &source_of("twins"), EXP);
    let source = json!({"path": source_of("twins")});
    client.request("setBreakpoints", &json!({"source": source, "breakpoints": []}));
    step_in(&mut client);
    client.request("continue", &json!({"threadId": 1}));
    client.ends(0);
    let said = client.printed("console");
    assert!(!said.contains("bytecode and machine"), "{said}");
    client.disconnect();
}
