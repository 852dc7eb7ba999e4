//! Features of short texts, asked at a cursor: `‸` marks it in the text.

use std::sync::Arc;

use ide::{Document, Language, Modules, OutlineItem, definition, diagnostics, hover, outline};

fn document(language: Language, text: &str) -> Document {
    Document::new(language, None, Arc::new(text.to_owned()))
}

/// The document of a text with a cursor, and the cursor's offset.
fn marked(language: Language, text: &str) -> (Document, usize) {
    let at = text.find('‸').expect("a cursor");
    (document(language, &text.replace('‸', "")), at)
}

fn hovered(language: Language, text: &str) -> String {
    let (document, at) = marked(language, text);
    hover(&document, &Modules::default(), at).map(|hover| hover.markdown).unwrap_or_default()
}

fn defined(language: Language, text: &str) -> String {
    let (document, at) = marked(language, text);
    definition(&document, at)
        .map(|target| {
            let name = document.text().slice(target.selection.clone()).into_owned();
            format!("{name} at {}", target.selection.start)
        })
        .unwrap_or_default()
}

#[test]
fn outline_nests() {
    let text = "module @m {\n  func.func @f(%a: i32) -> (f32) {\n  }\n  vm.export @f as(\"g\")\n  builtin.module {\n    func.func private @h()\n  }\n}\n";
    let shown = outline(&document(Language::Mlir, text), 100);
    fn lines(items: &[OutlineItem], indent: usize, out: &mut String) {
        for item in items {
            *out += &format!(
                "{}{} [{}] {:?}\n",
                "  ".repeat(indent),
                item.name,
                item.detail,
                item.class
            );
            lines(&item.children, indent + 1, out);
        }
    }
    let mut out = String::new();
    lines(&shown.items, 0, &mut out);
    assert_eq!(
        out,
        "m [module] Module\n  f [func.func (i32) -> (f32)] Function\n  g [vm.export → @f] Export\n  builtin.module [] Module\n    h [func.func () -> ()] Function\n"
    );
    assert_eq!(shown.items[0].range, 0..text.len() - 1);
    let few = outline(&document(Language::Mlir, text), 2);
    assert_eq!((few.items[0].children.len(), few.left_out), (1, 2));
}

#[test]
fn outline_of_vm_assembly_hangs_on_the_module() {
    let text = "vm.module @m version 0\nvm.import @n.f cconv \"0i_v\"\nvm.export @f\nvm.func @f(%i0: i32) -> () {\n}\n";
    let shown = outline(&document(Language::Vmasm, text), 100);
    assert_eq!(shown.items.len(), 1);
    let children: Vec<_> =
        shown.items[0].children.iter().map(|item| item.detail.as_str()).collect();
    assert_eq!(children, ["vm.import 0i_v", "vm.export", "vm.func (i32) -> ()"]);
}

#[test]
fn hover_states_and_derives_conventions() {
    let mlir = |text: &str| hovered(Language::Mlir, text);
    let shown = mlir("func.func @‸f(%a: tensor<4xf32>, %b: i64) -> (index) {\n}");
    assert!(
        shown.contains("```mlir\nfunc.func @f(%a: tensor<4xf32>, %b: i64) -> (index)\n```"),
        "{shown}"
    );
    assert!(shown.contains("`0rI_I` = `(ref, i64) -> (i64)`"), "{shown}");
    assert!(shown.contains("Expected from the types"), "{shown}");
    // From a call, from the operation's name, in generic form, and with a quoted name.
    let call = "func.func @f(%a: i32) {\n}\nfunc.func @g() {\n  call @‸f(%a) : (i32) -> ()\n}";
    assert!(mlir(call).contains("`0i_v`"));
    assert!(mlir("func.‸func @f() {\n}").contains("`0v_v`"));
    assert!(
        mlir(
            "\"func.func\"() <{function_type = (f32) -> i1, sym_name = \"‸f\"}> ({\n}) : () -> ()"
        )
        .contains("`0f_i`")
    );
    assert!(
        mlir("func.func @\"größe 😀\"(%a: f32) {\n func.call @\"größe ‸😀\"(%a)\n}")
            .contains("`0f_v`")
    );
    // A function without a convention says so.
    assert!(mlir("func.func private @‸f(%a: i32)").contains("Not exported"));
    assert!(
        mlir("func.func @‸f(%a: complex<f32>) {\n}")
            .contains("exports no function with `complex<f32>`")
    );
    assert!(!mlir("module @‸m {\n}").contains("convention"));
    // VM functions state their convention.
    let import = "vm.import private @‸d(\n  %cb : !vm.ref<!hal.buffer>,\n  %b : tuple<i32, !vm.buffer> ...\n) -> i64\nattributes {x}";
    let shown = mlir(import);
    assert!(shown.contains("`0rCirD_I` = `(ref, variadic<(i32, ref)>) -> (i64)`"), "{shown}");
    assert!(!shown.contains("Derived"));
    assert!(mlir("vm.func @a(%x: f64) {\n}\nvm.export @‸a as(\"b\")").contains("`0F_v`"));
    assert!(mlir("func.func @f() {\n  %0 = arith.‸constant 1 : i32\n}").contains("`i32`"));
}

