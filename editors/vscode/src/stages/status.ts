// Says in one place how panes stand to their source: in the status bar. And offers to ask by which pass an operation
// went that a pane has no line of.

import * as vscode from "vscode";
import { withoutLines } from "../stageLists";
import { type Follower, said } from "./follower";
import type { Linker } from "./linker";
import { asPane, visiblePanes } from "./panes";

const WHY = { command: "iree-dbg.whyGone", title: "Why Is It Gone?" };
const LANGUAGES = [{ language: "mlir" }, { language: "vmasm" }];

export class StageStatus implements vscode.CodeActionProvider, vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("iree-dbg.stages", vscode.StatusBarAlignment.Right, 91);
  private readonly parts: vscode.Disposable;

  constructor(private readonly follower: Follower, private readonly linker: Linker) {
    this.item.name = "IREE Stages";
    const update = (): void => this.update();
    this.parts = vscode.Disposable.from(
      this.item,
      follower.onDidChange(update),
      linker.onDidLink(update),
      vscode.window.onDidChangeVisibleTextEditors(update),
      vscode.workspace.onDidChangeConfiguration(update),
      vscode.languages.registerCodeActionsProvider(LANGUAGES, this, { providedCodeActionKinds: [vscode.CodeActionKind.Empty] }),
    );
  }

  /** In the line of the cursor, where its operation has no line in a pane. */
  provideCodeActions(document: vscode.TextDocument, range: vscode.Range): vscode.CodeAction[] {
    const { linked } = this.linker;
    const isThere = linked?.document.toString() === document.uri.toString() && linked.position.line === range.start.line;
    if (!isThere || withoutLines(linked.becomes).length === 0) {
      return [];
    }
    const action = new vscode.CodeAction(WHY.title, vscode.CodeActionKind.Empty);
    action.command = WHY;
    return [action];
  }

  private update(): void {
    const panes = vscode.window.visibleTextEditors.flatMap(({ document }) => asPane(document.uri) ?? []);
    const linked = this.linker.linked?.source;
    const source = linked !== undefined && visiblePanes(linked).length > 0 ? linked : panes[0]?.source;
    const state = source && this.follower.stateOf(source);
    if (source === undefined || state === undefined) {
      this.item.hide();
      return;
    }
    this.item.backgroundColor = undefined;
    switch (state.kind) {
      case "stale":
        this.item.text = state.isCompiling ? "$(sync~spin) Stages: compiling" : "$(history) Stages: before your edit";
        this.item.tooltip = "The panes are as of before your edit.";
        this.item.command = undefined;
        break;
      case "broken":
        this.item.text = `$(error) Stages: ${said(state)}`;
        this.item.tooltip = `${said(state)}\nThe panes are as of before your edit.`;
        this.item.backgroundColor = new vscode.ThemeColor("statusBarItem.errorBackground");
        this.item.command = lineCommand(source, state.line);
        break;
      case "current":
        this.current();
    }
    this.item.show();
  }

  private current(): void {
    const { linked } = this.linker;
    const missing = linked === undefined || !this.linker.isOn ? [] : withoutLines(linked.becomes);
    if (missing.length > 0) {
      this.item.text = `$(question) Not in ${missing.join(", ")}`;
      this.item.tooltip = `The operation at the cursor has no line in ${missing.join(", ")}. Click to see by which pass it went.`;
      this.item.command = WHY.command;
      return;
    }
    this.item.text = this.linker.isOn ? "$(link) Stages" : "$(circle-slash) Stages";
    this.item.tooltip = this.linker.isOn ? "Lines of the same operation are marked in all panes. Click to turn this off." :
      "Click to mark the lines of the operation at the cursor in all panes.";
    this.item.command = "iree-dbg.toggleStageLinks";
  }

  dispose(): void {
    this.parts.dispose();
  }
}

function lineCommand(source: vscode.Uri, line: number | undefined): vscode.Command | undefined {
  if (line === undefined) {
    return undefined;
  }
  const selection = new vscode.Range(line, 0, line, 0);
  return { command: "vscode.open", title: "Go to the Line", arguments: [source, { selection, viewColumn: vscode.ViewColumn.One }] };
}
