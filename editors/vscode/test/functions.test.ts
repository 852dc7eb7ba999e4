import assert from "node:assert/strict";
import { test } from "node:test";
import { functionsOfModule, functionsOfMlir, signatureText } from "../src/functions";

const signatures = (functions: ReturnType<typeof functionsOfMlir>): string[] => functions.map(signatureText);

test("a .mlir offers its public definitions", () => {
  const text = `
func.func @main(%a: i32, %b: tensor<4x?xf32> {iree.identity = "x, y)"}) -> i32 {
  func.call @helper(%a) : (i32) -> ()
}
func.func private @helper(i32)
// func.func @commented(%x: i32) {
util.func private @inner() {}
util.func public @"odd name"(
    %list: !vm.list<(i32, i32) -> f32>,   // with a comment, here
    %none: none) {}
func.func @noarguments() {`;
  assert.deepEqual(signatures(functionsOfMlir(text)), [
    '@main(%a: i32, %b: tensor<4x?xf32> {iree.identity = "x, y)"})',
    "@odd name(%list: !vm.list<(i32, i32) -> f32>, %none: none)",
    "@noarguments()",
  ]);
});

test("a header that ends in the middle is left out", () => {
  assert.deepEqual(functionsOfMlir("func.func @main(%a: i32, "), []);
  assert.deepEqual(functionsOfMlir('func.func @main(%a: i32 {name = "'), []);
});

test("a module offers its exports as they were declared, else as their calling convention says", () => {
  const signature = (calling_convention: string, declaration?: string) => ({
    calling_convention,
    attributes: declaration === undefined ? [] : [{ key: "iree.abi.declaration", value: declaration }],
  });
  const json = JSON.stringify({
    exports: [
      { name: "odd name", function: 1 },
      { name: "odd name$async", function: 1 },
      { name: "plain", function: 2 },
      { name: "alone$async", function: 3 },
    ],
    functions: [
      { ordinal: 0, signature: signature("0i_i") },
      { ordinal: 1, signature: signature("0rr_r", 'sync func @"odd name"(%input0: tensor<4x?xf32>, %n: i32) -> (%output0: i32)') },
      { ordinal: 2, signature: signature("0iIfFr_v") },
      { ordinal: 3, signature: signature("0v_v") },
    ],
  });
  assert.deepEqual(signatures(functionsOfModule(json)), [
    "@odd name(%input0: tensor<4x?xf32>, %n: i32)",
    "@plain(i32, i64, f32, f64, ref)",
    "@alone$async()",
  ]);
});
