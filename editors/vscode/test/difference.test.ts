import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { CancellationToken } from "vscode";
import { keptPairs, reportOf } from "../src/comparison/report";
import { runDiff } from "../src/comparison/run";
import { allowedText, boxesOf, comparedBoxes, firstOf, noteOfCompared, numberText, summaryOf, worstOf } from "../views/module/compared";
import type { GraphNode } from "../views/module/answers";
import type { Differences, DispatchReport, Report, TensorReport, Verdict } from "../views/module/report";

function differences(ulps: number | null, more: Partial<Differences> = {}): Differences {
  const far = { index: [0, 3], value: 0.5 };
  return {
    elements: 32, different: 3, beyond: 1, nan_on_one_side: 0, infinite_on_one_side: 0, pattern: null,
    worst: { index: [0, 3], a: "1.5", b: "2", difference: 0.5, ulps, allowed: 1e-6 },
    largest: { absolute: far, relative: far, ulps: { index: [0, 3], value: ulps } },
    ...more,
  };
}

function tensor(verdict: Verdict, figures: Differences | null = null): TensorReport {
  const tolerance = figures && { absolute: 1e-6, relative: 0, reason: "4 terms" };
  return { names: ["%x"], type: "4x8xf32", verdict, reason: null, tolerance, differences: figures, kept: null };
}

function run(node: string | null, verdict: Verdict, ...tensors: TensorReport[]): DispatchReport {
  return { number: 1, name: "f", name_b: null, node, verdict, reason: null, tensors, inputs: [], compared_with: null, judged: null };
}

const report = (...dispatches: DispatchReport[]): Report =>
  ({ schema_version: 1, verdict: "differs", function: "f", sides: ["a", "b"], dispatches, results: [], own: [], failures: [], notes: [] });

test("a box has the worst of its runs, and the most floats apart", () => {
  const boxes = comparedBoxes(report(
    run("d0.1", "equal", tensor("equal")),
    run("d0.1", "within", tensor("within", differences(3))),
    run("d0.1", "within", tensor("within", differences(7)), tensor("within", differences(5))),
    run("d0.2", "within", tensor("within", differences(2))),
    run("d0.2", "not_compared"),
    run(null, "differs", tensor("differs", differences(9))),
  ));
  assert.deepEqual([...boxes.keys()], ["d0.1", "d0.2"]);
  const [first, second] = [boxes.get("d0.1"), boxes.get("d0.2")];
  assert.ok(first && second);
  assert.deepEqual([first.verdict, first.ulps, firstOf(first), noteOfCompared(first)], ["within", 7, 1, "7 ULP"]);
  // What was not compared outweighs what was, and is not called equal.
  assert.deepEqual([second.verdict, firstOf(second), noteOfCompared(second)], ["not_compared", 1, "not compared"]);
});

test("a NaN on one side is said, and is no number of floats", () => {
  const odd = differences(null, { nan_on_one_side: 1 });
  const box = comparedBoxes(report(run("d0.1", "differs", tensor("differs", odd)))).get("d0.1");
  assert.ok(box);
  assert.deepEqual([box.isOdd, box.ulps, noteOfCompared(box)], [true, undefined, "NaN/Inf"]);
  const integers = differences(null, { largest: { ...odd.largest, ulps: null } });
  const within = comparedBoxes(report(run("d0.1", "within", tensor("within", integers)))).get("d0.1");
  assert.equal(within && noteOfCompared(within), "within bound");
});

test("a group has the worst of what is in it, and what is not in the report was not compared", () => {
  const node = (id: string, kind: GraphNode["kind"], group?: number): GraphNode => ({
    id, kind, title: id, operation: id, inputs: [], outputs: [], loops: 0, x: 0, y: 0, width: 1, height: 1,
    ...(group !== undefined && { group }),
  });
  const nodes = [
    node("a0.0", "argument"), node("d0.1", "dispatch", 4), node("d0.2", "dispatch", 5), node("d0.3", "dispatch"),
    node("outer", "group"), node("inner", "group", 4), node("weights", "group"),
  ];
  const known = comparedBoxes(report(
    run("d0.1", "within", tensor("within", differences(3))), run("d0.2", "differs", tensor("differs", differences(900))),
  ));
  const boxes = boxesOf([{ nodes }], known);
  assert.deepEqual([...boxes.keys()].sort(), ["d0.1", "d0.2", "d0.3", "inner", "outer"]);
  assert.deepEqual(["outer", "inner", "d0.3"].map((id) => boxes.get(id)?.verdict), ["differs", "differs", "not_compared"]);
  const outer = boxes.get("outer");
  assert.deepEqual(outer && [noteOfCompared(outer), outer.ulps], ["1 differs", 900]);
});

