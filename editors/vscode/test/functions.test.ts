import assert from "node:assert/strict";
import { test } from "node:test";
import { functionAt, functionsOf, signatureText } from "../src/functions";

const functions = functionsOf({
  exports: [
    { name: "main", arguments: [{ name: "a", type: "i32" }, { name: null, type: "tensor<4x?xf32>" }], lines: [[1, 5]] },
    { name: "odd name", arguments: [], lines: [[0, 0], [7, 9]] },
  ],
});

test("functions are shown with their arguments", () => {
  assert.deepEqual(functions.map(signatureText), ["@main(%a: i32, tensor<4x?xf32>)", "@odd name()"]);
});

test("a line belongs to the function around it, or to its export", () => {
  const at = (line: number): string | undefined => functionAt(functions, line)?.name;
  assert.deepEqual([0, 1, 5, 6, 7, 9, 10].map(at), ["odd name", "main", "main", undefined, "odd name", "odd name", undefined]);
});
