//! Checks messages of the adapter against the protocol's own JSON schema, which is beside this
//! file.
//!
//! The schema uses a small part of JSON schema (draft 4): `$ref`, `allOf`, `oneOf`, `type`, `enum`,
//! `required`, `properties`, `additionalProperties`, `items`, `minimum`, `maximum`; any
//! other keyword fails the test, so that nothing stays unchecked. The check is stricter than the
//! schema in one respect: it rejects properties that the protocol does not have, which are usually
//! misspelt, except for those of ours.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("debugAdapterProtocol.json")).unwrap());

/// What the adapter sends beyond the protocol, for clients of ours; others ignore it.
const OWN: [&str; 2] = ["ireeAbsent", "supportsIreeAbsent"];

/// Checks a message.
///
/// # Errors
/// The message does not fit the schema; why.
pub(crate) fn check(message: &Value) -> Result<(), String> {
    let definition = definition_of(message)?;
    let schema = SCHEMA["definitions"]
        .get(&definition)
        .ok_or_else(|| format!("the protocol has no {definition}"))?;
    if is_answer_to_nothing(message) {
        return Ok(());
    }
    validate(message, schema, &definition)?;
    let mut known = BTreeSet::new();
    known_properties(schema, &mut known);
    no_others(message, &known, &definition)
}

/// Whether a message answers one without a readable number. The schema has no such answer.
fn is_answer_to_nothing(message: &Value) -> bool {
    message["type"] == "response" && message["request_seq"] == 0 && message["success"] == false
}

/// The name of the definition for a message.
fn definition_of(message: &Value) -> Result<String, String> {
    let capitalised = |text: &Value| {
        let text = text.as_str().unwrap_or_default();
        let (first, rest) = text.split_at(text.len().min(1));
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    match message["type"].as_str() {
        Some("event") => Ok(format!("{}Event", capitalised(&message["event"]))),
        Some("response") if message["success"] == false => Ok("ErrorResponse".into()),
        Some("response") => Ok(format!("{}Response", capitalised(&message["command"]))),
        Some("request") => Ok(format!("{}Request", capitalised(&message["command"]))),
        _ => Err(format!("a message of no type: {message}")),
    }
}

fn resolved(schema: &Value) -> &Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let name = reference.strip_prefix("#/definitions/").unwrap();
            &SCHEMA["definitions"][name]
        }
        None => schema,
    }
}

fn validate(value: &Value, schema: &Value, at: &str) -> Result<(), String> {
    let schema = resolved(schema);
    let keywords = schema.as_object().ok_or_else(|| format!("{at}: no schema"))?;
    for (keyword, rule) in keywords {
        match keyword.as_str() {
            "allOf" => each(rule).try_for_each(|part| validate(value, part, at))?,
            "oneOf" => {
                let fitting = each(rule).filter(|part| validate(value, part, at).is_ok()).count();
                ensure(fitting == 1, || format!("{at}: {value} fits {fitting} of {rule}"))?;
            }
            "type" => ensure(is_of_type(value, rule), || format!("{at}: {value} is no {rule}"))?,
            "enum" => ensure(each(rule).any(|it| it == value), || {
                format!("{at}: {value} is none of {rule}")
            })?,
            "required" => each(rule).try_for_each(|name| {
                let name = name.as_str().unwrap();
                ensure(value.get(name).is_some(), || format!("{at}: no `{name}` in {value}"))
            })?,
            "properties" => {
                for (name, schema) in rule.as_object().unwrap() {
                    if let Some(property) = value.get(name) {
                        let at = format!("{at}.{name}");
                        validate(property, schema, &at)?;
                        let mut known = BTreeSet::new();
                        known_properties(schema, &mut known);
                        no_others(property, &known, &at)?;
                    }
                }
            }
            "additionalProperties" if rule.is_object() => {
                let listed = schema.get("properties").and_then(Value::as_object);
                let others = value.as_object().into_iter().flatten();
                let is_listed = |name: &str| listed.is_some_and(|it| it.contains_key(name));
                for (name, property) in others.filter(|(name, _)| !is_listed(name)) {
                    validate(property, rule, &format!("{at}.{name}"))?;
                }
            }
            "items" => {
                let mut known = BTreeSet::new();
                known_properties(rule, &mut known);
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    let at = format!("{at}[{index}]");
                    validate(item, rule, &at)?;
                    no_others(item, &known, &at)?;
                }
            }
            "minimum" => ensure(value.as_f64() >= rule.as_f64(), || {
                format!("{at}: {value} is below {rule}")
            })?,
            "maximum" => ensure(value.as_f64() <= rule.as_f64(), || {
                format!("{at}: {value} is above {rule}")
            })?,
            "format" => within_format(value, rule, at)?,
            "_enum" | "additionalProperties" | "$schema" | "definitions" => {}
            other => return Err(format!("{at}: the check does not know the keyword `{other}`")),
        }
    }
    Ok(())
}

