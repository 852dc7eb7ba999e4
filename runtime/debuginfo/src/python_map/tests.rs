use super::*;

/// Line 5 of `model.py` calls `layer` twice; its line 2 is traced apart for the operation of line
/// 20, and line 30 is in a function of the program.
const MAP: &str = r#"{
  "pymap": 1,
  "source": {"length": 3, "crc32": 891568578},
  "function": "main",
  "files": ["model.py", "other.py"],
  "functions": ["model", "layer"],
  "calls": [[-1, 0, 0], [1, 1, 1], [3, 1, 1]],
  "events": [
    [0, 4, [["x", "%arg0"], ["ws", {"of": "list", "items": [["[0]", "%arg1"], ["[1]", "%arg2"]]}]]],
    [0, 5, [["n", {"is": "2"}]]],
    [1, 2, [["h", "%arg0"]]],
    [0, 5, [["x", "%3"], ["n", null]]],
    [2, 2, [["h", "%3"], ["lost", {"no": "vmap"}]]]
  ],
  "lines": [[9, 0], [10, 2], [11, 1], [12, 4], [15, -1]],
  "chains": [
    [[0, 5, 9], [1, 2, 12]],
    [[0, 5, 9], [1, 3, 4], [1, 8, 1]],
    [[1, 9, 1]]
  ],
  "places": [[10, 0], [12, 1], [20, 2]]
}"#;

fn map() -> PythonMap {
    PythonMap::read(MAP.as_bytes()).expect("a map")
}

fn calls(map: &PythonMap, path: &[u32]) -> Vec<String> {
    let calls = map.calls_to(path);
    let shown = calls.iter().map(|it| {
        let PythonPlace { file, line, column } = it.place;
        let function = it.function.map_or("?", String::as_str);
        format!("{function} {file}:{line}:{column} in call {}", it.calls)
    });
    shown.collect()
}

#[test]
fn it_is_of_one_text() {
    assert!(map().is_of(b"abc"));
    assert!(!map().is_of(b"abd") && !map().is_of(b"ab"));
}

#[test]
fn calls_have_the_places_of_the_framework_as_far_as_they_fit() {
    let map = map();
    assert_eq!(calls(&map, &[9]), ["model 0:4:1 in call 0"]);
    assert_eq!(calls(&map, &[10]), ["model 0:5:9 in call 0", "layer 1:2:12 in call 0"]);
    assert_eq!(calls(&map, &[11]), ["model 0:5:1 in call 0"]);
    // Within a function that is traced apart, only places are known; also in one of the program.
    let inner = ["model 0:5:9 in call 0", "layer 1:3:4 in call 0", "? 1:8:1 in call 0"];
    assert_eq!(calls(&map, &[12]), inner);
    let called = [&inner[..], &["? 1:9:1 in call 1"]].concat();
    assert_eq!(calls(&map, &[12, 20]), called);
    assert_eq!(calls(&map, &[15]), Vec::<String>::new());
}

