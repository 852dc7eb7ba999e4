// Compare Models…: a module beside something else, in lock step (`iree-dbg diff`), and what was found over the graph of its
// dispatches. A comparison belongs to the file of a module; its tensors are in a folder of this extension's until it ends.

import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import type { Comparison } from "../../views/module/protocol";
import { type Binary, BinaryMissing, explainMissing, SECTION } from "../binary";
import type { Compiler } from "../compiler";
import { compilerMessages } from "../compilerMessages";
import { type ConfigurationProvider, activeProgram } from "../debugConfiguration";
import { textOf } from "../failures";
import type { Samples } from "../home/samples";
import { isSource, launchOf } from "../launch";
import { TensorPage } from "../tensors/page";
import { chooseOther, type Other } from "./others";
import { KeptPair } from "./pair";
import { keptPairs } from "./report";
import { runDiff } from "./run";

/** What was compared: a comparison that can be made again. */
interface Question {
  /** What the user has named. */
  readonly program: string;
  readonly other: Other;
  readonly flags: readonly string[];
}

interface Known {
  readonly question: Question;
  readonly folder: vscode.Uri;
  readonly comparison: Comparison;
}

/** Where comparisons keep tensors. */
const FOLDER = "comparisons";
/** What an earlier window could not remove is removed after so many milliseconds. */
const ABANDONED = 24 * 3_600_000;

const GONE = "The tensors of this comparison are not kept any more; compare again.";

