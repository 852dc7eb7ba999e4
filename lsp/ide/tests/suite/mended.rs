//! ABI attributes that are wrong, locations through aliases, and text that is half-typed.

use std::sync::Arc;

use ide::{Document, Language, Modules, complete, diagnostics, file_definition, hover};

fn document(text: &str) -> Document {
    Document::new(Language::Mlir, Some("/models/x.mlir".into()), Arc::new(text.to_owned()))
}

/// The document of a text without its cursor `‸`, and the cursor's offset.
fn marked(text: &str) -> (Document, usize) {
    (document(&text.replace('‸', "")), text.find('‸').expect("a cursor"))
}

fn told(text: &str) -> Vec<String> {
    diagnostics(&document(text))
        .into_iter()
        .map(|found| format!("{}: {}", &text[found.range], found.message))
        .collect()
}

/// A function of an `i32` and a tensor, with these attributes.
fn function(parameter: &str, attributes: &str) -> String {
    format!(
        "util.func public @f(%a: i32, %b: tensor<4xf32>{parameter}) -> f64 attributes {{{attributes}}} {{\n  %0 = arith.constant 1.0 : f64\n  util.return %0 : f64\n}}\n"
    )
}

#[test]
fn abi_attributes_that_are_right() {
    for (parameter, attributes) in [
        ("", ""),
        (" {iree.abi.output = 0 : index}", "iree.abi.model = \"coarse-fences\""),
        ("", r#"iree.abi = "{\"a\":[\"i32\",[\"ndarray\",\"f32\",1,4]],\"r\":[\"f64\"],\"v\":1}""#),
        (
            "",
            r#"iree.abi = "{\"a\":[\"i32\",[\"ndarray\",\"f32\",1,null]],\"r\":[\"f32\"],\"v\":1}""#,
        ),
        (
            "",
            r#"iree.abi = "{\"a\":[[\"named\",\"n\",\"i32\"],\"unknown\"],\"r\":[\"f32\"],\"v\":1}""#,
        ),
        ("", "iree.abi.stub"),
        ("", r#"iree.abi.declaration = "sync func @f(%n: i32, %x: tensor<4xf32>) -> (%o: f32)""#),
        ("", "iree.reflection = {iree.abi.declaration = \"any text\"}"),
        ("", "iree.fixedpoint = 3"),
    ] {
        assert_eq!(told(&function(parameter, attributes)), Vec::<String>::new(), "{attributes}");
    }
}

#[test]
fn abi_attributes_that_are_wrong() {
    for (parameter, attributes, expected) in [
        (
            "",
            r#"iree.abi = "{\"a\":[\"f32\",[\"ndarray\",\"f32\",1,4]],\"r\":[\"f64\"],\"v\":1}""#,
            "says that argument 0 is `f32`, and it is `i32`",
        ),
        (
            "",
            r#"iree.abi = "{\"a\":[\"i32\",[\"ndarray\",\"f32\",1,5]],\"r\":[\"f64\"],\"v\":1}""#,
            "says that argument 1 is `tensor<5xf32>`, and it is `tensor<4xf32>`",
        ),
        (
            "",
            r#"iree.abi = "{\"a\":[\"i32\",[\"ndarray\",\"i8\",1,4]],\"r\":[\"f64\"],\"v\":1}""#,
            "argument 1 is `tensor<4xi8>`",
        ),
        ("", r#"iree.abi = "{\"a\":[\"i32\"],\"r\":[\"f64\"],\"v\":1}""#, "describes 1 argument"),
        ("", r#"iree.abi = "{bad""#, "`iree.abi` is malformed"),
        (
            "",
            r#"iree.abi.declaration = "sync func @g(%n: i32, %x: tensor<4xf32>) -> (%o: f32)""#,
            "describes @g, and the function is @f",
        ),
        (
            "",
            r#"iree.abi.declaration = "sync func @f(%n: i32, %x: f32) -> (%o: f32)""#,
            "argument 1 is `f32`, and it is `tensor<4xf32>`",
        ),
        (" {iree.abi.output = 5 : index}", "", "@f has no result 5: its only one is 0"),
        (
            "",
            "iree.abi.model = \"nonsense\"",
            "the compiler knows no model of invocation `nonsense`",
        ),
        ("", "iree.abi.sped = 1", "iree.abi.sped: nothing reads the attribute"),
        ("", "iree.abi.decleration = \"x\"", "did you mean `iree.abi.declaration`?"),
        ("", "iree.reflecton = {}", "did you mean `iree.reflection`?"),
    ] {
        let told = told(&function(parameter, attributes));
        assert!(told.len() == 1 && told[0].contains(expected), "{attributes}: {told:?}");
    }
}

#[test]
fn exports_that_are_wrong() {
    let module = |line: &str| {
        format!("vm.module @m {{\n  vm.func @g() {{\n    vm.return\n  }}\n  vm.export {line}\n}}\n")
    };
    for right in
        ["@g", "@g as(\"x\")", r#"@g attributes {iree.abi = "{\"a\":[],\"r\":[],\"v\":1}"}"#]
    {
        assert_eq!(told(&module(right)), Vec::<String>::new(), "{right}");
    }
    for (wrong, expected) in [
        ("@nothere", "@nothere: no function `@nothere` is in this file"),
        ("@nothere as(\"g\")", "no function `@nothere`"),
        (r#"@g attributes {iree.abi = "{bad"}"#, "`iree.abi` is malformed"),
    ] {
        let told = told(&module(wrong));
        assert!(told.len() == 1 && told[0].contains(expected), "{wrong}: {told:?}");
    }
}

#[test]
fn twins_take_the_same_and_two_fences() {
    let twins = |arguments: &str| {
        format!(
            "util.func public @f$async({arguments}%w: !hal.fence, %s: !hal.fence) {{\n  util.return\n}}\nutil.func public @f(%a: i32) {{\n  util.return\n}}\n"
        )
    };
    assert_eq!(told(&twins("%a: i32, ")), Vec::<String>::new());
    let told = told(&twins("%a: i64, "));
    assert!(told.len() == 1 && told[0].contains("would be `0irr_v`"), "{told:?}");
}

#[test]
fn locations_lead_through_aliases() {
    let text = |line: &str, alias: &str| {
        format!(
            "func.func @f() {{\n  {line}\n  return loc(#loc3)\n}}\n#loc1 = loc(\"f.mlir\":2:3)\n{alias}#loc2 = loc(\"name\"(#loc1))\n#loc3 = loc(callsite(#loc2 at \"g.mlir\":4:5))\n#loc4 = loc(#loc4)\n#loc5 = loc(unknown)\n"
        )
    };
    let at = |text: &str| {
        let (document, offset) = marked(text);
        file_definition(&document, offset)
            .map(|(_, place)| format!("{}:{}:{}", place.path.display(), place.line, place.column))
    };
    for (line, expected) in [
        ("%0 = arith.con‸stant 1 : i32 loc(#loc2)", Some("/models/f.mlir:2:3")),
        ("%0 = arith.constant 1 : i32 loc(#lo‸c2)", Some("/models/f.mlir:2:3")),
        ("%0 = arith.cons‸tant 1 : i32 loc(\"h.mlir\":7:8)", Some("/models/h.mlir:7:8")),
        ("%0 = arith.cons‸tant 1 : i32 loc(#loc4)", None),
        ("%0 = arith.cons‸tant 1 : i32 loc(#loc5)", None),
        ("%0 = arith.cons‸tant 1 : i32", None),
    ] {
        assert_eq!(at(&text(line, "")).as_deref(), expected, "{line}");
    }
    assert_eq!(at(&text("", "‸")).as_deref(), Some("/models/f.mlir:2:3"));
}

#[test]
fn a_word_that_is_being_typed_is_not_offered() {
    let labels = |text: &str| {
        let (document, offset) = marked(text);
        let found = complete(&document, offset).items.into_iter().map(|item| item.label);
        found.filter(|label| label.starts_with("mine.")).collect::<Vec<_>>()
    };
    let body = |line: &str| {
        format!(
            "func.func @f() {{\n  \"mine.one\"() : () -> ()\n  mine.two\n  {line}\n  return\n}}\n"
        )
    };
    assert_eq!(labels(&body("mine.‸")), ["mine.two", "mine.one"]);
    assert_eq!(labels(&body("mine.t‸")), ["mine.two"]);
}

#[test]
fn a_hover_ends_before_a_half_typed_line() {
    let text = "func.func @f(%a: tensor<4x4xf32>, %b: i1) -> tensor<4x4xf32> {\n  %0 = mine.mat‸mul ins(%a)\n    outs(%a) -> tensor<4x4xf32>\n  lin\n  return %0 : tensor<4x4xf32>\n}\n";
    let (document, offset) = marked(text);
    let shown = hover(&document, &Modules::default(), offset).expect("a hover").markdown;
    assert!(shown.contains("outs(%a)") && !shown.contains("lin"), "{shown}");
}

#[test]
fn calls_are_those_of_their_part() {
    let part = |ty: &str, given: &str| {
        format!(
            "util.func private @f({ty}) -> {ty}\nutil.func @g(%a: {given}) {{\n  \
             %0 = util.call @f(%a) : ({given}) -> {ty}\n  util.return\n}}\n"
        )
    };
    let right = [part("i32", "i32"), part("f32", "f32")].join("// -----\n");
    assert_eq!(told(&right), [""; 0]);
    let wrong = [part("i32", "i32"), part("f32", "i32")].join("// -----\n");
    let found = told(&wrong);
    assert!(matches!(found.as_slice(), [one] if one.contains("operand 0 of `@f`")), "{found:?}");
}

#[test]
fn a_dispatch_has_the_types_of_its_results_and_not_of_its_count() {
    let text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %d = flow.dispatch.workgroups(%x) : (tensor<4xf32>) -> tensor<8xf32> = (%in: index) {
    flow.return
  } count() -> (index, index, index) {
    flow.return
  }
  %r = flow.dispatch.region -> (tensor<2xf32>) {
    flow.return %x : tensor<4xf32>
  } count() -> (index, index, index) {
    flow.return
  }
  return %x : tensor<4xf32>
}
";
    let hints = ide::inlay_hints(&document(text), &(0..text.len()), &|| false);
    let hints: Vec<&str> = hints.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(hints, [" 0r_r", ": tensor<8xf32>", ": tensor<2xf32>"]);
}

/// iree-opt accepts these regions without a block; what has operations must end.
#[test]
fn regions_that_may_be_empty() {
    for operation in [
        "%0 = flow.dispatch.region -> (tensor<4xf32>) {\n  }",
        "flow.dispatch.workgroups() : () -> () = () {\n  }",
        "%0 = hal.device.memoize<%d : !hal.device> affinity(%q) -> !hal.command_buffer {\n  }",
    ] {
        let text =
            format!("func.func @f(%d: !hal.device, %q: i64) {{\n  {operation}\n  return\n}}\n");
        assert_eq!(told(&text), Vec::<String>::new(), "{operation}");
    }
    assert_eq!(told("util.initializer {\n}\n"), Vec::<String>::new());
    let open = "func.func @f() {\n  flow.dispatch.region -> () {\n    %1 = tensor.empty() : tensor<4xf32>\n  }\n  return\n}\n";
    assert!(told(open)[0].contains("a terminator"), "{:?}", told(open));
}
