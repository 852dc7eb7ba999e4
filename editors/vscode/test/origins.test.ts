import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf, type Why } from "../src/originTree";

const source = { file: "model.mlir", path: "/w/model.mlir", line: 13 };
const input = (name: string, element: number[], value: number) => ({
  tensor: { names: [name], source: null, command: null },
  element,
  value,
  isRecomputed: false,
  origin: { kind: "input" as const },
});

test("a sum has its largest terms, each with the elements that it is made of", () => {
  const why: Why = {
    text: "",
    madeOf: {
      tensor: { names: ["%y"], source, command: 4 },
      element: [0, 3],
      value: 1.7336000204086304,
      isRecomputed: false,
      origin: {
        kind: "sum",
        terms: 64,
        largest: [{ value: 0.91, share: 0.738, of: [input("%x", [0, 17], 2.25), input("%w", [17, 3], -0.5)] }],
      },
    },
  };
  const [row, ...others] = rowsOf(why);
  assert.ok(row);
  assert.deepEqual(others, []);
  assert.equal(row.label, "%y[0, 3] = 1.7336");
  assert.equal(row.description, "a sum of 64 terms · model.mlir:13");
  assert.equal(row.command, 4);
  const [term, rest] = row.children;
  assert.equal(term?.label, "0.91 (73.8 %)");
  assert.equal(term?.description, "%x[0, 17], %w[17, 3]");
  assert.deepEqual(
    term?.children.map((it) => [it.label, it.description, it.command]),
    [
      ["%x[0, 17] = 2.25", "an input", undefined],
      ["%w[17, 3] = -0.5", "an input", undefined],
    ],
  );
  assert.equal(rest?.label, "… 63 smaller terms");
});

test("what is not known says why, and leads to its line", () => {
  const tensor = { names: [], source, command: null };
  const origin = { kind: "notKnown" as const, reason: "a loop is not followed" };
  const [row] = rowsOf({ text: "", madeOf: { tensor, element: [], value: null, isRecomputed: true, origin } });
  assert.deepEqual(row, {
    label: "a value",
    description: "a loop is not followed · computed in float64 · model.mlir:13",
    source,
    children: [],
  });
});

test("the way back from a NaN is a row a tensor", () => {
  const tensor = { names: ["%p"], source, command: 3 };
  const rows = rowsOf({ text: "", links: [{ tensor, text: "%p (model.mlir:13): 4 of 4 are NaN" }] });
  assert.deepEqual(rows, [{ label: "%p", description: "(model.mlir:13): 4 of 4 are NaN", source, command: 3, children: [] }]);
});
