// Panes: stages in columns of their own, which stay, follow their source, and come back for another function. A pane
// is a document and its tab; all that it shows is in its URI, so that VS Code itself restores it.

import * as vscode from "vscode";
import { textOf } from "../failures";
import type { LanguageServer } from "../languageClient";
import { type Stage, type Stages } from "../stageLists";
import type { Follower } from "./follower";
import { said } from "./follower";
import { paneOf, paneUri, SCHEME } from "./paneNames";

/** A document that shows a stage and follows its source. */
export interface Pane {
  readonly uri: vscode.Uri;
  readonly source: vscode.Uri;
  readonly stage: string;
  readonly function: string | undefined;
}

interface OpenPane extends Pane {
  readonly tab: vscode.Tab;
  readonly column: vscode.ViewColumn;
}

/** The stages of the last panes, from left to right. */
const REMEMBERED = "iree-dbg.stagePanes";

/** The pane that a document is. */
export function asPane(uri: vscode.Uri): Pane | undefined {
  const name = uri.scheme === SCHEME ? paneOf(uri.path, uri.query) : undefined;
  return name && { uri, source: vscode.Uri.from({ scheme: "file", path: name.source }), stage: name.stage, function: name.function };
}

/** The panes in tabs, from left to right. */
export function openPanes(): OpenPane[] {
  const tabs = vscode.window.tabGroups.all.flatMap(({ tabs: all, viewColumn }) => all.map((tab) => ({ tab, column: viewColumn })));
  return tabs.flatMap(({ tab, column }) => {
    const pane = tab.input instanceof vscode.TabInputText ? asPane(tab.input.uri) : undefined;
    return pane === undefined ? [] : [{ ...pane, tab, column }];
  });
}

/** The visible editors of panes of a source. */
export function visiblePanes(source: vscode.Uri): { readonly editor: vscode.TextEditor; readonly pane: Pane }[] {
  return vscode.window.visibleTextEditors.flatMap((editor) => {
    const pane = asPane(editor.document.uri);
    return pane?.source.toString() === source.toString() ? [{ editor, pane }] : [];
  });
}

export class Panes implements vscode.TextDocumentContentProvider, vscode.FileDecorationProvider, vscode.Disposable {
  private readonly textChanged = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.textChanged.event;
  private readonly given = new vscode.EventEmitter<void>();
  /** A pane was given a text of another compilation, which may be the same text. */
  readonly onDidGive = this.given.event;
  private readonly badgeChanged = new vscode.EventEmitter<vscode.Uri[]>();
  readonly onDidChangeFileDecorations = this.badgeChanged.event;
  /** The compilation that each pane shows. */
  private readonly keys = new Map<string, string>();
  private readonly parts: vscode.Disposable;