#[test]
fn hover_in_vm_assembly() {
    let text = |cursor: &str| {
        let text = "vm.module @m version 0\nvm.import @n.add cconv \"0CiDi_i\"\nvm.export @g\nvm.func @g() -> () {\n  vm.call @m:1(%i0)\n  vm.call @n.add(%i0)\n  vm.call @h(%i0)\n}\nvm.func @h(%i0:1: i64, %r0: !vm.ref<?>) -> (f32) {\n}\n";
        let at = text.find(cursor).unwrap() + 1;
        format!("{}‸{}", &text[..at], &text[at..])
    };
    let shown = |cursor: &str| hovered(Language::Vmasm, &text(cursor));
    assert!(shown("@n.add cconv").contains("`(variadic<i32>, i32) -> (i32)`"));
    assert!(shown("@n.add(").contains("`0CiDi_i`"));
    assert!(shown("@g\n").contains("`0v_v`"));
    for cursor in ["@m:1", ":1(", "1(%i0)", "@h(%i0)\n", "@h(%i0:1"] {
        assert!(
            shown(cursor).contains("`0Ir_f` = `(i64, ref) -> (f32)`"),
            "{cursor}: {}",
            shown(cursor)
        );
    }
    let wrong = "vm.import @a.b cconv \"0i‸q\"";
    let (document, _) = marked(Language::Vmasm, wrong);
    let found = diagnostics(&document);
    assert!(found.iter().any(|found| found.message.contains("unexpected `q`")), "{found:?}");
    assert!(hovered(Language::Vmasm, "vm.import @‸a.b cconv \"0iq\"").contains("wrong"));
}

#[test]
fn definitions_prefer_what_is_near() {
    let text = "func.func @f() { call @‸f() }\nmodule {\n  func.func @f() { call @⁂f() }\n}\nflow.executable @ex {\n  flow.executable.export @e\n  builtin.module {\n    func.func @e() { }\n  }\n}\nfunc.func @u() { flow.dispatch @ex::@※e() }\n";
    let at = |mark: char| {
        let only: String = text.chars().filter(|&c| c == mark || !"‸⁂※".contains(c)).collect();
        defined(Language::Mlir, &only.replace(mark, "‸"))
    };
    let plain: String = text.chars().filter(|c| !"‸⁂※".contains(*c)).collect();
    let nth = |needle: &str, n: usize| plain.match_indices(needle).nth(n).unwrap().0;
    assert_eq!(at('‸'), format!("@f at {}", nth("@f", 0)));
    assert_eq!(at('⁂'), format!("@f at {}", nth("@f", 2)));
    assert_eq!(at('※'), format!("@e at {}", nth("@e", 1)));
}

