// Which breakpoints cannot be hit, from messages of the protocol.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Breakpoints, placesText } from "../src/breakpoints";

function set(breakpoints: Breakpoints, seq: number, path: string, answers: readonly Record<string, unknown>[]): void {
  const lines = answers.map((_, index) => ({ line: 10 * (index + 1) }));
  breakpoints.ask({ type: "request", command: "setBreakpoints", seq, arguments: { source: { path }, breakpoints: lines } });
  breakpoints.hear({ type: "response", command: "setBreakpoints", request_seq: seq, body: { breakpoints: answers } });
}

test("breakpoints without a place are lost, those of other programs are not", () => {
  const breakpoints = new Breakpoints();
  set(breakpoints, 1, "/x/a.mlir", [
    { id: 1, verified: true },
    { id: 2, verified: false, message: "line 20 is in no function" },
    { id: 3, verified: false, message: "only @other runs this line", instructionReference: "0x10" },
  ]);
  set(breakpoints, 2, "/x/b.mlir", [{ id: 4, verified: false }]);
  const lost = breakpoints.lost("/x/a.mlir");
  assert.deepEqual(lost.map(({ line, message }) => [line, message]), [[20, "line 20 is in no function"]]);
  breakpoints.hear({ type: "event", event: "loadedSource", body: { source: { path: "/x/b.mlir" } } });
  assert.equal(placesText(breakpoints.lost("/x/a.mlir")), "The breakpoints at a.mlir:20 and b.mlir:10");
});

test("a later answer and an event replace what was known", () => {
  const breakpoints = new Breakpoints();
  set(breakpoints, 1, "/x/a.mlir", [{ id: 1, verified: false }, { id: 2, verified: false }]);
  breakpoints.hear({ type: "event", event: "breakpoint", body: { breakpoint: { id: 1, verified: true } } });
  assert.equal(placesText(breakpoints.lost("/x/a.mlir")), "The breakpoint at a.mlir:20");
  set(breakpoints, 2, "/x/a.mlir", []);
  assert.deepEqual(breakpoints.lost("/x/a.mlir"), []);
});
