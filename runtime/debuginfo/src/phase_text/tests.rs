//! Printed texts as they are shown, each line with its origins.

use super::{OriginKind, PhaseText};

/// Each line with its origins: `line:column`, `+` for fused ones, `^` for callers.
fn shown(printed: &str) -> String {
    let phase = PhaseText::read(printed.as_bytes());
    assert_eq!(phase.text.lines().count(), phase.lines.len());
    let mut out = String::new();
    for (number, line) in phase.text.lines().enumerate() {
        let origins = phase.origins(number);
        let origins: Vec<String> = origins
            .iter()
            .map(|origin| {
                let mark = match origin.kind {
                    OriginKind::Own => "",
                    OriginKind::Fused => "+",
                    OriginKind::Caller => "^",
                };
                format!("{mark}{}:{}", origin.position.line, origin.position.column)
            })
            .collect();
        out += &format!("{line}|{}\n", origins.join(" "));
    }
    out
}

#[test]
fn operations_have_the_location_that_ends_them() {
    let printed = r#"#loc = loc("a.mlir":1:1)
#map = affine_map<(d0) -> (d0)>
#loc3 = loc(callsite(#loc1 at #loc))
module attributes {a = "loc(#loc)"} {
  func.func @f(%a: i32 loc("a.mlir":1:1), %b: index loc(unknown)) -> i32 attributes {x = {y = 1}} {
    %0 = scf.if %c -> (i32) {
      %1 = arith.addi %a, %a : i32 loc(#loc3)
      scf.yield %1 : i32 loc(#loc2)
    } else {
      scf.yield %a : i32 loc("a.mlir":6:5)
    } loc(#loc1)
    cf.br ^bb1(%0 : i32) loc(unknown)
  ^bb1(%2: i32 loc("a.mlir":9:1)):  // pred: ^bb0
    return %2 : i32 loc(fused<"x">[#loc1, #loc2])
  } loc(#loc)
} loc(#loc)
#loc1 = loc("a.mlir":3:8)
#loc2 = loc("named"("a.mlir":4:5))
"#;
    let expected = r#"#map = affine_map<(d0) -> (d0)>|
module attributes {a = "loc(#loc)"} {|1:1
  func.func @f(%a: i32, %b: index) -> i32 attributes {x = {y = 1}} {|1:1
    %0 = scf.if %c -> (i32) {|3:8
      %1 = arith.addi %a, %a : i32|3:8 ^1:1
      scf.yield %1 : i32|4:5
    } else {|
      scf.yield %a : i32|6:5
    }|3:8
    cf.br ^bb1(%0 : i32)|
  ^bb1(%2: i32):  // pred: ^bb0|
    return %2 : i32|+3:8 +4:5
  }|1:1
}|1:1
"#;
    assert_eq!(shown(printed), expected);
}

#[test]
fn long_strings_are_cut_and_faults_stay() {
    let printed = format!(
        "vm.rodata @x dense<\"0x{}\"> : vector<9xi8> loc(\"a\":2:3)\nx.y loc(what) \"open\n",
        "é".repeat(4000)
    );
    let shown = shown(&printed);
    let (first, rest) = shown.split_once('\n').unwrap();
    assert!(first.ends_with("vector<9xi8>|2:3") && first.contains(" bytes…"), "{first}");
    assert!(first.len() < 200, "{first}");
    assert_eq!(rest, "x.y loc(what) \"open|\n");
}

#[test]
fn nothing_is_read_twice_and_nothing_panics() {
    for text in
        ["", "\n", "loc(", " loc(", "}}}} loc(unknown)", "#loc = loc(", "((((\n) loc(unknown)"]
    {
        let _ = PhaseText::read(text.as_bytes());
        for end in 0..text.len() {
            let _ = PhaseText::read(&text.as_bytes()[..end]);
        }
    }
    // A location that contains itself ends.
    let phase = PhaseText::read(b"#a = loc(fused[#a, #a])\nx.y loc(#a)\n");
    assert!(phase.origins(0).is_empty());
}
