import assert from "node:assert/strict";
import { test } from "node:test";
import { digitsIn } from "../src/hexDigits";
import { fitting, short, withoutElements } from "../src/inlineText";

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

test("a lens has the figures of a constant, without its elements", () => {
  assert.equal(withoutElements("64x64xf32 · μ 0.01 σ 1 · [0.5, 1, …]"), "64x64xf32 · μ 0.01 σ 1");
  assert.equal(withoutElements("2xf32 [1, 2]"), "2xf32");
});

test("of long digits the first few are in sight", () => {
  const digits = "0123456789abcdef".repeat(8);
  const line = `  %a = x dense<"0x${digits}"> : t, y: "0x00", z "0x${digits}`;
  const seen = digitsIn(line).reduceRight((text, [from, to]) => text.slice(0, from) + "…" + text.slice(to), line);
  assert.equal(seen, '  %a = x dense<"0x01234567…"> : t, y: "0x00", z "0x01234567…');
  assert.deepEqual(digitsIn('"0x'), []);
});
