// The editor of files of tensors.

import * as vscode from "vscode";
import { type Binary, BinaryMissing, explainMissing } from "../binary";
import { TensorFile } from "./file";
import { TensorPage } from "./page";

/** Shows a file in a panel. */
function show(binary: Binary, extension: vscode.Uri, file: TensorFile, panel: vscode.WebviewPanel): void {
  const another = (): Promise<TensorPage | undefined> => openBeside(binary, extension, file);
  const page = new TensorPage(binary, panel.webview, extension, file, another);
  panel.onDidDispose(() => page.dispose());
}

/** Shows a tensor of a file beside what is shown, with a process of its own. */
export function openTensor(binary: Binary, extension: vscode.Uri, uri: vscode.Uri, name: string): TensorPage {
  const file = new TensorFile(binary, uri, name);
  const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
  const title = name === file.title ? name : `${name} · ${file.title}`;
  const panel = vscode.window.createWebviewPanel("iree-dbg.tensor", title, column, { retainContextWhenHidden: true });
  const page = new TensorPage(binary, panel.webview, extension, file, () => openBeside(binary, extension, file));
  panel.onDidDispose(() => {
    page.dispose();
    file.dispose();
  });
  return page;
}

/** Shows a tensor of the same file beside it; the user says which. */
async function openBeside(binary: Binary, extension: vscode.Uri, file: TensorFile): Promise<TensorPage | undefined> {
  const tensors = await file.tensors();
  const items = tensors.map(({ name, type, bytes }) => ({ label: name, description: type ?? `${bytes} bytes` }));
  const options = { title: `Which tensor of ${file.title}?`, matchOnDescription: true };
  const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, options);
  return chosen && openTensor(binary, extension, file.uri, chosen.label);
}

export function registerTensorFiles(context: vscode.ExtensionContext, binary: Binary): vscode.Disposable {
  const provider: vscode.CustomReadonlyEditorProvider<TensorFile> = {
    openCustomDocument: (uri) => {
      try {
        return new TensorFile(binary, uri);
      } catch (error) {
        if (error instanceof BinaryMissing) {
          void explainMissing(error);
        }
        throw error;
      }
    },
    resolveCustomEditor: (file, panel) => show(binary, context.extensionUri, file, panel),
  };
  const options = { webviewOptions: { retainContextWhenHidden: true }, supportsMultipleEditorsPerDocument: false };
  // A .bin may be anything, so it is opened so only on demand (Reopen Editor With).
  return vscode.Disposable.from(
    ...["iree-dbg.tensorFile", "iree-dbg.tensorBytes"].map((type) => vscode.window.registerCustomEditorProvider(type, provider, options)),
  );
}
