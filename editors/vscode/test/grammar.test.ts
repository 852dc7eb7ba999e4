// Runs the grammars with VS Code's own tokenizer over test/grammar/sample.* and compares the tokens with the .tokens
// file beside each sample. `UPDATE=1 npm test` writes those files; then read the difference.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { createOnigScanner, createOnigString, loadWASM } from "vscode-oniguruma";
import { type IGrammar, INITIAL, parseRawGrammar, Registry } from "vscode-textmate";

for (const language of ["mlir", "vmasm"]) {
  test(`every token of sample.${language} has the scope on record`, async () => {
    const sample = readFileSync(`test/grammar/sample.${language}`, "utf8");
    const actual = describe(await grammarOf(language), sample);
    const record = `test/grammar/sample.${language}.tokens`;
    if (process.env["UPDATE"]) {
      writeFileSync(record, actual);
    }
    assert.equal(actual, readFileSync(record, "utf8"));
  });

  test(`nothing but white space and names of no meaning stays without a scope in sample.${language}`, async () => {
    const sample = readFileSync(`test/grammar/sample.${language}`, "utf8");
    const bare = describe(await grammarOf(language), sample).match(/^ {4}.*: -$/gm) ?? [];
    assert.ok(bare.length <= 4, `tokens without a scope:\n${bare.join("\n")}`);
  });
}

/** A line of the sample, then its tokens, each with its innermost scope. */
function describe(grammar: IGrammar, text: string): string {
  let state = INITIAL;
  const lines: string[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    lines.push(line);
    for (const { startIndex, endIndex, scopes } of result.tokens) {
      const token = line.slice(startIndex, endIndex);
      if (token.trim() !== "") {
        lines.push(`    ${token.trim()}: ${scopes.length > 1 ? scopes.at(-1) : "-"}`);
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

let onigurumaLoaded: Promise<void> | undefined;

async function grammarOf(language: string): Promise<IGrammar> {
  onigurumaLoaded ??= loadWASM(readFileSync("node_modules/vscode-oniguruma/release/onig.wasm"));
  await onigurumaLoaded;
  const path = `syntaxes/${language}.tmLanguage.json`;
  const registry = new Registry({
    onigLib: Promise.resolve({ createOnigScanner, createOnigString }),
    loadGrammar: async () => parseRawGrammar(readFileSync(path, "utf8"), path),
  });
  const grammar = await registry.loadGrammar(`source.${language}`);
  assert.ok(grammar !== null, `${path} was not loaded`);
  return grammar;
}
