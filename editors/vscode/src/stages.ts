// "What becomes of this": the stages of a compilation as read-only documents, side by side or one after the other, and
// the way of an operation through them. The language server compiles and knows; see lsp/README.md. In stages/:
//
//   paneNames.ts  URIs of panes, and lines of two texts
//   follower.ts   keeps the stages of a source up to date while it is edited
//   panes.ts      stages in columns of their own
//   linker.ts     the same operation in all of them
//   looking.ts    what all commands do: the function at the cursor, lists, messages
//   status.ts     the status item of panes, and the code action of an operation that is gone

import * as vscode from "vscode";
import type { LanguageServer } from "./languageClient";
import {
  type Becomes, neighbour, passItems, type Passes, remade, type Stages, stageItems, type Step, traceItems, whyItems,
} from "./stageLists";
import { Follower } from "./stages/follower";
import { Linker } from "./stages/linker";
import { activeEditor, choose, explained, functionAt, show, textOfOpen } from "./stages/looking";
import { SCHEME } from "./stages/paneNames";
import { asPane, openPanes, Panes, visiblePanes } from "./stages/panes";
import { StageStatus } from "./stages/status";

export function registerStages(server: LanguageServer, memory: vscode.Memento): vscode.Disposable {
  const follower = new Follower(server, (source) => visiblePanes(source).length > 0);
  const panes = new Panes(server, follower, memory);
  const linker = new Linker(server, follower, panes);
  const shown = new StageView(server, follower, panes);
  server.commands.set("iree-dbg.whatBecomes", (uri, name) => shown.whatBecomes(text(uri), text(name)));
  const command = (name: string, act: () => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(`iree-dbg.${name}`, () => explained(act));
  return vscode.Disposable.from(
    follower,
    panes,
    linker,
    new StageStatus(follower, linker),
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, panes),
    command("whereDidThisGo", () => shown.whereDidThisGo()),
    command("nextStage", () => shown.move(1)),
    command("previousStage", () => shown.move(-1)),
    command("compareStages", () => shown.compare()),
    command("passes", () => shown.passes()),
    command("openStagePanes", () => shown.openPanes()),
    command("reopenStagePanes", () => shown.reopenPanes()),
    command("whyGone", () => shown.whyGone()),
    command("toggleStageLinks", async () => {
      await vscode.workspace.getConfiguration("iree-dbg").update("linkStages", !linker.isOn, vscode.ConfigurationTarget.Global);
    }),
  );
}

class StageView {
  /** The sequence that a document is part of: stages, or a function after each pass. */
  private readonly sequences = new Map<string, readonly Step[]>();
  /** The function of the source that a document was listed for. */
  private readonly functions = new Map<string, string>();

  constructor(
    private readonly server: LanguageServer,
    private readonly follower: Follower,
    private readonly panes: Panes,
  ) {}

  /** The stages of a function, or of the file. Without arguments, of the function at the cursor. */
  whatBecomes(document: string | undefined, name: string | undefined): Promise<void> {
    return explained(async () => {
      const editor = vscode.window.activeTextEditor;
      const uri = document === undefined ? editor?.document.uri : vscode.Uri.parse(document);
      if (uri === undefined) {
        throw new Error("Open a .mlir first.");
      }
      const around = document === undefined && editor !== undefined ? await functionAt(editor) : undefined;
      const stages = await this.stagesOf(uri, name ?? around);
      const text = textOfOpen(uri);
      const title = stages.function === null ? "Stages" : `What becomes of @${stages.function}`;
      await choose(stageItems(stages), title, async (item) => {
        const stage = stages.stages.find((one) => one.uri === item.step?.uri);
        this.follower.take(uri, stages, text);
        await this.panes.open(uri, stages, stage === undefined ? [] : [stage]);
      });
    });
  }

  /** Lets the user choose stages, and opens them in columns of their own. */
  async openPanes(): Promise<void> {
    const { source, stages, text } = await this.stagesAtCursor();
    const shown = new Set(openPanes().length === 0 ? this.panes.remembered() : openPanes().map(({ stage }) => stage));
    const items = stages.stages.map((stage, index) => ({ ...stageItems(stages)[index], label: stage.label, stage, picked: shown.has(stage.name) }));
    const title = stages.function === null ? "Open stages to the side" : `Open stages of @${stages.function} to the side`;
    const chosen = await vscode.window.showQuickPick(items, { title, canPickMany: true, placeHolder: "One column for each stage" });
    if (chosen !== undefined) {
      this.follower.take(source, stages, text);
      await this.panes.open(source, stages, chosen.map(({ stage }) => stage));
    }
  }

