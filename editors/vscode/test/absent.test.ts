import assert from "node:assert/strict";
import { test } from "node:test";
import { hasValue } from "../src/absent";

test("the adapter tells what has no value, whatever its text", () => {
  assert.equal(hasValue({ name: "%a", value: "not computed yet", ireeAbsent: "notYetComputed" }, true), false);
  assert.equal(hasValue({ name: "%b", value: "<2 x i32>" }, true), true);
  assert.equal(hasValue({ name: "%c", value: "7" }, true), true);
});

test("of an older adapter, the text tells", () => {
  assert.equal(hasValue({ name: "%a", value: "<not computed yet>" }, false), false);
  assert.equal(hasValue({ name: "%c", value: "7" }, false), true);
});
