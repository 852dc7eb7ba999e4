// The page of a tensor and what it asks of the extension: questions to the tensor's source, saving, copying, and the
// choice of a tensor to compare with.

import * as vscode from "vscode";
import type { Binary } from "../binary";
import { mediaOf, page } from "../webviews";
import { chooseTensorOfFile } from "./file";
import { numpyText, type Other, type TensorSource } from "./source";

type FromPage =
  | { readonly kind: "ready" }
  | { readonly kind: "ask"; readonly id: number; readonly question: object }
  | { readonly kind: "moments"; readonly id: number; readonly pin: boolean }
  | { readonly kind: "choose"; readonly id: number; readonly what: "expression" | "file" }
  | { readonly kind: "save"; readonly question: object; readonly name: string }
  | { readonly kind: "copy"; readonly question: object }
  | { readonly kind: "whoWrote"; readonly element: object };

export class TensorPage {
  constructor(
    private readonly binary: Binary,
    private readonly webview: vscode.Webview,
    extension: vscode.Uri,
    private readonly source: TensorSource,
  ) {
    webview.options = { enableScripts: true, localResourceRoots: [mediaOf(extension)] };
    webview.onDidReceiveMessage((message: FromPage) => this.hear(message));
    webview.html = page(webview, extension, "tensor", "Tensor");
  }

  tell(message: object): void {
    void this.webview.postMessage(message);
  }

  private async hear(message: FromPage): Promise<void> {
    switch (message.kind) {
      case "ready":
        return this.show();
      case "ask":
        return this.answer(message.id, () => this.source.ask(message.question));
      case "moments":
        return this.answer(message.id, async () => this.source.moments?.(message.pin));
      case "choose":
        return this.answer(message.id, () => this.choose(message.what));
      case "save":
        return this.save(message.question, message.name);
      case "whoWrote":
        await vscode.commands.executeCommand("iree-dbg.whoWrote", message.element);
        return;
      case "copy":
        return tellFailure(async () => {
          await vscode.env.clipboard.writeText(await numpyText(this.source, message.question));
          vscode.window.setStatusBarMessage("$(check) The slice is in the clipboard, for NumPy", 5000);
        });
    }
  }

  private async show(): Promise<void> {
    const { title, comparisons } = this.source;
    try {
      this.tell({ kind: "show", title, comparisons, hasMoments: this.source.moments !== undefined, ...(await this.source.description()) });
    } catch (error) {
      this.tell({ kind: "failed", title, error: textOf(error) });
    }
  }

  private async answer(id: number, work: () => Promise<unknown>): Promise<void> {
    const answer = await work().then(
      (body) => ({ body }),
      (error: unknown) => ({ error: textOf(error) }),
    );
    this.tell({ kind: "answer", id, ...answer });
  }

  /** What the user wants to compare with; undefined if the user changes their mind. */
  private async choose(what: "expression" | "file"): Promise<Other | undefined> {
    if (what === "file") {
      return chooseTensorOfFile(this.binary);
    }
    const expression = await vscode.window.showInputBox({ title: `Compare ${this.source.title} with`, prompt: "A name or an expression, such as %x or %x - %y" });
    return expression ? { with: { expression }, label: expression } : undefined;
  }

  /** Writes the whole tensor. */
  private async save(question: object, title: string): Promise<void> {
    const name = title.replace(/[^\w.-]+/g, "_").replace(/^_+|_+$/g, "") || "tensor";
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const file = await vscode.window.showSaveDialog({
      ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `${name}.npy`) }),
      filters: { NumPy: ["npy"] },
    });
    if (file !== undefined) {
      await tellFailure(async () => {
        await this.source.save(question, file);
        vscode.window.setStatusBarMessage(`$(check) ${title} is in ${file.fsPath}`, 5000);
      });
    }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function tellFailure(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    void vscode.window.showErrorMessage(textOf(error));
  }
}