#[test]
fn variables_are_those_of_a_call_at_a_moment() {
    let map = map();
    let shown = |event: u32| -> Vec<String> {
        let variables = map.variables(PythonEvent(event)).into_iter();
        let leaves = variables.flat_map(|(name, value)| value.leaves(name));
        leaves.map(|(name, value)| format!("{name} {value:?}")).collect()
    };
    let weights = [r#"ws[0] Value("%arg1")"#, r#"ws[1] Value("%arg2")"#];
    assert_eq!(shown(1), [&[r#"x Value("%arg0")"#], &weights[..], &[r#"n Text("2")"#]].concat());
    assert_eq!(shown(3), [&[r#"x Value("%3")"#], &weights[..]].concat());
    assert_eq!(shown(2), [r#"h Value("%arg0")"#]);
    assert_eq!(shown(4), [r#"h Value("%3")"#, r#"lost Absent("vmap")"#]);
}

#[test]
fn a_line_has_its_own_operations_or_those_of_its_calls() {
    let map = map();
    assert_eq!(map.operations_on(1, 2), [10]);
    // Each time that the call runs, the first operation of it.
    assert_eq!(map.operations_on(0, 5), [10, 12]);
    assert_eq!(map.operations_on(0, 4), Vec::<u32>::new());
    assert_eq!(map.lines_with_operations(1), [2, 3, 8, 9].into());
}

#[test]
fn a_value_has_the_name_that_a_call_has_given_it() {
    let map = map();
    let names = map.variables_of_values();
    // `x` is given before `h` is, though `h` comes first.
    assert_eq!(names["main"]["%3"], "x");
    assert_eq!(names["main"]["%arg1"], "ws[0]");
}

/// A function that is traced apart has calls and values of its own; a region has values whose names
/// another one may have, too.
#[test]
fn functions_of_the_program_have_calls_and_names_of_their_own() {
    let map = MAP.replacen("[1, 1, 1]", r#"[-1, 1, 1, "part"]"#, 1).replacen(
        "[3, 1, 1]]",
        r#"[3, 1, 1, ""]]"#,
        1,
    );
    let map = PythonMap::read(map.as_bytes()).unwrap();
    let names = map.variables_of_values();
    assert_eq!(names["part"]["%arg0"], "h");
    assert_eq!(names["main"]["%arg0"], "x");
    assert!(!names["main"].values().any(|it| it == "h"));
    let functions = |path: &[u32]| -> Vec<&str> {
        map.calls_to(path).iter().filter_map(|it| Some(it.function?.as_str())).collect()
    };
    assert_eq!(functions(&[10]), ["layer"]);
    assert_eq!(functions(&[9, 10]), ["model", "layer"]);
    assert_eq!(functions(&[12]), ["model", "layer"]);
}

#[test]
fn what_refers_to_nothing_is_refused() {
    let without = |old: &str, new: &str| {
        assert!(MAP.contains(old), "{old}");
        PythonMap::read(MAP.replacen(old, new, 1).as_bytes()).expect_err("it is refused")
    };
    for (old, new, what) in [
        ("[3, 1, 1]]", "[4, 1, 1]]", "events"),
        ("[1, 1, 1]", "[1, 2, 1]", "calls"),
        ("[1, 1, 1]", "[1, 1, 2]", "calls"),
        ("[1, 1, 1]", "[99, 1, 1]", "events"),
        ("[1, 1, 1]", "[-2, 1, 1]", "events"),
        ("[2, 2, [[\"h\"", "[3, 2, [[\"h\"", "events"),
        ("[10, 2]", "[10, 5]", "events"),
        ("[10, 2]", "[13, 2]", "lines"),
        ("[[1, 9, 1]]", "[[2, 9, 1]]", "places"),
        ("[20, 2]", "[20, 3]", "places"),
    ] {
        assert_eq!(without(old, new), PythonMapError::Inconsistent(what), "{old} -> {new}");
    }
    let error = without("\"pymap\": 1", "\"pymap\": 2").to_string();
    assert_eq!(error, "it cannot be read: it is of version 2, not 1");
    assert!(matches!(PythonMap::read(b"{"), Err(PythonMapError::Unreadable(_))));
}

#[test]
fn calls_that_are_deeper_than_python_allows_are_refused() {
    let map = |depth: i32| {
        let calls: Vec<String> = (0..depth).map(|it| format!("[{},0,0]", it - 1)).collect();
        let events: Vec<String> = (0..depth).map(|it| format!("[{it},1,[]]")).collect();
        let text = format!(
            r#"{{"pymap":1,"source":{{"length":0,"crc32":0}},"function":"f","files":["a"],
                "functions":["g"],"calls":[{}],"events":[{}],"lines":[],"chains":[],"places":[]}}"#,
            calls.join(","),
            events.join(",")
        );
        PythonMap::read(text.as_bytes())
    };
    assert!(map(1000).is_ok());
    assert!(map(5000).is_err());
}

#[test]
fn calls_and_values_are_of_layers() {
    let numbered = map();
    let layers = |map: &PythonMap| -> Vec<Option<String>> {
        let events = [0, 2, 4].map(PythonEvent);
        events.iter().map(|it| map.layer(*it).map(str::to_owned)).collect()
    };
    // By their number, where the caller calls the function more than once.
    let own = |names: [&str; 2]| [None, Some(names[0].to_owned()), Some(names[1].to_owned())];
    assert_eq!(layers(&numbered), own(["layer[0]", "layer[1]"]));
    // By the framework's names; a variable is no layer of its name.
    let more = r#""places": [[10, 0], [12, 1], [20, 2]],
      "layers": [[1, "blocks.0"], [2, "blocks.1"]],
      "results": [["blocks.0", "%3"], ["blocks.1.h", {"of": "tuple", "items": [["[0]", "%9"]]}]]"#;
    let more = MAP.replace(r#""places": [[10, 0], [12, 1], [20, 2]]"#, more);
    let second = r#"[2, 2, [["h", "%3"], ["lost", {"no": "vmap"}]]]"#;
    let third = format!(r#"{second}, [2, 3, [["h", "%5"], ["g", "%3"]]]"#);
    let named = PythonMap::read(more.replace(second, &third).as_bytes()).expect("a map");
    assert_eq!(layers(&named), own(["blocks.0", "blocks.1"]));
    let names = named.names_in_layers();
    assert_eq!(names["%3"], ["blocks.0", "blocks.1.g"]);
    assert_eq!(names["%9"], ["blocks.1.h[0]"]);
    assert!(!names.contains_key("%5") && !names.contains_key("%arg0"));
    let none = MAP.replace(r#""places": ["#, r#""layers": [[7, "x"]], "places": ["#);
    assert_eq!(
        PythonMap::read(none.as_bytes()).unwrap_err(),
        PythonMapError::Inconsistent("layers")
    );
}
