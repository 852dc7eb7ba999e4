// Links the lines of a source and of its panes: those that belong to the operation at the cursor are marked in all of
// them and scrolled into view. The focus and the selections stay where they are, so that links cause no links.

import * as vscode from "vscode";
import type { LanguageServer } from "../languageClient";
import type { Becomes } from "../stageLists";
import type { Follower } from "./follower";
import { lineNow, partAround } from "./paneNames";
import { asPane, type Panes, visiblePanes } from "./panes";

/** How long the cursor must rest, in milliseconds. */
const REST = 80;

/** The operation that is linked. */
export interface Linked {
  readonly source: vscode.Uri;
  /** Where the cursor is. */
  readonly document: vscode.Uri;
  readonly position: vscode.Position;
  readonly becomes: Becomes;
}

/** So many of the first visible lines may be under the headers that stick to the top of an editor. */
const HEADERS = 5;

export class Linker implements vscode.Disposable {
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("ireeDbg.linkedLineBackground"),
    borderColor: new vscode.ThemeColor("ireeDbg.linkedLineBorder"),
    borderStyle: "solid",
    borderWidth: "1px",
    overviewRulerColor: new vscode.ThemeColor("ireeDbg.linkedLineOverviewRuler"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
  private readonly linkedChanged = new vscode.EventEmitter<void>();
  readonly onDidLink = this.linkedChanged.event;
  private timer: NodeJS.Timeout | undefined;
  private running: vscode.CancellationTokenSource | undefined;
  private last: Linked | undefined;
  private readonly parts: vscode.Disposable;

  constructor(private readonly server: LanguageServer, private readonly follower: Follower, private readonly panes: Panes) {
    this.parts = vscode.Disposable.from(
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) {
          this.soon(textEditor);
        }
      }),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.soon(editor)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.again()),
      panes.onDidGive(() => this.again()),
      // Other lines may be as they were compiled.
      follower.onDidChange(() => this.again()),
      // A pane has its new text.
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && asPane(document.uri) !== undefined) {
          this.again();
        }
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("iree-dbg.linkStages")) {
          this.clear();
          this.again();
        }
      }),
    );
  }

  /** The operation that is linked now. */
  get linked(): Linked | undefined {
    return this.last;
  }

  get isOn(): boolean {
    return vscode.workspace.getConfiguration("iree-dbg").get("linkStages", true);
  }

  /** Links what is at the cursor, once it rests. */
  private soon(editor: vscode.TextEditor | undefined): void {
    const source = editor && sourceOf(editor.document.uri);
    clearTimeout(this.timer);
    this.running?.cancel();
    if (editor === undefined || source === undefined) {
      return;
    }
    if (!this.isOn || visiblePanes(source).length === 0) {
      if (this.last !== undefined) {
        this.clear();
      }
      return;
    }
    this.timer = setTimeout(() => void this.link(editor, source), REST);
  }

  /** Links once more what the user looks at: there are other panes, or other texts. */
  private again(): void {
    const active = vscode.window.activeTextEditor;
    const before = this.last?.document.toString();
    const editors = vscode.window.visibleTextEditors;
    this.soon(active && sourceOf(active.document.uri) ? active : editors.find(({ document }) => document.uri.toString() === before));
  }

  private async link(editor: vscode.TextEditor, source: vscode.Uri): Promise<void> {
    const running = (this.running = new vscode.CancellationTokenSource());
    const { uri } = editor.document;
    const position = editor.selection.active;
    const shown = visiblePanes(source);
    const key = asPane(uri) === undefined ? this.follower.stagesOf(source)?.key : this.panes.keyOf(uri);
    const lines = this.follower.unchanged(source);
    const part = lines && asPane(uri) === undefined ? partAround(lines, position.line) : undefined;
    if (key === undefined || (lines !== undefined && part === undefined && asPane(uri) === undefined)) {
      this.clear();
      return;
    }
    let becomes: Becomes;
    try {
      becomes = await this.server.becomes<Becomes>({
        textDocument: { uri: uri.toString() },
        position: { line: position.line, character: position.character },
        key,
        stages: [...new Set(shown.map(({ pane }) => pane.stage))],
        ...(part === undefined ? {} : { unchanged: part }),
      }, running.token);
    } catch {
      // Whatever it is, moving the cursor is no occasion to complain.
      if (!running.token.isCancellationRequested) {
        this.clear();
      }
      return;
    }
    if (running.token.isCancellationRequested) {
      return;
    }
    this.last = { source, document: uri, position, becomes };
    const isNew = (line: number): number | undefined => (lines === undefined ? line : lineNow(lines, line));
    for (const other of vscode.window.visibleTextEditors) {
      const own = other.document.uri;
      const pane = asPane(own);
      let found: readonly number[] = [];
      if (own.toString() === source.toString()) {
        const places = becomes.source.filter((place) => vscode.Uri.parse(place.uri).toString() === source.toString());
        found = places.flatMap(({ range }) => isNew(range.start.line) ?? []);
      } else if (pane?.source.toString() === source.toString() && this.panes.keyOf(own) === becomes.key) {
        const stage = becomes.stages.find(({ name }) => name === pane.stage);
        const all = stage?.lines ?? [];
        // The lines of the operation itself are what one wants to see first.
        found = [...all.filter(({ kind }) => kind === "own"), ...all.filter(({ kind }) => kind !== "own")].map(
          ({ range }) => range.start.line,
        );
      }
      this.show(other, found, other === editor);
    }
    this.linkedChanged.fire();
  }

  private show(editor: vscode.TextEditor, lines: readonly number[], isOrigin: boolean): void {
    editor.setDecorations(this.mark, lines.map((line) => new vscode.Range(line, 0, line, 0)));
    const isVisible = lines.some((line) =>
      editor.visibleRanges.some((range) => range.start.line + HEADERS <= line && line <= range.end.line) || line < HEADERS);
    const [first] = lines;
    if (first !== undefined && !isVisible && !isOrigin) {
      editor.revealRange(new vscode.Range(first, 0, first, 0), vscode.TextEditorRevealType.InCenter);
    }
  }

  private clear(): void {
    this.last = undefined;
    vscode.window.visibleTextEditors.forEach((editor) => editor.setDecorations(this.mark, []));
    this.linkedChanged.fire();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.running?.cancel();
    this.parts.dispose();
    this.linkedChanged.dispose();
    this.mark.dispose();
  }
}

/** The source of a pane, or the document itself if it may be one. */
function sourceOf(uri: vscode.Uri): vscode.Uri | undefined {
  return asPane(uri)?.source ?? (uri.scheme === "file" && uri.path.endsWith(".mlir") ? uri : undefined);
}
