// The files of a stop that is sent to someone else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { filesOf, Names } from "../src/sendFiles";

test("inputs, parameters and modules are copied, each under a name of its own", () => {
  const { copies, launch } = filesOf({
    program: "/scratch/model.vmfb",
    source: "/project/model.mlir",
    inputs: ["@x.npy", "4xf32=1,2,3,4", "2x3xf32=@other/x.npy", 7],
    parameters: ["model=weights.irpa", "/data/more.irpa"],
    modules: ["parts/model.vmfb"],
    cwd: "/project",
  }, new Names());
  assert.deepEqual(launch, {
    program: "${workspaceFolder}/model.vmfb",
    inputs: ["@x.npy", "4xf32=1,2,3,4", "2x3xf32=@x-2.npy", "7"],
    parameters: ["model=weights.irpa", "more.irpa"],
    modules: ["${workspaceFolder}/model-2.vmfb"],
  });
  assert.deepEqual(copies.map(({ from, to, isOptional }) => `${from} ${to}${isOptional ? "?" : ""}`), [
    "/scratch/model.vmfb model.vmfb", "/scratch/model.vmfb.debug model.vmfb.debug?", "/project/model.mlir model.mlir?",
    "/project/x.npy x.npy", "/project/other/x.npy x-2.npy", "/project/weights.irpa weights.irpa", "/data/more.irpa more.irpa",
    "/project/parts/model.vmfb model-2.vmfb", "/project/parts/model.vmfb.debug model-2.vmfb.debug?",
  ]);
});

test("one input needs no list, and a program may have none", () => {
  const of = (inputs: unknown): unknown => filesOf({ program: "/m.vmfb", source: "/m.vmfb", inputs, cwd: undefined }, new Names()).launch["inputs"];
  assert.deepEqual(of("@/x.npy"), ["@x.npy"]);
  assert.equal(of(undefined), undefined);
});