#[test]
fn diagnostics_name_what_is_broken() {
    let messages = |text: &str| {
        let document = document(Language::Mlir, text);
        diagnostics(&document)
            .into_iter()
            .map(|found| format!("{}: {}", document.text().slice(found.range), found.message))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(messages("module {\n  func.func @f() {\n    return\n  }\n}\n"), "");
    assert!(messages("module {\n  func.func @f() {\n  }\n").starts_with("module: the region"));
    assert!(
        messages("func.func @f() {\nfunc.func @g() {\n}\n").starts_with("func.func: a bracket")
    );
    assert!(messages("}\n").starts_with("}: this"));
    assert!(messages("func.func @f() {\n  \"ab\n}\n").starts_with("\"ab: this string"));
}

#[test]
fn diagnostics_know_forms_and_operations() {
    // Each line of this function is right, and each change makes it wrong.
    let right = "#m = affine_map<(d0, d1) -> (d0)>
func.func @f(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  \"mine.op\"(%a, %n) {m = #m} : (tensor<4xf32>, index) -> ()
  %t = scf.for %i = %c0 to %n step %n iter_args(%x = %a) -> (tensor<4xf32>) {
    %e = tensor.extract %x[%i] : tensor<4xf32>
    %y = tensor.insert %e into %x[%i] {k = true, l = [1, 2]} : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %t : tensor<4xf32>
}
";
    let messages = |text: &str| {
        let found = diagnostics(&document(Language::Mlir, text));
        found.into_iter().map(|found| found.message).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(messages(right), "");
    for (old, new, expected) in [
        ("(d0, d1)", "(d0 d1)", "expected `,` between `d0` and `d1`"),
        ("0 : index", "0 index", "expected `:` between `0` and `index`"),
        ("%c0 to %n", "%c0 to %zz", "`%zz` is not defined here"),
        ("arith.constant", "arith.constnat", "did you mean `arith.constant`?"),
        ("    scf.yield %y : tensor<4xf32>\n", "", "`scf.yield` is missing"),
        ("  return %t : tensor<4xf32>\n", "", "`return` or a branch is missing"),
        ("%x[%i] : tensor<4xf32>", "%x[%i] : tensor<4xi32>", "`%e` is `i32` and is used as `f32`"),
        ("scf.yield %y : tensor<4xf32>", "scf.yield", "has 0 operands, and what it ends has 1"),
        ("return %t : tensor<4xf32>", "return %n : index", "the result is `tensor<4xf32>`"),
        ("-> tensor<4xf32> {", "-> tensor<5xf32> {", "the result is `tensor<5xf32>`"),
        ("true, l", "true l", "expected `,` before `l`"),
        ("[1, 2]", "[1 2]", "expected `,` between `1` and `2`"),
        ("%y = tensor", "%y tensor", "expected `=` between `%y` and `tensor.insert`"),
        ("(%a, %n)", "(%a %n)", "expected `,` between `%a` and `%n`"),
        ("-> (tensor<4xf32>) {", "-> (tensor 4xf32>) {", "this `>` closes nothing"),
    ] {
        assert!(right.contains(old), "{old}");
        let said = messages(&right.replacen(old, new, 1));
        assert!(said.contains(expected), "{new}: {said}");
    }
}

#[test]
fn edits_keep_everything_fresh() {
    let text = "func.func @f(%a: i32) {\n}\nfunc.func @g() {\n  call @f() : () -> ()\n}\n";
    let first = document(Language::Mlir, text);
    let _ = outline(&first, 10);
    let at = text.find("i32").unwrap();
    let edited = text.replace("i32", "f32, %b: i64");
    let edit = ide::TextEdit { start: at, removed: 3, inserted: 12 };
    let second = first.edited(Arc::new(edited.clone()), edit);
    let call = edited.find("call @f").unwrap() + 6;
    assert!(hover(&second, &Modules::default(), call).unwrap().markdown.contains("`0fI_v`"));
    assert!(second.is_unsaved() && !second.saved().is_unsaved());
}

#[test]
fn resources_fold() {
    let text = "func.func @f() {\n  return\n}\n\n{-#\n  dialect_resources: {\n    builtin: { w: \
                \"0x04000000\" }\n  }\n#-}\n";
    let document = document(Language::Mlir, text);
    let folds = ide::folds(&document, 100);
    assert!(folds.iter().any(|fold| text[fold.range.clone()].starts_with("{-#")
        && text[fold.range.clone()].trim_end().ends_with("#-}")));
}

#[test]
fn nothing_panics_on_half_typed_text() {
    let mlir = "module @m attributes {a = \"é😀\"} {\n  vm.import private @\"q é\"(%a : tuple<i32, !vm.ref<?>> ...) -> i64\n  vm.export @f as(\"g\")\n  func.func @f(%a: tensor<4xf32> {x = 1}, %b: f64) -> (i1, index) attributes {} {\n    call @f(%a) : () -> ()  // @f\n  }\n}\n\"func.func\"() <{function_type = (i32) -> (f32), sym_name = \"h\"}> ({\n}) : () -> ()\n// -----\n#m = 1\n{-# a: { b: \"0x00\" } #-}\n";
    let vmasm = "vm.module @m version 0\nvm.import @a.b cconv \"0CiD_é\"\nvm.export @x = @f\nvm.func @f(%i0:1: i64, %r0: !vm.ref<?>) -> (i32) {\n[0000]  vm.call @m:0(%i0)\n}\n";
    let modules = Modules::default();
    for (language, whole) in [(Language::Mlir, mlir), (Language::Vmasm, vmasm)] {
        for cut in (0..=whole.len()).filter(|&at| whole.is_char_boundary(at)) {
            for text in [&whole[..cut], &whole[cut..]] {
                let document = document(language, text);
                let _ = outline(&document, 5);
                let _ = diagnostics(&document);
                for offset in (0..text.len() + 3).step_by(1 + text.len() / 40) {
                    let _ = hover(&document, &modules, offset);
                    let _ = definition(&document, offset);
                }
            }
        }
    }
}

#[test]
fn operations_of_the_installed_compiler_are_shown() {
    // What the compiler's package says, written for this test.
    let table = "\n@_ods_cext.register_operation(_Dialect)\nclass AddIOp(_ods_ir.OpView):\n  r\"\"\"\n  Adds integers.\n  \"\"\"\n  OPERATION_NAME = \"arith.addi\"\n  _ODS_REGIONS = (0, True)\n  @builtins.property\n  def lhs(self) -> _ods_ir.Value:\n  @builtins.property\n  def rhs(self) -> _ods_ir.Value:\n  @builtins.property\n  def overflowFlags(self) -> _Optional[_ods_ir.Attribute]:\n  @builtins.property\n  def result(self) -> _ods_ir.OpResult:\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("_arith_ops_gen.py"), table).unwrap();
    let read = ide::InstalledOperations::read(folder.path()).unwrap();
    ide::use_installed_operations(Some(Arc::new(read)));
    let shown = hovered(
        Language::Mlir,
        "func.func @f(%a: i32) {\n  %0 = arith.ad‸di %a, %a : i32\n  return\n}\n",
    );
    assert!(shown.contains("Adds integers.") && shown.contains("*lhs, rhs -> result*"), "{shown}");
    let (document, at) =
        marked(Language::Mlir, "func.func @f(%a: i32) {\n  %0 = arith.addi %a, ‸\n");
    let help = ide::signature_help(&document, at).unwrap();
    assert_eq!((help.label.as_str(), help.active), ("arith.addi lhs, rhs -> result", 1));
    // An empty file, and half a name.
    let (document, at) = marked(Language::Mlir, "func.fu‸");
    let items = ide::complete(&document, at).items;
    let first = items.first().unwrap();
    assert_eq!(first.label, "func.func");
    assert!(first.snippet.as_deref().unwrap().starts_with("func.func @${1:f}"));
    let (document, at) = marked(Language::Mlir, "func.func @f() {\n  %0 = arith.‸\n}\n");
    let items = ide::complete(&document, at).items;
    assert!(items.iter().all(|item| item.label != "arith."), "half a name is offered");
    let addi = items.iter().find(|item| item.label == "arith.addi").unwrap();
    assert_eq!(addi.documentation, "Adds integers.");
    assert_eq!(addi.snippet.as_deref(), Some("arith.addi ${1:%lhs}, ${2:%rhs} : ${3:type}"));
    ide::use_installed_operations(None);
}
