import assert from "node:assert/strict";
import { test } from "node:test";
import { type Becomes, remade, type Stages, whyItems, withoutLines } from "../src/stageLists";
import { lineNow, paneOf, paneUri, partAround, restFor, unchangedLines } from "../src/stages/paneNames";

test("the URI of a pane says all that it shows, and its tab stage and function", () => {
  const name = { source: "/a b/x.mlir", stage: "flow", function: "main" };
  const uri = paneUri(name, "flow");
  assert.deepEqual(uri, { path: "/a b/x.mlir/flow @main.mlir", query: "live.flow@main" });
  assert.deepEqual(paneOf(uri.path, uri.query), name);
  const nested = { source: "/x.mlir", stage: "bytecode-f_dispatch_0_vmvx_bytecode_fb", function: "a/b@c" };
  const made = paneUri(nested, "bytecode of f_dispatch_0");
  assert.equal(made.path, "/x.mlir/bytecode of f_dispatch_0 @a_b@c.vmasm");
  assert.deepEqual(paneOf(made.path, made.query), nested);
  const whole = { source: "/x.mlir", stage: "vm", function: undefined };
  assert.deepEqual(paneOf(paneUri(whole, "vm").path, paneUri(whole, "vm").query), whole);
  // Stages of one compilation are no panes.
  assert.equal(paneOf("/x.mlir/6.flow.mlir", "0".repeat(32)), undefined);
  assert.equal(paneOf("/x.mlir/flow.mlir", "live."), undefined);
});

test("a slow compilation waits longer for the next edit, but not forever", () => {
  assert.deepEqual([undefined, 100, 3000, 60_000].map(restFor), [400, 400, 1500, 5000]);
});

test("lines around an edit are where they were, or moved by what was added", () => {
  const before = ["a", "b", "c", "d", "e"];
  const after = ["a", "b", "x", "y", "z", "d", "e"];
  const lines = unchangedLines(before, after);
  assert.deepEqual(partAround(lines, 1), { first: 0, last: 1, shift: 0 });
  assert.equal(partAround(lines, 3), undefined);
  assert.deepEqual(partAround(lines, 6), { first: 5, last: 6, shift: -2 });
  assert.deepEqual([0, 1, 2, 3, 4].map((line) => lineNow(lines, line)), [0, 1, undefined, 5, 6]);
  // Every line that is said to be the same is the same.
  for (const [line, text] of after.entries()) {
    const part = partAround(lines, line);
    assert.ok(part === undefined || before[line + part.shift] === text);
  }
});

test("lines that repeat are not counted from both ends", () => {
  const lines = unchangedLines(["a", "a"], ["a", "a", "a"]);
  assert.deepEqual(lines, { head: 2, tail: 0, before: 2, after: 3 });
  const fewer = unchangedLines(["a", "a", "a"], ["a", "a"]);
  assert.deepEqual([0, 1, 2].map((line) => lineNow(fewer, line)), [0, 1, undefined]);
  assert.deepEqual(unchangedLines(["a"], ["a"]), { head: 1, tail: 0, before: 1, after: 1 });
});

test("the stages without a line of an operation are told, if it is one of the source", () => {
  const stage = (label: string, leftOut: number): Becomes["stages"][number] => ({
    name: label, label, title: label, uri: "", lines: [], leftOut,
  });
  const becomes: Becomes = {
    key: "0", isStale: false, source: [], places: [{ file: "x.mlir", line: 4, column: 1 }],
    stages: [stage("input", 3), stage("flow", 0), stage("vm", 0)],
  };
  assert.deepEqual(withoutLines(becomes), ["flow", "vm"]);
  assert.deepEqual(withoutLines({ ...becomes, places: [] }), []);
});

test("the stages of another function are those of the same names, and its own bytecode", () => {
  const names = ["flow", "bytecode", "bytecode-g_dispatch_0_vmvx_bytecode_fb"];
  const stages = names.map((name) => ({ name, label: name, title: name, uri: "", lines: 1, line: 0, parts: [] }));
  const all: Stages = { key: "0", source: "", function: "g", version: "", flags: [], problem: null, notes: [], stages };
  const of = (name: string): string | undefined => remade(all, name)?.name;
  assert.deepEqual(["flow", "bytecode", "vm"].map(of), ["flow", "bytecode", undefined]);
  assert.equal(of("bytecode-f_dispatch_0_vmvx_bytecode_fb"), names[2]);
});

test("what passes did is listed from the last one, with the line that it went into", () => {
  const range = { start: { line: 11, character: 2 }, end: { line: 11, character: 2 } };
  const items = whyItems({
    isGone: true, text: "",
    history: [
      { pass: "mlir::A{x=1}: a", text: "is `arith.muli` in @f", detail: null, into: [] },
      { pass: null, text: "moved, by A or B", detail: "%0 = x.y", into: [] },
      { pass: "CSEPass: cse", text: "removed", detail: "%1 = x.y", into: [{ uri: "file:///x.mlir", range }] },
    ],
  });
  assert.deepEqual(items.map(({ label, description }) => [label, description]), [
    ["removed", "CSEPass"], ["moved, by A or B", undefined], ["is `arith.muli` in @f", "A"],
  ]);
  assert.equal(items[0]?.step?.line, 11);
  assert.equal(items[1]?.step, undefined);
});
