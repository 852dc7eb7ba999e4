//! What is printed as JSON fits the schemas in `schemas`, which users read.
//!
//! The schemas use a small part of JSON schema: `type`, `const`, `enum`, `required`, `properties`,
//! `additionalProperties`, `items`. Any other keyword fails, so that nothing stays unchecked.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::program::IREE_DBG;

use serde_json::Value;

fn schema(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let text = std::fs::read_to_string(folder.join(format!("{name}.schema.json")));
    serde_json::from_str(&text.expect("a schema")).expect("JSON")
}

fn is_of(value: &Value, ty: &str) -> bool {
    match ty {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("the type {other}"),
    }
}

/// Why a value does not fit a schema.
fn faults(value: &Value, schema: &Value, place: &str, found: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().expect("a schema") {
        let fits = match keyword.as_str() {
            "$schema" | "title" | "description" => true,
            "type" => match rule {
                Value::String(ty) => is_of(value, ty),
                many => many
                    .as_array()
                    .expect("types")
                    .iter()
                    .any(|ty| is_of(value, ty.as_str().expect("a type"))),
            },
            "const" => value == rule,
            "enum" => rule.as_array().expect("values").contains(value),
            "required" => rule
                .as_array()
                .expect("keys")
                .iter()
                .all(|key| value.get(key.as_str().expect("a key")).is_some()),
            "properties" => {
                for (key, inner) in rule.as_object().expect("properties") {
                    if let Some(value) = value.get(key) {
                        faults(value, inner, &format!("{place}.{key}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                let mut keys = value.as_object().expect("an object").keys();
                keys.all(|key| schema["properties"].get(key).is_some())
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    faults(item, rule, &format!("{place}[{index}]"), found);
                }
                true
            }
            other => panic!("the keyword {other}"),
        };
        if !fits {
            found.push(format!("{place}: {keyword} {rule}, but {value}"));
        }
    }
}

#[track_caller]
pub(crate) fn fits(text: &[u8], name: &str) {
    let value: Value = serde_json::from_slice(text)
        .unwrap_or_else(|error| panic!("{name}: {error}: {}", String::from_utf8_lossy(text)));
    let mut found = Vec::new();
    faults(&value, &schema(name), "", &mut found);
    assert!(found.is_empty(), "{name}:\n{}", found.join("\n"));
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("example")
}

fn iree_dbg(arguments: &[&str]) -> Output {
    IREE_DBG.run(&example(), arguments)
}

const CALL: [&str; 4] = ["--module=newton.vmfb", "--function=main", "--input=2.0", "--input=3"];

#[test]
fn outputs_fit_their_schemas() {
    fits(&iree_dbg(&["dump", "--output=json", "newton.vmfb"]).stdout, "dump");
    fits(&iree_dbg(&["abi", "explain", "--json", "newton.vmfb"]).stdout, "explain");
    let bench = |flags: &[&str]| iree_dbg(&[&["bench"], &CALL[..], flags].concat()).stdout;
    fits(&bench(&["--json", "--benchmark_min_time=0.01"]), "bench");
    let repeated = ["--benchmark_format=json", "--benchmark_min_time=2x"];
    fits(&bench(&repeated), "benchmark");
    fits(&bench(&[&repeated[..], &["--benchmark_repetitions=2"]].concat()), "benchmark");
    let failed = iree_dbg(&[
        "run",
        "--module=newton.vmfb",
        "--function=main",
        "--input=2.0",
        "--input=1000000000",
        "--max_steps=100",
        "--error_format=json",
    ]);
    fits(&failed.stderr, "failure");
    assert!(!failed.status.success());
}

#[test]
fn a_comparison_fits_its_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let modules = ["classifier", "classifier_faulty"].map(|name| {
        let module = folder.path().join(format!("{name}.vmfb"));
        let module = IREE_DBG.compile(example(), format!("{name}.mlir"), module, &[]);
        module.display().to_string()
    });
    for mode in ["isolated", "accumulated", "bisect"] {
        let mode = format!("--mode={mode}");
        let sides = [modules[0].as_str(), &modules[1]];
        let flags = ["--input=1x16xf32=0.1", "--json", &mode];
        let found = iree_dbg(&[&["diff"], &sides[..], &flags].concat());
        fits(&found.stdout, "diff");
        assert_eq!(found.status.code(), Some(1));
    }
}

#[test]
fn an_explanation_fits_its_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (module, result) = (file("classifier.vmfb"), file("result.npy"));
    let compiled = iree_dbg(&["compile", "classifier.mlir", "-o", &module]);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let input = "--input=1x16xf32=0.1";
    iree_dbg(&["run", "--module", &module, input, &format!("--output=@{result}")]);
    for (source, status) in [("classifier.mlir", 0), ("classifier_faulty.mlir", 1)] {
        let found = iree_dbg(&["why", source, input, "--json", &format!("--expect={result}")]);
        fits(&found.stdout, "why");
        assert_eq!(found.status.code(), Some(status));
    }
}

#[test]
fn each_tensor_of_a_run_fits_its_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().join("classifier.vmfb").display().to_string();
    let compiled = iree_dbg(&["compile", "classifier.mlir", "-o", &module]);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    // The sum of exponentials overflows, so that some figures are not there.
    let output = iree_dbg(&["tensors", &module, "--input=1x16xf32=90", "--format=json"]);
    let lines: Vec<&[u8]> = output.stdout.split(|it| *it == b'\n').collect();
    assert!(lines.len() > 2, "{}", String::from_utf8_lossy(&output.stderr));
    for line in lines.iter().filter(|line| !line.is_empty()) {
        fits(line, "tensors");
    }
}

