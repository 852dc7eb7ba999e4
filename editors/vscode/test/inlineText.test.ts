import assert from "node:assert/strict";
import { test } from "node:test";
import { fitting, short } from "../src/inlineText";

test("a tensor beside the code is its sizes and its statistics", () => {
  assert.equal(short("32x64xf32 · μ -0.0998 σ 1.95 · [-2.63123, -1.62602, …]"), "32x64 · μ -0.0998 σ 1.95");
  assert.equal(short("4x?xf16 · 3 NaN · μ 2.5 σ 1.12 · [1, 2, 3, …]"), "4x? · 3 NaN · μ 2.5 σ 1.12");
});

test("other values are shown as they are, and long ones cut", () => {
  assert.equal(short("-0.25"), "-0.25");
  assert.equal(short("2xf32 [1, 2]"), "2xf32 [1, 2]");
  const long = short(`4xi32 [${"1, ".repeat(40)}]`);
  assert.ok(long.length <= 36 && long.endsWith("…"), long);
});

test("a line has as many values as fit beside it", () => {
  const texts = ["%a = 1", "%b = 2"].map((text) => ({ text }));
  assert.equal(fitting("x".repeat(60), texts).length, 2);
  assert.equal(fitting("x".repeat(110), texts).length, 1);
  assert.equal(fitting("x".repeat(4000), texts).length, 0);
});
