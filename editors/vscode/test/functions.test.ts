import assert from "node:assert/strict";
import { test } from "node:test";
import { functionsOfDisassembly, functionsOfMlir, signatureText } from "../src/functions";

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

test("a module offers its exports, with the parameters of the function after them", () => {
  const text = `vm.module @module version 0
vm.func @gcd(%i0: i64) -> (i32) {
}
vm.export @gcd
vm.func @gcd(%i0: i32, %i2:3: i64) -> (i32) {
[00000000]^bb0:
}
vm.export @"odd name" = @internal
vm.export @again = @internal
vm.func @internal(%r0: !vm.ref<!hal.buffer_view>) -> () {
}
vm.func @gcd() -> () {
}
vm.export @run
vm.func @run() -> () {
}
vm.export @run$async
vm.export @alone$async
`;
  assert.deepEqual(signatures(functionsOfDisassembly(text)), [
    "@gcd(%i0: i32, %i2:3: i64)",
    "@odd name(%r0: !vm.ref<!hal.buffer_view>)",
    "@again(%r0: !vm.ref<!hal.buffer_view>)",
    "@run()",
    "@alone$async()",
  ]);
});
