// A tensor of a stopped program, and which one the user means: a row of the Variables view, a name in the text, or one of
// those that the dispatches leave.

import * as vscode from "vscode";
import type { Answer, Executions, Moments, Question, Subject } from "../../views/tensor/answers";
import type { Origin } from "../../views/tensor/protocol";
import { expressionOf, valueAt } from "../valueNames";
import type { TensorSource } from "./source";

/** What VS Code passes to a command of a variable's menu. */
export interface VariableRow {
  readonly sessionId?: string;
  readonly variable: {
    readonly name: string;
    readonly evaluateName?: string;
    readonly variablesReference: number;
  };
}

export class SessionTensor implements TensorSource {
  readonly comparisons = ["expression", "twin", "reference"] as const;
  readonly moments?: (pin: boolean) => Promise<Moments>;
  readonly history?: (from: number | undefined) => Promise<Executions>;

  constructor(
    readonly session: vscode.DebugSession,
    readonly title: string,
    /** Holds at later stops, too. */
    readonly expression: string | undefined,
    /** Holds at this stop. */
    private readonly variablesReference?: number,
  ) {
    if (expression !== undefined) {
      this.moments = async (pin) => session.customRequest("iree/tensorMoments", { expression, frameId: frameOf(session), keep: true, pin }) as Promise<Moments>;
      this.history = async (from) => session.customRequest("iree/tensorHistory", { expression, frameId: frameOf(session), from }) as Promise<Executions>;
    }
  }

  async origin(): Promise<Origin> {
    const { expression, session } = this;
    return { place: await placeOf(session), session: session.id, ...(expression !== undefined && { expression }) };
  }

  async ask(question: Question): Promise<Answer> {
    const { session, expression, variablesReference } = this;
    return session.customRequest("iree/tensor", { ...question, expression, variablesReference, frameId: frameOf(session) });
  }

  async goTo(command: number): Promise<void> {
    await this.session.customRequest("iree/goTo", { command });
  }

  /** Writes the tensor by the console's own command. */
  async save(_question: Subject, file: vscode.Uri): Promise<void> {
    if (this.expression === undefined) {
      throw new Error(`${this.title} has no expression, by which it could be saved.`);
    }
    await this.session.customRequest("evaluate", { expression: `save -f ${this.expression} "${file.fsPath}"`, context: "repl", frameId: frameOf(this.session) });
  }
}

export function tensorOfRow({ variable, sessionId }: VariableRow): SessionTensor | undefined {
  const session = vscode.debug.activeDebugSession;
  if (session === undefined || (sessionId !== undefined && sessionId !== session.id)) {
    return undefined;
  }
  const { name, evaluateName, variablesReference } = variable;
  return evaluateName === undefined ? new SessionTensor(session, name, undefined, variablesReference) : new SessionTensor(session, evaluateName, evaluateName);
}

export async function tensorNamed(expression: string): Promise<SessionTensor | undefined> {
  const session = vscode.debug.activeDebugSession;
  return session?.type === "iree" ? new SessionTensor(session, expression, expression) : undefined;
}

/** The tensor whose name is at the cursor; else one that the user chooses. */
export async function tensorAtCursor(): Promise<SessionTensor | undefined> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== "iree") {
    void vscode.window.showErrorMessage("Tensors can be viewed while a program is stopped.");
    return undefined;
  }
  const { document, selection } = vscode.window.activeTextEditor ?? {};
  const line = document && selection ? document.lineAt(selection.active.line).text : "";
  const value = document && selection && valueAt(line, selection.active.character, document.languageId);
  const expression = value ? expressionOf(value) : await chooseTensor(session);
  return expression ? new SessionTensor(session, expression, expression) : undefined;
}

/** A tensor of a session that the user chooses. */
export async function chosenTensor(session: vscode.DebugSession): Promise<SessionTensor | undefined> {
  const expression = await chooseTensor(session);
  return expression ? new SessionTensor(session, expression, expression) : undefined;
}

interface LeftTensor {
  readonly names: readonly string[];
  readonly dispatch: string;
  readonly type: string;
  readonly missing?: string | null;
}

/** Lets the user choose among the tensors that the dispatches leave, or type an expression. */
async function chooseTensor(session: vscode.DebugSession): Promise<string | undefined> {
  const answer: { tensors?: readonly LeftTensor[] } = await session.customRequest("iree/tensors", { frameId: frameOf(session) ?? (await topFrame(session)) }).then(undefined, () => ({}));
  const named = (answer.tensors ?? []).filter(({ names }) => names.length > 0);
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { readonly expression: string }>();
  const items = named.map(({ names: [name = ""], dispatch, type, missing }) => ({
    label: name,
    description: missing ?? type,
    detail: `left by @${dispatch}`,
    expression: expressionOf({ name, start: 0, end: 0 }),
  }));
  picker.title = "Choose a tensor";
  picker.placeholder = "A tensor of the list, or an expression such as %x - %y";
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  picker.items = items;
  picker.onDidChangeValue((text) => {
    const typed = text.trim();
    const isListed = items.some(({ label }) => label === typed);
    picker.items = typed === "" || isListed ? items : [{ label: typed, description: "as an expression", expression: typed, alwaysShow: true }, ...items];
  });
  try {
    return await new Promise<string | undefined>((resolve) => {
      picker.onDidAccept(() => resolve(picker.selectedItems[0]?.expression ?? picker.value.trim()));
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
  } finally {
    picker.dispose();
  }
}

/** The innermost frame of a stop. */
export async function topFrame(session: vscode.DebugSession): Promise<number | undefined> {
  const trace: { readonly stackFrames: readonly { readonly id: number }[] } = await session.customRequest("stackTrace", { threadId: 1, levels: 1 });
  return trace.stackFrames[0]?.id;
}

/** Where the program stands, in words for the header. */
export async function placeOf(session: vscode.DebugSession): Promise<string> {
  interface Trace {
    readonly stackFrames: readonly { readonly name: string; readonly line: number; readonly source?: { readonly name?: string } }[];
  }
  const trace: Trace | undefined = await session.customRequest("stackTrace", { threadId: 1, levels: 1 }).then(undefined, () => undefined);
  const frame = trace?.stackFrames[0];
  return frame?.source?.name === undefined ? (frame?.name ?? "") : `${frame.source.name}:${frame.line}`;
}

/** What the adapter answers of a tensor of more than one element; undefined if it is none. */
export async function tensorAt<More = unknown>(session: vscode.DebugSession, question: object): Promise<(Answer & More) | undefined> {
  const looked: (Answer & More) | undefined = await session.customRequest("iree/tensor", question).then(undefined, () => undefined);
  return looked !== undefined && looked.shape.reduce((count, size) => count * size, 1) > 1 ? looked : undefined;
}

export function frameOf(session: vscode.DebugSession): number | undefined {
  const item = vscode.debug.activeStackItem;
  return item instanceof vscode.DebugStackFrame && item.session === session ? item.frameId : undefined;
}
