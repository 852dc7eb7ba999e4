// The long constants of a source: what each is like, in a lens over it, and its view.
//
// `iree-dbg view` reads the file, as for other files of tensors, so there are lenses where the text is as it was saved. How
// the digits are kept out of sight is in `foldConstants.ts`.

import * as vscode from "vscode";
import type { FileTensor } from "../views/tensor/protocol";
import type { Binary } from "./binary";
import { withoutElements } from "./inlineText";
import { TensorFile } from "./tensors/file";
import { openTensor } from "./tensors/fileEditor";

/** Shows a constant of a `.mlir` or of a `.vmfb`, by its name there (`iree-dbg view`). */
export const VIEW_CONSTANT = "iree-dbg.viewConstant";

/** Whether a text has long constants. */
const HAS_CONSTANTS = /\bdense(?:<"0x|_resource<)/;

/** The most lenses of a text. */
const MOST = 2000;

export function registerConstants(context: vscode.ExtensionContext, binary: Binary): vscode.Disposable {
  const constants = new Constants(binary);
  return vscode.Disposable.from(
    constants,
    vscode.languages.registerCodeLensProvider({ language: "mlir", scheme: "file" }, constants),
    vscode.commands.registerCommand(VIEW_CONSTANT, (uri: vscode.Uri, name: string) => void openTensor(binary, context.extensionUri, uri, name)),
  );
}

/** A lens whose text is not yet known. */
class ConstantLens extends vscode.CodeLens {
  constructor(
    range: vscode.Range,
    readonly uri: vscode.Uri,
    readonly tensor: FileTensor,
  ) {
    super(range);
  }
}

class Constants implements vscode.CodeLensProvider<vscode.CodeLens>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly files = new Map<string, TensorFile>();
  private readonly listeners = vscode.Disposable.from(
    vscode.workspace.onDidSaveTextDocument((document) => this.forget(document)),
    vscode.workspace.onDidCloseTextDocument((document) => this.forget(document)),
  );

  constructor(private readonly binary: Binary) {}

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    if (document.isDirty || !HAS_CONSTANTS.test(document.getText())) {
      return [];
    }
    try {
      const tensors = await this.fileOf(document.uri).tensors();
      return tensors.slice(0, MOST).flatMap((tensor) => {
        const line = (tensor.line ?? 0) - 1;
        const isThere = line >= 0 && line < document.lineCount;
        return isThere ? [new ConstantLens(new vscode.Range(line, 0, line, 0), document.uri, tensor)] : [];
      });
    } catch {
      return []; // Without iree-dbg, other parts say so.
    }
  }

  async resolveCodeLens(lens: vscode.CodeLens): Promise<vscode.CodeLens> {
    if (lens instanceof ConstantLens) {
      const { uri, tensor } = lens;
      const row = await this.fileOf(uri).row(tensor.name).catch(() => tensor.type ?? "");
      lens.command = {
        title: `${withoutElements(row)} · View`,
        tooltip: `View the constant ${tensor.name}`,
        command: VIEW_CONSTANT,
        arguments: [uri, tensor.name],
      };
    }
    return lens;
  }

  private fileOf(uri: vscode.Uri): TensorFile {
    const key = uri.toString();
    const file = this.files.get(key) ?? new TensorFile(this.binary, uri);
    this.files.set(key, file);
    return file;
  }

  private forget({ uri }: vscode.TextDocument): void {
    const key = uri.toString();
    if (this.files.has(key)) {
      this.files.get(key)?.dispose();
      this.files.delete(key);
      this.changed.fire();
    }
  }

  dispose(): void {
    this.listeners.dispose();
    for (const file of this.files.values()) {
      file.dispose();
    }
  }
}
