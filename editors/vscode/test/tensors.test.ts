import assert from "node:assert/strict";
import { test } from "node:test";
import { boundText } from "../media/tensor/bound.js";

test("how many elements are outside of their bound, and how many have none", () => {
  assert.equal(boundText({ known: 128, beyond: 0 }, 128), "0 of 128");
  assert.equal(boundText({ known: 128, beyond: 3 }, 128), "3 of 128");
  assert.equal(boundText({ known: 120, beyond: 3 }, 128), "3 of 120; no bound for 8");
  assert.equal(boundText({ known: 0, beyond: 0 }, 128), "no bound for any of 128");
});
