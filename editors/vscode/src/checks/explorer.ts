// Tests of `check` modules in the Test Explorer: functions without arguments in a .mlir that states expectations
// (`check.expect_eq` and others), and in compiled modules that import them. `iree-dbg check` runs them.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";
import { type Binary, BinaryMissing, explainMissing, SECTION } from "../binary";
import type { Compiler } from "../compiler";
import { compilerMessages } from "../compilerMessages";
import type { LanguageServer } from "../languageClient";
import { resultsOf } from "./output";

const IGNORED = "**/{node_modules,.git,.venv,venv,build}/**";
/** How many files are looked at, and how long a text may be. */
const [MOST_FILES, LONGEST_TEXT] = [2000, 4 << 20];

export function registerChecks(binary: Binary, server: LanguageServer, compiler: Compiler): vscode.Disposable {
  return new Checks(binary, server, compiler);
}

class Checks implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController("iree-dbg.check", "IREE checks");
  private readonly watcher = vscode.workspace.createFileSystemWatcher("**/*.{mlir,vmfb}");
  private readonly saved: vscode.Disposable;

  constructor(
    private readonly binary: Binary,
    private readonly server: LanguageServer,
    private readonly compiler: Compiler,
  ) {
    this.controller.resolveHandler = (item) => (item === undefined ? this.discover() : this.update(item.uri));
    this.controller.refreshHandler = () => this.discover();
    this.controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, (request, token) => this.run(request, token), true);
    this.controller.createRunProfile("Debug", vscode.TestRunProfileKind.Debug, (request) => this.debug(request), true);
    const update = (uri: vscode.Uri): void => void this.update(uri);
    this.watcher.onDidChange(update);
    this.watcher.onDidCreate(update);
    this.watcher.onDidDelete((uri) => this.controller.items.delete(uri.toString()));
    this.saved = vscode.workspace.onDidOpenTextDocument(({ uri, languageId }) => void (languageId === "mlir" && this.update(uri)));
    for (const { uri, languageId } of vscode.workspace.textDocuments) {
      if (languageId === "mlir") {
        void this.update(uri);
      }
    }
  }

  /** Looks through the workspace: sources first, so that their modules are not shown, too. */
  private async discover(): Promise<void> {
    for (const suffix of ["mlir", "vmfb"]) {
      for (const uri of await vscode.workspace.findFiles(`**/*.${suffix}`, IGNORED, MOST_FILES)) {
        await this.update(uri);
      }
    }
  }

  /** Shows the tests of a file as they are now; a file without tests is not shown. */
  private async update(uri: vscode.Uri | undefined): Promise<void> {
    if (uri?.scheme !== "file" || vscode.workspace.getWorkspaceFolder(uri) === undefined) {
      return;
    }
    const tests = await this.testsOf(uri).catch(() => []);
    if (tests.length === 0) {
      this.controller.items.delete(uri.toString());
      return;
    }
    const file = this.controller.items.get(uri.toString())
      ?? this.controller.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
    file.children.replace(tests.map(({ name, line }) => {
      const item = this.controller.createTestItem(name, `@${name}`, uri);
      if (line !== undefined) {
        item.range = new vscode.Range(line, 0, line, 0);
      }
      return item;
    }));
    this.controller.items.add(file);
  }

  private async testsOf(uri: vscode.Uri): Promise<{ name: string; line?: number }[]> {
    if (uri.path.endsWith(".vmfb")) {
      const source = uri.with({ path: uri.path.replace(/\.vmfb$/, ".mlir") });
      if (this.controller.items.get(source.toString()) !== undefined) {
        return [];
      }
      const list = await this.binary.run(["check", "--list", uri.fsPath]);
      return list.split("\n").filter((name) => name !== "").map((name) => ({ name }));
    }
    const { size } = await vscode.workspace.fs.stat(uri);
    if (size > LONGEST_TEXT) {
      return [];
    }
    const text = Buffer.from(await vscode.workspace.fs.readFile(uri)).toString("utf8");
    if (!/\bcheck\.expect_/.test(text)) {
      return [];
    }
    const functions = await this.server.functionsOf(uri);
    return functions.filter(({ parameters }) => parameters.length === 0).map(({ name, lines }) => {
      const line = lines[0]?.[0];
      return line === undefined ? { name } : { name, line };
    });
  }

  /** Which tests of which files a request is about. No names: all of the file. */
  private wanted(request: vscode.TestRunRequest): Map<vscode.TestItem, vscode.TestItem[]> {
    const all: vscode.TestItem[] = [];
    this.controller.items.forEach((file) => all.push(file));
    const files = new Map<vscode.TestItem, vscode.TestItem[]>();
    const add = (item: vscode.TestItem): void => {
      const file = item.parent ?? item;
      const tests: vscode.TestItem[] = item.parent === undefined ? [] : [item];
      item.children.forEach((test) => tests.push(test));
      const kept = tests.filter((test) => request.exclude?.includes(test) !== true);
      files.set(file, [...(files.get(file) ?? []), ...kept]);
    };
    (request.include ?? all).forEach(add);
    return files;
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = this.controller.createTestRun(request);
    const scratch = mkdtempSync(join(tmpdir(), "iree-check-"));
    try {
      for (const [file, tests] of this.wanted(request)) {
        if (token.isCancellationRequested) {
          break;
        }
        tests.forEach((test) => run.started(test));
        await this.runFile(run, file, tests, scratch, token);
      }
    } catch (error) {
      if (error instanceof BinaryMissing) {
        void explainMissing(error);
      }
    } finally {
      rmSync(scratch, { recursive: true, force: true });
      run.end();
    }
  }

  private async runFile(
    run: vscode.TestRun, file: vscode.TestItem, tests: readonly vscode.TestItem[], scratch: string, token: vscode.CancellationToken,
  ): Promise<void> {
    const fail = (text: string, location?: vscode.Location): void => {
      const message = new vscode.TestMessage(text);
      if (location !== undefined) {
        message.location = location;
      }
      tests.forEach((test) => run.errored(test, message));
    };
    const say = (text: string): void => run.appendOutput(text.replace(/\r?\n/g, "\r\n"));
    const source = file.uri?.fsPath ?? "";
    let module = source;
    if (source.endsWith(".mlir")) {
      module = join(scratch, basename(source).replace(/\.mlir$/, ".vmfb"));
      const compiled = await this.compile(source, module, token);
      if (compiled.code !== 0) {
        say(compiled.stderr);
        const first = compilerMessages(compiled.stderr.split("\n")).find(({ severity }) => severity === "error");
        const place = first && new vscode.Location(vscode.Uri.file(first.file), new vscode.Position(Math.max(first.line - 1, 0), Math.max(first.column - 1, 0)));
        fail(first?.text ?? (compiled.stderr.trim() || "iree-compile failed"), place);
        return;
      }
    }
    const names = tests.map((test) => `--test=${test.id}`);
    const { stdout, stderr } = await this.binary.outcome(["check", ...names, module], token);
    say(stdout + stderr);
    const results = new Map(resultsOf(stdout).map((result) => [result.name, result]));
    for (const test of tests) {
      const result = results.get(test.id);
      if (result === undefined) {
        run.errored(test, new vscode.TestMessage(stderr.trim() || "The test did not end."));
      } else if (result.hasPassed) {
        run.passed(test);
      } else {
        const message = new vscode.TestMessage(result.faults.join("\n") || "The test failed.");
        if (test.uri !== undefined && test.range !== undefined) {
          message.location = new vscode.Location(test.uri, test.range);
        }
        run.failed(test, message);
      }
    }
  }

  private async compile(source: string, module: string, token: vscode.CancellationToken): Promise<{ code: number; stderr: string }> {
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(source));
    const found = await this.compiler.find(dirname(source), folder);
    const flags = vscode.workspace.getConfiguration(SECTION, folder?.uri).get<string[]>("compilerFlags", []);
    const named = found === undefined ? [] : [`--iree-compile=${found}`];
    return this.binary.outcome(["compile", source, "-o", module, ...named, "--", ...flags], token);
  }

  /** Debugs the first of the tests; the program stops at breakpoints. */
  private async debug(request: vscode.TestRunRequest): Promise<void> {
    for (const [file, tests] of this.wanted(request)) {
      const [test] = tests;
      if (file.uri !== undefined && test !== undefined) {
        await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(file.uri), {
          type: "iree", request: "launch", name: test.label, program: file.uri.fsPath, function: test.id, inputs: [],
        });
        return;
      }
    }
  }

  dispose(): void {
    this.saved.dispose();
    this.watcher.dispose();
    this.controller.dispose();
  }
}