/// What a session prints for programs: each line fits the schema.
fn session(arguments: &[&str], commands: &str) -> Vec<Value> {
    let mut all = vec!["debug", "--batch", "--json-lines"];
    all.extend(arguments);
    all.extend(commands.split("; ").flat_map(|command| ["-ex", command]));
    let output = iree_dbg(&all);
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().for_each(|line| fits(line.as_bytes(), "debug"));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn lines_of_the_debugger_fit_their_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (module, tensor) = (file("classifier.vmfb"), file("operand.npy"));
    let compiled = iree_dbg(&["compile", "classifier.mlir", "-o", &module]);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let of_model = "start; record; info record; show args; break dispatch *; info b; c; bt; frame; \
                    info dispatches; info tensors; p operand[0]; whatis operand[0]; \
                    x/4xw operand[0]; SAVE; show operand[0]; bookmark here; bookmark; when; c; \
                    why %hidden[0,0]; table; history %hidden[0,0]; history at 14, %hidden[0,0]; \
                    finish; expected %scores; rerun; goto 2; set operand[0][0,0] = 5; lines; \
                    delete; c; line 1; c; goto 2; diff 1 2; info record; no such command; \
                    shell echo hello; run 1x16xf32=nan; catch nan; run 1x16xf32=nan; why nan";
    let of_program = "break improve; log 13 here; catch nan; info b; info catch; run; bt; locals; \
                      info registers; info globals; p %guess; p/x i0; p %no; watch %guess; c; \
                      step; info functions; info modules; info program; record; step; rs; \
                      history at 13, %guess; who-wrote %guess; info name %guess; until; delete; c";
    let of_model = of_model.replace("SAVE", &format!("save operand[0] {tensor}"));
    let mut lines = session(&[&module, "--input=1x16xf32=0.1"], &of_model);
    lines.extend(session(&[], of_program));
    // Most of what there is was printed.
    let schema = schema("debug");
    let keys = schema["properties"].as_object().expect("keys").keys();
    let seen = |key: &&String| lines.iter().any(|line| line.get(key.as_str()).is_some());
    let unseen: Vec<&String> = keys.filter(|key| !seen(key)).collect();
    assert!(unseen.len() <= 12, "{unseen:?}");
    for kind in ["answer", "stop", "log", "shell"] {
        assert!(lines.iter().any(|line| line["kind"] == kind), "{kind}");
    }
}

/// No command answers with a key that the schema does not have.
#[test]
fn the_schema_has_each_key_of_an_answer() {
    let schema = schema("debug");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../commands/src");
    let mut keys = 0;
    for file in std::fs::read_dir(sources).expect("the sources are there") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        for rest in text.split("out.put(\"").skip(1) {
            let key = rest.split('"').next().unwrap_or_default();
            assert!(schema["properties"].get(key).is_some(), "{key}, of {}", path.display());
            keys += 1;
        }
    }
    assert!(keys > 30, "{keys}");
}

#[test]
fn evidence_of_names_fits_its_schema() {
    let commands = [
        "break 16",
        "run",
        "info name %sum",
        "info name %guess",
        "info name @calls",
        "up",
        "info name %count",
        "info name %position",
    ];
    let mut arguments = vec!["debug", "--batch", "--json-lines"];
    arguments.extend(commands.iter().flat_map(|command| ["-ex", command]));
    let output = iree_dbg(&arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let told: Vec<Value> = lines.filter_map(|line| line.get("evidence").cloned()).collect();
    assert!(told.len() >= 4, "{text}");
    for evidence in told {
        fits(evidence.to_string().as_bytes(), "evidence");
    }
}

#[test]
fn a_schema_refuses_what_does_not_fit() {
    let mut found = Vec::new();
    let value = serde_json::json!({"schema_version": 2, "function": 1, "more": true});
    faults(&value, &schema("bench"), "", &mut found);
    for part in ["schema_version: const", "function: type", ": required", ": additionalProperties"]
    {
        assert!(found.iter().any(|fault| fault.contains(part)), "{part}: {found:?}");
    }
}
