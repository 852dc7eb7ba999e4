// The view of a tensor: a panel with its picture, its numbers and its figures. The page (`media/tensor.js`) asks for what it
// shows; this side passes the questions to the debug adapter (`iree/tensor`), which never sends a whole tensor, and tells
// the page when the program has stopped elsewhere.

import * as vscode from "vscode";
import { expressionOf, valueAt } from "../valueNames";
import { mediaOf, page } from "../webviews";

/** What VS Code passes to a command of a variable's menu. */
interface VariableRow {
  readonly sessionId?: string;
  readonly container?: { readonly expensive?: boolean; readonly name?: string };
  readonly variable: {
    readonly name: string;
    readonly evaluateName?: string;
    readonly variablesReference: number;
  };
}

/** Which tensor a panel shows. */
interface Tensor {
  readonly session: vscode.DebugSession;
  readonly title: string;
  /** Holds at later stops, too. */
  readonly expression?: string;
  /** Holds at this stop. */
  readonly variablesReference?: number;
}

type FromPage =
  | { readonly kind: "ready" }
  | { readonly kind: "ask"; readonly id: number; readonly question: object }
  | { readonly kind: "save" }
  | { readonly kind: "copy"; readonly slice: string; readonly element: string };

export function registerTensors(context: vscode.ExtensionContext): vscode.Disposable {
  const panels = new TensorPanels(context.extensionUri);
  return vscode.Disposable.from(
    vscode.commands.registerCommand("iree-dbg.viewTensor", (row?: VariableRow | vscode.Uri) => panels.open(row)),
    vscode.debug.registerDebugAdapterTrackerFactory("iree", {
      createDebugAdapterTracker: (session) => ({
        onDidSendMessage: (message: { type: string; event?: string }) => {
          if (message.type === "event" && message.event === "continued") {
            panels.tell(session, { kind: "running" });
          } else if (message.type === "event" && (message.event === "invalidated" || message.event === "memory")) {
            void panels.refresh(session);
          }
        },
      }),
    }),
    // After a stop, VS Code selects a frame; the names of the tensor are looked up there.
    vscode.debug.onDidChangeActiveStackItem((item) => void (item && panels.refresh(item.session))),
    vscode.debug.onDidTerminateDebugSession((session) => panels.tell(session, { kind: "ended" })),
  );
}

class TensorPanels {
  private readonly open_ = new Map<vscode.WebviewPanel, Tensor>();

  constructor(private readonly extension: vscode.Uri) {}

  /** Opens the tensor of a row of the Variables view, or the one whose name is at the cursor. */
  async open(row: VariableRow | vscode.Uri | undefined): Promise<void> {
    const tensor = row !== undefined && "variable" in row ? tensorOfRow(row) : await tensorAtCursor();
    if (tensor === undefined) {
      return;
    }
    for (const [panel, shown] of this.open_) {
      if (shown.session === tensor.session && shown.expression !== undefined && shown.expression === tensor.expression) {
        panel.reveal();
        return;
      }
    }
    const panel = vscode.window.createWebviewPanel("iree-dbg.tensor", tensor.title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false }, {
      enableScripts: true,
      retainContextWhenHidden: true,
      localResourceRoots: [mediaOf(this.extension)],
    });
    this.open_.set(panel, tensor);
    panel.onDidDispose(() => this.open_.delete(panel));
    panel.webview.onDidReceiveMessage((message: FromPage) => this.hear(panel, tensor, message));
    panel.webview.html = page(panel.webview, this.extension, "tensor", "Tensor");
  }

  /** Lets the panels of a session ask again. */
  async refresh(session: vscode.DebugSession): Promise<void> {
    if ([...this.open_.values()].some((tensor) => tensor.session === session)) {
      this.tell(session, { kind: "stopped", place: await placeOf(session) });
    }
  }

  tell(session: vscode.DebugSession, message: object): void {
    for (const [panel, tensor] of this.open_) {
      if (tensor.session === session) {
        void panel.webview.postMessage(message);
      }
    }
  }

  private async hear(panel: vscode.WebviewPanel, tensor: Tensor, message: FromPage): Promise<void> {
    switch (message.kind) {
      case "ready":
        void panel.webview.postMessage({ kind: "show", title: tensor.title, place: await placeOf(tensor.session) });
        return;
      case "ask": {
        const answer = await ask(tensor, message.question).then(
          (body) => ({ body }),
          (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
        );
        void panel.webview.postMessage({ kind: "answer", id: message.id, ...answer });
        return;
      }
      case "save":
        return save(tensor);
      case "copy":
        return copy(tensor, message.slice, message.element);
    }
  }
}

