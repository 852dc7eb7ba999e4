import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

const FOLDERS = ["src", "views"];

/** The sources of the extension and of its web views, with the sources that each uses. */
const uses = new Map(
  FOLDERS.flatMap((folder) => {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    return names.map((name) => [join(folder, name), usedBy(join(folder, name))] as const);
  }),
);

function usedBy(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const named = Array.from(text.matchAll(/^(?:import|export|\}) ?[^;]*?"(\.[^"]+)";/gm), (match) => match[1] ?? "");
  return named.map((name) => normalize(`${join(dirname(file), name)}.ts`));
}

/** The files of the first circle that is found; undefined if there is none. */
function circle(): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) {
      return [...path.slice(path.indexOf(file)), file];
    }
    if (done.has(file)) {
      return undefined;
    }
    for (const used of uses.get(file) ?? []) {
      const found = visit(used, [...path, file]);
      if (found !== undefined) {
        return found;
      }
    }
    done.add(file);
    return undefined;
  };
  for (const file of uses.keys()) {
    const found = visit(file, []);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

test("each import of a source names a source", () => {
  const used = [...uses.values()].flat();
  assert.ok(used.length > 100, String(used.length));
  assert.deepEqual(used.filter((file) => !uses.has(file)), []);
});

test("no files use each other in a circle", () => {
  assert.deepEqual(circle(), undefined);
});
