import assert from "node:assert/strict";
import { test } from "node:test";
import { disassemblyUri, moduleUri } from "../src/moduleUri";
import { candidates, expandSetting, inEnvironments } from "../src/paths";
import { definedBefore, definitionsIn, expressionOf, firstLineOfFunction, usesIn, valueAt, valuesIn } from "../src/valueNames";

test("a setting may start at home or in the workspace", () => {
  assert.equal(expandSetting("~/bin/iree-dbg", "/ws", "/home/me"), "/home/me/bin/iree-dbg");
  assert.equal(expandSetting("${workspaceFolder}/.venv/bin/iree-compile", "/ws", undefined), "/ws/.venv/bin/iree-compile");
  assert.equal(expandSetting("~other/iree-dbg", undefined, "/home/me"), "~other/iree-dbg");
});

test("a program is looked for in every folder of the PATH, in order", () => {
  assert.deepEqual(candidates("iree-dbg", { PATH: "/a::./here:/b" }, "linux"), ["/a/iree-dbg", "/b/iree-dbg"]);
  assert.deepEqual(candidates("iree-dbg", { Path: "/a" }, "win32"), ["/a/iree-dbg.exe"]);
  assert.deepEqual(candidates("iree-dbg", {}, "linux"), []);
});

test("a program that pip installed is in the folder's environment", () => {
  const places = ["/ws/.venv/bin/iree-dbg", "/ws/venv/bin/iree-dbg"];
  assert.deepEqual(inEnvironments("iree-dbg", "/ws", "linux"), places);
  assert.match(inEnvironments("iree-dbg", "/ws", "win32")[0] ?? "", /Scripts.iree-dbg\.exe$/);
});

test("a module's disassembly is named after the module, and leads back to it", () => {
  const uri = (scheme: string, path: string) => ({
    scheme,
    path,
    with: (change: { scheme: string; path: string }) => uri(change.scheme, change.path),
  });
  interface Fake { scheme: string; path: string; with(change: { scheme: string; path: string }): Fake }
  const document = disassemblyUri<Fake>(uri("file", "/models/gcd.vmfb") as Fake);
  assert.deepEqual([document.scheme, document.path], ["iree-vmfb", "/models/gcd.vmfb.vmasm"]);
  const module = moduleUri(document);
  assert.deepEqual([module?.scheme, module?.path], ["file", "/models/gcd.vmfb"]);
  assert.equal(moduleUri<Fake>(uri("file", "/models/gcd.vmasm") as Fake), undefined);
});

test("values have the debugger's names", () => {
  const names = (line: string, language: string) => valuesIn(line, language).map(({ name }) => name);
  assert.deepEqual(names('%s = call @f(%r#1, "%no") : (i32) -> i32 // %no', "mlir"), ["%s", "%r#1"]);
  assert.deepEqual(names("[0000001F]  %i6:7 = vm.call @f(%R2, %i0) // %no", "vmasm"), ["i6:7", "r2", "i0"]);
  assert.deepEqual(names("%x", "rust"), []);
  assert.deepEqual(valueAt("  %sum = arith.addi %a, %b", 21, "mlir"), { name: "%a", start: 20, end: 22 });
  assert.equal(valueAt("  %sum = arith.addi %a, %b", 10, "mlir"), undefined);
});

test("names with odd letters are quoted in expressions", () => {
  const expressions = (line: string) => valuesIn(line, "mlir").map(expressionOf);
  assert.deepEqual(expressions("%c-1 = f %a.b, %r#1, %0"), ['%"c-1"', '%"a.b"', "%r#1", "%0"]);
});

test("a line defines results, arguments and loop variables, and only uses the rest", () => {
  const names = (line: string) => definitionsIn(line).map(({ name }) => name);
  assert.deepEqual(names("  %a, %b:2 = scf.while (%x = %u, %y = %v) : (i32) -> i32 {"), ["%a", "%b", "%x", "%y"]);
  assert.deepEqual(names("  ^bb0(%x: i32, %y: i32):"), ["%x", "%y"]);
  assert.deepEqual(names("func.func @f(%a: i32) -> i32 {"), ["%a"]);
  assert.deepEqual(names("vm.func @f(%a : i32, %b :i64) {"), ["%a", "%b"]);
  assert.deepEqual(names("  scf.condition(%more) %x, %y : i32, i32"), []);
  const uses = (line: string, language: string) => usesIn(line, language).map(({ name }) => name);
  assert.deepEqual(uses("  %rest = arith.remsi %x, %y : i32", "mlir"), ["%x", "%y"]);
  assert.deepEqual(uses("[0000001F]  %i2 = vm.rem.i32.s %i0, %i1", "vmasm"), ["i0", "i1"]);
  assert.deepEqual(uses("[00000026]  vm.br ^bb1(%i1->%i0)", "vmasm"), ["i1", "i0"]);
});

test("a function starts at its head", () => {
  const lines = ["func.func @f() {", "  %x = a", "}", "func.func @g() {", "  %y = b"];
  const lineAt = (line: number): string => lines[line] ?? "";
  assert.equal(firstLineOfFunction(lineAt, 4), 3);
  assert.equal(firstLineOfFunction(lineAt, 1), 0);
  assert.equal(firstLineOfFunction(() => "", 5), 5);
});

test("a value of a region that has ended, or an operation that has not, is not in scope", () => {
  const lines = [
    "func.func @f(%n : index) {",
    "  %r = scf.for %i = %a to %b step %c iter_args(%s = %z) -> (i32) {",
    "    %v = f %i {note = \"}\"} // }",
    "    %w = g %v",
    "  }",
    "  %q = scf.if %cond -> (i32) {",
    "    %v = f %n",
    "  } else {",
    "    %u = g %r",
    "    h %u",
    "  }",
  ];
  const at = (line: number): string[] => definedBefore((it) => lines[it] ?? "", 0, line).map(([on, { name }]) => `${on}${name}`);
  assert.deepEqual(at(3), ["0%n", "1%i", "1%s", "2%v"]);
  assert.deepEqual(at(6), ["0%n", "1%r"]);
  assert.deepEqual(at(9), ["0%n", "1%r", "8%u"]);
  assert.deepEqual(at(11), ["0%n", "1%r", "5%q"]);
});
