// The results of tests, from what `iree-dbg check` prints; and the version of iree-compile.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { resultsOf } from "../src/checks/output";
import { versionOf } from "../src/home/version";

test("each test has its result and its own faults", () => {
  const results = resultsOf(readFileSync("../../runtime/cli/tests/check/scalars.expected", "utf8"));
  assert.deepEqual(results.map(({ name, hasPassed }) => `${name} ${hasPassed}`), [
    "sum true", "wrong_sum false", "nothing_left true", "counts_once true", "counts_once_again true",
  ]);
  assert.deepEqual(results[1]?.faults, ["Expected 0 to be nonzero.", "Expected 4 to be zero."]);
  assert.deepEqual(results[2]?.faults, []);
});

test("a test that has not ended has no result", () => {
  assert.deepEqual(resultsOf("[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n"), [{ name: "a", hasPassed: true, faults: [] }]);
});

test("the version is that of IREE, not of LLVM", () => {
  assert.equal(versionOf("IREE (https://iree.dev):\n  IREE compiler version 3.13.0rc20261016 @ 89ece87\n  LLVM version 24.0.0git\n"), "3.13.0rc20261016");
  assert.equal(versionOf("something else"), undefined);
});
