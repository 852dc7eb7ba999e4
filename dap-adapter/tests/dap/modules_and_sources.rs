//! Modules, sources, and places for breakpoints, for modules with and without debug information.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::program::{call, call_across_modules, line, module, source, source_of};

#[test]
fn modules_and_sources_are_announced_and_listed() {
    let mut client = Client::new();
    client.launch(&call_across_modules("4"));
    let body = client.request("modules", &json!({}));
    assert_eq!(body["totalModules"], 2);
    let names: Vec<&Value> =
        body["modules"].as_array().unwrap().iter().map(|module| &module["name"]).collect();
    assert_eq!(names, ["provider", "module"]);
    let status = body["modules"][0]["symbolStatus"].as_str().unwrap();
    assert!(status.starts_with("debug file: "), "{status}");
    assert!(body["modules"][0]["symbolFilePath"].as_str().unwrap().ends_with(".vmfb.debug"));
    let part = client.request("modules", &json!({"startModule": 1, "moduleCount": 5}));
    assert_eq!(part["modules"], json!([body["modules"][1]]));
    let announced = client.announced("module");
    assert_eq!(announced.len(), 2);
    assert_eq!(announced[0], json!({"reason": "new", "module": body["modules"][0]}));
    assert_eq!(client.announced("process")[0]["startMethod"], "launch");
    assert_eq!(client.announced("thread"), [json!({"reason": "started", "threadId": 1})]);

    let sources = client.request("loadedSources", &json!({}));
    let sources = sources["sources"].as_array().unwrap();
    let has = |name: &str| sources.iter().any(|it| it["path"] == json!(source_of(name)));
    assert!(has("caller") && has("provider"), "{sources:?}");
    let announced = client.announced("loadedSource");
    assert!(announced.iter().any(|it| it["source"]["path"] == json!(source_of("provider"))));
    let listing = sources.iter().find(|it| it["sourceReference"].is_i64()).unwrap();
    let reference = json!({"sourceReference": listing["sourceReference"], "source": listing});
    let text = client.request("source", &reference);
    assert!(text["content"].as_str().unwrap().contains("vm."), "{text}");
    client.request("terminate", &json!({}));
    client.ends(1);
    let threads = client.announced("thread");
    assert_eq!(threads[1], json!({"reason": "exited", "threadId": 1}));
    client.disconnect();
}

#[test]
fn places_for_breakpoints_are_those_where_breakpoints_stay() {
    let mut client = Client::new();
    client.launch(&call("sum", &["3"]));
    let here = line("adding");
    let arguments =
        |line: u32, last: u32| json!({"source": {"path": source()}, "line": line, "endLine": last});
    let one = client.request("breakpointLocations", &arguments(here, here));
    assert_eq!(one["breakpoints"][0]["line"], here);
    let lines = fs::read_to_string(source()).unwrap().lines().count() as u32;
    let all = client.request("breakpointLocations", &arguments(1, lines));
    let all = all["breakpoints"].as_array().unwrap();
    assert!(all.len() > 5, "{all:?}");
    let mut elsewhere = 0;
    for place in all {
        let line = u32::try_from(place["line"].as_u64().unwrap()).unwrap();
        assert!(place["column"].as_u64().unwrap() > 0);
        let breakpoint = client.set_line(&source(), line);
        assert_eq!(breakpoint["line"], json!(line));
        // Code that only another function runs can take a breakpoint, but this program will not
        // reach it.
        let is_elsewhere =
            breakpoint["message"].as_str().is_some_and(|it| it.starts_with("only @"));
        assert_ne!(breakpoint["verified"], json!(is_elsewhere), "{breakpoint}");
        elsewhere += u32::from(is_elsewhere);
    }
    assert!((1..all.len() as u32).contains(&elsewhere), "{elsewhere} of {}", all.len());
    let nowhere = json!({"source": {"path": "/no/such.mlir"}, "line": 1, "endLine": i64::MAX});
    assert_eq!(client.request("breakpointLocations", &nowhere), json!({"breakpoints": []}));
    client.request("terminate", &json!({}));
    client.ends(1);
    client.disconnect();
}

/// The module alone, in a directory without its debug file and its source.
fn bare() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::copy(module(), directory.path().join("bare.vmfb")).unwrap();
    directory
}

#[test]
fn without_debug_information_there_is_the_disassembly() {
    let directory = bare();
    let program = directory.path().join("bare.vmfb");
    let mut client = Client::new();
    let arguments =
        json!({"program": program, "function": "sum", "inputs": ["3"], "stopOnEntry": true});
    client.launch(&arguments);
    let status = client.request("modules", &json!({}))["modules"][0]["symbolStatus"].clone();
    assert!(status.as_str().unwrap().starts_with("debug database: "), "{status}");
    client.request("configurationDone", &json!({}));
    assert_eq!(client.event("stopped")["reason"], "entry");
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frame = &trace["stackFrames"][0];
    let listing = frame["source"].clone();
    assert!(listing["sourceReference"].is_i64(), "{frame}");
    let at = frame["line"].as_u64().unwrap();
    let arguments = json!({"source": listing, "line": at, "endLine": at + 8});
    let places = client.request("breakpointLocations", &arguments);
    assert_eq!(places["breakpoints"][0], json!({"line": at}));
    client.request("next", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "step");
    restart_here(&mut client);
    client.disconnect_from_stop();
}

/// The disassembly keeps its reference number, and the breakpoints in it.
fn restart_here(client: &mut Client) {
    let trace = client.request("stackTrace", &json!({"threadId": 1}));
    let frame = trace["stackFrames"][0].clone();
    let breakpoint = json!({"source": frame["source"], "breakpoints": [{"line": frame["line"]}]});
    client.request("setBreakpoints", &breakpoint);
    client.request("restart", &json!({}));
    client.event("continued");
    assert_eq!(client.event("stopped")["reason"], "entry");
    client.request("continue", &json!({"threadId": 1}));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    let again = client.request("stackTrace", &json!({"threadId": 1}))["stackFrames"][0].clone();
    assert_eq!((&again["source"], &again["line"]), (&frame["source"], &frame["line"]));
}

#[test]
fn sources_that_have_moved_are_found_by_a_map() {
    let old = tempfile::tempdir().unwrap();
    let new = tempfile::tempdir().unwrap();
    let program = old.path().join("moved.mlir");
    fs::copy(source(), &program).unwrap();
    let module = old.path().join("moved.vmfb");
    crate::program::compile_to(&program, &module);
    let moved = new.path().join("elsewhere.mlir");
    fs::rename(&program, &moved).unwrap();
    let map_forms = [
        json!({program.to_str().unwrap(): moved}),
        json!([[program, moved]]),
        json!([["/no/such", "/nor/this"], [program, moved]]),
    ];
    for map in map_forms {
        let mut client = Client::new();
        let arguments =
            json!({"program": module, "function": "sum", "inputs": ["3"], "sourceMap": map});
        client.launch_to_line(&arguments, &moved, line("adding"));
        let trace = client.request("stackTrace", &json!({"threadId": 1}));
        let frame = &trace["stackFrames"][0];
        assert_eq!(
            (&frame["source"]["path"], &frame["line"]),
            (&json!(moved), &json!(line("adding")))
        );
        client.disconnect_from_stop();
    }
}