  constructor(
    private readonly server: LanguageServer,
    private readonly follower: Follower,
    private readonly memory: vscode.Memento,
  ) {
    const documentsOf = (source: vscode.Uri): vscode.Uri[] =>
      vscode.workspace.textDocuments
        .map(({ uri }) => uri)
        .filter((uri) => asPane(uri)?.source.toString() === source.toString());
    this.parts = vscode.Disposable.from(
      follower.onDidMake((source) => documentsOf(source).forEach((uri) => this.textChanged.fire(uri))),
      // A server that has started again does not know what it gave to panes.
      server.onDidChangeState(() => {
        if (server.state === "running") {
          vscode.workspace.textDocuments.filter(({ uri }) => asPane(uri) !== undefined).forEach(({ uri }) => this.textChanged.fire(uri));
        }
      }),
      follower.onDidChange((source) => this.badgeChanged.fire(documentsOf(source))),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.keys.delete(uri.toString())),
      vscode.window.tabGroups.onDidChangeTabs(() => this.remember()),
      vscode.window.registerFileDecorationProvider(this),
    );
  }

  /** The compilation whose text a pane has. */
  keyOf(uri: vscode.Uri): string | undefined {
    return this.keys.get(uri.toString());
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const pane = asPane(uri);
    if (pane === undefined) {
      return this.server.content(uri, false, token);
    }
    try {
      const stages = await this.follower.first(pane.source, token);
      if (stages.stages.every(({ name }) => name !== pane.stage)) {
        this.keys.delete(uri.toString());
        const reason = stages.problem === null ? "" : `: ${stages.problem}`;
        return commented(`${stages.version} makes no ${pane.stage} of this source${reason}`);
      }
      const text = await this.server.paneText(uri, stages.key, token);
      this.keys.set(uri.toString(), stages.key);
      this.given.fire();
      return text;
    } catch (error) {
      // A pane that VS Code restores says why it has no text; the next edit makes one.
      return commented(textOf(error));
    }
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const pane = asPane(uri);
    const state = pane && this.follower.stateOf(pane.source);
    switch (state?.kind) {
      case "stale":
        return new vscode.FileDecoration("…", "as of before your edit", new vscode.ThemeColor("disabledForeground"));
      case "broken":
        return new vscode.FileDecoration("!", `as of before your edit: ${said(state)}`, new vscode.ThemeColor("list.errorForeground"));
      default:
        return undefined;
    }
  }

  /** Opens stages of a function in columns of their own, without taking the focus. Others of the same stages give up theirs. */
  async open(source: vscode.Uri, stages: Stages, chosen: readonly Stage[]): Promise<void> {
    for (const stage of chosen) {
      const name = { source: source.path, stage: stage.name, function: stages.function ?? undefined };
      const uri = vscode.Uri.from({ scheme: SCHEME, ...paneUri(name, stage.label) });
      const there = openPanes().filter((pane) => pane.stage === stage.name);
      const own = there.find((pane) => pane.uri.toString() === uri.toString());
      await this.show(uri, own?.column ?? there[0]?.column ?? freeColumn(source), stage.line ?? 0, true);
      await closePanes((pane) => pane.stage === stage.name && pane.uri.toString() !== uri.toString());
    }
  }

  /** Shows another stage in the place of a pane. */
  async replace(pane: Pane, stage: Stage, line: number): Promise<void> {
    const own = openPanes().find(({ uri, tab }) => uri.toString() === pane.uri.toString() && tab.group.isActive);
    const name = { source: pane.source.path, stage: stage.name, function: pane.function };
    const uri = vscode.Uri.from({ scheme: SCHEME, ...paneUri(name, stage.label) });
    const column = own?.column ?? vscode.ViewColumn.Active;
    await this.show(uri, column, line, false);
    await closePanes((other) => other.column === column && other.uri.toString() === pane.uri.toString());
  }

  /** The stages that were open last, from left to right. */
  remembered(): readonly string[] {
    return this.memory.get<string[]>(REMEMBERED) ?? [];
  }

  private remember(): void {
    const panes = openPanes().sort((one, other) => one.column - other.column);
    const names = [...new Set(panes.map(({ stage }) => stage))];
    // Those that were closed last come back.
    if (names.length > 0 && names.join() !== this.remembered().join()) {
      void this.memory.update(REMEMBERED, names);
    }
  }

  private async show(uri: vscode.Uri, viewColumn: vscode.ViewColumn, line: number, preserveFocus: boolean): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    const selection = new vscode.Range(line, 0, line, 0);
    const editor = await vscode.window.showTextDocument(document, { viewColumn, preview: false, preserveFocus, selection });
    editor.revealRange(selection, vscode.TextEditorRevealType.AtTop);
  }

  dispose(): void {
    this.parts.dispose();
    this.textChanged.dispose();
    this.given.dispose();
    this.badgeChanged.dispose();
  }
}

/** Closes some panes. Tabs are looked for anew: VS Code closes none that it has listed before another one opened. */
async function closePanes(isOne: (pane: OpenPane) => boolean): Promise<void> {
  const tabs = openPanes().filter(isOne).map(({ tab }) => tab);
  if (tabs.length > 0) {
    await vscode.window.tabGroups.close(tabs, true);
  }
}

/** A new column at the right; of the nine that VS Code has, the last one that does not show the source. */
function freeColumn(source: vscode.Uri): vscode.ViewColumn {
  const groups = vscode.window.tabGroups.all;
  if (groups.length < 9) {
    return groups.length + 1;
  }
  const others = groups.filter(({ activeTab }) => {
    const input = activeTab?.input;
    return !(input instanceof vscode.TabInputText && input.uri.toString() === source.toString());
  });
  return others[others.length - 1]?.viewColumn ?? vscode.ViewColumn.Beside;
}

function commented(reason: string): string {
  return `${reason.split("\n").map((line) => `// ${line}`).join("\n")}\n`;
}