export class Comparisons implements vscode.Disposable {
  /** By the paths of their modules. */
  private readonly known = new Map<string, Known>();
  private readonly changed = new vscode.EventEmitter<string>();
  /** Tells the path of a module whose comparison is another one, or none, now. */
  readonly onDidChange = this.changed.event;
  private readonly commands: vscode.Disposable;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly binary: Binary,
    private readonly configurations: ConfigurationProvider,
    private readonly compiler: Compiler,
    private readonly samples: Samples,
  ) {
    this.commands = vscode.Disposable.from(
      vscode.commands.registerCommand("iree-dbg.compareModels", (uri?: vscode.Uri) => this.told(() => this.compare(uri))),
      vscode.commands.registerCommand("iree-dbg.stopComparing", (uri?: vscode.Uri) => this.told(() => this.stop(pathOf(uri)))),
    );
  }

  of(module: vscode.Uri): Comparison | undefined {
    return this.known.get(module.fsPath)?.comparison;
  }

  /** The module is another one than the one that was compared. */
  moduleChanged({ fsPath }: vscode.Uri): void {
    const known = this.known.get(fsPath);
    if (known !== undefined && !known.comparison.isStale) {
      this.known.set(fsPath, { ...known, comparison: { ...known.comparison, isStale: true } });
      this.changed.fire(fsPath);
    }
  }

  async again({ fsPath }: vscode.Uri): Promise<void> {
    const known = this.known.get(fsPath);
    await this.told(() => known && this.show(known.question));
  }

  async stop(module: string | undefined): Promise<void> {
    const known = module === undefined ? undefined : this.known.get(module);
    if (module === undefined || known === undefined) {
      throw new Error("This module is not being compared.");
    }
    this.known.delete(module);
    await this.remember();
    this.changed.fire(module);
    await remove(known.folder);
  }

  /** Opens both sides of a tensor in the tensor view. */
  async showPair(module: vscode.Uri, name: string, wanted: { readonly a: string; readonly b: string }): Promise<void> {
    const known = this.known.get(module.fsPath);
    const isKept = known !== undefined && keptPairs(known.comparison.report).some(([a, b]) => a === wanted.a && b === wanted.b);
    if (!isKept) {
      throw new Error(GONE);
    }
    const [a, b] = [wanted.a, wanted.b].map((file) => vscode.Uri.joinPath(known.folder, file)) as [vscode.Uri, vscode.Uri];
    if (!(await isThere(a)) || !(await isThere(b))) {
      throw new Error(GONE);
    }
    this.openPair(a, b, name);
  }

  private openPair(a: vscode.Uri, b: vscode.Uri, name: string): TensorPage {
    const pair = new KeptPair(this.binary, a, b, name);
    const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
    const panel = vscode.window.createWebviewPanel("iree-dbg.tensor", `${name}: A and B`, column, { retainContextWhenHidden: true });
    const page = new TensorPage(this.binary, panel.webview, this.context.extensionUri, pair, async () => this.openPair(a, b, name));
    panel.onDidDispose(() => {
      page.dispose();
      pair.dispose();
    });
    return page;
  }

  private async compare(uri: vscode.Uri | undefined): Promise<void> {
    const launch = uri === undefined ? activeProgram() : launchOf(uri);
    const program: unknown = launch?.["program"];
    if (launch === undefined || typeof program !== "string") {
      throw new Error("Open a .vmfb or a .mlir to compare it.");
    }
    // What runs is the user's programs.
    if (!vscode.workspace.isTrusted) {
      throw new Error("Models are compared by running them, which is off in an untrusted workspace.");
    }
    this.binary.path();
    const other = await chooseOther(program);
    const flags = other && (await this.flagsOf(launch, other));
    if (other !== undefined && flags !== undefined) {
      await this.show({ program, other, flags });
    }
  }

  /** The function and its arguments, from where F5 has them; undefined if the user has cancelled. */
  private async flagsOf(launch: vscode.DebugConfiguration, other: Other): Promise<string[] | undefined> {
    const call = await this.configurations.askForCall(launch, { verb: "Compare" });
    if (call === undefined) {
      return undefined;
    }
    const { function: name, inputs = [] } = call as { readonly function?: string; readonly inputs?: readonly string[] };
    const flags = [...(name === undefined ? [] : [`--function=${name}`]), ...inputs.map((it) => `--input=${it}`)];
    if (other.hasOtherInputs === undefined) {
      return flags;
    }
    if (inputs.length === 0) {
      throw new Error("This function takes no inputs that are known, so there are no others.");
    }
    const others = await this.configurations.askForCall({ ...launch, function: name }, { verb: "Compare", isOther: true });
    const given = others?.["inputs"] as readonly string[] | undefined;
    return given && [...flags, ...given.map((it) => `--b-input=${it}`)];
  }

  /** Compares, and shows what was found over the graph. */
  private async show(question: Question): Promise<void> {
    const { program, other } = question;
    const options = { location: vscode.ProgressLocation.Notification, title: `Comparing ${basename(program)} with ${other.label}`, cancellable: true };
    const found = await vscode.window.withProgress(options, (progress, token) =>
      this.run(question, token, (message) => progress.report({ message })));
    if (found === undefined) {
      return;
    }
    const { module, known } = found;
    const before = this.known.get(module);
    this.known.set(module, known);
    this.changed.fire(module);
    await this.remember();
    await vscode.commands.executeCommand("iree-dbg.dispatchGraph", vscode.Uri.file(module));
    if (before !== undefined) {
      await remove(before.folder);
    }
  }

  private async run(
    question: Question, token: vscode.CancellationToken, say: (text: string) => void,
  ): Promise<{ module: string; known: Known } | undefined> {
    const { program, other, flags } = question;
    const own = vscode.Uri.joinPath(this.context.storageUri ?? this.context.globalStorageUri, FOLDER);
    const place = vscode.Uri.joinPath(own, createHash("sha256").update(program).digest("hex").slice(0, 12));
    await vscode.workspace.fs.createDirectory(place);
    await removeAbandoned(place);
    const made = this.samples.compiledOf(program);
    const module = made === undefined && isSource(program) ? await this.compiled(program, place, token, say) : (made ?? program);
    if (module === undefined) {
      return undefined;
    }
    const folder = vscode.Uri.joinPath(place, `tensors-${Date.now()}`);
    const cwd = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(program))?.uri.fsPath ?? dirname(program);
    const args = [module, ...other.flags, ...flags, `--keep=${folder.fsPath}`];
    const report = await runDiff(this.binary.path(), args, cwd, token, say);
    return report && { module, known: { question, folder, comparison: { report, other: other.label, isStale: false } } };
  }

  /** The module that a source is compiled to; undefined if that was cancelled, or if there is no compiler. */
  private async compiled(source: string, place: vscode.Uri, token: vscode.CancellationToken, say: (text: string) => void): Promise<string | undefined> {
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(source));
    const found = await this.compiler.find(dirname(source), folder);
    const flags = vscode.workspace.getConfiguration(SECTION, folder?.uri).get<string[]>("compilerFlags", []);
    const module = vscode.Uri.joinPath(place, basename(source).replace(/\.\w+$/, ".vmfb")).fsPath;
    say(`compiling ${basename(source)}`);
    const named = found === undefined ? [] : [`--iree-compile=${found}`];
    const { code, stderr } = await this.binary.outcome(["compile", source, "-o", module, ...named, "--", ...flags], token);
    if (token.isCancellationRequested) {
      return undefined;
    }
    if (code !== 0) {
      const first = compilerMessages(stderr.split("\n")).find(({ severity }) => severity === "error");
      throw new Error(first ? `${basename(first.file)}:${first.line}: ${first.text}` : stderr.trim() || "iree-compile failed");
    }
    return module;
  }

  /** Tells VS Code whether there is anything to stop. */
  private async remember(): Promise<void> {
    await vscode.commands.executeCommand("setContext", "iree-dbg.isComparing", this.known.size > 0);
  }

  private async told(act: () => unknown): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (error instanceof BinaryMissing) {
        void explainMissing(error);
      } else {
        void vscode.window.showErrorMessage(textOf(error));
      }
    }
  }

  dispose(): void {
    this.commands.dispose();
    this.changed.dispose();
    for (const { folder } of this.known.values()) {
      void remove(folder);
    }
  }
}

/** The module that a command is about: the one that was named, or the one in front. */
function pathOf(uri: vscode.Uri | undefined): string | undefined {
  const program: unknown = (uri === undefined ? activeProgram() : launchOf(uri))?.["program"];
  return typeof program === "string" ? program : undefined;
}

async function isThere(file: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(file).then(() => true, () => false);
}

/** Removes tensors that were made long ago. */
async function removeAbandoned(place: vscode.Uri): Promise<void> {
  for (const [name] of await vscode.workspace.fs.readDirectory(place)) {
    const made = /^tensors-(\d+)$/.exec(name)?.[1];
    if (made !== undefined && Date.now() - Number(made) > ABANDONED) {
      await remove(vscode.Uri.joinPath(place, name));
    }
  }
}

/** Removes a folder. One that is in use stays, and goes with the extension's storage. */
async function remove(folder: vscode.Uri): Promise<void> {
  await vscode.workspace.fs.delete(folder, { recursive: true }).then(undefined, () => undefined);
}
