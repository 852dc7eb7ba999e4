// The view "Made Of" beside the call stack: what a number is made of, or where its NaN began, as a tree back to inputs and
// weights. A row leads to before the command that has left its tensor, if the program is recorded, and else to its line. The
// tree stays as it was when it was asked for, so that one row after another can be followed.

import * as vscode from "vscode";
import { tellFailure } from "./failures";
import { type OriginRow, rowsOf, type Why } from "./originTree";

const VIEW = "iree-dbg.madeOf";

export class Origins implements vscode.TreeDataProvider<OriginRow>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private rows: readonly OriginRow[] = [];
  private session: vscode.DebugSession | undefined;
  private readonly view: vscode.TreeView<OriginRow>;
  private readonly registered: vscode.Disposable;

  constructor() {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.registered = vscode.Disposable.from(
      this.changed,
      this.view,
      vscode.commands.registerCommand("iree-dbg.goToOrigin", (row: OriginRow) => tellFailure(() => this.goTo(row))),
      vscode.debug.onDidTerminateDebugSession((session) => {
        if (session === this.session) {
          this.show(undefined, []);
        }
      }),
    );
  }

  dispose(): void {
    this.registered.dispose();
  }

  /** Asks the debugger, and shows its answer. Of a tensor, the user says which element. */
  async ask(session: vscode.DebugSession, expression: string): Promise<void> {
    const of = expression.endsWith("]") ? expression : await elementOf(expression);
    if (of === undefined) {
      return;
    }
    const frame = vscode.debug.activeStackItem;
    const frameId = frame instanceof vscode.DebugStackFrame && frame.session === session ? frame.frameId : undefined;
    const why: Why = await session.customRequest("iree/why", { of, frameId });
    this.show(session, rowsOf(why));
    await vscode.commands.executeCommand(`${VIEW}.focus`);
  }

  getChildren(row?: OriginRow): OriginRow[] {
    return [...(row?.children ?? this.rows)];
  }

  getTreeItem(row: OriginRow): vscode.TreeItem {
    const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
    const isFirst = this.rows.includes(row);
    const item = new vscode.TreeItem(row.label, row.children.length === 0 ? None : isFirst ? Expanded : Collapsed);
    item.description = row.description;
    item.tooltip = row.description === "" ? row.label : `${row.label}\n${row.description}`;
    if (row.source !== undefined || row.command !== undefined) {
      item.command = { command: "iree-dbg.goToOrigin", title: "Go to Where It Was Made", arguments: [row] };
    }
    return item;
  }

  private show(session: vscode.DebugSession | undefined, rows: readonly OriginRow[]): void {
    this.session = session;
    this.rows = rows;
    void vscode.commands.executeCommand("setContext", "iree-dbg.hasOrigins", rows.length > 0);
    this.changed.fire(undefined);
  }

  private async goTo({ source, command }: OriginRow): Promise<void> {
    if (command !== undefined && this.session !== undefined) {
      const { isRecorded }: { readonly isRecorded?: boolean } = await this.session.customRequest("iree/runMap", {});
      if (isRecorded === true) {
        await this.session.customRequest("iree/goTo", { command });
        return;
      }
    }
    if (source?.path) {
      const line = new vscode.Position(source.line - 1, 0);
      await vscode.window.showTextDocument(vscode.Uri.file(source.path), { selection: new vscode.Range(line, line) });
    }
  }
}

async function elementOf(tensor: string): Promise<string | undefined> {
  const options: vscode.InputBoxOptions = {
    title: `Which element of ${tensor}?`,
    prompt: "Its coordinates, as 0, 3. Nothing: its first NaN or infinity, or the number of a scalar.",
    validateInput: (text) => (/^\s*(\d+\s*(,\s*\d+\s*)*)?$/.test(text) ? undefined : "Numbers with commas between them: 0, 3"),
  };
  const at = await vscode.window.showInputBox(options);
  return at === undefined || at.trim() === "" ? at && tensor : `${tensor}[${at.trim()}]`;
}
