// Panels of tensors of stopped programs. They follow the program: at each stop they ask again.

import * as vscode from "vscode";
import type { SessionMessage } from "../../views/tensor/protocol";
import type { Binary } from "../binary";
import { TensorPage } from "./page";
import { chosenTensor, placeOf, type SessionTensor, tensorAtCursor, tensorNamed, tensorOfRow, type VariableRow } from "./session";

export function registerTensors(context: vscode.ExtensionContext, binary: Binary): vscode.Disposable {
  const panels = new TensorPanels(context.extensionUri, binary);
  return vscode.Disposable.from(
    vscode.commands.registerCommand("iree-dbg.viewTensor", (what?: VariableRow | vscode.Uri | Named) => panels.open(what)),
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

/** What hovers and other views of this extension pass. */
interface Named {
  readonly expression: string;
}

async function tensorOf(what: VariableRow | vscode.Uri | Named | undefined): Promise<SessionTensor | undefined> {
  if (what !== undefined && "variable" in what) {
    return tensorOfRow(what);
  }
  return what !== undefined && "expression" in what ? tensorNamed(what.expression) : tensorAtCursor();
}

class TensorPanels {
  private readonly open_ = new Map<vscode.WebviewPanel, { readonly tensor: SessionTensor; readonly page: TensorPage }>();

  constructor(
    private readonly extension: vscode.Uri,
    private readonly binary: Binary,
  ) {}

  /** Opens the tensor of a row of the Variables view, of an expression, or the one whose name is at the cursor. */
  async open(what: VariableRow | vscode.Uri | Named | undefined): Promise<void> {
    const tensor = await tensorOf(what);
    if (tensor !== undefined) {
      this.show(tensor);
    }
  }

  /** Shows a tensor in a panel of its own, or in the one that it has. */
  private show(tensor: SessionTensor): TensorPage {
    for (const [panel, { tensor: shown, page }] of this.open_) {
      if (shown.session === tensor.session && shown.expression !== undefined && shown.expression === tensor.expression) {
        panel.reveal();
        return page;
      }
    }
    const panel = vscode.window.createWebviewPanel("iree-dbg.tensor", tensor.title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false }, { retainContextWhenHidden: true });
    const another = async (): Promise<TensorPage | undefined> => {
      const chosen = await chosenTensor(tensor.session);
      return chosen && this.show(chosen);
    };
    const page = new TensorPage(this.binary, panel.webview, this.extension, tensor, another);
    this.open_.set(panel, { tensor, page });
    panel.onDidDispose(() => {
      this.open_.delete(panel);
      page.dispose();
    });
    return page;
  }

  /** Lets the panels of a session ask again. */
  async refresh(session: vscode.DebugSession): Promise<void> {
    if ([...this.open_.values()].some(({ tensor }) => tensor.session === session)) {
      this.tell(session, { kind: "stopped", place: await placeOf(session) });
    }
  }

  tell(session: vscode.DebugSession, message: SessionMessage): void {
    for (const { tensor, page } of this.open_.values()) {
      if (tensor.session === session) {
        page.tell(message);
      }
    }
  }
}
