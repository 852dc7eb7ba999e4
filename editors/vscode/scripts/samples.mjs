// The samples of the walkthrough: sources of runtime/cli/example, and in samples/ what they compile to.
//
//   IREE_DBG=path/to/iree-dbg node scripts/samples.mjs      compiles them anew; iree-compile must be on the PATH
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const examples = resolve(here, "../../runtime/cli/example");
const digests = join(here, "samples/sources.json");

export const SOURCES = ["classifier", "edges", "newton"].map((name) => join(examples, `${name}.mlir`));

/** Fails if a source is not the one that its module was compiled from. */
export function checkSamples() {
  const known = JSON.parse(readFileSync(digests, "utf8"));
  const changed = SOURCES.map((path) => basename(path)).filter((name) => known[name] !== digestOf(name));
  if (changed.length > 0) {
    throw new Error(`${changed.join(", ")}: changed since samples/ was compiled; run node scripts/samples.mjs`);
  }
}

function digestOf(name) {
  return createHash("sha256").update(readFileSync(join(examples, name))).digest("hex");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const program = resolve(process.env.IREE_DBG ?? join(here, "../../target/debug/iree-dbg"));
  for (const path of SOURCES) {
    const module = join(here, "samples", basename(path).replace(/\.mlir$/, ".vmfb"));
    // By its bare name: the module keeps the name that its source was given by.
    execFileSync(program, ["compile", basename(path), "-o", module], { cwd: examples, stdio: ["ignore", "inherit", "inherit"] });
  }
  const found = Object.fromEntries(SOURCES.map((path) => [basename(path), digestOf(basename(path))]));
  writeFileSync(digests, `${JSON.stringify(found, null, 2)}\n`);
}
