import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

interface Manifest {
  capabilities: { untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] } };
  contributes: { configuration: { properties: Record<string, { scope?: string }> } };
}

/** Settings that affect only the display: a workspace may set them before it is trusted. */
const HARMLESS = ["iree-dbg.inlayHints", "iree-dbg.codeLens", "iree-dbg.trace.server"];

const manifest = JSON.parse(readFileSync(join(process.cwd(), "package.json"), "utf8")) as Manifest;
const { properties } = manifest.contributes.configuration;

test("a workspace that is not trusted sets nothing but what is harmless", () => {
  const { supported, restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  assert.equal(supported, "limited");
  // A new setting has to be restricted, unless this list says that it is harmless.
  const restricted = Object.keys(properties).filter((name) => !HARMLESS.includes(name));
  assert.deepEqual([...restrictedConfigurations].sort(), restricted.sort());
});

test("settings that name programs are the machine's, unless a trusted workspace says otherwise", () => {
  for (const name of ["path", "ireeCompile", "checkCommand"]) {
    assert.equal(properties[`iree-dbg.${name}`]?.scope, "machine-overridable");
  }
});
