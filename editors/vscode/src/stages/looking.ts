// What commands about stages have in common: the function at the cursor, lists to choose from, messages.

import * as vscode from "vscode";
import { textOf } from "../failures";
import { Refused } from "../languageClient";
import type { Item, Step } from "../stageLists";
import { linesOf } from "./follower";

const SIDE: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("split-horizontal"), tooltip: "Open to the Side" };

/** Lets the user choose, with a preview of what is selected. `toSide` is what the button of an entry does. */
export async function choose(items: readonly Item[], title: string, toSide?: (item: Item) => Promise<void>): Promise<void> {
  const list = vscode.window.createQuickPick<Item & vscode.QuickPickItem>();
  list.title = title;
  list.placeholder = "Arrow keys show, Enter opens";
  list.matchOnDescription = true;
  list.items = items.map((item) => ({
    ...item,
    kind: item.isHead === true ? vscode.QuickPickItemKind.Separator : vscode.QuickPickItemKind.Default,
    ...(toSide === undefined || item.step === undefined ? {} : { buttons: [SIDE] }),
  }));
  const picked = await new Promise<(() => Promise<void>) | undefined>((resolve) => {
    list.onDidChangeActive(([item]) => {
      if (item?.step !== undefined) {
        void show(item.step, true);
      }
    });
    list.onDidAccept(() => {
      const step = list.selectedItems[0]?.step;
      resolve(step && (() => show(step)));
    });
    list.onDidTriggerItemButton(({ item }) => resolve(toSide && (() => toSide(item))));
    list.onDidHide(() => resolve(undefined));
    list.show();
  });
  list.dispose();
  await picked?.();
}

export async function show({ uri, line }: Step, preview = false): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  const at = new vscode.Range(line, 0, line, 0);
  const editor = await vscode.window.showTextDocument(document, { preview: true, preserveFocus: preview, selection: at });
  editor.revealRange(at, vscode.TextEditorRevealType.InCenter);
}

/** The name of the function around the cursor, from the outline. */
export async function functionAt(editor: vscode.TextEditor): Promise<string | undefined> {
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

export function activeEditor(): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    throw new Error("Open a .mlir first.");
  }
  return editor;
}

export function textOfOpen(uri: vscode.Uri): readonly string[] | undefined {
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  return document && linesOf(document);
}

/** Does something, and says why if it fails. */
export async function explained(act: () => Promise<void>): Promise<void> {
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