test("the count says how many were not compared", () => {
  const verdicts = (differ: number, open: number, all: number): Verdict[] =>
    Array.from({ length: all }, (_, at) => (at < differ ? "differs" : at < differ + open ? "not_compared" : "equal"));
  assert.equal(summaryOf(verdicts(3, 2, 76)), "3 of 76 differ, 2 not compared");
  assert.equal(summaryOf(verdicts(1, 0, 4)), "1 of 4 differs");
  assert.equal(summaryOf(verdicts(0, 4, 4)), "none of 4 differs, 4 not compared");
  assert.equal(worstOf([]), "not_compared");
});

test("numbers have five digits, and those that are none say so", () => {
  assert.deepEqual([9.846687316894531e-5, 413, 0.25, null].map(numberText), ["9.8467e-5", "413", "0.25", "NaN or infinity"]);
  assert.equal(allowedText(tensor("differs", differences(3))), "1e-6: 4 terms");
  const unknown = differences(3);
  assert.equal(allowedText(tensor("within", { ...unknown, worst: { ...unknown.worst, allowed: null } })), "4 terms");
});

test("without a report, what was said instead is the error", () => {
  assert.throws(() => reportOf("", "error: name a module\n"), /^Error: name a module$/);
  assert.throws(() => reportOf("{", ""), /without a report/);
  assert.throws(() => reportOf('{"schema_version": 2}', ""), /version 2; this extension reads version 1/);
  const kept = { ...tensor("differs", differences(1)), kept: { a: "1.a.npy", b: "1.b.npy" } };
  const left = { ...tensor("differs", differences(1)), kept: { left_out: "too large" } };
  const read = reportOf(JSON.stringify(report(run("d0.1", "differs", kept, left))), "note: slow");
  assert.deepEqual(keptPairs(read), [["1.a.npy", "1.b.npy"]]);
});

/** Runs a script in the place of iree-dbg, with what it says and a way to cancel it. */
async function runScript(lines: readonly string[], act: (run: (cancel: Promise<unknown>) => ReturnType<typeof runDiff>, said: string[]) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "iree-difference-"));
  const program = join(folder, "iree-dbg");
  writeFileSync(program, ["#!/bin/sh", ...lines].join("\n"));
  chmodSync(program, 0o755);
  const said: string[] = [];
  const run = (cancel: Promise<unknown>): ReturnType<typeof runDiff> => {
    const token = { isCancellationRequested: false, onCancellationRequested: (): unknown => undefined };
    token.onCancellationRequested = (...args: unknown[]) => {
      void cancel.then(() => {
        token.isCancellationRequested = true;
        (args[0] as () => void)();
      });
      return { dispose: () => undefined };
    };
    return runDiff(program, ["a.vmfb"], folder, token as unknown as CancellationToken, (text) => said.push(text));
  };
  try {
    await act(run, said);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const never = new Promise(() => undefined);

test("a run says what it is at, and its report is read whatever its status", { skip: process.platform === "win32" }, async () => {
  const found = JSON.stringify(report(run("d0.1", "differs")));
  const lines = ['echo "progress: dispatch 1: f" >&2', 'echo "note: slow" >&2', `test "$*" = "diff --json --progress a.vmfb" && echo '${found}'`, "exit 1"];
  await runScript(lines, async (run_, said) => {
    assert.equal((await run_(never))?.dispatches.length, 1);
    assert.deepEqual(said, ["dispatch 1: f"]);
  });
  await runScript(["echo 'error: a.vmfb is no module' >&2", "exit 2"], async (run_) => {
    await assert.rejects(run_(never), /^Error: a.vmfb is no module$/);
  });
});

test("a run that is cancelled ends at once", { skip: process.platform === "win32" }, async () => {
  await runScript(["echo 'progress: begun' >&2", "exec sleep 60"], async (run_, said) => {
    const began = Date.now();
    const running = run_(new Promise((resolve) => setTimeout(resolve, 200)));
    assert.equal(await running, undefined);
    assert.ok(Date.now() - began < 20_000);
    assert.deepEqual(said, ["begun"]);
  });
});

test("the schema of the report has all that is read of it", () => {
  const schema = JSON.parse(readFileSync("../../runtime/cli/schemas/diff.schema.json", "utf8"));
  const { required, properties } = schema;
  const dispatch = properties.dispatches.items.required as string[];
  const names = dispatch.length > 0 ? properties.dispatches.items.properties.tensors.items.required as string[] : [];
  for (const name of Object.keys(report())) {
    assert.ok(required.includes(name), name);
  }
  for (const name of Object.keys(run(null, "equal"))) {
    assert.ok(dispatch.includes(name), name);
  }
  for (const name of Object.keys(tensor("equal"))) {
    assert.ok(names.includes(name), name);
  }
});
