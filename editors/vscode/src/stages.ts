// "What becomes of this": the stages of a compilation as read-only documents, side by side or one after the other, and
// the way of an operation through them. The language server compiles and knows; see lsp/README.md.

import * as vscode from "vscode";
import { textOf } from "./failures";
import { type LanguageServer, Refused } from "./languageClient";
import {
  type Becomes, type Item, neighbour, passItems, type Passes, type Stages, stageItems, type Step, traceItems,
} from "./stageLists";

const SCHEME = "iree-ir";

export function registerStages(server: LanguageServer): vscode.Disposable {
  const shown = new StageView(server);
  server.commands.set("iree-dbg.whatBecomes", (uri, name) => shown.whatBecomes(text(uri), text(name)));
  const command = (name: string, act: () => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(`iree-dbg.${name}`, () => explained(act));
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri, token) => server.content(uri, false, token),
    }),
    command("whereDidThisGo", () => shown.whereDidThisGo()),
    command("nextStage", () => shown.move(1)),
    command("previousStage", () => shown.move(-1)),
    command("compareStages", () => shown.compare()),
    command("passes", () => shown.passes()),
  );
}

class StageView {
  /** The sequence that a document is part of: stages, or a function after each pass. */
  private readonly sequences = new Map<string, readonly Step[]>();

  constructor(private readonly server: LanguageServer) {}

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
      await this.choose(stageItems(stages), stages.function === null ? "Stages" : `What becomes of @${stages.function}`);
    });
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
    await this.choose(traceItems(becomes), "Where this went");
  }

  /** Shows the stage before or after, at the line that the line of the cursor became. */
  async move(way: -1 | 1): Promise<void> {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const isDiff = input instanceof vscode.TabInputTextDiff;
    const editor = activeEditor();
    const uri = isDiff ? input.modified : editor.document.uri;
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

  /** Compares the stage with the one before. */
  async compare(): Promise<void> {
    const editor = activeEditor();
    const uri = editor.document.uri;
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
    await this.choose(items, [`@${name} after each pass: ${count}`, ...passes.notes].join("; "));
  }

  private async stagesOf(uri: vscode.Uri, name?: string): Promise<Stages> {
    const stages = await this.ask<Stages>("iree-dbg/stages", uri, name === undefined ? {} : { function: name });
    this.remember(stageItems(stages).flatMap(({ step }) => step ?? []));
    stages.notes.forEach((note) => void vscode.window.showWarningMessage(note));
    return stages;
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

  /** Lets the user choose, with a preview of what is selected. */
  private async choose(items: readonly Item[], title: string): Promise<void> {
    const entries = items.map((item) => ({
      ...item,
      kind: item.step === undefined ? vscode.QuickPickItemKind.Separator : vscode.QuickPickItemKind.Default,
    }));
    const picked = await vscode.window.showQuickPick(entries, {
      title,
      placeHolder: "Arrow keys show, Enter opens",
      matchOnDescription: true,
      onDidSelectItem: (item) => {
        const { step } = item as Item;
        if (step !== undefined) {
          void show(step, true);
        }
      },
    });
    if (picked?.step !== undefined) {
      await show(picked.step);
    }
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

async function show({ uri, line }: Step, preview = false): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  const at = new vscode.Range(line, 0, line, 0);
  const editor = await vscode.window.showTextDocument(document, { preview: true, preserveFocus: preview, selection: at });
  editor.revealRange(at, vscode.TextEditorRevealType.InCenter);
}

/** The name of the function around the cursor, from the outline. */
async function functionAt(editor: vscode.TextEditor): Promise<string | undefined> {
  const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>(
    "vscode.executeDocumentSymbolProvider", editor.document.uri,
  );
  const at = editor.selection.active;
  const find = (list: readonly vscode.DocumentSymbol[]): vscode.DocumentSymbol | undefined => {
    const around = list.find((symbol) => symbol.range.contains(at));
    const inner = around && find(around.children);
    return inner ?? (around?.kind === vscode.SymbolKind.Function ? around : undefined);
  };
  return find(symbols ?? [])?.name.replace(/^@/, "");
}

function activeEditor(): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    throw new Error("Open a .mlir first.");
  }
  return editor;
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

/** Does something, and says why if it fails. */
async function explained(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (error instanceof vscode.CancellationError) {
      return;
    }
    const open = "Open Settings";
    const setting = error instanceof Refused ? error.setting : undefined;
    const message = textOf(error);
    const answer = await vscode.window.showErrorMessage(message, ...(setting === undefined ? [] : [open]));
    if (answer === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", `iree-dbg.${String(setting)}`);
    }
  }
}
