// The form for the arguments of a function: one page with a field for each, checked while they are typed. The page's own
// side is `views/arguments/page.ts`.

import { createHash } from "node:crypto";
import * as vscode from "vscode";
import { textOf } from "../failures";
import { type CallableFunction, signatureText } from "../functions";
import type { Form, FromPage, Proposal } from "../../views/arguments/protocol";
import { openPage } from "../webviews";
import { randomFile, randomTensor } from "./random";
import { firstProposal, mistake, randomProposal, typeOf } from "./types";

/** What the user has chosen. */
export interface Call {
  readonly callee: CallableFunction;
  readonly inputs: string[];
}

/** Where the form begins. */
export interface Beginning {
  /** The file, as the user knows it. */
  readonly program: string;
  readonly functions: readonly CallableFunction[];
  readonly chosen: CallableFunction;
  readonly purpose: Purpose;
}

/** What the arguments are for. */
export interface Purpose {
  readonly verb: Form["verb"];
  /** Whether they are those of a second call, beside the first one's. */
  readonly isOther?: true;
}

export class ArgumentForm {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly memory: vscode.Memento,
  ) {}

  /** Asks; undefined if the user has cancelled or closed the form. */
  ask(beginning: Beginning): Promise<Call | undefined> {
    const whose = beginning.purpose.isOther ? "Other arguments" : "Arguments";
    const title = `${whose} of @${beginning.chosen.name}`;
    const panel = vscode.window.createWebviewPanel("iree-dbg.arguments", title, vscode.ViewColumn.Active);
    return new Promise((resolve) => {
      let chosen = beginning.chosen;
      let answer: Call | undefined;
      const show = (): void => {
        panel.title = `${whose} of @${chosen.name}`;
        tell({ kind: "show", ...this.shown(beginning, chosen) });
      };
      const start = async (texts: readonly string[]): Promise<void> => {
        const wrong = chosen.parameters.findIndex((it, index) => mistake(texts[index] ?? "", typeOf(it.type)) !== undefined);
        if (wrong >= 0) {
          tell({ kind: "focus", index: wrong });
          return;
        }
        const inputs = await Promise.all(texts.map((text) => this.made(text.trim())));
        await this.memory.update(keyOf(beginning, chosen), texts);
        answer = { callee: chosen, inputs };
        panel.dispose();
      };
      panel.onDidDispose(() => resolve(answer));
      const hear = async (message: FromPage): Promise<void> => {
        const type = "index" in message ? typeOf(chosen.parameters[message.index]?.type ?? "") : undefined;
        switch (message.kind) {
          case "ready":
            return show();
          case "choose":
            chosen = beginning.functions.find(({ name }) => name === message.name) ?? chosen;
            return show();
          case "changed":
            if (type !== undefined) {
              tell({ kind: "checked", index: message.index, mistake: mistake(message.text, type) ?? "" });
            }
            return;
          case "propose": {
            const text = type && (await propose(message.what, type, message.text));
            if (text !== undefined) {
              tell({ kind: "fill", index: message.index, text });
            }
            return;
          }
          case "start":
            return start(message.texts).catch((error: unknown) => {
              tell({ kind: "failed", text: textOf(error) });
            });
          case "cancel":
            return panel.dispose();
        }
      };
      const tell = openPage(panel.webview, this.context.extensionUri, { name: "arguments", title }, hear);
    });
  }

  private shown(beginning: Beginning, chosen: CallableFunction): Form {
    const { program, functions, purpose } = beginning;
    const last = this.memory.get<string[]>(keyOf(beginning, chosen), []);
    return {
      program: vscode.workspace.asRelativePath(program),
      signature: signatureText(chosen),
      name: chosen.name,
      functions: functions.map(({ name }) => name),
      verb: purpose.verb,
      fields: chosen.parameters.map(({ name, type: text }, index) => {
        const type = typeOf(text);
        const value = last[index] ?? firstProposal(type);
        return { name, type: text, value, mistake: mistake(value, type) ?? "", isTensor: type.kind === "tensor", isOther: type.kind === "other" };
      }),
    };
  }

  /** The text for the debugger: random numbers become a file. */
  private async made(text: string): Promise<string> {
    const random = randomTensor(text);
    if (random === undefined) {
      return text;
    }
    const folder = vscode.Uri.joinPath(this.context.storageUri ?? this.context.globalStorageUri, "random");
    const name = `${createHash("sha256").update(text).digest("hex").slice(0, 12)}.npy`;
    const file = vscode.Uri.joinPath(folder, name);
    await vscode.workspace.fs.createDirectory(folder);
    await vscode.workspace.fs.writeFile(file, randomFile(random));
    return `@${file.fsPath}`;
  }
}

async function propose(what: Proposal, type: ReturnType<typeof typeOf>, text: string): Promise<string | undefined> {
  if (what === "browse") {
    const [file] = (await vscode.window.showOpenDialog({ title: "A tensor", openLabel: "Use This", filters: { NumPy: ["npy"] } })) ?? [];
    return file && `@${file.fsPath}`;
  }
  if (type.kind !== "tensor") {
    return undefined;
  }
  // Sizes that the user has typed stay.
  const typed = /^((?:\d+x)*)([a-z]+\d+)=/.exec(text.trim());
  const sizes = (typed?.[1] ?? "").split("x").filter((size) => size !== "").map(Number);
  const shape = sizes.length === type.shape.length ? type.shape.map((size, axis) => size ?? sizes[axis]) : type.shape;
  const sized = { ...type, shape };
  if (what === "zeros") {
    return firstProposal(sized);
  }
  const seed = /random\((\d+)\)$/.exec(text.trim())?.[1];
  return randomProposal(sized, seed === undefined ? 1 : Number(seed) + 1);
}

function keyOf({ program, purpose }: Beginning, callee: CallableFunction): string {
  return `${purpose.isOther ? "other-inputs" : "inputs"}:${program}:${signatureText(callee)}`;
}
