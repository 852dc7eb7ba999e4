// The editor of files of tensors.

import * as vscode from "vscode";
import { type Binary, BinaryMissing, explainMissing } from "../binary";
import { TensorFile } from "./file";
import { TensorPage } from "./page";

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
    resolveCustomEditor: (file, panel) => void new TensorPage(binary, panel.webview, context.extensionUri, file),
  };
  const options = { webviewOptions: { retainContextWhenHidden: true }, supportsMultipleEditorsPerDocument: false };
  // A .bin may be anything, so it is opened so only on demand (Reopen Editor With).
  return vscode.Disposable.from(
    ...["iree-dbg.tensorFile", "iree-dbg.tensorBytes"].map((type) => vscode.window.registerCustomEditorProvider(type, provider, options)),
  );
}