  /** Opens the stages that were open last, for the function at the cursor. */
  async reopenPanes(): Promise<void> {
    const remembered = this.panes.remembered();
    if (remembered.length === 0) {
      return this.openPanes();
    }
    const { source, stages, text } = await this.stagesAtCursor();
    const chosen = remembered.flatMap((name) => remade(stages, name) ?? []);
    if (chosen.length === 0) {
      throw new Error(`This source has no stage ${remembered.join(", ")}.`);
    }
    this.follower.take(source, stages, text);
    await this.panes.open(source, stages, chosen);
  }

  /** What passes did with the operation at the cursor. */
  async whyGone(): Promise<void> {
    const { document, selection: { active } } = activeEditor();
    const position = { line: active.line, character: active.character };
    const becomes = await this.ask<Becomes>("iree-dbg/becomes", document.uri, { position, why: true });
    if (becomes.why !== undefined) {
      await choose(whyItems(becomes.why), becomes.why.text);
    }
  }

  /** The lines that the operation at the cursor became. */
  async whereDidThisGo(): Promise<void> {
    const editor = activeEditor();
    const position = editor.selection.active;
    const becomes = await this.ask<Becomes>("iree-dbg/becomes", editor.document.uri, {
      position: { line: position.line, character: position.character },
    });
    if (becomes.places.length === 0) {
      throw new Error("The compiler made this line; it has no counterpart in the source.");
    }
    if (becomes.isStale) {
      void vscode.window.showWarningMessage("The source has changed since these stages were made.");
    }
    this.remember(becomes.stages.map(({ uri, title, lines }) => ({ uri, title, line: lines[0]?.range.start.line ?? 0 })));
    await choose(traceItems(becomes), "Where this went");
  }

  /** Shows the stage before or after, at the line that the line of the cursor became. */
  async move(way: -1 | 1): Promise<void> {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const isDiff = input instanceof vscode.TabInputTextDiff;
    const editor = activeEditor();
    const uri = isDiff ? input.modified : editor.document.uri;
    const pane = isDiff ? undefined : asPane(uri);
    if (pane !== undefined) {
      return this.movePane(editor, way);
    }
    const steps = await this.sequenceOf(uri);
    const target = neighbour(steps, uri.toString(), way);
    if (target === undefined) {
      throw new Error(way === 1 ? "This is the last stage." : "This is the first stage.");
    }
    if (isDiff) {
      return this.showDiff(steps, target);
    }
    const { line, character } = editor.selection.active;
    const becomes = await this.ask<Becomes>("iree-dbg/becomes", uri, { position: { line, character } });
    const there = becomes.stages.find((stage) => same(stage.uri, target.uri))?.lines[0];
    await show({ ...target, line: there?.range.start.line ?? target.line });
  }

  private async movePane(editor: vscode.TextEditor, way: -1 | 1): Promise<void> {
    const { document, selection: { active } } = editor;
    const pane = asPane(document.uri);
    if (pane === undefined) {
      return;
    }
    const all = (await this.follower.first(pane.source)).stages;
    const target = all[all.findIndex(({ name }) => name === pane.stage) + way];
    if (target === undefined) {
      throw new Error(way === 1 ? "This is the last stage." : "This is the first stage.");
    }
    const position = { line: active.line, character: active.character };
    const becomes = await this.ask<Becomes>("iree-dbg/becomes", document.uri, { position, stages: [target.name] });
    await this.panes.replace(pane, target, becomes.stages[0]?.lines[0]?.range.start.line ?? target.line ?? 0);
  }

  /** Compares the stage with the one before. */
  async compare(): Promise<void> {
    const editor = activeEditor();
    const uri = await this.ofCompilation(editor.document.uri);
    const steps = await this.sequenceOf(uri);
    const own = steps.find((step) => same(step.uri, uri.toString()));
    if (own === undefined || neighbour(steps, own.uri, -1) === undefined) {
      throw new Error("This is the first stage.");
    }
    await this.showDiff(steps, { ...own, line: editor.selection.active.line });
  }

