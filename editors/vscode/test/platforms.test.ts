// The platform that a program is for, as the package's script reads it.

import assert from "node:assert/strict";
import { test } from "node:test";

const scripts = import("../scripts/platforms.mjs");

/** A head with numbers at places. */
function head(first: string, ...numbers: readonly (readonly [at: number, bytes: number, value: number, isBig?: boolean])[]): Buffer {
  const made = Buffer.alloc(256);
  made.write(first, "latin1");
  for (const [at, bytes, value, isBig] of numbers) {
    made[isBig ? "writeUIntBE" : "writeUIntLE"](value, at, bytes);
  }
  return made;
}

test("each format names its processor", async () => {
  const { platformsOfHead } = await scripts;
  assert.deepEqual(platformsOfHead(head("\x7fELF", [18, 2, 62])), ["linux-x64"]);
  assert.deepEqual(platformsOfHead(head("\x7fELF", [18, 2, 183])), ["linux-arm64"]);
  assert.deepEqual(platformsOfHead(head("", [0, 4, 0xfeedfacf], [4, 4, 0x0100000c])), ["darwin-arm64"]);
  assert.deepEqual(platformsOfHead(head("MZ", [60, 4, 128], [128, 4, 0x4550], [132, 2, 0x8664])), ["win32-x64"]);
});

test("a program of two architectures is for both platforms", async () => {
  const { platformsOfHead } = await scripts;
  const both = head("", [0, 4, 0xcafebabe, true], [4, 4, 2, true], [8, 4, 0x01000007, true], [28, 4, 0x0100000c, true]);
  assert.deepEqual(platformsOfHead(both), ["darwin-x64", "darwin-arm64"]);
});

test("the program that runs this test is for this platform", async () => {
  const { platformsOf } = await scripts;
  assert.deepEqual(platformsOf(process.execPath), [`${process.platform}-${process.arch}`]);
});

test("what is no program is refused", async () => {
  const { platformsOf, platformsOfHead } = await scripts;
  assert.deepEqual(platformsOfHead(head("#!/bin/sh")), []);
  assert.deepEqual(platformsOfHead(head("MZ", [60, 4, 0xfffffff0])), []);
  assert.throws(() => platformsOf("package.json"), /package\.json is not a program/);
});
