// A .vmfb as its disassembly, for "Reopen Editor With…" and for the page of a module (module/editor.ts). Breakpoints, hovers
// and search need a text editor, so this custom editor only opens the read-only document of moduleUri.ts in its place, and
// closes.

import { watch, type FSWatcher } from "node:fs";
import * as vscode from "vscode";
import { type Binary, BinaryMissing, explainMissing } from "./binary";
import { disassemblyUri, MODULE_SCHEME, moduleUri } from "./moduleUri";

const VIEW_TYPE = "iree-dbg.disassembly";

export function registerModuleView(binary: Binary): vscode.Disposable {
  const texts = new DisassemblyProvider(binary);
  return vscode.Disposable.from(
    texts,
    vscode.workspace.registerTextDocumentContentProvider(MODULE_SCHEME, texts),
    vscode.window.registerCustomEditorProvider(VIEW_TYPE, new Redirect(texts)),
  );
}

/** Provides the text of disassembly documents, and provides it again when their module changes. */
class DisassemblyProvider implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly watchers = new Map<string, FSWatcher>();
  private readonly closed: vscode.Disposable;
  readonly onDidChange = this.changed.event;

  constructor(private readonly binary: Binary) {
    this.closed = vscode.workspace.onDidCloseTextDocument((document) => this.unwatch(document.uri));
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const text = await this.disassemble(uri, token);
    this.watch(uri);
    return text;
  }

  /** Exactly this command line: the debug adapter maps lines of its text to bytecode offsets. */
  async disassemble(uri: vscode.Uri, token?: vscode.CancellationToken): Promise<string> {
    const module = moduleUri(uri);
    if (module === undefined) {
      throw new Error(`${uri.toString(true)} does not name the disassembly of a module`);
    }
    return this.binary.run(["dump", "--output=disassembly", "--bytecode_offsets", module.fsPath], token);
  }

  /** Watches the folder: compilers replace a module by renaming, which would end a watch on the file. */
  private watch(uri: vscode.Uri): void {
    const key = uri.toString();
    const module = moduleUri(uri);
    if (module === undefined || this.watchers.has(key)) {
      return;
    }
    const name = module.path.slice(module.path.lastIndexOf("/") + 1);
    let settled: NodeJS.Timeout | undefined;
    try {
      const watcher = watch(vscode.Uri.joinPath(module, "..").fsPath, (_event, file) => {
        if (file === name) {
          clearTimeout(settled);
          settled = setTimeout(() => this.changed.fire(uri), 200);
        }
      });
      watcher.on("error", () => this.unwatch(uri));
      this.watchers.set(key, watcher);
    } catch {
      // Without a watch (the system's limit, a network drive) the text stays as it is.
    }
  }

  private unwatch(uri: vscode.Uri): void {
    const key = uri.toString();
    this.watchers.get(key)?.close();
    this.watchers.delete(key);
  }

  dispose(): void {
    this.closed.dispose();
    this.changed.dispose();
    for (const watcher of this.watchers.values()) {
      watcher.close();
    }
  }
}

/** The editor that opens the text, and closes. */
class Redirect implements vscode.CustomReadonlyEditorProvider {
  constructor(private readonly texts: DisassemblyProvider) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    const uri = disassemblyUri(document.uri);
    try {
      const text = await vscode.workspace.openTextDocument(uri);
      const preserveFocus = !panel.active;
      await vscode.window.showTextDocument(text, { viewColumn: panel.viewColumn ?? vscode.ViewColumn.Active, preserveFocus, preview: false });
      panel.dispose();
    } catch (error) {
      // VS Code hides why a document could not be opened, so ask for the reason again and show it in the editor.
      const reason = await this.texts.disassemble(uri).then(() => error, (cause: unknown) => cause);
      panel.webview.html = page(reason instanceof Error ? reason.message : String(reason));
      if (reason instanceof BinaryMissing) {
        void explainMissing(reason);
      }
    }
  }
}

function page(message: string): string {
  const text = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", "<br>");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<title>A module that cannot be shown</title>
</head>
<body><h3>This module cannot be shown as its disassembly</h3><p><code>${text}</code></p></body>
</html>`;
}