  /** A function after each pass that changed it. */
  async passes(): Promise<void> {
    const editor = activeEditor();
    const name = await functionAt(editor);
    if (name === undefined) {
      throw new Error("Put the cursor into a function.");
    }
    const passes = await this.ask<Passes>("iree-dbg/passes", editor.document.uri, { function: name });
    const items = passItems(passes);
    this.remember(items.flatMap(({ step }) => step ?? []));
    const count = `${String(items.length)} of ${String(passes.printed)} texts differ`;
    await choose(items, [`@${name} after each pass: ${count}`, ...passes.notes].join("; "));
  }

  private async stagesOf(uri: vscode.Uri, name?: string): Promise<Stages> {
    const stages = await this.ask<Stages>("iree-dbg/stages", uri, name === undefined ? {} : { function: name });
    if (name !== undefined) {
      stages.stages.forEach((stage) => this.functions.set(vscode.Uri.parse(stage.uri).toString(), name));
    }
    this.remember(stageItems(stages).flatMap(({ step }) => step ?? []));
    stages.notes.forEach((note) => void vscode.window.showWarningMessage(note));
    return stages;
  }

  /** The stages of the function at the cursor of a source, or of the function that a stage was opened for. */
  private async stagesAtCursor(): Promise<{ source: vscode.Uri; stages: Stages; text: readonly string[] | undefined }> {
    const editor = activeEditor();
    const { uri } = editor.document;
    const pane = asPane(uri);
    const isSource = pane === undefined && uri.scheme !== SCHEME;
    const folder = uri.path.slice(0, uri.path.lastIndexOf("/"));
    const source = pane?.source ?? (isSource ? uri : vscode.Uri.from({ scheme: "file", path: folder }));
    const name = isSource ? await functionAt(editor) : (pane?.function ?? this.functions.get(uri.toString()));
    const text = textOfOpen(source);
    return { source, stages: await this.stagesOf(source, name), text };
  }

  /** The document of a compilation that a pane has the text of. */
  private async ofCompilation(uri: vscode.Uri): Promise<vscode.Uri> {
    const pane = asPane(uri);
    if (pane === undefined) {
      return uri;
    }
    const stages = await this.follower.first(pane.source);
    this.remember(stageItems(stages).flatMap(({ step }) => step ?? []));
    const own = stages.stages.find(({ name }) => name === pane.stage);
    return own === undefined ? uri : vscode.Uri.parse(own.uri);
  }

  private remember(steps: readonly Step[]): void {
    steps.forEach((step) => this.sequences.set(vscode.Uri.parse(step.uri).toString(), steps.map(normal)));
  }

  private async sequenceOf(uri: vscode.Uri): Promise<readonly Step[]> {
    if (uri.scheme !== SCHEME) {
      throw new Error("This is no stage: begin with What Becomes of This in a .mlir.");
    }
    if (!this.sequences.has(uri.toString())) {
      // A window that was closed meanwhile.
      await this.stagesOf(uri);
    }
    return this.sequences.get(uri.toString()) ?? [];
  }

  private async showDiff(steps: readonly Step[], step: Step): Promise<void> {
    const before = neighbour(steps, step.uri, -1);
    if (before === undefined) {
      return show(step);
    }
    const [left, right] = [before, step].map(({ uri }) => vscode.Uri.parse(uri));
    const selection = new vscode.Range(step.line, 0, step.line, 0);
    const title = `${before.title} ↔ ${step.title}`;
    await vscode.commands.executeCommand("vscode.diff", left, right, title, { preview: true, selection });
  }

  /** Asks the server, with progress; the user may cancel. */
  private ask<Answer>(method: string, uri: vscode.Uri, more: object): Promise<Answer> {
    const params = { textDocument: { uri: uri.toString() }, ...more };
    const options = { location: vscode.ProgressLocation.Notification, title: "What becomes of this", cancellable: true };
    return Promise.resolve(
      vscode.window.withProgress(options, (progress, token) =>
        this.server.long<Answer>(method, params, token, (message) => progress.report({ message })),
      ),
    );
  }
}

/** VS Code writes URIs in its own way. */
function normal(step: Step): Step {
  return { ...step, uri: vscode.Uri.parse(step.uri).toString() };
}

function same(one: string, other: string): boolean {
  return vscode.Uri.parse(one).toString() === vscode.Uri.parse(other).toString();
}

function text(argument: unknown): string | undefined {
  return typeof argument === "string" ? argument : undefined;
}