function tensorOfRow({ variable, sessionId }: VariableRow): Tensor | undefined {
  const session = vscode.debug.activeDebugSession;
  if (session === undefined || (sessionId !== undefined && sessionId !== session.id)) {
    return undefined;
  }
  const { name, evaluateName, variablesReference } = variable;
  return evaluateName === undefined
    ? { session, title: name, variablesReference }
    : { session, title: evaluateName, expression: evaluateName };
}

async function tensorAtCursor(): Promise<Tensor | undefined> {
  const session = vscode.debug.activeDebugSession;
  const editor = vscode.window.activeTextEditor;
  if (session?.type !== "iree") {
    void vscode.window.showErrorMessage("Tensors can be viewed while a program is stopped.");
    return undefined;
  }
  const { document, selection } = editor ?? {};
  const line = document && selection ? document.lineAt(selection.active.line).text : "";
  const value = document && selection && valueAt(line, selection.active.character, document.languageId);
  const expression = value ? expressionOf(value) : await vscode.window.showInputBox({ title: "Which tensor?", prompt: "A name or an expression, such as %x or %x - %y" });
  return expression ? { session, title: expression, expression } : undefined;
}

/** Where the program stands, in words for the header. */
async function placeOf(session: vscode.DebugSession): Promise<string> {
  interface Trace {
    readonly stackFrames: readonly { readonly name: string; readonly line: number; readonly source?: { readonly name?: string } }[];
  }
  const trace: Trace | undefined = await session.customRequest("stackTrace", { threadId: 1, levels: 1 }).then(undefined, () => undefined);
  const frame = trace?.stackFrames[0];
  return frame?.source?.name === undefined ? (frame?.name ?? "") : `${frame.source.name}:${frame.line}`;
}

function frameOf(session: vscode.DebugSession): number | undefined {
  const item = vscode.debug.activeStackItem;
  return item instanceof vscode.DebugStackFrame && item.session === session ? item.frameId : undefined;
}

async function ask({ session, expression, variablesReference }: Tensor, question: object): Promise<unknown> {
  return session.customRequest("iree/tensor", { ...question, expression, variablesReference, frameId: frameOf(session) });
}

/** Writes the whole tensor, by the console's own command. */
async function save({ session, expression, title }: Tensor): Promise<void> {
  if (expression === undefined) {
    void vscode.window.showErrorMessage(`${title} has no expression, by which it could be saved.`);
    return;
  }
  const name = title.replace(/[^\w.-]+/g, "_").replace(/^_+|_+$/g, "") || "tensor";
  const folder = session.workspaceFolder?.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  const file = await vscode.window.showSaveDialog({
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `${name}.npy`) }),
    filters: { NumPy: ["npy"], Bytes: ["bin"], Text: ["txt"] },
  });
  if (file === undefined) {
    return;
  }
  await tellFailure(async () => {
    await session.customRequest("evaluate", { expression: `save -f ${expression} "${file.fsPath}"`, context: "repl", frameId: frameOf(session) });
    vscode.window.setStatusBarMessage(`$(check) ${title} is in ${file.fsPath}`, 5000);
  });
}

/** Copies what is shown as an expression of NumPy's. */
async function copy({ session, expression, title }: Tensor, slice: string, element: string): Promise<void> {
  await tellFailure(async () => {
    if (expression === undefined) {
      throw new Error(`${title} has no expression, by which it could be copied.`);
    }
    const part = slice === "[]" ? expression : `(${expression})${slice}`;
    const answer: { result: string } = await session.customRequest("evaluate", { expression: part, context: "clipboard", frameId: frameOf(session) });
    if (answer.result.includes("…")) {
      throw new Error("The slice is too large for the clipboard; save it as .npy.");
    }
    const numbers = answer.result.replace(/\bnan\b/gi, "np.nan").replace(/\binf\b/gi, "np.inf");
    await vscode.env.clipboard.writeText(`np.array(${numbers}, dtype=${dtype(element)})`);
    vscode.window.setStatusBarMessage(`$(check) ${title}${slice} is in the clipboard`, 5000);
  });
}

function dtype(element: string): string {
  const read = /^([su]?i|f)(\d+)$/.exec(element);
  if (read === null || element === "i1") {
    return element === "i1" ? "bool" : "np.float32";
  }
  const kind = { i: "int", si: "int", ui: "uint", f: "float" }[read[1] ?? ""] ?? "float";
  return `np.${kind}${read[2]}`;
}

async function tellFailure(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}