fn within_format(value: &Value, format: &Value, at: &str) -> Result<(), String> {
    let Some(number) = value.as_i64() else { return Ok(()) };
    let fits = match format.as_str() {
        Some("int32") => i32::try_from(number).is_ok(),
        Some("uint32") => u32::try_from(number).is_ok(),
        _ => true,
    };
    ensure(fits, || format!("{at}: {number} does not fit {format}"))
}

fn is_of_type(value: &Value, rule: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    if rule.is_array() { each(rule).any(is) } else { is(rule) }
}

/// The properties that a schema and its parts list.
fn known_properties<'a>(schema: &'a Value, known: &mut BTreeSet<&'a str>) {
    let schema = resolved(schema);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        known.extend(properties.keys().map(String::as_str));
    }
    for keyword in ["allOf", "oneOf"] {
        each(&schema[keyword]).for_each(|part| known_properties(part, known));
    }
}

fn no_others(value: &Value, known: &BTreeSet<&str>, at: &str) -> Result<(), String> {
    if known.is_empty() {
        return Ok(());
    }
    let mut names = value.as_object().into_iter().flat_map(|it| it.keys());
    match names.find(|name| !known.contains(name.as_str()) && !OWN.contains(&name.as_str())) {
        Some(name) => Err(format!("{at}: the protocol knows no property `{name}`")),
        None => Ok(()),
    }
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let exited = |body: Value| {
        serde_json::json!({
            "seq": 1, "type": "event", "event": "exited", "body": body,
        })
    };
    assert_eq!(check(&exited(serde_json::json!({"exitCode": 3}))), Ok(()));
    let cases = [
        (
            exited(serde_json::json!({"exitCode": "3"})),
            "ExitedEvent.body.exitCode: \"3\" is no \"integer\"",
        ),
        (exited(serde_json::json!({})), "ExitedEvent.body: no `exitCode` in {}"),
        (
            exited(serde_json::json!({"exitCode": 3, "exit_code": 3})),
            "ExitedEvent.body: the protocol knows no property `exit_code`",
        ),
        (
            serde_json::json!({"seq": 0, "type": "event", "event": "initialized"}),
            "InitializedEvent.seq: 0 is below 1",
        ),
        (
            serde_json::json!({"seq": 1, "type": "event", "event": "finished"}),
            "the protocol has no FinishedEvent",
        ),
        (
            serde_json::json!({
                "seq": 1, "type": "response", "request_seq": 1, "command": "scopes",
                "success": true, "body": {"scopes": [{"name": "a", "variablesReference": 1}]},
            }),
            "ScopesResponse.body.scopes[0]: no `expensive` in \
             {\"name\":\"a\",\"variablesReference\":1}",
        ),
    ];
    for (message, expected) in cases {
        assert_eq!(check(&message), Err(expected.to_owned()));
    }
}
