import assert from "node:assert/strict";
import { test } from "node:test";
import { boundText } from "../views/tensor/bound";
import { newest } from "../views/tensor/newest";

test("how many elements are outside of their bound, and how many have none", () => {
  assert.equal(boundText({ known: 128, beyond: 0 }, 128), "0 of 128");
  assert.equal(boundText({ known: 128, beyond: 3 }, 128), "3 of 128");
  assert.equal(boundText({ known: 120, beyond: 3 }, 128), "3 of 120; no bound for 8");
  assert.equal(boundText({ known: 0, beyond: 0 }, 128), "no bound for any of 128");
});

/** Work that ends when it is told to, and how often it was begun. */
function stepwise() {
  const ends: ((error?: Error) => void)[] = [];
  const run = newest(() => new Promise((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error)))));
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { ends, run, turn };
}

test("wishes that come while an answer is under way are served once, after it", async () => {
  const { ends, run, turn } = stepwise();
  const first = run();
  await Promise.all([run(), run()]);
  assert.equal(ends.length, 1);
  ends[0]?.();
  await turn();
  assert.equal(ends.length, 2);
  ends[1]?.();
  await first;
  assert.equal(ends.length, 2);
});

test("work that fails does not keep later wishes waiting", async () => {
  const { ends, run, turn } = stepwise();
  const failing = run();
  ends[0]?.(new Error("cannot draw"));
  await assert.rejects(failing, /cannot draw/);
  const later = run();
  await run();
  ends[1]?.(new Error("cannot draw"));
  await turn();
  ends[2]?.();
  await later;
  assert.equal(ends.length, 3);
});
