import assert from "node:assert/strict";
import { test } from "node:test";
import { compilerMessages } from "../src/compilerMessages";

test("messages of the compiler have places, notes and no doubles", () => {
  const output = `/m/a b.mlir:3:3: error: type of return operand 0 doesn't match
  return %0 : tensor<4xf32>
  ^
/m/a b.mlir:3:3: note: see current operation: "func.return"(%0)
/m/a b.mlir:3:3: error: type of return operand 0 doesn't match
/m/c.mlir:9:14: warning: odd
iree-compile could not compile it`;
  assert.deepEqual(compilerMessages(output.split("\n")), [
    {
      file: "/m/a b.mlir", line: 3, column: 3, severity: "error", text: "type of return operand 0 doesn't match",
      notes: [{ file: "/m/a b.mlir", line: 3, column: 3, text: 'see current operation: "func.return"(%0)' }],
    },
    { file: "/m/c.mlir", line: 9, column: 14, severity: "warning", text: "odd", notes: [] },
  ]);
});
