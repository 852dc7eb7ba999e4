// The page of a tensor and what it asks of the extension: questions to the tensor's source, saving, copying, and the
// choice of a tensor to compare with.

import * as vscode from "vscode";
import { tellFailure, textOf } from "../failures";
import type { Executions, Moments, Other, Subject } from "../../views/tensor/answers";
import type { FromPage, Requests } from "../../views/tensor/protocol";
import type { Binary } from "../binary";
import { openPage, type Tell } from "../webviews";
import { chooseTensorOfFile } from "./file";
import { choosePartner, link, type Linkable, partner, pass, register } from "./links";
import { numpyText, type TensorSource } from "./source";

export class TensorPage implements Linkable, vscode.Disposable {
  readonly tell: Tell<"tensor">;
  private readonly registered = register(this);

  constructor(
    private readonly binary: Binary,
    webview: vscode.Webview,
    extension: vscode.Uri,
    private readonly source: TensorSource,
    /** Opens another tensor beside this one. */
    private readonly another: () => Promise<Linkable | undefined>,
  ) {
    this.tell = openPage(webview, extension, { name: "tensor", title: "Tensor" }, (message) => this.hear(message));
  }

  get title(): string {
    return this.source.title;
  }

  dispose(): void {
    this.registered.dispose();
  }

  private async hear(message: FromPage): Promise<void> {
    switch (message.kind) {
      case "ready":
        return this.show();
      case "ask":
        return this.answer<"ask">(message.id, this.source.ask(message.question));
      case "moments":
        return this.answer<"moments">(message.id, this.moments(message.pin));
      case "choose":
        return this.answer<"choose">(message.id, this.choose(message.what));
      case "history":
        return this.answer<"history">(message.id, this.history(message.from));
      case "save":
        return this.save(message.question, message.name);
      case "whoWrote":
        await vscode.commands.executeCommand("iree-dbg.whoWrote", message.element);
        return;
      case "link":
        return tellFailure(() => this.link());
      case "moved":
        return pass(this, { kind: "follow", at: message.at });
      case "following":
        return pass(this, { kind: "following", isOn: message.isOn });
      case "pointed":
        return pass(this, { kind: "otherPointed", text: message.text });
      case "goTo":
        return tellFailure(() => this.source.goTo?.(message.command));
      case "refused":
        void vscode.window.showErrorMessage(message.text);
        return;
      case "copyText":
        return tellFailure(async () => {
          await vscode.env.clipboard.writeText(message.text);
          vscode.window.setStatusBarMessage(`$(check) ${message.what} in the clipboard`, 5000);
        });
      case "copy":
        return tellFailure(async () => {
          await vscode.env.clipboard.writeText(await numpyText(this.source, message.question));
          vscode.window.setStatusBarMessage("$(check) The slice is in the clipboard, for NumPy", 5000);
        });
    }
  }

  private async show(): Promise<void> {
    const { title, comparisons, comparedWith } = this.source;
    try {
      const origin = await this.source.origin();
      const { moments, history } = this.source;
      this.tell({ kind: "show", title, origin, comparisons, hasMoments: moments !== undefined, hasHistory: history !== undefined, ...(comparedWith && { comparedWith }) });
      const linked = partner(this);
      if (linked !== undefined) {
        this.tell({ kind: "linked", title: linked.title });
      }
    } catch (error) {
      this.tell({ kind: "failed", title, error: textOf(error) });
    }
  }

  /** Lets the user choose what is shown beside this one, and links both. */
  private async link(): Promise<void> {
    const other = await choosePartner(this, this.another);
    if (other !== undefined) {
      link(this, other);
    }
  }

  private async answer<Kind extends keyof Requests>(id: number, work: Promise<Requests[Kind]["gets"]>): Promise<void> {
    const answer = await work.then(
      (body) => ({ body }),
      (error: unknown) => ({ error: textOf(error) }),
    );
    this.tell({ kind: "answer", id, ...answer });
  }

  private async moments(pin: boolean): Promise<Moments> {
    return (await this.source.moments?.(pin)) ?? { moments: [], refused: null };
  }

  private async history(from: number | undefined): Promise<Executions> {
    if (this.source.history === undefined) {
      throw new Error("This tensor has no name whose executions could be found.");
    }
    return this.source.history(from);
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
  private async save(question: Subject, title: string): Promise<void> {
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

