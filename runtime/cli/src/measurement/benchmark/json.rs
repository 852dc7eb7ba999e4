//! The reports for programs: JSON and CSV. Their schema is in `schemas/benchmark.schema.json`.

use super::console::extra;
use super::context::MachineContext;
use super::flags::BenchmarkFlags;
use super::number::{general, scientific};
use super::row::{Kind, Row};

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The beginning of a report in JSON, up to the first row.
pub(super) fn begin(context: &MachineContext, flags: &BenchmarkFlags) -> String {
    let mut lines = vec![
        format!("\"date\": {}", quoted(&context.date)),
        format!("\"host_name\": {}", quoted(&context.host_name)),
        format!("\"executable\": {}", quoted(&context.executable)),
        format!("\"num_cpus\": {}", context.processors),
    ];
    let megahertz = context.megahertz.unwrap_or(0.0).round();
    lines.push(format!("\"mhz_per_cpu\": {megahertz}"));
    lines.push(format!("\"cpu_scaling_enabled\": {}", context.is_scaled));
    lines.extend(context.aslr.map(|on| format!("\"aslr_enabled\": {on}")));
    let caches = context.caches.iter().map(|cache| {
        format!(
            "      {{\n        \"type\": {},\n        \"level\": {},\n        \"size\": {},\n        \
             \"num_sharing\": {}\n      }}",
            quoted(&cache.kind),
            cache.level,
            cache.bytes,
            cache.sharing
        )
    });
    let caches: Vec<String> = caches.collect();
    lines.push(format!("\"caches\": [\n{}\n    ]", caches.join(",\n")));
    let load: Vec<String> = context.load.iter().map(|load| general(*load)).collect();
    lines.push(format!("\"load_avg\": [{}]", load.join(",")));
    lines.push(format!("\"library_version\": {}", quoted(env!("CARGO_PKG_VERSION"))));
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    lines.push(format!("\"library_build_type\": \"{build}\""));
    lines.push("\"json_schema_version\": 1".to_owned());
    for (key, value) in extra(flags) {
        lines.push(format!("{}: {}", quoted(key), quoted(value)));
    }
    format!("{{\n  \"context\": {{\n    {}\n  }},\n  \"benchmarks\": [\n", lines.join(",\n    "))
}

/// The end of a report in JSON.
pub(super) const END: &str = "\n  ]\n}\n";

/// A row in JSON, without a newline.
pub(super) fn row(row: &Row) -> String {
    let mut lines = vec![
        format!("\"name\": {}", quoted(&row.full_name())),
        format!("\"family_index\": {}", row.family),
        "\"per_family_instance_index\": 0".to_owned(),
        format!("\"run_name\": {}", quoted(&row.name)),
    ];
    let kind = if row.is_aggregate() { "aggregate" } else { "iteration" };
    lines.push(format!("\"run_type\": \"{kind}\""));
    lines.push(format!("\"repetitions\": {}", row.repetitions));
    if let Kind::Repetition(index) = row.kind {
        lines.push(format!("\"repetition_index\": {index}"));
    }
    lines.push("\"threads\": 1".to_owned());
    if let Kind::Aggregate { name, is_share } = row.kind {
        let unit = if is_share { "percentage" } else { "time" };
        lines.push(format!("\"aggregate_name\": \"{name}\""));
        lines.push(format!("\"aggregate_unit\": \"{unit}\""));
    }
    lines.push(format!("\"iterations\": {}", row.iterations));
    lines.push(format!("\"real_time\": {}", scientific(row.real_time)));
    lines.push(format!("\"cpu_time\": {}", scientific(row.cpu_time)));
    lines.push(format!("\"time_unit\": \"{}\"", row.unit.name()));
    for counter in &row.counters {
        lines.push(format!("{}: {}", quoted(counter.name), scientific(counter.value)));
    }
    format!("    {{\n      {}\n    }}", lines.join(",\n      "))
}

/// The counters that have a column of their own after the usual ones.
pub(super) const CSV_COUNTERS: [&str; 2] = ["calls", "percent"];

/// The heading in CSV.
pub(super) fn csv_header(has_dispatches: bool) -> String {
    let more = if has_dispatches { ",\"calls\",\"percent\"" } else { "" };
    format!(
        "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,\
         error_occurred,error_message{more}\n"
    )
}

/// A row in CSV.
pub(super) fn csv_row(row: &Row, has_dispatches: bool) -> String {
    let value = |name: &str| {
        let counter = row.counters.iter().find(|counter| counter.name == name);
        counter.map_or_else(String::new, |counter| general(counter.value))
    };
    // A share has no unit.
    let unit = if row.is_share() { "" } else { row.unit.name() };
    let mut text = format!(
        "\"{}\",{},{},{},{unit},,{},,,",
        row.full_name().replace('"', "\"\""),
        row.iterations,
        general(row.real_time),
        general(row.cpu_time),
        value("items_per_second")
    );
    if has_dispatches {
        for name in CSV_COUNTERS {
            text.push(',');
            text.push_str(&value(name));
        }
    }
    text + "\n"
}
