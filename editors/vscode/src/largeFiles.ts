// VS Code hides files over 50 MB from extensions, so such a .mlir opens without colours, outline or hovers. The extension
// offers a text from the language server instead: the same lines, with long constants cut.

import * as vscode from "vscode";
import type { LanguageServer } from "./languageClient";
import { LARGE_TEXT_SCHEME } from "./moduleUri";

/** VS Code's own limit. */
const LARGEST = 50 * 1024 * 1024;

export function registerLargeFiles(server: LanguageServer): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(LARGE_TEXT_SCHEME, {
      provideTextDocumentContent: (uri, token) => server.content(uri, hasTab(uri), token),
    }),
    vscode.window.tabGroups.onDidChangeTabs(({ opened }) => opened.forEach((tab) => void offer(tab))),
  );
}

/** Whether the user has a tab with this file. The target of a link has none yet. */
function hasTab(uri: vscode.Uri): boolean {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.some((tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.path === uri.path);
}

async function offer(tab: vscode.Tab): Promise<void> {
  const uri = tab.input instanceof vscode.TabInputText ? tab.input.uri : undefined;
  if (uri?.scheme !== "file" || !/\.(mlir|vmasm)$/.test(uri.path)) {
    return;
  }
  const { size } = await vscode.workspace.fs.stat(uri);
  if (size <= LARGEST) {
    return;
  }
  const open = "Open Read-Only with Language Features";
  const debug = "Debug";
  const name = uri.path.slice(uri.path.lastIndexOf("/") + 1);
  const answer = await vscode.window.showInformationMessage(
    `${name} is over 50 MB, and VS Code keeps such files from extensions.`,
    open,
    debug,
  );
  if (answer === debug) {
    await vscode.commands.executeCommand("iree-dbg.debug", uri);
  }
  if (answer === open) {
    const text = await vscode.workspace.openTextDocument(uri.with({ scheme: LARGE_TEXT_SCHEME }));
    await vscode.window.showTextDocument(text, { preview: false });
  }
}
