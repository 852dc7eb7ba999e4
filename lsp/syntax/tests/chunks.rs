//! The chunk table of whole texts: where the cuts are, what survives damage, and that an edited
//! table equals a fresh scan.

use syntax::name_hash;
use syntax::{ChunkKind, ChunkTable, Symbol, TextEdit};

/// One line per chunk: nesting, kind, class, and the symbol that it defines.
fn shown(text: &str) -> String {
    let table = ChunkTable::scan(text);
    let mut out = String::new();
    for placed in table.iter() {
        let chunk = placed.chunk;
        let symbol = Symbol::read(text, &placed);
        if let Some(symbol) = symbol.as_ref().filter(|symbol| symbol.target.is_none()) {
            assert_eq!(chunk.name, name_hash(&symbol.name), "{}", symbol.name);
        }
        let name =
            symbol.map(|symbol| format!(" {} @{}", symbol.op, symbol.name)).unwrap_or_default();
        let damage = [
            (chunk.damage.unclosed, " UNCLOSED"),
            (chunk.damage.open_string, " STRING"),
            (chunk.damage.stray_close, " STRAY"),
        ];
        let damage: String = damage.iter().filter(|row| row.0).map(|row| row.1).collect();
        let indent = "  ".repeat(usize::from(chunk.depth));
        out += &format!("{indent}{:?} {:?}{name}{damage}\n", chunk.kind, chunk.class);
    }
    assert_eq!(table.iter().map(|placed| placed.chunk.len).sum::<usize>(), text.len());
    out
}

const NESTED: &str = r#"// A comment with a brace {
#map = affine_map<(d0) -> (d0)>
!t = tensor<4xf32>
module @m attributes {a = {b = "}"}} {
  util.global private mutable @g {noinline} = 5 : i32
  flow.executable private @ex {
    flow.executable.export public @entry workgroups(%a: index) -> (index) {
      flow.return %a : index
    }
    builtin.module {
      func.func @entry() { return }
    }
  }
  func.func private @decl(i32, f32) -> !t
  util.func public @"quoted name"(
      %a: tensor<4xf32>, // comment (
      %b: i32
  ) -> tensor<4xf32> attributes {
    x = "{"
  } {
    %0 = util.call @decl(%b, %b) : (i32, f32) -> !t
    scf.if %c { "a.b"() : () -> () } else { }
    util.return %0 : tensor<4xf32>
  } loc(#loc)
}
// -----
func.func @one() { return } func.func @two() { return }
%s = transform.get @one : !t
{-#
  dialect_resources: { builtin: { blob: "0x0400" } }
#-}
"#;

#[test]
fn nesting() {
    let expected = "\
Item Alias
Item Alias
Open Module module @m
  Item Global util.global @g
  Open Executable flow.executable @ex
    Item Export flow.executable.export @entry
    Open Module
      Item Function func.func @entry
      Close Other
    Close Other
  Item Function func.func @decl
  Item Function util.func @quoted name
  Close Other
Separator Other
Item Function func.func @one
Item Function func.func @two
Item Other
Item Resources
Trivia Other
";
    assert_eq!(without_depth_of_close(&shown(NESTED)), without_depth_of_close(expected));
}

/// The lines of a listing, with closing chunks unindented: their depth is that of their contents.
fn without_depth_of_close(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| if line.contains("Close") { line.trim().to_owned() } else { line.to_owned() })
        .collect()
}

#[test]
fn generic_form() {
    let text = r#""builtin.module"() ({
  "func.func"() <{function_type = (i32) -> i32, sym_name = "f", sym_visibility = "private"}> ({
  ^bb0(%a: i32):
    "func.return"(%a) : (i32) -> ()
  }) {k = "}"} : () -> ()
  "vm.import"() <{function_type = () -> i32, sym_name = "a.b"}> ({
  }) : () -> ()
}) : () -> ()
"#;
    let expected = "\
Open Module
  Item Function func.func @f
  Item Import vm.import @a.b
  Close Other
Trivia Other
";
    assert_eq!(shown(text), expected);
}

#[test]
fn vm_assembly() {
    let text = r#"vm.module @m version 0
vm.type i32
vm.type !vm.list<i32>
vm.rodata[0] = 010203
vm.import @n.add cconv "0CiDi_i"
vm.global.i32 private mutable @g = 0 : i32
vm.export @f
vm.export @out = @f
vm.func @f(%i0: i32) -> (i32) {
[00000000]    ^bb0:
  vm.fail %i0, "}"  // {
}
"#;
    let expected = "\
Item Module vm.module @m
Item Type
Item Type
Item Rodata
Item Import vm.import @n.add
Item Global vm.global.i32 @g
Item Export vm.export @f
Item Export vm.export @out
Item Function vm.func @f
Trivia Other
";
    assert_eq!(shown(text), expected);
}

