import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

interface Manifest {
  capabilities: { untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] } };
  contributes: {
    colors?: { id: string }[];
    configuration: { properties: Record<string, { scope?: string }> };
    commands: { command: string; enablement?: string }[];
  };
}

/** Settings that affect only the display: a workspace may set them before it is trusted. */
const HARMLESS = [
  "iree-dbg.inlayHints", "iree-dbg.codeLens", "iree-dbg.lastRunValues", "iree-dbg.foldConstants",
  "iree-dbg.linkStages", "iree-dbg.thumbnails", "iree-dbg.tips", "iree-dbg.trace.server",
];

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

test("commands that run programs of the workspace are off until it is trusted", () => {
  for (const name of ["debugAtCursor", "runAtCursor", "runTestOfFile", "compareModels", "passes"]) {
    const command = manifest.contributes.commands.find((it) => it.command === `iree-dbg.${name}`);
    assert.match(command?.enablement ?? "", /\bisWorkspaceTrusted\b/, name);
  }
});

test("colours have names that VS Code takes", () => {
  const ids = (manifest.contributes.colors ?? []).map(({ id }) => id);
  assert.ok(ids.length > 0);
  assert.deepEqual(ids.filter((id) => !/^\w+(?:\.\w+)*$/.test(id)), []);
});

test("each web view has a policy that begins with nothing", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const pages = sources.map((name) => readFileSync(join("src", name), "utf8")).filter((text) => /<!doctype html>/i.test(text));
  assert.ok(pages.length >= 3);
  for (const text of pages) {
    assert.match(text, /Content-Security-Policy/);
    assert.match(text, /default-src 'none'/);
    assert.doesNotMatch(text, /unsafe-(inline|eval)/);
  }
});

test("every picture that the manifest names is there", () => {
  const named = JSON.stringify(manifest).match(/(?:\.\/)?(?:images|icons)\/[\w/-]+\.(?:png|svg)/g) ?? [];
  assert.ok(named.length > 8);
  for (const name of named) {
    assert.ok(existsSync(name), name);
  }
});
