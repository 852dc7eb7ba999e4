import assert from "node:assert/strict";
import { test } from "node:test";
import { type Becomes, neighbour, passItems, type Stages, stageItems, traceItems } from "../src/stageLists";

const stage = (name: string, parts: Stages["stages"][number]["parts"]): Stages["stages"][number] => ({
  name, label: name, title: `${name}.mlir`, uri: `iree-ir:/x.mlir/${name}.mlir?0`, lines: 9, line: parts[0]?.line ?? null, parts,
});

const part = (name: string, operations: number): Stages["stages"][number]["parts"][number] => ({ name, line: 4, operations });

const stages = (name: string | null): Stages => ({
  key: "0", source: "file:///x.mlir", function: name, version: "3.13", flags: [], problem: null, notes: [],
  stages: [
    stage("1.input", [part("f", 3)]),
    stage("6.flow", [part("f", 2), part("f_dispatch_0", 1), part("f_dispatch_1", 1), part("f_dispatch_2", 1)]),
    stage("12.vm", []),
  ],
});

test("each stage says what the function became", () => {
  const items = stageItems(stages("f"));
  assert.deepEqual(items.map(({ label }) => label), ["1.input", "6.flow", "12.vm"]);
  assert.deepEqual(items.map(({ description }) => description), [
    "@f (3)", "@f (2), @f_dispatch_0 (1), @f_dispatch_1 (1) and 1 more", "nothing of it",
  ]);
  assert.deepEqual(items.map(({ step }) => step?.line), [4, 4, 0]);
  assert.equal(stageItems(stages(null))[0]?.description, "9 lines");
});

test("stages have neighbours", () => {
  const steps = stageItems(stages("f")).flatMap(({ step }) => step ?? []);
  const flow = "iree-ir:/x.mlir/6.flow.mlir?0";
  assert.equal(neighbour(steps, flow, -1)?.title, "1.input.mlir");
  assert.equal(neighbour(steps, flow, 1)?.title, "12.vm.mlir");
  assert.equal(neighbour(steps, "iree-ir:/x.mlir/12.vm.mlir?0", 1), undefined);
  assert.equal(neighbour(steps, "file:///x.mlir", 1), undefined);
});

test("an operation is listed by stage, down to its bytes", () => {
  const range = { start: { line: 7, character: 2 }, end: { line: 7, character: 9 } };
  const line = { uri: "iree-ir:/x.mlir/13.bytecode.vmasm?0", range, text: "vm.mul.i32", kind: "fused", function: "f" } as const;
  const becomes: Becomes = {
    key: "0", isStale: false, places: [], source: [{ uri: "file:///x.mlir", range }],
    stages: [
      { name: "flow", label: "flow", title: "6.flow.mlir", uri: "", lines: [], leftOut: 0 },
      {
        name: "bytecode", label: "bytecode", title: "13.bytecode.vmasm", uri: line.uri, leftOut: 2,
        lines: [{ ...line, instruction: { function: "f", offset: 26, bytes: "2400" } }],
      },
    ],
  };
  const items = traceItems(becomes);
  assert.deepEqual(items.map(({ label }) => label), ["source, line 8", "6.flow: nothing left", "13.bytecode: 3", "vm.mul.i32"]);
  assert.equal(items[3]?.description, "@f  +0x1A  24 00  one of several");
  assert.equal(items[1]?.step, undefined);
});

test("a pass says how much it changed", () => {
  const pass = { title: "2.CSEPass.mlir", pass: "CSEPass: cse", uri: "iree-ir:/x.mlir/f/2.CSEPass.mlir?0.1", changed: 1 };
  const [item] = passItems({ function: "f", printed: 40, notes: [], passes: [pass] });
  assert.deepEqual([item?.label, item?.description, item?.detail], ["2.CSEPass", "1 line", "CSEPass: cse"]);
});