#[test]
fn damage_stays_in_its_chunk() {
    let whole = "func.func @a() {\n  return\n}\nmodule {\n  func.func @b() {\n    x.y {\n    }\n  }\n  func.func @c(%x: i32) {\n  }\n}\nfunc.func @d() {\n}\n";
    let names = |text: &str| {
        shown(text)
            .lines()
            .filter_map(|line| line.split_once('@')?.1.split(' ').next().map(str::to_owned))
            .collect::<Vec<_>>()
            .join(",")
    };
    assert_eq!(names(whole), "a,b,c,d");
    // Without any one character, every symbol is still listed, except at most the damaged one.
    for (at, lost) in whole.char_indices() {
        let text = format!("{}{}", &whole[..at], &whole[at + lost.len_utf8()..]);
        let found =
            names(&text).split(',').filter(|name| ["a", "b", "c", "d"].contains(name)).count();
        assert!(found >= 3, "without {lost:?} at {at}: {}", shown(&text));
    }
    // The same for any bracket or sigil that is typed.
    for at in 0..=whole.len() {
        for typed in ["{", "}", "(", ")", "<", "\"", "@", "%"] {
            let text = format!("{}{typed}{}", &whole[..at], &whole[at..]);
            let found =
                names(&text).split(',').filter(|name| ["a", "b", "c", "d"].contains(name)).count();
            // Damage before the opening brace of a container may hide the container and its
            // contents.
            let opener = whole.find("module {").unwrap();
            let at_container = (opener..=opener + "module {".len()).contains(&at);
            let least = if at_container { 2 } else { 3 };
            assert!(found >= least, "with {typed:?} at {at}: {}", shown(&text));
        }
    }
    assert!(shown("func.func @a() {\n  return\nfunc.func @b() {\n}\n").contains("@a UNCLOSED"));
    assert!(shown("}\nfunc.func @b() {}").contains("STRAY"));
    assert!(shown("func.func @b() { \"x\n}").contains("@b STRING"));
}

#[test]
fn an_edit_gives_what_a_fresh_scan_gives() {
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut below = |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % limit.max(1) as u64) as usize
    };
    let snippets = [
        "{",
        "}",
        "\"",
        "\n",
        "func.func @n() {\n}\n",
        "// -----\n",
        "(",
        "module {\n",
        "@x",
        " ",
        "",
        "",
        "#m = 1\n",
        "é",
    ];
    let mut text = NESTED.to_owned();
    let mut table = ChunkTable::scan(&text);
    let (mut pending, mut base) = (None::<TextEdit>, table.clone());
    for round in 0..4000 {
        let floor = |text: &str, at: usize| {
            (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
        };
        let start = floor(&text, below(text.len() + 1));
        let end = floor(&text, (start + below(40)).min(text.len())).max(start);
        let snippet = snippets[below(snippets.len())];
        text.replace_range(start..end, snippet);
        let edit = TextEdit { start, removed: end - start, inserted: snippet.len() };
        table = table.edited(&text, edit);
        let fresh = ChunkTable::scan(&text);
        assert_eq!(table, fresh, "round {round}: {edit:?} in\n{text}");
        // Several edits joined equal one edit.
        let joined = pending.map_or(edit, |pending| pending.then(edit));
        assert_eq!(base.edited(&text, joined), fresh, "round {round}: joined {joined:?}");
        pending = Some(joined);
        if round % 7 == 0 {
            (pending, base) = (None, fresh);
        }
        if text.len() < 200 || text.len() > 6000 {
            text = NESTED.to_owned();
            table = ChunkTable::scan(&text);
            (pending, base) = (None, table.clone());
        }
    }
}

#[test]
fn kinds_are_found_by_offset() {
    let table = ChunkTable::scan(NESTED);
    let at = NESTED.find("flow.return").unwrap();
    let placed = table.at(at).unwrap();
    assert_eq!(placed.chunk.kind, ChunkKind::Item);
    let names: Vec<_> = table
        .ancestors(placed.index)
        .iter()
        .map(|open| Symbol::read(NESTED, open).unwrap().name)
        .collect();
    assert_eq!(names, ["m", "ex"]);
    assert_eq!(table.at(NESTED.len()).unwrap().index, table.len() - 1);
    assert!(ChunkTable::scan("").at(0).is_none());
}

/// A table of many blocks, some with containers: lookups by block equal a pass over every chunk.
#[test]
fn names_and_containers_are_found_across_blocks() {
    let functions = |from: usize| -> String {
        (from..from + 700).map(|n| format!("func.func @f{}() {{ }}\n", n % 1000)).collect()
    };
    let nested =
        format!("module @outer {{\nmodule @inner {{\n{}}}\n{}}}\n", functions(0), functions(700));
    let text = format!("{}{nested}// -----\n{}", functions(0), functions(300));
    let table = ChunkTable::scan(&text);
    for name in ["f0", "f1", "f512", "f999", "outer", "inner", "absent"] {
        let hash = name_hash(name);
        let all = table.iter().filter(|placed| placed.chunk.name == hash);
        assert!(table.named(hash).eq(all), "{name}");
    }
    assert!(table.named(name_hash("f1")).count() >= 3);
    let mut open = Vec::new();
    for placed in table.iter() {
        assert_eq!(table.ancestors(placed.index), open, "{}", placed.index);
        match placed.chunk.kind {
            ChunkKind::Open => open.push(placed),
            ChunkKind::Close => drop(open.pop()),
            ChunkKind::Separator => open.clear(),
            _ => {}
        }
    }
    assert_eq!(table.ancestors(table.len()), open);
}
