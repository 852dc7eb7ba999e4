// A file of tensors: `.npy`, archives of parameters, and programs with their constants. Each open file has a process of its own,
// `iree-dbg view --questions`, which maps the file and answers.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import * as vscode from "vscode";
import type { Answer, Other, Question, Subject } from "../../views/tensor/answers";
import type { FileTensor, Origin } from "../../views/tensor/protocol";
import type { Binary } from "../binary";
import type { TensorSource } from "./source";

/** A process that answers questions about a file. */
export class TensorFile implements TensorSource, vscode.CustomDocument {
  readonly comparisons = ["tensor"] as const;
  private readonly waiting = new Map<number, { resolve: (body: unknown) => void; reject: (error: Error) => void }>();
  private readonly process: ChildProcessWithoutNullStreams;
  private failure: Error | undefined;
  private lastId = 0;

  constructor(
    binary: Binary,
    readonly uri: vscode.Uri,
    /** The tensor that is shown first. */
    private readonly first?: string,
  ) {
    this.process = spawn(binary.path(), ["view", "--questions", uri.fsPath]);
    let errors = "";
    this.process.stderr.on("data", (data: Buffer) => (errors += data.toString()));
    this.process.on("error", (error) => this.fail(error));
    this.process.on("close", () => this.fail(new Error(errors.trim().replace(/^error: /, "") || "iree-dbg has ended")));
    // A question to a process that has ended fails by `close`.
    this.process.stdin.on("error", () => undefined);
    createInterface({ input: this.process.stdout }).on("line", (line) => {
      const { id, body, error } = JSON.parse(line) as { id: number; body?: unknown; error?: string };
      const waits = this.waiting.get(id);
      this.waiting.delete(id);
      if (error === undefined) {
        waits?.resolve(body);
      } else {
        waits?.reject(new Error(error));
      }
    });
  }

  get title(): string {
    const name = basename(this.uri.fsPath);
    return this.first === undefined ? name : `${this.first} of ${name}`;
  }

  async ask(question: Question): Promise<Answer> {
    return (await this.answer(question)) as Answer;
  }

  private answer(question: object): Promise<unknown> {
    if (this.failure !== undefined) {
      return Promise.reject(this.failure);
    }
    const id = ++this.lastId;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.process.stdin.write(`${JSON.stringify({ ...question, id })}\n`);
    return answer;
  }

  async tensors(): Promise<readonly FileTensor[]> {
    const { tensors } = (await this.answer({ list: true })) as { tensors: readonly FileTensor[] };
    return tensors;
  }

  async origin(): Promise<Origin> {
    return { tensors: await this.tensors(), ...(this.first !== undefined && { first: this.first }) };
  }

  /** A tensor on one line, as a program shows it: `64x64xf32 · μ 0.01 σ 1 · [0.5, …]`. */
  async row(name: string): Promise<string> {
    const { row } = (await this.answer({ name, row: true })) as { row: string };
    return row;
  }

  async save(question: Subject, file: vscode.Uri): Promise<void> {
    await this.answer({ ...question, save: file.fsPath });
  }

  dispose(): void {
    this.process.kill();
  }

  private fail(error: Error): void {
    this.failure = error;
    for (const { reject } of this.waiting.values()) {
      reject(error);
    }
    this.waiting.clear();
  }
}

/** Lets the user choose a file and one of its tensors. */
export async function chooseTensorOfFile(binary: Binary): Promise<Other | undefined> {
  const [uri] = (await vscode.window.showOpenDialog({ title: "Compare with", openLabel: "Compare", filters: { Tensors: ["npy", "irpa", "safetensors", "gguf", "bin", "raw"] } })) ?? [];
  if (uri === undefined) {
    return undefined;
  }
  const file = new TensorFile(binary, uri);
  try {
    const tensors = await file.tensors();
    const items = tensors.map((tensor) => ({ label: tensor.name, description: tensor.type ?? `${tensor.bytes} bytes`, tensor }));
    const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: `Which tensor of ${file.title}?`, matchOnDescription: true });
    if (chosen === undefined) {
      return undefined;
    }
    const { name, type } = chosen.tensor;
    const declared = type === null ? await vscode.window.showInputBox({ title: `The type of ${name}`, prompt: `${chosen.tensor.bytes} bytes, such as 4x8xf32` }) : undefined;
    const label = items.length === 1 ? file.title : `${name} of ${file.title}`;
    return type === null && !declared ? undefined : { with: { file: uri.fsPath, name, ...(declared && { type: declared }) }, label };
  } finally {
    file.dispose();
  }
}
