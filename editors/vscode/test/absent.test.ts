import assert from "node:assert/strict";
import { test } from "node:test";
import { announcesAbsent, hasValue } from "../src/absent";

test("the adapter tells what has no value, whatever its text", () => {
  assert.equal(hasValue({ name: "%a", value: "not computed yet", ireeAbsent: "notYetComputed" }, true), false);
  assert.equal(hasValue({ name: "%b", value: "<2 x i32>" }, true), true);
  assert.equal(hasValue({ name: "%c", value: "7" }, true), true);
});

test("of an older adapter, the text tells", () => {
  assert.equal(hasValue({ name: "%a", value: "<not computed yet>" }, false), false);
  assert.equal(hasValue({ name: "%c", value: "7" }, false), true);
});

test("the answer to initialize announces that the adapter tells", () => {
  const answer = { type: "response", command: "initialize", body: { supportsIreeAbsent: true } };
  assert.equal(announcesAbsent(answer), true);
  assert.equal(announcesAbsent({ ...answer, command: "launch" }), false);
  assert.equal(announcesAbsent({ ...answer, body: {} }), false);
  assert.equal(announcesAbsent({ type: "event" }), false);
});
